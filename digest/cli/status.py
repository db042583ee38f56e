"""``digest status``: how everything is, and what needs a hand."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from statistics import median
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from digest import wiring
from digest.acts import utc_now
from digest.cli.arguments import add_config, add_edition, parser
from digest.model import Run
from digest.overview import Overview, SourceState, look
from digest.schedule import plan_of
from digest.settings.load import load

_EPILOG = """exit code: 0 all is well, 1 a source fails, is gone, or is much quieter than usual; or an alert stands

examples:
  digest status
  digest status --json | jq '.sources[] | select(.needs_a_hand)'
"""
_COLOURS = {"complete": "green", "quiet": "green", "waiting": "yellow", "stale": "yellow", "degraded": "yellow", "failed": "red", "off": "dim"}
_SHOWN = 5


def main(command: str, arguments: list[str]) -> int:
    """Prints how an edition is."""
    options = parser(command, "How every source does, runs, issues, mails, and what needs a hand.", _EPILOG)
    add_config(options)
    add_edition(options)
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    found = look(loaded, name, edition, plan_of(edition), utc_now())
    if chosen.json:
        print(json.dumps(record(found), ensure_ascii=False, indent=2, default=str))
    else:
        _print(found)
    return 1 if found.alerts or any(row.needs_a_hand for row in found.sources) else 0


def record(found: Overview) -> dict[str, object]:
    """The same for programs."""
    return {
        "edition": found.edition,
        "sources": [_source(row) for row in found.sources],
        "off": list(found.off),
        "issues": [{"day": line.day.isoformat(), "articles": line.articles} for line in found.issues],
        "runs": [{"act": run.act, "day": run.day, "began_at": run.began_at, "ended_at": run.ended_at, "problems": run.problems} for run in found.runs],
        "mailings": [{"issue": key, "state": state, "why": why, "counts": counts} for key, state, why, counts in found.mailings],
        "alerts": [{"key": alert.key, "message": alert.message, "raised_at": alert.raised_at} for alert in found.alerts],
        "coming": [{"what": each.what, "day": each.day, "at": each.at, "until": each.until} for each in found.coming],
        "at_work": found.at_work,
        "scheduled_by": found.scheduled_by,
        "bytes": found.sizes,
    }


def _source(row: SourceState) -> dict[str, object]:
    memory = row.memory
    return {
        "name": row.source.name,
        "url": row.source.url,
        "state": row.state,
        "needs_a_hand": row.needs_a_hand,
        "note": row.note,
        "last_success": _iso(memory.last_well_at),
        "last_news": _iso(memory.last_new_at),
        "failures": memory.failures,
        "next_poll": _iso(memory.next_poll.due_at),
        "usual_entries": median(memory.usual) if memory.usual else None,
        "news_a_week": round(memory.new_a_week, 1),
        "moved_to": memory.moved_to,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _print(found: Overview) -> None:
    zone, now = ZoneInfo(found.zone), found.now
    table = Table(box=None, pad_edge=False)
    table.add_column("source", max_width=24, no_wrap=True)
    for title in ("state", "last success", "last news", "a week", "next"):
        table.add_column(title, no_wrap=True)
    for row in found.sources:
        memory, colour = row.memory, _COLOURS.get(row.state, "dim")
        table.add_row(
            escape(row.source.name),
            f"[{colour}]{row.state}[/{colour}]" + (f" x{memory.failures}" if memory.failures > 1 else ""),
            _moment(memory.last_well_at, zone, now),
            _moment(memory.last_new_at, zone, now),
            f"{memory.new_a_week:.0f}" if memory.new_a_week else "",
            _moment(memory.next_poll.due_at, zone, now),
        )
    for name in found.off:
        table.add_row(escape(name), "[dim]off[/dim]")
    console = Console()
    console.print(table)
    for row in found.sources:
        if row.note:
            console.print(f"\n[bold]{escape(row.source.name)}[/bold]: {escape(row.note)}", soft_wrap=True, highlight=False, end="")
    console.print()
    for line in _lines(found, zone):
        console.print(line, soft_wrap=True, highlight=False)


def _lines(found: Overview, zone: ZoneInfo) -> list[str]:
    """What stands below the sources, a line each."""
    lines = ["issues: " + (", ".join(f"{line.day} ({line.articles})" for line in found.issues) or "none yet; `digest run` makes one")]
    lines += [f"run: {_run(run, zone, found.now)}" for run in found.runs[:_SHOWN]]
    for key, state, why, counts in found.mailings[:_SHOWN]:
        mails = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nobody wants it"
        lines.append(f"mail: {escape(key)} {state}{f' ({escape(why)})' if why else ''}: {mails}")
    lines += [f"next: {each.what} {each.day} at {each.at.astimezone(zone):%H:%M}" for each in found.coming[:2]]
    lines.append(f"schedule: {found.scheduled_by or 'none runs (`digest schedule` or `digest serve`)'}")
    lines += [f"at work: {found.at_work}"] if found.at_work else []
    lines.append("sizes: " + ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in found.sizes.items()))
    lines += [f"[red]![/red] {escape(alert.message)}" for alert in found.alerts]
    return lines


def _run(run: Run, zone: ZoneInfo, now: datetime) -> str:
    seconds = (run.ended_at - run.began_at).total_seconds()
    trouble = f", {run.problems} problem{'s' if run.problems > 1 else ''}" if run.problems else ""
    return f"{_moment(run.began_at, zone, now)} {run.act} {run.day or ''} ({seconds:.0f} s{trouble})"


def _moment(moment: datetime | None, zone: ZoneInfo, now: datetime) -> str:
    """The time of day when it is near, else the day."""
    if moment is None:
        return ""
    local = moment.astimezone(zone)
    return f"{local:%H:%M}" if abs(moment - now) < timedelta(hours=18) else f"{local:%m-%d %H:%M}"
