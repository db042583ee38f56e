"""The pages for readers: only a confirmed yes makes a reader, only a POST changes anything, and no answer tells who is one."""

from __future__ import annotations

import asyncio
import email
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import policy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from sqlalchemy import Engine, text
from starlette.testclient import TestClient

from digest import wiring
from digest.audience.addresses import address_hash, network_of
from digest.cli.serve import newsletters
from digest.errors import PublishError
from digest.model import Consent, Reply, Subscriber
from digest.serve.public import Newsletter, application
from digest.settings.load import load
from digest.store.database import open_database
from digest.store.signups import SqlSignUps
from digest.store.subscribers import SqlSubscribers
from digest.wiring import templates

OLD, NEW = "o" * 30, "n" * 30
SETTINGS = """
extends: shipped
database: state/d.sqlite3
editions:
  training:
    title: {zh: 训练加速日报, en: Training Digest}
    timezone: Asia/Shanghai
    topics: [training-acceleration]
    address: https://digest.example.org
    mail: {sender: digest@example.org, links: "https://mail.example.org", bounces: bounces@example.org}
sources:
  - {name: x, url: x.xml}
"""
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
BROWSER = "https://mail.example.org"


@dataclass
class Hall:
    """The pages, the readers behind them, and the mails that went out."""

    client: TestClient
    engine: Engine
    subscribers: SqlSubscribers
    letter: Newsletter
    spool: Path
    clock: time_machine.Coordinates

    def ask(self, address: str = "reader@example.com", *, seconds: float = 5, headers: dict[str, str] | None = None, **fields: Any) -> Any:
        page = self.client.get("/subscribe/training", headers=headers)
        token = re.search(r'name="form" value="([^"]+)"', page.text)
        assert token
        self.clock.shift(seconds)
        data = {"address": address, "languages": "zh", "rhythm": "daily", "consent": "yes", "form": token[1], "website": ""} | fields
        return self.client.post("/subscribe/training", data=data, headers=headers)

    @property
    def mails(self) -> dict[str, Any]:
        found = sorted(self.spool.glob("*.eml"))
        return {path.stem: email.message_from_bytes(path.read_bytes(), policy=policy.default) for path in found}

    def link(self, address: str = "reader@example.com") -> str:
        """The path that the mail leads to."""
        body = self.mails[address].get_body(("plain",)).get_content()
        found = re.search(r"https://mail\.example\.org(/\S+)", body)
        assert found
        return found[1]

    def a_reader(self, address: str = "reader@example.com", **changes: Any) -> Subscriber:
        fields: dict[str, Any] = {"edition": "training", "address": address, "languages": ("zh", "en"), "consent": Consent(how="test", at=NOW)}
        return self.subscribers.add([Subscriber(**fields | changes)])[0][0]

    def path(self, reader: Subscriber, kind: str = "u") -> str:
        return f"/{kind}/{self.letter.links.token(reader.id)}"


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hall]:
    (tmp_path / "feeds.yaml").write_text(SETTINGS, encoding="utf-8")
    monkeypatch.setenv("MAIL_KEY", f"{NEW},{OLD}")
    loaded = load(tmp_path / "feeds.yaml")
    engine = open_database(f"sqlite:///{tmp_path}/d.sqlite3")
    found = newsletters(loaded, engine, tmp_path / "mails")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "zh.html").write_text("往期", encoding="utf-8")
    app = application(found, templates(loaded), [("/", tmp_path / "out")])
    with time_machine.travel(NOW, tick=False) as clock:
        client = TestClient(app, base_url=BROWSER, client=("203.0.113.7", 4000), follow_redirects=False)
        yield Hall(client, engine, SqlSubscribers(engine, address_hash), found[0], tmp_path / "mails", clock)
    engine.dispose()


def state(hall: Hall, address: str = "reader@example.com") -> str:
    found = hall.subscribers.find("training", address)
    return found.state if found else "unknown"


