"""Heat: points from 0 to 100, each with its reason. The `why` is a phrase key; the templates word it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta

from digest.figures import is_cost
from digest.model import Claim, Reason, Source, Story

OLD = timedelta(hours=72)
_TRUST_POINTS = {"official": 10.0, "first-hand": 8.0, "person": 4.0, "aggregator": 0.0}
_TRAINING = ("training_speed", "training_time", "throughput", "iterations", "memory", "communication")


class HeatScorer:
    """Points for being on topic, for a figure, for who says it, for how many say it, for code, against age."""

    def score(self, story: Story, sources: Mapping[str, Source], now: datetime) -> tuple[Reason, ...]:
        """The reasons that apply, the weightiest kinds first."""
        lead = story.lead
        source = sources[lead.entry.source_name]
        label = lead.label(story.topic)
        reasons = [Reason(points=20 + 20 * (1 - math.exp(-(label.score if label else 0) / 8)), why="on-topic")]
        if best := main_claim(lead.claims):
            reasons.append(Reason(points=8 + min(16.0, 4 * math.log2(max(gain(best), 1.0) + 1)), why="figure", detail=best.quote))
        if points := _TRUST_POINTS[source.trust] * source.weight:
            reasons.append(Reason(points=points, why=source.trust))
        others = len({labelled.entry.source_name for labelled in story.entries}) - 1
        if others:
            reasons.append(Reason(points=min(18.0, 6.0 * others), why="sources", detail=str(others + 1)))
        for kind, points in (("code", 5.0), ("hardware", 3.0)):
            if mention := next((mention for mention in lead.mentions if mention.kind == kind), None):
                reasons.append(Reason(points=points, why=kind, detail=mention.text))
        if is_old(story):
            reasons.append(Reason(points=-15.0, why="old"))
        return tuple(Reason(points=round(reason.points, 1), why=reason.why, detail=reason.detail) for reason in reasons)


def is_old(story: Story) -> bool:
    """Whether it was published long before we saw it: old content in a new feed."""
    entry = story.lead.entry
    return entry.published_at is not None and entry.published_at < entry.seen_at - OLD


def main_claim(claims: tuple[Claim, ...]) -> Claim | None:
    """The claim to lead with: a gain in training, speed before time before the rest, in the order of the text."""
    ranked = [claim for claim in claims if claim.metric in _TRAINING and not is_cost(claim)]
    return min(ranked, key=lambda claim: _TRAINING.index(claim.metric), default=None)


def gain(claim: Claim) -> float:
    """How many times better, by plain arithmetic; 1 when the unit says nothing about that."""
    if claim.unit == "x":
        return claim.high
    if claim.unit == "%" and claim.metric in ("training_speed", "throughput"):
        return 1 + claim.high / 100
    if claim.unit == "%" and claim.direction == "less" and claim.high < 100:
        return 1 / (1 - claim.high / 100)
    if claim.unit == "%_of" and 0 < claim.low < 100:
        return 100 / claim.low
    return 1.0
