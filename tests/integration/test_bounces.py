"""Reading mails that came back, from every kind of mailbox, as its owner would."""

from __future__ import annotations

import io
import json
import mailbox
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from digest import mail_wiring
from digest.audience.addresses import address_hash
from digest.audience.bounces import read_return
from digest.audience.links import Links
from digest.cli import main
from digest.model import Consent, Outcome, Subscriber
from digest.pipeline.returning import ReturnParts, alarm, take
from digest.settings.load import load
from digest.store.database import open_database
from digest.store.ledger import SqlLedger
from digest.store.returns import SqlReturns
from digest.store.subscribers import SqlSubscribers
from tests.builders import NOON, an_issue
from tests.imap_server import ImapServer
from tests.integration.test_serve import SETTINGS
from tests.unit.test_bounces import BOUNCES, COMPLAINT, TOKEN, report

KEY = "k" * 30


@dataclass
class Desk:
    """An edition with readers whose mail comes back."""

    folder: Path
    subscribers: SqlSubscribers
    parts: ReturnParts
    ledger: SqlLedger
    links: Links

    def a_reader(self, name: str = "reader") -> Subscriber:
        consent = Consent(how="test", at=NOON)
        return self.subscribers.add([Subscriber(edition="training", address=f"{name}@example.com", languages=("zh",), consent=consent)])[0][0]

    def mail(self, reader: Subscriber, action: str = "failed", status: str = "5.1.1", words: str = "smtp; 550 no") -> bytes:
        return report(action, status, words, to=f"bounces+{self.links.token(reader.id)}@example.org")

    def state(self, reader: Subscriber) -> str:
        found = self.subscribers.get(reader.id)
        assert found
        return found.state

    def read(self, *arguments: str) -> int:
        return main(["bounces", "read", "--config", str(self.folder / "feeds.yaml"), *arguments])


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    (tmp_path / "feeds.yaml").write_text(SETTINGS, encoding="utf-8")
    monkeypatch.setenv("MAIL_KEY", KEY)
    settings = load(tmp_path / "feeds.yaml").settings.editions["training"]
    links = mail_wiring.links(mail_wiring.mail_settings(settings))
    engine = open_database(f"sqlite:///{tmp_path}/state/d.sqlite3")
    subscribers, ledger = SqlSubscribers(engine, address_hash), SqlLedger(engine)
    parts = ReturnParts(subscribers=subscribers, returns=SqlReturns(engine), ledger=ledger, read=lambda raw: read_return(raw, BOUNCES), reader=links.reader)
    yield Desk(tmp_path, subscribers, parts, ledger, links)
    engine.dispose()


def test_a_dead_address_a_complaint_and_a_wish_to_leave_end_it_at_once(desk: Desk) -> None:
    readers = [desk.a_reader(f"reader{number}") for number in range(3)]
    token = desk.links.token(readers[1].id)
    mails = [desk.mail(readers[0]), COMPLAINT.replace(TOKEN.encode(), token.encode()), f"Subject: unsubscribe-{desk.links.token(readers[2].id)}\n\n".encode()]
    assert [take(desk.parts, raw, NOON) for raw in mails] == [("hard", True), ("complaint", True), ("leave", True)]
    assert [desk.state(reader) for reader in readers] == ["left", "left", "left"]
    consent = Consent(how="x", at=NOON)
    again = [Subscriber(edition="other", address=reader.address, languages=("zh",), consent=consent) for reader in readers]
    added, refused = desk.subscribers.add(again)
    assert [each.address for each in added] == ["reader2@example.com"] and len(refused) == 2  # leaving one edition is no no to another


def test_a_mail_that_comes_twice_counts_once(desk: Desk) -> None:
    raw = desk.mail(desk.a_reader(), status="4.2.2")
    assert [take(desk.parts, raw, NOON) for _ in range(2)] == [("soft", True), ("soft", False)]


def test_full_mailboxes_end_it_on_the_third_day_of_two_weeks(desk: Desk) -> None:
    reader = desk.a_reader()
    for number in range(3):
        assert desk.state(reader) == "active"
        take(desk.parts, desk.mail(reader, status="5.2.2", words=f"smtp; 552 full {number}"), NOON + timedelta(days=number))
    assert desk.state(reader) == "left"


