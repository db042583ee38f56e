"""``python -m bench.mail [--readers 100000]``: how fast mails are made and handed in.

Spliced: bytes for each reader, nothing sent. Durable: to a sink on loopback, with the ledger on the disk. Peer: the standard library's
EmailMessage for each reader by smtplib to the same sink.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import smtplib
import tempfile
import time
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from threading import Thread

from digest.audience.addresses import address_hash
from digest.audience.limits import Limits
from digest.audience.links import Links
from digest.model import Consent, Subscriber
from digest.pipeline.mailing import MailParts, send
from digest.publish.message import Sender
from digest.publish.personal import Personaliser
from digest.publish.relay import RelayAddress, SmtpRelay
from digest.render.environment import Templates
from digest.render.mail_body import PREFERENCES, UNSUBSCRIBE, MailRenderer
from digest.store.database import open_database
from digest.store.ledger import SqlLedger
from digest.store.returns import SqlReturns
from digest.store.subscribers import SqlSubscribers
from tests.conftest import ROOT
from tests.unit.test_mail import an_issue_of

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
DURABLE, PEER = 5000, 1000


class Sink:
    """Takes everything and keeps nothing."""

    def __init__(self) -> None:
        self.port = self.taken = 0
        self._loop = asyncio.new_event_loop()
        Thread(target=self._run, daemon=True).start()
        while not self.port:
            time.sleep(0.01)

    def _run(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", 0, limit=2**22))
        self.port = server.sockets[0].getsockname()[1]
        self._loop.run_forever()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 sink\r\n")
        while line := await reader.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                writer.write(b"354 go\r\n")
                await reader.readuntil(b"\r\n.\r\n")
                self.taken += 1
            writer.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 fine\r\n")
            if verb == b"QUIT":
                break
        writer.close()


def readers(number: int) -> list[Subscriber]:
    consent = Consent(how="bench", at=NOW)
    return [Subscriber(edition="training", address=f"reader{each}@example.com", languages=("zh", "en"), consent=consent) for each in range(number)]


def memory() -> float:
    """The most that was ever used, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--readers", type=int, default=100_000)
    number: int = options.parse_args().readers
    links = Links("https://mail.example.org", ["k" * 40])
    sender = Sender(address="digest@example.org", list_id="training.example.org", archive="https://digest.example.org/")
    render = MailRenderer(Templates([ROOT / "templates"])).render
    encode = Personaliser(
        sender, render, links.token, lambda token: (links.unsubscribe(token), links.preferences(token)), (UNSUBSCRIBE, PREFERENCES), "b@example.org"
    )
    issue = an_issue_of(12)
    first = encode(issue, readers(1)[0], NOW)
    assert first is not None
    before, began = memory(), time.perf_counter()
    for each in range(number):
        encode(issue, Subscriber(id=each, edition="t", address="reader@example.com", languages=("zh", "en"), consent=Consent(how="b", at=NOW)), NOW)
    seconds = time.perf_counter() - began
    print(f"spliced   {number / seconds:8.0f} a second, {len(first[1]) / 1000:.0f} kB each; {memory() - before:.0f} MiB more for {number} readers")
    sink = Sink()
    with tempfile.TemporaryDirectory() as folder:
        engine = open_database(f"sqlite:///{Path(folder) / 'mail.sqlite3'}")
        ledger, store = SqlLedger(engine), SqlSubscribers(engine, address_hash)
        store.add(readers(DURABLE))
        relay = SmtpRelay(RelayAddress(host="127.0.0.1", port=sink.port, security="none"))
        parts = MailParts(
            ledger=ledger,
            subscribers=store,
            returns=SqlReturns(engine),
            relay=relay,
            encode=encode,
            limits=Limits({}),
            clock=lambda: datetime.now(UTC),
            worker="bench",
            connections=8,
        )
        before, began = memory(), time.perf_counter()
        report = asyncio.run(send(parts, issue, ("daily",)))
        seconds = time.perf_counter() - began
        assert report.counts == {"accepted": DURABLE} and sink.taken == DURABLE
        print(f"durable   {DURABLE / seconds:8.0f} a second with the ledger on the disk; {memory() - before:.0f} MiB more")
        engine.dispose()
    body = render(issue, ("zh", "en"))
    began = time.perf_counter()
    with smtplib.SMTP("127.0.0.1", sink.port) as client:
        for each in range(PEER):
            message = EmailMessage()
            message["From"], message["To"], message["Subject"] = "digest@example.org", f"reader{each}@example.com", body.subject
            message.set_content(body.text + body.text_foot)
            message.add_alternative(body.html + body.html_foot, subtype="html")
            client.send_message(message)
    print(f"peer      {PEER / (time.perf_counter() - began):8.0f} a second: an EmailMessage each, by smtplib, no ledger")


if __name__ == "__main__":
    main()
