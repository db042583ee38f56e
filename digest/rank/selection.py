"""The day's picks, and the near misses with the reason that kept each out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from digest.model import LabelledEntry, NearMiss, Pick, Source, Story
from digest.ports import Scorer
from digest.rank.heat import is_old

FEATURED_HEAT = 70
FEATURED_LIMIT = 3
NEAR_SHARE = 0.5


def select(stories: Sequence[Story], scorers: Sequence[Scorer], sources: Mapping[str, Source], now: datetime, limit: int) -> tuple[list[Pick], list[Pick]]:
    """(picks, left over): stories not told before, hottest first, ties by key; the first ``limit`` are picked.

    At most three are featured: hot ones that are not old.
    """
    picks = [
        Pick(story=story, reasons=tuple(reason for scorer in scorers for reason in scorer.score(story, sources, now)))
        for story in stories
        if not story.known_from
    ]
    picks.sort(key=lambda pick: (-pick.heat, pick.story.key))
    featured = [pick.story.key for pick in picks if pick.heat >= FEATURED_HEAT and not is_old(pick.story)][:FEATURED_LIMIT]
    picks = [Pick(story=pick.story, reasons=pick.reasons, featured=pick.story.key in featured) for pick in picks]
    return picks[:limit], picks[limit:]


def near_misses(
    labelled: Sequence[LabelledEntry], stories: Sequence[Story], left_over: Sequence[Pick], thresholds: Mapping[str, float], limit: int
) -> tuple[NearMiss, ...]:
    """What nearly came in: told before, no room, or half the points of a topic; best first, one line each."""
    found = [_miss(story.lead, story.topic, "told-before", story.known_from) for story in stories if story.known_from]
    found += [_miss(pick.story.lead, pick.story.topic, "no-room", str(pick.heat)) for pick in left_over]
    in_a_story = {member.entry.key for story in stories for member in story.entries}
    for member in labelled:
        if member.entry.key in in_a_story:
            continue
        for label in member.labels:
            threshold = thresholds.get(label.topic)
            if threshold and not label.is_in and label.score >= NEAR_SHARE * threshold:
                found.append(_miss(member, label.topic, "below-threshold", f"{label.score:g} / {threshold:g}"))
    found.sort(key=lambda miss: (-miss.score, miss.title, miss.url))
    return tuple({miss.title: miss for miss in reversed(found)}.values())[::-1][:limit]


def _miss(member: LabelledEntry, topic: str, why: str, detail: str) -> NearMiss:
    label = member.label(topic)
    entry = member.entry
    return NearMiss(title=entry.title, url=entry.url, source_name=entry.source_name, score=label.score if label else 0.0, why=why, detail=detail)