def test_nobody_can_end_anothers_subscription_by_a_forged_report(desk: Desk) -> None:
    reader = desk.a_reader()
    forged = Links("https://mail.example.org", ["x" * 30]).token(reader.id)
    raw = report("failed", "5.1.1", to=f"bounces+{forged}@example.org")
    assert take(desk.parts, raw, NOON) == ("unknown", True) and desk.state(reader) == "active"


def test_a_maildir_is_read_once_and_what_is_not_understood_is_kept(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    reader = desk.a_reader()
    box = mailbox.Maildir(desk.folder / "box")
    box.add(desk.mail(reader))
    box.add(b"Subject: hello\n\nWho are you?\n")
    assert desk.read("--from", "box") == 0
    assert "1 hard, 1 unknown" in capsys.readouterr().out and desk.state(reader) == "left"
    assert [path.read_bytes().startswith(b"Subject: hello") for path in (desk.folder / "state" / "returns").iterdir()] == [True]
    flags = {message["Subject"]: message.get_flags() for message in mailbox.Maildir(desk.folder / "box")}
    assert flags == {"Undelivered Mail Returned to Sender": "S", "hello": "FS"}
    assert desk.read("--from", "box") == 0 and "nothing came back" in capsys.readouterr().out


def test_an_mbox_stays_as_it_is_and_counts_once(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    reader = desk.a_reader()
    box = mailbox.mbox(desk.folder / "box")
    box.add(desk.mail(reader))
    box.close()
    for words in ("1 hard", "nothing came back"):
        assert desk.read("--from", "box") == 0
        assert words in capsys.readouterr().out
    assert desk.state(reader) == "left"


def test_a_mail_server_may_pipe_a_mail_in(desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    reader = desk.a_reader()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(desk.mail(reader))))
    assert desk.read("--from", "-", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"hard": 1} and desk.state(reader) == "left"


def test_imap_is_read_and_marked(desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    reader = desk.a_reader()
    settings = (desk.folder / "feeds.yaml").read_text(encoding="utf-8")
    with ImapServer([desk.mail(reader), b"Subject: hello\r\n\r\nx\r\n"]) as server:
        changed = settings.replace("bounces: b", f"returns: 'imap://box@127.0.0.1:{server.port}/INBOX', returns_password: BOX, bounces: b")
        (desk.folder / "feeds.yaml").write_text(changed, encoding="utf-8")
        monkeypatch.setenv("BOX", "wrong")
        assert desk.read() == 1 and "wrong password" in capsys.readouterr().err
        monkeypatch.setenv("BOX", "secret")
        assert desk.read() == 0
        assert server.flags == {1: r"\Seen", 2: r"\Seen \Flagged"}
    assert desk.state(reader) == "left" and "1 hard, 1 unknown" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"), [((), "say where"), (("--from", "nowhere"), "there is no file"), (("--from", "imap://x@127.0.0.1:1/"), "cannot read")]
)
def test_what_is_missing_is_said(desk: Desk, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str) -> None:
    assert desk.read(*arguments) in (1, 2)
    assert words in capsys.readouterr().err


def test_many_complaints_pause_what_is_under_way(desk: Desk) -> None:
    readers = [desk.a_reader(f"reader{number}") for number in range(30)]
    mailing = desk.ledger.open(an_issue(), ("daily", "news"), NOON)
    key = mailing.issue.key
    ids = [reader.id for reader in readers]
    desk.ledger.step(key, [], ids, "one", NOON, {})
    desk.ledger.step(key, [Outcome(subscriber=id, state="accepted", code=250) for id in ids], [], "one", NOON, {})
    for reader in readers[:3]:
        assert alarm(desk.parts) == []
        take(desk.parts, COMPLAINT.replace(TOKEN.encode(), desk.links.token(reader.id).encode()), NOON)
    problems = alarm(desk.parts)
    found = desk.ledger.mailing(key)
    assert found and found.state == "paused" and "3 readers complained" in problems[0].message
    another = desk.ledger.open(an_issue(edition="other"), ("daily", "news"), NOON)
    assert alarm(desk.parts) == [] and another.state == "open"  # nobody complained of that one
    desk.ledger.set_state(key, "open")
    assert desk.read("--from", str(desk.folder / "nothing.mbox")) == 1  # nothing new was read
    box = mailbox.mbox(desk.folder / "box")
    box.add(desk.mail(readers[5], status="4.2.2"))
    box.close()
    assert desk.read("--from", "box") == 0
    found = desk.ledger.mailing(key)
    assert found and found.state == "open"  # the old complaints pause nothing that was resumed
