"""Words for picks: figures and bounds beside each other, nothing that the source does not say."""

from __future__ import annotations

from typing import Any

import pytest

from digest.figures import change, figure
from digest.model import Article, Mention, Pick, Reason, Wording
from digest.write.figures import baseline, phrase, spaced
from digest.write.grounding import complaints
from digest.write.issue import write_article
from digest.write.pattern import PatternWriter, told
from tests.builders import a_claim, a_label, a_labelled, a_source, a_story, an_entry

TITLES = {"training-acceleration": {"zh": "训练加速", "en": "training acceleration"}, "moe": {"zh": "混合专家", "en": "mixture of experts"}}
TEXT = "We present TideFlow. It gives up to 1.9x faster training over Megatron-LM. Nothing else."


def a_pick(**changes: Any) -> Pick:
    claim = a_claim(low=1.9, high=1.9, bound="up_to", baseline="Megatron-LM", quote="up to 1.9x faster training over Megatron-LM")
    fields: dict[str, Any] = {"entry": an_entry(title="TideFlow: faster", text=TEXT), "labels": (a_label(), a_label(topic="moe")), "claims": (claim,)}
    fields["mentions"] = (Mention(kind="method", text="TideFlow", quote="TideFlow"),)
    return Pick(story=a_story(entries=(a_labelled(**fields | changes),)), reasons=(Reason(points=50, why="on-topic"),))


def written(pick: Pick) -> Article:
    return write_article(pick, ("zh", "en"), PatternWriter(TITLES), {"Blog": a_source()})


@pytest.mark.parametrize(
    ("changes", "chinese", "english"),
    [
        ({"low": 2.37, "high": 2.37, "bound": "up_to"}, "训练加速最高 2.37 倍", "training up to 2.37× faster"),
        ({"low": 1.3, "high": 1.6}, "训练加速 1.3–1.6 倍", "training 1.3–1.6× faster"),
        (
            {"metric": "training_time", "unit": "%", "low": 49.1, "high": 71.2, "direction": "less"},
            "训练时间缩短 49.1%–71.2%",
            "49.1%–71.2% less training time",
        ),
        ({"metric": "memory", "unit": "%", "low": 38, "high": 38, "direction": "less", "bound": "about"}, "内存占用约降低 38%", "about 38% lower memory use"),
        (
            {"metric": "iterations", "unit": "x", "low": 8.75, "high": 8.75, "direction": "less", "quote": "8.75x fewer iterations"},
            "训练迭代次数减少 8.75 倍",
            "8.75× fewer training iterations",
        ),
        ({"metric": "throughput", "low": 3.4, "high": 3.7}, "吞吐量提升 3.4–3.7 倍", "3.4–3.7× higher throughput"),
    ],
)
def test_a_claim_keeps_metric_bound_and_range(changes: dict[str, Any], chinese: str, english: str) -> None:
    claim = a_claim(**changes)
    assert spaced(phrase(claim, "zh")) == chinese
    assert phrase(claim, "en") == english


def test_a_metric_is_named_by_the_words_beside_its_figure() -> None:
    quote = "It reaches final-epoch performance using 20% of the pre-training budget."
    claim = a_claim(metric="iterations", unit="%_of", low=20, high=20, direction="less", quote=quote)
    assert phrase(claim, "zh") == "训练预算为对照的 20%"


def test_figures_are_written_as_people_write_them() -> None:
    assert figure(a_claim(low=6326, high=6326), "en") == "6,326×"
    assert figure(a_claim(unit="hours", low=1, high=1), "en") == "1 hour"
    assert figure(a_claim(unit="hours", low=8.5, high=8.5), "zh") == "8.5 小时"


@pytest.mark.parametrize(
    ("changes", "chinese", "english"),
    [
        ({"low": 2.37, "high": 2.37, "bound": "up_to"}, "最高 2.37 倍", "up to 2.37×"),
        ({"metric": "communication", "unit": "%", "low": 43, "high": 43, "direction": "less"}, "减少 43%", "43% less"),
        ({"metric": "training_time", "unit": "%", "low": 2, "high": 2, "direction": "more", "bound": "about"}, "约增加 2%", "about 2% more"),
        ({"metric": "memory", "unit": "%_of", "low": 25, "high": 25, "direction": "less"}, "为对照的 25%", "25% of the baseline"),
    ],
)
def test_a_figure_alone_says_which_way_it_moves(changes: dict[str, Any], chinese: str, english: str) -> None:
    assert (change(a_claim(**changes), "zh"), change(a_claim(**changes), "en")) == (chinese, english)


def test_what_the_work_costs_is_told_after_what_it_gains() -> None:
    cost = a_claim(metric="training_time", unit="%", low=2, high=2, direction="more")
    gain = a_claim(metric="memory", unit="%", low=30, high=30, direction="less")
    assert told([cost, gain]) == [gain, cost]


def test_a_baseline_is_named_translated_or_quoted() -> None:
    assert baseline(a_claim(baseline="state-of-the-art methods"), "zh") == "（相比现有最优方法）"
    assert baseline(a_claim(baseline="FSDP"), "zh") == "（相比 FSDP）"
    assert "“a careful mix of things”" in baseline(a_claim(baseline="a careful mix of things"), "zh")


def test_both_languages_carry_the_bound_and_the_baseline() -> None:
    article = written(a_pick())
    for language, bound in (("zh", "最高 1.9 倍"), ("en", "up to 1.9")):
        wording = article.wording(language)
        told = wording.headline + wording.summary + wording.blurb
        assert bound in told
        assert "Megatron-LM" in told
    assert article.written_by == "patterns"


def test_without_a_figure_nothing_is_promised() -> None:
    article = written(a_pick(claims=(), entry=an_entry(title="TideFlow: faster", text="We present TideFlow.")))
    for wording in article.wordings:
        assert not any(character.isdigit() for character in wording.blurb + wording.summary)
        assert "最高" not in wording.blurb and "faster" not in wording.blurb


def test_what_is_not_translated_is_a_marked_quote() -> None:
    wording = written(a_pick()).wording("zh")
    assert wording.quotes and all(quote in TEXT for quote in wording.quotes)


def test_the_same_story_always_reads_the_same() -> None:
    assert written(a_pick()) == written(a_pick())


class _Liar:
    name = "liar"

    def write(self, pick: Pick, languages: Any, claims: Any, mentions: Any) -> tuple[Wording, ...]:
        return tuple(
            Wording(language=language, headline="TideFlow", summary="It is 3.7 times faster.", blurb="Better than MegaCorp.") for language in languages
        )


def test_a_wording_with_an_invented_number_is_replaced_by_the_source() -> None:
    article = write_article(a_pick(), ("en",), _Liar(), {"Blog": a_source()})
    assert article.wording("en").headline == "TideFlow: faster"
    assert "3.7" not in article.wording("en").summary
    assert article.written_by == "liar, in part the source"


def test_the_judge_names_what_is_not_in_the_source() -> None:
    pick = a_pick()
    wording = Wording(language="en", headline="A 2.5x gain", summary="By MegaCorp.", blurb="")
    assert complaints(wording, pick.story, pick.story.lead.claims, (), ("Blog",)) == (
        "the number 2.5 is not in the source",
        "the name MegaCorp is not in the source",
    )
