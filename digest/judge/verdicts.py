"""A sentence against its source: ``ok``, or ``distorted`` with the kind of distortion and the reason in words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from digest.judge import arithmetic, lexicon
from digest.judge.arithmetic import Figure
from digest.judge.complaints import Complaint
from digest.judge.facts import Fact, Reading, anchors, read
from digest.judge.names import COMMON, is_known_as, key, names
from digest.judge.stances import stances, stems

_COUNTED_IN_WORDS = 20
_BASELINE = re.compile(
    r"\b(?:than|over|versus|vs\.?|against|compared (?:to|with)|relative to|beats?|outperforms?|outperforming)\s(?P<en>[^,;:.()，。；]{2,70}?)(?=\s(?:on|for|in|when|while|with|at|across|under|without|and|by|during|using|as|to|where)\b|[,;:()，。；]|\.\s|\.?$)"
    r"|(?:相比于?|相较于?|对比|超过|追平|(?<!对)(?<!相)比(?!特|例|如|率|赛|重|值|较)|较)\s?(?P<zh>[^,;，；。、]{2,26}?)(?=\s?(?:[,;，；。]|(?:平均|最高|最多|约|大约)?(?:快|少|低|高|多|省|提升|降低|减少|缩短|提高|节省|慢|加速|提速|短|的?[训推])|$))"
)
_TIMES_OF = re.compile(r"(?:是|为|达到?)\s?(?P<whose>[^,;，；。]{2,24}?)的\s?(?:约|近|大约)?\s?(?=[\d一两二三四五六七八九十])")
_COMBINED = re.compile(
    r"(?:[Cc]ombined with|together with|combining it with|when used with|结合|配合|叠加)\s?(?P<others>[^,;:.，。；]{2,60})|(?P<sum>\b[A-Za-z][\w-]*(?:\s?\+\s?[A-Za-z][\w-]*)+)(?!\w|\s(?:baselines?|pipeline))"
)
_ALONE = re.compile(r"\bon its own\b|\balone\b|\bby itself\b|单独|单凭|仅凭")


def judge(sentence: str, source: str) -> tuple[Complaint, ...]:
    """What the sentence says beyond its source, the gravest first; nothing when it may be printed."""
    if key_text(sentence) and sentence.strip() in source:
        return ()
    told, held = read(sentence), read(source)
    return tuple(dict.fromkeys([*_figures(told, held), *_names(told, held), *stances(told, held)]))


def _figures(told: Reading, held: Reading) -> Iterator[Complaint]:
    origins = {fact.origin for fact in told.facts if fact.origin}
    for fact in told.facts:
        if fact.numeral in origins:
            if not any(
                fact.numeral.low in (other.numeral.low, other.numeral.high, *((other.origin.low,) if other.origin else ())) for other in held.facts
            ) and not _is_held(told, fact, held):
                yield Complaint("number", _words(told, fact), f"{_words(told, fact)} is not in the source")
        elif fact.numeral.sort in ("times", "percent"):
            if complaint := _effect(told, fact, held):
                yield complaint
        elif not _is_held(told, fact, held):
            yield Complaint("number", _words(told, fact), f"{_words(told, fact)} is not in the source")
        elif complaint := _amount_bound(told, fact, held):
            yield complaint


def _words(reading: Reading, fact: Fact) -> str:
    return reading.text[fact.numeral.start : fact.numeral.end].strip()


def _is_held(told: Reading, fact: Fact, held: Reading) -> bool:
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


def _amount_bound(told: Reading, fact: Fact, held: Reading) -> Complaint | None:
    own = fact.numeral
    same = [
        other.numeral
        for other in held.facts
        if other.numeral.unit == own.unit and other.numeral.sort == own.sort and abs(other.numeral.low - own.low) <= 1e-9 * own.low
    ]
    is_by = re.search(r"\bby (?:about |up to |around )?$|[少减降省低][了]?(?:约|近)?\s?$", told.folded[max(0, own.start - 16) : own.start])
    came_from = [other for other in held.facts if other.origin and other.numeral.unit == own.unit and other.numeral.low == own.low]
    if own.sort == "amount" and is_by and came_from and len(came_from) == len(same):
        return Complaint("language", _words(told, fact), f"the source says to {_words(told, fact)}, not by")
    if same and all({own.bound, other.bound} == {"up_to", "at_least"} for other in same):
        return Complaint("bound", _words(told, fact), f"{_words(told, fact)} has another bound in the source")
    return None


def _effect(told: Reading, fact: Fact, held: Reading) -> Complaint | None:
    """The complaint about a multiple or percentage; None when some figure of the source supports it."""
    best: tuple[int, Complaint] | None = None
    if _is_of_own_pair(told, fact, held):
        return None
    for other in held.facts:
        for figure in arithmetic.figures(other):
            found = _against(told, fact, held, other, figure)
            if found is None:
                return None
            if found[0] and (best is None or found[0] > best[0]):
                best = found
    words = _words(told, fact)
    return best[1] if best else Complaint("number", words, f"{words} is not in the source and does not follow from one figure of it")


def _is_of_own_pair(told: Reading, fact: Fact, held: Reading) -> bool:
    """Whether the figure follows from two numbers of its own sentence that are both in the source (48 layers, 6 layers: an eighth)."""
    if fact.origin is not None:
        return any(fact.origin.low == other.numeral.low and fact.numeral.low == other.numeral.high for other in held.facts)
    numbers = [other for other in told.facts if other.sentence == fact.sentence and other.numeral.sort != "times" and not other.numeral.is_word]
    for one, other in itertools.combinations(numbers[:8], 2):
        if (one.numeral.unit, one.numeral.sort) != (other.numeral.unit, other.numeral.sort):
            continue
        for figure in arithmetic.between(one.numeral, other.numeral):
            is_it = figure.sort == fact.numeral.sort and arithmetic.is_value(fact.numeral, figure.low, figure.high) and _same_sense(fact, figure)
            if is_it and (_same_metric(fact, one) or _changes_metric(fact, one, figure)):
                return _is_held(told, one, held) and _is_held(told, other, held)
    return False


def _against(told: Reading, fact: Fact, held: Reading, other: Fact, figure: Figure) -> tuple[int, Complaint] | None:
    """None when the source figure supports the told one; else how far they agree (0: not at all) and the first difference."""
    own, words = fact.numeral, _words(told, fact)
    if own.sort != figure.sort:
        return 0, Complaint("number", words, "")
    if not arithmetic.is_value(own, figure.low, figure.high):
        if arithmetic.is_one_end(own, figure.low, figure.high) and not figure.is_derived:
            return 1, Complaint("range", words, f"the source gives a range, {held.text[other.numeral.start : other.numeral.end].strip()}; both ends are needed")
        return 0, Complaint("number", words, "")
    where = held.text[other.numeral.start : other.numeral.end].strip()
    is_loose = (own.bound == "about" and not (fact.metrics and other.metrics)) or bool(fact.metrics) != bool(other.metrics)
    if figure.is_derived and is_loose and not arithmetic.is_value(replace(own, bound="exact"), figure.low, figure.high):
        return 0, Complaint("number", words, "")
    if not _same_sense(fact, figure):
        return 2, Complaint("language", words, f"{words} moves another way in the source ({where})")
    if not _same_metric(fact, other) and not _changes_metric(fact, other, figure):
        return 3, Complaint("metric", words, f"{where} is about {', '.join(sorted(other.metrics))} in the source, not {', '.join(sorted(fact.metrics))}")
    is_averaged = _is_averaged(told, fact) or _is_of_an_average(held, other)
    if not arithmetic.keeps_bound(own, figure, is_averaged=is_averaged) and not (
        own.bound == "average" and figure.bound in ("exact", "about") and _is_averaged(held, other)
    ):
        return 4, Complaint("bound", words, f"the source says {_bound_words(figure.bound)} {where}")
    if (
        complaint := _process(told, fact, held, other)
        or _pairing(told, fact, held, other)
        or _baseline(told, fact, held, other)
        or _scope(told, fact, held, other)
        or _setting(told, fact, held, other)
    ):
        return 5, complaint
    return None


def _is_averaged(held: Reading, other: Fact) -> bool:
    return re.search(r"average|\bmean\b|平均", held.folded[other.sentence[0] : other.sentence[1]]) is not None


def _is_of_an_average(held: Reading, other: Fact) -> bool:
    """Whether it is the metric that is an average ("average token consumption by 64.5 %") and not the figure."""
    return re.search(r"average (?:[\w-]+ ){1,3}(?:by|from|to) $", held.folded[other.sentence[0] : other.numeral.start]) is not None


def _bound_words(bound: str) -> str:
    return {"up_to": "up to", "at_least": "at least", "about": "about", "average": "on average"}.get(bound, "exactly")


def _same_sense(fact: Fact, figure: Figure) -> bool:
    if not fact.sense or not figure.sense or fact.numeral.sort == "times":
        return True
    changes = ("less", "more")
    if fact.sense in changes and figure.sense in changes:
        return fact.sense == figure.sense
    return (fact.sense in changes) == (figure.sense in changes)


def _same_metric(fact: Fact, other: Fact) -> bool:
    if not fact.metrics or not other.metrics:
        return True
    return all(any(lexicon.is_same_metric(one, another) for another in other.metrics) for one in fact.metrics)


def _changes_metric(fact: Fact, other: Fact, figure: Figure) -> bool:
    """Whether the arithmetic itself leads from one metric to the other: a speed to the time it takes, and back."""
    return figure.is_derived and fact.metrics | other.metrics <= {"speed", "time", "latency", "throughput"}


def _process(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """Training told of an inference figure, a kernel's figure told of the whole."""
    in_sentence = frozenset(name for name, _, _ in lexicon.processes(held.folded, *other.sentence))
    siblings = [sibling for sibling in held.facts if sibling.sentence == other.sentence and sibling.numeral.sort == other.numeral.sort]
    in_place = frozenset(anchor.split(":")[1] for anchor in _belonging(held, other, siblings) if anchor.startswith("process:"))
    ours = in_place or other.processes or in_sentence
    chain = [mate for mate in told.facts if mate.sentence == fact.sentence and mate.numeral.sort == fact.numeral.sort]
    told_in_place = frozenset(anchor.split(":")[1] for anchor in _belonging(told, fact, chain) if anchor.startswith("process:"))
    said = frozenset(name for name, _, _ in lexicon.processes(told.folded, *fact.sentence))
    if "block" in in_sentence and "block" not in said and (len(siblings) == 1 or "block" in other.processes or other.segment[0] - other.sentence[0] < 70):
        where = held.text[other.numeral.start : other.numeral.end].strip()
        return Complaint("scope", _words(told, fact), f"in the source {where} is for one layer or block")
    for process in sorted(told_in_place or fact.processes):
        if ours and not any(lexicon.is_same_process(process, name) for name in ours):
            where = held.text[other.numeral.start : other.numeral.end].strip()
            return Complaint("scope", _words(told, fact), f"{where} is about {', '.join(sorted(ours))} in the source, not {process}")
    return None


