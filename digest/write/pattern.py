"""The writer without a model: sentence patterns over a brief, and the source's own best sentences.

Which of the equal patterns a story gets depends on its key alone, so the same story always reads the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from digest.model import Claim, Language, Mention, Pick, Trust, Wording
from digest.text import shorten
from digest.write import chinese, english, figures
from digest.write.brief import Brief, brief
from digest.write.glossary import Glossary
from digest.write.sentences import best, retold, tidy

_HEADLINE_LIMIT = 110
_SENTENCES = 3


class PatternWriter:
    """Writes from patterns. ``tag_titles`` names topics in each language, ``trust_by_source`` says who speaks."""

    name = "patterns"

    def __init__(self, tag_titles: Mapping[str, Mapping[Language, str]], glossary: Glossary, trust_by_source: Mapping[str, Trust]) -> None:
        self._tag_titles = tag_titles
        self._glossary = glossary
        self._trust_by_source = trust_by_source

    def write(self, pick: Pick, languages: Sequence[Language], claims: Sequence[Claim], mentions: Sequence[Mention]) -> tuple[Wording, ...]:
        """One wording per language; always succeeds."""
        trust = self._trust_by_source.get(pick.story.lead.entry.source_name, "first-hand")
        known = brief(pick.story, claims, mentions, self._tag_titles, self._glossary, trust)
        return tuple(_wording(known, language) for language in languages)


def _wording(known: Brief, language: Language) -> Wording:
    entry = known.entry
    voice = chinese if language == "zh" else english
    is_own = entry.language == language
    title = shorten(tidy(entry.title or entry.text), _HEADLINE_LIMIT, entry.language)
    own = retold(entry, known.claims, _SENTENCES, is_paper=known.kind == "paper", turn=known.variant) if is_own else ()
    joint = "" if language == "zh" else " "
    return Wording(
        language=language,
        headline=title if is_own and entry.title else voice.headline(known) or title,
        summary=(figures.spaced(joint.join(own)) if language == "zh" else joint.join(own)) or voice.summary(known),
        blurb=voice.blurb(known),
        quotes=() if is_own else best(entry, known.claims, 1),
    )
