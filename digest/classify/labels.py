"""Keyword rules to labels: points added up, with the words of every rule that fired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from digest.classify.expressions import Lexicon, Node, Reading, Span
from digest.model import Claim, Entry, Hit, Label, Metric

TITLE_FACTOR = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Points for an expression; see ``RuleSettings`` for what each field means."""

    find: str
    points: float = 1.0
    where: Literal["any", "title", "text"] = "any"
    needs: str | None = None
    unless: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """The rules of one topic; an entry with ``threshold`` points is in."""

    name: str
    rules: tuple[Rule, ...]
    threshold: float = 1.0
    claims: Mapping[Metric, float]
    never: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Compiled:
    rule: Rule
    find: Node
    needs: Node | None
    unless: Node | None


class KeywordLabeller:
    """Labels by the rules of the topics. Raises ConfigError at once when an expression is wrong."""

    def __init__(self, topics: Sequence[Topic], groups: Mapping[str, Sequence[str]]) -> None:
        self._lexicon = Lexicon(groups)
        self._topics = [(topic, self._lexicon.any_of(topic.never), [self._compile(rule) for rule in topic.rules]) for topic in topics]

    def _compile(self, rule: Rule) -> _Compiled:
        compile_ = self._lexicon.compile
        return _Compiled(
            rule,
            compile_(rule.find),
            compile_(rule.needs) if rule.needs else None,
            compile_(rule.unless) if rule.unless else None,
        )

    def label(self, entry: Entry, claims: Sequence[Claim]) -> tuple[Label, ...]:
        """The topics that anything speaks for, each with its score and evidence, in the order of the settings."""
        return self.label_words(entry.title, entry.text, claims)

    def marks(self, title: str, text: str, topic_name: str) -> list[tuple[str, int, int, float]]:
        """Every place that a rule of the topic found and counted or not: field, start, end, points. For people to look at."""
        reading = self._lexicon.read(title, text)
        found = []
        for topic, _, rules in self._topics:
            for compiled in rules if topic.name == topic_name else ():
                for start, end in reading.spans(compiled.find):
                    if _is_wanted((start, end), compiled.rule, reading):
                        offset = 0 if start < reading.text_start else reading.text_start
                        found.append(("text" if offset else "title", start - offset, end - offset, compiled.rule.points))
        return found

    def label_words(self, title: str, text: str, claims: Sequence[Claim] = ()) -> tuple[Label, ...]:
        """As ``label``, of words that are no entry (yet)."""
        reading = self._lexicon.read(title, text)
        labels = []
        for topic, never, rules in self._topics:
            heard = [compiled for compiled in rules if reading.has_words_of(compiled.find)]
            if not heard and not claims:
                continue
            silent = {reading.sentence(start) for start, _ in reading.spans(never)} if topic.never else set()
            evidence = [hit for compiled in heard if (hit := _hit(compiled, reading, silent))]
            evidence += _claimed(topic, claims, reading, silent) if claims else []
            if evidence:
                score = round(sum(hit.points for hit in evidence), 2)
                labels.append(Label(topic=topic.name, score=score, is_in=score >= topic.threshold, evidence=tuple(evidence)))
        return tuple(labels)


def _hit(compiled: _Compiled, reading: Reading, silent: set[int]) -> Hit | None:
    spans = reading.spans(compiled.find)
    if not spans or (compiled.needs and not reading.spans(compiled.needs)):
        return None
    if compiled.rule.points < 0:
        silent = set()  # a context takes hits away from what speaks for a topic, so that it can never add a tag
    if compiled.unless:
        silent = silent | {reading.sentence(start) for start, _ in reading.spans(compiled.unless)}
    rule = compiled.rule
    heard = [span for span in spans if _is_wanted(span, rule, reading) and not (silent and reading.sentence(span[0]) in silent)]
    if not heard:
        return None
    start, end = heard[0]
    is_title = start < reading.text_start
    points = rule.points * TITLE_FACTOR if is_title and rule.where == "any" else rule.points
    offset = 0 if is_title else reading.text_start
    return Hit(
        rule=rule.find,
        field="title" if is_title else "text",
        start=start - offset,
        end=end - offset,
        words=reading.joined[start:end],
        points=points,
    )


def _is_wanted(span: Span, rule: Rule, reading: Reading) -> bool:
    return rule.where == "any" or (rule.where == "title") == (span[0] < reading.text_start)


def _claimed(topic: Topic, claims: Sequence[Claim], reading: Reading, silent: set[int]) -> list[Hit]:
    """One hit for each metric of the topic that the entry claims a figure for, outside of the silent sentences."""
    first: dict[Metric, Claim] = {}
    for claim in claims:
        if claim.metric in topic.claims and not (silent and reading.sentence(max(0, reading.joined.find(claim.quote))) in silent):
            first.setdefault(claim.metric, claim)
    return [Hit(rule=f"claims.{metric}", field="claim", start=0, end=0, words=claim.quote, points=topic.claims[metric]) for metric, claim in first.items()]
