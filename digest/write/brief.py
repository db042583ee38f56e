"""What a writer knows of a story, read once for all languages: subject, description, figures, what is kept, code, audience."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from digest.figures import is_cost
from digest.judge.verdicts import judge
from digest.model import Assignment, Claim, Entry, ItemKind, Language, Mention, Trust
from digest.text import sentences
from digest.write import figures
from digest.write.glossary import Glossary
from digest.write.grounding import held
from digest.write.phrases import AUDIENCES, KEPT_NOUNS

_A_DESCRIPTION = 5  # characters: "一套框架" describes nothing
_ORDER = ("training_speed", "training_time", "throughput", "iterations", "memory", "communication", "inference_speed")
_PRESENTS = r"(?:propose|present|introduce|develop|release|describe|unveil|open-source)s?d?"
_STOP = r"(?=\s(?:that|which|where|to|designed|built|capable|by|using|whose|and (?:show|demonstrate))\b|\s*[,.;:(]|$)"
_PHRASE = rf"(?P<what>[A-Za-z0-9][\w+/' -]{{4,90}}?){_STOP}"
_PROMISED = re.compile(r"\b(?:will be|soon be)\s(?:made\s)?(?:\w+\s)?(?:available|released|open-?sourced)|(?:将|即将)(?:会)?(?:公开|开源|发布)", re.IGNORECASE)
_NOUN = "|".join(pattern for _, pattern in KEPT_NOUNS)
_KEPT: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (way, re.compile(pattern.replace("NOUN", f"({_NOUN})"), re.IGNORECASE))
    for way, pattern in (
        ("nearly", r"(?:negligible|minimal|little|slight|near-lossless)\s(?:\w+\s)?(?:degradation|loss|drop|impact)\s(?:in|on|of)\s(?:\w+\s){0,2}?NOUN|NOUN[^,，。]{0,6}几乎(?:不|没有)|(?:negligible|minimal)\sNOUN\s(?:degradation|loss|drop)"),
        ("kept", r"without\s(?:any\s)?(?:sacrific\w+|compromis\w+|degrad\w+|los\w+|hurt\w+|harm\w+)?\s?(?:of\s|in\s|the\s|model\s|final\s|its\s)*NOUN|no\s(?:loss|drop|degradation)\s(?:of|in)\s(?:\w+\s)?NOUN|no\sNOUN\s(?:loss|drop|degradation)|(?:preserv|maintain|retain|recover)\w*\s(?:the\s|full\s|model\s|its\s|original\s)*NOUN|NOUN(?:不降|不变|不丢|无损|没有(?:明显)?(?:损失|下降|变差))|(?:没有|未出现|无)(?:任何|明显)?(?:的)?NOUN(?:损失|下降)"),
        ("same", r"(?:comparable|similar|equivalent|matched|the same|same|on-par)\s(?:final\s|model\s|or\s\w+\s|downstream\s|zero-shot\s)*NOUN|NOUN(?:与[^,，。]{1,14})?(?:相当|持平|相同|相近)"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The facts. ``what`` is a short description in each language, empty where it cannot be carried; ``kept`` says what the gain
    does not cost: (noun, kept, nearly or same); ``code`` is open, promised or empty; ``variant`` chooses among equal patterns."""

    entry: Entry
    kind: ItemKind
    subject: str
    what: Mapping[Language, str]
    topic: Mapping[Language, str]
    audience: Mapping[Language, str]
    claims: tuple[Claim, ...]
    settings: Mapping[Language, tuple[str, ...]]
    baselines: Mapping[Language, tuple[str, ...]]
    kept: tuple[str, str] | None
    hardware: tuple[str, ...]
    models: tuple[str, ...]
    code: str
    means: Mapping[Language, tuple[str, ...]]
    trust: Trust
    variant: int

    def choose(self, *patterns: str) -> str:
        """One of the patterns, always the same for a story."""
        return patterns[self.variant % len(patterns)]


def brief(assignment: Assignment, tag_titles: Mapping[str, Mapping[Language, str]], glossary: Glossary, trust: Trust) -> Brief:
    """Reads the story; deterministic."""
    story, mentions = assignment.pick.story, assignment.mentions
    entry = story.lead.entry
    subject = next((mention.text for mention in mentions if mention.kind == "method"), "")
    tags = [label.topic for label in story.lead.labels if label.is_in and label.topic != story.topic]
    source = held(assignment)
    chosen = told([found for claim in assignment.claims if (found := _sayable(claim, source, glossary))])
    languages: tuple[Language, ...] = ("zh", "en")
    return Brief(
        entry=entry,
        kind=story.lead.kind,
        subject=subject,
        what=_what(entry, subject, glossary),
        topic={language: _topic(tags, story.topic, tag_titles, language) for language in languages},
        audience={language: next((AUDIENCES[language][tag] for tag in tags if tag in AUDIENCES[language]), AUDIENCES[language][""]) for language in languages},
        claims=chosen,
        settings={language: tuple(figures.setting(claim, language, glossary) for claim in chosen) for language in languages},
        baselines={language: tuple(figures.baseline(claim, language, glossary) for claim in chosen) for language in languages},
        kept=_kept(entry, chosen),
        hardware=tuple(mention.text for mention in mentions if mention.kind == "hardware")[:3],
        models=tuple(mention.text for mention in mentions if mention.kind == "model")[:3],
        code=_code(entry, mentions),
        means=_means(entry, glossary),
        trust=trust,
        variant=int(sha256(story.key.encode()).hexdigest(), 16),
    )


