"""Every number of a text, in digits and in words, Chinese and English, with its unit in one canonical form."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from digest.model import Bound
from digest.read import quantities

Sort = Literal["times", "percent", "amount", "count"]
# Unit as written (lower case) -> (dimension, how many of the dimension's base).
_UNITS: tuple[tuple[str, str, float], ...] = (
    (r"gpu[ -]?hours?|gpu ?时|gpu ?小时|卡时", "GPU-hours", 1),
    (r"gpu[ -]?seconds?|gpu ?秒", "GPU-hours", 1 / 3600),
    (r"gpu[ -]?minutes?|gpu ?分钟", "GPU-hours", 1 / 60),
    (r"gpu[ -]?days?|gpu ?天|卡天", "GPU-hours", 24),
    (r"milliseconds?|ms\b|毫秒", "seconds", 1e-3),
    (r"microseconds?|[µμ]s\b|微秒", "seconds", 1e-6),
    (r"seconds?|secs?\b|s\b|秒钟?", "seconds", 1),
    (r"minutes?|mins?\b|分钟", "seconds", 60),
    (r"hours?|hrs?\b|h\b|(?:个)?小时|个钟头", "seconds", 3600),
    (r"days?|天", "seconds", 86400),
    (r"weeks?|周|个星期", "seconds", 604800),
    (r"months?|个月", "months", 1),
    (r"years?|年", "years", 1),
    (r"gb/s|gib/s", "bits/s", 8e9),
    (r"mb/s|mib/s", "bits/s", 8e6),
    (r"tb/s|tib/s", "bits/s", 8e12),
    (r"gbps|gbit/s|gb ?ps", "bits/s", 1e9),
    (r"mbps|mbit/s", "bits/s", 1e6),
    (r"kb\b|kib\b", "bytes", 1e3),
    (r"mb\b|mib\b", "bytes", 1e6),
    (r"gb\b|gib\b|g 显存", "bytes", 1e9),
    (r"tb\b|tib\b", "bytes", 1e12),
    (r"petaflops|pflops", "flops", 1e15),
    (r"teraflops|tflops", "flops", 1e12),
    (r"gigaflops|gflops", "flops", 1e9),
    (r"exaflops", "flops", 1e18),
    (r"tops\b", "ops", 1e12),
    (r"兆瓦|megawatts?|mw\b", "watts", 1e6),
    (r"千瓦|kilowatts?|kw\b", "watts", 1e3),
    (r"瓦|watts?\b", "watts", 1),
    (r"us dollars|dollars|usd|美元|美金", "USD", 1),
    (r"元(?![件素组宝语])|人民币|yuan\b|rmb\b", "CNY", 1),
    (r"(?:percentage )?points?\b|个百分点", "points", 1),
    (r"比特|-?bits?\b", "bit", 1),
    (r"km/h|公里(?:每|/)小时", "m/s", 1 / 3.6),
    (r"m/s\b|met(?:er|re)s per second|米(?:每|/)秒", "m/s", 1),
    (r"km\b|kilomet\w+|公里|千米", "meters", 1e3),
    (r"-?met(?:er|re)s?\b|米", "meters", 1),
)  # fmt: skip
_UNIT = "|".join(f"(?P<u{number}>{pattern})" for number, (pattern, _, _) in enumerate(_UNITS))
_DIMENSION_OF = {  # the units of quantities.find
    "hours": ("seconds", 3600), "minutes": ("seconds", 60), "seconds": ("seconds", 1), "days": ("seconds", 86400), "weeks": ("seconds", 604800),
    "GPU-hours": ("GPU-hours", 1), "GB": ("bytes", 1e9), "GB/s": ("bits/s", 8e9), "TiB/s": ("bits/s", 8e12), "PFLOPS": ("flops", 1e15),
    "TFLOPS": ("flops", 1e12), "TFLOPS/GPU": ("flops", 1e12), "GFLOPS": ("flops", 1e9), "TOPS": ("ops", 1e12), "kW": ("watts", 1e3), "USD": ("USD", 1),
}  # fmt: skip
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "hundred": 100.0, "百": 100.0, "千": 1e3, "百万": 1e6, "千万": 1e7, "万": 1e4, "亿": 1e8, "百亿": 1e10, "千亿": 1e11, "万亿": 1e12}  # fmt: skip
_SCALE = r"(?P<scale>\s?(?:百万|千万|百亿|千亿|万亿|万|亿|千|百)|\s?-?(?:hundred thousand|hundred|thousand|million|billion|trillion)\b|[kmbt](?![a-z0-9]))"
_ONES = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}  # fmt: skip
_WORD = "|".join(sorted(_ONES, key=len, reverse=True))
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100}  # fmt: skip
_PART = "|".join(sorted(_PARTS, key=len, reverse=True))
_HAN_DIGITS = {"零": 0, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_CLASSIFIER = "个|种|项|张|卡|块|台|类|条|层|位|家|款|组|轮|天|周|小时|分钟|秒|年|月|人|篇|帧|维|路|套|处|章|字|词|名|段|份|步|大|节点|机"
_WORD_LIKE = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+]*(?:[-.'_][A-Za-z0-9+]+)*|(?<=[\u3400-\u9fff])-\d+[A-Za-z]\b|(?<![A-Za-z0-9.])\d+[A-Za-z]+\d+[A-Za-z0-9]*|(?<![A-Za-z0-9.])\d[dD](?![A-Za-z])"
)
_IDIOM = re.compile(
    r"(?<![\d.零一两二三四五六七八九十百千万亿几数上成这近过每])(?<!\d )(?P<scale>百亿|千亿|万亿|万|千|百)(?=[卡级]|参数|规模)|(?<!\d)(?<!\d[ -])\b(?:trillion|billion)(?=[ -](?:parameter|scale))"
)
_SCALE_BEHIND_MATH = re.compile(r"(?:\\,|\s)*\$(?:\\,|\s)?([KMBT])(?![A-Za-z0-9])")  # $7.1\\,$M
_HALF_A = re.compile(r"\bhalf a (?P<scale>million|billion|trillion)\b")
_FRACTION = re.compile(
    rf"\b(?P<top>{_WORD}|an?|\d)[ -](?P<bottom>{_PART})s?\b|(?<![\d/.])(?P<a>\d{{1,2}})/(?P<b>\d{{1,4}}(?:\.\d{{1,2}})?)(?![\d/]|[- ]?bit)|(?P<halved>减半|减了一半|腰斩)|\b(?P<halving>halv(?:es?|ed|ing))\b"
    rf"|(?P<zh>[一两二三四五六七八九十]{{1,3}})分之(?P<zhtop>[一两二三四五六七八九十]{{1,3}})"
    rf"|\bone (?:[a-z]+ )?in (?P<every>(?:ten |hundred |a |one )?(?:hundred|thousand|million)|{_WORD}|\d{{1,6}})\b"
)
_MIXED = re.compile(
    rf"(?P<hours>\d+|{_WORD}) ?(?:小时|hours?) ?(?:and )?(?P<minutes>\d+) ?(?:分钟?|minutes?)|\b(?P<whole>{_WORD}) and a half (?P<unit>hours?|days?|minutes?|weeks?)"
)
_NUMBER = re.compile(
    rf"(?:(?P<usd>us\$|\$)\s?)?(?P<digits>(?<![\d.])\d{{1,3}}(?:,\s?\d{{3}})+(?:\.\d+)?(?!\d)|(?<![\d.])(?<!\d,)\d+(?:\.\d+)?)"
    rf"{_SCALE}?(?P<more>多|余|\+(?=\s))?(?:[\s~]?-?(?:{_UNIT}))?"
)
_WORDED = re.compile(rf"\b(?P<word>{_WORD})(?:[ -](?P<second>{_WORD}))?\b{_SCALE}?(?:\s?-?(?:{_UNIT}))?")
_HANNED = re.compile(
    rf"(?P<han>[一两二三四五六七八九十]{{1,4}})(?P<scale>百万|千万|百亿|千亿|万亿|万|亿|千|百)?(?:(?P<rest>[一二两三四五六七八九])(?P<rest_scale>千|百))?(?P<more>多|余)?(?:(?P<sep>\s?)(?:{_UNIT})|(?P<counter>{_CLASSIFIER}))?"
)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number at ``start:end``. ``low`` and ``high`` in the base of ``unit``; a percentage is 0–100; times are multiples.

    ``slack``: the share by which a number in rough words ("五万多") may lie below what it stands for.
    """

    start: int
    end: int
    low: float
    high: float
    sort: Sort
    unit: str = ""
    bound: Bound = "exact"
    is_word: bool = False
    slack: float = 0.0


