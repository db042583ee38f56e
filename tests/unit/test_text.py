"""Words and addresses."""

from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.phrase import Phrase
from digest.render.words import Words
from digest.text import arxiv_id, canonical_url, clean, is_han, repository, sentence_spans, sentences, shorten, space_han
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://Example.COM:80/a/?utm_source=x&b=1#top", "https://example.com/a?b=1"),
        ("http://arxiv.org/pdf/2611.00001v3", "https://arxiv.org/abs/2611.00001"),
        ("https://example.com", "https://example.com/"),
        ("javascript:alert(1)", ""),
        ("//example.com/x", ""),
        ("https://[broken", ""),
    ],
)
def test_two_links_to_one_page_are_equal(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


def test_names_in_addresses_are_found() -> None:
    assert arxiv_id("see arXiv:2611.00001v2") == "2611.00001"
    assert arxiv_id("https://huggingface.co/papers/2611.00001") == "2611.00001"
    assert repository("https://GitHub.com/Owner/Name.git") == "github.com/owner/name"


def test_sentences_end_where_a_reader_would_end_them() -> None:
    text = "We use e.g. FSDP vs. DDP at 1.5x. It helps (cf. Fig. 2). 训练更快。显存更少！Done"
    assert sentences(text) == ["We use e.g. FSDP vs. DDP at 1.5x.", "It helps (cf. Fig. 2).", "训练更快。", "显存更少！", "Done"]


@given(st.text())
def test_sentence_spans_are_in_order_and_cover_every_word(text: str) -> None:
    spans = sentence_spans(text)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    assert "".join(text[a:b] for a, b in spans).split() == "".join(text).split() or "".join("".join(text[a:b] for a, b in spans).split()) == "".join(
        text.split()
    )


def test_shortening_keeps_words_whole() -> None:
    assert shorten("one two three four", 14) == "one two…"
    assert shorten("训练加速的新方法", 5, "zh") == "训练加速…"


def test_latin_in_chinese_gets_its_spaces() -> None:
    assert space_han("在256张H100上提升1.9倍") == "在 256 张 H100 上提升 1.9 倍"


def test_direction_marks_and_control_characters_are_removed() -> None:
    assert clean("a\u202eb\x00c\u200b\r\nd") == "abc\nd"


def test_japanese_is_not_taken_for_chinese() -> None:
    assert is_han("训练加速 with PyTorch")
    assert not is_han("これは日本語のテキストです")
    assert not is_han("12345")


def test_a_phrase_is_said_in_both_languages_and_leaves_the_words_of_others_alone() -> None:
    words = Words([ROOT / "templates"])
    phrase = Phrase("%(where)s is about %(theirs)s in the source, not %(ours)s", where="2x", theirs=("inference", "latency"), ours=("Unheard",))
    assert phrase == "2x is about inference, latency in the source, not Unheard"
    assert words.phrase("zh", phrase) == "原文中的 2x 说的是推理、延迟，不是 Unheard"
    assert words.phrase("en", phrase) == phrase
    outer = Phrase("%(subject)s: %(what)s", subject="训练speedup 100%", what=phrase)
    assert words.phrase("zh", outer) == "训练speedup 100%：原文中的 2x 说的是推理、延迟，不是 Unheard"
    assert words.phrase("zh", "plain %(words)s") == "plain %(words)s" and words.phrase("zh", Phrase("")) == ""
    again = pickle.loads(pickle.dumps(outer))  # our own
    assert (again, again.pattern, again.values) == (outer, outer.pattern, outer.values)
