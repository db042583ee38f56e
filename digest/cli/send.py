"""``digest send``: the mail of an issue to its readers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from pathlib import Path

from digest import mail_wiring, wiring
from digest.audience.addresses import address_hash, checked
from digest.audience.limits import Limits
from digest.cli import reports
from digest.cli.arguments import a_day, add_config, add_edition, day_and_now, parser
from digest.errors import ConfigError, DigestError
from digest.model import Consent, DeliveryState, Issue, Subscriber
from digest.pipeline import mailing
from digest.pipeline.mailing import Encode
from digest.ports import Relay
from digest.settings.load import Loaded, load
from digest.settings.schema import EditionSettings
from digest.store.archive import SqlArchive
from digest.store.database import open_database
from digest.store.ledger import SqlLedger
from digest.store.subscribers import SqlSubscribers
from digest.write.desk import apply

_EPILOG = """Whoever has the mail gets it no second time, however often this is called. What is only known to have left is held as uncertain.

examples:
  digest send --dry-run                 to how many it would go
  digest send --to me@example.com       one mail to look at; the ledger does not know of it
  digest send --spool mails             .eml files in a folder, nothing leaves
  digest send --spool mails --samples   one for each choice of languages, to look at
  digest send --limit 10                the first ten
  digest send                           all who wait
  digest send status                    every reader's state; --json
  digest send pause, digest send resume
  digest send resolve --sent            the uncertain ones have arrived; --resend: send them again
