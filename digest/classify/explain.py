"""Why an entry is in or out: its words with every hit marked, and what each rule gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from digest.model import Hit


def marked(words: str, marks: Sequence[tuple[int, int, float]]) -> Iterator[tuple[str, float]]:
    """The words in pieces, each with the points of the strongest marks on it (0 for none); joined they are the words again."""
    borders = sorted({0, len(words), *(start for start, _, _ in marks), *(end for _, end, _ in marks)})
    pieces = ((words[start:end], sum(points for left, right, points in marks if left <= start and end <= right)) for start, end in pairwise(borders))
    for _, group in groupby(pieces, key=lambda piece: (piece[1] > 0) - (piece[1] < 0)):
        together = list(group)
        yield "".join(piece for piece, _ in together), max((points for _, points in together), key=abs)


def strongest_first(evidence: Sequence[Hit]) -> list[Hit]:
    """The hits by what they gave, ties in the order of the rules."""
    return sorted(evidence, key=lambda hit: -abs(hit.points))