def _pairing(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A name or setting that the source pairs with another figure of its kind."""
    if complaint := _baseline_of_sibling(told, fact, held, other):
        return complaint
    siblings = [sibling for sibling in held.facts if sibling.sentence == other.sentence and sibling.numeral.sort == other.numeral.sort]
    if len(siblings) < 2:
        return None
    ours = {id(sibling): _belonging(held, sibling, siblings) for sibling in siblings}
    own, around = ours[id(other)], _around(told, fact)
    general = anchors(held, other.sentence[0], siblings[0].numeral.start)
    for anchor in sorted(around - own):
        kind = anchor.split(":")[0]
        is_general = anchor in general and not any(found.startswith(kind) for found in own)
        if is_general or (kind == "subject" and any(found.startswith(kind) for found in around & own)):
            continue
        for sibling in siblings:
            if sibling is not other and anchor in ours[id(sibling)] and (kind != "subject" or any(found.startswith(kind) for found in own)):
                return Complaint(
                    "number",
                    _words(told, fact),
                    f"the source pairs {anchor.split(':')[1]} with {held.text[sibling.numeral.start : sibling.numeral.end].strip()}",
                )
    return None


def _baseline_of_sibling(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A comparison whose plain words stand beside another figure of the sentence."""
    match = next(iter(_BASELINE.finditer(told.folded, fact.numeral.end, fact.segment[1])), None)
    own = next(iter(_BASELINE.finditer(held.folded, other.numeral.end, other.sentence[1])), None)
    if not match or not match["en"] or not own:
        return None
    spoken = stems(match["en"])
    if spoken & stems(own["en"] or own["zh"]):
        return None
    for sibling in held.facts:
        start, end = (sibling.segment[0], sibling.sentence[1]) if sibling.sentence == other.sentence else sibling.sentence
        theirs = next(iter(_BASELINE.finditer(held.folded, start, end)), None)
        if (
            sibling.numeral.sort == other.numeral.sort
            and sibling is not other
            and theirs
            and theirs.start() != own.start()
            and len(spoken & stems(theirs["en"] or "")) >= 2
        ):
            where = held.text[sibling.numeral.start : sibling.numeral.end].strip()
            return Complaint("baseline", match["en"], f"the source compares {where} with {match['en']}")
    return None


_JOINT = re.compile(r"^\s*(?:,|，|and|or|,\s*and|/|和|与|、|及)\s*(?:by\s|up to |over |about |>|~|最高)*\s*$")


def _around(told: Reading, fact: Fact) -> frozenset[str]:
    """What a told figure is said of: the anchors around it, up to the figures of its kind before and after."""
    chain = [other for other in told.facts if other.sentence == fact.sentence and other.numeral.sort == fact.numeral.sort]
    place = chain.index(fact)
    if len(chain) > 1:
        return _belonging(told, fact, chain)
    start = chain[place - 1].numeral.end if place else fact.sentence[0]
    return anchors(told, start, fact.segment[1], without=fact.numeral)


def _belonging(reading: Reading, fact: Fact, chain: list[Fact]) -> frozenset[str]:
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
    start, end = fact.segment
    is_chinese = bool(re.search(r"[\u3400-\u9fff]", reading.folded[start:end]))
    own = anchors(reading, start if is_chinese else max(start, fact.numeral.end), end, without=fact.numeral)
    own = frozenset(anchor for anchor in own if not anchor.startswith("process:"))
    if is_chinese:
        return own
    before = anchors(reading, start, fact.numeral.start) if place else frozenset()
    own |= frozenset(anchor for anchor in before if not anchor.startswith("process:"))
    is_coordinated = place and re.search(r"\band\b|和|、|与", reading.folded[chain[place - 1].numeral.end : fact.numeral.start])
    is_last = place == len(chain) - 1 or re.search(r"[,;，；]", reading.folded[fact.numeral.end : chain[place + 1].numeral.start])
    if is_coordinated and is_last and not anchors(reading, chain[place - 1].numeral.end, chain[place - 1].segment[1]):
        return frozenset()
    return own


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


_HARDWARE = re.compile(
    r"^(?:[abhlv]\d{2,3}s?|gb\d{2,3}|rtx.*|t\d{1,4}|mi\d{3}x?|tpu.*|gpu.*|cpu.*|npu.*|jetson.*|orin.*|nvidia|blackwell|hopper|ampere|ascend.*)$"
)
_ON = re.compile(r"\bon (?:the |a |an )?(?P<en>[A-Z][\w.+-]*)|在\s?(?P<zh>[A-Z][\w.+-]*)[^,，。]{0,8}?(?:上|中|下)")


def _settings(reading: Reading, start: int, end: int) -> frozenset[str]:
    found = {key(match["en"] or match["zh"]) for match in _ON.finditer(reading.text, start, end)}
    return frozenset(name for name in found if not _HARDWARE.match(name))


def _setting(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A data set or task that the source does not name for this figure, where it names another."""
    theirs = _settings(held, other.numeral.end, other.segment[1])
    ours = _settings(told, *fact.segment)
    if theirs and ours and not any(one in another or another in one for one in ours for another in theirs):
        name = min(ours)
        if name in key_text(held.text) and not _settings(held, other.sentence[0], other.numeral.start) & ours & _settings(held, *other.segment):
            return Complaint("name", name, f"the source gives the figure for {', '.join(sorted(theirs))}")
    return None


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


def _baseline(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A comparison with something that the source does not compare this figure with."""
    spans = [match.span("en" if match["en"] else "zh") for match in _BASELINE.finditer(told.folded, *fact.sentence)]
    spans += [match.span("whose") for match in _TIMES_OF.finditer(told.folded, *fact.sentence) if match.end() <= fact.numeral.start + 1]
    for start, end in spans:
        if not fact.segment[0] - 2 <= start <= fact.segment[1] + 2 and not (start < fact.numeral.start and fact.numeral.start - end < 30):
            continue
        if _has_another_between(told, start, end, fact):
            continue
        region = _region(held, other)
        spoken = {name.key for name in names(held.text[region[0] : region[1]])}
        squeezed = key_text(held.text[region[0] : region[1]])
        for name in names(told.text, with_common=True):
            if (
                start <= name.start < end
                and name.key not in spoken
                and name.key not in squeezed
                and not is_known_as(name.key, held.text[region[0] : region[1]])
            ):
                return Complaint("baseline", name.text, f"the source does not compare this figure with {name.text}")
        ours = lexicon.opponents(held.folded, *region)
        for opponent in sorted(lexicon.opponents(told.folded, start, end)):
            if opponent not in ours:
                return Complaint("baseline", told.text[start:end].strip(), f"the source does not compare this figure with that ({opponent})")
    return None


def _has_another_between(told: Reading, start: int, end: int, fact: Fact) -> bool:
    """Whether another multiple stands between: the comparison belongs to that one."""
    low, high = sorted((fact.numeral.start, start))
    return any(low < other.numeral.start < high and other.numeral.sort in ("times", "percent") for other in told.facts)


def _region(held: Reading, other: Fact) -> tuple[int, int]:
    """The sentence of a figure; with the one before it where its own names nothing to compare with."""
    start, end = other.sentence
    if _BASELINE.search(held.folded, start, end):
        return start, end
    place = held.sentences.index(other.sentence)
    return held.sentences[max(0, place - 1)][0], end


def _scope(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A figure of several methods together told of one; a figure of one model told of its sibling."""
    start, end = other.sentence
    said = {name.key for name in names(told.text)}
    inside = {name.key: name.text for name in names(held.text[start:end])}
    for match in _COMBINED.finditer(held.text, start, other.segment[1]):
        partners = list(names(match["others"] or match["sum"] or ""))
        missing = [name.text for name in partners if name.key not in said]
        is_told_so = re.search(r"combin|together|plus|\bwith\b|结合|配合|叠加|再加|加上|联合", told.folded)
        if not partners and match["others"] and match[0][:1] in "cCtTw" and not is_told_so:
            return Complaint("scope", _words(told, fact), f"in the source the figure is for the work {match[0].strip()}")
        if partners and (len(missing) == len(partners) or (match["sum"] and len(missing) > 1) or _ALONE.search(told.folded)):
            return Complaint("scope", _words(told, fact), f"in the source the figure is for {match[0].strip()}")
    for name in names(told.text[fact.sentence[0] : fact.sentence[1]]):
        if name.key in inside or name.start > fact.numeral.end - fact.sentence[0]:
            continue
        sibling = next((text for other_key, text in inside.items() if _are_siblings(name.key, other_key) and other_key not in said), None)
        if sibling:
            return Complaint("name", name.text, f"the source gives the figure for {sibling}, not {name.text}")
    return None


def _are_siblings(one: str, other: str) -> bool:
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one != other and shared >= max(4, 0.5 * min(len(one), len(other))) and not one.startswith(other) and not other.startswith(one)


def _names(told: Reading, held: Reading) -> Iterator[Complaint]:
    held_text = held.text.lower()
    squeezed = key_text(held.text)
    for name in names(told.text):
        if re.fullmatch(r"v\d[\d.]*", name.key) and name.key[1:] in squeezed:
            continue
        if (
            name.key in squeezed
            or name.text.lower() in held_text
            or is_known_as(name.key, held.text)
            or _is_held_in_parts(name.text, squeezed)
            or _is_spoken(name.text, held.text)
        ):
            continue
        yield Complaint("name", name.text, f"the name {name.text} is not in the source")


def key_text(text: str) -> str:
    """A text in the form of ``names.key``."""
    return re.sub(r"[^a-z0-9+.]", "", text.lower())


def _is_held_in_parts(name: str, squeezed: str) -> bool:
    """ "Muon-optimized", "A100s": the parts with a capital or digit are in the source."""
    parts = [part for part in re.split(r"[-/_]", name) if re.search(r"[A-Z0-9]", part)]
    return "-" in name + "/" and all(key(part) in COMMON or (len(key(part)) >= 2 and key(part) in squeezed) for part in parts)


def _is_spoken(name: str, source: str) -> bool:
    """Whether a name in Latin letters is how Chinese characters of the source are spoken (观澜-32B: Guanlan-32B)."""
    from digest.judge.pinyin import spoken

    letters = re.sub(r"[^a-z]", "", re.split(r"[-\d'’]", name.lower())[0])
    return len(letters) >= 4 and letters in spoken(source)
