"""The source's own best sentences, verbatim."""

from __future__ import annotations

import re
from collections.abc import Sequence

from digest.model import Claim, Entry
from digest.text import sentences, shorten

_PRESENTS = re.compile(
    r"\bwe (?:propose|present|introduce|develop|release|design|describe|show)|\bthis (?:paper|work|post) (?:proposes|presents|introduces)|提出|推出|发布|开源|介绍",
    re.IGNORECASE,
)
_RESULT = re.compile(r"\b(?:experiments?|results?|evaluations?|achiev\w+|reduc\w+|speed-?up|faster|throughput)\b|实验|结果|提升|降低|加速", re.IGNORECASE)
_ENDED = re.compile(r"[.!?。！？…:：][\"'”’)\]）】]*$")
SENTENCE_LIMIT = 360


def best(entry: Entry, claims: Sequence[Claim], limit: int) -> tuple[str, ...]:
    """At most ``limit`` sentences in the order of the text: what it presents, then what it claims."""
    candidates = sentences(entry.text[:6000])
    if not candidates:
        return ()
    ranked = sorted(range(len(candidates)), key=lambda place: (-_worth(candidates[place], place, claims), place))
    chosen = sorted(ranked[:limit])
    return tuple(shorten(_whole(candidates[place]), SENTENCE_LIMIT, entry.language) for place in chosen)


def _whole(sentence: str) -> str:
    """The sentence, with … where the source was cut off before its end."""
    return sentence if _ENDED.search(sentence) else sentence.rstrip(" ,;，；、") + "…"


def _worth(sentence: str, place: int, claims: Sequence[Claim]) -> float:
    worth = 3.0 if _PRESENTS.search(sentence) else 0.0
    worth += min(4.0, 2.5 * sum(claim.quote in sentence for claim in claims))
    worth += 1.0 if _RESULT.search(sentence) else 0.0
    worth += 0.5 if place == 0 else 0.0
    worth -= 0.0 if _ENDED.search(sentence) else 1.5
    if not 30 <= len(sentence) * (3 if sentence > "\u3400" else 1) <= SENTENCE_LIMIT:
        worth -= 1.5
    return worth
