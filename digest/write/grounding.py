"""Every wording, whoever wrote it, before the judge: sentence by sentence against its story, and the languages against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from digest.judge.facts import read
from digest.judge.orders import without_orders
from digest.judge.verdicts import judge
from digest.model import Assignment, Language, Refusal, Wording
from digest.phrase import Phrase
from digest.text import sentences

TEXT_LIMIT = 20_000
_MONEY = frozenset(("USD", "CNY", "GPU-hours"))


def held(assignment: Assignment) -> str:
    """All that a wording may rest on: titles and texts of the story's entries, and the names of sources, authors and things."""
    entries = [labelled.entry for labelled in assignment.pick.story.entries]
    names = " ".join([*(entry.source_name for entry in entries), *(mention.text for mention in assignment.mentions), *entries[0].authors[:20]])
    return "\n".join([*(without_orders(f"{entry.title}\n{entry.text[:TEXT_LIMIT]}") for entry in entries), names])


def refusals(wording: Wording, assignment: Assignment, writer: str) -> tuple[Refusal, ...]:
    """What the judge says against each sentence of the wording; nothing when it may be printed."""
    source = held(assignment)
    return tuple(
        refusal(writer, wording.language, complaint.kind, sentence, complaint.why) for sentence in told(wording) for complaint in judge(sentence, source)
    )


def refusal(writer: str, language: Language, kind: str, words: str, why: Phrase) -> Refusal:
    """A refusal that says why in any language, also when it was kept."""
    return Refusal(writer=writer, language=language, kind=kind, words=words, why=str(why), pattern=why.pattern, values=why.values)


def told(wording: Wording) -> Iterator[str]:
    """The sentences of a wording: headline, summary, blurb."""
    for part in (wording.headline, wording.summary, wording.blurb):
        yield from sentences(part)


def settled(wording: Wording, assignment: Assignment, found: Iterable[Refusal]) -> Wording:
    """The wording without what was refused: the source's own title for the headline, the summary without those sentences, no blurb."""
    refused = {refusal.words for refusal in found}
    if not refused:
        return wording
    kept = [sentence for sentence in sentences(wording.summary) if sentence not in refused]
    is_headline_kept = not refused.intersection(sentences(wording.headline))
    is_blurb_kept = not refused.intersection(sentences(wording.blurb))
    return replace(
        wording,
        headline=wording.headline if is_headline_kept else assignment.pick.story.lead.entry.title,
        summary=("" if wording.language == "zh" else " ").join(kept),
        blurb=wording.blurb if is_blurb_kept else "",
    )


def differing_figures(wordings: Sequence[Wording]) -> tuple[Phrase, ...]:
    """The multiples, percentages and costs that one language has and another has not, in words; nothing when all agree."""
    by_language = {wording.language: figures("\n".join(told(wording))) for wording in wordings}
    every = frozenset().union(*by_language.values())
    return tuple(
        Phrase("%(figure)s is missing in %(where)s", figure=_written(figure), where=(language,))
        for language, own in by_language.items()
        for figure in sorted(every - own)
    )


def figures(text: str) -> frozenset[tuple[str, str, float, float]]:
    """The multiples, percentages and costs of a text: (sort, unit, low, high)."""
    numerals = [numeral for fact in read(text).facts for numeral in (fact.numeral, fact.origin) if numeral is not None]
    return frozenset(
        (numeral.sort, numeral.unit, round(numeral.low, 3), round(numeral.high, 3))
        for numeral in numerals
        if numeral.sort in ("times", "percent") or numeral.unit in _MONEY
    )


def _written(figure: tuple[str, str, float, float]) -> str:
    sort, unit, low, high = figure
    sign = {"times": "×", "percent": "%"}.get(sort, f" {unit}")
    return f"{low:g}{sign}" if low == high else f"{low:g}–{high:g}{sign}"
