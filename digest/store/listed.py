"""The articles as lists show them, each with what it is about, mentions and comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from pydantic import TypeAdapter
from sqlalchemy import BindParameter, ColumnElement, Connection, Select, bindparam, delete, extract, func, select, tuple_, union_all

from digest.model import ArticleLine, Language, Subject, SubjectKey
from digest.store.entries import insert
from digest.store.tables import articles, subjects
from digest.subjects import NEWEST, last_months, subjects_of

_LINE = TypeAdapter(ArticleLine)
_LINES = TypeAdapter(tuple[ArticleLine, ...])
_PARTS_AT_ONCE = 100  # in one statement
_PLACES_AT_ONCE = 400
_Place = tuple[date, int]
_Item = TypeVar("_Item")
_Months = tuple[tuple[date, int], ...]
_Told = dict[SubjectKey, tuple[tuple[ArticleLine, ...], _Months]]


def put(connection: Connection, edition: str, day: date, lines: Sequence[ArticleLine]) -> None:
    """The articles of an issue; those that were listed before are replaced."""
    for table in (articles, subjects):
        connection.execute(delete(table).where(table.c.edition == edition, table.c.day == day))
    if lines:
        rows = [{"edition": edition, "day": day, "place": place, "document": _LINE.dump_json(line).decode("utf-8")} for place, line in enumerate(lines)]
        connection.execute(insert(connection, articles), rows)
        connection.execute(insert(connection, subjects), [row for place, line in enumerate(lines) for row in _rows(edition, day, place, line)])


def _rows(edition: str, day: date, place: int, line: ArticleLine) -> Iterator[dict[str, Any]]:
    languages = "+".join(sorted(line.headlines))
    for (folder, key), (name, kind) in subjects_of(line).items():
        yield {"edition": edition, "day": day, "place": place, "folder": folder, "key": key, "name": name, "kind": kind, "languages": languages}


def lines(connection: Connection, *where: ColumnElement[bool]) -> tuple[ArticleLine, ...]:
    """The articles, the newest day first, within a day in their order."""
    statement = select(articles.c.document).where(*where).order_by(articles.c.day.desc(), articles.c.place)
    return _LINES.validate_json(f"[{','.join(connection.execute(statement).scalars().all())}]")


def find_subjects(connection: Connection, edition: str, asked: Collection[SubjectKey], held: Collection[date]) -> tuple[Subject, ...]:
    """See ``Archive.subjects``."""
    days: BindParameter[Any] = bindparam("held", sorted(held), expanding=True, literal_execute=True)  # in the text: databases limit variables
    shown = (subjects.c.edition == edition, subjects.c.day.not_in(days))
    counted = _counted(connection, shown)
    wanted = [key for key in asked if key in counted]
    in_all: _Told | None = None  # mostly every article has every language
    for language in sorted({language for key in wanted for language in counted[key].articles_in}):
        if any(counted[key].articles_in.get(language) != counted[key].articles for key in wanted):
            told = _told(connection, edition, wanted, (*shown, subjects.c.languages.contains(language)))
        else:
            told = in_all = in_all or _told(connection, edition, wanted, shown)
        for key, (newest, months) in told.items():
            subject = counted[key]
            counted[key] = replace(subject, newest={**subject.newest, language: newest}, months={**subject.months, language: months})
    return tuple(subject for _, subject in sorted(counted.items()))


def _told(connection: Connection, edition: str, keys: Sequence[SubjectKey], shown: Sequence[ColumnElement[bool]]) -> _Told:
    """The newest articles of each subject, and how many it has in each of the twelve months up to the newest."""
    newest = _newest(connection, edition, keys, shown)
    months = _months(connection, {key: own[0].day for key, own in newest.items()}, shown)
    return {key: (own, months[key]) for key, own in newest.items()}


def _counted(connection: Connection, shown: Sequence[ColumnElement[bool]]) -> dict[SubjectKey, Subject]:
    """How many articles have each subject, by key; one statement that an index answers."""
    columns = (subjects.c.folder, subjects.c.key, subjects.c.name, subjects.c.kind, subjects.c.languages)
    rows = connection.execute(select(*columns, func.count()).where(*shown).group_by(*columns).order_by(subjects.c.folder, subjects.c.key)).all()
    found = {}
    for (folder, key), own in groupby(rows, key=itemgetter(0, 1)):
        spellings: Counter[tuple[str, str]] = Counter()
        articles_in: dict[Language, int] = {}
        for _, _, name, kind, languages, number in own:
            spellings[name, kind] += number
            for language in languages.split("+"):
                articles_in[language] = articles_in.get(language, 0) + number
        name, kind = min(spellings, key=lambda spelling: (-spellings[spelling], spelling))
        found[folder, key] = Subject(folder=folder, key=key, name=name, kind=kind, articles=spellings.total(), articles_in=articles_in)
    return found


def _newest(
    connection: Connection, edition: str, keys: Sequence[SubjectKey], shown: Sequence[ColumnElement[bool]]
) -> dict[SubjectKey, tuple[ArticleLine, ...]]:
    """The newest articles of each subject."""
    columns = (subjects.c.folder, subjects.c.key, subjects.c.day, subjects.c.place)
    parts = [
        select(*columns).where(*shown, subjects.c.folder == folder, subjects.c.key == key).order_by(subjects.c.day.desc(), subjects.c.place).limit(NEWEST)
        for folder, key in keys
    ]
    places: dict[SubjectKey, list[_Place]] = {}
    for folder, key, day, place in _together(connection, parts):
        places.setdefault((folder, key), []).append((day, place))
    told: dict[_Place, ArticleLine] = {}
    for some in _some(sorted({place for own in places.values() for place in own}), _PLACES_AT_ONCE):
        where = (articles.c.edition == edition, tuple_(articles.c.day, articles.c.place).in_(some))
        told |= zip(sorted(some, key=_newest_first), lines(connection, *where), strict=True)
    return {key: tuple(told[place] for place in sorted(own, key=_newest_first)) for key, own in places.items()}


def _newest_first(place: _Place) -> tuple[int, int]:
    return -place[0].toordinal(), place[1]


def _months(connection: Connection, untils: Mapping[SubjectKey, date], shown: Sequence[ColumnElement[bool]]) -> dict[SubjectKey, _Months]:
    """How many articles each subject has in each of the twelve months up to a day of its own."""
    columns = (subjects.c.folder, subjects.c.key, extract("year", subjects.c.day), extract("month", subjects.c.day))
    parts = [
        select(*columns, func.count())
        .where(*shown, subjects.c.folder == folder, subjects.c.key == key, subjects.c.day >= last_months(until)[0])
        .group_by(*columns)
        for (folder, key), until in untils.items()
    ]
    numbers = {(folder, key, date(int(year), int(month), 1)): number for folder, key, year, month, number in _together(connection, parts)}
    return {(folder, key): tuple((month, numbers.get((folder, key, month), 0)) for month in last_months(until)) for (folder, key), until in untils.items()}


def _together(connection: Connection, parts: Sequence[Select[Any]]) -> Iterator[Any]:
    """The rows of many small selects in few statements."""
    for some in _some(parts, _PARTS_AT_ONCE):
        yield from connection.execute(union_all(*(part.subquery().select() for part in some)))


def _some(items: Sequence[_Item], number: int) -> Iterator[Sequence[_Item]]:
    return (items[start : start + number] for start in range(0, len(items), number))