def numerals(folded: str, original: str = "") -> list[Numeral]:
    """The numbers of a text folded by ``read.folding.signs``, in order, without those inside names (A100, Llama-2-13B). The
    ``original`` tells Mb/s from MB/s."""
    taken = bytearray(len(folded))
    found: list[Numeral] = []

    def take(numeral: Numeral | None) -> None:
        if numeral is not None and not any(taken[numeral.start : numeral.end]):
            found.append(numeral)
            taken[numeral.start : numeral.end] = b"\1" * (numeral.end - numeral.start)

    for match in _WORD_LIKE.finditer(folded):
        if not re.search(r"\d", match[0]) or re.match(r"up-to-|over-|sub-", match[0]):
            continue
        taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    for match in _MIXED.finditer(folded):
        take(_mixed(match, folded))
    for match in _HALF_A.finditer(folded):
        take(Numeral(match.start(), match.end(), _SCALES[match["scale"]] / 2, _SCALES[match["scale"]] / 2, "count"))
    for match in _IDIOM.finditer(folded):  # 万卡集群, 千亿参数
        value = _SCALES[match[0]]
        take(Numeral(match.start(), match.end(), value, value, "count", is_word=True))
    for match in _FRACTION.finditer(folded):
        take(_fraction(match, folded))
    for quantity in quantities.find(folded):
        if quantity.unit in ("x", "%", "%_of"):
            take(_measured(quantity, folded))
    for pattern in (_NUMBER, _WORDED, _HANNED):
        for match in pattern.finditer(folded):
            if not any(taken[match.start() : match.end()]):
                take(_plain(match, folded, original))
    return sorted(found, key=lambda numeral: numeral.start)


