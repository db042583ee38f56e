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
    r"\b(?:reduc\w+|decreas\w+|lower\w*|sav(?:e|es|ed|ing|ings)|less(?! than (?:\S{0,2}\d|half|an?\b|one\b|two\b|three\b|twice|doubl|tripl))|fewer(?! than (?:\S{0,2}\d|half|an?\b|one\b|two\b|three\b|twice|doubl|tripl))|cut(?:s|ting)?|shrink\w*|smaller|drop(?:s|ped|ping)?|short\w+|remov\w+|eliminat\w+|skip\w*|fell|falls?|faster\b.{0,20}time|slash\w*|trim\w*)\b|takes? \S+ off|\bdown\b(?! from)|减少|降低|下降|缩短|缩减|缩小|节省|省[下了去]?|(?<!至)少|压缩|削减|降了|减了|减半|掉|跌|低"
)
_MORE = re.compile(
    r"\b(?:increas\w+|improv\w+|boost\w*|rais\w+|gains?|higher|more(?! than (?:\S{0,2}\d|half|an?\b|one\b|two\b|three\b|twice|doubl|tripl))|lengthen\w*|grow\w*|r[io]ses?|longer|larger|enhanc\w+|faster|speed\w*|accelerat\w+|extra|additional|outperform\w*|quicker|better)\b|提升|提高|增加|增长|快|提速|加速|高出|多[花出了]|上升|改善"
)
_TO = re.compile(
    r"(?:\b(?:(?<!up )to|only|just|merely|mere|leav(?:es|ing)|left|remain\w*|needs?|using|uses?|requir\w+|within)|(?<!不)到了?|至|剩下?|保留了?|仅|为|只[用要需]?|仅[需用]|只有|相当于|原来的|原先的|(?<![降少短升高快增掉跌])(?<![降少短升高快增掉跌]了)不到|(?<![少省])用)\s{0,2}(?:only|just|about|roughly|approximately|around|nearly|less than|under|over|more than|as little as|约|大约|了|其|原来的|原先的|不到|近|原方案的|基线的|的)?\s{0,2}(?:of\s)?$|(?:到|至|为|剩|是|只有|相当于)了?\s?(?:[^,，。;；\d]|[a-z]\d+|\d[a-z]){1,20}的\s?(?:约|近|不到|大约)?\s?$"
)
_DOWN_TO = re.compile(r"(?:最多|最高|最大)[^,，。；]{0,6}[降减缩压][^,，。；]{0,4}[到至]\s?$|\bup to\b.{0,12}\bdown to\s$")
_BY = re.compile(
    r"(?:\bby|[少减降省快高升低掉跌]了?|减少了?|降低了?|缩短了?|提升了?|下降了?|节省了?)\s{0,2}(?:up to|about|roughly|around|approximately|as much as|at least|over|more than|less than|under|nearly|an average of|最高|最多|平均|约|近|超过|不到|不足)?\s{0,2}$"
)
_AFTER_SHARE = re.compile(
    r"^\s{0,2}(?:of (?:the|its|that|what|their)?|as (?:many|much)\b|the (?=training|original|cost|memory|steps|compute|time|iterations)|the \w+(?<!time)(?<!speed)(?<!rate)\b(?= (?:of|per)\b|[,.;]|$)|(?:的)?(?:训练)?(?:算力|步数|时间|成本|迭代|显存)[^少降省减]{0,4}(?:就|即|便|达))"
)
_AFTER_DELTA = re.compile(
    r"^\s{0,2}(?:relative (?=reduc|improv|gain|incr|decr|drop))?(?:less|fewer|lower|more|higher|faster|slower|smaller|larger|shorter|longer|off\b|cheaper|additional|extra|reduction|improvement|gain|increase|speed|saving|(?:loss|drop|decrease|degradation) (?:of|in))"
)
_DELTA_VERB = re.compile(
    r"\b(?:remov\w+|cut(?:s|ting)?|sav(?:e|es|ed|ing)|skip\w*|eliminat\w+|reduc\w+|trim\w*|slash\w*|shav\w+|drop(?:s|ped|ping)?)\s(?:up to |(?!to |from )[a-z]+ ){0,3}$"
)
_CUT_AWAY = re.compile(r"[遮丢扔去删剪除漏]掉")  # what is left out, and no change of a figure
_OVERHEAD = re.compile(r"^\s(?:\w+ )?overhead")
_WITH = re.compile(r"\b(?:with|at|adds?|only|just)\b[^,;.]{0,16}$")
_IS_A_LEVEL = re.compile(r"^\s(?:[\w-]+\s){0,3}(?:utili[sz]ation|mfu|accuracy|recall|precision|success rates?)\b")
_CHANGE_VERB = re.compile(r"\b(?:improv\w+|increas\w+|rais\w+|boost\w*|gains?|by|higher|lower|drop\w*|los\w+)\b[^,;.]{0,24}$")
_BY_UNIT = {"USD": "cost", "CNY": "cost", "seconds": "time", "GPU-hours": "time", "bytes": "memory", "watts": "energy"}
_BARRIER = re.compile(r"\b(?:at|with|without|while|under|than|over|for|on|in terms)\s|同时|而")
_BARRIER_BEFORE = re.compile(r"\s(?:with|while|without)\s(?!an?\b)")
_A_SETTING = re.compile(r"\d[\d,.]*[kmb]?\s?$")  # "after 300 steps" is where, not what
_COORDINATED = re.compile(r"^\s?(?:and|/|和|与|、|及)\s?(?:peak |gpu |total |the |both |training |inference |峰值|计算|训练|推理)*\s?$")
_EVERYWHERE = frozenset("gpu gpus cpu cpus ai llm llms api gb mb tb kb gib".split())
_FROM = re.compile(r"(?:\bfrom\b|从|由)[^,;，；。]{0,18}$")
_CHANGES = re.compile(r"(?<!ranging )(?<!ranges )(?<!range )(?<!varies )\bfrom\s$|从\s?$")
_AND_JOINT = re.compile(r"\s?(?:and|和|与|、)\s?(?:up to\s|about\s)?[~≈约]?\s?")
_TO_JOINT = re.compile(r"\s?(?:到|至|to|-|–|~)\s?(?:a\s|us\\?)?")
_VERSUS = re.compile(
    r"^(?:\s[\w-]+){0,4},?\s?(?:vs\.?|versus|(?:when )?compared (?:with|to)(?:\s(?!with\b|while\b|and\b|only\b|at\b)[\w-]+){0,4}|instead of|down from|up from)\s?$"
)
_TO_BETWEEN = re.compile(r"^[^,;，；。(（]{0,14}?(?:\bto\b|到|至|为|→)[^,;，；。\d]{0,16}$")


