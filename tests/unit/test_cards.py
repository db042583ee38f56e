"""Share cards and the addresses of pages."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from digest.model import Article, Pick, Reason, Section, Shelf, Wording
from digest.render.cards import CardRenderer, wrapped
from digest.render.environment import SiteOptions, Templates
from digest.render.fonts import Fonts, find_fonts
from digest.render.places import counterpart
from digest.subjects import slug
from tests.builders import a_claim, a_labelled, a_source, a_story, an_entry, an_issue
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def fonts() -> Fonts:
    found = find_fonts()
    if found is None:
        pytest.skip("no font with Chinese letters is here (Debian: fonts-noto-cjk)")
    return found


def an_issue_with(headline: str, *, featured: bool = True) -> Any:
    story = a_story(entries=(a_labelled(entry=an_entry(title=headline), claims=(a_claim(baseline="a very long baseline " * 9),)),))
    wordings = tuple(Wording(language=language, headline=headline, summary="s", blurb="b") for language in ("zh", "en"))
    pick = Pick(story=story, reasons=(Reason(points=50, why="on-topic"),), featured=featured)
    article = Article(pick=pick, source=a_source(), claims=story.lead.claims, mentions=(), wordings=wordings, written_by="patterns")
    return an_issue(sections=(Section(topic="training-acceleration", title={"zh": "训", "en": "T"}, articles=(article,)),))


def cards(issue: Any, fonts: Fonts | None) -> dict[str, bytes]:
    templates = Templates([ROOT / "templates"], {}, SiteOptions(fonts))
    return {document.name: document.body for document in CardRenderer(templates).render(issue, Shelf(lines=(), recent=()))}


def test_an_issue_and_each_featured_article_have_a_card_in_each_language(fonts: Fonts) -> None:
    made = cards(an_issue_with("训练最高快 1.9 倍"), fonts)
    assert sorted(made) == [f"2026/11/24/{name}.{language}.png" for name in ("card", "story") for language in ("en", "zh")]
    for body in made.values():
        picture = Image.open(io.BytesIO(body))
        assert picture.size == (960, 504) and len(body) < 40_000
        assert len(picture.convert("L").getcolors() or []) > 4  # something is drawn
    assert cards(an_issue_with("训练最高快 1.9 倍"), fonts) == made
    assert len(cards(an_issue_with("x", featured=False), fonts)) == 2
    assert cards(an_issue_with("x"), None) == {}


@pytest.mark.parametrize("headline", ["", "w" * 5000, "混合专家" * 500, "\u202e🚀" * 50, "a" + " " * 300 + "b"])
def test_any_headline_makes_a_card(fonts: Fonts, headline: str) -> None:
    assert len(cards(an_issue_with(headline), fonts)) == 4


@example("1111111%%%。。。 ）", 2)  # the break fell on the space
@given(st.text(alphabet="训练加速，。（）《》ab cdefgh 123%.🚀\u202e", max_size=200), st.integers(1, 4))
def test_lines_keep_to_the_width_and_the_rules_of_punctuation(text: str, limit: int) -> None:
    fonts = find_fonts()
    if fonts is None:
        pytest.skip("no font with Chinese letters is here (Debian: fonts-noto-cjk)")
    lines = wrapped(text, fonts.bold, 40, 400, limit)
    assert len(lines) <= limit
    for line in lines[1:]:
        assert line[:1] not in tuple("，。）》%") or lines[lines.index(line) - 1].endswith("…")


def test_what_is_left_out_ends_in_an_ellipsis(fonts: Fonts) -> None:
    assert wrapped("训练" * 60, fonts.bold, 40, 400, 2)[-1].endswith("…")
    assert wrapped("短", fonts.bold, 40, 400, 2) == ["短"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("FlashAttention", "flashattention"), ("Llama 3.1", "llama-3.1"), ("ring attention", "ring-attention"), ("RTX 4090", "rtx-4090")],
)
def test_a_plain_name_is_its_own_address(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_names_that_lose_something_are_kept_apart() -> None:
    names = ["C++", "C#", "字节跳动", "字节", "zh", "index", "../..", "a" * 90, "a" * 91, ""]
    found = [slug(name) for name in names]
    assert len(set(found)) == len(names)
    assert all(each and "/" not in each and ".." not in each and len(each) <= 60 for each in found)


def test_the_same_page_in_another_language() -> None:
    assert counterpart("2026/11/24/zh.html", "zh", "en") == "en.html"
    assert counterpart("topics/moe.zh.html", "zh", "en") == "moe.en.html"
    assert counterpart("2026/11/24/index.html", "zh", "index") == "index.html"
    assert counterpart("404.html", "zh", "en") == ""
