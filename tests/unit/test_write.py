"""Words for picks: figures and bounds beside each other, both languages alike, nothing that the source does not say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from digest.figures import change, figure
from digest.model import Article, Assignment, Desk, Draft, Issue, Language, Mention, Merge, Pick, Reason, Refusal, Reworded, Section, Spending, Wording
from digest.shipped import SHIPPED
from digest.write import grounding
from digest.write.brief import told
from digest.write.desk import apply
from digest.write.fallback import Fallback
from digest.write.figures import baseline, clause, phrase, spaced
from digest.write.glossary import Glossary
from digest.write.issue import article, assign
from digest.write.pattern import PatternWriter
from digest.write.sentences import retold
from tests.builders import a_claim, a_label, a_labelled, a_source, a_story, an_entry, an_issue

TITLES = {"training-acceleration": {"zh": "训练加速", "en": "training acceleration"}, "moe": {"zh": "混合专家", "en": "mixture of experts"}}
TEXT = "We present TideFlow, a scheduler. It gives up to 1.9x faster training over Megatron-LM. Nothing else."
GLOSSARY = Glossary((SHIPPED / "templates" / "glossary.txt").read_text(encoding="utf-8").splitlines())


def a_pick(**changes: Any) -> Pick:
    claim = a_claim(low=1.9, high=1.9, bound="up_to", baseline="Megatron-LM", quote="It gives up to 1.9x faster training over Megatron-LM.")
    fields: dict[str, Any] = {"entry": an_entry(title="TideFlow: faster", text=TEXT), "labels": (a_label(), a_label(topic="moe")), "claims": (claim,)}
    fields["mentions"] = (Mention(kind="method", text="TideFlow", quote="TideFlow"),)
    key = changes.pop("key", "story")
    return Pick(story=a_story(key=key, entries=(a_labelled(**fields | changes),)), reasons=(Reason(points=50, why="on-topic"),))


def an_assignment(*languages: Language, **changes: Any) -> Assignment:
    return assign(a_pick(**changes), languages or ("zh", "en"))


def patterns() -> PatternWriter:
    return PatternWriter(TITLES, GLOSSARY, {})


def written(assignment: Assignment) -> Article:
    return article(assignment, patterns().draft(assignment), {"Blog": a_source()})


@pytest.mark.parametrize(
    ("changes", "chinese", "english"),
    [
        ({"low": 2.37, "high": 2.37, "bound": "up_to"}, "训练最高快 2.37 倍", "training up to 2.37× faster"),
        ({"low": 1.3, "high": 1.6}, "训练快 1.3–1.6 倍", "training 1.3–1.6× faster"),
        (
            {"metric": "training_time", "unit": "%", "low": 49.1, "high": 71.2, "direction": "less"},
            "训练时间缩短 49.1%–71.2%",
            "49.1%–71.2% less training time",
        ),
        ({"metric": "memory", "unit": "%", "low": 38, "high": 38, "direction": "less", "bound": "about"}, "内存占用约降低 38%", "about 38% lower memory use"),
        (
            {"metric": "iterations", "unit": "x", "low": 8.75, "high": 8.75, "direction": "less", "bound": "up_to", "quote": "up to 8.75x fewer iterations"},
            "训练迭代次数最多减少 8.75 倍",
            "up to 8.75× fewer training iterations",
        ),
        ({"metric": "throughput", "low": 3.4, "high": 3.7}, "吞吐量提升 3.4–3.7 倍", "3.4–3.7× higher throughput"),
    ],
)
def test_a_claim_keeps_metric_bound_and_range(changes: dict[str, Any], chinese: str, english: str) -> None:
    claim = a_claim(**changes)
    assert spaced(phrase(claim, "zh")) == chinese
    assert phrase(claim, "en") == english


@pytest.mark.parametrize(
    ("changes", "english"),
    [
        ({"low": 2.4, "high": 2.4, "bound": "up_to"}, "training is up to 2.4× faster"),
        ({"metric": "training_time", "unit": "%", "low": 43, "high": 43, "direction": "less", "bound": "average"}, "training time falls by 43% on average"),
        ({"metric": "iterations", "unit": "%_of", "low": 20, "high": 20, "direction": "less"}, "training steps are 20% of the baseline"),
        ({"metric": "training_time", "unit": "hours", "low": 5, "high": 5, "direction": "less", "baseline": "9 hours"}, "training time falls to 5 hours"),
    ],
)
def test_a_claim_is_a_clause(changes: dict[str, Any], english: str) -> None:
    assert clause(a_claim(**changes)) == english


def test_a_metric_is_named_by_the_words_beside_its_figure() -> None:
    quote = "It reaches final-epoch performance using 20% of the pre-training budget."
    claim = a_claim(metric="iterations", unit="%_of", low=20, high=20, direction="less", quote=quote)
    assert phrase(claim, "zh") == "训练预算为对比对象的 20%"


def test_time_is_not_called_cost_because_cost_stands_nearby() -> None:
    quote = "It can save about 33.3% theoretical compute cost and 25.6% wall-clock training time."
    claim = a_claim(metric="training_time", unit="%", low=25.6, high=25.6, direction="less", quote=quote)
    assert phrase(claim, "en") == "25.6% less training time"


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
        ({"metric": "memory", "unit": "%_of", "low": 25, "high": 25, "direction": "less"}, "为对比对象的 25%", "25% of the baseline"),
    ],
)
def test_a_figure_alone_says_which_way_it_moves(changes: dict[str, Any], chinese: str, english: str) -> None:
    assert (change(a_claim(**changes), "zh"), change(a_claim(**changes), "en")) == (chinese, english)


def test_what_the_work_costs_is_told_after_what_it_gains() -> None:
    cost = a_claim(metric="training_time", unit="%", low=2, high=2, direction="more")
    gain = a_claim(metric="memory", unit="%", low=30, high=30, direction="less")
    assert told([cost, gain]) == (gain, cost)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("A Large-Scale Asynchronous Reinforcement Learning System for Language Reasoning", "用于语言推理的大规模异步强化学习系统"),
        ("efficient implementations of existing approaches", "现有方法的高效实现"),
        ("communication-efficient MoE training framework", "通信高效 MoE 训练框架"),
        ("FP16 baseline", "FP16 基线"),
        ("a careful mix of things", None),
        ("training with unknownish tricks", None),
    ],
)
def test_a_phrase_is_carried_whole_or_not_at_all(english: str, chinese: str | None) -> None:
    assert GLOSSARY.to_chinese(english) == chinese


def test_a_chinese_phrase_is_carried_whole_or_not_at_all() -> None:
    assert GLOSSARY.to_english("一种轻量优化器") == "lightweight optimizer"
    assert GLOSSARY.to_english("一种会飞的优化器") is None


def test_a_baseline_is_named_translated_or_quoted() -> None:
    assert baseline(a_claim(baseline="state-of-the-art methods"), "zh", GLOSSARY) == "现有最优方法"
    assert baseline(a_claim(baseline="FSDP"), "zh", GLOSSARY) == "FSDP"
    assert baseline(a_claim(baseline="a careful mix of things"), "zh", GLOSSARY) == "“a careful mix of things”"


def test_both_languages_carry_the_bound_and_the_baseline() -> None:
    found = written(an_assignment())
    for language, bound in (("zh", "最高快 1.9 倍"), ("en", "up to 1.9")):
        wording = found.wording(language)  # type: ignore[arg-type]
        spoken = wording.headline + wording.summary + wording.blurb
        assert bound in spoken
        assert "Megatron-LM" in spoken
    assert found.written_by == "patterns"
    assert found.refusals == ()


@pytest.mark.parametrize("key", [f"story-{number}" for number in range(24)])
def test_every_pattern_stands_before_the_judge_with_the_same_figures(key: str) -> None:
    """Each key chooses its own patterns."""
    found = written(an_assignment(key=key))
    assert found.refusals == ()
    assert grounding.differing_figures(found.wordings) == ()
    assert all(wording.summary and wording.blurb for wording in found.wordings)


def test_without_a_figure_nothing_is_promised() -> None:
    found = written(an_assignment(claims=(), entry=an_entry(title="TideFlow: faster", text="We present TideFlow.")))
    for wording in found.wordings:
        assert not any(character.isdigit() for character in wording.blurb + wording.summary)
        assert "最高" not in wording.blurb and "faster" not in wording.blurb


def test_what_is_not_translated_is_a_marked_quote() -> None:
    wording = written(an_assignment()).wording("zh")
    assert wording.quotes and all(quote in TEXT for quote in wording.quotes)


def test_the_same_story_always_reads_the_same() -> None:
    assert written(an_assignment()) == written(an_assignment())


def test_a_claim_that_the_judge_doubts_is_left_to_its_quote() -> None:
    text = "We present TideFlow. Combined with SlimKV, TideFlow gives 1.9x faster training."
    claim = a_claim(low=1.9, high=1.9, quote="Combined with SlimKV, TideFlow gives 1.9x faster training.")
    found = written(an_assignment(entry=an_entry(title="TideFlow", text=text), claims=(claim,)))
    assert "1.9" not in found.wording("zh").headline + found.wording("zh").summary
    assert found.claims == (claim,)


def test_a_source_sentence_with_a_figure_that_cannot_be_told_is_left_out() -> None:
    text = "We present TideFlow, a scheduler. Experiments show a 7.25 point gain and 81% better taste. It gives up to 1.9x faster training over Megatron-LM."
    found = written(an_assignment(entry=an_entry(title="TideFlow: faster", text=text)))
    assert "81%" not in found.wording("en").summary
    assert grounding.differing_figures(found.wordings) == ()


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("We propose FastFit, a method that our users like.", "The authors propose FastFit, a method that their users like."),
        ("However, we train it in FP8 and we release it.", "The authors train it in FP8 and they release it."),
        ("In this paper, we show a 2.5times speedup.", "The authors show a 2.5× speedup."),
    ],
)
def test_a_sentence_is_retold_from_outside(sentence: str, said: str) -> None:
    assert retold(an_entry(text=sentence), (), 1, is_paper=True, turn=0, only=bool) == (said,)


class _Liar:
    """Says what the source does not."""

    name = "liar"

    async def write(self, assignments: Sequence[Assignment]) -> tuple[list[Draft], Spending]:
        return [self.draft(assignment) for assignment in assignments], Spending(money=0.5)

    def draft(self, assignment: Assignment) -> Draft:
        wordings = tuple(
            Wording(language=language, headline="TideFlow", summary="It is a scheduler. It is 3.7 times faster.", blurb="Better than MegaCorp.")
            for language in assignment.languages
        )
        return Draft(wordings=wordings, written_by=self.name)


def test_a_sentence_with_an_invented_number_or_name_is_not_printed() -> None:
    assignment = an_assignment("en")
    found = article(assignment, _Liar().draft(assignment), {"Blog": a_source()})
    assert found.wording("en").summary == "It is a scheduler."
    assert found.wording("en").blurb == ""
    assert {(refusal.kind, refusal.words) for refusal in found.refusals} == {("number", "It is 3.7 times faster."), ("name", "Better than MegaCorp.")}


def test_languages_with_different_figures_are_replaced_by_the_source() -> None:
    assignment = an_assignment()
    wordings = (
        Wording(language="zh", headline="TideFlow", summary="训练最高快 1.9 倍。", blurb=""),
        Wording(language="en", headline="TideFlow", summary="It is a scheduler.", blurb=""),
    )
    found = article(assignment, Draft(wordings=wordings, written_by="x"), {"Blog": a_source()})
    assert [wording.summary for wording in found.wordings] == ["", ""]
    assert [refusal.kind for refusal in found.refusals] == ["languages"]
    assert found.wording("zh").quotes


class _Half:
    """Writes English only, and says why."""

    name = "half"

    async def write(self, assignments: Sequence[Assignment]) -> tuple[list[Draft], Spending]:
        refusal = Refusal(writer="half", language="zh", kind="budget", words="", why="spent")
        wording = Wording(language="en", headline="TideFlow", summary="It is a scheduler.", blurb="A scheduler.")
        return [Draft(wordings=(wording,), written_by="half", refusals=(refusal,)) for _ in assignments], Spending(money=0.25)


def test_what_one_writer_cannot_do_another_does_and_the_reason_is_kept() -> None:
    drafts, spent = asyncio.run(Fallback(_Half(), patterns()).write([an_assignment(), an_assignment("en")]))
    assert [draft.written_by for draft in drafts] == ["patterns", "half"]
    assert [refusal.kind for refusal in drafts[0].refusals] == ["budget"]
    assert spent.money == 0.25


def edited_issue(**desk: Any) -> tuple[Issue, list[str]]:
    articles = tuple(written(an_assignment(key=key)) for key in ("one", "two", "three"))
    issue = an_issue(sections=(Section(topic="training-acceleration", title={"zh": "训练加速", "en": "Training"}, articles=articles),))
    edited, warnings = apply(issue, Desk(**desk), {})
    return edited, [warning.message for warning in warnings]


def keys(issue: Issue) -> list[str]:
    return [found.pick.story.key for found in issue.articles]


def test_an_editor_pins_drops_and_orders() -> None:
    edited, warnings = edited_issue(pin=("three",), drop=("one",), order=("two",))
    assert keys(edited) == ["three", "two"]
    assert [found.pick.featured for found in edited.articles] == [True, False]
    assert warnings == []


def test_an_editor_merges_stories() -> None:
    edited, _ = edited_issue(merge=(Merge(into="two", stories=("one", "three")),))
    assert keys(edited) == ["two"]
    assert len(edited.articles[0].pick.story.entries) == 3


def test_an_editor_rewords_and_is_warned_and_not_stopped() -> None:
    edited, warnings = edited_issue(reword=(Reworded(story="two", language="en", blurb="Training is 5x faster."),))
    changed = next(found for found in edited.articles if found.pick.story.key == "two")
    assert changed.wording("en").blurb == "Training is 5x faster."
    assert changed.wording("en").headline
    assert changed.is_edited and not edited.articles[0].is_edited
    assert any("5x" in warning for warning in warnings)


@pytest.mark.parametrize(
    "desk",
    [
        {"pin": ("one",), "drop": ("one",)},
        {"drop": ("one",), "merge": (Merge(into="one", stories=("two",)),)},
        {"drop": ("one",), "reword": (Reworded(story="one", language="en", blurb="Shorter."),)},
        {"merge": (Merge(into="one", stories=("one", "two")),)},
    ],
)
def test_edits_that_undo_each_other_are_said(desk: dict[str, Any]) -> None:
    _, warnings = edited_issue(**desk)
    assert len(warnings) == 1 and ("dropped" in warnings[0] or "into itself" in warnings[0])


def test_an_unknown_key_is_said_and_an_untouched_issue_stays_as_it_is() -> None:
    _, warnings = edited_issue(drop=("nobody",))
    assert "digest show --keys" in warnings[0]
    plain, _ = edited_issue()
    assert keys(plain) == ["one", "two", "three"]
    assert replace(plain, letters={}) == plain
