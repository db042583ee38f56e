"""When something was published: our own reading of the dates that feeds really carry.

A date counts only if it lies between 1990 and one day after now; a zone that is missing or ambiguous
(CST, BST, IST) is the zone of the source. The name of the rule that won is returned with it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
_ZONES = {
    "ut": 0, "utc": 0, "gmt": 0, "z": 0, "est": -5, "edt": -4, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
    "cet": 1, "cest": 2, "mez": 1, "mesz": 2, "eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9, "hkt": 8, "sgt": 8,
    "wet": 0, "west": 1,
}  # fmt: skip
_SUMMER = {"bst": ("Europe/London", 1), "ist": ("Asia/Kolkata", 5.5)}
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar enero ene janvier janv gennaio gen января янв janeiro",
            "feb february februar febrero février févr fev fév febbraio февраля фев fevereiro",
            "mar march märz mrz maerz marzo mars марта мар março",
            "apr april abril abr avril avr aprile апреля апр",
            "may mai mayo maj maggio mag мая май maio",
            "jun june juni junio juin giugno giu июня июн junho",
            "jul july juli julio juillet juil luglio lug июля июл julho",
            "aug august agosto ago août aou aoû августа авг",
            "sep sept september septiembre septembre settembre set сентября сен setembro",
            "oct october okt oktober octubre octobre ottobre ott октября окт outubro out",
            "nov november noviembre novembre ноября ноя novembro",
            "dec december dez dezember diciembre dic décembre déc dicembre декабря дек dezembro",
        ),
        start=1,
    )
    for name in names.split()
}
_CLOCK = r"(?:[T\s,，日-]+(?P<hour>\d{1,2})[:：.h点](?P<minute>\d{2})(?:[:：.](?P<second>\d{2}))?(?:[.,]\d+)?\s*(?P<half>[ap]\.?m\.?)?)?"
_ZONE = r"\s*(?P<zone>Z|[+-]\d{1,2}:?\d{2}|(?:GMT|UTC)?[+-]\d{1,2}:?\d{0,2}|[A-Za-z]{2,5})?"
_RULES = (
    ("iso", rf"(?P<year>\d{{4}})-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}}){_CLOCK}{_ZONE}"),
    ("rfc822", rf"(?:[^\W\d]+\.?,?\s+)?(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|º)?[\s-]+(?:de\s+)?(?P<name>[^\W\d]+)\.?,?[\s-]+(?:de\s+)?(?P<year>\d{{4}}|\d{{2}}){_CLOCK}{_ZONE}"),
    ("month-first", rf"(?:[^\W\d]+\.?,?\s+)?(?P<name>[^\W\d]+)\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}}){_CLOCK}{_ZONE}"),
    ("asctime", r"(?:[^\W\d]+\s+)?(?P<name>[^\W\d]+)\s+(?P<day>\d{1,2})\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?\s+(?P<zone>[A-Z]{2,5}\s+|[+-]\d{4}\s+)?(?P<year>\d{4})"),
    ("chinese", rf"(?P<year>\d{{4}})\s*年\s*(?P<month>\d{{1,2}})\s*月\s*(?P<day>\d{{1,2}})\s*日?{_CLOCK}{_ZONE}"),
    ("slash", rf"(?P<year>\d{{4}})[/.](?P<month>\d{{1,2}})[/.](?P<day>\d{{1,2}}){_CLOCK}{_ZONE}"),
    ("american", rf"(?:[^\W\d]+,?\s+)?(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/(?P<year>\d{{4}}){_CLOCK}{_ZONE}"),
    ("compact", r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:T?(?P<hour>\d{2}):?(?P<minute>\d{2}):?(?P<second>\d{2})?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"),
)  # fmt: skip
_COMPILED = tuple((rule, re.compile(pattern + r"\W*$", re.IGNORECASE)) for rule, pattern in _RULES)


def resolve(raw: str | None, zone_name: str, now: datetime) -> tuple[datetime | None, str]:
    """The moment in UTC and the rule that read it; None and ``"seen"`` when no rule believes it."""
    text = " ".join((raw or "").split())[:80]
    for rule, pattern in _COMPILED:
        if match := pattern.match(text):
            moment = _moment(match, zone_name)
            if moment is not None and _EARLIEST <= moment <= now + timedelta(days=1):
                return moment, rule
    return None, "seen"


def _moment(match: re.Match[str], zone_name: str) -> datetime | None:
    part = match.groupdict()
    month = int(part["month"]) if part.get("month") else _MONTHS.get(part["name"].lower(), 0)
    year = int(part["year"])
    if year < 100:
        year += 2000 if year < 70 else 1900
    hour = int(part.get("hour") or 0)
    if half := (part.get("half") or "").lower():
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    try:
        day = datetime(year, month, int(part["day"]))  # noqa: DTZ001  # the zone follows once the clock is added
        clock = timedelta(hours=hour, minutes=int(part.get("minute") or 0), seconds=min(int(part.get("second") or 0), 59))
        if clock > timedelta(hours=24):
            return None
        return (day + clock).replace(tzinfo=_zone(part.get("zone"), day + clock, zone_name)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _zone(written: str | None, moment: datetime, zone_name: str) -> tzinfo:
    name = (written or "").strip().lower()
    if name in _ZONES:
        return timezone(timedelta(hours=_ZONES[name]))
    if name in _SUMMER:
        place, hours = _SUMMER[name]
        return timezone(timedelta(hours=hours)) if named_zone(zone_name) is UTC else named_zone(place)
    if match := re.fullmatch(r"(?:gmt|utc)?([+-])(\d{1,2}):?(\d{2})?", name):
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        return timezone(timedelta(minutes=-minutes if match[1] == "-" else minutes))
    if name == "cst" and named_zone(zone_name) is UTC:
        return named_zone("America/Chicago")
    return named_zone(zone_name)


@lru_cache
def named_zone(name: str) -> tzinfo:
    """The zone of that name; UTC for "UTC" and for a name nobody knows."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
