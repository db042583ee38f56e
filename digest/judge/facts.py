"""The figures of a text with what stands around them: what is measured, of what, which way, on which names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from digest.judge import lexicon
from digest.judge.names import names
from digest.judge.numerals import Numeral, numerals
from digest.read.folding import signs
from digest.text import sentence_spans

_BREAK = re.compile(r"[,;:](?!\d)|(?<!\d)[,;:]|[，；：、。()（）]|\s(?:and|while|whereas|but|plus)\s|并且|同时|[，]?且|而(?!不)")
_LIST = re.compile(r"^\s*(?:,|and|or|,\s*and|/|和|与|、|及|至|到)?\s*(?:by\s)?(?:up[ -]to |over |about |>|~|最高|约)?\s*$")
_LESS = re.compile(
    r"\b(?:reduc\w+|decreas\w+|lower\w*|sav(?:e|es|ed|ing|ings)|less|fewer|cut(?:s|ting)?|shrink\w*|smaller|drop(?:s|ped|ping)?|short\w+|remov\w+|eliminat\w+|skip\w*|fell|falls?|faster\b.{0,20}time|slash\w*|trim\w*)\b|takes? \S+ off|减少|降低|下降|缩短|缩减|节省|省[下了去]?|少|压缩|削减|降了|减了|减半|低"
)
_MORE = re.compile(
    r"\b(?:increas\w+|improv\w+|boost\w*|rais\w+|gains?|higher|more|longer|larger|enhanc\w+|faster|speed\w*|accelerat\w+|extra|additional|outperform\w*|quicker|better)\b|提升|提高|增加|增长|快|提速|加速|高出|多[花出了]|上升|改善"
)
_TO = re.compile(
    r"(?:\b(?:to|only|just|merely|mere|leav(?:es|ing)|left|remain\w*|takes?|taking|needs?|using|uses?|requir\w+|with|within|at|is|are)|到了?|至|剩下?|仅|为|只[用要需]?|仅[需用]|只有|相当于|原来的|原先的|不到|用)\s{0,2}(?:only|just|about|roughly|approximately|around|nearly|less than|under|over|more than|as little as|约|大约|了|其|原来的|原先的|不到|近|原方案的|基线的|的)?\s{0,2}(?:of\s)?$"
)
_BY = re.compile(r"(?:\bby|[少减降省快高升低]了?|减少了?|降低了?|缩短了?|提升了?|下降了?|节省了?)\s{0,2}(?:up to|about|roughly|around|as much as|over|more than|nearly|最高|约|近|超过)?\s{0,2}$")
_AFTER_SHARE = re.compile(r"^\s{0,2}(?:of (?:the|its|that|what|their)?|the (?=training|original|cost|memory|steps|compute|time|iterations)|(?:的)?(?:训练)?(?:算力|步数|时间|成本|迭代|显存)[^少降省减]{0,4}(?:就|即|便|达))")
_AFTER_DELTA = re.compile(r"^\s{0,2}(?:relative )?(?:less|fewer|lower|more|higher|faster|smaller|shorter|additional|extra|reduction|improvement|gain|increase|speed|saving|relative)")
_DELTA_VERB = re.compile(r"\b(?:remov\w+|cut(?:s|ting)?|sav(?:e|es|ed|ing)|skip\w*|eliminat\w+|reduc\w+|takes|trim\w*|slash\w*|shav\w+|drop\w*)\s(?:about |roughly |around |up to |as much as |nearly |over |more than )?$")
_FROM = re.compile(r"(?:\bfrom\b|从|由)[^,;，；。]{0,18}$")
_TO_BETWEEN = re.compile(r"^[^,;，；。(（]{0,14}?(?:\bto\b|到|至|为|→)[^,;，；。\d]{0,16}$")


@dataclass(frozen=True, slots=True)
class Fact:
    """A number with its surroundings; ``origin`` is the number it came from ("from 2.4 s to 1.5 s").

    ``sense``: less, more (a change by so much), share (what is left), level (a state), or "" when nothing tells.
    """

    numeral: Numeral
    sense: str
    metric: str
    processes: frozenset[str]
    sentence: tuple[int, int]
    segment: tuple[int, int]
    origin: Numeral | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the judge reads it."""

    text: str
    folded: str
    facts: tuple[Fact, ...]
    sentences: tuple[tuple[int, int], ...]

    def sentence_at(self, place: int) -> tuple[int, int]:
        """The sentence that holds the place."""
        return next((span for span in self.sentences if span[0] <= place < span[1]), (0, len(self.text)))


