"""An Atom feed per language: one entry an issue, newest first.

Ids are tag: addresses (RFC 4151) of the edition and its day, so they depend neither on titles nor on the layout
of the site; ``updated`` is the time of the content, so equal issues give equal bytes (RFC 4287).
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from feedgen.feed import FeedGenerator

from digest.model import Document, Issue, Language, Shelf
from digest.render.environment import Templates
from digest.render.issue_files import issue_folder
from digest.render.words import HTML_LANGUAGES
from digest.text import clean

ENTRY_LIMIT = 30


class AtomRenderer:
    """Renders ``feed.<language>.xml``."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, issue: Issue, shelf: Shelf) -> tuple[Document, ...]:
        return tuple(self._feed(shelf.recent[:ENTRY_LIMIT], language) for language in shelf.recent[0].languages)

    def _feed(self, issues: Sequence[Issue], language: Language) -> Document:
        newest, words = issues[0], self._templates.words
        host = urlsplit(newest.address).hostname or "localhost"
        feed = FeedGenerator()
        feed.id(f"tag:{host},2026:{newest.edition}/{language}")
        feed.title(clean(newest.title[language]))
        feed.updated(newest.until)
        feed.author(name=clean(newest.title[language]))
        feed.language(HTML_LANGUAGES[language])
        feed.link(href=f"{newest.address}/feed.{language}.xml", rel="self", type="application/atom+xml")
        feed.link(href=f"{newest.address}/", rel="alternate", type="text/html")
        feed.generator("Training Digest")
        for issue in issues:
            entry = feed.add_entry(order="append")
            entry.id(f"tag:{host},{issue.day.year}:{issue.edition}/{issue.day.isoformat()}/{language}")
            entry.title(clean(f"{issue.title[language]} · {words.day(language, issue.day)}"))
            entry.updated(issue.until)
            entry.published(issue.until)
            entry.link(href=f"{issue.address}/{issue_folder(issue)}/{language}.html", rel="alternate", type="text/html")
            entry.content(clean(self._templates.render("web/feed_entry.html", issue=issue, language=language)), type="html")
        body = feed.atom_str(pretty=True)
        return Document(format="atom", language=language, name=f"feed.{language}.xml", media_type="application/atom+xml", body=body)
