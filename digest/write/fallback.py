"""One writer, and another for what the first could not do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from digest.model import Assignment, Draft, Spending
from digest.ports import Writer
from digest.write.grounding import differing_figures


class Fallback:
    """Asks ``first``; where a language is missing from its draft, ``second`` writes it, and the whole article where the languages would
    not carry the same figures."""

    def __init__(self, first: Writer, second: Writer) -> None:
        self._first = first
        self._second = second
        self.name = f"{first.name}, else {second.name}"

    async def write(self, assignments: Sequence[Assignment]) -> tuple[list[Draft], Spending]:
        drafts, spent = await self._first.write(assignments)
        missing = [place for place, assignment in enumerate(assignments) if len(drafts[place].wordings) < len(assignment.languages)]
        others, also_spent = await self._second.write([assignments[place] for place in missing])
        for place, other in zip(missing, others, strict=True):
            drafts[place] = _joined(drafts[place], other)
        return drafts, replace(spent, money=spent.money + also_spent.money)


def _joined(draft: Draft, other: Draft) -> Draft:
    """The draft with the missing languages from the other, or the other alone where the figures would differ."""
    refusals = (*draft.refusals, *other.refusals)
    own = {wording.language: wording for wording in draft.wordings}
    wordings = tuple(own.get(wording.language, wording) for wording in other.wordings)
    if not own or differing_figures(wordings):
        return replace(other, refusals=refusals)
    return Draft(wordings=wordings, written_by=f"{draft.written_by}, {other.written_by}", refusals=refusals)
