"""What an RSS feed says of its own rhythm: ttl, skipHours, skipDays (rssboard.org/rss-specification), read from its head."""

from __future__ import annotations

import re

from digest.model import Rhythm

_HEAD = re.compile(r"<(?:\w+:)?(?:item|entry)[\s>]")
_TTL = re.compile(r"<ttl>\s*(\d{1,6})\s*</ttl>", re.IGNORECASE)
_HOURS = re.compile(r"<skipHours>(.{0,2000}?)</skipHours>", re.IGNORECASE | re.DOTALL)
_HOUR = re.compile(r"<hour>\s*(\d{1,2})\s*</hour>", re.IGNORECASE)
_DAYS = re.compile(r"<skipDays>(.{0,2000}?)</skipDays>", re.IGNORECASE | re.DOTALL)
_DAY = re.compile(r"<day>\s*(mon|tues|wednes|thurs|fri|satur|sun)day\s*</day>", re.IGNORECASE)
_WEEKDAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")


def rhythm(document: str) -> Rhythm:
    """The rhythm; hour 24 of old feeds is 0, and a feed that skips every hour or every day skips none."""
    begin = _HEAD.search(document)
    head = document[: begin.start()] if begin else document[:20_000]
    hours = {int(hour) % 24 for block in _HOURS.findall(head) for hour in _HOUR.findall(block) if int(hour) <= 24}
    days = {_WEEKDAYS.index(day.lower()) for block in _DAYS.findall(head) for day in _DAY.findall(block)}
    ttl = _TTL.search(head)
    return Rhythm(
        ttl_minutes=int(ttl[1]) if ttl else 0,
        skip_hours=tuple(sorted(hours)) if len(hours) < 24 else (),
        skip_days=tuple(sorted(days)) if len(days) < 7 else (),
    )