@dataclass(frozen=True, slots=True)
class Fact:
    """A number with its surroundings; ``origin`` is the number it came from ("from 2.4 s to 1.5 s").

    ``sense``: less, more (a change by so much), share (what is left), level (a state), or "" when nothing tells.
    """

    numeral: Numeral
    sense: str
    metrics: frozenset[str]
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
    for numeral in numerals(folded, text):
        span = next((span for span in sentences if span[0] <= numeral.start < span[1]), None)
        if span:
            by_sentence.setdefault(span, []).append(numeral)
    for span, unjoined in by_sentence.items():
        found = _joined(folded, unjoined)
        earlier: Fact | None = None
        for place in range(len(found)):
            fact = _fact(folded, span, found, place)
            if earlier is not None:
                fact = _inherited(folded, earlier, fact)
            facts.append(fact)
            earlier = fact
    return Reading(text, folded, tuple(facts), sentences)


def _joined(folded: str, found: list[Numeral]) -> list[Numeral]:
    """With the two ends of a range as one number ("3.5-10.5 minutes", 四分之一到一半), and "from 21 % to 32 %" as two."""
    joined: list[Numeral] = []
    for numeral in found:
        earlier = joined[-1] if joined else None
        if earlier and _TO_JOINT.fullmatch(folded[earlier.end : numeral.start]):
            joint = folded[earlier.end : numeral.start]
            is_change = _FROM.search(folded[max(0, earlier.start - 24) : earlier.start]) and joint.strip() not in ("-", "–", "~")
            is_name = joint == "-" and numeral.sort == "count"  # Llama 3-70B
            if not is_name and earlier.sort == "count" and numeral.sort in ("count", "amount") and re.fullmatch(r"[\d.]+", folded[earlier.start : earlier.end]):
                earlier = joined[-1] = _in_unit_of(folded, earlier, numeral)  # "5 to 500 billion"
            if earlier.sort == "amount" and numeral.sort == "count" and is_change and re.fullmatch(r"[\d.]+", folded[numeral.start : numeral.end]):
                numeral = _in_unit_of(folded, numeral, earlier)  # "from 10 hours to 7"
            is_worded = numeral.sort == "percent" and numeral.is_word
            if (
                (earlier.sort, earlier.unit) == (numeral.sort, numeral.unit)
                and (is_worded or numeral.sort == "amount")
                and earlier.low == earlier.high < numeral.low
                and not is_change
            ):
                joined[-1] = replace(earlier, end=numeral.end, high=numeral.high)
                continue
        elif earlier and earlier.sort == "count" and numeral.sort == "amount" and _AND_JOINT.fullmatch(folded[earlier.end : numeral.start]):
            joined[-1] = _in_unit_of(folded, earlier, numeral)  # "~68 and ~30 GPU hours"
        joined += _split(folded, numeral)
    return joined


