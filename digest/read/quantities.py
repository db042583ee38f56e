"""Figures in a sentence: multiples, percentages, shares, durations, rates; in digits and in words, English and Chinese.

Everything works on text from ``folding.signs``: lower case, LaTeX signs resolved, places unchanged.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from typing import Literal

Bound = Literal["up_to", "at_least", "about", "average", "exact"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure at ``start:end``; ``before`` is the value it came from ("from 1.5 hours"), as written."""

    start: int
    end: int
    low: float
    high: float
    unit: str
    before: str | None = None
    bound: Bound = "exact"


_N = r"(?:(?<![\w.])\d{1,3}(?:,\s?\d{3})+(?:\.\d+)?(?!\d)|(?<![\w.])(?<![a-wyz]-)\d{1,12}(?:\.\d{1,6})?|(?<=[\u3400-\u9fff])\d{1,12}(?:\.\d{1,6})?)"
_TO = r"\s{0,10}(?:-{1,3}|–|—|~|to|and|到|至|或)\s{0,10}(?:up to\s)?"
_TIMES = r"(?:\s{0,8}(?:x|×|times|fold|倍)|-fold)(?![a-z0-9_\u00b2\u00b3\u00b9]|\s{0,6}(?:\d|[a-z]{1,3}\d))"
_PERCENT = r"\s{0,2}\+?(?:%|percent\b|per cent\b)"
_UNITS = {
    "hours": r"gpu[ -]hours?|hours?|hrs?|h\b|小时|个小时",
    "minutes": r"minutes?|mins?|分钟",
    "seconds": r"seconds?|secs?|s\b|秒",
    "days": r"days?|天",
    "weeks": r"weeks?|周",
    "GB": r"gb(?!/s)|gib",
    "GB/s": r"gb/s",
    "TiB/s": r"tib/s",
    "PFLOPS": r"petaflops|pflops",
    "TFLOPS/GPU": r"tflops/gpu|tflops per gpu",
    "GFLOPS": r"gflops",
    "TFLOPS": r"tflops|teraflops",
    "TOPS": r"tops\b",
    "tokens/s": r"tokens?(?:/s|/sec| per second)|个词",
    "steps": r"(?:training |sampling |inference |denoising |optimization )?steps|步",
    "BLEU": r"bleu(?: points?)?",
    "FID": r"fid\b",
    "dB": r"db\b|psnr",
    "mIoU": r"miou",
    "points": r"(?:percentage )?points?|个百分点",
    "USD": r"usd|us dollars|dollars|美元",
    "kW": r"kw\b|千瓦",
    "km/h": r"km/h",
}
_UNIT = "|".join(f"(?P<u{number}>{pattern})" for number, pattern in enumerate(_UNITS.values()))
_UNIT_NAMES = tuple(_UNITS)
_SMALL = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "twenty": 20, "a": 1, "an": 1,
}  # fmt: skip
_HAN_DIGITS = {"零": 0, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1000}
_SMALL_EN = "one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty"
_HAN = "[一两二三四五六七八九十百千零]{1,7}"
_SMALL_ZH = f"(?<![一两二三四五六七八九十百千零第]){_HAN}"
_PATTERNS = (
    ("range", rf"(?P<low>{_N})(?:{_TIMES}|{_PERCENT})?{_TO}(?P<high>{_N})(?:(?P<x>{_TIMES})|(?P<p>{_PERCENT}))"),
    ("worded-range", rf"\b(?P<word>{_SMALL_EN}) to (?P<upper>{_SMALL_EN})[ -]?(?:fold|times)\b"),
    ("slash", rf"(?P<low>{_N})\s?%\s?/\s?(?P<high>{_N})\s?%"),
    ("times", rf"(?P<low>{_N})(?P<x>{_TIMES})"),
    ("percent", rf"(?P<low>{_N})(?P<p>{_PERCENT})"),
    ("fold", rf"\b(?P<word>{_SMALL_EN})[ -]?(?:fold|times)\b"),
    ("orders", rf"\b(?P<word>an?|{_SMALL_EN}|\d)\s+orders?[ -]of[ -]magnitude|(?P<han>{_SMALL_ZH}|\d)\s?个数量级"),
    ("double", r"\b(?P<verb>doubl(?:es|ed|ing|e the)|tripl(?:es|ed|ing|e the)|quadrupl(?:es|ed|ing|e the)|halv(?:es?|ed|ing)(?= (?:the|its|our|their|both|total|training|memory|compute|gpu|cost))|twice)\b|(?P<fan>翻倍|翻番|翻了?一番|翻两番|翻了?两番)"),
    ("share", r"\b(?P<share>one[ -]half|half(?! a (?:billion|million))|one[ -]third|a third|two[ -]thirds|one[ -]quarter|a quarter|one[ -]fifth|one[ -]tenth|a tenth)\b"),
    ("cheng", rf"(?P<han>{_SMALL_ZH})成(?P<half>半|[一二三四五六七八九](?![一二三四五六七八九十百千万个]))?(?!本|功|为|果|员|立|绩|型|像|分)|(?P<denominator>{_SMALL_ZH})分之(?P<numerator>{_HAN})|(?P<yiban>一半)"),
    ("han-range", rf"(?P<han>{_SMALL_ZH})[到至](?P<upper>{_HAN})倍"),
    ("beishu", rf"(?P<han>{_SMALL_ZH})倍"),
    ("unit", rf"(?P<low>{_N}|\b(?:{_SMALL_EN})\b)\s?(?P<wan>万|亿|k|thousand)?\s{{0,2}}-?(?:{_UNIT})(?![a-z])"),
    ("score", rf"\b(?P<measure>bleu|fid|psnr|miou)(?: score)? of (?P<low>{_N})(?!\s?%)"),
    ("money", r"(?:us)?\$\s?(?P<low>\d[\d,]*(?:\.\d+)?)(?P<wan>k|m)?\b"),
)  # fmt: skip
_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in _PATTERNS)
_BARE = re.compile(
    rf"\b(?:speed-?ups?|speed ups?|acceleration|ratio|factor)\s(?:factor\s)?(?:of|up to|by)\s(?:(?:up to|about|over|nearly|approximately|around)\s)?(?P<low>{_N})(?![\d.]*\s{{0,2}}(?:%|×|x\b|times|fold|倍|months|years))"
)
_SHARES = {
    "half": 50.0, "one half": 50.0, "one third": 33.3, "a third": 33.3, "two thirds": 66.7, "one quarter": 25.0, "a quarter": 25.0,
    "one fifth": 20.0, "one tenth": 10.0, "a tenth": 10.0,
}  # fmt: skip
_FROM = re.compile(
    rf"(?:\bfrom\s|从\s?)(?:about |around |approximately |约\s?|大约\s?)?(?P<value>(?:us\$|\$)?\s?{_N}[^,;，；。()]{{0,24}}?)\s?(?:down |up )?(?:\bto\b|(?:提高|提升|增加|上升|升|增|压缩|缩减|缩短|压|减少|降低|下降|降)?(?:到|至|为))\s?(?:just |only |about |under |around )?$"
)
_FROM_TO = re.compile(r"(?:increas|improv|rais|ris|rose|grow|jump|climb|boost|reduc|lower|decreas|drop|cut|fall|fell|go)\w*[^,;]{0,60}\bfrom\s$|从\s?$")
_VERSUS = re.compile(rf"^\s?(?:vs\.?|versus|instead of|down from|up from|compared (?:to|with))\s(?P<value>{_N}\s?(?:%|[a-z/]{{1,6}})?)")
_BEFORE_BOUNDS: tuple[tuple[Bound, re.Pattern[str]], ...] = (
    ("average", re.compile(r"(?:\baverage(?:d|s)?\b(?! (?:while|and|with)\b)|\bmean\b|平均)[^,;，；]{0,44}$")),
    ("up_to", re.compile(r"(?:\bup[ -]to\b|\bas (?:much|high|many) as|\bmaxim\w+(?: \w+)?(?: of)?|\bat most|\bno more than|\bnever more than|\bnot more than|\bno longer than|\bunder|\bwithin|\bless than|\bbelow|\bupper bound of|(?:最高|最多)[能可]?比[^,;，；]{2,28}?|最高(?!的)|最多(?!的)|至多|峰值(?:加速|提速)|最大(?=$|[\s可达提加降减节省压缩为约到])|最快(?=[提达可约]|\s|$)|可达|高达|不到|不足|不超过|(?:不到|不足)[^,;，；。]{0,28}的|(?:最高|最多)(?:是|为|可达)[^,;，；、]{2,34}的|\bpeak(?: rate)? of|\bpeak (?:speed-?ups?|gains?|performance|throughput)(?: of)?)(?: a| an)?[^,;，；\d]{0,12}$")),
    ("at_least", re.compile(r"(?:\bover(?: a)?|\bupwards of|\bnorth of|(?<!\bno )(?<!\bnot )(?<!\bnever )\bmore than(?: a)?|\bgreater than(?: a)?|\bat least(?: a)?|\bexceed(?:s|ing)?|\babove|\bbeyond|[>≥]|超过?|至少(?:需要?|要)?|逾|不低于)\s{0,2}$")),
    ("about", re.compile(r"(?:\babout|\baround|\bapproximately|\bnearly|\broughly|\balmost|\bclose to|\bca\.|[~≈]|(?:约|近|大约|接近|将近|大概)(?:为|[快慢少多高低省降提减增占][了到]?)?)(?: an?)?\s{0,2}$")),
)  # fmt: skip
_AFTER_BOUNDS: tuple[tuple[Bound, re.Pattern[str]], ...] = (
    ("at_least", re.compile(r"^(?:\s?(?:以上|多(?!个|种|语)|\+)|[^,;.，；。]{0,24}\bor more\b)")),
    ("up_to", re.compile(r"^\s?(?:以内|以下|之内|内(?!存)|at most|or (?:less|fewer))")),
    ("about", re.compile(r"^\s?(?:左右|上下|or so)")),
    ("average", re.compile(r"^[^,;，；]{0,20}\bon average\b")),
)


