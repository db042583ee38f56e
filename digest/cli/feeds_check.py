"""``digest feeds check``: asks every source now, saves nothing, and shows what each answered as it answers."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from digest import wiring
from digest.coverage.rhythm import interval
from digest.errors import DigestError
from digest.model import CacheStamp, Download, Memory, Parsed, Source
from digest.pipeline import Reading
from digest.settings.load import Loaded, load
from digest.store.database import open_database
from digest.store.entries import SqlEntryStore


@dataclass(frozen=True, slots=True)
class Checked:
    """What a source answered; ``remedy`` says what is wrong and what to try."""

    name: str
    state: str
    validators: str = ""
    every: str = ""
    encoding: str = ""
    entries: int = 0
    date_rules: str = ""
    newest: str = ""
    remedy: str = ""


def check(chosen: Namespace) -> int:
    """Runs ``digest feeds check``: 0 when every source is readable, else 1."""
    loaded = load(chosen.config)
    _, edition = wiring.edition(loaded.settings, chosen.edition)
    sources, _ = wiring.sources(loaded.settings, edition)
    engine = open_database(wiring.database_address(loaded))
    memories = SqlEntryStore(engine).memories(datetime.now(UTC))
    engine.dispose()
    found: dict[str, Checked] = {}
    if chosen.json:
        asyncio.run(_ask_all(loaded, sources, memories, found, None))
        print(json.dumps([asdict(found[source.name]) for source in sources], ensure_ascii=False, indent=2))
    else:
        console = Console(highlight=False)
        with Live(_table(sources, found), console=console, refresh_per_second=4) as live:
            asyncio.run(_ask_all(loaded, sources, memories, found, live))
        for checked in (found[source.name] for source in sources):
            if checked.remedy:
                console.print(f"\n[bold]{escape(checked.name)}[/bold]: {escape(checked.remedy)}", soft_wrap=True, end="")
        console.print()
    return 1 if any(checked.state == "failed" for checked in found.values()) else 0


async def _ask_all(loaded: Loaded, sources: Sequence[Source], memories: Mapping[str, Memory], found: dict[str, Checked], live: Live | None) -> None:
    async with wiring.open_reading(loaded) as reading:

        async def ask(source: Source) -> None:
            found[source.name] = await _checked(reading, source, memories.get(source.name, Memory()))
            if live is not None:
                live.update(_table(sources, found))

        await asyncio.gather(*(ask(source) for source in sources))


async def _checked(reading: Reading, source: Source, memory: Memory) -> Checked:
    now = datetime.now(UTC)
    try:
        answer = await reading.fetchers[urlsplit(source.url).scheme].fetch(source, CacheStamp(), now)
        parsed = await reading.parser.parse(answer) if isinstance(answer, Download) else None
    except KeyError:
        return Checked(source.name, "failed", remedy=f"no way to fetch {source.url}")
    except DigestError as error:
        return Checked(source.name, "failed", remedy=str(error))
    except Exception as error:  # a surprise within one source costs that row only
        return Checked(source.name, "failed", remedy=f"a bug in this program: {type(error).__name__}; please report it")
    if parsed is None or not isinstance(answer, Download):
        return Checked(source.name, "failed", remedy="the server says that nothing changed, to a question without a condition")
    return _of(source, memory, answer, parsed)


def _of(source: Source, memory: Memory, answer: Download, parsed: Parsed) -> Checked:
    stamp = answer.stamp
    rules = dict.fromkeys(entry.published_by for entry in parsed.entries)
    dates = [entry.published_at for entry in parsed.entries if entry.published_at]
    remedies = list(parsed.warnings)
    if answer.moved_to:
        remedies.append(f"moved for good to {answer.moved_to}")
    if parsed.entries and not dates:
        remedies.append("no entry has a date that can be believed; they count from when they are first seen")
    minutes = source.every_minutes or round(interval(memory.new_a_week).total_seconds() / 60)
    return Checked(
        name=source.name,
        state="degraded" if parsed.warnings else "complete" if parsed.entries else "quiet",
        validators="+".join(name for name, value in (("ETag", stamp.etag), ("date", stamp.last_modified)) if value) or "none",
        every="batch" if source.kind == "arxiv" else f"{minutes // 60} h" if minutes >= 120 else f"{minutes} min",
        encoding=parsed.encoding,
        entries=len(parsed.entries),
        date_rules=", ".join(rules),
        newest=f"{max(dates):%Y-%m-%d}" if dates else "",
        remedy="; ".join(remedies),
    )


def _first(rules: str) -> str:
    """The first rule, and how many others."""
    first, *others = rules.split(", ")
    return f"{first} +{len(others)}" if others else first


def _table(sources: Sequence[Source], found: dict[str, Checked]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("source", max_width=20, no_wrap=True)
    for name in ("state", "cache", "every", "encoding", "holds", "dates by", "newest"):
        table.add_column(name, no_wrap=True, justify="right" if name == "holds" else "left")
    colours = {"complete": "green", "quiet": "green", "degraded": "yellow", "failed": "red"}
    for source in sources:
        row = found.get(source.name)
        if row is None:
            table.add_row(escape(source.name), "[dim]asking[/dim]")
        else:
            state = f"[{colours[row.state]}]{row.state}[/{colours[row.state]}]"
            table.add_row(escape(row.name), state, row.validators, row.every, row.encoding, str(row.entries), _first(row.date_rules), row.newest)
    return table
