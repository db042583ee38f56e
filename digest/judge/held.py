"""Whether the amounts and counts of a sentence are in its source, in whatever unit or words, or follow from a pair of them."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from digest.judge import arithmetic, lexicon
from digest.judge.arithmetic import Figure
from digest.judge.complaints import Complaint, words_of
from digest.judge.facts import Fact, Reading
from digest.phrase import Phrase

_COUNTED_IN_WORDS = 20
_ALMOST = re.compile(r"\b(?:close to|nearly|almost)\s$|(?:接近|将近|近)\s?$")
_PAIR_APART = 80
_NEAR = 0.7  # 40 hours are under two days
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CONTRARY = (("up_to", "at_least"), ("at_least", "up_to"), ("average", "up_to"))


def is_held(told: Reading, fact: Fact, held: Reading) -> bool:
    """Whether an amount or a count is in the source, in whatever unit, or is the difference or sum that its words say."""
    own = fact.numeral
    if exact := _in_brackets(told, fact):
        share = exact.numeral.low / own.low
        return is_held(told, exact, held) and {"up_to": _NEAR <= share <= 1, "at_least": 1 <= share <= 1 / _NEAR}.get(own.bound, _NEAR <= share <= 1 / _NEAR)
    for other in held.facts:
        if other.origin and other.origin.unit == own.unit:
            if arithmetic.is_value(own, other.origin.low, other.origin.high) or arithmetic.is_value(own, other.origin.low, other.numeral.high):
                return True
        for figure in arithmetic.figures(other):
            if figure.is_derived and not _is_difference(told, fact):
                continue
            same_unit = own.unit == figure.unit or (not own.unit and figure.unit in ("bit", "meters"))
            if same_unit and (own.sort == figure.sort or {own.sort, figure.sort} == {"count", "amount"}) and arithmetic.is_value(own, figure.low, figure.high):
                return True
    if own.unit == "points":  # "by +1.38, +1.67 and +3.08 percentage points"
        return any(other.numeral.sort == "count" and own.low == other.numeral.low for other in held.facts)
    if own.sort == "percent":
        return any(own.low in (other.numeral.low, other.origin.low if other.origin else None) for other in held.facts)
    return own.sort == "count" and _is_counted(told, fact, held)


def _is_difference(told: Reading, fact: Fact) -> bool:
    """Whether the words around an amount say that it is how much more or less there is."""
    around = told.folded[max(fact.sentence[0], fact.numeral.start - 16) : fact.numeral.end + 16]
    return (
        re.search(r"[少减多增省早快降升高低差]|\b(?:fewer|less|more|sav\w+|sooner|earlier|later|lower|higher|by|gain\w*|drop\w*|points?)\b", around) is not None
    )


def _is_counted(told: Reading, fact: Fact, held: Reading) -> bool:
    """Whether a bare number is a small word, a year or month of the source, or stands there in the same digits."""
    own = fact.numeral
    if own.low == 1 or (own.is_word and own.low <= _COUNTED_IN_WORDS):
        return True
    if 1900 <= own.low <= 2100 and re.search(rf"['’]{int(own.low) % 100:02d}\b|{int(own.low)}", held.text):
        return True
    if 1 <= own.low <= 12 and told.folded[own.end :].lstrip().startswith("月") and re.search(rf"\b{_MONTHS[int(own.low) - 1]}", held.folded):
        return True
    written = told.folded[own.start : own.end].replace(" ", "")
    return bool(re.search(rf"(?<![\d.]){re.escape(written)}(?![\d]|\s?\\?%)", held.folded))


def _in_brackets(told: Reading, fact: Fact) -> Fact | None:
    """The exact amount behind a round one: "under two days (40 hours)"."""
    for other in told.facts:
        is_behind = re.fullmatch(r"\s?[(（]", told.folded[fact.numeral.end : other.numeral.start]) is not None
        if is_behind and fact.numeral.bound != "exact" and (other.numeral.sort, other.numeral.unit) == ("amount", fact.numeral.unit):
            return other
    return None


def amount_bound(told: Reading, fact: Fact, held: Reading) -> Complaint | None:
    own = fact.numeral
    same = [
        other.numeral
        for other in held.facts
        if other.numeral.unit == own.unit and other.numeral.sort == own.sort and abs(other.numeral.low - own.low) <= 1e-9 * own.low
    ]
    is_by = re.search(r"\bby (?:about |up to |around )?$|[少减降省低][了]?(?:约|近)?\s?$", told.folded[max(0, own.start - 16) : own.start])
    came_from = [other for other in held.facts if other.origin and other.numeral.unit == own.unit and other.numeral.low == own.low]
    if own.sort == "amount" and is_by and came_from and len(came_from) == len(same):
        return Complaint("language", words_of(told, fact), Phrase("the source says to %(words)s, not by", words=words_of(told, fact)))
    if own.bound == "at_least" and same and all(_ALMOST.search(held.folded[max(0, each.start - 12) : each.start]) for each in same):
        return Complaint("bound", words_of(told, fact), Phrase("the source says almost %(words)s", words=words_of(told, fact)))
    if same and all((own.bound, other.bound) in _CONTRARY for other in same):
        return Complaint("bound", words_of(told, fact), Phrase("%(words)s has another bound in the source", words=words_of(told, fact)))
    return None


def is_of_own_pair(told: Reading, fact: Fact, held: Reading) -> bool:
    """Whether the figure follows from two numbers of its own sentence that are both in the source (48 layers, 6 layers: an eighth)."""
    if fact.origin is not None:
        return any(fact.origin.low == other.numeral.low and fact.numeral.low == other.numeral.high for other in held.facts)
    numbers = [
        other for other in told.facts if other is not fact and other.sentence == fact.sentence and other.numeral.sort != "times" and not other.numeral.is_word
    ]
    for one, other in itertools.combinations(numbers[:8], 2):
        if (one.numeral.unit, one.numeral.sort) != (other.numeral.unit, other.numeral.sort) or other.numeral.start - one.numeral.end > _PAIR_APART:
            continue
        for figure in arithmetic.between(one.numeral, other.numeral):
            own = fact.numeral if fact.numeral.bound == "about" or fact.numeral.is_word else replace(fact.numeral, bound="exact")
            is_it = figure.sort == own.sort and arithmetic.is_value(own, figure.low, figure.high) and is_same_sense(fact, figure)
            if is_it and (is_same_metric(fact, one) or changes_metric(fact, one, figure)):
                return is_held(told, one, held) and is_held(told, other, held)
    return False


def follows_from_two(told: Reading, fact: Fact, held: Reading) -> bool:
    """Whether the figure is plain arithmetic on two amounts that a sentence of the source sets side by side, and says so."""
    if not (fact.numeral.is_word or fact.numeral.bound == "about"):
        return False
    amounts = [other for other in held.facts if other.numeral.sort == "amount" and other.numeral.unit not in ("", "points", "bit")]
    for one, other in itertools.combinations(amounts[:12], 2):
        if one.sentence != other.sentence or one.numeral.unit != other.numeral.unit:
            continue
        for figure in arithmetic.between(one.numeral, other.numeral):
            if figure.sort == fact.numeral.sort and arithmetic.is_value(fact.numeral, figure.low, figure.high) and is_same_sense(fact, figure):
                return True
    return False


def is_same_sense(fact: Fact, figure: Figure) -> bool:
    if not fact.sense or not figure.sense or fact.numeral.sort == "times":
        return True
    changes = ("less", "more")
    if fact.sense in changes and figure.sense in changes:
        return fact.sense == figure.sense
    return (fact.sense in changes) == (figure.sense in changes)


def is_same_metric(fact: Fact, other: Fact) -> bool:
    if not fact.metrics or not other.metrics:
        return True
    return all(any(lexicon.is_same_metric(one, another) for another in other.metrics) for one in fact.metrics)


def changes_metric(fact: Fact, other: Fact, figure: Figure) -> bool:
    """Whether the arithmetic itself leads from one metric to the other: a speed to the time it takes, and back."""
    return figure.is_derived and fact.metrics | other.metrics <= {"speed", "time", "latency", "throughput"}
