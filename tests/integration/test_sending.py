"""What goes out by itself: the mail of the day, the best of a week, the chat channels; and what a run that is played again does not send."""

from __future__ import annotations

import email
import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from email import policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import time_machine

from digest import wiring
from digest.cli import main
from digest.errors import ConfigError, PublishError
from digest.model import Article, Issue, Pick, Reason, Section, Wording
from digest.publish.chat import ChatPublisher
from digest.render.chat_message import ChatRenderer
from digest.render.environment import Templates
from digest.settings.load import load
from digest.store.archive import SqlArchive
from digest.store.database import open_database
from digest.write.period import best_of, last_period
from tests.builders import NOON, a_labelled, a_source, a_story, an_entry, an_issue
from tests.conftest import DAY, ROOT
from tests.mail_server import MailServer


class Hook:
    """A chat server that takes JSON; ``status`` is what it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.posted: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if outer.status == 200:
                    outer.posted.append(json.loads(body))
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"json://127.0.0.1:{self._server.server_port}/hook"

    def __enter__(self) -> Hook:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *arguments: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hook() -> Iterator[Hook]:
    with Hook() as running:
        yield running


def told(number: int, heat: int = 50, **changes: Any) -> Article:
    words = {
        "zh": Wording(language="zh", headline=f"第 {number} 条训练加速的消息_带下划线", summary="摘要。", blurb="值得一看，因为它更快。"),
        "en": Wording(language="en", headline=f"Item {number} on [faster] training", summary="S.", blurb="Worth a look: it is faster."),
    }
    entry = an_entry(key=f"k{number}", title=f"Item {number}", url=f"https://example.com/{number}")
    fields: dict[str, Any] = {
        "pick": Pick(story=a_story(entries=(a_labelled(entry=entry),), key=f"k{number}"), reasons=(Reason(points=heat, why="on-topic"),)),
        "source": a_source(),
        "claims": (),
        "mentions": (),
        "tags": (),
        "wordings": tuple(words.values()),
        "written_by": "patterns",
    }
    return Article(**fields | changes)


def an_issue_of(*articles: Article, **changes: Any) -> Issue:
    return an_issue(sections=(Section(topic="training-acceleration", title={"zh": "训练加速", "en": "T"}, articles=articles),), **changes)


@pytest.fixture
def renderer() -> ChatRenderer:
    return ChatRenderer(Templates([ROOT / "templates"]))


@pytest.mark.parametrize("form", ["md", "html", "txt"])
@pytest.mark.parametrize("limit", [600, 2000, 4096, 20_000])
@pytest.mark.parametrize("languages", [("zh",), ("en",), ("zh", "en")])
def test_a_message_fits_its_channel_and_ends_with_a_whole_article(renderer: ChatRenderer, form: Any, limit: int, languages: Any) -> None:
    issue = an_issue_of(*(told(number) for number in range(12)))
    found = renderer.render(issue, languages, form, limit)
    assert len(found.encode()) <= limit and "https://digest.example.org/" in found
    if limit == 20_000:
        assert all(f"https://example.com/{number}" in found for number in range(12)) and ("值得一看" in found or "Worth a look" in found)
    if form == "html":
        assert found.count("<a ") == found.count("</a>")


def test_words_of_sources_are_no_markup_in_a_message(renderer: ChatRenderer) -> None:
    issue = an_issue_of(told(1))
    assert "第 1 条训练加速的消息\\_带下划线" in renderer.render(issue, ("zh",), "md", 4000)
    assert "\\[faster\\]" in renderer.render(issue, ("en",), "md", 4000)
    evil = told(2, wordings=(Wording(language="zh", headline="<b>x</b>", summary="", blurb=""), Wording(language="en", headline="x", summary="", blurb="")))
    assert "&lt;b&gt;" in renderer.render(an_issue_of(evil), ("zh",), "html", 4000)


def test_a_quiet_day_is_a_line(renderer: ChatRenderer) -> None:
    assert renderer.render(an_issue(), ("zh",), "txt", 4000).startswith("今天没有")


class Claims:
    def __init__(self) -> None:
        self.taken: set[tuple[str, str]] = set()

    def claim(self, key: str, target: str, now: datetime) -> bool:
        if (key, target) in self.taken:
            return False
        self.taken.add((key, target))
        return True

    def release(self, key: str, target: str) -> None:
        self.taken.discard((key, target))


def a_channel(address: str, claims: Claims, renderer: ChatRenderer) -> ChatPublisher:
    return ChatPublisher(
        "team", address, lambda issue, form, limit: (renderer.title(issue, "zh"), renderer.render(issue, ("zh",), form, limit)), claims.claim, claims.release, 3
    )


def test_a_channel_gets_an_issue_once(hook: Hook, renderer: ChatRenderer) -> None:
    channel, issue = a_channel(hook.address, Claims(), renderer), an_issue_of(told(1))
    receipts = channel.publish(issue, [], NOON, [])
    assert [(receipt.publisher, receipt.target) for receipt in receipts] == [("chat", "team")]
    assert channel.publish(issue, [], NOON, receipts) == ()
    assert len(hook.posted) == 1 and hook.posted[0]["title"] == "训练加速日报 · 2026年11月24日星期二" and "值得一看" in hook.posted[0]["message"]


def test_a_channel_that_refuses_is_tried_again_and_no_key_is_told(hook: Hook, renderer: ChatRenderer) -> None:
    channel, issue = a_channel(f"{hook.address}?:secretkeysecretkeysecretkey123", Claims(), renderer), an_issue_of(told(1))
    hook.status = 500
    with pytest.raises(PublishError, match="team did not take the message") as refusal:
        channel.publish(issue, [], NOON, [])
    assert "secretkey" not in str(refusal.value) and "127.0.0.1" not in str(refusal.value)
    hook.status = 200
    assert channel.publish(issue, [], NOON, []) and len(hook.posted) == 1


def test_what_a_killed_run_may_have_sent_is_not_sent_again(hook: Hook, renderer: ChatRenderer) -> None:
    claims, issue = Claims(), an_issue_of(told(1))
    claims.claim(issue.key, "team", NOON)
    with pytest.raises(PublishError, match="nobody knows"):
        a_channel(hook.address, claims, renderer).publish(issue, [], NOON, [])
    assert hook.posted == []


def test_an_old_issue_that_its_editor_changed_is_no_news_for_a_channel(hook: Hook, renderer: ChatRenderer) -> None:
    assert a_channel(hook.address, Claims(), renderer).publish(an_issue_of(told(1)), [], NOON + timedelta(days=2), []) == () and hook.posted == []


def test_an_address_that_nobody_knows_is_refused_without_being_shown(renderer: ChatRenderer) -> None:
    with pytest.raises(ConfigError, match="chat channel team") as refusal:
        a_channel("nothing://secret", Claims(), renderer)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("feishu://abcdefghijklmnopqrstuvwxyz012345", "md"),
        ("dingtalk://abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz", "md"),
        ("wecombot://botkey12345678", "txt"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/", "md"),
        ("tgram://123456789:abcdefg_hijklmnop/12315544/", "html"),
        ("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js/", "md"),
    ],
)
def test_each_service_gets_the_form_and_the_length_it_takes(renderer: ChatRenderer, address: str, form: str) -> None:
    channel = a_channel(address, Claims(), renderer)
    title, body = channel.message(an_issue_of(*(told(number) for number in range(40))))
    assert channel.form == form and len(title) + len(body) <= channel._plugin.body_maxlen


def test_the_claim_on_a_channel_is_kept_by_the_database(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path}/d.sqlite3")
    archive = SqlArchive(engine)
    assert archive.claim("a/1", "team", NOON) and not archive.claim("a/1", "team", NOON) and archive.claim("a/2", "team", NOON)
    archive.release("a/1", "team")
    assert archive.claim("a/1", "team", NOON) and archive.receipts("a/1") == []
    engine.dispose()


# The best of a period.


@pytest.mark.parametrize(
    ("period", "day", "expected"),
    [
        ("week", date(2026, 11, 30), (date(2026, 11, 23), date(2026, 11, 29))),  # a Monday
        ("week", date(2026, 11, 29), (date(2026, 11, 16), date(2026, 11, 22))),  # the week is not over on its Sunday
        ("week", date(2027, 1, 4), (date(2026, 12, 28), date(2027, 1, 3))),
        ("month", date(2026, 12, 1), (date(2026, 11, 1), date(2026, 11, 30))),
        ("month", date(2028, 3, 31), (date(2028, 2, 1), date(2028, 2, 29))),
    ],
)
def test_the_last_period_is_one_that_is_over(period: Any, day: date, expected: tuple[date, date]) -> None:
    assert last_period(period, day) == expected


def test_the_best_of_a_week_are_the_hottest_of_its_days_each_with_its_day() -> None:
    monday, tuesday = date(2026, 11, 23), date(2026, 11, 24)
    issues = [
        an_issue_of(told(1, 40), told(2, 90), day=monday),
        an_issue_of(told(3, 70), day=tuesday, letters={"zh": "你好"}),
        an_issue(day=date(2026, 11, 25)),
    ]
    best = best_of(issues, "week", date(2026, 11, 29), 2)
    assert best and best.key == "training/2026-W48" and best.entries_read == 3 and best.letters == {}
    assert [article.pick.story.key for article in best.articles] == ["k2", "k3"]
    assert [best.told_on(article) for article in best.articles] == [monday, tuesday]
    assert best_of([an_issue()], "week", monday, 5) is None and best_of([], "month", monday, 5) is None


# The command line.

MAIL = "    mail: {{sender: digest@example.org, links: 'https://mail.example.org', host: 127.0.0.1, port: {port}, security: none{more}}}\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "feeds.yaml", tmp_path)
    monkeypatch.setenv("MAIL_KEY", "k" * 40)
    return tmp_path / "examples" / "feeds.yaml"


def with_outputs(desk: Path, port: int, more: str = "", chat: str = "") -> None:
    text = re.sub(r"    mail: .*\n", "", desk.read_text(encoding="utf-8"))
    desk.write_text(text.replace("    folder: ", MAIL.format(port=port, more=more) + chat + "    folder: ", 1), encoding="utf-8")


def add(desk: Path, name: str, rhythm: str) -> None:
    assert main(["subscribers", "add", f"{name}@example.com", "--consent", "x", "--rhythm", rhythm, "--config", str(desk)]) == 0


def test_a_run_sends_the_mail_and_the_chat_of_its_day_once(desk: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CHAT_TEAM", hook.address)
    with MailServer() as server, time_machine.travel(datetime(2026, 11, 24, 15, 30, tzinfo=UTC)):
        with_outputs(desk, server.port, chat="    chat: [{name: team, address: CHAT_TEAM}]\n")
        add(desk, "daily", "daily")
        for _ in range(2):
            main(["run", "--config", str(desk)])
        said = capsys.readouterr().out
        assert dict(server.times) == {"daily@example.com": 1} and len(hook.posted) == 1
        assert "1 handed over" in said


def test_a_day_that_is_played_again_is_sent_to_nobody(desk: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_TEAM", hook.address)
    with MailServer() as server, time_machine.travel(datetime(2026, 11, 28, 9, tzinfo=UTC)):
        with_outputs(desk, server.port, chat="    chat: [{name: team, address: CHAT_TEAM}]\n")
        add(desk, "daily", "daily")
        main(["run", "--config", str(desk), "--date", DAY])
        assert server.taken == [] and hook.posted == []


def test_mail_that_is_not_automatic_waits_for_digest_send(desk: Path) -> None:
    with MailServer() as server, time_machine.travel(datetime(2026, 11, 24, 15, 30, tzinfo=UTC)):
        with_outputs(desk, server.port, more=", automatic: false")
        add(desk, "daily", "daily")
        main(["run", "--config", str(desk)])
        assert server.taken == []
        assert main(["send", "--config", str(desk)]) == 0 and len(server.taken) == 1


def test_a_missing_key_costs_the_mail_and_nothing_else(desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with time_machine.travel(datetime(2026, 11, 24, 15, 30, tzinfo=UTC)):
        with_outputs(desk, 1)
        monkeypatch.delenv("MAIL_KEY")
        assert main(["run", "--config", str(desk)]) == 1
        assert "MAIL_KEY is not set" in capsys.readouterr().err
        settings = load(desk)
        assert (settings.folder / settings.settings.editions["demo"].folder / "2026/11/24/zh.html").is_file()


def test_the_week_is_mailed_when_it_is_over_and_once(desk: Path) -> None:
    with MailServer() as server:
        server.keeps_raw = True
        with_outputs(desk, server.port)
        add(desk, "weekly", "weekly")
        with time_machine.travel(datetime(2026, 11, 24, 15, 30, tzinfo=UTC)):
            main(["run", "--config", str(desk), "--quiet"])
        assert server.taken == []
        for _ in range(2):
            with time_machine.travel(datetime(2026, 11, 30, 10, tzinfo=UTC)):
                main(["send", "--due", "--config", str(desk)])
        assert dict(server.times) == {"weekly@example.com": 1}
        message = email.message_from_bytes(server.raw[0], policy=policy.default)
        assert message["Subject"].endswith("训练加速日报（演示） 第 48 周精华")
        text = message.get_body(("plain",)).get_content()  # type: ignore[union-attr]
        assert "一周精华：2026年第48周（11月23日至29日）" in text and "https://digest.example.org/2026/w48.zh.html" in text
        assert "https://digest.example.org/2026/11/24/" in message.get_body(("html",)).get_content()  # type: ignore[union-attr]
        with time_machine.travel(datetime(2026, 11, 30, 10, tzinfo=UTC)):
            assert main(["send", "status", "--period", "week", "--config", str(desk)]) == 0


def test_a_week_without_a_pick_is_mailed_to_nobody(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with_outputs(desk, 1)
    assert main(["send", "--period", "week", "--config", str(desk), "--date", DAY]) == 0
    assert "told nothing" in capsys.readouterr().out


def test_chat_without_its_library_or_address_is_said(desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_outputs(desk, 1, more=", automatic: false", chat="    chat: [{name: team, address: CHAT_TEAM}]\n")
    monkeypatch.delenv("CHAT_TEAM", raising=False)
    with time_machine.travel(datetime(2026, 11, 24, 15, 30, tzinfo=UTC)):
        assert main(["run", "--config", str(desk)]) == 2 and "CHAT_TEAM is not set" in capsys.readouterr().err
        monkeypatch.setattr(wiring, "find_spec", lambda name: None)
        assert main(["run", "--config", str(desk)]) == 2 and "training-digest[chat]" in capsys.readouterr().err
