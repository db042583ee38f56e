"""How the sources do: ``digest status``, ``digest feeds check``, ``digest collect --due``, and full texts for thin feeds."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine

from digest.cli import main
from digest.coverage.rhythm import is_too_quiet
from digest.model import Memory
from tests.builders import NOON
from tests.conftest import ROOT
from tests.fakes import Answer, FeedServer

FEED = (ROOT / "examples" / "person.json").read_bytes()
PAGE = """<!DOCTYPE html><html><head><meta charset="gbk"><title>t</title></head><body><nav><a href="/">Home</a> <a href="/about">About</a></nav>
<article><h1>A trainer in half the time</h1>{}</article><footer>Cookies and more cookies</footer></body></html>"""
PARAGRAPH = "<p>我们把训练流程里的数据读取与计算重叠起来，训练时间缩短了一半，显存占用没有增加。这一段写得足够长，好让人看出它是正文而不是菜单。</p>"


@pytest.fixture
def own(tmp_path: Path, server: FeedServer) -> Path:
    return settings(tmp_path, server, f'{{name: S, url: "{server.address}/feed"}}')


def settings(folder: Path, server: FeedServer, *sources: str) -> Path:
    edition = "editions: {e: {title: {zh: 甲, en: E}, topics: [training-acceleration]}}"
    text = f"extends: {ROOT / 'feeds.yaml'}\n{edition}\nsources: [{', '.join(sources)}]\nfetch: {{allow: [127.0.0.1]}}\n"
    (folder / "feeds.yaml").write_text(text, encoding="utf-8")
    return folder / "feeds.yaml"


def run(capsys: pytest.CaptureFixture[str], moment: str, *arguments: str) -> tuple[int, str]:
    with time_machine.travel(moment, tick=False):
        code = main(list(arguments))
    return code, capsys.readouterr().out


def test_status_says_when_each_source_last_did_well_and_what_to_do(own: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/feed"] = Answer(FEED)
    run(capsys, "2026-11-24T10:00Z", "collect", "--config", str(own), "--json")
    server.answers["/feed"] = Answer(status=404)
    run(capsys, "2026-11-24T23:00Z", "collect", "--config", str(own), "--json")
    code, out = run(capsys, "2026-11-24T23:05Z", "status", "--config", str(own), "--json")
    (row,) = json.loads(out)["sources"]
    assert (code, row["state"], row["failures"], row["needs_a_hand"]) == (1, "failed", 1, True)
    assert (row["last_success"], row["last_news"], row["next_poll"]) == (
        "2026-11-24T10:00:00+00:00",
        "2026-11-24T10:00:00+00:00",
        "2026-11-24T23:15:00+00:00",
    )
    assert "check the address" in row["note"]
    code, out = run(capsys, "2026-11-24T23:05Z", "status", "--config", str(own))
    assert code == 1 and "check the address" in out and "none yet" in out


def test_a_feed_that_used_to_speak_and_no_longer_does_is_pointed_out() -> None:
    daily = Memory(new_a_week=7.0, last_new_at=NOON)
    assert not is_too_quiet(daily, NOON + timedelta(days=2))
    assert is_too_quiet(daily, NOON + timedelta(days=4))
    assert not is_too_quiet(Memory(new_a_week=0.5, last_new_at=NOON), NOON + timedelta(days=30))
    assert not is_too_quiet(Memory(new_a_week=1.0, last_new_at=NOON), NOON + timedelta(days=20))
    assert is_too_quiet(Memory(new_a_week=1.0, last_new_at=NOON), NOON + timedelta(days=300))


def test_check_asks_and_saves_nothing(tmp_path: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    own = settings(tmp_path, server, f'{{name: S, url: "{server.address}/feed"}}', f'{{name: "[T]", url: "{server.address}/none"}}')
    server.answers["/feed"] = Answer(FEED, headers={"Last-Modified": "yesterday"})
    code, out = run(capsys, "2026-11-24T10:00Z", "feeds", "check", "--config", str(own), "--json")
    good, bad = json.loads(out)
    assert (code, good["state"], good["validators"], good["encoding"], good["date_rules"]) == (1, "complete", "ETag+date", "utf-8", "iso")
    assert (bad["state"], "404" in bad["remedy"]) == ("failed", True)
    _, out = run(capsys, "2026-11-24T10:00Z", "feeds", "check", "--config", str(own))
    assert "[T]: the server answered 404" in out
    _, out = run(capsys, "2026-11-24T10:01Z", "status", "--config", str(own), "--json")
    assert [row["state"] for row in json.loads(out)["sources"]] == ["never asked", "never asked"]


def test_due_asks_a_source_only_when_its_time_has_come(own: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/feed"] = Answer(FEED)
    for clock in ("10:00", "10:15", "15:00", "23:59"):
        run(capsys, f"2026-11-24T{clock}Z", "collect", "--due", "--config", str(own), "--json")
    assert len(server.requests) == 2  # an unknown source, then once it is half a day later
    run(capsys, "2026-11-24T23:59Z", "collect", "--config", str(own), "--json")
    assert len(server.requests) == 3


@pytest.mark.parametrize(("headers", "asked"), [({"Cache-Control": "max-age=7200"}, 2), ({}, 3)])
def test_what_is_fresh_is_not_asked_again(own: Path, server: FeedServer, capsys: pytest.CaptureFixture[str], headers: dict[str, str], asked: int) -> None:
    server.answers["/feed"] = Answer(FEED, headers=headers)
    for clock in ("10:00", "11:00", "12:00"):
        _, out = run(capsys, f"2026-11-24T{clock}Z", "collect", "--config", str(own), "--json")
    assert len(server.requests) == asked
    assert json.loads(out)["coverage"][0]["state"] == "quiet"


def test_a_retry_after_keeps_the_whole_host_waiting_over_restarts(tmp_path: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f'{{name: {name}, url: "{server.address}/{name}"{more}}}' for name, more in (("a", ""), ("b", ""), ("c", ", retry: source"))]
    own = settings(tmp_path, server, *rows)
    server.answers |= {"/a": Answer(status=429, headers={"Retry-After": "7200"}), "/b": Answer(FEED), "/c": Answer(FEED)}
    run(capsys, "2026-11-24T10:00Z", "collect", "--config", str(own), "--json")
    server.requests.clear()
    _, out = run(capsys, "2026-11-24T11:00Z", "collect", "--config", str(own), "--json")
    assert [path for path, _ in server.requests] == ["/c"]
    assert "left alone until 2026-11-24 12:00 UTC" in {problem["subject"]: problem["message"] for problem in json.loads(out)["problems"]}["b"]
    server.answers["/a"] = Answer(FEED)
    run(capsys, "2026-11-24T12:00Z", "collect", "--config", str(own), "--json")
    assert sorted(path for path, _ in server.requests) == ["/a", "/b", "/c", "/c"]


def test_no_redirect_goes_round_robots_txt(tmp_path: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    own = settings(tmp_path, server, f'{{name: S, url: "{server.address}/feed", full_text: true}}')
    server.answers |= {
        "/feed": thin_feed(server),
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /shut\n"),
        "/open": Answer(status=302, headers={"Location": "/shut"}),
        "/gone": Answer(status=302, headers={"Location": "/page"}),
        "/page": Answer(PAGE.format(PARAGRAPH * 4).encode("gbk")),
    }
    run(capsys, "2026-11-24T10:00Z", "collect", "--config", str(own), "--json")
    asked = [path for path, _ in server.requests]
    assert "/page" in asked and "/shut" not in asked


def thin_feed(server: FeedServer) -> Answer:
    items = "".join(f"<item><guid>{name}</guid><title>Post {name}</title><link>{server.address}/{name}</link></item>" for name in ("open", "shut", "gone"))
    return Answer(f"<rss version='2.0'><channel><title>Thin</title>{items}</channel></rss>".encode())


def test_thin_entries_get_the_text_of_their_pages_where_the_site_allows_it(tmp_path: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    own = settings(tmp_path, server, f'{{name: S, url: "{server.address}/feed", full_text: true, window_days: 60}}')
    server.answers |= {
        "/feed": Answer(thin_feed(server).body.replace(b"<item>", b"<item><pubDate>Tue, 24 Nov 2026 09:00:00 GMT</pubDate>")),
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /shut\n"),
        "/open": Answer(PAGE.format(PARAGRAPH * 4).encode("gbk")),
        "/shut": Answer(b"never asked"),
    }
    _, out = run(capsys, "2026-11-24T10:00Z", "collect", "--config", str(own), "--json")
    asked = [path for path, _ in server.requests]
    assert asked.count("/robots.txt") == 1 and "/shut" not in asked and "/open" in asked
    assert json.loads(out)["coverage"][0]["note"] == "2 of 3 article pages were not read"
    entries = {entry["title"]: entry for entry in tagged(own)}
    assert "训练时间缩短了一半" in entries["Post open"]["text"] and "Cookies" not in entries["Post open"]["text"]
    assert (entries["Post open"]["text_from"], entries["Post shut"]["text_from"]) == ("page", "feed")
    run(capsys, "2026-11-24T11:00Z", "collect", "--config", str(own), "--json")
    assert [path for path, _ in server.requests].count("/open") == 1


def tagged(own: Path) -> list[dict[str, Any]]:
    from digest import wiring
    from digest.settings.load import load
    from digest.store.database import open_database
    from digest.store.entries import SqlEntryStore

    engine = open_database(wiring.database_address(load(own)))
    found = SqlEntryStore(engine).seen(["S"], datetime(2000, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC))
    engine.dispose()
    return [{"title": entry.title, "text": entry.text, "text_from": entry.text_from} for entry in found]