def test_a_reader_subscribes_confirms_chooses_and_leaves(hall: Hall) -> None:
    assert "请查看邮箱" in hall.ask(languages="zh+en", rhythm="news").text
    assert state(hall) == "unknown"
    link = hall.link()
    assert "还差一步" in hall.client.get(link).text and state(hall) == "unknown"
    confirmed = hall.client.post(link)
    assert "订阅成功" in confirmed.text and state(hall) == "active"
    reader = hall.subscribers.find("training", "reader@example.com")
    assert reader and (reader.languages, reader.rhythm) == (("zh", "en"), "news")
    assert reader.consent.how == "double opt-in" and "203.0.113.7" in reader.consent.evidence and "随时可以一键退订" in reader.consent.evidence

    page = hall.client.get(hall.path(reader, "p")).text
    assert 'value="news" checked' in page and 'value="zh+en" checked' in page
    assert "Saved." in hall.client.post(hall.path(reader, "p"), data={"languages": "en", "rhythm": "weekly"}).text
    changed = hall.subscribers.get(reader.id)
    assert changed and (changed.languages, changed.rhythm, changed.state) == (("en",), "weekly", "active")

    assert "Unsubscribe?" in hall.client.get(hall.path(reader)).text and state(hall) == "active"
    assert "You are unsubscribed" in hall.client.post(hall.path(reader)).text and state(hall) == "left"


def test_the_mail_that_asks_says_nothing_that_was_typed_and_has_one_of_each_header(hall: Hall) -> None:
    hall.ask()
    mail = hall.mails["reader@example.com"]
    assert mail["Subject"] == "请确认订阅《训练加速日报》" and mail["Auto-Submitted"] == "auto-generated"
    assert all(len(mail.get_all(name)) == 1 for name in ("From", "To", "Subject", "Date", "Message-ID", "Content-Type"))
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    bodies = "".join(part.get_content() for part in mail.iter_parts())
    assert "reader@example.com" not in bodies and "List-Unsubscribe" not in mail
    assert hall.ask("zoe@example.com", languages="en", headers={"Accept-Language": "en-GB,en;q=0.8"}).status_code == 200
    assert hall.mails["zoe@example.com"]["Subject"] == "Please confirm: Training Digest by mail"


@pytest.mark.parametrize("method", ["get", "head"])
@pytest.mark.parametrize("kind", ["u", "p"])
def test_looking_changes_nothing(hall: Hall, method: str, kind: str) -> None:
    reader = hall.a_reader()
    assert getattr(hall.client, method)(hall.path(reader, kind)).status_code == 200
    assert hall.subscribers.get(reader.id) == reader


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"List-Unsubscribe": "One-Click"}},
        {"files": {"List-Unsubscribe": (None, "One-Click")}},
        {"content": b""},
        {"content": b"\xff\x00 nonsense", "headers": {"Content-Type": "text/x-strange"}},
    ],
    ids=["urlencoded", "multipart", "empty", "nonsense"],
)
def test_one_click_works_with_any_body_and_again_and_years_later(hall: Hall, body: dict[str, Any]) -> None:
    reader = hall.a_reader()
    path = hall.path(reader)
    hall.clock.shift(timedelta(days=5 * 366))
    for _ in range(2):
        answer = hall.client.post(path, **body)
        assert answer.status_code == 200 and "set-cookie" not in answer.headers and not answer.history
        assert state(hall) == "left"


def test_a_link_that_an_older_key_signed_works_and_one_that_nobody_signed_does_not(hall: Hall) -> None:
    reader = hall.a_reader()
    from digest.audience.links import Links

    old = Links(BROWSER, [OLD]).token(reader.id)
    forged = Links(BROWSER, ["x" * 30]).token(reader.id)
    assert hall.client.post(f"/u/{forged}").status_code == 404 and state(hall) == "active"
    assert hall.client.post(f"/u/{old[:-3]}").status_code == 404 and state(hall) == "active"
    assert hall.client.post(f"/u/{old}").status_code == 200 and state(hall) == "left"


def test_the_answer_never_tells_whether_an_address_is_known(hall: Hall) -> None:
    hall.a_reader("known@example.com")
    hall.subscribers.suppress("closed@example.com", "complaint", NOW)
    answers = {address: hall.ask(address) for address in ("known@example.com", "closed@example.com", "new@example.com")}
    bodies = {re.sub(r'value="[^"]*"', "", answer.text) for answer in answers.values()}
    assert len(bodies) == 1 and {answer.status_code for answer in answers.values()} == {200}
    assert set(hall.mails) == {"known@example.com", "new@example.com"}
    assert "您对《训练加速日报》的订阅" in hall.mails["known@example.com"]["Subject"]
    assert hall.link("known@example.com").startswith("/p/")