def _split(folded: str, numeral: Numeral) -> list[Numeral]:
    """Both numbers of "from 21 % to 32 %", which was read as a range; any other as it is."""
    if numeral.sort != "percent" or numeral.low >= numeral.high or not _CHANGES.search(folded[: numeral.start]):
        return [numeral]
    ends = [match.span() for match in re.finditer(r"\d[\d.,]*\s?%?", folded[numeral.start : numeral.end])]
    first, last = numeral.start + ends[0][1], numeral.start + ends[-1][0]
    return [replace(numeral, end=first, high=numeral.low), replace(numeral, start=last, low=numeral.high)]


def _fact(folded: str, span: tuple[int, int], found: list[Numeral], place: int) -> Fact:
    numeral = found[place]
    segment = _segment(folded, span, numeral)
    origin = found[place - 1] if place and _is_origin(folded, found[place - 1], numeral) else None
    if (
        origin is None
        and place + 1 < len(found)
        and found[place + 1].sort in (numeral.sort, "count")
        and _VERSUS.match(folded[numeral.end : found[place + 1].start])
    ):
        origin = found[place + 1]
    if origin is not None and (origin.unit, origin.sort) != (numeral.unit, numeral.sort):
        origin = _in_unit_of(folded, origin, numeral)
    metrics = _metrics(folded, span, segment, numeral)
    if numeral.bound == "up_to" and numeral.sort == "percent" and _DOWN_TO.search(folded[segment[0] : numeral.start]):
        numeral = replace(numeral, bound="at_least")  # 最多降到四分之一: a quarter is the least that is left
    return Fact(
        numeral=numeral,
        sense=_sense(folded, span, segment, numeral, metrics, has_origin=origin is not None),
        metrics=metrics,
        processes=_processes(folded, span, segment),
        sentence=span,
        segment=segment,
        origin=origin,
    )


