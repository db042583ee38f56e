"""What the articles' verified claims say over time: one scale per metric, every claim a mark, medians only with their counts.

A figure that a source calls "up to" or "at least" is a bound and not what one may expect: it is drawn hollow and stays out of the
median. Figures of different metrics, and multiples and percentages, never share a scale. "0.25x the memory" is four times less.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from statistics import median

from markupsafe import Markup

from digest.model import ArticleLine, Claim, Document, IssueLine, Language, Shelf
from digest.render import places
from digest.render.environment import Templates
from digest.render.pages import newest_of, page, plain, told_in

DAYS = 365
FEWEST = 3  # claims of one kind before they are drawn
FEWEST_FOR_MEDIAN = 5
ROWS = 10
_BOUNDS = ("up_to", "at_least")
TABLE = 12
_WIDTH, _LEFT = 400.0, 170.0
_STEP = 6.0  # marks nearer than this become one larger mark
_METRICS = ("training_speed", "throughput", "training_time", "iterations", "memory", "communication", "inference_speed")


@dataclass(frozen=True, slots=True)
class Told:
    """A claim with the article that told it."""

    line: ArticleLine
    claim: Claim


@dataclass(frozen=True, slots=True)
class Mark:
    """One or several claims at a place of the scale: ``x`` from 0 to 400, hollow for bounds; ``until``: where a range ends."""

    x: float
    until: float
    number: int
    is_hollow: bool

    @property
    def radius(self) -> float:
        return round(min(9.0, 3.2 * math.sqrt(self.number)), 1)


@dataclass(frozen=True, slots=True)
class Row:
    """The claims of a month, topic or name: how many, how many of them bounds, the median of the others where five are known."""

    name: str
    month: date | None
    marks: tuple[Mark, ...]
    number: int
    bounds: int
    median: float | None
    median_x: float | None

    def shapes(self, y: int) -> Markup:
        """The marks as SVG at that height, 170 to the right of the names; nothing but numbers."""
        found = []
        for mark in self.marks:
            kind = ' class="hollow"' if mark.is_hollow else ""
            if mark.until > mark.x:
                found.append(f'<path{kind} d="M{mark.x + _LEFT:g} {y}H{mark.until + _LEFT:g}"/>')
            found.append(f'<circle{kind} cx="{(mark.until if mark.is_hollow else mark.x) + _LEFT:g}" cy="{y}" r="{mark.radius}"/>')
        if self.median_x is not None:
            found.append(f'<path class="median" d="M{self.median_x + _LEFT:g} {y - 10}v20"/>')
        return Markup("".join(found))  # noqa: S704  # numbers


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows on one scale; ``by`` is what a row stands for, ``ticks`` are (x, value)."""

    by: str
    rows: tuple[Row, ...]
    ticks: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """All charts of one metric in one unit, and the claims behind them, newest first."""

    metric: str
    unit: str
    direction: str
    charts: tuple[Chart, ...]
    told: tuple[Told, ...]
    bounds: int


