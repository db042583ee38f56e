"""When to ask a source again: what its server says, what its feed says, and how often it has had news."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256

from digest.coverage.arxiv_calendar import batch_begins_at, eastern_day, next_batch_day, pause
from digest.model import CoverageState, Memory, NextPoll, Rhythm, Source

SHORTEST = timedelta(minutes=15)
LONGEST = timedelta(hours=12)  # so that every day has a poll
LONGEST_PROMISE = timedelta(hours=23)  # an hour less than a day: whoever asks once a day at the same hour is never refused
JITTER = 0.1
WEEKLY = 0.75  # so many entries a week are about one
_WEEK = timedelta(days=7)
_AWAITED = ("waiting", "stale", "failed", "degraded")


def next_poll(source: Source, memory: Memory, rhythm: Rhythm, fresh_seconds: float, state: CoverageState, now: datetime) -> NextPoll:
    """When to ask again after a poll that ended in ``state``.

    arXiv's own words are left aside: its feed says "not on Saturday" in UTC, when in Asia Friday's batch may still be unread, and
    may promise for a day that yesterday's batch does not change. Its calendar tells instead.
    """
    if source.kind == "arxiv":
        return _of_arxiv(state, now)
    until = fresh_until(rhythm, fresh_seconds, now)
    wait = timedelta(minutes=source.every_minutes) if source.every_minutes else interval(memory.new_a_week)
    return NextPoll(fresh_until=until, due_at=max(now + wait * (1 + JITTER * _spread(source.name, now)), until or now))


def interval(new_a_week: float) -> timedelta:
    """A week divided by the entries it brings, within a quarter of an hour and half a day."""
    return max(SHORTEST, min(LONGEST, _WEEK / max(new_a_week, 1.0)))


def fresh_until(rhythm: Rhythm, fresh_seconds: float, now: datetime) -> datetime | None:
    """Until when nothing new is promised to be there: the longest of the HTTP cache time (RFC 9111) and the feed's ttl, then over
    the hours and days that it skips; at most ``LONGEST_PROMISE`` from now, None when nothing is promised."""
    limit = now + LONGEST_PROMISE
    seconds = max(0.0, fresh_seconds, 60.0 * rhythm.ttl_minutes)
    until = min(limit, now + timedelta(seconds=min(seconds, LONGEST_PROMISE.total_seconds())))
    while until < limit and (until.hour in rhythm.skip_hours or until.weekday() in rhythm.skip_days):
        until = min(limit, until.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1))
    return until if until > now else None


def is_too_quiet(memory: Memory, now: datetime) -> bool:
    """Whether a source that had news about once a week or more often has had none for three times its usual pause, and three days."""
    if memory.last_new_at is None or memory.new_a_week < WEEKLY:
        return False
    return now - memory.last_new_at > max(timedelta(days=3), 3 * _WEEK / memory.new_a_week)


def _of_arxiv(state: CoverageState, now: datetime) -> NextPoll:
    """The next batch, once today's is read; until then again after a quarter of the time waited so far, within an hour."""
    day = eastern_day(now)
    following = batch_begins_at(next_batch_day(day))
    if pause(day):
        return NextPoll(due_at=following)
    if state not in _AWAITED:
        return NextPoll(fresh_until=following, due_at=following)
    waited = now - batch_begins_at(day)
    return NextPoll(due_at=now + max(SHORTEST, min(timedelta(hours=1), waited / 4)))


def _spread(name: str, now: datetime) -> float:
    """A number from -1 to 1 that is the same for the same source and moment."""
    digest = sha256(f"{name} {now.isoformat()}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**31 - 1
