"""Why an entry is in or out: its words with every hit marked, and what each rule gave."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

from digest.model import Hit, Label


def marked(words: str, field: Literal["title", "text"], label: Label | None) -> Iterator[tuple[str, float]]:
    """The words in pieces, each with the points of the hits on it (0 for none); joined they are the words again."""
    hits = [hit for hit in label.evidence if hit.field == field] if label else []
    borders = sorted({0, len(words), *(hit.start for hit in hits), *(hit.end for hit in hits)})
    for start, end in itertools.pairwise(borders):
        yield words[start:end], sum(hit.points for hit in hits if hit.start <= start and end <= hit.end)


def strongest_first(evidence: Sequence[Hit]) -> list[Hit]:
    """The hits by what they gave, ties in the order of the rules."""
    return sorted(evidence, key=lambda hit: -abs(hit.points))
