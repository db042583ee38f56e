"""Arguments that several commands share, and what they mean."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from digest.errors import ConfigError
from digest.plan import end_of


def parser(command: str, description: str, epilog: str = "") -> ArgumentParser:
    """A parser for ``digest COMMAND``."""
    return ArgumentParser(prog=f"digest {command}", description=description, epilog=epilog, formatter_class=RawDescriptionHelpFormatter)


def add_config(arguments: ArgumentParser) -> None:
    arguments.add_argument("--config", type=a_path, default=Path("feeds.yaml"), metavar="FILE", help="the settings (feeds.yaml)")


def add_edition(arguments: ArgumentParser) -> None:
    arguments.add_argument("--edition", metavar="NAME", help="which edition, where the settings have several")


def a_day(text: str) -> date:
    """A day written as YYYY-MM-DD, since computers have a clock."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a day; write it as 2026-11-30") from None
    if not 1970 <= day.year <= 9000:
        raise ArgumentTypeError(f"{text} is no day of a digest")
    return day


def some_words(text: str) -> str:
    """Words that say something: a script's empty variable must not mean everything."""
    if not text.strip():
        raise ArgumentTypeError("it is empty")
    return text.strip()


def a_path(text: str) -> Path:
    """A file or folder with a name."""
    return Path(some_words(text))


def a_number(text: str) -> int:
    """How many, from one."""
    return int(_between(text, 1, 1_000_000_000, int))


def a_port(text: str) -> int:
    """A port, from 1 to 65535."""
    return int(_between(text, 1, 65535, int))


def rule_points(text: str) -> float:
    """Points of a rule, from -20 to 20."""
    return _between(text, -20.0, 20.0, float)


def day_count(text: str) -> int:
    """A number of days, from 1 to ten years."""
    return int(_between(text, 1, 3660, int))


def _between(text: str, low: float, high: float, kind: type[float] | type[int]) -> float:
    try:
        value = kind(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None
    if not low <= value <= high:
        raise ArgumentTypeError(f"{text} must lie between {low:g} and {high:.10g}")
    return value


def day_and_now(wanted: date | None, zone_name: str) -> tuple[date, datetime]:
    """The day in the zone, and the moment that counts as now.

    Today, it is the clock's. For an earlier day it is that day's last second, so that playing a day again gives
    the same issue. Raises ConfigError for a day that has not begun.
    """
    zone = ZoneInfo(zone_name)
    now = datetime.now(UTC)
    today = now.astimezone(zone).date()
    if wanted is None or wanted == today:
        return today, now
    if wanted > today:
        raise ConfigError(f"--date {wanted.isoformat()} has not begun in {zone_name}; today is {today.isoformat()}")
    return wanted, end_of(wanted, zone_name)
