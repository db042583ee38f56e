"""What the demo day looks like as documents: golden files, catalogues, feeds, escaping."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import feedparser
import pytest
from babel.messages.pofile import read_po

from digest import wiring
from digest.cli import main
from digest.judge import denials, lexicon
from digest.lines import article_lines, issue_line
from digest.model import Article, Pick, Reason, Section, Shelf, SourceLine, Wording
from digest.render.environment import Templates, safe_url
from digest.render.issue_files import IssueRenderer
from tests.builders import a_claim, a_labelled, a_source, a_story, an_entry, an_issue
from tests.conftest import DAY, ROOT
from tests.fakes import subjects

GOLDEN = ROOT / "tests" / "golden"
NAMES = (
    "2026/11/24/zh.md",
    "2026/11/24/en.md",
    "2026/11/24/zh.txt",
    "2026/11/24/en.txt",
    "2026/11/24/index.html",
    "2026/11/24/arxiv-2611.90001.zh.html",
    "2026/11/en.html",
    "index.html",
    "feed.zh.xml",
)


@pytest.fixture
def out(demo: Path) -> Path:
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    return demo.parent.parent / "out" / "demo"


def test_the_demo_day_reads_as_it_always_did(out: Path, request: pytest.FixtureRequest) -> None:
    for name in NAMES:
        golden = GOLDEN / name.replace("/", "-")
        if request.config.getoption("--rewrite-golden"):
            golden.write_bytes((out / name).read_bytes())
        assert (out / name).read_text(encoding="utf-8") == golden.read_text(encoding="utf-8"), f"{name} changed; --rewrite-golden if it should"


def test_the_demo_shows_every_part_of_an_issue(out: Path) -> None:
    page = (out / "2026/11/24/index.html").read_text(encoding="utf-8")
    for words in ("差一点入选", "Near misses", "得分不足：4 / 6", "读取情况", "入选原因", "依据原文", "同一事件也见于", "精选", "Featured", "原文摘录"):
        assert words in page, words


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("name", ["feed", "articles", "topics/moe"])
def test_the_feeds_are_sound_in_every_format(out: Path, name: str, language: str) -> None:
    """The rules of the standards that readers stumble over; see RFC 4287, rssboard.org and jsonfeed.org."""
    atom, rss = (feedparser.parse((out / f"{name}.{language}.{ending}").read_bytes()) for ending in ("xml", "rss"))
    made = json.loads((out / f"{name}.{language}.json").read_text(encoding="utf-8"))
    address = f"https://digest.example.org/{name}.{language}"
    for feed, ending in ((atom, "xml"), (rss, "rss")):
        assert not feed.bozo
        assert {link.rel: link.href for link in feed.feed.links} == {"alternate": "https://digest.example.org/", "self": f"{address}.{ending}"}
        assert all(
            entry.published_parsed <= (2026, 11, 24, 16) and entry.title and entry.link.startswith("https://digest.example.org/2026/11/24/")
            for entry in feed.entries
        )
    assert (atom.version, rss.version, made["version"]) == ("atom10", "rss20", "https://jsonfeed.org/version/1.1")
    assert (rss.feed.language, made["language"]) == (("zh-CN", "zh-CN") if language == "zh" else ("en", "en"))
    ids = [entry.id for entry in atom.entries]
    assert ids == [entry.id for entry in rss.entries] == [item["id"] for item in made["items"]]
    assert len(set(ids)) == len(ids) > 0
    assert len({entry.updated for entry in atom.entries}) == len(ids)
    assert all(not entry.guidislink for entry in rss.entries)
    raw = (out / f"{name}.{language}.rss").read_text(encoding="utf-8")
    assert raw.index("<description>", raw.index("<item>")) < raw.index("<content:encoded>")
    assert made["feed_url"] == f"{address}.json" and all(item["content_html"] and item["date_published"] for item in made["items"])


def test_ids_of_feeds_stay_when_titles_and_layout_change(out: Path) -> None:
    made = json.loads((out / "articles.en.json").read_text(encoding="utf-8"))
    assert made["items"][0]["id"] == "tag:digest.example.org,2026:item/arxiv-2611.90001/en"
    assert made["items"][0]["url"] == "https://digest.example.org/2026/11/24/arxiv-2611.90001.en.html"
    assert made["items"][0]["external_url"] == "https://arxiv.org/abs/2611.90001"
    feed = feedparser.parse((out / "feed.zh.xml").read_bytes())
    assert feed.entries[0].id == "tag:digest.example.org,2026:demo/2026-11-24/zh"


def test_the_pages_are_small_and_need_nothing_from_elsewhere(out: Path) -> None:
    page = (out / "2026/11/24/index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script[^>]*>", page) == ['<script src="../../../site.js" defer>'] and "@import" not in page and "<style" not in page
    assert all(not target.startswith(("http:", "https:", "//")) for target in re.findall(r'(?:src|stylesheet" href)="([^"]+)"', page))
    assert len(page.encode()) < 60_000
    assert 'lang="zh-Hans"' in page and 'lang="en"' in page


def hostile_issue(more: str = "") -> object:
    bad = "<script>alert(1)</script>\"'&`|*[x](javascript:y)" + "w" * 500 + more
    entry = an_entry(title=bad, text=bad, url="javascript:alert(1)", authors=(bad,))
    story = a_story(entries=(a_labelled(entry=entry, claims=(a_claim(quote=bad, baseline=bad),)),))
    wordings = tuple(Wording(language=language, headline=bad, summary=bad, blurb=bad, quotes=(bad,)) for language in ("zh", "en"))
    pick = Pick(story=story, reasons=(Reason(points=50, why="on-topic"),))
    article = Article(pick=pick, source=a_source(name=bad), claims=story.lead.claims, mentions=(), wordings=wordings, written_by="patterns")
    return an_issue(sections=(Section(topic="training-acceleration", title={"zh": "训", "en": "T"}, articles=(article,)),))


def test_nothing_from_a_feed_is_markup_in_a_page() -> None:
    templates = Templates([ROOT / "templates"])
    issue: Any = hostile_issue()
    shelf = Shelf(
        lines=(issue_line(issue),),
        recent=(issue,),
        articles=article_lines(issue),
        subjects=subjects(article_lines(issue)),
        sources=(SourceLine(source=a_source(url="javascript:x")),),
    )
    seen = set()
    for registry, subject in ((wiring.RENDERERS, issue), (wiring.SHELF_RENDERERS, {issue.day})):
        for document in [each for name in registry.names() for each in registry.create(name, templates=templates).render(subject, shelf)]:
            seen.add(document.name)
            text = document.body.decode()
            if document.media_type == "application/json":  # plain text throughout
                continue
            if document.media_type == "application/feed+json":  # titles and summaries are plain text there
                text = "".join(item["content_html"] for item in json.loads(text)["items"])
            if document.media_type not in ("text/markdown", "text/plain", "text/csv"):
                assert "<script>alert" not in text
                assert 'href="javascript:' not in text
            if document.media_type == "text/markdown":
                assert "[x](javascript" not in text and "](<javascript" not in text
    assert {"topics/zh.html", "entities/en.html", "sources/zh.html", "trends/en.html", "2026/w48.zh.html", "2026/11/24/story.en.html"} <= seen


def test_only_web_addresses_are_links() -> None:
    assert safe_url("https://a.example/x") == "https://a.example/x"
    assert safe_url("data:text/html,x") == "#"


def test_every_word_of_the_templates_stands_in_both_catalogues() -> None:
    catalogues = {}
    for language in ("zh", "en"):
        with (ROOT / "templates" / "locale" / f"{language}.po").open("rb") as file:
            catalogues[language] = read_po(file)
    used = set()
    for path in (ROOT / "templates").rglob("*"):
        if path.suffix in (".html", ".md", ".txt"):
            text = path.read_text(encoding="utf-8")
            used |= set(re.findall(r"\bt\(\w+, [\"']([^\"']+)[\"']\s*[,)]", text))
            used |= set(re.findall(r"\bn\(\w+, \"([^\"]+)\"", text))
    for path in (ROOT / "digest" / "render").glob("*.py"):
        used |= set(re.findall(r"\"(%\(number\)s [^\"]+)\", \"%", path.read_text(encoding="utf-8")))
    for path in (ROOT / "digest").rglob("*.py"):
        used |= set(re.findall(r"\bPhrase\(\s*\"([^\"]+)\"", path.read_text(encoding="utf-8")))
    used |= {f"idea {name}" for table in (lexicon.METRICS, lexicon.PROCESSES, lexicon.OPPONENTS, lexicon.SUBJECTS) for name, _ in table}
    used |= {f"idea {concept}" for concept, _ in denials.CONCEPTS}
    assert len(used) > 100
    for language, catalogue in catalogues.items():
        missing = sorted(message for message in used if message not in catalogue or not catalogue[message].string)
        assert missing == [], language
        filled = {message: set(re.findall(r"%\((\w+)\)s", message)) for message in used}
        assert [message for message, names in filled.items() if names != set(re.findall(r"%\((\w+)\)s", str(catalogue[message].string)))] == []
        assert not any({"language", "message"} & names for names in filled.values()), "these are names of Words.say"
    assert {message.id if isinstance(message.id, str) else message.id[0] for message in catalogues["zh"]} == {
        message.id if isinstance(message.id, str) else message.id[0] for message in catalogues["en"]
    }


def _reasons() -> set[str]:
    """Every word that the code gives as the reason of a state."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "digest").rglob("*.py"))
    found = set(re.findall(r"reason(?:: str)? ?= ?\"([a-z-]+)\"", code)) | set(re.findall(r"\d{3}: \"([a-z]+)\"", code))
    states = (ROOT / "digest" / "coverage" / "states.py").read_text(encoding="utf-8")
    found |= set(re.findall(r"\"(?:degraded|stale|waiting)\", \"([a-z]+)\"", states))
    assert {"no-feed", "busy", "few"} <= found
    return found


