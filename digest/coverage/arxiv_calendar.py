"""When arXiv announces: its feeds carry a new batch on Monday to Friday, US Eastern time, except on its holidays.

A batch appears at midnight of its date in New York (info.arxiv.org/help/availability.html), or somewhat later: a
feed is polled, never trusted to a clock. Holidays are data; each year's stand on that page.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("America/New_York")
# Dates without a batch, and the message that names the day.
HOLIDAYS: dict[date, str] = {
    date(2026, 1, 1): "New Year's Day",
    date(2026, 1, 19): "Martin Luther King Jr. Day",
    date(2026, 6, 19): "Juneteenth",
    date(2026, 7, 3): "Independence Day",
    date(2026, 9, 7): "Labor Day",
    date(2026, 11, 26): "Thanksgiving",
    date(2026, 12, 25): "Christmas",
    date(2026, 12, 29): "year's end",
    date(2026, 12, 31): "year's end",
}
_FRIDAY = 4


def pause(day: date) -> str | None:
    """Why there is no batch on that day: "weekend" or the name of the holiday; None when there is one."""
    return "weekend" if day.weekday() > _FRIDAY else HOLIDAYS.get(day)


def eastern_day(now: datetime) -> date:
    """The date in New York, by which batches are named."""
    return now.astimezone(ZONE).date()


def next_batch_day(day: date) -> date:
    """The first day after ``day`` that has a batch."""
    day += timedelta(days=1)
    while pause(day):
        day += timedelta(days=1)
    return day


def batch_days(after: date, until: date) -> list[date]:
    """The days with a batch later than ``after`` and up to ``until``."""
    days = [after + timedelta(days=number) for number in range(1, (until - after).days + 1)]
    return [day for day in days if not pause(day)]


def submitted(day: date) -> tuple[datetime, datetime]:
    """When the papers of that day's batch were submitted: from the deadline of the batch before to its own, 14:00 in New York on
    the last working day before it is announced (info.arxiv.org/help/availability.html)."""
    before = day - timedelta(days=1)
    while pause(before):
        before -= timedelta(days=1)
    return _deadline(before), _deadline(day)


def _deadline(day: date) -> datetime:
    last = day - timedelta(days=1)
    while last.weekday() > _FRIDAY:
        last -= timedelta(days=1)
    return datetime(last.year, last.month, last.day, 14, tzinfo=ZONE)


def batch_begins_at(day: date) -> datetime:
    """The earliest moment at which the batch of that day can be read."""
    return datetime(day.year, day.month, day.day, tzinfo=ZONE)
