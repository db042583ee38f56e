"""Complete or not: the state of a poll, and arXiv's calendar."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from digest.coverage import arxiv_calendar, states
from digest.model import ArxivPause, Entry, Shelf
from digest.render.environment import Templates
from digest.render.issue_files import IssueRenderer
from tests.builders import a_parsed, a_source, an_entry, an_issue
from tests.conftest import ROOT

TUESDAY = datetime(2026, 11, 24, 12, tzinfo=UTC)
SATURDAY = datetime(2026, 11, 28, 12, tzinfo=UTC)
ARXIV = a_source(kind="arxiv")


def entries(number: int) -> list[Entry]:
    return [an_entry(key=f"Blog|{place}") for place in range(number)]


def state(
    source: Any = ARXIV, number: int = 3, known: int = 0, usual: tuple[int, ...] = (), now: datetime = TUESDAY, has_batch: bool = False, **parsed: Any
) -> tuple[str, str]:
    found = entries(number)
    coverage = states.of_parsed(source, a_parsed(*found, **parsed), {entry.key for entry in found[:known]}, usual, now, has_batch)
    return coverage.state, coverage.note


def test_a_feed_with_news_is_complete() -> None:
    assert state() == ("complete", "")
    assert state(a_source()) == ("complete", "")


def test_an_empty_feed_is_quiet_but_arxiv_on_a_day_of_announcement_is_awaited() -> None:
    assert state(a_source(), number=0)[0] == "quiet"
    assert state(number=0)[0] == "waiting"
    assert state(number=0, now=SATURDAY)[0] == "quiet"
    assert state(number=0, has_batch=True)[0] == "quiet"


def test_the_batch_of_the_day_before_under_todays_date_is_stale() -> None:
    assert state(known=3)[0] == "stale"
    assert state(known=2)[0] == "stale"  # one paper that nobody had seen makes no new batch
    assert state(known=1)[0] == "complete"
    assert state(known=3, has_batch=True)[0] == "complete"
    assert state(known=3, now=SATURDAY)[0] == "complete"
    assert state(a_source(), known=3)[0] == "complete"


def test_an_unchanged_answer_is_judged_by_the_calendar_too() -> None:
    assert states.of_unchanged(ARXIV, TUESDAY, has_batch=False).state == "waiting"
    assert states.of_unchanged(ARXIV, TUESDAY, has_batch=True).state == "quiet"
    assert states.of_unchanged(ARXIV, SATURDAY, has_batch=False).state == "quiet"
    assert states.of_unchanged(a_source(), TUESDAY, has_batch=False).state == "quiet"


def test_a_repaired_feed_is_degraded_with_the_reason() -> None:
    assert state(warnings=("cut off",)) == ("degraded", "cut off")
    assert state(a_source(), number=0, warnings=("not well-formed",)) == ("degraded", "not well-formed; no entry could be read")


def test_far_fewer_than_usual_is_degraded() -> None:
    assert state(number=3, usual=(40,) * 5)[0] == "degraded"
    assert state(number=3, usual=(40,) * 4)[0] == "complete"
    assert state(number=3, usual=(10,) * 5)[0] == "complete"
    assert state(number=30, usual=(40,) * 5)[0] == "complete"


def test_two_thousand_rows_are_an_error_because_arxiv_cuts_there() -> None:
    assert state(number=2000)[0] == "degraded"
    assert state(a_source(), number=2000)[0] == "complete"


@pytest.mark.parametrize(
    ("day", "why"), [(date(2026, 11, 24), None), (date(2026, 11, 26), "Thanksgiving"), (date(2026, 11, 28), "weekend"), (date(2026, 12, 31), "year's end")]
)
def test_the_calendar_knows_weekends_and_holidays(day: date, why: str | None) -> None:
    assert arxiv_calendar.pause(day) == why


def test_the_next_batch_skips_them() -> None:
    assert arxiv_calendar.next_batch_day(date(2026, 9, 4)) == date(2026, 9, 8)
    assert arxiv_calendar.next_batch_day(date(2026, 11, 25)) == date(2026, 11, 27)


def test_a_batch_begins_at_midnight_in_new_york_in_winter_and_summer() -> None:
    assert arxiv_calendar.batch_begins_at(date(2026, 11, 24)).astimezone(UTC).hour == 5
    assert arxiv_calendar.batch_begins_at(date(2026, 8, 17)).astimezone(UTC).hour == 4
    assert arxiv_calendar.eastern_day(datetime(2026, 11, 24, 4, 59, tzinfo=UTC)) == date(2026, 11, 23)
    assert arxiv_calendar.eastern_day(datetime(2026, 11, 24, 5, 1, tzinfo=UTC) + timedelta(0)) == date(2026, 11, 24)


def test_the_issue_says_when_arxiv_pauses() -> None:
    issue = an_issue(arxiv_pause=ArxivPause(why="Labor Day", next_day=date(2026, 9, 8)))
    documents = {
        document.name[-7:]: document.body.decode()
        for document in IssueRenderer(Templates([ROOT / "templates"])).render(issue, Shelf(lines=(), recent=(issue,)))
    }
    assert "今天 arXiv 不公布新论文（美国劳动节），下一批在9月8日星期二公布。" in documents["zh.html"]
    assert "arXiv does not announce today (Labor Day); the next batch comes on Tuesday, Sep 8." in documents["/en.txt"]


def test_every_holiday_has_a_chinese_name() -> None:
    words = Templates([ROOT / "templates"]).words
    for name in {"weekend", *arxiv_calendar.HOLIDAYS.values()}:
        assert words.say("zh", name) != name
