"""Groups labelled entries into stories, and finds the stories that an earlier issue told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from digest.cluster.identity import identities, story_key
from digest.cluster.similarity import near_pairs
from digest.model import LabelledEntry, Source, Story

_TRUST = {"official": 0, "first-hand": 1, "person": 2, "aggregator": 3}


def group(labelled: Sequence[LabelledEntry], topics: Sequence[str], sources: Mapping[str, Source], told: Mapping[str, tuple[str, str]]) -> list[Story]:
    """The stories of which at least one entry is in one of the topics, by key.

    ``told`` maps an identity or title to (issue key, title) of what earlier issues told; such a story carries
    ``known_from``. The lead is in the topic and comes from the source that is trusted most, then the earliest.
    """
    stories = []
    for members in _same(labelled):
        topic = next((topic for topic in topics if any(_is_in(member, topic) for member in members)), None)
        if topic is not None:
            stories.append(_story(members, topic, sources, told))
    return sorted(_without_told_titles(stories, told), key=lambda story: story.key)


def told_names(story: Story) -> dict[str, str]:
    """All identities of the story's entries, each with the title of its lead: what the archive remembers."""
    return {name: story.lead.entry.title for labelled in story.entries for name in identities(labelled.entry)}


def _is_in(labelled: LabelledEntry, topic: str) -> bool:
    label = labelled.label(topic)
    return label is not None and label.is_in


def _same(labelled: Sequence[LabelledEntry]) -> list[list[LabelledEntry]]:
    parent = list(range(len(labelled)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first_by_name: dict[str, int] = {}
    for place, member in enumerate(labelled):
        for name in identities(member.entry):
            parent[root(place)] = root(first_by_name.setdefault(name, place))
    for one, other in near_pairs([member.entry.title for member in labelled]):
        parent[root(other)] = root(one)
    groups: defaultdict[int, list[LabelledEntry]] = defaultdict(list)
    for place, member in enumerate(labelled):
        groups[root(place)].append(member)
    return list(groups.values())


def _story(members: Sequence[LabelledEntry], topic: str, sources: Mapping[str, Source], told: Mapping[str, tuple[str, str]]) -> Story:
    def order(member: LabelledEntry) -> tuple[object, ...]:
        trust = _TRUST[sources[member.entry.source_name].trust]
        return not _is_in(member, topic), trust, member.entry.at, member.entry.key

    entries = sorted(members, key=order)
    names = [name for member in entries for name in identities(member.entry)]
    known_from = next((told[name][0] for name in names if name in told), None)
    return Story(key=story_key(entries[0].entry), topic=topic, entries=tuple(entries), known_from=known_from)


def _without_told_titles(stories: Sequence[Story], told: Mapping[str, tuple[str, str]]) -> list[Story]:
    issue_by_title = {title: issue for issue, title in told.values()}
    titles = [*issue_by_title, *(story.lead.entry.title for story in stories)]
    known = {other - len(issue_by_title): issue_by_title[titles[one]] for one, other in near_pairs(titles) if one < len(issue_by_title) <= other}
    return [
        Story(key=story.key, topic=story.topic, entries=story.entries, known_from=story.known_from or known.get(place)) for place, story in enumerate(stories)
    ]
