"""Pages of what articles are about and where they come from: topics, names (methods, models, hardware, …) and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import date

from digest.model import ArticleLine, Document, Folder, Issue, IssueLine, Language, Shelf, Subject
from digest.render import places
from digest.render.environment import Templates, public_url
from digest.render.pages import newest_of, page, plain, told_in
from digest.subjects import NEWEST, last_months, slug, touched

NAMES = 80  # names of a kind in the list
_FOLDERS: tuple[Folder, ...] = ("topics", "entities", "sources")


class SubjectRenderer:
    """Renders ``topics/``, ``entities/`` and ``sources/``: a list of each, and a page per subject that articles of the days have."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def reach(self, days: Collection[date], lines: Sequence[IssueLine]) -> date:
        return min(min(days), last_months(lines[0].day)[0])

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        newest = newest_of(shelf)
        known = {(subject.folder, subject.key): subject for subject in shelf.subjects}
        wanted = touched((*shelf.articles, *shelf.former), days)
        for language in newest.languages:
            topics = [subject.key for subject in known.values() if subject.folder == "topics"]
            months = _months(topics, told_in(shelf.articles, language), newest.day)
            for folder in _FOLDERS:
                ordered = _by_number([subject for subject in known.values() if subject.folder == folder and language in subject.articles_in], language)
                values = {"subjects": ordered, "by_kind": _by_kind(ordered), "sources": shelf.sources, "limit": NAMES, "months": months}
                yield page(self._templates, f"web/{folder}.html", f"{folder}/{language}.html", newest, (language,), **values)
            for (folder, key), (name, kind) in wanted.items():
                gone = Subject(folder=folder, key=key, name=name, kind=kind, articles=0, articles_in={})
                subject = known.get((folder, key), gone)
                yield page(self._templates, "web/subject.html", places.subject(folder, key, language), newest, (language,), subject=subject, limit=NEWEST)
        yield self._opml(shelf, newest)

    def _opml(self, shelf: Shelf, newest: Issue) -> Document:
        """The sources as OPML 2.0 (opml.org/spec2.opml), for feed readers; only feeds that anybody can ask."""
        feeds = [line.source for line in shelf.sources if line.source.kind != "hf-papers" and public_url(line.source)]
        text = self._templates.render("plain/sources.opml", issue=newest, main=newest.languages[0], feeds=feeds)
        return plain("sources.opml", "text/x-opml", newest.languages[0], text)


def _by_number(subjects: Sequence[Subject], language: Language) -> list[Subject]:
    """The most frequent first."""
    return sorted(subjects, key=lambda subject: (-subject.articles_in[language], subject.name.casefold()))


def _by_kind(subjects: Sequence[Subject]) -> dict[str, list[Subject]]:
    found: dict[str, list[Subject]] = {}
    for subject in subjects:
        found.setdefault(subject.kind, []).append(subject)
    return found


def _months(topics: Sequence[str], lines: Sequence[ArticleLine], until: date) -> dict[str, tuple[tuple[date, int], ...]]:
    """How many articles each topic (by its key) has in each of the twelve months up to that day, the newest month last."""
    numbers = Counter((key, line.day.year, line.day.month) for line in lines for key in {slug(tag) for tag in line.tags})
    return {key: tuple((month, numbers[key, month.year, month.month]) for month in last_months(until)) for key in topics}
