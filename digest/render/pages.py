"""One page of the site as a document: what every page's template is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from digest.model import ArticleLine, Document, Issue, Language, Shelf
from digest.render.environment import Templates


def page(templates: Templates, template: str, name: str, issue: Issue, languages: Sequence[Language], **values: Any) -> Document:
    """The template filled, at that place. ``issue`` gives titles, languages and address; the first language is the page's own."""
    root = f"{urlsplit(issue.address).path.rstrip('/')}/" if name == "404.html" else "../" * name.count("/")
    body = templates.render(template, issue=issue, languages=tuple(languages), main=languages[0], root=root, path=name, **values)
    return Document(format="web", language="+".join(languages), name=name, media_type="text/html", body=body.encode("utf-8"))


def plain(name: str, media_type: str, language: str, body: str) -> Document:
    """A text file of the site."""
    return Document(format=media_type.partition("/")[2], language=language, name=name, media_type=media_type, body=body.encode("utf-8"))


def newest_of(shelf: Shelf) -> Issue:
    """The newest issue as lists show it: with every language that any issue has (and the edition a title in), and all titles of tags
    that recent issues know."""
    newest = shelf.recent[0]
    known = dict.fromkeys([*newest.languages, *(language for line in shelf.lines for language in line.languages)])
    titles = {tag: title for issue in reversed(shelf.recent) for tag, title in issue.tag_titles.items()}
    return replace(newest, languages=tuple(language for language in known if newest.title.get(language)), tag_titles=titles)


def told_in(lines: tuple[ArticleLine, ...], language: Language) -> tuple[ArticleLine, ...]:
    """Those that have the language, as editions may gain one; the same tuple where all do."""
    found = tuple(line for line in lines if language in line.headlines)
    return lines if len(found) == len(lines) else found
