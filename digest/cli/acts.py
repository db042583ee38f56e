"""``digest run``, ``collect``, ``make``, ``deliver``."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from datetime import UTC, date, datetime

from digest import pipeline, wiring
from digest.cli import reports
from digest.cli.arguments import a_day, add_config, add_edition, day_and_now, parser
from digest.model import Report
from digest.settings.load import Loaded, load
from digest.settings.schema import EditionSettings

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
    report = asyncio.run(_act(command, loaded, name, edition, day, now, chosen))
    if chosen.json:
        reports.print_json(report, name, day)
    else:
        reports.print_table(report, day, loaded.folder / edition.folder, quiet=chosen.quiet)
    return 1 if report.problems else 0


async def _act(command: str, loaded: Loaded, name: str, edition: EditionSettings, day: date, now: datetime, chosen: Namespace) -> Report:
    settings = loaded.settings
    sources, off = wiring.sources(settings, edition)
    report = Report()
    async with wiring.open_parts(loaded, edition) as parts:
        with reports.Progress(is_shown=not (chosen.quiet or chosen.json)) as progress:
            if command in ("run", "collect"):
                step = progress.act("collect", len(sources))
                report = reports.joined(report, await pipeline.collect(parts, sources, now, step, is_due_only=getattr(chosen, "due", False)))
            if command in ("run", "make"):
                frame = wiring.frame(name, edition, settings)
                step = progress.act("make", None)
                made = await pipeline.make(parts, frame, sources, off, day, now, (edition.articles, edition.near_misses), step)
                report = reports.joined(report, made)
            if command in ("run", "deliver"):
                step = progress.act("deliver", len(parts.renderers) + len(parts.shelf_renderers) + len(parts.publishers))
                report = reports.joined(
                    report, pipeline.deliver(parts, name, day, now, lambda each: wiring.desk(loaded, each), sources, step, at=datetime.now(UTC))
                )
    return report
