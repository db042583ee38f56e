"""Rules, claims, names: what they take and what they leave."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from digest.classify.expressions import Lexicon
from digest.classify.labels import KeywordLabeller, Rule, Topic
from digest.classify.mentions import Kind, NameReader
from digest.errors import ConfigError
from digest.figures import figure
from digest.read.claims import extract_from
from digest.read.folding import fold, signs
from tests.builders import a_claim, an_entry


def found(expression: str, text: str, title: str = "", **groups: list[str]) -> list[str]:
    lexicon = Lexicon(groups)
    node = lexicon.compile(expression)
    reading = lexicon.read(title, text)
    return [reading.joined[start:end] for start, end in reading.spans(node)]


@pytest.mark.parametrize(
    ("expression", "text", "hits"),
    [
        ("speedup", "Speedups of 2x, but no speedupper", ["Speedups"]),
        ("accelerat*", "We ACCELERATE, it accelerates; decelerate", ["ACCELERATE", "accelerates"]),
        ("mixed precision", "mixed-precision and mixed  precision", ["mixed-precision", "mixed  precision"]),
        ("less (memory | memory usage) today", "less memory usage today", ["less memory usage today"]),
        ("(fast model training) ~ (fast | model | training | models)", "The fast model training of large models.", ["fast model training of large models"]),
        ("moe", "Moebius strips and a MoE", ["MoE"]),
        ("训练", "大模型訓練很贵", ["訓練"]),
        ("H100 | B200", "from B200 to H100", ["B200", "H100"]),
        ("faster ~ training", "Training gets faster. Slower training.", ["Training gets faster"]),
        ("faster ~2 training", "faster and much cheaper to run training", []),
        ("faster ~2 training", "faster model training", ["faster model training"]),
        ("(a1 | b1) ~ c1", "c1 then b1", ["c1 then b1"]),
        ("speculat* decod*", "speculative decoding", ["speculative decoding"]),
        ("{quick} ~ training", "rapid training", ["rapid training"]),
        ("less (memory | data)", "less data, data less, less-memory", ["less data", "less-memory"]),
    ],
)
def test_expressions_find_what_they_say(expression: str, text: str, hits: list[str]) -> None:
    assert found(expression, text, quick=["rapid", "swift"]) == hits


@pytest.mark.parametrize("expression", ["", "a |", "(a", "a)", "~ b", "a ~", "{missing}", "!!", "*former"])
def test_a_wrong_expression_is_refused_with_its_words(expression: str) -> None:
    with pytest.raises(ConfigError):
        Lexicon({}).compile(expression or " ")


def test_a_group_that_contains_itself_is_refused() -> None:
    with pytest.raises(ConfigError, match="itself"):
        Lexicon({"loop": ["{loop} | a"]}).compile("{loop}")


@given(st.text())
def test_folding_keeps_every_place(text: str) -> None:
    assert len(fold(text)) == len(signs(text)) == len(text)


@given(st.text(alphabet="ab()|~{}* 12", max_size=20), st.text(max_size=40))
def test_no_expression_crashes_otherwise(expression: str, text: str) -> None:
    with contextlib.suppress(ConfigError):
        found(expression, text)


def a_topic(*rules: Rule, never: tuple[str, ...] = (), threshold: float = 2.0) -> Topic:
    return Topic(name="t", rules=rules, threshold=threshold, claims={"training_speed": 3}, never=never)


def score(topic: Topic, text: str, title: str = "") -> float:
    labels = KeywordLabeller([topic], {}).label_words(title, text)
    return labels[0].score if labels else 0.0


def test_points_add_up_and_the_title_counts_more() -> None:
    topic = a_topic(Rule(find="faster"), Rule(find="training", points=2))
    assert score(topic, "faster training") == 3
    assert score(topic, "", title="faster training") == 4.5


def test_a_context_cancels_its_own_sentence_only() -> None:
    topic = a_topic(Rule(find="training"), never=("training-free",))
    assert score(topic, "A training-free method.") == 0
    assert score(topic, "A training-free method. It helps training.") == 1


def test_a_phrase_never_crosses_from_the_title_into_the_text() -> None:
    assert found("mixed precision", "Precision farming.", title="All about mixed") == []


def test_a_context_neither_lifts_a_score_nor_leaves_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = (Rule(find="alpha", points=2), Rule(find="beta", points=-1))
    text = "Alpha is good. Beta and gamma are not."
    assert score(a_topic(*rules, never=("gamma",)), text) == score(a_topic(*rules), text) == 1
    claim = a_claim(quote="The gamma makes training 2x faster.")
    labelling = KeywordLabeller([a_topic(never=("gamma",))], {})
    assert labelling.label_words("", "The gamma makes training 2x faster.", [claim]) == ()


def test_needs_and_unless_limit_a_rule() -> None:
    topic = a_topic(Rule(find="faster", needs="model", unless="decoding"))
    assert score(topic, "It is faster.") == 0
    assert score(topic, "The model decoding is faster.") == 0
    assert score(topic, "The model is faster.") == 1


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(["faster training", "a training-free way", "no", "faster", "训练"]), max_size=8), st.sampled_from(["training-free", "no", "训练"])
)
def test_another_negative_context_never_adds_a_tag(parts: list[str], context: str) -> None:
    text = ". ".join(part.capitalize() for part in parts)
    rules = (Rule(find="faster ~ training"), Rule(find="训练"), Rule(find="no", points=-1))
    assert score(a_topic(*rules, never=(context,)), text) <= score(a_topic(*rules), text)


def test_a_claim_is_evidence_once() -> None:
    topic = a_topic()
    (label,) = KeywordLabeller([topic], {}).label_words("", "x", [a_claim(), a_claim(low=3.0, high=3.0)])
    assert (label.score, label.is_in, len(label.evidence)) == (3, True, 1)


def test_evidence_points_at_the_words() -> None:
    (label,) = KeywordLabeller([a_topic(Rule(find="faster"))], {}).label_words("A title", "It is faster.")
    (hit,) = label.evidence
    assert ("It is faster."[hit.start : hit.end], hit.field) == ("faster", "text")


def claims(text: str, title: str = "") -> list[tuple[str, float, float, str, str]]:
    return [(claim.metric, claim.low, claim.high, claim.unit, claim.bound) for claim in extract_from(text, title)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Our system achieves up to 2.4x training speedup over Megatron-LM.", [("training_speed", 2.4, 2.4, "x", "up_to")]),
        ("Training is 1.3x to 1.6x faster on B200.", [("training_speed", 1.3, 1.6, "x", "exact")]),
        (r"It reduces GPU memory by 41\% while training.", [("memory", 41, 41, "%", "exact")]),
        ("It cuts training time by about 30%.", [("training_time", 30, 30, "%", "about")]),
        ("It delivers a more than threefold training speedup.", [("training_speed", 3, 3, "x", "at_least")]),
        (
            "It is up to 1.5x and 2.1x faster in training and inference.",
            [("training_speed", 1.5, 1.5, "x", "up_to"), ("inference_speed", 2.1, 2.1, "x", "up_to")],
        ),
        ("Decoding becomes 3x faster.", [("inference_speed", 3, 3, "x", "exact")]),
        ("端到端训练速度最高提升 1.9 倍。", [("training_speed", 1.9, 1.9, "x", "up_to")]),
        ("训练时显存占用减少约 38%。", [("memory", 38, 38, "%", "about")]),
        ("单步训练时间从 2.4 秒降到 1.6 秒。", [("training_time", 1.6, 1.6, "seconds", "exact")]),
        ("It cuts the time to train a model from 12 days to 5 days.", [("training_time", 5, 5, "days", "exact")]),
        ("The optimizer converges in half the number of steps.", [("iterations", 50, 50, "%_of", "exact")]),
        ("It reduces communication volume by a factor of 8 during distributed training.", [("communication", 8, 8, "x", "exact")]),
        ("Training costs drop from $30,000 to $4,000.", [("training_time", 4000, 4000, "USD", "exact")]),
        ("MFU rises from 38% to 52% in MoE training.", [("throughput", 52, 52, "%", "exact")]),
        ("We reach the same loss in training with 2.3 times fewer tokens.", [("iterations", 2.3, 2.3, "x", "exact")]),
        (r"It needs only 48-52\% of the training steps of AdamW.", [("iterations", 48, 52, "%_of", "exact")]),
        ("It makes training faster by more than an order of magnitude.", [("training_speed", 10, 10, "x", "at_least")]),
        ("训练吞吐提升至原来的 2.3 倍，显存占用降低三成。", [("throughput", 2.3, 2.3, "x", "exact"), ("memory", 30, 30, "%", "exact")]),
        ("训练提速约 35%，显存节省近一半。", [("training_speed", 35, 35, "%", "about"), ("memory", 50, 50, "%", "about")]),
        ("训练速度提高了一个数量级。", [("training_speed", 10, 10, "x", "exact")]),
        ("A dog runs 3x faster and a scan takes 40% less time.", [("other", 3, 3, "x", "exact"), ("other", 40, 40, "%", "exact")]),
        ("Training throughput is 2.7--3.2x that of the baseline.", [("throughput", 2.7, 3.2, "x", "exact")]),
        ("训练时间缩短到原来的十二分之一。", [("training_time", 8.3, 8.3, "%_of", "exact")]),
        ("训练速度提升二十倍，显存占用降低四成五。", [("training_speed", 20, 20, "x", "exact"), ("memory", 45, 45, "%", "exact")]),
        ("在大模型训练上提速 3 倍。", [("training_speed", 3, 3, "x", "exact")]),
        ("Training on the subset keeps accuracy while reducing selection time by 2.3x.", [("other", 2.3, 2.3, "x", "exact")]),
        ("The corpus holds 26 hours of speech.", []),
        ("It uses half a million images.", []),
        ("Existing methods are 12x slower.", []),
        ("We use 256 GPUs and images of 256x256 pixels.", []),
        ("训练侧没有变化。", []),
    ],
)
def test_claims_are_read_with_metric_unit_and_bound(text: str, expected: list[tuple[str, float, float, str, str]]) -> None:
    assert claims(text) == expected


def test_a_claim_names_its_baseline_and_what_it_came_from() -> None:
    (claim,) = extract_from("It trains 2x faster than FSDP on H100.")
    assert (claim.baseline, claim.setting) == ("FSDP", "H100")
    (claim,) = extract_from("单步训练时间从 2.4 秒降到 1.6 秒。")
    assert claim.baseline == "2.4 秒"


PIECES = st.sampled_from(
    [
        "training",
        "up to",
        "2x",
        "3.5 ×",
        "48-52\\%",
        "faster",
        "by",
        "memory",
        "倍",
        "提升",
        "1.9 倍",
        "and",
        ",",
        ".",
        "over FSDP",
        "reduces",
        "half",
        "三成",
        "$",
        "(",
        "—",
    ]
)


@given(st.lists(PIECES, max_size=25).map(" ".join) | st.text(max_size=80))
def test_quotes_are_substrings_and_no_text_crashes(text: str) -> None:
    for claim in extract_from(text):
        assert claim.quote in text
        assert claim.low <= claim.high


@given(st.decimals(min_value="1.01", max_value="9999", places=2), st.sampled_from(["{}x", "{}×", "{} times", "{}-fold", "{}$\\times$"]))
def test_figures_are_read_as_they_are_written_and_print_back(value: Decimal, spelling: str) -> None:
    written = f"{value.normalize():f}"
    (claim,) = extract_from(f"Our training is {spelling.format(written)} faster than FSDP.")
    assert claim.low == claim.high == float(value)
    (again,) = extract_from(f"Our training is {figure(claim, 'en')} faster.")
    assert (again.low, again.unit) == (claim.low, claim.unit)


@given(st.integers(min_value=1, max_value=98), st.integers(min_value=1, max_value=1), st.sampled_from(["减少 {}–{}%", "缩短了 {}% 到 {}%", "降低约 {}～{}%"]))
def test_chinese_ranges_are_read_as_they_are_written(low: int, step: int, spelling: str) -> None:
    (claim,) = extract_from(f"与基线相比，训练时间{spelling.format(low, low + step)}。")
    assert (claim.low, claim.high, claim.unit, claim.metric) == (low, low + step, "%", "training_time")


def test_of_several_baselines_each_figure_gets_its_own() -> None:
    text = "It reduces communication by 64%, 28%, and 67% compared to FedAvg, FedProx, and FedAdp, respectively."
    assert [claim.baseline for claim in extract_from(text)] == ["FedAvg", "FedProx", "FedAdp"]


@pytest.mark.parametrize("piece", ["2x faster training up to 3x and ", "训练加速2倍，", "从1小时降到", "half ", "5% / ", "1,", "between 1 and 2x ", "12.5x "])
def test_a_hostile_megabyte_is_read_in_bounded_work(piece: str) -> None:
    quantities = extract_from(piece * (1_000_000 // len(piece)))  # with work that grows as a square this test would not end
    assert len(quantities) <= 200
    assert not any(claim.low == 5 for claim in quantities if "12.5" in claim.quote)


def test_names_kinds_and_code_are_recognised() -> None:
    reader = NameReader({"hardware": ["B200 = Blackwell"], "organisation": ["英伟达 = NVIDIA"]}, [Kind(kind="tutorial", find=("how to",))])
    entry = an_entry(title="How to train", text="We present FastTrain, which NVIDIA runs on Blackwell. See https://github.com/a/fast-train.")
    mentions = {(mention.kind, mention.text, mention.quote) for mention in reader.mentions(entry)}
    assert ("hardware", "B200", "Blackwell") in mentions
    assert ("organisation", "英伟达", "NVIDIA") in mentions
    assert ("method", "FastTrain", "FastTrain") in mentions
    assert ("code", "https://github.com/a/fast-train", "https://github.com/a/fast-train") in mentions
    assert reader.kind(entry, "feed") == "tutorial"
    assert reader.kind(an_entry(title="Other"), "feed") == "news"