class TrendRenderer:
    """Renders ``trends/<language>.html`` over the last 365 days, and ``trends/claims-YYYY.csv`` for the years of the days."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def reach(self, days: Collection[date], lines: Sequence[IssueLine]) -> date:
        return min(min(days).replace(month=1, day=1), lines[0].day - timedelta(days=DAYS - 1))

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        newest = newest_of(shelf)
        years = sorted({line.day.year for line in shelf.lines if line.articles}, reverse=True)
        for year in sorted({day.year for day in days}):
            lines = [line for line in shelf.articles if line.day.year == year]
            yield plain(f"trends/claims-{year}.csv", "text/csv", newest.languages[0], _csv(lines, newest.address))
        of_all = trends(shelf.articles, newest.day)  # most editions have every article in every language
        for language in newest.languages:
            told = told_in(shelf.articles, language)
            values = {
                "trends": of_all if told is shelf.articles else trends(told, newest.day),
                "years": years,
                "since": newest.day - timedelta(days=DAYS - 1),
                "table": TABLE,
            }
            yield page(self._templates, "web/trends.html", f"trends/{language}.html", newest, (language,), **values)


def trends(lines: Sequence[ArticleLine], newest: date) -> tuple[Trend, ...]:
    """The trends of the last 365 days, in the order of the metrics, multiples before percentages."""
    found: dict[tuple[str, str, str], list[Told]] = {}
    for line in lines:
        if line.day > newest - timedelta(days=DAYS):
            for claim in line.claims:
                if claim.metric in _METRICS and claim.unit in ("x", "%") and claim.low > 0:
                    found.setdefault((claim.metric, claim.unit, claim.direction), []).append(Told(line, _whole(claim)))
    kinds = sorted(found, key=lambda kind: (_METRICS.index(kind[0]), kind[1] != "x", kind[2]))
    return tuple(_trend(*kind, found[kind], newest) for kind in kinds if len(found[kind]) >= FEWEST)


def _whole(claim: Claim) -> Claim:
    """A part of what it was ("0.25x the memory") as how many times less (4x)."""
    if claim.unit == "x" and claim.direction == "less" and claim.high < 1:
        return replace(claim, low=round(1 / claim.high, 4), high=round(1 / claim.low, 4))
    return claim


def _trend(metric: str, unit: str, direction: str, told: Sequence[Told], newest: date) -> Trend:
    scale, ticks = _scale(told, unit)
    charts = [_chart(by, told, names_of, scale, ticks) for by, names_of in _GROUPS]
    months = _months(told, newest, scale, ticks)
    bounds = sum(each.claim.bound in _BOUNDS for each in told)
    return Trend(metric, unit, direction, tuple(chart for chart in (months, *charts) if chart.rows), tuple(told), bounds)


_GROUPS: tuple[tuple[str, Callable[[ArticleLine], Sequence[str]]], ...] = (
    ("topic", lambda line: line.tags),
    ("method", lambda line: line.names.get("method", ())),
    ("hardware", lambda line: line.names.get("hardware", ())),
)


def _scale(told: Sequence[Told], unit: str) -> tuple[Callable[[float], float], tuple[tuple[float, float], ...]]:
    """(value to x, ticks): by powers for multiples, with 1 among them; from 0 for percentages."""
    top, bottom = max(each.claim.high for each in told), min(each.claim.low for each in told)
    if unit == "x":
        values = [base * 10.0**power for power in range(-3, 8) for base in (1, 2, 5)]
        first = max([value for value in values if value <= min(bottom, 1.0)], default=values[0])
        end = min([value for value in values if value >= max(top, 2.0)], default=values[-1])

        @cache
        def by_power(value: float) -> float:
            return round(_WIDTH * math.log(min(max(value, first), end) / first) / math.log(end / first), 1)

        ticks = [value for value in values if first <= value <= end]
        return by_power, tuple((by_power(value), value) for value in (ticks if len(ticks) <= 7 else [each for each in ticks if f"{each:e}"[0] == "1"]))
    end = 100 if top <= 100 else math.ceil(top / 100) * 100

    @cache
    def evenly(value: float) -> float:
        return round(_WIDTH * value / end, 1)

    return evenly, tuple((evenly(value), value) for value in (0, end / 4, end / 2, 3 * end / 4, end))


def _chart(
    by: str, told: Sequence[Told], names_of: Callable[[ArticleLine], Sequence[str]], scale: Callable[[float], float], ticks: tuple[tuple[float, float], ...]
) -> Chart:
    groups: dict[str, list[Claim]] = {}
    for each in told:
        for name in names_of(each.line):
            groups.setdefault(name, []).append(each.claim)
    names = sorted(groups, key=lambda name: (-len(groups[name]), name))[:ROWS]
    return Chart(by, tuple(_row(name, None, groups[name], scale) for name in names), ticks)


def _months(told: Sequence[Told], newest: date, scale: Callable[[float], float], ticks: tuple[tuple[float, float], ...]) -> Chart:
    """A row for each month since the first claim, also for those without."""
    groups: dict[date, list[Claim]] = {}
    for each in told:
        groups.setdefault(each.line.day.replace(day=1), []).append(each.claim)
    month, rows = min(groups), []
    while month <= newest:
        rows.append(_row("", month, groups.get(month, []), scale))
        month = (month + timedelta(days=32)).replace(day=1)
    return Chart("month", tuple(rows), ticks)


def _row(name: str, month: date | None, claims: Sequence[Claim], scale: Callable[[float], float]) -> Row:
    marks: dict[tuple[float, float, bool], tuple[float, float, int]] = {}
    for claim in claims:
        x, until, is_hollow = scale(claim.low), scale(claim.high), claim.bound in _BOUNDS
        key = (x // _STEP, until // _STEP, is_hollow)
        first, last, number = marks.get(key, (x, until, 0))
        marks[key] = (first, last, number + 1)
    usual = [math.sqrt(claim.low * claim.high) for claim in claims if claim.bound not in _BOUNDS]
    middle = round(median(usual), 2) if len(usual) >= FEWEST_FOR_MEDIAN else None
    return Row(
        name,
        month,
        tuple(Mark(x, until, number, key[2]) for key, (x, until, number) in sorted(marks.items())),
        len(claims),
        len(claims) - len(usual),
        middle,
        None if middle is None else scale(middle),
    )


def _csv(lines: Sequence[ArticleLine], address: str) -> str:
    """All claims of the lines, with their quotes; cells that a spreadsheet would run are quoted as text (owasp.org, CSV injection)."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow("day story source metric low high unit direction bound baseline setting topics methods hardware quote page".split())
    languages: tuple[Language, ...] = ("zh", "en")
    for line in lines:
        language = next(each for each in languages if each in line.headlines)
        for claim in line.claims:
            names = ["; ".join(line.tags), "; ".join(line.names.get("method", ())), "; ".join(line.names.get("hardware", ()))]
            figure = [claim.metric, repr(claim.low), repr(claim.high), claim.unit, claim.direction, claim.bound, claim.baseline or "", claim.setting or ""]
            row = [
                line.day.isoformat(),
                line.story,
                line.source_name,
                *figure,
                *names,
                claim.quote,
                f"{address}/{places.article(line.day, line.story, language)}",
            ]
            table.writerow([f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell for cell in row])
    return text.getvalue()
