"""What the judge says against a sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Complaint:
    """The kind (number, bound, metric, baseline, name, unit, negation, superlative, scope, range, language), the words in question, and why."""

    kind: str
    words: str
    why: str
