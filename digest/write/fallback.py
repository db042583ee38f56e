"""One writer, and another for what the first could not do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from digest.model import Assignment, Draft, Spending
from digest.ports import Writer


class Fallback:
    """Asks ``first``; where a language is missing from its draft, ``second`` writes the whole article, so that its languages agree."""

    def __init__(self, first: Writer, second: Writer) -> None:
        self._first = first
        self._second = second
        self.name = f"{first.name}, else {second.name}"

    async def write(self, assignments: Sequence[Assignment]) -> tuple[list[Draft], Spending]:
        drafts, spent = await self._first.write(assignments)
        missing = [place for place, assignment in enumerate(assignments) if len(drafts[place].wordings) < len(assignment.languages)]
        others, also_spent = await self._second.write([assignments[place] for place in missing])
        for place, other in zip(missing, others, strict=True):
            drafts[place] = replace(other, refusals=(*drafts[place].refusals, *other.refusals))
        return drafts, replace(spent, money=spent.money + also_spent.money)
