"""``digest schedule``: the job by itself, and what the coming days bring."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from dataclasses import asdict
from datetime import datetime
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.table import Table

from digest import wiring
from digest.acts import utc_now
from digest.cli.arguments import add_config, add_edition, parser
from digest.cli.logs import configure, last_resort
from digest.coverage.arxiv_calendar import ZONE, pause
from digest.plan import Planned, upcoming
from digest.schedule import Schedule, plan_of
from digest.settings.load import load

_EPILOG = """Killed or switched off it goes on where it was: missed days are made in order and marked as late, nothing is made or sent twice. Two of
them never run at once. SIGTERM ends it within twenty seconds.

examples:
  digest schedule
  digest schedule --show           the next seven days in the edition's time, UTC and arXiv's
"""
_WHAT = {
    "make": "the issue of the day 日报",
    "week": "the best of the week, by mail 一周精华（邮件）",
    "month": "the best of the month, by mail 一月精华（邮件）",
    "clock": "the clock is set forward or back 时钟调整",
}


def main(command: str, arguments: list[str]) -> int:
    """Works until it is stopped, or shows the plan."""
    options = parser(command, "Collects through the day, makes and delivers each issue at its hour, mails it, keeps order. For years.", _EPILOG)
    add_config(options)
    add_edition(options)
    options.add_argument("--show", action="store_true", help="print the next seven days and end")
    options.add_argument("--json", action="store_true", help="with --show: for programs")
    chosen = options.parse_args(arguments)
    if chosen.show:
        loaded = load(chosen.config)
        _, edition = wiring.edition(loaded.settings, chosen.edition)
        plan = plan_of(edition)
        planned = list(upcoming(plan, utc_now()))
        print(json.dumps([asdict(each) for each in planned], default=str, indent=1)) if chosen.json else _show(planned, plan.zone)
        return 0
    configure()
    asyncio.run(_run(Schedule(chosen.config)))
    return 0


async def _run(schedule: Schedule) -> None:
    stop = asyncio.Event()

    def end() -> None:
        stop.set()
        last_resort()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)
    print("the schedule runs; Ctrl-C ends it", file=sys.stderr, flush=True)
    await schedule.run(stop)


def _show(planned: list[Planned], zone: str) -> None:
    table = Table(box=None, pad_edge=False)
    for title in ("", zone, "UTC", "arXiv (New York)", ""):
        table.add_column(title, no_wrap=True)
    for each in planned:
        local, eastern = each.at.astimezone(ZoneInfo(zone)), each.at.astimezone(ZONE)
        table.add_row(f"{local:%a %m-%d}", f"{local:%H:%M}", f"{each.at:%a %H:%M}", f"{eastern:%a %H:%M}", _reason(each, eastern, zone))
    Console(width=max(120, Console().width)).print(table, highlight=False)


def _reason(each: Planned, eastern: datetime, zone: str) -> str:
    words = _WHAT[each.what]
    if each.what != "make":
        return words
    if why := pause(eastern.date()):
        words += f"; arXiv is silent: {why}"
    elif each.until:
        words += f"; waits for arXiv until {each.until.astimezone(ZoneInfo(zone)):%H:%M}"
    return words
