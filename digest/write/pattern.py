"""The writer without a model: claims, names and topics in sentence patterns, and the source's own best sentences.

Which of the equal patterns a story gets depends on its key alone, so the same story always reads the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

from digest.figures import is_cost
from digest.model import Claim, Language, Mention, Pick, Story, Wording
from digest.text import shorten
from digest.write import figures
from digest.write.phrases import AUDIENCES, KINDS
from digest.write.sentences import best

_ORDER = ("training_speed", "training_time", "throughput", "iterations", "memory", "communication", "inference_speed")
_HEADLINE_LIMIT = 110
_NAME_LIMIT = 64


class PatternWriter:
    """Writes from patterns. ``tag_titles`` names topics in each language, by topic."""

    name = "patterns"

    def __init__(self, tag_titles: Mapping[str, Mapping[Language, str]]) -> None:
        self._tag_titles = tag_titles

    def write(self, pick: Pick, languages: Sequence[Language], claims: Sequence[Claim], mentions: Sequence[Mention]) -> tuple[Wording, ...]:
        """One wording per language; always succeeds."""
        draft = _Draft(pick.story, told(claims), mentions, self._tag_titles)
        return tuple(draft.chinese() if language == "zh" else draft.english() for language in languages)


def told(claims: Sequence[Claim]) -> list[Claim]:
    """At most three claims worth telling, one a metric: gains before costs, the training metrics first."""
    tellable = [claim for claim in claims if figures.is_tellable(claim)]
    by_metric: dict[str, Claim] = {}
    for claim in tellable:
        by_metric.setdefault(claim.metric, claim)
    return sorted(by_metric.values(), key=lambda claim: (is_cost(claim), _ORDER.index(claim.metric)))[:3]


class _Draft:
    def __init__(self, story: Story, claims: list[Claim], mentions: Sequence[Mention], tag_titles: Mapping[str, Mapping[Language, str]]) -> None:
        self._story = story
        self._entry = story.lead.entry
        self._claims = claims
        self._mentions = mentions
        self._tag_titles = tag_titles
        self._tags = [label.topic for label in story.lead.labels if label.is_in and label.topic != story.topic]
        self._method = next((mention.text for mention in mentions if mention.kind == "method"), "")
        self._variant = int(sha256(story.key.encode()).hexdigest(), 16)

    def chinese(self) -> Wording:
        own = self._entry.language == "zh"
        return Wording(
            language="zh",
            headline=self._entry.title if own and self._entry.title else self._headline("zh"),
            summary="".join(best(self._entry, self._claims, 3)) if own and self._entry.text else self._chinese_summary(),
            blurb=figures.spaced(self._chinese_blurb()),
            quotes=() if own else best(self._entry, self._claims, 1),
        )

    def english(self) -> Wording:
        own = self._entry.language == "en"
        return Wording(
            language="en",
            headline=self._entry.title if own and self._entry.title else self._headline("en"),
            summary=" ".join(best(self._entry, self._claims, 3)) if own and self._entry.text else self._english_summary(),
            blurb=self._english_blurb(),
            quotes=() if own else best(self._entry, self._claims, 1),
        )

    def _choose(self, *patterns: str) -> str:
        return patterns[self._variant % len(patterns)]

    def _headline(self, language: Language) -> str:
        """The name of the work and its first figure, else its title in its own language."""
        subject = self._method or self._short_title(language)
        if self._claims:
            phrase = figures.phrase(self._claims[0], language)
            if language == "zh":
                return figures.spaced(f"{subject}：{phrase}" if subject else f"{self._topic('zh')}：{phrase}")
            return f"{subject}: {phrase}" if subject else phrase[:1].upper() + phrase[1:]
        return shorten(self._entry.title or self._entry.text, _HEADLINE_LIMIT, self._entry.language)

    def _short_title(self, language: Language) -> str:
        """The title up to its colon, or the whole of it, where that is short enough to name the work; no Chinese one in English."""
        if language == "en" and self._entry.language == "zh":
            return ""
        name = re.split(r"[:：]", self._entry.title)[0].strip()
        return name if 0 < len(name) <= _NAME_LIMIT else ""

    def _topic(self, language: Language) -> str:
        names = [self._tag_titles[tag][language] for tag in self._tags if language in self._tag_titles.get(tag, {})][:2]
        joint = "、" if language == "zh" else ", "
        return joint.join(names) or self._tag_titles.get(self._story.topic, {}).get(language, self._story.topic)

    def _names(self, *kinds: str) -> list[str]:
        return [mention.text for mention in self._mentions if mention.kind in kinds][:4]

    def _chinese_summary(self) -> str:
        kind, topic = KINDS["zh"][self._story.lead.kind], self._topic("zh")
        subject = self._method
        if subject:
            opening = self._choose(f"{subject} 是一项{topic}方向的工作", f"这篇{kind}介绍 {subject}，方向是{topic}", f"{subject} 关注{topic}")
            if self._story.lead.kind != "paper":
                opening = self._choose(f"{self._entry.source_name} 介绍了 {subject}，方向是{topic}", f"{subject} 关注{topic}")
        else:
            opening = f"{self._entry.source_name} 的这{'篇论文' if self._story.lead.kind == 'paper' else '条' + kind}关注{topic}"
        parts = [opening + "。"]
        if self._claims:
            lead_in = self._choose("原文给出的数字：", "据原文，", "作者报告：")
            parts.append(
                lead_in + "；".join(figures.setting(claim, "zh") + figures.phrase(claim, "zh") + figures.baseline(claim, "zh") for claim in self._claims) + "。"
            )
        if names := self._names("hardware", "model"):
            parts.append(f"文中提到 {'、'.join(names)}。")
        if self._names("code"):
            parts.append("文中附有代码地址。")
        return figures.spaced("".join(parts))

    def _english_summary(self) -> str:
        kind, topic = KINDS["en"][self._story.lead.kind], self._topic("en")
        subject = self._method
        opening = f"{subject} is about {topic}" if subject else f"This {kind} from {self._entry.source_name} is about {topic}"
        parts = [opening + "."]
        if self._claims:
            lead_in = self._choose("It reports ", "The source gives ", "By its own account: ")
            parts.append(
                lead_in + "; ".join(figures.phrase(claim, "en") + figures.setting(claim, "en") + figures.baseline(claim, "en") for claim in self._claims) + "."
            )
        if names := self._names("hardware", "model"):
            parts.append(f"It mentions {', '.join(names)}.")
        if self._names("code"):
            parts.append("It links to code.")
        return " ".join(parts)

    def _audience(self, language: Language) -> str:
        known = AUDIENCES[language]
        return next((known[tag] for tag in self._tags if tag in known), known[""])

    def _chinese_blurb(self) -> str:
        audience = self._audience("zh")
        if not self._claims:
            code = "，代码可查" if self._names("code") else ""
            return self._choose(f"{audience}可以了解这个思路{code}。", f"适合{audience}参考{code}，效果以正文为准。")
        claim = self._claims[0]
        gain = figures.phrase(claim, "zh") + figures.baseline(claim, "zh")
        caveat = self._chinese_caveat(claim)
        return self._choose(f"{audience}值得一看：{gain}{caveat}。", f"给{audience}：{gain}{caveat}。", f"{gain}，{audience}可以对照自己的任务看看{caveat}。")

    def _chinese_caveat(self, claim: Claim) -> str:
        if claim.bound == "up_to":
            return "；这是上限，不是平均值"
        return "，代码已附" if self._names("code") else ""

    def _english_blurb(self) -> str:
        audience = self._audience("en")
        if not self._claims:
            code = "; code is linked" if self._names("code") else ""
            return self._choose(f"An idea for {audience}{code}.", f"Worth a look for {audience}{code}; the full text has the details.")
        claim = self._claims[0]
        gain = figures.phrase(claim, "en") + figures.baseline(claim, "en")
        caveat = self._english_caveat(claim)
        return self._choose(
            f"For {audience}: {gain}{caveat}.",
            f"Worth the time of {audience}: {gain}{caveat}.",
            f"{gain[:1].upper()}{gain[1:]}{caveat}: one to check for {audience}.",
        )

    def _english_caveat(self, claim: Claim) -> str:
        if claim.bound == "up_to":
            return " (the best case, not the average)"
        return ", with code" if self._names("code") else ""
