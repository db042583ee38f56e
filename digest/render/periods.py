"""Weeks and months: the best of their days by heat, and the month as a calendar. Every word was printed before in an issue."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date
from typing import TypeVar

from digest.model import ArticleLine, Document, IssueLine, Shelf
from digest.render import places
from digest.render.environment import Templates
from digest.render.pages import newest_of, page, told_in

BEST_OF_WEEK = 15
BEST_OF_MONTH = 30
Groups = list[tuple[str, list[ArticleLine]]]
Line = TypeVar("Line", IssueLine, ArticleLine)


class PeriodRenderer:
    """Renders ``YYYY/MM/<language>.html`` and ``YYYY/wNN.<language>.html`` for the periods of the days, and the ones beside them."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def reach(self, days: Collection[date], lines: Sequence[IssueLine]) -> date:
        reached = [min(days)]
        for language in {language for line in lines for language in line.languages}:
            for _, first, _, _ in _PERIODS:
                known = sorted({first(line.day) for line in lines if language in line.languages})
                reached += _with_neighbours({first(day) for day in days}, known)[:1]
        return min(reached)

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        newest = newest_of(shelf)
        for language in newest.languages:
            issues = [line for line in shelf.lines if language in line.languages]
            told = told_in(shelf.articles, language)
            for template, first, place, limit in _PERIODS:
                lines = _by(issues, first)
                known = sorted(lines)
                wanted = _with_neighbours({first(day) for day in days}, known)
                since = min(wanted, default=date.max)
                articles = _by([line for line in told if line.day >= since], first)
                for period in wanted:
                    own, place_ = lines[period], known.index(period)
                    values = {
                        "period": period,
                        "lines": own[::-1],
                        "line_by_day": {line.day: line for line in own},
                        "articles": sum(line.articles for line in own),
                        "groups": best(articles.get(period, []), limit),
                        "weeks": calendar.Calendar().monthdatescalendar(period.year, period.month),
                        "earlier": known[place_ - 1] if place_ else None,
                        "later": known[place_ + 1] if place_ + 1 < len(known) else None,
                    }
                    yield page(self._templates, template, place(period, language), newest, (language,), **values)


_PERIODS = (
    ("web/month.html", places.first_of_month, places.month, BEST_OF_MONTH),
    ("web/week.html", places.monday, places.week, BEST_OF_WEEK),
)


def _by(lines: Iterable[Line], first: Callable[[date], date]) -> dict[date, list[Line]]:
    """The lines by the first day of their period, in their order."""
    found: dict[date, list[Line]] = {}
    for line in lines:
        found.setdefault(first(line.day), []).append(line)
    return found


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
