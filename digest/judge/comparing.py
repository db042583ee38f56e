"""What a figure is of and what it is compared with: process, baseline, combination, model, data set."""

from __future__ import annotations

import re

from digest.judge import lexicon
from digest.judge.complaints import Complaint, words_of
from digest.judge.facts import Fact, Reading
from digest.judge.names import is_known_as, key, key_text, names, spelled
from digest.judge.pairing import belonging
from digest.judge.stances import stems
from digest.phrase import Phrase

_BASELINE = re.compile(
    r"\b(?:than|over|versus|vs\.?|against|compared (?:to|with)|relative to|beats?|outperforms?|outperforming)\s(?P<en>[^,;:.()，。；]{2,70}?)(?=\s(?:on|for|in|when|while|with|at|across|under|without|and|by|during|using|as|to|where)\b|[,;:()，。；]|\.\s|\.?$)"
    r"|(?:相比于?|相较于?|对比|超过|追平|(?<!对)(?<!相)比(?!特|例|如|率|赛|重|值|较)|较|以(?=[^,，。]{2,26}为对[比照]))\s?(?P<zh>[^,;，；。、()（）]{2,26}?)(?=\s?(?:[,;，；。()（）]|为对[比照]|(?:平均|最高|最多|约|大约)?(?:快|少|低|高|多|省|提升|降低|减少|缩短|提高|节省|慢|加速|提速|短|的?[训推])|$))"
)
_TIMES_OF = re.compile(r"(?:是|为|达到?)\s?(?P<whose>[^,;，；。]{2,24}?)的\s?(?:约|近|大约)?\s?(?=[\d一两二三四五六七八九十])")
_COMBINED = re.compile(
    r"(?:[Cc]ombined with|together with|combining it with|when used with|结合|配合|叠加)\s?(?P<others>[^,;:.，。；]{2,60})|(?P<sum>\b[A-Za-z][\w-]*(?:\s?\+\s?[A-Za-z][\w-]*)+)(?!\w|\s(?:baselines?|pipeline))"
)
_AT = re.compile(r"\s?(?:x|times)?\s?(?:faster|speed-?ups?|less|more)?\s?(?:at|in|during) (?:inference|training|decoding|serving)\b")
_TELLING = 4  # smaller numbers stand everywhere
_WHOLES = ("end-to-end", "whole-model")
_ALONE = re.compile(r"\bon its own\b|\balone\b|\bby itself\b|单独|单凭|仅凭")
_HARDWARE = re.compile(
    r"^(?:[abhlv]\d{2,3}s?|gb\d{2,3}|rtx.*|t\d{1,4}|mi\d{3}x?|tpu.*|gpu.*|cpu.*|npu.*|jetson.*|orin.*|nvidia|blackwell|hopper|ampere|ascend.*)$"
)
_ON = re.compile(r"\bon (?:the |a |an )?(?P<en>[A-Z][\w.+-]*)|在\s?(?P<zh>[A-Z][\w.+-]*)[^,，。]{0,8}?(?:上|中|下)")