def _inherited(folded: str, earlier: Fact, fact: Fact) -> Fact:
    """In "up to 2.24x on RLVR and 2.72x on agentic tasks" the second figure has the bound and the metric of the first."""
    one, other = earlier.numeral, fact.numeral
    if (
        one.bound == "up_to"
        and other.bound == "exact"
        and re.fullmatch(
            r"(?:\s?[\w/]{0,12}\s?[(（](?:i\.e\.,?\s?)?|,?\s?(?:[\w/]{0,12},?\s)?(?:i\.e\.|that is|corresponding to|即|相当于),?\s?)",
            folded[one.end : other.start],
        )
    ):
        return replace(fact, numeral=replace(other, bound="up_to"))  # "up to 740 TFLOPs/s, i.e., 75% utilization"
    between = folded[one.end : other.start]
    if len(between) > 60 or re.search(r"[.;；。]|\b(?:while|but|whereas|only|still)\b|而|只|仅", between) or other.sort not in ("times", "percent"):
        return fact
    if (
        one.bound == "up_to"
        and other.bound == "exact"
        and re.search(r"^[^,，]{0,40}(?:,|\band|/|和|、|及|与)\s*(?:and\s)?(?:a\s)?$|^[^,，]{0,20}(?:和|、|及|与)[^,，\d]{0,22}$", between)
    ):
        fact = replace(fact, numeral=replace(other, bound="up_to"))
    if fact.metrics or one.sort != other.sort or not re.search(r"\band\b|/|和|、|及|与|,|，", between):
        return fact
    return replace(fact, metrics=earlier.metrics, sense=fact.sense or earlier.sense)


def _processes(folded: str, span: tuple[int, int], segment: tuple[int, int]) -> frozenset[str]:
    """What is done in the segment; of "training and inference" both."""
    found = {name for name, _, _ in lexicon.processes(folded, *segment)}
    is_last = any(segment[1] - end < 2 for _, _, end in lexicon.processes(folded, *segment))
    if is_last and re.match(r"\s?(?:and|/|和|与|、)\s?", folded[segment[1] : segment[1] + 5]):
        found |= {name for name, start, _ in lexicon.processes(folded, segment[1], min(span[1], segment[1] + 22)) if start - segment[1] < 8}
    return frozenset(found)


def _segment(folded: str, span: tuple[int, int], numeral: Numeral) -> tuple[int, int]:
    left = max((match.end() for match in _BREAK.finditer(folded, span[0], numeral.start)), default=span[0])
    right = next((match.start() for match in _BREAK.finditer(folded, numeral.end, span[1])), span[1])
    return left, right


def _is_origin(folded: str, one: Numeral, other: Numeral) -> bool:
    if (one.sort, one.unit) != (other.sort, other.unit) and not (one.unit == "" and one.sort == "count" and other.sort in ("amount", "percent")):
        return False
    return bool(_FROM.search(folded[max(0, one.start - 24) : one.start]) and _TO_BETWEEN.match(folded[one.end : other.start]))


def _in_unit_of(folded: str, origin: Numeral, numeral: Numeral) -> Numeral:
    """The first number of "from 94.1 to 27.9 GB", which has its unit from the second."""
    written = re.match(r"[\d.]+", folded[numeral.start : numeral.end])
    factor = numeral.low / float(written[0]) if written and float(written[0]) else 1.0
    return replace(origin, low=origin.low * factor, high=origin.high * factor, sort=numeral.sort, unit=numeral.unit)


def _metrics(folded: str, span: tuple[int, int], segment: tuple[int, int], numeral: Numeral) -> frozenset[str]:
    """What is measured: by the nearest word of the segment, else the last one before it; of "compute and memory" both."""
    before = folded[max(segment[0], numeral.start - 24) : numeral.start]
    leans_left = bool(
        re.search(
            r"(?:\bby|\bof|\bto|\bfrom|[\u3400-\u9fff])\s*(?:(?:up to|about|over|around|nearly|roughly|more than|at least|as much as|an?)\s*){0,2}$", before
        )
    )
    found = lexicon.metrics(folded, *span)
    best, best_distance = -1, 1e9
    for place, (name, start, end) in enumerate(found):
        if start < segment[0] or end > segment[1]:
            continue
        if name in ("steps", "samples", "size") and start > numeral.end and _A_SETTING.search(folded, numeral.end, start):
            continue
        if name in ("steps", "samples", "size") and start < numeral.start and _A_SETTING.search(folded[max(0, start - 8) : start]):
            continue
        if end <= numeral.start and not _BARRIER_BEFORE.search(folded, end, numeral.start):
            distance = (numeral.start - end) * (0.4 if leans_left else 1.6) + 4
        elif start >= numeral.end and not _BARRIER.search(folded, numeral.end, start):
            distance = (start - numeral.end) * (1.5 if leans_left else 0.8)
        else:
            continue
        if distance < best_distance:
            best, best_distance = place, distance
    if numeral.unit in _BY_UNIT:
        return frozenset({_BY_UNIT[numeral.unit]})
    if (
        best < 0
        and numeral.sort in ("times", "percent")
        and re.fullmatch(r"[^\u3400-\u9fff]*(?:[\u3400-\u9fff][^\u3400-\u9fff]*){0,4}", folded[segment[0] : numeral.start])
        and re.search(r"[\u3400-\u9fff]", folded[span[0] : span[1]])
    ):
        best = max((place for place, (_, _, end) in enumerate(found) if end <= segment[0] and segment[0] - end < 12), default=-1)
    if best < 0:
        return frozenset()
    names = {found[best][0]}
    for place in range(best - 1, -1, -1):
        if not _COORDINATED.match(folded[found[place][2] : found[place + 1][1]]):
            break
        names.add(found[place][0])
    for place in range(best + 1, len(found)):
        if found[place][1] > segment[1] + 20 or not _COORDINATED.match(folded[found[place - 1][2] : found[place][1]]) or found[best][1] < numeral.start:
            break
        names.add(found[place][0])
    return frozenset(names)


