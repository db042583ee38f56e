"""Which figure of a sentence belongs to which name, setting or number: "2.4x on RLVR and 2.7x on agents", "A and B at C and D"."""

from __future__ import annotations

import re

from digest.judge.complaints import Complaint, words_of
from digest.judge.facts import Fact, Reading, anchors
from digest.judge.names import spelled
from digest.phrase import Phrase

_JOINT = re.compile(r"^\s*(?:,|，|and|or|,\s*and|/|和|与|、|及)\s*(?:by\s|up to |over |about |>|~|最高)*\s*$")


def pairing(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A name or setting that the source pairs with another figure of its kind."""
    siblings = [sibling for sibling in held.facts if sibling.sentence == other.sentence and sibling.numeral.sort == other.numeral.sort]
    if len(siblings) < 2:
        return None
    ours = {id(sibling): belonging(held, sibling, siblings) for sibling in siblings}
    own, around = ours[id(other)], _around(told, fact)
    general = anchors(held, other.sentence[0], siblings[0].numeral.start)
    for anchor in sorted(around - own):
        kind = anchor.split(":")[0]
        is_shared = any(found.startswith(kind) for found in around & own)
        is_general = anchor in general and (is_shared or not any(found.startswith(kind) for found in own))
        if is_general or (kind == "subject" and is_shared and not re.search(r"都|均|\bboth\b", told.folded[slice(*fact.segment)])):
            continue
        for sibling in siblings:
            if (
                sibling is not other
                and not _follows(held, sibling, other)
                and anchor in ours[id(sibling)]
                and (kind != "subject" or any(found.startswith(kind) for found in own))
            ):
                return Complaint(
                    "number",
                    words_of(told, fact),
                    Phrase("the source pairs %(what)s with %(where)s", what=spelled(held.text, [anchor.split(":")[1]]), where=words_of(held, sibling)),
                )
    return None


def _follows(held: Reading, one: Fact, other: Fact) -> bool:
    """Whether one figure is said to come of the other: "49.6 % higher throughput …, which saves 33 % of the time"."""
    first, last = sorted((one, other), key=lambda fact: fact.numeral.start)
    return (
        re.search(r"\bwhich\b|\bthus\b|\bthereby\b|resulting in|leading to|\bi\.e\.|因此|从而|即", held.folded[first.numeral.end : last.numeral.start])
        is not None
    )


def _around(told: Reading, fact: Fact) -> frozenset[str]:
    """What a told figure is said of: the anchors around it, up to the figures of its kind before and after."""
    chain = [other for other in told.facts if other.sentence == fact.sentence and other.numeral.sort == fact.numeral.sort]
    if len(chain) > 1:
        return belonging(told, fact, chain)
    ends = [other.numeral.end for other in told.facts if other.sentence == fact.sentence and other.numeral.sort in ("times", "percent")]
    start = max((end for end in ends if end <= fact.numeral.start), default=fact.sentence[0])
    return anchors(told, start, fact.segment[1], without=fact.numeral)


def belonging(reading: Reading, fact: Fact, chain: list[Fact]) -> frozenset[str]:
    """The anchors that are a figure's own among the figures of its sentence: of "A and B at C and D" those in its place, else those
    of its part of the sentence; what stands before the first figure or after the last may hold for all."""
    place = chain.index(fact)
    first = last = place
    while last + 1 < len(chain) and _JOINT.match(reading.folded[chain[last].numeral.end : chain[last + 1].numeral.start]):
        last += 1
    while first and _JOINT.match(reading.folded[chain[first - 1].numeral.end : chain[first].numeral.start]):
        first -= 1
    if last > first:
        return _in_place(reading, chain[first : last + 1], place - first, chain[last + 1].numeral.start if last + 1 < len(chain) else fact.sentence[1])
    start, end = _before_brackets(reading, fact), fact.segment[1]
    is_chinese = bool(re.search(r"[\u3400-\u9fff]", reading.folded[start:end]))
    own = anchors(reading, start if is_chinese else max(start, fact.numeral.end), end, without=fact.numeral)
    own = frozenset(anchor for anchor in own if not anchor.startswith("process:"))
    if is_chinese:
        return own
    before = anchors(reading, max(start, chain[place - 1].numeral.end), fact.numeral.start) if place else frozenset()
    own |= frozenset(anchor for anchor in before if not anchor.startswith("process:"))
    is_coordinated = place and re.search(r"\band\b|和|、|与", reading.folded[chain[place - 1].numeral.end : fact.numeral.start])
    is_last = place == len(chain) - 1 or re.search(r"[,;，；]", reading.folded[fact.numeral.end : chain[place + 1].numeral.start])
    if is_coordinated and is_last and not anchors(reading, chain[place - 1].numeral.end, chain[place - 1].segment[1]):
        return frozenset()
    return own


def _before_brackets(reading: Reading, fact: Fact) -> int:
    """Where the figure's part of the sentence begins, brackets before it left out: "GPT-2（1K）训练提速 3 倍"."""
    start = fact.segment[0]
    if reading.folded[start - 1 : start] not in (")", "）"):
        return start
    opened = max(reading.folded.rfind("(", fact.sentence[0], start), reading.folded.rfind("（", fact.sentence[0], start))
    return max((match.end() for match in re.finditer(r"[,;，；。:：]", reading.folded[: max(opened, 0)])), default=fact.sentence[0])


def _in_place(reading: Reading, group: list[Fact], place: int, stop: int) -> frozenset[str]:
    """Of the anchors after a list of figures, those that stand where the figure stands in its list."""
    start = group[-1].numeral.end
    cursor, found = start, []
    for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|、|和|与|，", reading.folded[start : min(stop, start + 90)]):
        begin = reading.folded.find(part, cursor) if part else cursor
        cursor = begin + len(part)
        if here := anchors(reading, begin, cursor):
            found.append(here)
    if len(found) < len(group):
        found = _before(reading, group)
    if len(found) < len(group):
        return frozenset()
    kinds = [kind for kind in ("number", "process", "name") if all(any(anchor.startswith(kind) for anchor in here) for here in found[: len(group)])]
    return frozenset(anchor for anchor in found[place] if kinds and anchor.startswith(kinds[0]))


def _before(reading: Reading, group: list[Fact]) -> list[frozenset[str]]:
    """The anchors of "A 和 B 分别提速 x 和 y", in their order."""
    start, end = group[0].sentence[0], group[0].numeral.start
    before = reading.folded[start:end]
    if not re.search(r"分别|respectively", reading.folded[start : group[-1].numeral.end + 30]) and not re.search(r"\b(?:by|to|of) (?:up to )?$", before):
        return []
    found, cursor = [], start
    for part in re.split(r"和|、|与|，|,|\sand\s", reading.folded[start:end]):
        begin = reading.folded.find(part, cursor) if part else cursor
        cursor = begin + len(part)
        if here := anchors(reading, begin, cursor):
            found.append(here)
    return found[-len(group) :]