def told(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """At most three claims worth telling, one a metric: gains before costs, the training metrics first."""
    by_metric: dict[str, Claim] = {}
    for claim in claims:
        if figures.is_tellable(claim):
            by_metric.setdefault(claim.metric, claim)
    return tuple(sorted(by_metric.values(), key=lambda claim: (is_cost(claim), _ORDER.index(claim.metric)))[:3])


def _sayable(claim: Claim, source: str, glossary: Glossary) -> Claim | None:
    """The claim as far as its own words stand before the judge: without its setting where only that is doubted, None where the
    figure itself is."""
    if not figures.is_tellable(claim):
        return None
    for tried in (claim, replace(claim, setting=None)):
        words = [
            f"{figures.clause(tried)}{_on(figures.setting(tried, 'en', glossary))}{_against(figures.baseline(tried, 'en', glossary))}.",
            f"{figures.phrase(tried, 'zh')}。",
        ]
        if not any(judge(sentence, source) for sentence in words):
            return tried
    return None


def _on(where: str) -> str:
    return f" on {where}" if where else ""


def _against(other: str) -> str:
    return f" against {other}" if other else ""


def _topic(tags: Sequence[str], topic: str, titles: Mapping[str, Mapping[Language, str]], language: Language) -> str:
    names = [titles[tag][language] for tag in tags if language in titles.get(tag, {})][:2]
    joint = "和" if language == "zh" else ", and " if any(" and " in name for name in names) else " and "
    return joint.join(names) or titles.get(topic, {}).get(language, topic)


def _what(entry: Entry, subject: str, glossary: Glossary) -> dict[Language, str]:
    """What the work is, by its own words; in the other language where all of them are known."""
    if entry.language == "zh":
        phrase = _chinese_phrase(entry.text, subject)
        return {"zh": phrase, "en": (glossary.to_english(phrase) or "") if phrase else ""}
    for phrase in _english_phrases(entry, subject):
        if len(phrase.split()) > 1 and len(chinese := glossary.to_chinese(phrase) or "") >= _A_DESCRIPTION:
            return {"zh": chinese, "en": phrase}
    return {"zh": "", "en": ""}


def _english_phrases(entry: Entry, subject: str) -> list[str]:
    name = re.escape(subject)
    text = re.sub(r"\s\([^()]{1,40}\)", "", entry.text[:4000])
    patterns = [rf"{_PRESENTS}\s(?:an?\s|the\s)?{_PHRASE},?\s(?:called|named|dubbed|termed)\b"]
    if subject:
        patterns = [
            rf"{_PRESENTS}\s(?:\w+\s)?(?:\\textit{{)?{name},\s(?:an?|the)\s{_PHRASE}",
            rf"\b{name}\sis\s(?:an?|the)\s{_PHRASE}",
            *patterns,
        ]
    found = [match["what"] for pattern in patterns if (match := re.search(pattern, text))]
    title, _, rest = entry.title.partition(":")
    if rest and subject and subject.lower() in title.lower():
        found.append(rest.strip())
    elif not rest:
        found.append(title.strip())
    return found


def _chinese_phrase(text: str, subject: str) -> str:
    if not subject:
        return ""
    name = re.escape(subject)
    match = re.search(rf"(?:提出|推出|发布|开源|上线)了?(?:一[种个套项款])?(?P<what>[\u3400-\u9fffA-Za-z0-9 ]{{2,20}}?) ?{name}", text) or re.search(
        rf"{name} ?是(?:一[种个套项款])(?P<what>[\u3400-\u9fffA-Za-z0-9 -]{{2,24}}?)(?=[，。；,])", text
    )
    return match["what"].strip() if match else ""


def _means(entry: Entry, glossary: Glossary) -> dict[Language, tuple[str, ...]]:
    """Terms of the sentences that present the work, where the source is in English."""
    if entry.language == "zh":
        return {"zh": (), "en": ()}
    presenting = " ".join(sentence for sentence in sentences(entry.text[:6000]) if re.search(rf"\b{_PRESENTS}\b", sentence))
    terms = glossary.terms_in(presenting, 4)
    return {"zh": tuple(dict.fromkeys(glossary.chinese(term) for term in terms)), "en": tuple(terms)}


def _kept(entry: Entry, claims: Sequence[Claim]) -> tuple[str, str] | None:
    """What the gain does not cost, where the sentences of the figures say so."""
    if not claims:
        return None
    for sentence in sentences(entry.text[:20_000]):
        if not any(claim.quote[:60] in sentence for claim in claims):
            continue
        for way, pattern in _KEPT:
            if match := pattern.search(sentence):
                spoken = next(value for value in match.groups() if value)
                noun = next(noun for noun, words in KEPT_NOUNS if re.fullmatch(words, spoken, re.IGNORECASE))
                return noun, way
    return None


def _code(entry: Entry, mentions: Sequence[Mention]) -> str:
    if _PROMISED.search(entry.text):
        return "promised"
    return "open" if any(mention.kind == "code" for mention in mentions) else ""
