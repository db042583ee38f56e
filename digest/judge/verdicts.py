"""A sentence against its source: ``ok``, or ``distorted`` with the kind of distortion and the reason in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from digest.judge import arithmetic
from digest.judge.arithmetic import Figure
from digest.judge.comparing import baseline, baseline_of_another, baseline_of_sibling, process, scope, setting, sibling_name
from digest.judge.complaints import Complaint, words_of
from digest.judge.denials import denials
from digest.judge.facts import Fact, Reading, read
from digest.judge.held import amount_bound, changes_metric, follows_from_two, is_held, is_of_own_pair, is_same_metric, is_same_sense
from digest.judge.known_names import unknown_names
from digest.judge.names import key_text
from digest.judge.pairing import pairing
from digest.judge.stances import stances
from digest.phrase import Phrase


def judge(sentence: str, source: str) -> tuple[Complaint, ...]:
    """What the sentence says beyond its source, the gravest first; nothing when it may be printed."""
    if key_text(sentence) and sentence.strip() in source:
        return ()
    told, held = read(sentence), read(source)
    return tuple(dict.fromkeys([*_figures(told, held), *unknown_names(told, held), *stances(told, held), *denials(told, held)]))


def _figures(told: Reading, held: Reading) -> Iterator[Complaint]:
    origins = {fact.origin for fact in told.facts if fact.origin}
    for fact in told.facts:
        if fact.numeral in origins:
            if not any(
                fact.numeral.low in (other.numeral.low, other.numeral.high, *((other.origin.low,) if other.origin else ())) for other in held.facts
            ) and not is_held(told, fact, held):
                yield Complaint("number", words_of(told, fact), Phrase("%(words)s is not in the source", words=words_of(told, fact)))
        elif fact.numeral.sort in ("times", "percent"):
            if complaint := _effect(told, fact, held):
                yield complaint
        elif not is_held(told, fact, held):
            yield Complaint("number", words_of(told, fact), Phrase("%(words)s is not in the source", words=words_of(told, fact)))
        elif complaint := amount_bound(told, fact, held) or sibling_name(told, fact, held):
            yield complaint


def _effect(told: Reading, fact: Fact, held: Reading) -> Complaint | None:
    """The complaint about a multiple or percentage; None when some figure of the source supports it."""
    best: tuple[int, Complaint] | None = None
    if is_of_own_pair(told, fact, held) or follows_from_two(told, fact, held):
        return None
    for other in held.facts:
        for figure in arithmetic.figures(other):
            found = _against(told, fact, held, other, figure)
            if found is None:
                return None
            if found[0] and (best is None or found[0] > best[0]):
                best = found
    words = words_of(told, fact)
    return best[1] if best else Complaint("number", words, Phrase("%(words)s is not in the source and does not follow from one figure of it", words=words))


def _against(told: Reading, fact: Fact, held: Reading, other: Fact, figure: Figure) -> tuple[int, Complaint] | None:
    """None when the source figure supports the told one; else how far they agree (0: not at all) and the first difference."""
    own, words = fact.numeral, words_of(told, fact)
    if own.sort != figure.sort:
        return 0, Complaint("number", words, Phrase(""))
    if not arithmetic.is_value(own, figure.low, figure.high):
        if arithmetic.is_one_end(own, figure.low, figure.high) and not figure.is_derived:
            return 1, Complaint("range", words, Phrase("the source gives a range, %(where)s; both ends are needed", where=words_of(held, other)))
        return 0, Complaint("number", words, Phrase(""))
    where = words_of(held, other)
    is_loose = (own.bound == "about" and not (fact.metrics and other.metrics)) or bool(fact.metrics) != bool(other.metrics)
    if figure.is_derived and is_loose and not arithmetic.is_value(replace(own, bound="exact"), figure.low, figure.high):
        return 0, Complaint("number", words, Phrase(""))
    if not is_same_sense(fact, figure):
        return 2, Complaint("language", words, Phrase("%(words)s moves the other way in the source (%(where)s)", words=words, where=where))
    if not is_same_metric(fact, other) and not changes_metric(fact, other, figure):
        theirs, ours = tuple(sorted(other.metrics)), tuple(sorted(fact.metrics))
        return 3, Complaint("metric", words, Phrase("%(where)s is about %(theirs)s in the source, not %(ours)s", where=where, theirs=theirs, ours=ours))
    if own.sort == "times" and not figure.is_derived and _is_slower(told, fact) != _is_slower(held, other):
        return 2, Complaint("language", words, Phrase("%(where)s is the other way round in the source", where=where))
    if not figure.is_derived and _is_relative(told, fact) and _is_in_points(held, other):
        return 3, Complaint("unit", words, Phrase("%(where)s are percentage points in the source, no share of what was there", where=where))
    is_averaged = _is_averaged(told, fact) or _is_of_an_average(held, other)
    if not arithmetic.keeps_bound(own, figure, is_averaged=is_averaged) and not (
        own.bound == "average" and figure.bound in ("exact", "about") and _is_averaged(held, other)
    ):
        return 4, Complaint("bound", words, Phrase("the source says %(bound)s %(where)s", bound=(_bound_words(figure.bound),), where=where))
    if (
        complaint := process(told, fact, held, other)
        or baseline_of_sibling(told, fact, held, other)
        or baseline_of_another(told, fact, held, other)
        or pairing(told, fact, held, other)
        or baseline(told, fact, held, other)
        or scope(told, fact, held, other)
        or setting(told, fact, held, other)
    ):
        return 5, complaint
    return None


def _is_slower(reading: Reading, fact: Fact) -> bool:
    before, after = reading.folded[max(0, fact.numeral.start - 6) : fact.numeral.start], reading.folded[fact.numeral.end :]
    return re.match(r"\s?(?:times )?slower", after) is not None or re.search(r"慢了?\s?(?:约|近)?\s?$", before) is not None


def _is_relative(told: Reading, fact: Fact) -> bool:
    return re.search(r"\brelative(?:ly)? $|\brelative\b.{0,12}$|相对[^,，。]{0,6}$", told.folded[fact.segment[0] : fact.numeral.start]) is not None


def _is_in_points(held: Reading, other: Fact) -> bool:
    return re.match(r"\s?(?:percentage )?points?\b|\s?个?(?:百分)?点", held.folded[other.numeral.end : other.numeral.end + 20]) is not None


def _is_averaged(held: Reading, other: Fact) -> bool:
    return re.search(r"average|\bmean\b|平均", held.folded[other.sentence[0] : other.sentence[1]]) is not None


def _is_of_an_average(held: Reading, other: Fact) -> bool:
    """Whether it is the metric that is an average ("average token consumption by 64.5 %") and not the figure."""
    return re.search(r"average (?:[\w-]+ ){1,3}(?:by|from|to) $", held.folded[other.sentence[0] : other.numeral.start]) is not None


def _bound_words(bound: str) -> str:
    return {"up_to": "up to", "at_least": "at least", "about": "about", "average": "on average"}.get(bound, "exactly")
