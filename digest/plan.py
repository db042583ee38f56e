"""When the issue of each day is made: pure reckoning with days, wall clocks and zones.

A day is one of the edition's zone. It is made once whatever the clock or the zone do meanwhile: what is made is known by its date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

CATCH_UP = 7  # so many missed days are made late; what is older stays a gap
Decision = Literal["make", "wait", "later"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPlan:
    """Of an edition: the hour at which its day is made, and until when that waits for sources that are awaited (arXiv);
    ``has_mail``: the best of weeks and months is mailed."""

    zone: str
    make_at: time
    wait_until: time
    has_mail: bool = True

    def made_at(self, day: date) -> datetime:
        """When the issue of the day is due, in UTC."""
        return moment(day, self.make_at, self.zone)

    def latest_at(self, day: date) -> datetime:
        """When it is made at the latest, whatever is missing."""
        return max(self.made_at(day), moment(day, self.wait_until, self.zone))


def moment(day: date, at: time, zone: str) -> datetime:
    """The wall time as a moment in UTC. One that comes twice is the first; one that does not exist is read with the offset before the
    jump (RFC 5545, 3.3.5), so it comes as much later as the clock jumps."""
    return datetime.combine(day, at, ZoneInfo(zone)).astimezone(UTC)


def end_of(day: date, zone: str) -> datetime:
    """The last second of a day, in UTC: when one that is over is played again."""
    return moment(day, time(23, 59, 59), zone)


def due_days(plan: DayPlan, made: Collection[date], now: datetime) -> list[date]:
    """The days whose issue is due and not among those ``made``, oldest first: of the last week, and none from before the first that was ever
    made. Days that a wrong clock made ahead of time count for nothing else."""
    today = now.astimezone(ZoneInfo(plan.zone)).date()
    known = [day for day in made if day <= today]
    first = max(min(known), today - timedelta(days=CATCH_UP - 1)) if known else today
    days = [first + timedelta(days=number) for number in range((today - first).days + 1)]
    return [day for day in days if day not in made and plan.made_at(day) <= now]


def decide(plan: DayPlan, day: date, now: datetime, *, is_awaited: bool) -> Decision:
    """Whether the issue of a day is made now; ``is_awaited``: a source that it waits for has not said all it has to say."""
    if now < plan.made_at(day):
        return "later"
    return "wait" if is_awaited and now < plan.latest_at(day) else "make"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A line of the coming days. ``what``: make, week, month, clock (it is set forward or back); ``until`` where it may wait."""

    day: date
    what: Literal["make", "week", "month", "clock"]
    at: datetime
    until: datetime | None = None


def upcoming(plan: DayPlan, now: datetime, days: int = 7) -> Iterator[Planned]:
    """What the next days bring, in order."""
    zone = ZoneInfo(plan.zone)
    today = now.astimezone(zone).date()
    for number in range(days + 1):
        day = today + timedelta(days=number)
        midnight, next_midnight = (datetime.combine(each, time(), zone) for each in (day, day + timedelta(days=1)))
        if midnight.utcoffset() != next_midnight.utcoffset():
            yield Planned(day=day, what="clock", at=midnight.astimezone(UTC))
        at = plan.made_at(day)
        if at <= now:
            continue
        yield Planned(day=day, what="make", at=at, until=plan.latest_at(day) if plan.latest_at(day) > at else None)
        if plan.has_mail and day.weekday() == 0:
            yield Planned(day=day, what="week", at=at)
        if plan.has_mail and day.day == 1:
            yield Planned(day=day, what="month", at=at)