"""


def main(command: str, arguments: list[str]) -> int:
    """Sends, or shows and steers a mailing."""
    options = parser(command, "Sends the archived issue of a day by mail.", _EPILOG)
    options.add_argument("what", nargs="?", choices=["now", "status", "pause", "resume", "resolve"], default="now")
    add_config(options)
    add_edition(options)
    options.add_argument("--date", type=a_day, metavar="DAY", help="the day of the issue; today when left out")
    options.add_argument("--to", metavar="ADDRESS", help="one mail to look at, to this address only")
    options.add_argument("--limit", type=int, default=0, metavar="N", help="at most so many now")
    options.add_argument("--dry-run", action="store_true", help="only say what would be done")
    options.add_argument("--spool", type=Path, metavar="DIR", help="write .eml files there and send nothing")
    options.add_argument("--samples", action="store_true", help="with --spool: one message for each choice of languages, without readers")
    options.add_argument("--sent", action="store_true", help="resolve: the uncertain ones have arrived")
    options.add_argument("--resend", action="store_true", help="resolve: send the uncertain ones again")
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    if chosen.what == "resolve" and chosen.sent == chosen.resend:
        raise ConfigError("digest send resolve: choose --sent or --resend")
    if chosen.samples and chosen.spool is None:
        raise ConfigError("digest send --samples: say where with --spool DIR")
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    day, _ = day_and_now(chosen.date, edition.timezone)
    engine = open_database(wiring.database_address(loaded))
    try:
        call = _Call(loaded, name, edition, chosen, SqlArchive(engine), SqlLedger(engine), SqlSubscribers(engine, address_hash), day)
        return call.act()
    finally:
        engine.dispose()


class _Call:
    """One call of the command, with what it needs."""

    def __init__(
        self, loaded: Loaded, name: str, edition: EditionSettings, chosen: Namespace, archive: SqlArchive, ledger: SqlLedger, store: SqlSubscribers, day: date
    ) -> None:
        self.loaded, self.name, self.edition, self.chosen = loaded, name, edition, chosen
        self.archive, self.ledger, self.store, self.day = archive, ledger, store, day
        self.key = f"{name}/{day.isoformat()}"

    def act(self) -> int:
        what = self.chosen.what
        if what == "status":
            return self._status()
        if what in ("pause", "resume"):
            self._began()
            self.ledger.set_state(self.key, "paused" if what == "pause" else "open", "paused by hand" if what == "pause" else "")
            if what == "pause":
                print(f"{self.key} is paused")
                return 0
        elif what == "resolve":
            self._began()
            number = self.ledger.resolve(self.key, "accepted" if self.chosen.sent else "pending")
            print(f"{number} resolved")
            return 0
        return self._send()

    def _began(self) -> None:
        if self.ledger.mailing(self.key) is None:
            raise DigestError(f"the mailing of {self.key} has not begun")

    def _issue(self) -> Issue:
        archived = self.archive.issue(self.name, self.day)
        if archived is None:
            raise DigestError(f"there is no issue of {self.day.isoformat()} yet; `digest make --date {self.day.isoformat()}` makes it")
        return apply(archived, wiring.desk(self.loaded, self.day))[0]

    def _send(self) -> int:
        mail = mail_wiring.mail_settings(self.edition)
        issue = self._issue()
        if self.chosen.dry_run:
            wanted = [each for each in self.store.all(self.name) if each.state == "active" and each.rhythm in mailing.audience(issue)]
            known = self.ledger.counts(self.key)
            print(f"{issue.key}: {len(wanted)} readers want it" + (f"; begun: {_counted(known)}" if known else ""))
            return 0
        encode = mail_wiring.personaliser(self.loaded, self.name, self.edition)
        relay = mail_wiring.relay(self.loaded, mail, self.chosen.spool)
        if self.chosen.samples:
            return asyncio.run(self._samples(issue, encode, relay))
        if self.chosen.to:
            return asyncio.run(self._to_one(checked(self.chosen.to), issue, encode, relay))
        parts = mailing.MailParts(
            ledger=self.ledger,
            subscribers=self.store,
            relay=relay,
            encode=encode,
            limits=Limits({} if self.chosen.spool else mail.a_minute, mail.a_day),
            clock=lambda: datetime.now(UTC),
            worker=_here(),
            connections=mail.connections,
            is_gone=_is_gone,
        )
        with reports.Progress(is_shown=not self.chosen.json) as progress:
            step = progress.act("send", None)
            report = asyncio.run(mailing.send(parts, issue, mailing.audience(issue), limit=self.chosen.limit, step=step))
        if self.chosen.json:
            print(json.dumps({"issue": self.key, "state": report.mailing.state, "counts": report.counts}))
        else:
            print(f"{self.key}: {_counted(report.counts) or 'nobody wants it'}")
        if report.mailing.state == "paused" and not report.problems:
            print(f"{self.key} is paused: {report.mailing.why}; `digest send resume` goes on", file=sys.stderr)
        for problem in report.problems:
            print(f"send {problem.subject}: {problem.message}", file=sys.stderr)
        if report.counts.get("uncertain"):
            print("send: whether the uncertain ones arrived only their readers know; `digest send resolve --sent` or `--resend`", file=sys.stderr)
        return 1 if report.problems or report.counts.get("uncertain") else 0

    async def _to_one(self, address: str, issue: Issue, encode: Encode, relay: Relay) -> int:
        now = datetime.now(UTC)
        known = self.store.find(self.name, address)
        consent = Consent(how="test", at=now)
        reader = known or Subscriber(edition=self.name, address=address, languages=tuple(self.edition.languages), consent=consent)
        encoded = encode(issue, replace(reader, address=address, rhythm="daily"), now)
        assert encoded is not None  # daily readers get quiet days too
        sender, message = encoded
        connection = await relay.connect()
        reply = await connection.send(sender, address, message)
        await connection.quit()
        print(f"{address}: {reply.code} {reply.text}")
        return 0 if 200 <= reply.code < 300 else 1

    async def _samples(self, issue: Issue, encode: Encode, relay: Relay) -> int:
        connection = await relay.connect()
        choices = [(language,) for language in self.edition.languages] + ([tuple(self.edition.languages)] if len(self.edition.languages) > 1 else [])
        for languages in choices:
            name = "-".join(languages)
            reader = Subscriber(edition=self.name, address=f"{name}@example.org", languages=languages, consent=Consent(how="sample", at=issue.until))
            encoded = encode(issue, reader, issue.until)
            assert encoded is not None  # daily readers get quiet days too
            await connection.send(encoded[0], name, encoded[1])
            print((self.chosen.spool / f"{name}.eml").resolve())
        return 0

    def _status(self) -> int:
        begun = self.ledger.mailing(self.key)
        if begun is None:
            print(f"the mailing of {self.key} has not begun")
            return 0
        rows = self.ledger.deliveries(self.key)
        if self.chosen.json:
            listed = [asdict(row) | {"next_at": row.next_at.isoformat() if row.next_at else None} for row in rows]
            print(json.dumps({"issue": self.key, "state": begun.state, "why": begun.why, "deliveries": listed}, ensure_ascii=False, indent=1))
            return 0
        for row in rows:
            more = " ".join(part for part in (str(row.code) if row.code else "", row.text, f"next {row.next_at:%H:%M} UTC" if row.next_at else "") if part)
            print(f"{row.address or '(forgotten)':<40} {row.state:<10} {more}".rstrip())
        print(f"{self.key} is {begun.state}{f' ({begun.why})' if begun.why else ''}: {_counted(self.ledger.counts(self.key))}")
        return 0


def _counted(counts: Mapping[DeliveryState, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))


def _here() -> str:
    """The name of this sender: machine and process."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def _is_gone(worker: str) -> bool:
    """Whether a sender of this machine runs no more; of another machine nobody knows."""
    host, _, process = worker.rpartition(":")
    if host != socket.gethostname()[:60] or os.name == "nt":  # where the question below would end it
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        return False
    return False
