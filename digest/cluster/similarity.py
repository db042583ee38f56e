"""Near-equal titles, without comparing every pair: candidates share one of their rarest words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz

NEARLY_EQUAL = 93.0
_WORD = re.compile(r"[^\W\u3400-\u9fff]+|[\u3400-\u9fff]{2}")
_FEW_WORDS = 4
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def near_pairs(titles: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of places (smaller first) whose titles say the same; short titles and other numbers never do."""
    words = [_WORD.findall(title.lower()) for title in titles]
    frequency = Counter(word for title in words for word in set(title))
    places_by_word: defaultdict[str, list[int]] = defaultdict(list)
    for place, title in enumerate(words):
        if len(title) < _FEW_WORDS:
            continue
        rarest = sorted(set(title), key=lambda word: (frequency[word], word))[:3]
        for other in sorted({other for word in rarest for other in places_by_word[word][-50:]}):
            if are_nearly_equal(titles[other], titles[place]):
                yield other, place
        for word in rarest:
            places_by_word[word].append(place)


def are_nearly_equal(one: str, other: str) -> bool:
    """Whether two titles differ at most in case, punctuation or a letter, with the same numbers in both."""
    one, other = one.lower(), other.lower()
    if _NUMBER.findall(one) != _NUMBER.findall(other):
        return False
    return len(_WORD.findall(one)) >= _FEW_WORDS and fuzz.ratio(one, other, score_cutoff=NEARLY_EQUAL) > 0
