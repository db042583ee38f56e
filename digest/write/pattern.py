"""The writer without a model: sentence patterns over a brief, and the source's own best sentences.

Which of the equal patterns a story gets depends on its key alone, so the same story always reads the same. Both languages tell the same
figures: a sentence of the source with another figure is left out, and a claim that no chosen sentence tells is told by a pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from digest.judge.facts import read
from digest.judge.verdicts import judge
from digest.model import Assignment, Draft, Language, Spending, Trust, Wording
from digest.text import shorten
from digest.write import chinese, english, grounding
from digest.write.brief import Brief, brief
from digest.write.glossary import Glossary
from digest.write.sentences import best, retold, tidy
from digest.write.translation import Translate

_HEADLINE_LIMIT = 110
_SENTENCES = 3


class PatternWriter:
    """Writes from patterns. ``tag_titles`` names topics in each language, ``trust_by_source`` says who speaks; ``translate``, where there
    is one, carries the source's own sentences into Chinese."""

    name = "patterns"

    def __init__(
        self, tag_titles: Mapping[str, Mapping[Language, str]], glossary: Glossary, trust_by_source: Mapping[str, Trust], translate: Translate | None = None
    ) -> None:
        self._tag_titles = tag_titles
        self._glossary = glossary
        self._trust_by_source = trust_by_source
        self._translate = translate

    async def write(self, assignments: Sequence[Assignment]) -> tuple[list[Draft], Spending]:
        """A draft with a wording in every language for each assignment; always succeeds, and spends nothing."""
        return [self.draft(assignment) for assignment in assignments], Spending()

    def draft(self, assignment: Assignment) -> Draft:
        """The assignment in words."""
        trust = self._trust_by_source.get(assignment.pick.story.lead.entry.source_name, "first-hand")
        known = brief(assignment, self._tag_titles, self._glossary, trust)
        source = grounding.held(assignment)
        wordings = tuple(_wording(known, language, self._own(known, language, source)) for language in assignment.languages)
        return Draft(wordings=wordings, written_by=self.name)

    def _own(self, known: Brief, language: Language, source: str) -> tuple[str, ...]:
        """The source's best sentences as they may stand in that language; none where it is another one and nobody translates."""
        sentences = retold(
            known.entry, known.claims, _SENTENCES, is_paper=known.kind == "paper", turn=known.variant, only=lambda sentence: _is_told(sentence, known)
        )
        if known.entry.language == language:
            return sentences
        if language != "zh" or self._translate is None:
            return ()
        translated = [self._translate(sentence) for sentence in sentences]
        return tuple(said for said in translated if said and _is_told(said, known) and not judge(said, source))


def _wording(known: Brief, language: Language, own: Sequence[str]) -> Wording:
    entry = known.entry
    voice = chinese if language == "zh" else english
    return Wording(
        language=language,
        headline=_headline(known, language),
        summary=voice.summary(known, own, _untold(known, own)),
        blurb=voice.blurb(known),
        quotes=() if entry.language == language else best(entry, (), 1),
    )


def _headline(known: Brief, language: Language) -> str:
    """The source's own title in its language, a pattern in the other; the title in both where it has a figure that is no claim."""
    title = shorten(tidy(known.entry.title or known.entry.text), _HEADLINE_LIMIT, known.entry.language)
    has_other_figures = bool(grounding.figures(title) - _claimed(known))
    if (known.entry.language == language and known.entry.title) or has_other_figures:
        return title
    return (chinese if language == "zh" else english).headline(known) or title


def _claimed(known: Brief) -> frozenset[tuple[str, str, float, float]]:
    return frozenset().union(*(_figures_of(known, place) for place in range(len(known.claims))))


def _figures_of(known: Brief, place: int) -> frozenset[tuple[str, str, float, float]]:
    claim = known.claims[place]
    sort = {"x": "times", "%": "percent", "%_of": "percent"}.get(claim.unit)
    own = {(sort, "", round(claim.low, 3), round(claim.high, 3))} if sort else set()
    return frozenset(own | grounding.figures(english.results(known, [place])[0]))


def _is_told(sentence: str, known: Brief) -> bool:
    """Whether a sentence has no figure but those that are told in every language."""
    return grounding.figures(sentence) <= _claimed(known)


def _untold(known: Brief, own: Sequence[str]) -> list[int]:
    """The places of the claims whose figure stands in none of the chosen sentences."""
    spoken = {value for sentence in own for value in _values(sentence)}
    return [place for place in range(len(known.claims)) if not _values(english.results(known, [place])[0]) <= spoken]


def _values(text: str) -> set[tuple[str, float, float]]:
    """Everything measured in a text: (unit, low, high), counts left out."""
    numerals = [fact.numeral for fact in read(text).facts]
    return {(numeral.unit, round(numeral.low, 3), round(numeral.high, 3)) for numeral in numerals if numeral.sort != "count"}