def test_who_left_comes_back_only_by_a_new_yes_and_the_old_link_brings_nobody_back(hall: Hall) -> None:
    hall.ask()
    old = hall.link()
    hall.client.post(old)
    reader = hall.subscribers.find("training", "reader@example.com")
    assert reader
    hall.client.post(hall.path(reader))
    assert "链接已失效" in hall.client.post(old).text and state(hall) == "left"
    assert "Save" not in hall.client.post(hall.path(reader, "p"), data={"rhythm": "daily"}).text and state(hall) == "left"
    (hall.spool / "reader@example.com.eml").unlink()
    hall.ask()
    hall.client.post(hall.link())
    assert state(hall) == "active"


def test_who_was_forgotten_may_come_back_by_a_new_yes(hall: Hall) -> None:
    hall.a_reader()
    hall.subscribers.forget("reader@example.com", NOW)
    assert hall.subscribers.add([Subscriber(edition="training", address="reader@example.com", languages=("zh",), consent=Consent(how="x", at=NOW))])[0] == []
    hall.ask()
    hall.client.post(hall.link())
    assert state(hall) == "active"


def test_a_confirmation_is_valid_for_three_days(hall: Hall) -> None:
    hall.ask()
    hall.clock.shift(timedelta(hours=73))
    answer = hall.client.post(hall.link())
    assert answer.status_code == 404 and "链接已失效" in answer.text and state(hall) == "unknown"
    hall.ask("other@example.com")
    with hall.engine.connect() as connection:
        assert [row[0] for row in connection.execute(text("SELECT address FROM signups"))] == ["other@example.com"]


def test_nobody_can_bomb_a_mailbox(hall: Hall) -> None:
    for number in range(6):
        hall.ask(f"reader+{number}@example.com", headers={"X-Forwarded-For": "198.51.100.1"})
    assert len(hall.mails) == 3
    hall.clock.shift(timedelta(days=1, hours=1))
    hall.ask("reader+9@example.com")
    assert len(hall.mails) == 4


def test_one_network_asks_at_most_ten_times_an_hour(hall: Hall) -> None:
    for number in range(14):
        assert hall.ask(f"reader{number}@example.com").status_code == 200
    assert len(hall.mails) == 10
    hall.clock.shift(timedelta(hours=2))
    hall.ask("late@example.com")
    assert len(hall.mails) == 11


@pytest.mark.parametrize(
    ("changes", "seconds", "status"),
    [
        ({"website": "https://spam.example"}, 5, 200),  # a field that people do not see: told nothing
        ({"form": "made-up"}, 5, 422),
        ({}, 0, 422),  # no person is so fast
        ({}, 13 * 3600, 422),
        ({"consent": ""}, 5, 422),
        ({"address": "nobody"}, 5, 422),
        ({"address": "a@example.com\r\nBcc: b@example.com"}, 5, 422),
        ({"address": "<script>alert(1)</script>@example.com"}, 5, 422),
    ],
)
def test_what_no_person_would_send_makes_no_mail(hall: Hall, changes: dict[str, str], seconds: float, status: int) -> None:
    answer = hall.ask(seconds=seconds, **changes)
    assert answer.status_code == status and not hall.mails and "<script>alert" not in answer.text


def test_wishes_that_do_not_exist_are_not_taken_over(hall: Hall) -> None:
    for wrong in ({"languages": "xx"}, {"rhythm": "hourly"}, {"languages": ""}, {"rhythm": ""}):
        answer = hall.ask(**wrong)
        assert answer.status_code == 422 and "请重新选择" in answer.text and not hall.mails
    hall.ask(languages="xx+en+en", rhythm="weekly", topics=["nothing"])
    hall.client.post(hall.link())
    reader = hall.subscribers.find("training", "reader@example.com")
    assert reader and (reader.languages, reader.rhythm, reader.topics) == (("en",), "weekly", ())
    page = hall.letter.links.preferences(hall.letter.links.token(reader.id))
    for body in ({}, {"languages": "fr", "rhythm": "hourly"}, {"languages": "zh"}):
        answer = hall.client.post(urlsplit(page).path, data=body)
        assert answer.status_code == 422 and "Please choose again" in answer.text and "Saved." not in answer.text
    assert hall.subscribers.find("training", "reader@example.com") == reader


