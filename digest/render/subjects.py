"""Pages of what articles are about and where they come from: topics, names (methods, models, hardware, …) and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from digest.model import ArticleLine, Document, Issue, Language, Shelf
from digest.render import places
from digest.render.environment import NAMED, Templates, public_url
from digest.render.pages import newest_of, page, plain, told_in

LIMIT = 20  # articles on a page
NAMES = 80  # names of a kind in the list


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a page is about, with its articles, newest first."""

    name: str
    kind: str
    lines: tuple[ArticleLine, ...]


class SubjectRenderer:
    """Renders ``topics/``, ``entities/`` and ``sources/``: a list of each, and a page per subject that articles of the days have."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        newest = newest_of(shelf)
        changed = [line for line in (*shelf.articles, *shelf.former) if line.day in days]
        of_all = {folder: _subjects(shelf.articles, names_of) for folder, names_of, _ in _FOLDERS}  # mostly every article has every language
        for language in newest.languages:
            lines = told_in(shelf.articles, language)
            for folder, names_of, place in _FOLDERS:
                subjects = of_all[folder] if lines is shelf.articles else _subjects(lines, names_of)
                gone = {places.slug(name): Subject(name=name, kind=kind, lines=()) for line in changed for name, kind in names_of(line).items()}
                values = {
                    "subjects": (ordered := _by_number(subjects.values())),
                    "by_kind": _by_kind(ordered),
                    "sources": shelf.sources,
                    "limit": NAMES,
                    "day": newest.day,
                    "by_month": by_month,
                }
                yield page(self._templates, f"web/{folder}.html", f"{folder}/{language}.html", newest, (language,), **values)
                for key in sorted(gone):
                    subject = subjects.get(key, gone[key])
                    values = {"subject": subject, "folder": folder, "limit": LIMIT, "by_month": by_month}
                    yield page(self._templates, "web/subject.html", place(subject.name, language), newest, (language,), **values)
        yield self._opml(shelf, newest)

    def _opml(self, shelf: Shelf, newest: Issue) -> Document:
        """The sources as OPML 2.0 (opml.org/spec2.opml), for feed readers; only feeds that anybody can ask."""
        feeds = [line.source for line in shelf.sources if line.source.kind != "hf-papers" and public_url(line.source)]
        text = self._templates.render("plain/sources.opml", issue=newest, main=newest.languages[0], feeds=feeds)
        return plain("sources.opml", "text/x-opml", newest.languages[0], text)


def _by_number(subjects: Iterable[Subject]) -> list[Subject]:
    """The most frequent first."""
    return sorted(subjects, key=lambda subject: (-len(subject.lines), subject.name.casefold()))


def _by_kind(subjects: Sequence[Subject]) -> dict[str, list[Subject]]:
    found: dict[str, list[Subject]] = {}
    for subject in subjects:
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


def _subjects(lines: Sequence[ArticleLine], names_of: Callable[[ArticleLine], Mapping[str, str]]) -> dict[str, Subject]:
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
        subjects[key] = Subject(name=name, kind=kind, lines=tuple(own))
    return subjects


def by_month(lines: Sequence[ArticleLine], until: date) -> tuple[tuple[date, int], ...]:
    """How many of them each of the twelve months up to that day has, the newest month last."""
    counts = Counter((line.day.year, line.day.month) for line in lines)
    months = [divmod(until.year * 12 + until.month - 1 - back, 12) for back in range(11, -1, -1)]
    return tuple((date(year, month + 1, 1), counts[year, month + 1]) for year, month in months)
