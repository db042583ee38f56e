"""``digest run``, ``collect``, ``make``, ``deliver``."""

from __future__ import annotations

import asyncio
from datetime import date, datetime, timedelta

from digest import wiring
from digest.acts import Newsroom, at_work, joined, keep_run, utc_now
from digest.cli import reports
from digest.cli.arguments import a_day, add_config, add_edition, day_and_now, parser
from digest.model import Report
from digest.settings.load import load

PATIENCE = timedelta(minutes=5)  # two lines of a crontab may begin in the same second
_DESCRIPTIONS = {
    "run": "Collects, makes and delivers the issue of a day. Running it again changes nothing and sends nothing twice.",
    "collect": "Reads every feed once, politely, and remembers what is new.",
    "make": "Chooses and writes the issue of a day from what was collected, and archives it. An archived issue stays as it is.",
    "deliver": "Renders the archived issue of a day and hands it to the outputs.",
}
_EPILOG = """exit code: 0 done, 1 done with problems (each is named), 2 settings or arguments are wrong

examples:
  digest {command}
  digest {command} --date 2026-11-30       play that day again: the clock stands at its end
  digest {command} --json | jq .problems   a report for programs
"""


def main(command: str, arguments: list[str]) -> int:
    """Runs one act, or all three."""
    options = parser(command, _DESCRIPTIONS[command], _EPILOG.format(command=command))
    add_config(options)
    add_edition(options)
    options.add_argument("--date", type=a_day, metavar="DAY", help="the day of the issue, YYYY-MM-DD; today when left out")
    if command == "collect":
        options.add_argument("--due", action="store_true", help="ask only the sources whose usual time has come (for cron, every quarter of an hour)")
    options.add_argument("--quiet", action="store_true", help="print problems only")
    options.add_argument("--json", action="store_true", help="print a report in JSON")
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    day, now = day_and_now(chosen.date, edition.timezone)
    began_at = utc_now()
    with at_work(loaded, patience=PATIENCE), reports.Progress(is_shown=not (chosen.quiet or chosen.json)) as progress:
        newsroom = Newsroom(loaded=loaded, name=name, edition=edition, steps=progress.act)
        report = asyncio.run(_act(command, newsroom, day, now, is_due_only=getattr(chosen, "due", False)))
    keep_run(loaded, name, command, day, began_at, utc_now(), report)
    if chosen.json:
        reports.print_json(report, name, day)
    else:
        reports.print_table(report, day, loaded.folder / edition.folder, quiet=chosen.quiet)
    return 1 if report.problems else 0


async def _act(command: str, newsroom: Newsroom, day: date, now: datetime, *, is_due_only: bool) -> Report:
    report = Report()
    if command in ("run", "collect"):
        report = joined(report, await newsroom.collect(now, is_due_only=is_due_only))
    if command in ("run", "make"):
        report = joined(report, await newsroom.make(day, now))
    if command in ("run", "deliver"):
        report = joined(report, await newsroom.deliver(day, now))
        if newsroom.is_fresh(now):
            report = joined(report, await newsroom.mail(day))
    return report