@lru_cache(maxsize=64)
def read(text: str) -> Reading:
    """The facts of a text, by place."""
    folded = signs(text)
    sentences = tuple(sentence_spans(text))
    facts: list[Fact] = []
    by_sentence: dict[tuple[int, int], list[Numeral]] = {}
    for numeral in numerals(folded):
        span = next((span for span in sentences if span[0] <= numeral.start < span[1]), None)
        if span:
            by_sentence.setdefault(span, []).append(numeral)
    for span, unjoined in by_sentence.items():
        found = _joined(folded, unjoined)
        earlier: Fact | None = None
        for place, numeral in enumerate(found):
            fact = _fact(folded, span, found, place)
            if earlier is not None:
                fact = _inherited(folded, earlier, fact)
            facts.append(fact)
            earlier = fact
    return Reading(text, folded, tuple(facts), sentences)


def _joined(folded: str, found: list[Numeral]) -> list[Numeral]:
    """With shares in words that form a range (四分之一到一半) as one number, and "from 21 % to 32 %" as two."""
    joined: list[Numeral] = []
    for numeral in found:
        earlier = joined[-1] if joined else None
        if earlier and (earlier.sort, earlier.sort) == (numeral.sort, "percent") and earlier.low == earlier.high < numeral.low and numeral.is_word:
            if re.fullmatch(r"\s?(?:到|至|to|-|–|~)\s?(?:a\s)?", folded[earlier.end : numeral.start]) and not _FROM.search(folded[max(0, earlier.start - 24) : earlier.start]):
                joined[-1] = replace(earlier, end=numeral.end, high=numeral.high)
                continue
        if numeral.sort == "percent" and numeral.low < numeral.high and re.search(r"(?<!ranging )(?<!ranges )(?<!range )(?<!varies )\bfrom\s$|从\s?$", folded[: numeral.start]):
            middle = numeral.start + re.match(r"[\d.,]+\s?%?", folded[numeral.start :]).end()  # type: ignore[union-attr]  # a range begins with its number
            joined += [replace(numeral, end=middle, high=numeral.low), replace(numeral, start=middle + 1, low=numeral.high)]
            continue
        joined.append(numeral)
    return joined


def _fact(folded: str, span: tuple[int, int], found: list[Numeral], place: int) -> Fact:
    numeral = found[place]
    segment = _segment(folded, span, numeral)
    origin = found[place - 1] if place and _is_origin(folded, found[place - 1], numeral) else None
    metric = _metric(folded, span, segment, numeral)
    return Fact(
        numeral=numeral,
        sense=_sense(folded, span, segment, numeral, metric, has_origin=origin is not None),
        metric=metric,
        processes=frozenset(name for name, _, _ in lexicon.processes(folded, *segment)),
        sentence=span,
        segment=segment,
        origin=origin,
    )


def _inherited(folded: str, earlier: Fact, fact: Fact) -> Fact:
    """In "up to 2.24x on RLVR and 2.72x on agentic tasks" the second figure has the bound and the metric of the first."""
    one, other = earlier.numeral, fact.numeral
    between = folded[one.end : other.start]
    if len(between) > 60 or re.search(r"[.;；。]|\b(?:while|but|whereas|only|still)\b|而|只|仅", between) or other.sort not in ("times", "percent"):
        return fact
    if one.bound == "up_to" and other.bound == "exact" and re.search(r"^[^,，]{0,40}(?:,|\band|/|和|、|及|与)\s*(?:and\s)?(?:a\s)?$", between):
        fact = replace(fact, numeral=replace(other, bound="up_to"))
    if fact.metric or one.sort != other.sort or not re.search(r"\band\b|/|和|、|及|与|,|，", between):
        return fact
    return replace(fact, metric=earlier.metric, sense=fact.sense or earlier.sense)