def _sense(folded: str, span: tuple[int, int], segment: tuple[int, int], numeral: Numeral, metrics: frozenset[str], *, has_origin: bool) -> str:
    folded = _CUT_AWAY.sub("  ", folded)
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
    if " in " in wording:
        return "share"
    if has_origin:
        return "level"
    if delta := _AFTER_DELTA.match(after):
        return (
            "less"
            if _LESS.search(delta[0])
            or re.fullmatch(r"off|cheaper|(?:loss|drop|decrease|degradation) (?:of|in)", delta[0].strip())
            or (delta[0].strip() in ("reduction", "saving", "shorter") and _LESS.search(clause))
            else "more"
        )
    if _BY.search(before):
        if own := re.search(
            r"([少减降省低短掉跌])|([快高多升增长])[了出]?[^,，\u3400-\u9fff]{0,6}(?:最高|约|近|超过)?\s{0,2}$", before[-8:].replace("至少", "  ")
        ):
            return "less" if own[1] else "more"
        return _last_way(folded[span[0] : numeral.start]) or "more"
    if _OVERHEAD.match(after) and _WITH.search(before):
        return "more"
    if _IS_A_LEVEL.match(after) and not _CHANGE_VERB.search(before):
        return "level"
    if _DELTA_VERB.search(before) or re.search(r"\b(?:savings?|reductions?|decreases?)\b[^,.;]{0,24}$", before):
        return "less"
    if _AFTER_SHARE.match(after) or _TO.search(before):
        return "level" if metrics <= {"quality"} and not _AFTER_SHARE.match(after) and not numeral.is_word else "share"
    if _LESS.search(clause):
        return "less"
    return "more" if _MORE.search(clause) else _last_way(folded[segment[0] : numeral.start])


def _last_way(before: str) -> str:
    """Which way the last verb before a figure moves."""
    less = max((match.start() for match in _LESS.finditer(before)), default=-1)
    more = max((match.start() for match in _MORE.finditer(before)), default=-1)
    return "" if less == more else "less" if less > more else "more"


def anchors(reading: Reading, start: int, end: int, *, without: Numeral | None = None) -> frozenset[str]:
    """What a figure may belong to in a part of a text: names, other numbers, processes."""
    found = {f"name:{name.key}" for name in names(reading.text[start:end], with_common=True) if name.key not in _EVERYWHERE}
    found |= {f"subject:{name}" for name in lexicon.subjects(reading.folded, start, end)}
    found |= {f"process:{name}" for name, _, _ in lexicon.processes(reading.folded, start, end) if name not in ("end-to-end", "whole-model", "block")}
    for fact in reading.facts:
        numeral = fact.numeral
        if start <= numeral.start < end and numeral != without and numeral.sort in ("count", "percent") and not numeral.is_word:
            found.add(f"number:{numeral.low:g}:{numeral.high:g}:{numeral.sort}")
    return frozenset(found)
