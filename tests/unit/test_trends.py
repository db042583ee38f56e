"""Trends: what stands on one scale, what a median is made of, what a spreadsheet gets."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.model import ArticleLine, Claim, IssueLine, Shelf
from digest.render.environment import Templates
from digest.render.trends import TrendRenderer, trends
from tests.builders import DAY, NOON, a_claim, an_issue
from tests.conftest import ROOT


def a_line(*claims: Claim, **changes: Any) -> ArticleLine:
    fields: dict[str, Any] = {
        "day": DAY,
        "story": "s",
        "place": 0,
        "heat": 50,
        "featured": False,
        "tags": ("moe",),
        "source_name": "Blog",
        "trust": "first-hand",
        "at": NOON,
        "told_at": NOON,
        "summaries": {"zh": "丙", "en": "C"},
        "also_in": (),
        "url": "https://blog.example.com/1",
        "title": "T",
        "headlines": {"zh": "甲", "en": "A"},
        "blurbs": {"zh": "乙", "en": "B"},
        "names": {"hardware": ("H100",)},
        "claims": claims,
    }
    return ArticleLine(**fields | changes)


def speeds(*values: float, **changes: Any) -> list[ArticleLine]:
    return [a_line(a_claim(low=value, high=value, **changes), story=f"s{value}") for value in values]


def test_an_upper_bound_is_drawn_hollow_and_stays_out_of_the_median() -> None:
    (trend,) = trends([*speeds(1.2, 1.3, 1.4, 1.5, 1.6), *speeds(90.0, bound="up_to")], DAY)
    row = next(chart for chart in trend.charts if chart.by == "topic").rows[0]
    assert (row.number, row.bounds, row.median) == (6, 1, 1.4)
    assert [mark.is_hollow for mark in row.marks][-1] is True
    assert trend.bounds == 1


def test_a_part_of_what_it_was_counts_as_how_many_times_less() -> None:
    parts = [a_claim(metric="memory", direction="less", low=value, high=value) for value in (0.25, 0.25, 0.5, 4.0, 2.0)]
    (trend,) = trends([a_line(claim, story=str(place)) for place, claim in enumerate(parts)], DAY)
    assert trend.charts[0].rows[-1].median == 4.0
    assert trend.charts[0].ticks[0] == (0.0, 1.0)


def test_a_slowdown_lies_left_of_one() -> None:
    (trend,) = trends(speeds(0.8, 1.5, 2.0), DAY)
    ticks = {value: x for x, value in trend.charts[0].ticks}
    assert trend.charts[0].rows[-1].marks[0].x < ticks[1.0] and ticks[0.5] == 0


def test_a_median_needs_five_figures_and_a_picture_three() -> None:
    (trend,) = trends(speeds(1.2, 1.3, 1.4, 1.5), DAY)
    assert all(row.median is None for chart in trend.charts for row in chart.rows)
    assert trends(speeds(1.2, 1.3), DAY) == ()


def test_multiples_and_percentages_and_metrics_never_share_a_scale() -> None:
    lines = [*speeds(2, 3, 4), *speeds(20, 30, 40, unit="%"), *speeds(2, 3, 4, metric="memory", direction="less"), *speeds(5, 6, 7, metric="quality")]
    assert [(trend.metric, trend.unit, trend.direction) for trend in trends(lines, DAY)] == [
        ("training_speed", "x", "faster"),
        ("training_speed", "%", "faster"),
        ("memory", "x", "less"),
    ]


def test_only_the_last_year_is_drawn_and_every_month_of_it_has_a_row() -> None:
    lines = [*speeds(2, 3), *[a_line(a_claim(), day=DAY - timedelta(days=days)) for days in (100, 364, 365, 4000)]]
    (trend,) = trends(lines, DAY)
    assert len(trend.told) == 4
    months = next(chart for chart in trend.charts if chart.by == "month").rows
    assert [row.month for row in months][:2] == [date(2025, 11, 1), date(2025, 12, 1)] and len(months) == 13
    assert [row.number for row in months][1:3] == [0, 0]


@given(st.lists(st.floats(0.01, 1e7), min_size=3, max_size=30), st.sampled_from(["x", "%"]))
def test_every_mark_lies_on_the_scale(values: list[float], unit: str) -> None:
    for trend in trends(speeds(*values, unit=unit), DAY):
        for chart in trend.charts:
            marks = [x for row in chart.rows for mark in row.marks for x in (mark.x, mark.until)]
            assert all(0 <= x <= 400.5 for x in [*marks, *(x for x, _ in chart.ticks)])
            assert sum(mark.number for row in chart.rows for mark in row.marks) == len(values)


def test_the_table_has_every_claim_with_its_quote_and_runs_in_no_spreadsheet() -> None:
    lines = [a_line(a_claim(quote="=HYPERLINK(1)", baseline="+x"), story="one"), a_line(a_claim(metric="quality"), day=date(2025, 1, 2))]
    issues = tuple(IssueLine(day=line.day, languages=("zh", "en"), articles=1, headlines={}) for line in lines)
    shelf = Shelf(lines=issues, recent=(an_issue(),), articles=tuple(lines))
    documents = {document.name: document.body.decode() for document in TrendRenderer(Templates([ROOT / "templates"])).render({DAY}, shelf)}
    assert set(documents) == {"trends/claims-2026.csv", "trends/zh.html", "trends/en.html"}
    (row,) = csv.DictReader(io.StringIO(documents["trends/claims-2026.csv"]))
    assert (row["quote"], row["baseline"]) == ("'=HYPERLINK(1)", "'+x")
    assert row["page"] == "https://digest.example.org/2026/11/24/one.zh.html"
    assert "claims-2025.csv" in documents["trends/en.html"] and "there are not so many yet" in documents["trends/en.html"]


@pytest.mark.parametrize(("language", "words"), [("zh", "5 个数字的中位数：1.4 倍"), ("en", "median of 5: 1.4×")])
def test_a_median_is_printed_with_its_count(language: str, words: str) -> None:
    shelf = Shelf(lines=(), recent=(an_issue(),), articles=(*speeds(1.2, 1.3, 1.4, 1.5, 1.6), *speeds(9.0, bound="up_to")))
    documents = {document.name: document.body.decode() for document in TrendRenderer(Templates([ROOT / "templates"])).render({DAY}, shelf)}
    assert words in documents[f"trends/{language}.html"]
