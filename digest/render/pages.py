"""One page of the site as a document: what every page's template is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from digest.model import Document, Issue, Language
from digest.render.environment import Templates


def page(templates: Templates, template: str, name: str, issue: Issue, languages: Sequence[Language], **values: Any) -> Document:
    """The template filled, at that place. ``issue`` gives titles, languages and address; the first language is the page's own."""
    root = f"{urlsplit(issue.address).path.rstrip('/')}/" if name == "404.html" else "../" * name.count("/")
    body = templates.render(template, issue=issue, languages=tuple(languages), main=languages[0], root=root, path=name, **values)
    return Document(format="web", language="+".join(languages), name=name, media_type="text/html", body=body.encode("utf-8"))


def plain(name: str, media_type: str, language: str, body: str) -> Document:
    """A text file of the site."""
    return Document(format=media_type.partition("/")[2], language=language, name=name, media_type=media_type, body=body.encode("utf-8"))
