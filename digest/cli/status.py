"""``digest status``: how every source does, what was made of it, and what needs a hand."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from digest import wiring
from digest.cli.arguments import add_config, add_edition, parser
from digest.coverage.rhythm import is_too_quiet
from digest.model import Coverage, IssueLine, Memory, Source
from digest.settings.load import load
from digest.store.archive import SqlArchive
from digest.store.database import open_database
from digest.store.entries import SqlEntryStore

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_EPILOG = """exit code: 0 all is well, 1 a source fails, is gone, or is much quieter than usual

examples:
  digest status
  digest status --json | jq '.sources[] | select(.needs_a_hand)'
"""
_COLOURS = {"complete": "green", "quiet": "green", "waiting": "yellow", "stale": "yellow", "degraded": "yellow", "failed": "red", "off": "dim"}
_ISSUES = 7


@dataclass(frozen=True, slots=True)
class _Row:
    """A source with everything that is known of how it does."""

    source: Source
    memory: Memory
    poll: Coverage | None
    is_too_quiet: bool

    @property
    def state(self) -> str:
        return self.poll.state if self.poll else "never asked"

    @property
    def note(self) -> str:
        notes = ["unchanged" if self.poll is None else self.poll.note]
        if self.is_too_quiet:
            notes.append(f"much quieter than usual: nothing new since {self.memory.last_new_at:%Y-%m-%d}; look whether its address still is the right one")
        return "; ".join(note for note in notes if note and note != "unchanged")

    @property
    def needs_a_hand(self) -> bool:
        return self.is_too_quiet or self.state == "failed" or (self.poll is not None and self.poll.reason == "gone")


def main(command: str, arguments: list[str]) -> int:
    """Prints the state of an edition's sources and its last issues."""
    options = parser(command, "How every source does, the last issues, and what needs a hand.", _EPILOG)
    add_config(options)
    add_edition(options)
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    return _show(chosen)


def _show(chosen: Namespace) -> int:
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    sources, off = wiring.sources(loaded.settings, edition)
    now = datetime.now(UTC)
    engine = open_database(wiring.database_address(loaded))
    try:
        rows = _rows(SqlEntryStore(engine), sources, now)
        lines = SqlArchive(engine).shelf(name, 1).lines[:_ISSUES]
    finally:
        engine.dispose()
    if chosen.json:
        print(json.dumps({"edition": name, "sources": [_record(row) for row in rows], "off": off, "issues": _issues(lines)}, ensure_ascii=False, indent=2))
    else:
        _print(rows, off, lines, edition.timezone, now)
    return 1 if any(row.needs_a_hand for row in rows) else 0


def _rows(store: SqlEntryStore, sources: Sequence[Source], now: datetime) -> list[_Row]:
    memories: Mapping[str, Memory] = store.memories(now)
    polls = store.polls([source.name for source in sources], _BEGINNING, now)
    found = []
    for source in sources:
        memory = memories.get(source.name, Memory())
        found.append(_Row(source, memory, polls.get(source.name), is_too_quiet(memory, now)))
    return found


def _record(row: _Row) -> dict[str, object]:
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


def _issues(lines: Sequence[IssueLine]) -> list[dict[str, object]]:
    return [{"day": line.day.isoformat(), "articles": line.articles} for line in lines]


def _print(rows: Sequence[_Row], off: Sequence[str], lines: Sequence[IssueLine], zone_name: str, now: datetime) -> None:
    zone = ZoneInfo(zone_name)
    table = Table(box=None, pad_edge=False)
    table.add_column("source", max_width=24, no_wrap=True)
    for title in ("state", "last success", "last news", "a week", "next"):
        table.add_column(title, no_wrap=True)
    for row in rows:
        memory, colour = row.memory, _COLOURS.get(row.state, "dim")
        table.add_row(
            escape(row.source.name),
            f"[{colour}]{row.state}[/{colour}]" + (f" x{memory.failures}" if memory.failures > 1 else ""),
            _moment(memory.last_well_at, zone, now),
            _moment(memory.last_new_at, zone, now),
            f"{memory.new_a_week:.0f}" if memory.new_a_week else "",
            _moment(memory.next_poll.due_at, zone, now),
        )
    for name in off:
        table.add_row(escape(name), "[dim]off[/dim]")
    console = Console()
    console.print(table)
    for row in rows:
        if row.note:
            console.print(f"\n[bold]{escape(row.source.name)}[/bold]: {escape(row.note)}", soft_wrap=True, highlight=False, end="")
    console.print()
    console.print("issues: " + (", ".join(f"{line.day} ({line.articles})" for line in lines) or "none yet; `digest run` makes one"), highlight=False)


def _moment(moment: datetime | None, zone: ZoneInfo, now: datetime) -> str:
    """The time of day when it is near, else the day."""
    if moment is None:
        return ""
    local = moment.astimezone(zone)
    return f"{local:%H:%M}" if abs(moment - now) < timedelta(hours=18) else f"{local:%m-%d %H:%M}"
