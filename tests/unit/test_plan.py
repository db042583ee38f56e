"""When the issue of each day is made: over years of days, whatever clocks and zones do, each day once."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from digest.plan import CATCH_UP, DayPlan, decide, due_days, moment, upcoming

ZONES = ("Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "UTC")


def a_plan(zone: str = "Asia/Shanghai", make_at: time = time(8, 30), wait_until: time = time(13, 30)) -> DayPlan:
    return DayPlan(zone=zone, make_at=make_at, wait_until=wait_until)


@pytest.mark.parametrize(
    ("zone", "day", "at", "expected"),
    [
        ("Asia/Shanghai", date(2026, 11, 30), time(8, 30), datetime(2026, 11, 30, 0, 30, tzinfo=UTC)),
        ("Europe/Berlin", date(2026, 3, 29), time(2, 30), datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),  # does not exist: 03:30 it is
        ("Europe/Berlin", date(2026, 10, 25), time(2, 30), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),  # comes twice: the first
        ("America/New_York", date(2028, 2, 29), time(0, 0), datetime(2028, 2, 29, 5, 0, tzinfo=UTC)),
    ],
)
def test_a_wall_time_is_one_moment(zone: str, day: date, at: time, expected: datetime) -> None:
    assert moment(day, at, zone) == expected


@pytest.mark.parametrize(
    ("made", "hours", "expected"),
    [
        ([], 12, [30]),
        ([date(2026, 11, 29)], 12, [30]),
        ([date(2026, 11, 30)], 12, []),
        ([date(2026, 11, 26)], 12, [27, 28, 29, 30]),  # three days off
        ([date(2026, 11, 26)], 0.2, [27, 28, 29]),  # 08:12 in Shanghai: today's hour has not come
        ([date(2026, 1, 1)], 12, [24, 25, 26, 27, 28, 29, 30]),  # a week at most
        ([date(2026, 11, 27), date(2026, 11, 29)], 12, [28, 30]),  # a gap between days that were made
        ([date(2026, 11, 28), date(2030, 1, 1)], 12, [29, 30]),  # the clock was far ahead once
    ],
)
def test_missed_days_are_due_in_order(made: list[date], hours: float, expected: list[int]) -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC) + timedelta(hours=hours)
    assert [day.day for day in due_days(a_plan(), made, now)] == expected


@pytest.mark.parametrize(
    ("at", "is_awaited", "expected"),
    [("00:29", False, "later"), ("00:30", False, "make"), ("00:30", True, "wait"), ("05:29", True, "wait"), ("05:30", True, "make")],
)
def test_the_day_waits_for_a_late_source_and_not_for_ever(at: str, is_awaited: bool, expected: str) -> None:
    now = datetime.combine(date(2026, 11, 30), time.fromisoformat(at), UTC)
    assert decide(a_plan(), date(2026, 11, 30), now, is_awaited=is_awaited) == expected


def test_waiting_never_ends_before_it_begins() -> None:
    plan = a_plan(make_at=time(20, 0), wait_until=time(8, 0))
    assert plan.latest_at(date(2026, 11, 30)) == plan.made_at(date(2026, 11, 30))


@settings(max_examples=60)
@given(
    st.sampled_from(ZONES),
    st.times().map(lambda at: at.replace(second=0, microsecond=0)),
    st.dates(date(2020, 1, 1), date(2035, 1, 1)),
    st.lists(st.sampled_from([1, 10, 60, 60, 60, 300, 1440, 3 * 1440, -120, -1440]), min_size=50, max_size=400),
)
def test_each_day_has_exactly_one_issue(zone: str, make_at: time, first: date, steps: list[int]) -> None:
    """Looks at random moments, with gaps of days and a clock that goes back, over daylight saving and leap days."""
    plan, now = a_plan(zone, make_at), datetime.combine(first, time(12), UTC)
    made: list[date] = []
    for minutes in steps:
        now += timedelta(minutes=minutes)
        made += due_days(plan, made, now)
    today = now.astimezone(ZoneInfo(zone)).date()
    known = sorted(day for day in made if day <= today)  # the others were made by a clock that was ahead, and count for nothing else
    assert len(set(made)) == len(made) and known == [known[0] + timedelta(days=number) for number in range(len(known))]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(ZONES), st.integers(1, 5)), min_size=5, max_size=40))
def test_a_change_of_zone_makes_no_day_twice_and_skips_none(changes: list[tuple[str, int]]) -> None:
    now, made = datetime(2026, 3, 1, tzinfo=UTC), [date(2026, 2, 28)]
    for zone, days in changes:
        for _ in range(days * 24):
            now += timedelta(hours=1)
            made += due_days(a_plan(zone), made, now)
    assert made == [made[0] + timedelta(days=number) for number in range(len(made))]


def test_every_hour_of_ten_years_makes_every_day_once() -> None:
    plan, now, made = a_plan("Europe/Berlin", time(2, 30)), datetime(2026, 1, 1, 12, tzinfo=UTC), [date(2025, 12, 31)]
    while now.year < 2036:
        made += due_days(plan, made[-10:], now)
        now += timedelta(hours=7)
    assert made[1:] == [date(2026, 1, 1) + timedelta(days=number) for number in range(len(made) - 1)] and len(made) > 3650


def test_the_coming_days_show_weeks_months_and_clocks() -> None:
    plan = a_plan("Europe/Berlin")
    lines = [(each.what, each.day) for each in upcoming(plan, datetime(2026, 10, 23, 12, tzinfo=UTC), 9)]
    assert lines[:4] == [("make", date(2026, 10, 24)), ("clock", date(2026, 10, 25)), ("make", date(2026, 10, 25)), ("make", date(2026, 10, 26))]
    assert ("week", date(2026, 10, 26)) in lines and ("month", date(2026, 11, 1)) in lines
    assert CATCH_UP == 7
