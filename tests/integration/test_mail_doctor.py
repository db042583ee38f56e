"""What stands in the way of mail is named, with the line that is missing."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import dkim
import pytest

from digest.audience import sender_records
from digest.cli import main
from digest.errors import ConfigError, FetchError, PublishError
from digest.fetch.dns import Names
from digest.model import Diagnosis
from digest.pipeline.mail_checks import MailFacts, examine
from digest.publish.relay import RelayAddress, SmtpRelay
from digest.publish.signature import SIGNED, DkimSignature, public_part
from tests.dns_server import DnsServer
from tests.integration.test_serve import SETTINGS
from tests.mail_server import MailServer

GOOD: dict[tuple[str, str], list[str]] = {
    ("example.org", "TXT"): ['"v=spf1 a:smtp.example.org -all"', '"something else"'],
    ("example.org", "MX"): ["20 mx2.example.org.", "10 mx1.example.org."],
    ("s1._domainkey.example.org", "TXT"): ['"v=DKIM1; k=rsa; " "p=QUJD"'],
    ("_dmarc.example.org", "TXT"): ['"v=DMARC1; p=none; rua=mailto:d@example.org"'],
    ("smtp.example.org", "A"): ["192.0.2.5"],
    ("5.2.0.192.in-addr.arpa", "PTR"): ["smtp.example.org."],
}
FACTS = MailFacts(
    sender="example.org",
    envelope="example.org",
    selector="s1",
    public_key="QUJD",
    relay_host="smtp.example.org",
    has_returns=True,
    one_click="https://mail.example.org/u/TOKEN",
)


class Open:
    """A relay that takes the connection."""

    async def connect(self) -> Any:
        return self

    async def quit(self) -> None:
        pass


class Shut:
    async def connect(self) -> Any:
        raise PublishError("smtp.example.org did not accept the user 'digest' and its password")


def look(records: dict[tuple[str, str], list[str]], facts: MailFacts = FACTS, relay: Any = None, status: int = 200, **server: bool) -> dict[str, Diagnosis]:
    with DnsServer(records, **server) as dns:
        found = asyncio.run(examine(facts, Names(["127.0.0.1"], dns.port), relay or Open(), lambda url: status))
    return {each.subject: each for each in found}


def test_a_sender_with_everything_is_fine() -> None:
    found = look(GOOD)
    assert {each.state for each in found.values()} == {"fine"}, found
    assert list(found) == ["SPF", "DKIM", "DMARC", "alignment", "PTR", "returns", "relay", "one-click"]
    assert "mx1.example.org, mx2.example.org" in found["returns"].saw


def test_what_is_missing_is_named_with_the_line_to_add() -> None:
    found = look({("smtp.example.org", "A"): ["192.0.2.5"]}, relay=Shut(), status=404)
    assert {subject for subject, each in found.items() if each.state == "wrong"} == {"SPF", "DKIM", "DMARC", "PTR", "returns", "relay", "one-click"}
    assert 'add: example.org. TXT "v=spf1 a:smtp.example.org -all"' in found["SPF"].remedy
    assert 'add: s1._domainkey.example.org. TXT "v=DKIM1; k=rsa; p=QUJD"' in found["DKIM"].remedy
    assert 'add: _dmarc.example.org. TXT "v=DMARC1; p=none;' in found["DMARC"].remedy
    assert "add: example.org. MX" in found["returns"].remedy
    assert "404" in found["one-click"].saw


@pytest.mark.parametrize(
    ("texts", "state", "words"),
    [
        (["v=spf1 include:_spf.example.net ~all"], "fine", "include"),
        (["v=spf1 a -all", "v=spf1 mx -all"], "wrong", "2 SPF records"),
        (["v=spf1 a +all"], "wrong", "anybody"),
        (["v=spf1 a"], "look", "other senders"),
        (["v=spf1 redirect=_spf.example.net"], "fine", "redirect"),
        (["v=spf1 " + " ".join(f"include:s{number}.example.net" for number in range(11)) + " -all"], "wrong", "more than 10"),
        (["v=spf10 a -all"], "wrong", "no SPF record"),
    ],
)
def test_spf_records(texts: list[str], state: str, words: str) -> None:
    found = sender_records.spf("example.org", texts, "smtp.example.org")
    assert found.state == state and words in found.saw


@pytest.mark.parametrize(
    ("texts", "key", "state", "words"),
    [
        (["v=DKIM1; p="], "", "wrong", "revoked"),
        (["v=DKIM1; p=WFla"], "QUJD", "wrong", "not the one that signs"),
        (["k=rsa; p=QU JD"], "QUJD", "fine", "has a key"),
        ([], "", "wrong", "no key"),
    ],
)
def test_dkim_records(texts: list[str], key: str, state: str, words: str) -> None:
    found = sender_records.dkim("example.org", "s1", texts, key)
    assert found.state == state and words in found.saw


@pytest.mark.parametrize(
    ("texts", "above", "state"),
    [
        (["v=DMARC1; p=reject"], [], "fine"),
        ([], ["v=DMARC1;p=none"], "fine"),  # the organisation's record counts for what is below it
        (["v=DMARC1"], [], "wrong"),
        (["v=DMARC1; p=none", "v=DMARC1; p=none"], [], "wrong"),
        (["p=none"], [], "wrong"),
    ],
)
def test_dmarc_records(texts: list[str], above: list[str], state: str) -> None:
    assert sender_records.dmarc("news.example.org", texts, above).state == state


def test_alignment_is_that_of_the_organisation() -> None:
    assert sender_records.alignment("news.example.org", "bounces.example.org", "").state == "fine"
    assert sender_records.alignment("example.org", "relay.net", "example.org").state == "fine"
    assert sender_records.alignment("a.com.cn", "b.com.cn", "").state == "wrong"
    assert sender_records.parent("news.a.com.cn") == "a.com.cn" and sender_records.parent("example.org") == ""


def test_a_resolver_that_does_not_answer_is_told_as_such() -> None:
    found = look(GOOD, is_broken=True)
    assert found["DNS"].state == "look" and "SPF" not in found and found["relay"].state == "fine"
    with DnsServer({}, is_broken=True) as dns, pytest.raises(FetchError):
        Names(["127.0.0.1"], dns.port).texts("example.org")


def test_the_command_prints_the_remedies_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MAIL_KEY", "k" * 30)
    with DnsServer(GOOD) as dns, MailServer() as server:
        text = SETTINGS.replace("bounces: b", f"host: 127.0.0.1, port: {server.port}, security: none, bounces: b").replace("mail.example.org", "127.0.0.1:1")
        (tmp_path / "feeds.yaml").write_text(text, encoding="utf-8")
        arguments = ["mail", "doctor", "--selector", "s1", "--resolver", f"127.0.0.1:{dns.port}", "--config", str(tmp_path / "feeds.yaml")]
        assert main(arguments) == 1
        said = capsys.readouterr().out
        assert "one-click: start `digest serve`" in said and "✓" in said and "✗" in said
        assert main([*arguments, "--json"]) == 1
        found = {each["subject"]: each["state"] for each in json.loads(capsys.readouterr().out)}
        assert found == {
            "SPF": "fine",
            "DKIM": "fine",
            "DMARC": "fine",
            "alignment": "fine",
            "PTR": "look",
            "returns": "fine",
            "relay": "fine",
            "one-click": "wrong",
        }


@pytest.fixture(scope="module")
def key() -> str:
    return subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, text=True, check=True).stdout


MESSAGE = b"From: d@example.org\r\nTo: r@example.com\r\nSubject: x\r\nList-Unsubscribe: <https://m/u/T>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nhello\r\n"


def test_a_signature_holds_and_covers_what_receivers_ask_for(key: str) -> None:
    header = DkimSignature("example.org", "s1", key).header_for(MESSAGE)
    record = f"v=DKIM1; k=rsa; p={public_part(key)}".encode()
    assert dkim.verify(header + MESSAGE, dnsfunc=lambda name, timeout=5: record)
    assert not dkim.verify(header + MESSAGE.replace(b"hello", b"hullo"), dnsfunc=lambda name, timeout=5: record)
    for name in ("from", "subject", "list-unsubscribe", "list-unsubscribe-post"):
        assert name in SIGNED and name.encode() in header
    assert all(line.endswith(b"\r") for line in header.split(b"\n")[:-1])


def test_a_key_that_is_none_is_said_to_be_one_without_showing_it() -> None:
    with pytest.raises(ConfigError, match="DKIM key cannot be used") as refusal:
        DkimSignature("example.org", "s1", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----")
    assert "c2VjcmV0" not in str(refusal.value)


def test_an_access_token_is_asked_for_at_every_login() -> None:
    asked: list[str] = []

    def token() -> str:
        asked.append(f"token-{len(asked)}")
        return asked[-1]

    with MailServer() as server:
        relay = SmtpRelay(RelayAddress(host="127.0.0.1", port=server.port, security="none", user="digest", password=token, login="oauth2"))

        async def twice() -> None:
            for _ in range(2):
                await (await relay.connect()).quit()

        asyncio.run(twice())
        assert asked == ["token-0", "token-1"] and server.logins == ["XOAUTH2", "XOAUTH2"]
    with MailServer(lambda verb, recipient: "535 no" if verb == "auth" else "") as server:
        relay = SmtpRelay(RelayAddress(host="127.0.0.1", port=server.port, security="none", user="digest", password=token, login="oauth2"))
        with pytest.raises(PublishError, match="access token"):
            asyncio.run(relay.connect())
