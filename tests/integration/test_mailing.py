"""Sending with everything that can go wrong: nobody twice, nobody forgotten, and the numbers add up."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from digest.audience.addresses import address_hash
from digest.audience.limits import Limits
from digest.cli import main
from digest.model import Article, Consent, Issue, Pick, Reason, Section, Subscriber, Wording
from digest.pipeline.mailing import MailParts, MailReport, audience, send
from digest.publish.message import Sender
from digest.publish.personal import Personaliser
from digest.publish.relay import RelayAddress, SmtpRelay
from digest.render.environment import Templates
from digest.render.mail_body import PREFERENCES, UNSUBSCRIBE, MailRenderer
from digest.store.database import open_database
from digest.store.ledger import SqlLedger
from digest.store.subscribers import SqlSubscribers
from tests.builders import NOON, a_source, a_story, an_issue
from tests.conftest import DAY, ROOT
from tests.mail_server import MailServer

KEY = "training/2026-11-24"


def a_subscriber(number: int, **changes: Any) -> Subscriber:
    consent = Consent(how="test", at=NOON, evidence="said yes")
    fields: dict[str, Any] = {"edition": "training", "address": f"reader{number}@example{number % 3}.com", "languages": ("zh", "en"), "consent": consent}
    return Subscriber(**fields | changes)


@dataclass
class Office:
    """A database with readers, and a way to send to them."""

    engine: Engine
    ledger: SqlLedger
    subscribers: SqlSubscribers
    now: datetime = NOON

    def fill(self, number: int) -> list[Subscriber]:
        return self.subscribers.add([a_subscriber(each) for each in range(number)])[0]

    def send(self, server: MailServer, issue: Issue | None = None, *, worker: str = "one", limit: int = 0, **changes: Any) -> MailReport:
        fields: dict[str, Any] = {
            "ledger": self.ledger,
            "subscribers": self.subscribers,
            "relay": SmtpRelay(RelayAddress(host="127.0.0.1", port=server.port, security="none"), seconds=1.0),
            "encode": _encode,
            "limits": Limits({}),
            "clock": lambda: self.now,
            "worker": worker,
            "connections": 3,
            "sleep": self._sleep,
        }
        rhythms = changes.pop("rhythms", ("daily", "news"))
        return asyncio.run(send(MailParts(**fields | changes), issue or an_issue(), rhythms, limit=limit))

    async def _sleep(self, seconds: float) -> None:
        """Time passes for this office only."""
        self.now += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    @property
    def counts(self) -> dict[str, int]:
        return {str(state): number for state, number in self.ledger.counts(KEY).items()}


def _encode(issue: Issue, subscriber: Subscriber, now: datetime) -> tuple[str, bytes]:
    return "bounces@example.org", f"Message-ID: <{issue.key}.{subscriber.id}>\r\n\r\nhello\r\n".encode()


@pytest.fixture(params=["sqlite", "postgresql"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    address = f"sqlite:///{tmp_path}/mail.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgresql")
    engine = open_database(address)
    yield Office(engine, SqlLedger(engine), SqlSubscribers(engine, address_hash))
    if request.param == "postgresql":
        with engine.begin() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE; CREATE SCHEMA public"))
    engine.dispose()


def test_everyone_gets_it_once_and_a_second_run_sends_nothing(office: Office) -> None:
    office.fill(25)
    with MailServer() as server:
        report = office.send(server)
        assert (dict(report.counts), report.problems, report.mailing.state) == ({"accepted": 25}, [], "open")
        office.send(server)
        assert set(server.times.values()) == {1} and len(server.times) == 25
        assert len({identity for _, identity in server.taken}) == 25
    mailing = office.ledger.mailing(KEY)
    assert mailing is not None and mailing.state == "done"


@pytest.mark.parametrize(
    ("verb", "said", "counts", "is_stopped"),
    [
        ("connect", "421 busy", {"pending": 6}, True),
        ("connect", "reset", {"pending": 6}, True),
        ("mail", "451 later", {"deferred": 6}, False),
        ("mail", "550 you are not welcome", {"pending": 6}, True),
        ("rcpt", "450 greylisted", {"deferred": 6}, False),
        ("rcpt", "550 Domain frequency limited", {"deferred": 6}, False),
        ("rcpt", "552 full", {"failed": 6}, False),
        ("rcpt", "550 5.7.26 unauthenticated", {"pending": 6}, True),
        ("data", "451 not now", {"deferred": 6}, False),
        ("data", "554 no", {"failed": 6}, False),
        ("dot", "452 full", {"deferred": 6}, False),
        ("dot", "550 5.7.515 authentication", {"pending": 6}, True),
        ("dot", "554 spam", {"failed": 6}, False),
    ],
)
def test_a_refusal_at_any_verb_costs_what_it_must_and_no_more(office: Office, verb: str, said: str, counts: dict[str, int], is_stopped: bool) -> None:
    office.fill(6)
    with MailServer(lambda at, recipient: said if at == verb else "") as server:
        report = office.send(server)
        assert dict(report.counts) == counts
        assert bool(report.problems) == is_stopped and (report.mailing.state == "paused") == is_stopped
        assert server.taken == []
        server.say = lambda at, recipient: ""
        office.ledger.set_state(KEY, "open")
        office.now += timedelta(hours=1)
        office.send(server)
        accepted = 0 if "failed" in counts else 6
        assert sum(server.times.values()) == accepted and office.counts == ({"accepted": 6} if accepted else counts)


@pytest.mark.parametrize("said", ["take and reset", "take and stall", "reset"])
def test_what_broke_off_after_the_message_left_is_held_until_someone_decides(office: Office, said: str) -> None:
    readers = office.fill(4)
    with MailServer(lambda at, recipient: said if at == "dot" and recipient.startswith("reader2") else "") as server:
        office.send(server)
        assert office.counts == {"accepted": 3, "uncertain": 1}
        office.send(server)
        assert all(number == 1 for number in server.times.values())
        server.say = lambda at, recipient: ""
        assert office.ledger.resolve(KEY, "pending", [readers[2].id]) == 1
        office.send(server)
        assert office.counts == {"accepted": 4}


def test_a_wrong_password_stops_everything_and_blames_no_reader(office: Office) -> None:
    office.fill(30)
    with MailServer(lambda at, recipient: "535 5.7.8 wrong" if at == "auth" else "") as server:
        relay = SmtpRelay(RelayAddress(host="127.0.0.1", port=server.port, security="none", user="me", password="secret"), seconds=1.0)
        report = office.send(server, relay=relay)
        assert office.counts == {"pending": 30} and report.mailing.state == "paused"
        assert "'me'" in report.problems[0].message and "secret" not in report.problems[0].message + repr(relay.__dict__)


def test_a_relay_with_a_wrong_certificate_gets_nothing(office: Office, tmp_path: Path) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost"]
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here to make a certificate")
    subprocess.run([*command, "-addext", "subjectAltName=DNS:localhost"], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    office.fill(3)
    with MailServer(tls=context) as server:
        address = RelayAddress(host="localhost", port=server.port, security="tls")
        report = office.send(server, relay=SmtpRelay(address, seconds=2.0))
        assert office.counts == {"pending": 3} and server.taken == [] and "certificate" in report.problems[0].message
        office.ledger.set_state(KEY, "open")
        office.send(server, relay=SmtpRelay(replace(address, certificates=str(tmp_path / "cert.pem")), seconds=2.0))
        assert office.counts == {"accepted": 3}


def test_too_many_addresses_that_do_not_exist_pause_the_run_and_are_never_tried_again(office: Office) -> None:
    office.fill(100)
    with MailServer(lambda at, recipient: "550 5.1.1 no such user" if at == "rcpt" else "") as server:
        report = office.send(server)
        assert report.mailing.state == "paused" and "do not exist" in report.problems[0].message
        assert 20 <= office.counts["failed"] <= 25
    gone = [each for each in office.subscribers.all("training") if each.state == "left"]
    assert len(gone) == office.counts["failed"]
    assert office.subscribers.add([a_subscriber(0, edition="other", address=gone[0].address)]) == (
        [],
        [a_subscriber(0, edition="other", address=gone[0].address)],
    )


def test_whoever_leaves_meanwhile_gets_nothing_more(office: Office) -> None:
    readers = office.fill(5)
    with MailServer() as server:
        office.send(server, limit=1)
        assert len(server.taken) == 1
        office.subscribers.leave(readers[3], "unsubscribed", NOON)
        office.subscribers.forget(readers[4].address, NOON)
        office.send(server)
        assert office.counts == {"accepted": 3, "suppressed": 2}
        assert readers[3].address not in server.times and readers[4].address not in server.times


def test_who_comes_later_is_not_part_of_a_mailing_and_quiet_days_are_for_daily_readers(office: Office) -> None:
    office.subscribers.add([a_subscriber(1), a_subscriber(2, rhythm="news"), a_subscriber(3, edition="other")])
    with MailServer() as server:
        parts = {"rhythms": audience(an_issue())}
        office.send(server, **parts)
        office.subscribers.add([a_subscriber(9)])
        office.send(server, **parts)
        assert list(server.times) == ["reader1@example1.com"]


def test_the_issue_is_frozen_when_the_first_mail_goes_out(office: Office) -> None:
    office.fill(2)
    seen: list[int] = []

    def encode(issue: Issue, subscriber: Subscriber, now: datetime) -> tuple[str, bytes]:
        seen.append(issue.entries_read)
        return _encode(issue, subscriber, now)

    with MailServer() as server:
        office.send(server, an_issue(entries_read=5), limit=1, encode=encode)
        office.send(server, an_issue(entries_read=99), encode=encode)
    assert seen == [5, 5]


def test_those_who_want_only_news_of_their_topics_get_no_empty_mail(office: Office) -> None:
    office.subscribers.add([a_subscriber(1, rhythm="news", topics=("moe",)), a_subscriber(2, topics=("moe",))])
    story = a_story()
    wordings = tuple(Wording(language=language, headline="H", summary="S", blurb="B") for language in ("zh", "en"))
    pick = Pick(story=story, reasons=(Reason(points=50, why="on-topic"),))
    article = Article(pick=pick, source=a_source(), claims=(), mentions=(), tags=("memory",), wordings=wordings, written_by="patterns")
    issue = an_issue(sections=(Section(topic="training-acceleration", title={"zh": "训", "en": "T"}, articles=(article,)),))
    sender = Sender(address="d@example.org", list_id="l.example.org", archive="https://example.org/")
    render = MailRenderer(Templates([ROOT / "templates"])).render
    encode = Personaliser(sender, render, str, lambda token: (f"https://u/{token}", f"https://p/{token}"), (UNSUBSCRIBE, PREFERENCES), "")
    with MailServer() as server:
        office.send(server, issue, encode=encode)
        assert list(server.times) == ["reader2@example2.com"] and office.counts == {"accepted": 1, "suppressed": 1}


def test_the_numbers_always_add_up(office: Office) -> None:
    """A server in a bad mood, again and again, until nothing waits."""
    office.fill(60)
    chance = random.Random(5)

    def say(verb: str, recipient: str) -> str:
        moods = {"rcpt": ["450 later", "550 Domain frequency limited", "552 full"], "dot": ["take and reset", "451 later", "554 no", "reset"]}
        return chance.choice(moods[verb]) if verb in moods and chance.random() < 0.15 else ""

    with MailServer(say) as server:
        for _ in range(30):
            office.send(server)
            office.ledger.set_state(KEY, "open")
            office.now += timedelta(minutes=30)
            assert sum(office.counts.values()) == 60
            assert max(server.times.values()) == 1
        waiting = set(office.counts) & {"pending", "sending", "deferred"}
    assert not waiting
    assert office.counts["accepted"] + office.counts.get("uncertain", 0) >= len(server.times) >= office.counts["accepted"]


# The command line, killed at any moment.


@pytest.fixture
def desk(demo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MAIL_KEY", "k" * 40)
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    return demo


def with_relay(demo: Path, port: int) -> None:
    text = re.sub(r"    mail: .*\n", "", demo.read_text(encoding="utf-8"))
    mail = f"    mail: {{sender: digest@example.org, links: 'https://mail.example.org', bounces: bounces@example.org, host: 127.0.0.1, port: {port}, security: none}}\n"
    demo.write_text(text.replace("    folder: ", f"{mail}    folder: ", 1), encoding="utf-8")


def readers_of(desk: Path, tmp_path: Path, number: int) -> None:
    rows = "\n".join(f"reader{each}@example.com,zh+en" for each in range(number))
    (tmp_path / "list.csv").write_text(f"address,languages\n{rows}\n", encoding="utf-8")
    assert main(["subscribers", "import", str(tmp_path / "list.csv"), "--consent", "test", "--config", str(desk)]) == 0


def test_a_killed_sender_sends_nobody_two_and_forgets_nobody(desk: Path, tmp_path: Path) -> None:
    number, runs = 150, int(os.environ.get("KILLS", "20"))
    readers_of(desk, tmp_path, number)
    chance, interrupted = random.Random(3), 0
    with MailServer(lambda at, recipient: time.sleep(0.008) or "" if at == "dot" else "") as server:  # so slow that the kills fall in between
        with_relay(desk, server.port)
        command = [sys.executable, "-m", "digest", "send", "--date", DAY, "--config", str(desk), "--json"]
        for _ in range(runs):
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until = len(server.taken) + chance.randint(0, 2 * number // runs)
            while len(server.taken) < until and process.poll() is None:
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.02))
            process.kill()
            process.wait()
            interrupted += 0 < len(server.times) < number
        assert interrupted > runs // 3, "too few kills fell into the middle"
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        counts = json.loads(done.stdout)["counts"]
        assert set(counts) <= {"accepted", "uncertain"} and sum(counts.values()) == number
        assert max(server.times.values()) == 1
        assert counts["accepted"] <= len(server.times) <= counts["accepted"] + counts.get("uncertain", 0)
        main(["send", "resolve", "--sent", "--date", DAY, "--config", str(desk)])


def test_two_senders_at_once_share_the_work(desk: Path, tmp_path: Path) -> None:
    readers_of(desk, tmp_path, 120)
    with MailServer() as server:
        with_relay(desk, server.port)
        command = [sys.executable, "-m", "digest", "send", "--date", DAY, "--config", str(desk), "--json"]
        both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
        for process in both:
            process.communicate(timeout=60)
        subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        assert len(server.times) == 120 and set(server.times.values()) == {1}


def test_the_commands_show_and_steer_a_mailing(desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main([*words, "--config", str(desk)])
        found = capsys.readouterr()
        return code, found.out + found.err

    readers_of(desk, tmp_path, 3)
    with MailServer() as server:
        server.keeps_raw = True
        with_relay(desk, server.port)
        assert "3 readers want it" in call("send", "--dry-run", "--date", DAY)[1] and server.taken == []
        code, said = call("send", "--to", "me@example.com", "--date", DAY)
        assert (code, list(server.times)) == (0, ["me@example.com"]), said
        assert call("send", "--limit", "1", "--date", DAY)[0] == 0
        assert "1 accepted, 2 pending" in call("send", "status", "--date", DAY)[1]
        assert "is paused" in call("send", "pause", "--date", DAY)[1]
        assert "is paused: paused by hand" in call("send", "--date", DAY)[1] and len(server.times) == 2
        assert call("send", "resume", "--date", DAY)[0] == 0
        assert len(server.times) == 4
        status = call("send", "status", "--date", DAY)[1]
        assert "reader0@example.com" in status and "3 accepted" in status
        assert server.envelopes[0].startswith("bounces+") and server.envelopes[0].endswith("@example.org")
        assert b"List-Unsubscribe-Post: List-Unsubscribe=One-Click" in server.raw[0]
        code, said = call("send", "--spool", str(tmp_path / "spool"), "--date", DAY)
        assert "3 accepted" in said


def test_readers_come_go_and_are_forgotten(desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def call(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(["subscribers", *words, "--config", str(desk)])
        found = capsys.readouterr()
        return code, found.out + found.err

    assert call("add", "A.Reader@gmail.com", "--consent", "asked", "--languages", "zh")[0] == 0
    assert "there already" in call("add", "areader+x@googlemail.com", "--consent", "again")[1]
    assert call("add", "nonsense", "--consent", "x")[0] == 1
    assert call("add", "b@example.com", "--consent", "x", "--languages", "fr")[0] == 2
    (tmp_path / "list.csv").write_text("address,rhythm,state\nb@example.com,news,\nbroken,,\nc@example.com,hourly,\nd@example.com,,left\n", encoding="utf-8")
    code, said = call("import", str(tmp_path / "list.csv"), "--consent", "old list")
    assert code == 1 and "1 added" in said and "2 wrong" in said and "list.csv:3" in said
    assert "must not be written to" in call("add", "d@example.com", "--consent", "x")[1]
    exported = call("export")[1]
    assert exported.splitlines()[0] == "address,languages,topics,rhythm,state,consent_how,consent_at,consent" and "A.Reader@gmail.com,zh" in exported
    assert "2 of 2 get the mail" in call("list")[1]
    assert "said yes by add" in call("show", "a.reader@gmail.com")[1]
    assert call("remove", "b@example.com")[0] == 0 and "1 of 2 get the mail" in call("list")[1]
    assert "1 subscription(s) erased" in call("forget", "areader@gmail.com")[1]
    assert "gmail" not in call("export")[1] and call("show", "a.reader@gmail.com")[0] == 1
    assert "must not be written to" in call("add", "A.Reader+new@gmail.com", "--consent", "x")[1]


@pytest.mark.parametrize("name", ["zh", "en", "zh-en"])
def test_the_mail_of_the_demo_reads_as_it_always_did(desk: Path, tmp_path: Path, name: str, request: pytest.FixtureRequest) -> None:
    assert main(["send", "--samples", "--spool", str(tmp_path), "--date", DAY, "--config", str(desk)]) == 0
    golden, made = ROOT / "tests" / "golden" / f"mail-{name}.eml", (tmp_path / f"{name}.eml").read_bytes()
    if request.config.getoption("--rewrite-golden"):
        golden.write_bytes(made)
    assert made == golden.read_bytes(), f"{name}.eml changed; --rewrite-golden if it should"


def test_an_edition_without_mail_says_how_to_have_it(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk.write_text(re.sub(r"    mail: .*\n", "", desk.read_text(encoding="utf-8")), encoding="utf-8")
    assert main(["send", "--date", DAY, "--config", str(desk)]) == 2
    assert "add a `mail:` part" in capsys.readouterr().err
