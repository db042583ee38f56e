"""Everything that decides whether mail arrives, looked at from outside: records, names, relay, one-click address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from digest.audience import sender_records
from digest.errors import DigestError
from digest.model import Diagnosis
from digest.ports import NameService, Relay


@dataclass(frozen=True, slots=True, kw_only=True)
class MailFacts:
    """What is known of the sender: the domains of From and of the envelope, the DKIM selector (empty where the relay signs) with the key
    that its record must hold, the relay's host, where returns go, and a one-click address that belongs to nobody."""

    sender: str
    envelope: str
    selector: str
    public_key: str
    relay_host: str
    has_returns: bool
    one_click: str


async def examine(facts: MailFacts, names: NameService, relay: Relay, post: Callable[[str], int]) -> list[Diagnosis]:
    """What is fine, and for what is not the remedy. A check that cannot be made is told as one to look at."""
    found = [each for check in (_records, _pointer, _returns) for each in _made(check, facts, names)]
    try:
        connection = await relay.connect()
        await connection.quit()
        found.append(Diagnosis("relay", "fine", f"{facts.relay_host} takes the connection, its certificate and the login"))
    except DigestError as error:
        found.append(Diagnosis("relay", "wrong", str(error), "see mail.host, port, security, user and password in feeds.yaml"))
    return [*found, _one_click(facts, post)]


def _made(check: Callable[[MailFacts, NameService], Iterator[Diagnosis]], facts: MailFacts, names: NameService) -> list[Diagnosis]:
    try:
        return list(check(facts, names))
    except DigestError as error:
        return [Diagnosis("DNS", "look", str(error), "try again, or name a resolver with --resolver")]


def _records(facts: MailFacts, names: NameService) -> Iterator[Diagnosis]:
    yield sender_records.spf(facts.envelope, names.texts(facts.envelope), facts.relay_host)
    if facts.selector:
        yield sender_records.dkim(facts.sender, facts.selector, names.texts(f"{facts.selector}._domainkey.{facts.sender}"), facts.public_key)
    else:
        remedy = "let the relay sign and give its selector with --selector, or set mail.dkim_selector and a key"
        yield Diagnosis("DKIM", "look", "nothing is known of a signature", remedy)
    above = sender_records.parent(facts.sender)
    yield sender_records.dmarc(facts.sender, names.texts(f"_dmarc.{facts.sender}"), names.texts(f"_dmarc.{above}") if above else ())
    yield sender_records.alignment(facts.sender, facts.envelope, facts.sender if facts.selector else "")


def _pointer(facts: MailFacts, names: NameService) -> Iterator[Diagnosis]:
    """The relay's address has a name, and the name that address (Gmail 5.7.25)."""
    if facts.relay_host in ("localhost", "127.0.0.1", "::1"):
        saw = "the relay is this machine; how it shows to others cannot be seen from here"
        yield Diagnosis("PTR", "look", saw, "look up the PTR record of its public address")
        return
    addresses = names.addresses(facts.relay_host)
    if not addresses:
        yield Diagnosis("PTR", "wrong", f"{facts.relay_host} has no address", "see mail.host")
    for address in addresses:
        if any(address in names.addresses(name) for name in names.pointers(address)):
            yield Diagnosis("PTR", "fine", f"{address} and its name agree")
        else:
            yield Diagnosis("PTR", "wrong", f"{address} has no name that leads back to it", "ask whoever gives you the address for a PTR record")


def _returns(facts: MailFacts, names: NameService) -> Iterator[Diagnosis]:
    if not facts.has_returns:
        yield Diagnosis("returns", "look", "mail.bounces is not set; dead addresses are only seen when the relay refuses them", "set it, and mail.returns")
    elif hosts := names.exchangers(facts.envelope):
        yield Diagnosis("returns", "fine", f"mail to {facts.envelope} goes to {', '.join(hosts[:3])}")
    else:
        yield Diagnosis("returns", "wrong", f"{facts.envelope} takes no mail, so nothing can come back", f"add: {facts.envelope}. MX 10 your.mail.host.")


def _one_click(facts: MailFacts, post: Callable[[str], int]) -> Diagnosis:
    where = f"{urlsplit(facts.one_click).scheme}://{urlsplit(facts.one_click).netloc}"
    if not facts.one_click.startswith("https://"):
        return Diagnosis("one-click", "wrong", f"{where} is no https address; RFC 8058 asks for one", "set mail.links to an https address")
    try:
        status = post(facts.one_click)
    except DigestError as error:
        return Diagnosis("one-click", "wrong", str(error), f"start `digest serve` and let {where} lead to it")
    if status != 200:
        return Diagnosis("one-click", "wrong", f"{where} answers {status} to a one-click POST", f"let {where} lead to `digest serve`, with the same key")
    return Diagnosis("one-click", "fine", f"{where} answers a one-click POST with 200")
