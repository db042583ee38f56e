"""Whether the amounts and counts of a sentence are in its source, in whatever unit or words, or follow from a pair of them."""

from __future__ import annotations

import itertools
import re

from digest.judge import arithmetic, lexicon
from digest.judge.arithmetic import Figure
from digest.judge.complaints import Complaint, words_of
from digest.judge.facts import Fact, Reading

_COUNTED_IN_WORDS = 20


def is_held(told: Reading, fact: Fact, held: Reading) -> bool:
    """Whether an amount or a count is in the source, in whatever unit, or is the difference or sum that its words say."""
    own = fact.numeral
    for other in held.facts:
        if other.origin and other.origin.unit == own.unit and arithmetic.is_value(own, other.origin.low, other.origin.high):
            return True
        for figure in arithmetic.figures(other):
            same_unit = own.unit == figure.unit or (not own.unit and figure.unit in ("bit", "meters"))
            if same_unit and (own.sort == figure.sort or {own.sort, figure.sort} == {"count", "amount"}) and arithmetic.is_value(own, figure.low, figure.high):
                return True
    if own.unit == "points":  # "by +1.38, +1.67 and +3.08 percentage points"
        return any(other.numeral.sort == "count" and own.low == other.numeral.low for other in held.facts)
    if own.sort == "percent":
        return any(own.low in (other.numeral.low, other.origin.low if other.origin else None) for other in held.facts)
    if own.sort == "count":
        if own.low == 1 or (own.is_word and own.low <= _COUNTED_IN_WORDS):
            return True
        if 1900 <= own.low <= 2100 and re.search(rf"['’]{int(own.low) % 100:02d}\b|{int(own.low)}", held.text):
            return True
        written = told.folded[own.start : own.end].replace(" ", "")
        return bool(re.search(rf"(?<![\d.]){re.escape(written)}(?![\d]|\s?\\?%)", held.folded))
    return False


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
        return Complaint("language", words_of(told, fact), f"the source says to {words_of(told, fact)}, not by")
    if same and all({own.bound, other.bound} == {"up_to", "at_least"} for other in same):
        return Complaint("bound", words_of(told, fact), f"{words_of(told, fact)} has another bound in the source")
    return None


def is_of_own_pair(told: Reading, fact: Fact, held: Reading) -> bool:
    """Whether the figure follows from two numbers of its own sentence that are both in the source (48 layers, 6 layers: an eighth)."""
    if fact.origin is not None:
        return any(fact.origin.low == other.numeral.low and fact.numeral.low == other.numeral.high for other in held.facts)
    numbers = [other for other in told.facts if other.sentence == fact.sentence and other.numeral.sort != "times" and not other.numeral.is_word]
    for one, other in itertools.combinations(numbers[:8], 2):
        if (one.numeral.unit, one.numeral.sort) != (other.numeral.unit, other.numeral.sort):
            continue
        for figure in arithmetic.between(one.numeral, other.numeral):
            is_it = figure.sort == fact.numeral.sort and arithmetic.is_value(fact.numeral, figure.low, figure.high) and is_same_sense(fact, figure)
            if is_it and (is_same_metric(fact, one) or changes_metric(fact, one, figure)):
                return is_held(told, one, held) and is_held(told, other, held)
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
