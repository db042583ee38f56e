"""Pages of what articles are about and where they come from: topics, names (methods, models, hardware, …) and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from digest.model import ArticleLine, Document, Language, Shelf
from digest.render import places
from digest.render.environment import NAMED, Templates, public_url
from digest.render.pages import page, plain

LIMIT = 30  # articles on a page
NAMES = 80  # names of a kind in the list


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a page is about, with its articles, newest first; ``months`` counts them by month, twelve of them, the newest last."""

    name: str
    kind: str
    lines: tuple[ArticleLine, ...]
    months: tuple[tuple[date, int], ...]


class SubjectRenderer:
    """Renders ``topics/``, ``entities/`` and ``sources/``: a list of each, and a page per subject that articles of the days have."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        newest = shelf.recent[0]
        changed = [line for line in (*shelf.articles, *shelf.former) if line.day in days]
        for folder, names_of, place in _FOLDERS:
            subjects = _subjects(shelf.articles, names_of, newest.day)
            touched = {places.slug(name) for line in changed for name in names_of(line)}
            gone = {places.slug(name): Subject(name=name, kind=kind, lines=(), months=()) for line in changed for name, kind in names_of(line).items()}
            by_name = {"told": {subject.name: subject for subject in subjects.values()}, "by_kind": _by_kind(subjects.values())}
            for language in newest.languages:
                listed = sorted(subjects.values(), key=lambda subject: (-len(subject.lines), subject.name.casefold()))
                yield page(
                    self._templates,
                    f"web/{folder}.html",
                    f"{folder}/{language}.html",
                    newest,
                    (language,),
                    subjects=listed,
                    sources=shelf.sources,
                    limit=NAMES,
                    **by_name,
                )
                for key in sorted(touched):
                    subject = subjects.get(key, gone[key])
                    values = {"subject": subject, "folder": folder, "limit": LIMIT}
                    yield page(self._templates, "web/subject.html", place(subject.name, language), newest, (language,), **values)
        yield from self._opml(shelf)

    def _opml(self, shelf: Shelf) -> Iterator[Document]:
        """The sources as OPML 2.0 (opml.org/spec2.opml), for feed readers; only those that anybody can ask."""
        newest = shelf.recent[0]
        feeds = [line.source for line in shelf.sources if public_url(line.source.url)]
        text = self._templates.render("plain/sources.opml", issue=newest, main=newest.languages[0], feeds=feeds)
        yield plain("sources.opml", "text/x-opml", newest.languages[0], text)


def _by_kind(subjects: Iterable[Subject]) -> dict[str, list[Subject]]:
    """By kind, the most frequent first."""
    found: dict[str, list[Subject]] = {}
    for subject in sorted(subjects, key=lambda subject: (-len(subject.lines), subject.name.casefold())):
        found.setdefault(subject.kind, []).append(subject)
    return found


def _topics(line: ArticleLine) -> dict[str, str]:
    return dict.fromkeys(line.tags, "topic")


def _entities(line: ArticleLine) -> dict[str, str]:
    return {name: kind for kind in NAMED for name in line.names.get(kind, ())}


def _sources(line: ArticleLine) -> dict[str, str]:
    return {line.source_name: line.trust}


_FOLDERS: tuple[tuple[str, Callable[[ArticleLine], Mapping[str, str]], Callable[[str, Language], str]], ...] = (
    ("topics", _topics, places.topic),
    ("entities", _entities, places.entity),
    ("sources", _sources, places.source),
)


def _subjects(lines: Sequence[ArticleLine], names_of: Callable[[ArticleLine], Mapping[str, str]], newest: date) -> dict[str, Subject]:
    """The subjects by their slug, each under its most usual spelling."""
    found: dict[str, list[ArticleLine]] = {}
    spellings: dict[str, Counter[tuple[str, str]]] = {}
    for line in lines:
        for name, kind in names_of(line).items():
            key = places.slug(name)
            spellings.setdefault(key, Counter())[name, kind] += 1
            if not found.setdefault(key, []) or found[key][-1] is not line:
                found[key].append(line)
    subjects = {}
    for key, own in found.items():
        name, kind = min(spellings[key], key=lambda spelling: (-spellings[key][spelling], spelling))
        subjects[key] = Subject(name=name, kind=kind, lines=tuple(own), months=by_month(own, newest))
    return subjects


def by_month(lines: Sequence[ArticleLine], newest: date) -> tuple[tuple[date, int], ...]:
    """How many of them each of the last twelve months has, the newest month last."""
    counts = Counter((line.day.year, line.day.month) for line in lines)
    months = [divmod(newest.year * 12 + newest.month - 1 - back, 12) for back in range(11, -1, -1)]
    return tuple((date(year, month + 1, 1), counts[year, month + 1]) for year, month in months)