def find(sentence: str) -> list[Quantity]:
    """The figures of a folded sentence, in order, none overlapping another."""
    taken = bytearray(len(sentence))
    found: list[Quantity] = []
    for name, pattern in _COMPILED:
        for match in pattern.finditer(sentence):
            if any(taken[match.start() : match.end()]):
                continue
            for quantity in _read(name, match, sentence):
                found.append(quantity)
                taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    for match in _BARE.finditer(sentence):
        start = match.start("low")
        if not any(taken[start : match.end("low")]):
            value = _number(match["low"])
            found.append(_bounded(Quantity(start, match.end("low"), value, value, "x"), sentence))
    return _without_origins(sorted(found, key=lambda quantity: (quantity.start, quantity.end)))


def _without_origins(found: list[Quantity]) -> list[Quantity]:
    """Without the figures that another one came from: of "from 2.4 to 1.6 seconds" the second stays."""
    origins = set()
    for earlier, later in itertools.pairwise(found):
        if later.before and later.start - earlier.end < 24:
            origins.add(earlier)
    for quantity, later in itertools.pairwise(found):
        if (
            quantity.before
            and quantity.before[:1].isdigit()
            and later.start - quantity.end < 16
            and later.before is None
            and later.unit == quantity.unit
            and _number(quantity.before) == later.low
        ):
            origins.add(later)
    return [quantity for quantity in found if quantity not in origins]