@pytest.mark.parametrize("prefix", ["state ", "reason ", "why ", ""])
def test_every_name_that_data_can_bring_has_words(prefix: str) -> None:
    words = Templates([ROOT / "templates"]).words
    names = {
        "state ": ("complete", "quiet", "waiting", "stale", "degraded", "failed", "off"),
        "why ": tuple(_reasons()),
        "reason ": ("on-topic", "figure", "official", "first-hand", "person", "sources", "code", "hardware", "old"),
        "": (
            "paper",
            "model",
            "product",
            "code",
            "tutorial",
            "news",
            "official",
            "first-hand",
            "person",
            "aggregator",
            "told-before",
            "no-room",
            "below-threshold",
            "training_speed",
            "other",
        ),
    }[prefix]
    for name in names:
        assert words.say("zh", prefix + name) != prefix + name


def test_an_empty_day_is_an_issue_that_says_so() -> None:
    issue = an_issue(entries_read=612)
    documents = {
        document.name: document.body.decode() for document in IssueRenderer(Templates([ROOT / "templates"])).render(issue, Shelf(lines=(), recent=(issue,)))
    }
    assert "今天没有入选内容" in documents["2026/11/24/zh.html"]
    assert "612 entries were read, none is about the topic." in documents["2026/11/24/en.html"]
    assert "No pick today. 612 entries were read" in documents["2026/11/24/en.txt"]


def test_a_day_on_which_nothing_was_said_says_that() -> None:
    issue = an_issue(entries_read=0)
    documents = {
        document.name: document.body.decode() for document in IssueRenderer(Templates([ROOT / "templates"])).render(issue, Shelf(lines=(), recent=(issue,)))
    }
    assert "各来源没有新内容。" in documents["2026/11/24/zh.html"]
    assert "The sources said nothing new." in documents["2026/11/24/en.md"]
