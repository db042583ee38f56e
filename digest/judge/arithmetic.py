"""Which figures follow from which: the same value, a rounded one, or one derived by plain arithmetic from one figure or one from-to pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from digest.judge.facts import Fact
from digest.judge.numerals import Numeral
from digest.model import Bound

EXACT = 0.006  # 33.3 % is a third, 2.80 is 2.8
IN_WORDS = 0.012  # 33 % is a third
ABOUT = 0.085  # 64.5 % is roughly 65 %, 38 % is nearly four tenths
ROUNDED = 0.03  # "at most about 3 times" for 3.05
BEYOND = 0.15  # 19 % is less than a fifth, 9.3 is more than 9
_FLIPPED: dict[Bound, Bound] = {"up_to": "at_least", "at_least": "up_to", "about": "about", "average": "average", "exact": "exact"}


@dataclass(frozen=True, slots=True)
class Figure:
    """A value that a text supports, stated or derived. ``metric`` is set where the arithmetic changes it (speed to time)."""

    low: float
    high: float
    sort: str
    unit: str
    sense: str
    bound: Bound
    is_derived: bool = False


def figures(fact: Fact) -> Iterator[Figure]:
    """The figure of a fact as stated, then everything that follows from it."""
    own = fact.numeral
    yield Figure(own.low, own.high, own.sort, own.unit, fact.sense, own.bound)
    if own.sort == "times":
        yield from _of_multiple(own, fact)
    elif own.sort == "percent":
        yield from _of_share(own, fact.sense)
        if fact.sense == "more" and fact.metrics and fact.metrics <= _SPEEDS:  # 18 % more throughput is 15 % less time
            yield Figure(100 - 100 / (1 + own.low / 100), 100 - 100 / (1 + own.high / 100), "percent", "", "less", own.bound, True)
    if own.sort == "percent" and own.low < own.high and fact.sense in ("", "level"):
        yield from _of_pair(replace(own, high=own.low), replace(own, low=own.high))  # "accuracy doubles (9.0 % to 16.7 %)"
    if fact.origin is not None:
        yield from _of_pair(fact.origin, own)


_SPEEDS = frozenset(("speed", "throughput", "latency", "time"))


def _of_multiple(own: Numeral, fact: Fact) -> Iterator[Figure]:
    if own.low < 1:  # a ratio: 0.48x the energy is 52 % less
        yield Figure(own.low * 100, own.high * 100, "percent", "", "share", own.bound, True)
        yield Figure(100 - own.high * 100, 100 - own.low * 100, "percent", "", "less", own.bound, True)
        return
    flipped = _FLIPPED[own.bound]
    if fact.sense == "more":
        yield Figure((own.low - 1) * 100, (own.high - 1) * 100, "percent", "", "more", own.bound, True)
    if fact.sense == "more" and not fact.metrics <= _SPEEDS:
        return  # 16x the cost is no sixteenth of anything
    yield Figure(100 - 100 / own.low, 100 - 100 / own.high, "percent", "", "less", own.bound, True)
    yield Figure(100 / own.high, 100 / own.low, "percent", "", "share", flipped, True)


def _of_share(own: Numeral, sense: str) -> Iterator[Figure]:
    flipped = _FLIPPED[own.bound]
    if sense in ("less", "") and own.high < 100:
        yield Figure(100 - own.high, 100 - own.low, "percent", "", "share", flipped, True)
        yield Figure(100 / (100 - own.low), 100 / (100 - own.high), "times", "", "more", own.bound, True)
    if sense in ("share", "") and own.low > 0 and own.high <= 100:
        yield Figure(100 - own.high, 100 - own.low, "percent", "", "less", flipped, True)
        yield Figure(100 / own.high, 100 / own.low, "times", "", "more", flipped, True)
    if sense in ("more", ""):
        yield Figure(1 + own.low / 100, 1 + own.high / 100, "times", "", "more", own.bound, True)


def between(one: Numeral, other: Numeral) -> Iterator[Figure]:
    """What follows from two numbers of one unit, either way round."""
    yield from _of_pair(one, other)
    yield from _of_pair(other, one)


def _of_pair(one: Numeral, other: Numeral) -> Iterator[Figure]:
    if one.low != one.high or other.low != other.high or not one.low or not other.low:
        return
    ratio = other.low / one.low
    bound: Bound = "about" if "about" in (one.bound, other.bound) else "exact"
    yield Figure(max(ratio, 1 / ratio), max(ratio, 1 / ratio), "times", "", "more", bound, True)
    if ratio < 1:
        yield Figure(100 - 100 * ratio, 100 - 100 * ratio, "percent", "", "less", bound, True)
        yield Figure(100 * ratio, 100 * ratio, "percent", "", "share", bound, True)
    else:
        yield Figure(100 * ratio - 100, 100 * ratio - 100, "percent", "", "more", bound, True)
    if other.sort in ("amount", "count"):
        difference = abs(other.low - one.low)
        yield Figure(difference, difference, other.sort, other.unit, "", bound, True)
    if other.sort == "percent":
        difference = abs(other.low - one.low)
        yield Figure(difference, difference, "amount", "points", "", bound, True)


def is_value(told: Numeral, low: float, high: float) -> bool:
    """Whether the told number is that value or range, given its own words of roundness."""
    if told.low == told.high and low < high:
        return told.bound == "about" and low * (1 - EXACT) <= told.low <= high * (1 + EXACT) and (high - low) / high < 0.15
    if (told.low < told.high) != (low < high):
        return False
    return _is_near(told, told.low, low) and _is_near(told, told.high, high)


def _is_near(told: Numeral, value: float, source: float) -> bool:
    if source == 0 or value == 0:
        return value == source
    gap = (source - value) / source
    if abs(gap) <= (IN_WORDS if told.is_word else EXACT):
        return True
    if told.bound == "about":
        return abs(gap) <= ABOUT
    if _is_round(value) and abs(gap) <= ROUNDED:
        return True
    beyond = max(BEYOND if told.is_word or _is_round(value) else EXACT, told.slack)
    return 0 <= gap <= beyond if told.bound == "at_least" else -beyond <= gap <= 0 if told.bound == "up_to" else False


def _is_round(value: float) -> bool:
    """At most two digits that say something: 30, 1.5, 200,000, but not 5.87."""
    return len(f"{value:.6e}".split("e")[0].replace(".", "").rstrip("0")) <= 2


def is_one_end(told: Numeral, low: float, high: float) -> bool:
    """Whether the told number is one end of a range, the other end left out."""
    return told.low == told.high and low < high and (_is_near(told, told.low, low) or _is_near(told, told.low, high))


def keeps_bound(told: Numeral, figure: Figure, *, is_averaged: bool) -> bool:
    """Whether the bound of the source stands beside the told number, or a weaker one that is true; ``is_averaged``: the sentence
    says somewhere that it speaks of averages."""
    if told.bound == figure.bound or (figure.bound == "average" and is_averaged):
        return True
    if figure.bound in ("up_to", "average"):
        return False
    if figure.bound == "at_least":
        return told.bound in ("exact", "about")
    if told.bound in ("exact", "about") or (figure.is_derived and figure.bound == "about"):
        return True
    is_rounded = abs(told.high - figure.high) > EXACT * figure.high
    return told.bound in ("at_least", "up_to") and is_rounded  # 28.6 % told as "less than 30 %"