def _read(name: str, match: re.Match[str], sentence: str) -> list[Quantity]:
    part = match.groupdict()
    start, end = match.span()
    if name == "slash":
        values = [(_number(part["low"]), match.start("low"), match.end("low") + 1), (_number(part["high"]), match.start("high"), end)]
        return [_bounded(Quantity(begin, stop, value, value, "%"), sentence) for value, begin, stop in values]
    if name in ("range", "times", "percent"):
        low = _number(part["low"])
        high = _number(part.get("high") or part["low"])
        if name == "range" and (low >= high or _is_enumeration(match, sentence)):
            return _split_range(match, sentence)
        if (
            name == "range"
            and _FROM_TO.search(sentence[: match.start()])
            and re.fullmatch(r"[^-–—~]*(?:to|到|至)\s*", sentence[match.end("low") : match.start("high")])
        ):
            before = sentence[match.start("low") : match.start("high")].removesuffix("to ").strip(" 到至")
            return [_bounded(Quantity(match.start("high"), end, high, high, "x" if part.get("x") else "%", before), sentence)]
        return [_bounded(Quantity(start, end, low, high, "x" if part.get("x") else "%"), sentence)]
    if name == "worded-range" and _SMALL[part["word"]] < _SMALL[part["upper"]]:
        return [_bounded(Quantity(start, end, _SMALL[part["word"]], _SMALL[part["upper"]], "x"), sentence)]
    if name == "han-range" and _han(part["han"]) < _han(part["upper"]):
        return [_bounded(Quantity(start, end, _han(part["han"]), _han(part["upper"]), "x"), sentence)]
    if name in ("unit", "money", "score"):
        return _with_unit(name, match, sentence)
    low, unit = _worded(name, part)
    return [_bounded(Quantity(start, end, low, low, unit), sentence)] if low > 0 else []


def _is_enumeration(match: re.Match[str], sentence: str) -> bool:
    """ "1.5x and 2x" are two figures, unless "between" stands before them."""
    joint = sentence[match.end("low") : match.start("high")]
    return bool(re.search(r"\band\b|或", joint)) and not re.search(r"\bbetween\s[^,;]{0,12}$", sentence[: match.start()])


