"""Sources as people name them: find, test, add, remove, import, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.cli import main
from digest.errors import ParseError
from digest.parse import opml
from digest.parse.discovery import Address, by_rule, linked_feeds
from digest.settings.load import load
from tests.builders import a_source
from tests.conftest import DAY, ROOT
from tests.fakes import Answer, FeedServer


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "feeds.yaml"
    path.write_bytes((ROOT / "feeds.yaml").read_bytes())
    return path


@pytest.mark.parametrize(
    ("named", "url", "kind"),
    [
        ("cs.DC", "https://rss.arxiv.org/rss/cs.DC", "arxiv"),
        ("https://arxiv.org/list/cs.LG/recent", "https://rss.arxiv.org/rss/cs.LG", "arxiv"),
        ("https://rss.arxiv.org/atom/stat.ML", "https://rss.arxiv.org/atom/stat.ML", "arxiv"),
        ("https://github.com/owner/name", "https://github.com/owner/name/releases.atom", "feed"),
        ("https://github.com/owner/name/releases", "https://github.com/owner/name/releases.atom", "feed"),
        ("https://www.youtube.com/channel/UCabcdefghijklmnopqrstuv", "https://www.youtube.com/feeds/videos.xml?channel_id=UCabcdefghijklmnopqrstuv", "feed"),
        ("r/LocalLLaMA", "https://www.reddit.com/r/LocalLLaMA/.rss", "feed"),
        ("https://mastodon.example/@someone", "https://mastodon.example/@someone.rss", "feed"),
        ("@cursor_ai", "rsshub:/twitter/user/cursor_ai", "feed"),
        ("https://x.com/NVIDIAAI", "rsshub:/twitter/user/NVIDIAAI", "feed"),
        ("https://huggingface.co/papers", "https://huggingface.co/api/daily_papers", "hf-papers"),
    ],
)
def test_known_sites_are_known_by_rule(named: str, url: str, kind: str) -> None:
    found = by_rule(named)
    assert isinstance(found, Address)
    assert (found.url, found.kind) == (url, kind)


def test_an_ordinary_page_is_known_by_no_rule() -> None:
    assert by_rule("https://blog.example.com/") is None


def test_the_feeds_of_a_page_are_found_in_order() -> None:
    page = '<link rel="alternate" type="application/rss+xml" href="/feed"><link rel=ALTERNATE type=application/atom+xml href=https://b.example/atom><link rel="stylesheet" href="x">'
    page += '<link rel="alternate" type="application/rss+xml" href="javascript:alert(1)"><link rel="alternate" type="text/html" href="/en">'
    assert linked_feeds(page, "https://a.example/blog/") == ["https://a.example/feed", "https://b.example/atom"]


@given(st.text(max_size=300))
def test_no_page_and_no_name_crashes(text: str) -> None:
    linked_feeds(text, "https://a.example/")
    by_rule(text)


def test_a_feed_is_shown_as_it_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["feeds", "test", str(ROOT / "examples/media.zh.rss.xml"), "--timezone", "Asia/Shanghai", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["state"], record["encoding"], len(record["entries"])) == ("complete", "utf-8", 3)
    assert record["entries"][0]["ids"] == ["arxiv:2611.90001"]
    assert [entry["date_rule"] for entry in record["entries"]] == ["rfc822", "rfc822", "chinese"]
    assert record["entries"][2]["published_at"] == "2026-11-24T00:05:00+00:00"
    assert main(["feeds", "test", str(ROOT / "examples/person.json")]) == 0
    assert "Your dataloader is the bottleneck" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["examples/broken.html", "examples/nowhere.xml"])
def test_what_is_no_feed_ends_with_1(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["feeds", "test", str(ROOT / name), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["state"] == "failed"


def test_a_blog_is_added_by_its_page(own: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/"] = Answer(b'<html><head><link rel="alternate" type="application/rss+xml" href="/zh.xml"></head></html>')
    server.answers["/zh.xml"] = Answer((ROOT / "examples/media.zh.rss.xml").read_bytes())
    assert main(["feeds", "add", server.address + "/", "--config", str(own)]) == 0
    assert "TideFlow" in capsys.readouterr().out
    added = load(own).settings.sources[-1]
    assert (added.name, added.url, added.language, added.timezone) == ("机器前沿", f"{server.address}/zh.xml", "zh", "Asia/Shanghai")
    assert main(["feeds", "add", server.address + "/", "--config", str(own)]) == 2
    assert "already" in capsys.readouterr().err
    assert "# The one file to edit." in own.read_text(encoding="utf-8")


def test_a_page_without_a_feed_is_refused(own: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/"] = Answer(b"<html></html>")
    assert main(["feeds", "add", server.address + "/", "--config", str(own)]) == 1
    assert "links no feed" in capsys.readouterr().err
    assert own.read_bytes() == (ROOT / "feeds.yaml").read_bytes()


def test_a_source_is_removed_by_name(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["feeds", "remove", "BAIR", "--config", str(own)]) == 0
    assert "BAIR" not in [source.name for source in load(own).settings.sources]
    assert main(["feeds", "remove", "Intercconects", "--config", str(own)]) == 2
    assert "did you mean 'Interconnects'?" in capsys.readouterr().err


def test_a_list_goes_out_and_comes_in_without_doubles(own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["feeds", "export", "--config", str(own)])
    listed = tmp_path / "list.opml"
    listed.write_text(capsys.readouterr().out, encoding="utf-8")
    short = tmp_path / "short" / "feeds.yaml"
    short.parent.mkdir()
    edition = "editions: {e: {title: {zh: 甲, en: E}, topics: [training-acceleration]}}\nsources: [{name: Own, url: own.xml}]\n"
    short.write_text(f"extends: {own}\n{edition}", encoding="utf-8")
    for _ in range(2):
        assert main(["feeds", "import", str(listed), "--config", str(short)]) == 0
    ours = load(own).settings.sources
    theirs = {source.name: source for source in load(short).settings.sources}
    for source in ours:
        if not source.url.startswith("rsshub:"):
            assert (theirs[source.name].url, theirs[source.name].kind, theirs[source.name].trust) == (source.url, source.kind, source.trust)
    assert len(theirs) == 1 + sum(not source.url.startswith("rsshub:") for source in ours)


def test_a_list_in_an_older_encoding_is_read_and_an_unknown_one_is_guessed() -> None:
    text = '<?xml version="1.0" encoding="{}"?><opml version="2.0"><body><outline text="机器学习博客与论文速递" xmlUrl="https://a.example/feed"/></body></opml>'
    for declared, used in (("gb2312", "gbk"), ("bogus", "utf-8"), ("utf-16", "utf-16")):
        assert [feed["name"] for feed in opml.read(text.format(declared).encode(used))] == ["机器学习博客与论文速递"]


@pytest.mark.parametrize("body", [b"", b"<rss/>", b"<opml", b"<!DOCTYPE opml><opml/>", b"\xff\xfe"])
def test_what_is_no_opml_is_refused(body: bytes) -> None:
    with pytest.raises(ParseError):
        opml.read(body)


@given(st.text(max_size=60), st.binary(max_size=100))
def test_opml_survives_every_name_and_no_bytes_crash_it(name: str, body: bytes) -> None:
    try:
        (feed,) = opml.read(opml.write(name, [a_source(name=name or "x")]).encode("utf-8", "surrogatepass"))
        assert feed["url"] == a_source().url
        opml.read(body)
    except ParseError:
        pass


def test_the_list_names_every_state(demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    main(["collect", "--config", str(demo), "--date", DAY, "--quiet"])
    capsys.readouterr()
    assert main(["feeds", "list", "--config", str(demo)]) == 0
    page = capsys.readouterr().out
    for word in ("complete", "quiet", "failed", "off", "web page"):
        assert word in page
