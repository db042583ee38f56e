"""Clustering and ranking: what is the same story, what is hot, what is picked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from digest.cluster.identity import identities, story_key
from digest.cluster.similarity import are_nearly_equal, near_pairs
from digest.cluster.stories import group, told_names
from digest.model import Identifiers, LabelledEntry, Reason, Source, Story
from digest.rank.heat import HeatScorer, gain
from digest.rank.selection import near_misses, select
from tests.builders import NOON, a_claim, a_label, a_labelled, a_source, a_story, an_entry

SOURCES = {"Blog": a_source(), "arXiv": a_source(name="arXiv", trust="official"), "Media": a_source(name="Media", trust="aggregator")}
TOPICS = ("training-acceleration",)


def labelled(key: str, source: str = "Blog", **changes: object) -> LabelledEntry:
    fields: dict[str, object] = {"title": f"A title for {key}", "url": f"https://{source.lower()}.example/{key}"}
    return a_labelled(entry=an_entry(key=f"{source}|{key}", source_name=source, **fields | changes))


def keys(stories: list[Story]) -> list[list[str]]:
    return [[member.entry.key for member in story.entries] for story in stories]


def test_the_same_paper_in_two_feeds_is_one_story_led_by_the_trusted_source() -> None:
    ids = Identifiers(arxiv="2611.00001")
    stories = group([labelled("m", "Media", ids=ids), labelled("a", "arXiv", ids=ids)], TOPICS, SOURCES, {})
    assert keys(stories) == [["arXiv|a", "Media|m"]]
    assert stories[0].key == "arxiv-2611.00001"


def test_near_equal_titles_are_one_story_but_other_numbers_are_not() -> None:
    one = labelled("a", title="Training large models faster with TideFlow!")
    two = labelled("b", "Media", title="Training Large Models Faster with TideFlow")
    assert len(group([one, two], TOPICS, SOURCES, {})) == 1
    assert not are_nearly_equal("Release notes for DeepSpeed 0.17.1", "Release notes for DeepSpeed 0.17.2")


def test_a_feed_that_gives_every_entry_its_front_page_is_not_one_story() -> None:
    one, two = labelled("a", url="https://z.example/"), labelled("b", url="https://z.example/", title="Something quite different here")
    assert len(group([one, two], TOPICS, SOURCES, {})) == 2


def test_what_an_earlier_issue_told_is_known_by_name_or_by_title() -> None:
    by_name = labelled("a")
    by_title = labelled("b", title="Training large models faster with TideFlow!")
    told = {f"key:{by_name.entry.key}": ("training/2026-11-23", "x"), "url:elsewhere": ("training/2026-11-22", "Training large models faster with TideFlow")}
    assert [story.known_from for story in sorted(group([by_name, by_title], TOPICS, SOURCES, told), key=lambda story: story.lead.entry.key)] == [
        "training/2026-11-23",
        "training/2026-11-22",
    ]


def test_an_entry_below_the_threshold_makes_no_story() -> None:
    assert group([a_labelled(labels=(a_label(is_in=False),))], TOPICS, SOURCES, {}) == []


def test_told_names_hold_every_entry_of_the_story() -> None:
    story = a_story(entries=(labelled("a"), labelled("b", "Media")))
    assert "key:Media|b" in told_names(story)


def test_identity_is_strongest_first() -> None:
    entry = an_entry(ids=Identifiers(arxiv="2611.00001", doi="10.1/x"))
    assert identities(entry)[0] == "arxiv:2611.00001"
    assert story_key(an_entry()) == story_key(an_entry(title="other"))


def test_near_pairs_do_not_need_every_pair() -> None:
    titles = [f"Entry number {number} about something {number * 7}" for number in range(500)] + [
        "A wholly unusual headline today",
        "A wholly unusual headline today!",
    ]
    assert (500, 501) in set(near_pairs(titles))


class _Points:
    def __init__(self, points: dict[str, float]) -> None:
        self._points = points

    def score(self, story: Story, sources: dict[str, Source], now: object) -> tuple[Reason, ...]:
        return (Reason(points=self._points[story.key], why="on-topic"),)


def stories(*names: str, **changes: object) -> list[Story]:
    return [a_story(key=name, entries=(labelled(name, **changes),)) for name in names]


def test_the_hottest_are_picked_and_ties_are_broken_by_key() -> None:
    picks, left = select(stories("c", "a", "b"), [_Points({"a": 50, "b": 90, "c": 50})], SOURCES, NOON, 2)
    assert [pick.story.key for pick in picks] == ["b", "a"]
    assert [pick.story.key for pick in left] == ["c"]


def test_at_most_three_are_featured_and_old_ones_never() -> None:
    hot = dict.fromkeys("abcde", 90.0)
    picks, _ = select(stories(*"abcd") + stories("e", published_at=NOON - timedelta(days=9)), [_Points(hot)], SOURCES, NOON, 9)
    assert [pick.story.key for pick in picks if pick.featured] == ["a", "b", "c"]
    old, _ = select(stories("e", published_at=NOON - timedelta(days=9)), [_Points(hot)], SOURCES, NOON, 9)
    assert not old[0].featured


def test_a_story_told_before_is_a_near_miss_and_no_pick() -> None:
    story = a_story(known_from="training/2026-11-23")
    assert select([story], [_Points({"story": 90})], SOURCES, NOON, 5) == ([], [])
    (miss,) = near_misses([story.lead], [story], [], {"training-acceleration": 6}, 5)
    assert (miss.why, miss.detail) == ("told-before", "training/2026-11-23")


def test_near_misses_have_half_the_points_and_say_so() -> None:
    near = a_labelled(labels=(a_label(score=4.0, is_in=False),))
    far = a_labelled(entry=an_entry(key="Blog|2", title="Far"), labels=(a_label(score=2.0, is_in=False),))
    (miss,) = near_misses([near, far], [], [], {"training-acceleration": 6}, 5)
    assert (miss.title, miss.detail) == (near.entry.title, "4 / 6")


def test_heat_has_reasons_that_add_up() -> None:
    story = a_story(entries=(a_labelled(claims=(a_claim(),)), labelled("m", "Media")))
    reasons = HeatScorer().score(story, SOURCES, NOON)
    assert {"on-topic", "figure", "first-hand", "sources"} == {reason.why for reason in reasons}


@pytest.mark.parametrize(
    ("changes", "times"),
    [
        ({"low": 2.0, "high": 3.0}, 3),
        ({"unit": "%", "metric": "training_time", "direction": "less", "low": 50, "high": 50}, 2),
        ({"unit": "%_of", "low": 25, "high": 25}, 4),
    ],
)
def test_gain_is_plain_arithmetic(changes: dict[str, object], times: float) -> None:
    assert gain(a_claim(**changes)) == pytest.approx(times)
