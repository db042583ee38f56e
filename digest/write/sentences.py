"""The source's own best sentences: verbatim, or retold from outside ("the authors propose")."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from digest.judge.orders import is_order
from digest.model import Claim, Entry
from digest.text import sentences, shorten

_PRESENTS = re.compile(
    r"\bwe (?:propose|present|introduce|develop|release|design|describe|show)|\bthis (?:paper|work|post) (?:proposes|presents|introduces)|提出|推出|发布|开源|介绍",
    re.IGNORECASE,
)
_RESULT = re.compile(r"\b(?:experiments?|results?|evaluations?|achiev\w+|reduc\w+|speed-?up|faster|throughput)\b|实验|结果|提升|降低|加速", re.IGNORECASE)
_BACKGROUND = re.compile(
    r"\b(?:have|has) (?:become|emerged|been|shown|witnessed|achieved|gained)|\bis (?:crucial|essential|important|widely)|remains? (?:a|an|challenging)|\b(?:often|typically|usually|generally)\b|近年来|一直|往往"
)
_ENDED = re.compile(r"[.!?。！？…:：][\"'”’)\]）】]*$")
_OPENING = re.compile(
    r"^(?:(?:In this (?:paper|work|study|report|post|article|technical report)|To (?:address|bridge|tackle|overcome|mitigate|solve|fill|this end|verify|achieve|further)[^,]{0,90}|However|Moreover|Furthermore|In addition|Additionally"
    r"|Finally|Specifically|Notably|Crucially|Empirically|Concretely|Besides|Overall|Thus|Therefore|Hence|Accordingly|As a result|Consequently|In particular|Experimentally|Here|Remarkably|Importantly|Particularly|First|Second|Third|Lastly),\s+)+"
)
_PRESENTED = re.compile(
    r"^The authors (?:\w+ly )?(?:propose|present|introduce|develop|release|describe|design|build) (?P<name>[A-Z][\w.+-]*(?: [A-Z][\w.+-]*){0,2}(?: \([^)]{2,60}\))?), (?P<what>an? .+)$"
)
_PERSONS = (
    ("We", "The authors"),
    ("we", "the authors"),
    ("Our", "Their"),
    ("our", "their"),
    ("us", "them"),
    ("Ours", "Theirs"),
    ("ours", "theirs"),
    ("I", "The author"),
)
_SIGNS = (
    (re.compile(r"(?<=\d)\s?(?:\$?\\times\$?|times(?![a-z]))"), "×"),
    (re.compile(r"\\(?:textit|textbf|emph|text|mathrm)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\$([\w.,×%+<>= -]{1,30})\$"), r"\1"),
    (re.compile(r"(?<=\w)~(?=\w)"), " "),
    (re.compile(r"``|''"), '"'),
)
SENTENCE_LIMIT = 360
_LONG = 240
_WORTH_A_PLACE = 1.0


def best(entry: Entry, claims: Sequence[Claim], limit: int, *, only: Callable[[str], bool] = bool) -> tuple[str, ...]:
    """At most ``limit`` sentences in the order of the text: what it presents, then what it claims; of those that ``only`` admits."""
    candidates = [sentence for sentence in sentences(entry.text[:6000]) if only(sentence) and not is_order(sentence)]
    if not candidates:
        return ()
    ranked = sorted(range(len(candidates)), key=lambda place: (-_worth(candidates[place], place, claims), place))
    chosen = sorted(ranked[: min(2, limit)] + [place for place in ranked[2:limit] if _worth(candidates[place], place, claims) >= _WORTH_A_PLACE])
    return tuple(shorten(_whole(candidates[place]), SENTENCE_LIMIT, entry.language) for place in chosen)


def retold(entry: Entry, claims: Sequence[Claim], limit: int, *, is_paper: bool, turn: int, only: Callable[[str], bool]) -> tuple[str, ...]:
    """The best sentences as somebody else says them: "we" becomes "the authors", connecting openings fall away. ``turn`` varies
    how the first presentation is put."""
    chosen = best(entry, claims, limit, only=only)
    if entry.language == "zh":
        people = "作者" if is_paper else "团队"
        return tuple(sentence.replace("我们的", "其").replace("我们", people) for sentence in chosen)
    return tuple(_from_outside(sentence, turn=turn) for sentence in chosen)


def tidy(text: str) -> str:
    """LaTeX signs of an abstract as plain ones: 2.5times and $2.5\\times$ are 2.5×."""
    for pattern, plain in _SIGNS:
        text = pattern.sub(plain, text)
    return text


def _from_outside(sentence: str, *, turn: int) -> str:
    told = _OPENING.sub("", tidy(sentence))
    if len(told) > _LONG and (list_ := re.search(r":\s?(?:\(?1\)|\(i\)|\(a\)|i\))", told)):
        told = told[: list_.start()].rstrip() + "."
    for own, other in _PERSONS:
        told = re.sub(rf"(?<![\w'’-]){own}(?![\w'’-])", other, told)
    first, name, rest = told.partition("he authors ")
    told = first + name + rest.replace("the authors ", "they ")  # said once is enough in a sentence
    told = told[:1].upper() + told[1:]
    if turn % 2 and (match := _PRESENTED.match(told)):
        told = f"{match['name']} is {match['what']}"
    return told


def _whole(sentence: str) -> str:
    """The sentence, with … where the source was cut off before its end."""
    return sentence if _ENDED.search(sentence) else sentence.rstrip(" ,;，；、") + "…"


def _worth(sentence: str, place: int, claims: Sequence[Claim]) -> float:
    worth = 3.0 if _PRESENTS.search(sentence) else 0.0
    worth += min(4.0, 2.5 * sum(claim.quote in sentence for claim in claims))
    worth += 1.0 if _RESULT.search(sentence) else 0.0
    worth += 0.5 if place == 0 and not _BACKGROUND.search(sentence) else 0.0
    worth -= 1.0 if _BACKGROUND.search(sentence) else 0.0
    worth -= 0.0 if _ENDED.search(sentence) else 1.5
    if not 30 <= len(sentence) * (3 if sentence > "\u3400" else 1) <= SENTENCE_LIMIT:
        worth -= 2.0
    return worth
