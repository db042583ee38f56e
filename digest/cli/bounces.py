"""``digest bounces``: mails that came back."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from digest import mail_wiring, wiring
from digest.cli.arguments import add_config, add_edition, day_count, parser
from digest.model import ReturnKind
from digest.settings.load import load
from digest.store.database import open_database
from digest.store.returns import SqlReturns

_EPILOG = """A dead address and a complaint end a subscription at once; what may pass (a full mailbox) does on three days of two weeks. A mail counts only
for the reader whose signed token it carries, and only once. What is not understood stays in the mailbox and is copied to state/returns.

examples:
  digest bounces read                                  from mail.returns in feeds.yaml
  digest bounces read --from /var/mail/vhosts/bounces   a Maildir or mbox
  digest bounces read --from imaps://bounces@imap.example.org/INBOX
  |/usr/bin/digest bounces read --from -                one mail, from a mail server's pipe
  digest bounces list --days 30
"""


def main(command: str, arguments: list[str]) -> int:
    """Reads them, or counts what came back."""
    options = parser(command, "Reads mails that came back: delivery reports, complaints, requests to leave.", _EPILOG)
    options.add_argument("what", choices=["read", "list"])
    add_config(options)
    add_edition(options)
    options.add_argument("--from", dest="source", metavar="WHERE", help="imaps://user@host/FOLDER, a Maildir, an mbox file, or - for one mail")
    options.add_argument("--days", type=day_count, default=30, help="list: so far back")
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    _, edition = wiring.edition(loaded.settings, chosen.edition)
    engine = open_database(wiring.database_address(loaded))
    try:
        if chosen.what == "list":
            return _show(SqlReturns(engine).counts(datetime.now(UTC) - timedelta(days=chosen.days)), chosen)
        source = chosen.source or ""
        if source not in ("", "-") and Path(source).exists():
            source = str(Path(source).absolute())  # a path that is typed is one from here, else one beside the settings
        counts, problems = mail_wiring.read_returns(loaded, edition, engine, lambda: datetime.now(UTC), source)
        for problem in problems:
            print(f"{problem.subject} is paused: {problem.message}", file=sys.stderr)
        return 1 if _show(counts, chosen) or problems else 0
    finally:
        engine.dispose()


def _show(counts: Counter[ReturnKind] | dict[ReturnKind, int], chosen: Namespace) -> int:
    """Prints the counts; 0."""
    if chosen.json:
        print(json.dumps(counts))
    else:
        print(", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()) if number) or "nothing came back")
    return 0
