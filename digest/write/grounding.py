"""The judge: a wording may hold no number and no name that its story does not hold.

Every writer meets it. It answers with complaints in plain words; none means that the wording may be printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from digest.model import Claim, Mention, Story, Wording

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_NAME = re.compile(r"\b(?:[A-Z][A-Za-z]*[A-Z0-9][\w-]*|[A-Z]{2,}\w*)\b")


def complaints(wording: Wording, story: Story, claims: Sequence[Claim], mentions: Sequence[Mention], source_names: Sequence[str]) -> tuple[str, ...]:
    """What stands in the wording and not in the story: each number, each name with a capital inside."""
    told = "\n".join((wording.headline, wording.summary, wording.blurb))
    entries = [labelled.entry for labelled in story.entries]
    held = "\n".join([*(f"{entry.title}\n{entry.text}\n{entry.url}" for entry in entries), *source_names, *(mention.text for mention in mentions)])
    numbers = {_value(number) for number in _NUMBER.findall(held)} | {value for claim in claims for value in (claim.low, claim.high)}
    found = [f"the number {number} is not in the source" for number in _NUMBER.findall(told) if _value(number) not in numbers]
    spoken = held.lower()
    found += [f"the name {name} is not in the source" for name in _NAME.findall(told) if name.lower() not in spoken and name not in _OURS]
    return tuple(dict.fromkeys(found))


_OURS = frozenset("GPU MoE RL AI".split())


def _value(number: str) -> float:
    return float(number.replace(",", "").rstrip("."))