def process(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """Training told of an inference figure, a kernel's figure told of the whole."""
    in_sentence = frozenset(name for name, _, _ in lexicon.processes(held.folded, *other.sentence))
    siblings = [sibling for sibling in held.facts if sibling.sentence == other.sentence and sibling.numeral.sort == other.numeral.sort]
    in_place = frozenset(anchor.split(":")[1] for anchor in belonging(held, other, siblings) if anchor.startswith("process:"))
    after = _AT.match(held.folded, other.numeral.end)
    named = frozenset(name for name, _, _ in lexicon.processes(held.folded, after.start(), after.end())) if after else frozenset()
    ours = in_place or named or other.processes or in_sentence
    chain = [mate for mate in told.facts if mate.sentence == fact.sentence and mate.numeral.sort == fact.numeral.sort]
    told_in_place = frozenset(anchor.split(":")[1] for anchor in belonging(told, fact, chain) if anchor.startswith("process:"))
    said = frozenset(name for name, _, _ in lexicon.processes(told.folded, *fact.sentence))
    if "block" in in_sentence and "block" not in said and (len(siblings) == 1 or "block" in other.processes or other.segment[0] - other.sentence[0] < 70):
        where = held.text[other.numeral.start : other.numeral.end].strip()
        return Complaint("scope", words_of(told, fact), Phrase("in the source %(where)s is for one layer or block", where=where))
    elsewhere = {name for sibling in siblings if sibling is not other for name in sibling.processes}
    for process in sorted(fact.processes & elsewhere - other.processes):
        if process in _WHOLES and len(siblings) > 1 and not in_place:
            return Complaint("scope", words_of(told, fact), Phrase("the source gives another figure for %(what)s", what=(process,)))
    for process in sorted((told_in_place or fact.processes) - _means(told, fact)):
        if ours and not any(lexicon.is_same_process(process, name) for name in ours):
            where = held.text[other.numeral.start : other.numeral.end].strip()
            return Complaint(
                "scope",
                words_of(told, fact),
                Phrase("%(where)s is about %(theirs)s in the source, not %(ours)s", where=where, theirs=tuple(sorted(ours)), ours=(process,)),
            )
    return None


def _means(told: Reading, fact: Fact) -> frozenset[str]:
    """What the sentence names as the means and not as what got faster: "with INT4 matrix multiplications"."""
    before = told.folded[fact.sentence[0] : fact.sentence[1]]
    is_means = re.search(
        r"\b(?:with|using|by|via)\b(?: [\w-]+){0,4} (?:kernels?|matrix multiplications?|matmuls?|gemms?)\b|(?:用|通过|借助|全部)[^,，。]{0,12}(?:算子|内核|矩阵乘法?)",
        before,
    )
    return frozenset({"kernel"}) if is_means else frozenset()


def baseline(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A comparison with something that the source does not compare this figure with."""
    spans = [match.span("en" if match["en"] else "zh") for match in _BASELINE.finditer(told.folded, *fact.sentence)]
    spans += [match.span("whose") for match in _TIMES_OF.finditer(told.folded, *fact.sentence) if match.end() <= fact.numeral.start + 1]
    for start, end in spans:
        if not fact.segment[0] - 2 <= start <= fact.segment[1] + 5 and not (start < fact.numeral.start and fact.numeral.start - end < 30):
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
                return Complaint("baseline", name.text, Phrase("the source does not compare this figure with %(what)s", what=name.text))
        ours = lexicon.opponents(held.folded, *region)
        for opponent in sorted(lexicon.opponents(told.folded, start, end)):
            if opponent not in ours:
                return Complaint(
                    "baseline", told.text[start:end].strip(), Phrase("the source does not compare this figure with that (%(what)s)", what=(opponent,))
                )
    return None


def baseline_of_sibling(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
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
            return Complaint("baseline", match["en"], Phrase("the source compares %(where)s with %(what)s", where=where, what=match["en"]))
    return None


def baseline_of_another(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A comparison with what the source compares other figures with, and not this one."""
    ours, words = _opponents_of(told, fact)
    theirs, _ = _opponents_of(held, other)
    if not ours or not theirs or ours & theirs or any(one in another or another in one for one in ours for another in theirs):
        return None
    elsewhere = {name for sibling in held.facts if sibling is not other for name in _opponents_of(held, sibling)[0]}
    if ours <= elsewhere or ours <= _all_opponents(held):
        return Complaint("baseline", words, Phrase("the source compares this figure with %(what)s", what=spelled(held.text, theirs)))
    return None


def _all_opponents(held: Reading) -> frozenset[str]:
    squeezed = frozenset(name.key for name in names(held.text))
    return squeezed | lexicon.opponents(held.folded, 0, len(held.folded))


def _opponents_of(reading: Reading, fact: Fact) -> tuple[frozenset[str], str]:
    """(names and nameless opponents in the comparison that stands with a figure, its words)."""
    following = [
        each.numeral.start
        for each in reading.facts
        if each.sentence == fact.sentence and each.numeral.start > fact.numeral.end and each.numeral.sort in ("times", "percent")
    ]
    stop = min([fact.sentence[1], *following])
    if re.search(r"[\u3400-\u9fff]", reading.folded[slice(*fact.sentence)]):  # 比 DGL 快 5.7 倍: what is compared with stands before
        match = next(iter(_BASELINE.finditer(reading.folded, fact.segment[0], fact.numeral.start)), None)
    else:
        match = _BASELINE.search(reading.folded, fact.numeral.end, stop)
    if match is None:
        return frozenset(), ""
    start, end = match.span("en" if match["en"] else "zh")
    if match["en"]:  # "over DGL and Quiver", "compared to FedAvg, FedProx and FedAdp": the whole list
        end = re.search(r"[;.(（](?!\d)|$|\b(?:while|with|on|for|when)\b", reading.folded[end:stop]).start() + end  # type: ignore[union-attr]  # $ matches
    found = {name.key for name in names(reading.text) if start <= name.start < end} | lexicon.opponents(reading.folded, start, end)
    return frozenset(found) - {"best"}, reading.text[start:end].strip()


def sibling_name(told: Reading, fact: Fact, held: Reading) -> Complaint | None:
    """A number that the source gives for one model of a family, told of another (Llama-3-8B: Llama-3-70B)."""
    if fact.numeral.is_word or fact.numeral.low < _TELLING:
        return None
    same = [other for other in held.facts if (other.numeral.low, other.numeral.unit) == (fact.numeral.low, fact.numeral.unit)]
    if not same:
        return None
    around = [{name.key: name.text for name in names(held.text[slice(*other.sentence)])} for other in same]
    for name in names(told.text[slice(*fact.sentence)]):
        if not any(character.isdigit() for character in name.key) or any(name.key in inside for inside in around):
            continue
        sibling = next((text for inside in around for key_, text in inside.items() if _are_sizes(name.key, key_)), None)
        if sibling and key(name.text) in key_text(held.text):
            return Complaint("name", name.text, Phrase("the source says it of %(theirs)s, not of %(ours)s", theirs=sibling, ours=name.text))
    return None


def _are_sizes(one: str, other: str) -> bool:
    """Whether two names differ by their size only."""
    return one != other and re.sub(r"\d+(?:\.\d+)?[bm]", "#", one) == re.sub(r"\d+(?:\.\d+)?[bm]", "#", other)


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


def scope(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A figure of several methods together told of one; a figure of one model told of its sibling."""
    start, end = other.sentence
    said = {name.key for name in names(told.text)}
    inside = {name.key: name.text for name in names(held.text[start:end])}
    for match in _COMBINED.finditer(held.text, start, other.segment[1]):
        partners = list(names(match["others"] or match["sum"] or ""))
        missing = [name.text for name in partners if name.key not in said]
        is_told_so = re.search(r"combin|together|plus|\bwith\b|结合|配合|叠加|再加|加上|联合", told.folded)
        if not partners and match["others"] and match[0][:1] in "cCtTw" and not is_told_so:
            return Complaint("scope", words_of(told, fact), Phrase("in the source the figure is for the combination: “%(what)s”", what=match[0].strip()))
        if partners and (len(missing) == len(partners) or (match["sum"] and len(missing) > 1) or _ALONE.search(told.folded)):
            return Complaint("scope", words_of(told, fact), Phrase("in the source the figure is for the combination: “%(what)s”", what=match[0].strip()))
    for name in names(told.text[fact.sentence[0] : fact.sentence[1]]):
        if name.key in inside or name.start > fact.numeral.end - fact.sentence[0]:
            continue
        sibling = next((text for other_key, text in inside.items() if _are_siblings(name.key, other_key) and other_key not in said), None)
        if sibling:
            return Complaint("name", name.text, Phrase("the source gives the figure for %(theirs)s, not %(ours)s", theirs=sibling, ours=name.text))
    return None


def _are_siblings(one: str, other: str) -> bool:
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return one != other and shared >= max(4, 0.5 * min(len(one), len(other))) and not one.startswith(other) and not other.startswith(one)


def _settings(reading: Reading, start: int, end: int) -> frozenset[str]:
    found = {key(match["en"] or match["zh"]) for match in _ON.finditer(reading.text, start, end)}
    return frozenset(name for name in found if not _HARDWARE.match(name))


def setting(told: Reading, fact: Fact, held: Reading, other: Fact) -> Complaint | None:
    """A data set or task that the source does not name for this figure, where it names another."""
    theirs = _settings(held, other.numeral.end, other.segment[1])
    ours = _settings(told, *fact.segment)
    if theirs and ours and not any(one in another or another in one for one in ours for another in theirs):
        name = min(ours)
        if name in key_text(held.text) and not _settings(held, other.sentence[0], other.numeral.start) & ours & _settings(held, *other.segment):
            return Complaint("name", spelled(told.text, [name])[0], Phrase("the source gives the figure for %(what)s", what=spelled(held.text, theirs)))
    return None
