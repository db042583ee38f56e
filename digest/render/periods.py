"""Weeks and months: the best of their days by heat, and the month as a calendar. Every word was printed before in an issue."""

from __future__ import annotations

import calendar
from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta

from digest.model import ArticleLine, Document, Issue, Language, Shelf
from digest.render import places
from digest.render.environment import Templates
from digest.render.pages import page

BEST_OF_WEEK = 15
BEST_OF_MONTH = 30
Groups = list[tuple[str, list[ArticleLine]]]


class PeriodRenderer:
    """Renders ``YYYY/MM/<language>.html`` and ``YYYY/wNN.<language>.html`` for the periods of the days, and the ones beside them."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        newest = shelf.recent[0]
        months = sorted({line.day.replace(day=1) for line in shelf.lines})
        for month in _with_neighbours({day.replace(day=1) for day in days}, months):
            for language in newest.languages:
                yield self._month(month, months, shelf, newest, language)
        weeks = sorted({places.monday(line.day) for line in shelf.lines})
        for monday in _with_neighbours({places.monday(day) for day in days}, weeks):
            for language in newest.languages:
                yield self._week(monday, weeks, shelf, newest, language)

    def _month(self, month: date, months: Sequence[date], shelf: Shelf, newest: Issue, language: Language) -> Document:
        lines = [line for line in shelf.lines if line.day.replace(day=1) == month]
        return page(
            self._templates,
            "web/month.html",
            places.month(month, language),
            newest,
            (language,),
            month=month,
            weeks=calendar.Calendar().monthdatescalendar(month.year, month.month),
            line_by_day={line.day: line for line in lines},
            articles=sum(line.articles for line in lines),
            groups=best([line for line in shelf.articles if line.day.replace(day=1) == month], BEST_OF_MONTH),
            earlier=_before(month, months),
            later=_after(month, months),
        )

    def _week(self, monday: date, weeks: Sequence[date], shelf: Shelf, newest: Issue, language: Language) -> Document:
        lines = [line for line in shelf.lines if places.monday(line.day) == monday]
        return page(
            self._templates,
            "web/week.html",
            places.week(monday, language),
            newest,
            (language,),
            monday=monday,
            sunday=monday + timedelta(days=6),
            lines=lines[::-1],
            articles=sum(line.articles for line in lines),
            groups=best([line for line in shelf.articles if places.monday(line.day) == monday], BEST_OF_WEEK),
            earlier=_before(monday, weeks),
            later=_after(monday, weeks),
        )


def best(lines: Sequence[ArticleLine], limit: int) -> Groups:
    """The hottest of them by their first tag (empty: none), the group with the hottest first."""
    groups: dict[str, list[ArticleLine]] = {}
    for line in sorted(lines, key=lambda line: (-line.heat, line.day, line.story))[:limit]:
        groups.setdefault(line.tags[0] if line.tags else "", []).append(line)
    return list(groups.items())


def _with_neighbours(wanted: Collection[date], known: Sequence[date]) -> list[date]:
    """Those that are wanted and known, and the ones just before and after, whose pages lead to them."""
    places_ = [place for place, period in enumerate(known) if period in wanted]
    return [known[place] for place in sorted({near for place in places_ for near in (place - 1, place, place + 1) if 0 <= near < len(known)})]


def _before(period: date, known: Sequence[date]) -> date | None:
    return max((other for other in known if other < period), default=None)


def _after(period: date, known: Sequence[date]) -> date | None:
    return min((other for other in known if other > period), default=None)
