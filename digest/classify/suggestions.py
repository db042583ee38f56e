"""Words that separate what was kept from what was dropped.

Log-odds of a word in kept against dropped texts, shrunk by a prior from both together and divided by its standard
deviation (Monroe, Colaresi and Quinn, "Fightin' Words", Political Analysis 16, 2008).
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from digest.read.folding import fold

_WORD = re.compile(r"[a-z][a-z0-9]{2,30}|[\u3400-\u9fff]{2}")
_COMMON = frozenset(
    "the and for that with this from are our can which has have its into than more their these using such also but not via between both while".split()
)
PRIOR = 500.0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A word or phrase: how many kept and dropped texts hold it, and how many deviations apart they are."""

    words: str
    kept: int
    dropped: int
    strength: float


def suggest(kept: Sequence[str], dropped: Sequence[str], limit: int) -> list[Suggestion]:
    """The words that speak most for being kept, and then those that speak most against, each at most ``limit``.

    Only words in at least three texts count. Nothing when either side is empty.
    """
    ours, theirs = _documents(kept), _documents(dropped)
    if not ours or not theirs:
        return []
    total = ours + theirs
    sizes = ours.total(), theirs.total()
    found = []
    for word, number in total.items():
        if number >= 3:
            counts = ours[word], theirs[word]
            found.append(Suggestion(word, *counts, _strength(counts, sizes, number * PRIOR / sum(sizes))))
    ranked = sorted(found, key=lambda suggestion: (-suggestion.strength, suggestion.words))
    pro = [suggestion for suggestion in ranked[:limit] if suggestion.strength > 0]
    contra = [suggestion for suggestion in ranked[::-1][:limit] if suggestion.strength < 0]
    return pro + contra


def _strength(counts: tuple[int, int], sizes: tuple[int, int], prior: float) -> float:
    ours, theirs = (math.log((count + prior) / (size + PRIOR - count - prior)) for count, size in zip(counts, sizes, strict=True))
    return (ours - theirs) / math.sqrt(sum(1 / (count + prior) for count in counts))


def _documents(texts: Iterable[str]) -> Counter[str]:
    return Counter(term for text in texts for term in set(_terms(text)))


def _terms(text: str) -> Iterator[str]:
    words = [word for word in _WORD.findall(fold(text)) if word not in _COMMON]
    yield from words
    yield from (f"{one} {other}" for one, other in itertools.pairwise(words) if one.isascii() and other.isascii())