def _split_range(match: re.Match[str], sentence: str) -> list[Quantity]:
    low, high = _number(match["low"]), _number(match["high"])
    unit = "x" if match["x"] else "%"
    joint = sentence[match.end("low") : match.start("high")]
    if not re.search(_TIMES + "|" + _PERCENT + r"|\band\b|x", joint):
        return []
    first_end = match.end("low") + len(joint) - len(joint.lstrip())
    sign = re.match(rf"{_TIMES}|{_PERCENT}", joint)
    first_end = match.end("low") + (sign.end() if sign else 0)
    return [
        _bounded(Quantity(match.start("low"), first_end, low, low, unit), sentence),
        _bounded(
            Quantity(
                match.start("high"), match.end(), high, high, unit, before=sentence[match.start("low") : first_end] if "to" in joint or "到" in joint else None
            ),
            sentence,
        ),
    ]


def _with_unit(name: str, match: re.Match[str], sentence: str) -> list[Quantity]:
    part = match.groupdict()
    written = part["low"]
    value = float(_SMALL[written]) if written in _SMALL else _number(written)
    value *= {"万": 1e4, "亿": 1e8, "k": 1e3, "thousand": 1e3, "m": 1e6, None: 1}[part.get("wan")]
    unit = {"bleu": "BLEU", "fid": "FID", "psnr": "dB", "miou": "mIoU"}.get(part.get("measure") or "", "USD")
    if name == "unit":
        unit = next(_UNIT_NAMES[number] for number in range(len(_UNIT_NAMES)) if part[f"u{number}"])
        if unit == "hours" and "gpu" in match[0]:
            unit = "GPU-hours"
    return [_bounded(Quantity(match.start(), match.end(), value, value, unit), sentence)]


def _worded(name: str, part: dict[str, str | None]) -> tuple[float, str]:
    if name in ("fold", "worded-range"):
        return float(_SMALL[part["word"] or ""]), "x"
    if name == "orders":
        word = part.get("word") or part.get("han") or ""
        power = int(word) if word.isdigit() else _SMALL.get(word) or int(_han(word))
        return float(10**power), "x"
    if name == "double":
        verb = part.get("verb") or ""
        if verb.startswith("halv"):
            return 50.0, "%"
        return {"t": 3.0 if verb.startswith("tripl") else 2.0, "q": 4.0, "d": 2.0}.get(verb[:1], 4.0 if "两" in (part.get("fan") or "") else 2.0), "x"
    if name == "share":
        return _SHARES[(part["share"] or "").replace("-", " ")], "%"
    if name in ("beishu", "han-range"):
        return _han(part["han"] or ""), "x"
    if part.get("yiban"):
        return 50.0, "%"
    if part.get("denominator"):
        whole = _han(part["denominator"] or "")
        return (round(100 * _han(part["numerator"] or "") / whole, 1) if whole else 0.0), "%"
    rest = part.get("half") or ""
    return 10 * _han(part["han"] or "") + (5 if rest == "半" else _HAN_DIGITS.get(rest, 0)), "%"


def _han(numeral: str) -> float:
    """A numeral below ten thousand in Chinese: 三, 十二, 二十, 一百二十."""
    total, digit = 0, 0
    for character in numeral:
        if character in _HAN_PLACES:
            total += max(digit, 1) * _HAN_PLACES[character]
            digit = 0
        else:
            digit = _HAN_DIGITS[character]
    return float(total + digit)


def _bounded(quantity: Quantity, sentence: str) -> Quantity:
    if re.search(r"\+\s?%?$", sentence[quantity.start : quantity.end]):  # "10+%"
        return replace(quantity, bound="at_least")
    before = sentence[max(0, quantity.start - 70) : quantity.start]
    came_from = _FROM.search(before) or _VERSUS.match(sentence[quantity.end : quantity.end + 40])
    origin = came_from["value"].strip() if came_from else quantity.before
    return replace(quantity, before=origin, bound=bound_at(sentence, quantity.start, quantity.end))


def bound_at(sentence: str, start: int, end: int) -> Bound:
    """What the words before and after a figure at ``start:end`` say of its bound; those before it win."""
    before, after = sentence[max(0, start - 70) : start], sentence[end : end + 40]
    bound: Bound = "exact"
    for name, pattern in _AFTER_BOUNDS:
        if pattern.match(after):
            bound = name
    for name, pattern in _BEFORE_BOUNDS:
        if pattern.search(before):
            return name
    return bound


def _number(written: str) -> float:
    return float(re.sub(r"[^\d.]", "", written))