_AS_A_MULTIPLE = re.compile(
    r"\s?(?:as|the|more|less|fewer|larger|smaller|higher|lower|faster|slower|cheaper|longer|shorter|that|what|over|better|speed|improve|reduc|training|throughput)"
)


def _measured(quantity: quantities.Quantity, folded: str) -> Numeral | None:
    is_worded = re.fullmatch(r"[a-z]+ times", folded[quantity.start : quantity.end]) and not re.search(
        r"\b(?:by|over|than)\s(?:\w+\s)?$", folded[: quantity.start]
    )
    if is_worded and not _AS_A_MULTIPLE.match(folded[quantity.end :]):
        return None  # it failed seven times in all
    low, high = quantity.low, quantity.high
    if (
        quantity.unit == "x"
        and re.search(r"一倍|\b1 ?倍", folded[quantity.start : quantity.end])
        and re.search(r"[快高多升增长大][出了]?(?:约|近|将近)?\s?$", folded[: quantity.start])
    ):
        low = high = 2.0  # 快一倍 is twice as fast
    if folded[quantity.end : quantity.end + 1] == "半" and quantity.unit == "x":
        low, high = low + 0.5, high + 0.5
    more = (9.9 if quantity.unit != "x" else 0.99) if re.match(r"\s?多(?!个|种|语|少)", folded[quantity.end :]) else 0.0
    slack = more / (high + more) if more else 0.0  # 两成多 is 20 to 30 %, 两倍多 is 2 to 3 times
    sort: Sort = "times" if quantity.unit == "x" else "percent"
    return Numeral(quantity.start, quantity.end, low, high, sort, bound=quantity.bound, is_word=not folded[quantity.start].isdigit(), slack=slack)


def _fraction(match: re.Match[str], folded: str) -> Numeral | None:
    part = match.groupdict()
    if part["every"]:
        value = 100 / math.prod(_SCALES.get(word) or _ONES.get(word) or float(word if word.isdigit() else 1) for word in part["every"].split())
    elif part["halved"] or part["halving"]:
        value = 50.0
    elif part["zh"]:
        value = 100 * _han(part["zhtop"]) / _han(part["zh"])
    elif part["a"]:
        if int(part["a"]) >= float(part["b"]):
            return None
        value = 100 * int(part["a"]) / float(part["b"])
    else:
        top = 1 if part["top"] in ("a", "an") else int(part["top"]) if part["top"].isdigit() else _ONES[part["top"]]
        value = 100 * top / _PARTS[part["bottom"]]
    if not 0 < value < 100:
        return None
    return Numeral(match.start(), match.end(), value, value, "percent", bound=quantities.bound_at(folded, match.start(), match.end()), is_word=True)


