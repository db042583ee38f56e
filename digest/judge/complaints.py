"""What the judge says against a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from digest.phrase import Phrase

if TYPE_CHECKING:
    from digest.judge.facts import Fact, Reading


@dataclass(frozen=True, slots=True)
class Complaint:
    """The kind (number, bound, metric, baseline, name, unit, negation, superlative, scope, range, language), the words in question, and why."""

    kind: str
    words: str
    why: Phrase


def words_of(reading: Reading, fact: Fact) -> str:
    """A figure as the text has it."""
    return reading.text[fact.numeral.start : fact.numeral.end].strip()
