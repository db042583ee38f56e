"""``digest send``: the mail of an issue."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, date, datetime

from digest import mail_wiring, wiring
from digest.acts import Newsroom
from digest.audience.addresses import address_hash, checked
from digest.cli import reports
from digest.cli.arguments import a_day, a_number, a_path, add_config, add_edition, day_and_now, parser, some_words
from digest.cli.ending import STOPPED, Ending
from digest.errors import ConfigError, DigestError
from digest.model import Consent, DeliveryState, Issue, Subscriber
from digest.pipeline import mailing
from digest.settings.load import Loaded, load
from digest.settings.schema import EditionSettings
from digest.store.archive import SqlArchive
from digest.store.database import Engine, open_database
from digest.store.ledger import SqlLedger
from digest.store.subscribers import SqlSubscribers

_EPILOG = """Whoever has the mail gets it no second time, however often this is called. What is only known to have left is held as uncertain.

examples:
  digest send --dry-run                 to how many it would go
  digest send --to me@example.com       one mail to look at; the ledger does not know of it
  digest send --spool mails             .eml files in a folder, nothing leaves; the ledger does not know of it
  digest send --spool mails --record    the same for another program to send: these readers have it
  digest send --spool mails --samples   one for each choice of languages, to look at
  digest send --limit 10                the first ten
  digest send                           all who wait
  digest send --period week             the best of the last week, to those who want it so
  digest send --due                     what is due today and whatever is under way (for cron, every ten minutes)
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
    options.add_argument("--period", choices=["day", "week", "month"], default="day", help="the issue of the day, or the best of the last week or month")
    options.add_argument("--due", action="store_true", help="everything that is due, and every mailing under way")
    options.add_argument("--to", type=some_words, metavar="ADDRESS", help="one mail to look at, to this address only")
    options.add_argument("--limit", type=a_number, default=0, metavar="N", help="at most so many now")
    options.add_argument("--dry-run", action="store_true", help="only say what would be done")
    options.add_argument("--spool", type=a_path, metavar="DIR", help="write .eml files there and send nothing")
    options.add_argument("--record", action="store_true", help="with --spool: another program sends them, so that nobody gets them from here")
    options.add_argument("--samples", action="store_true", help="with --spool: one message for each choice of languages, without readers")
    options.add_argument("--sent", action="store_true", help="resolve: the uncertain ones have arrived")
    options.add_argument("--resend", action="store_true", help="resolve: send the uncertain ones again")
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    if chosen.what == "resolve" and chosen.sent == chosen.resend:
        raise ConfigError("digest send resolve: choose --sent or --resend")
    if (chosen.samples or chosen.record) and chosen.spool is None:
        raise ConfigError("digest send: --samples and --record say where with --spool DIR")
    if chosen.what != "resolve" and (chosen.sent or chosen.resend):
        raise ConfigError("digest send: --sent and --resend go with `digest send resolve`")
    if chosen.dry_run and (chosen.to or chosen.spool):
        raise ConfigError("digest send --dry-run says to how many it would go; --to and --spool write mails")
    alone = (chosen.what != "now", chosen.dry_run, chosen.to, chosen.spool, chosen.samples, chosen.limit, chosen.period != "day")
    if chosen.due and any(alone):
        raise ConfigError("digest send --due sends everything that is due; it goes with no other choice")
    if chosen.what != "now" and (chosen.dry_run or chosen.to or chosen.spool or chosen.samples):
        raise ConfigError(f"digest send {chosen.what}: --dry-run, --to, --spool and --samples go with a plain `digest send`")
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    day, _ = day_and_now(chosen.date, edition.timezone)
    engine = open_database(wiring.database_address(loaded))
    try:
        return _Call(loaded, name, edition, chosen, engine, day).act()
    finally:
        engine.dispose()