def test_while_the_relay_is_away_sign_ups_wait_and_get_their_mail_once(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        async def connect(self) -> Any:
            raise PublishError("no relay")

    reception = hall.letter.reception
    there = reception._relay
    monkeypatch.setattr(reception, "_relay", Away())
    assert "请查看邮箱" in hall.ask().text and not hall.mails
    monkeypatch.setattr(reception, "_relay", there)

    async def twice() -> list[int]:
        return await asyncio.gather(reception.answer(NOW), reception.answer(NOW))

    assert sorted(asyncio.run(twice())) == [0, 1] and set(hall.mails) == {"reader@example.com"}


def test_a_sign_up_that_a_relay_puts_off_is_mailed_later_and_the_others_now(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    class Moody:
        """Puts the first off, takes the second, breaks at the third."""

        is_open, number = True, 0

        async def connect(self) -> Any:
            return self

        async def send(self, sender: str, recipient: str, message: bytes) -> Reply:
            self.number += 1
            if self.number == 3:
                self.is_open = False
            return [Reply(stage="rcpt", code=451), Reply(stage="dot", code=250), Reply(stage="mail", code=0)][min(self.number, 3) - 1]

        async def quit(self) -> None:
            pass

    reception, relay = hall.letter.reception, Moody()
    there = reception._relay

    async def nothing(now: datetime) -> int:
        return 0

    monkeypatch.setattr(reception, "answer", nothing)
    for number in range(4):
        hall.ask(f"reader{number}@example.com")
    monkeypatch.undo()
    monkeypatch.setattr(reception, "_relay", relay)
    assert asyncio.run(reception.answer(NOW)) == 1
    monkeypatch.setattr(reception, "_relay", there)
    assert asyncio.run(reception.answer(NOW)) == 3 and asyncio.run(reception.answer(NOW)) == 0
    assert set(hall.mails) == {"reader0@example.com", "reader2@example.com", "reader3@example.com"}


def test_every_page_carries_headers_that_keep_browsers_careful(hall: Hall) -> None:
    reader = hall.a_reader()
    for path in ("/subscribe/training", hall.path(reader), hall.path(reader, "p"), "/c/none", "/nothing"):
        headers = hall.client.get(path).headers
        assert headers["cache-control"] == "no-store" and headers["referrer-policy"] == "no-referrer" and headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"] and headers["strict-transport-security"]
    site = hall.client.get("/zh.html")
    assert site.text == "往期" and site.headers["referrer-policy"] == "no-referrer"


def test_a_body_longer_than_any_form_is_refused(hall: Hall) -> None:
    assert hall.client.post("/subscribe/training", content=b"x" * 20_000).status_code == 413
    assert hall.client.post("/subscribe/training", data={f"f{number}": "x" for number in range(900)}).status_code in (400, 413)


def test_no_log_line_holds_an_address(hall: Hall, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "digest")
    for number in range(12):
        hall.ask(f"reader{number}@example.com")
    assert caplog.messages and not any("@" in message for message in caplog.messages)


def test_a_database_that_refuses_is_told_in_words_and_with_503(hall: Hall) -> None:
    reader = hall.a_reader()
    with hall.engine.begin() as connection:
        connection.execute(text("ALTER TABLE subscribers RENAME TO away"))
    answer = hall.client.get(hall.path(reader))
    assert answer.status_code == 503 and "请几分钟后再试" in answer.text and answer.headers["retry-after"] == "120"


@pytest.mark.parametrize(
    ("client", "network"),
    [
        ("203.0.113.7", "203.0.113.0/24"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.0/24"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_neighbours_count_as_one_client(client: str, network: str) -> None:
    assert network_of(client) == network


def test_a_secret_may_lie_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text(f"{NEW}\n", encoding="utf-8")
    monkeypatch.delenv("MAIL_KEY", raising=False)
    monkeypatch.setenv("MAIL_KEY_FILE", str(tmp_path / "key"))
    assert wiring.secret("MAIL_KEY", "the key") == NEW


def test_sign_ups_of_another_edition_are_not_seen(hall: Hall) -> None:
    hall.ask()
    signups = SqlSignUps(hall.engine, address_hash, network_of)
    assert signups.waiting("other", NOW) == []
