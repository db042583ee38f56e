"""When a source is asked again: what its server and its feed say, how often it has news, and arXiv's own calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.coverage import rhythm
from digest.coverage.rhythm import fresh_until, interval, next_poll
from digest.model import CoverageState, Memory, NextPoll, Rhythm
from digest.parse.feed_rhythm import rhythm as read_rhythm
from tests.builders import NOON, a_source

HOUR = timedelta(hours=1)
ARXIV = a_source(kind="arxiv")


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("<rss><channel><ttl> 60 </ttl><item/>", Rhythm(ttl_minutes=60)),
        ("<channel><skipHours><hour>0</hour><hour>24</hour><hour>23</hour></skipHours>", Rhythm(skip_hours=(0, 23))),
        ("<channel><skipDays><day>Saturday</day><day>Sunday</day></skipDays>", Rhythm(skip_days=(5, 6))),
        ("<channel><item><ttl>60</ttl></item></channel>", Rhythm()),
        ("<skipDays>" + "".join(f"<day>{day}day</day>" for day in ("Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun")) + "</skipDays>", Rhythm()),
        ("<ttl>often</ttl><skipHours><hour>99</hour></skipHours>", Rhythm()),
    ],
)
def test_a_feed_says_its_rhythm_in_its_head(head: str, found: Rhythm) -> None:
    assert read_rhythm(head) == found


@pytest.mark.parametrize(
    ("said", "seconds", "until"),
    [
        (Rhythm(), 0, None),
        (Rhythm(), 3600, NOON + HOUR),
        (Rhythm(ttl_minutes=120), 3600, NOON + 2 * HOUR),
        (Rhythm(ttl_minutes=10), 3600, NOON + HOUR),
        (Rhythm(ttl_minutes=60 * 24 * 30), 0, NOON + 23 * HOUR),
        (Rhythm(skip_hours=(12, 13)), 0, NOON + 2 * HOUR),
        (Rhythm(skip_hours=(13,)), 3600, NOON + 2 * HOUR),
        (Rhythm(skip_hours=(13,)), 0, None),
        (Rhythm(skip_days=(1,)), 0, NOON + 12 * HOUR),
    ],
)
def test_nothing_is_asked_while_nothing_new_is_promised(said: Rhythm, seconds: float, until: datetime | None) -> None:
    assert fresh_until(said, seconds, NOON) == until


def test_the_interval_is_a_week_by_its_entries_within_bounds() -> None:
    assert interval(28) == timedelta(hours=6)
    assert interval(0) == interval(1) == rhythm.LONGEST
    assert interval(100_000) == rhythm.SHORTEST


def test_the_owner_s_interval_and_the_server_s_word_both_count() -> None:
    source = a_source(every_minutes=60)
    plan = next_poll(source, Memory(new_a_week=1000), Rhythm(), 0, "complete", NOON)
    assert plan.due_at is not None and timedelta(minutes=54) <= plan.due_at - NOON <= timedelta(minutes=66)
    assert next_poll(source, Memory(), Rhythm(ttl_minutes=600), 0, "complete", NOON).due_at == NOON + 10 * HOUR


def test_jitter_spreads_sources_and_is_the_same_for_the_same_moment() -> None:
    plans = [next_poll(a_source(name=f"Blog {number}"), Memory(new_a_week=28), Rhythm(), 0, "complete", NOON) for number in range(50)]
    moments = [plan.due_at for plan in plans if plan.due_at]
    assert len(set(moments)) > 45
    assert max(moments) - min(moments) > timedelta(minutes=30)
    assert plans[0] == next_poll(a_source(name="Blog 0"), Memory(new_a_week=28), Rhythm(), 0, "complete", NOON)


@given(st.floats(0, 1e9), st.integers(0, 999_999), st.sets(st.integers(0, 23)), st.sets(st.integers(0, 6)))
def test_no_promise_is_longer_than_a_day_and_no_rhythm_longer_than_half(seconds: float, ttl: int, hours: set[int], days: set[int]) -> None:
    plan = next_poll(a_source(), Memory(), Rhythm(ttl_minutes=ttl, skip_hours=tuple(hours), skip_days=tuple(days)), seconds, "quiet", NOON)
    assert plan.due_at is not None and NOON < plan.due_at < NOON + timedelta(days=1)
    assert plan.fresh_until is None or NOON < plan.fresh_until <= plan.due_at


@pytest.mark.parametrize(
    ("moment", "state", "plan"),
    [
        (
            datetime(2026, 11, 24, 12, tzinfo=UTC),
            "complete",
            NextPoll(fresh_until=datetime(2026, 11, 25, 5, tzinfo=UTC), due_at=datetime(2026, 11, 25, 5, tzinfo=UTC)),
        ),
        (datetime(2026, 11, 24, 5, 10, tzinfo=UTC), "waiting", NextPoll(due_at=datetime(2026, 11, 24, 5, 25, tzinfo=UTC))),
        (datetime(2026, 11, 24, 7, tzinfo=UTC), "stale", NextPoll(due_at=datetime(2026, 11, 24, 7, 30, tzinfo=UTC))),
        (datetime(2026, 11, 24, 20, tzinfo=UTC), "waiting", NextPoll(due_at=datetime(2026, 11, 24, 21, tzinfo=UTC))),
        (datetime(2026, 11, 28, 12, tzinfo=UTC), "quiet", NextPoll(due_at=datetime(2026, 11, 30, 5, tzinfo=UTC))),
    ],
)
def test_arxiv_is_asked_until_it_announces_and_then_for_the_next_batch(moment: datetime, state: CoverageState, plan: NextPoll) -> None:
    assert next_poll(ARXIV, Memory(), Rhythm(), 0, state, moment) == plan


def test_saturday_in_utc_is_still_friday_s_batch_for_arxiv() -> None:
    """Its feed skips Saturday; at 08:30 on Saturday in Shanghai it is Friday in New York, and Friday's batch may be unread."""
    saturday = datetime(2026, 11, 28, 0, 30, tzinfo=UTC)
    assert next_poll(ARXIV, Memory(), Rhythm(skip_days=(5, 6)), 86400, "waiting", saturday).fresh_until is None