class _Call:
    """One call of the command, with what it needs."""

    def __init__(self, loaded: Loaded, name: str, edition: EditionSettings, chosen: Namespace, engine: Engine, day: date) -> None:
        self.loaded, self.name, self.edition, self.chosen, self.engine, self.day = loaded, name, edition, chosen, engine, day
        self.archive, self.ledger, self.store = SqlArchive(engine), SqlLedger(engine), SqlSubscribers(engine, address_hash)
        self.issue = self._issue() if not chosen.due else None
        self.key = self.issue.key if self.issue else f"{name}/{day.isoformat()}"

    def act(self) -> int:
        what = self.chosen.what
        if self.chosen.due:
            return self._due()
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

    def _issue(self) -> Issue | None:
        if self.chosen.period == "day":
            return mail_wiring.edited_issue(self.loaded, self.archive, self.name, self.day)
        return mail_wiring.period_issue(self.loaded, self.archive, self.name, self.edition, self.chosen.period, self.day)

    def _due(self) -> int:
        with reports.Progress(is_shown=not self.chosen.json) as progress:
            step = progress.act("send", None)
            is_held = not self._may_go()
            found = asyncio.run(mail_wiring.send_due(self.loaded, self.name, self.edition, self.engine, self.day, _now, step, is_held=is_held))
        return max((self._say(report) for report in found), default=0)

    def _send(self) -> int:
        issue = self.issue
        if issue is None and self.chosen.period == "day":
            raise DigestError(f"there is no issue of {self.day.isoformat()} yet; `digest make --date {self.day.isoformat()}` makes it")
        if issue is None:
            print(f"the last {self.chosen.period} before {self.day.isoformat()} told nothing; nobody gets a mail")
            return 0
        if self.chosen.dry_run:
            wanted = [each for each in self.store.all(self.name) if each.state == "active" and each.rhythm in mailing.audience(issue)]
            known = self.ledger.counts(self.key)
            if self.chosen.json:
                print(json.dumps({"issue": issue.key, "wanted": len(wanted), "counts": known}))
                return 0
            many = "1 reader wants" if len(wanted) == 1 else f"{len(wanted)} readers want"
            print(f"{issue.key}: {many} it" + (f"; begun: {_counted(known)}" if known else ""))
            return 0
        end = Ending()
        parts = mail_wiring.mail_parts(self.loaded, self.name, self.edition, self.engine, _now, self.chosen.spool)
        parts = replace(parts, is_stopping=end.is_asked, say=lambda words: print(f"send: {words}", file=sys.stderr))
        if self.chosen.samples:
            return asyncio.run(self._samples(issue, parts))
        if self.chosen.to:
            return self._to_one(checked(self.chosen.to), issue, parts)
        if self.chosen.spool and not self.chosen.record:
            return asyncio.run(self._written(issue, parts))
        if not self._may_go():
            raise DigestError(f"the issue of {self.day.isoformat()} waits for its editor's approval (`digest preview`)")
        with reports.Progress(is_shown=not self.chosen.json) as progress:
            self.ledger.open(issue, mailing.audience(issue), _now())
            counts = self.ledger.counts(issue.key)
            waiting = counts.get("pending", 0) + counts.get("deferred", 0)
            step = progress.act("send", min(self.chosen.limit or waiting, waiting))
            with end:
                report = asyncio.run(mailing.send(parts, issue, mailing.audience(issue), limit=self.chosen.limit, step=step))
        return max(self._say(report), STOPPED if end.is_asked() else 0)

    def _may_go(self) -> bool:
        return Newsroom(loaded=self.loaded, name=self.name, edition=self.edition).may_go(self.day)

    async def _written(self, issue: Issue, parts: mailing.MailParts) -> int:
        """Every reader's mail as a file; the ledger and the limits know nothing of it."""
        connection, number = await parts.relay.connect(), 0
        for reader in self.store.all(self.name):
            if number == self.chosen.limit > 0:
                break
            if reader.state == "active" and reader.rhythm in mailing.audience(issue) and (encoded := parts.encode(issue, reader, _now())) is not None:
                reply = await connection.send(encoded[0], reader.address, encoded[1])
                if reply.code != 250:
                    raise DigestError(reply.text)
                number += 1
        print(f"{issue.key}: {number} written to {self.chosen.spool}; nobody was sent anything")
        return 0

    def _say(self, report: mailing.MailReport) -> int:
        """Prints what a run of sending did; the exit code."""
        key, counts = report.mailing.issue.key, report.counts
        if self.chosen.json:
            print(json.dumps({"issue": key, "state": report.mailing.state, "counts": counts}))
        else:
            print(f"{key}: {_counted(counts) or 'nobody wants it'}")
        if report.mailing.state == "paused" and not report.problems:
            print(f"{key} is paused: {report.mailing.why}; `digest send resume` goes on", file=sys.stderr)
        for problem in report.problems:
            print(f"send {problem.subject}: {problem.message}", file=sys.stderr)
        if counts.get("uncertain"):
            print("send: whether the uncertain ones arrived only their readers know; `digest send resolve --sent` or `--resend`", file=sys.stderr)
        return 1 if report.problems or counts.get("uncertain") else 0

    def _to_one(self, address: str, issue: Issue, parts: mailing.MailParts) -> int:
        reply = asyncio.run(mail_wiring.send_one(parts, self.name, issue, address, self.edition.languages))
        print(f"{address}: {reply.code} {reply.text}")
        return 0 if 200 <= reply.code < 300 else 1

    async def _samples(self, issue: Issue, parts: mailing.MailParts) -> int:
        connection = await parts.relay.connect()
        choices = [(language,) for language in self.edition.languages] + ([tuple(self.edition.languages)] if len(self.edition.languages) > 1 else [])
        for languages in choices:
            name = "-".join(languages)
            reader = Subscriber(edition=self.name, address=f"{name}@example.org", languages=languages, consent=Consent(how="sample", at=issue.until))
            encoded = parts.encode(issue, reader, issue.until)
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


def _now() -> datetime:
    return datetime.now(UTC)