def _segment(folded: str, span: tuple[int, int], numeral: Numeral) -> tuple[int, int]:
    left = max((match.end() for match in _BREAK.finditer(folded, span[0], numeral.start)), default=span[0])
    right = next((match.start() for match in _BREAK.finditer(folded, numeral.end, span[1])), span[1])
    return left, right


def _is_origin(folded: str, one: Numeral, other: Numeral) -> bool:
    if (one.sort, one.unit) != (other.sort, other.unit) and not (one.unit == "" and one.sort == "count" and other.sort in ("amount", "percent")):
        return False
    return bool(_FROM.search(folded[max(0, one.start - 24) : one.start]) and _TO_BETWEEN.match(folded[one.end : other.start]))


def _metric(folded: str, span: tuple[int, int], segment: tuple[int, int], numeral: Numeral) -> str:
    """What is measured: by the nearest word of the segment, else the last one before it in the sentence."""
    before = folded[max(segment[0], numeral.start - 24) : numeral.start]
    leans_left = bool(re.search(r"(?:\bby|\bof|\bto|\bfrom|[\u3400-\u9fff])\s*(?:(?:up to|about|over|around|nearly|roughly|more than|at least|as much as|an?)\s*){0,2}$", before))
    best, best_distance = "", 1e9
    for name, start, end in lexicon.metrics(folded, *segment):
        if end <= numeral.start:
            distance = (numeral.start - end) * (0.4 if leans_left else 1.6) + 4
        elif start >= numeral.end:
            distance = (start - numeral.end) * (1.5 if leans_left else 0.8)
        else:
            continue
        if distance < best_distance:
            best, best_distance = name, distance
    if best or numeral.sort not in ("times", "percent"):
        return best
    earlier = lexicon.metrics(folded, span[0], segment[0])
    return earlier[-1][0] if earlier and segment[0] - earlier[-1][2] < 12 else ""


def _sense(folded: str, span: tuple[int, int], segment: tuple[int, int], numeral: Numeral, metric: str, *, has_origin: bool) -> str:
    before = folded[max(span[0], numeral.start - 36) : numeral.start]
    after = folded[numeral.end : min(span[1], numeral.end + 36)]
    clause = folded[max(segment[0], numeral.start - 48) : min(segment[1], numeral.end + 36)]
    if numeral.sort == "times":
        return "less" if _LESS.search(clause) and not _MORE.search(clause) else "more"
    if numeral.sort != "percent":
        return ""
    wording = folded[numeral.start : numeral.end]
    if re.search(r"减半|腰斩|halv", wording):
        return "less"
    if has_origin:
        return "level"
    if delta := _AFTER_DELTA.match(after):
        return "less" if _LESS.search(delta[0]) or (delta[0].strip() in ("reduction", "relative", "saving", "shorter") and _LESS.search(clause)) else "more"
    if _BY.search(before):
        return "less" if _LESS.search(clause) else "more"
    if _DELTA_VERB.search(before):
        return "less"
    if _AFTER_SHARE.match(after) or _TO.search(before):
        return "level" if metric in ("quality", "") and not _AFTER_SHARE.match(after) and not numeral.is_word else "share"
    if _LESS.search(clause):
        return "less"
    return "more" if _MORE.search(clause) else ""


def anchors(reading: Reading, start: int, end: int, *, without: Numeral | None = None) -> frozenset[str]:
    """What a figure may belong to in a part of a text: names, other numbers, processes."""
    found = {f"name:{name.key}" for name in names(reading.text[start:end], with_common=True)}
    found |= {f"subject:{name}" for name in lexicon.subjects(reading.folded, start, end)}
    found |= {f"process:{name}" for name, _, _ in lexicon.processes(reading.folded, start, end) if name not in ("end-to-end", "whole-model", "block")}
    for fact in reading.facts:
        numeral = fact.numeral
        if start <= numeral.start < end and numeral != without and numeral.sort in ("count", "percent") and not numeral.is_word:
            found.add(f"number:{numeral.low:g}:{numeral.high:g}:{numeral.sort}")
    return frozenset(found)