def _mixed(match: re.Match[str], folded: str) -> Numeral:
    part = match.groupdict()
    if part["whole"]:
        base = next(size for pattern, _, size in _UNITS if re.fullmatch(pattern, part["unit"]))
        value = (_ONES[part["whole"]] + 0.5) * base
    else:
        hours = _ONES[part["hours"]] if part["hours"] in _ONES else int(part["hours"])
        value = hours * 3600.0 + int(part["minutes"]) * 60
    return Numeral(match.start(), match.end(), value, value, "amount", "seconds", quantities.bound_at(folded, match.start(), match.end()))


def _plain(match: re.Match[str], folded: str, original: str) -> Numeral | None:
    part = match.groupdict()
    scale = (part.get("scale") or "").strip(" -")
    factor = 1e5 if scale == "hundred thousand" else _SCALES.get(scale, 1.0)
    if part.get("digits"):
        value = float(re.sub(r"[,\s]", "", part["digits"]))
    elif part.get("word"):
        value = float(_ONES[part["word"]] + (_ONES[part["second"]] if part.get("second") and _ONES[part["word"]] >= 20 else 0))
    else:
        value = _han(part["han"])
    number = next((place for place in range(len(_UNITS)) if part.get(f"u{place}")), None)
    if not scale and original and (behind := _SCALE_BEHIND_MATH.match(original, match.end())):
        factor = _SCALES[behind[1].lower()]
    dimension, size = (_UNITS[number][1], _UNITS[number][2]) if number is not None else ("", 1.0)
    if dimension == "seconds" and value >= 100 and re.search(r"\ds$", match[0]):
        dimension = ""  # four RTX 4090s
    if dimension == "bits/s" and re.search(r"[KMGT]b/s$", original[match.start() : match.end()]):
        size /= 8
    if part.get("usd"):
        dimension = "USD"
    if part.get("han") and not _is_a_han_number(match, folded, has_unit=number is not None or bool(scale)):
        return None
    if part.get("word") and value == 1 and number is None and not scale:
        return None
    value *= factor * size
    if part.get("rest"):
        value += _han(part["rest"]) * _SCALES[part["rest_scale"]] * size  # 一万两千
    bound = quantities.bound_at(folded, match.start(), match.end())
    slack = 0.0
    if part.get("more"):
        bound, slack = "at_least", 0.2
    sort: Sort = "amount" if dimension else "count"
    end = match.end()
    if dimension == "years" and 1900 <= value <= 2100:
        sort, dimension = "count", ""  # a year and no duration
    is_scaled = bool(scale) or bool(part.get("word"))
    is_worded = bool(part.get("word")) and not _AS_A_MULTIPLE.match(re.sub(r"^\s?times", "", folded[end:]))
    if sort == "count" and is_scaled and not is_worded and (times := re.match(r"\s?(?:倍|x\b|×|times\b)|[- ]?fold\b", folded[end:])):
        sort, end = "times", end + times.end()
        bound = quantities.bound_at(folded, match.start(), end)
    return Numeral(match.start(), end, value, value, sort, dimension, bound, is_word=not part.get("digits"), slack=slack)


def _is_a_han_number(match: re.Match[str], folded: str, *, has_unit: bool) -> bool:
    """Whether Chinese digits count something: 四种, 两天, 五万, but not 一种 or 第三."""
    han = match["han"]
    before = folded[match.start() - 1 : match.start()]
    if before and before in "第十几数同统单唯任某这那另每之":
        return False
    if han == "一" and not (has_unit and match["scale"]):
        return False
    return has_unit or bool(match["counter"])


def _han(written: str) -> float:
    total, digit = 0, 0
    for character in written:
        if character == "十":
            total += max(digit, 1) * 10
            digit = 0
        else:
            digit = _HAN_DIGITS[character]
    return float(total + digit)
