"""How everything is, in one look: what `digest status`, the status page and the metrics show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from digest import wiring
from digest.acts import WORK, opened
from digest.coverage.rhythm import is_too_quiet
from digest.machine import is_gone
from digest.model import MEMORY, Alert, Coverage, DeliveryState, IssueLine, MailingState, Memory, Run, Source
from digest.plan import DayPlan, Planned, due_days, upcoming
from digest.settings.load import Loaded
from digest.settings.schema import EditionSettings
from digest.store.archive import SqlArchive
from digest.store.database import Engine
from digest.store.entries import SqlEntryStore
from digest.store.ledger import SqlLedger
from digest.store.office import SqlOffice

ISSUES, RUNS, MAILINGS = 7, 12, 7
LATE = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class SourceState:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Of an edition at a moment; ``mailings`` are (issue, state, why of a pause, mails by state), ``sizes`` bytes by what takes them."""

    edition: str
    zone: str
    now: datetime
    sources: tuple[SourceState, ...]
    off: tuple[str, ...]
    issues: tuple[IssueLine, ...]
    runs: tuple[Run, ...]
    mailings: tuple[tuple[str, MailingState, str, dict[DeliveryState, int]], ...]
    alerts: tuple[Alert, ...]
    coming: tuple[Planned, ...]
    is_late: bool
    at_work: str
    scheduled_by: str
    sizes: dict[str, int]


def look(loaded: Loaded, name: str, edition: EditionSettings, plan: DayPlan, now: datetime, lock: str = "schedule") -> Overview:
    """Everything about an edition. Raises StoreError when the database cannot be read."""
    sources, off = wiring.sources(loaded.settings, edition)
    with opened(loaded) as engine:
        office, ledger = SqlOffice(engine, is_gone), SqlLedger(engine)
        return Overview(
            edition=name,
            zone=edition.timezone,
            now=now,
            sources=tuple(_states(engine, sources, now)),
            off=tuple(off),
            issues=SqlArchive(engine).lines(name, ISSUES),
            runs=tuple(office.last(name, RUNS)),
            mailings=tuple(ledger.last(name, MAILINGS)),
            alerts=tuple(alert for alert in office.standing() if alert.key.startswith((f"{name}:", "settings:"))),
            coming=tuple(upcoming(plan, now, 2)),
            is_late=any(now > plan.latest_at(day) + LATE for day in due_days(plan, SqlArchive(engine).days(name), now)),
            at_work=office.holder(WORK, now),
            scheduled_by=office.holder(lock, now),
            sizes=_sizes(loaded, engine),
        )


def _states(engine: Engine, sources: list[Source], now: datetime) -> list[SourceState]:
    store = SqlEntryStore(engine)
    memories, polls = store.memories(now), store.polls([source.name for source in sources], now - MEMORY, now)
    found = []
    for source in sources:
        memory = memories.get(source.name, Memory())
        found.append(SourceState(source, memory, polls.get(source.name), is_too_quiet(memory, now)))
    return found


def _sizes(loaded: Loaded, engine: Engine) -> dict[str, int]:
    """What takes room on the disk besides the site."""
    sizes = {}
    if engine.dialect.name == "sqlite" and engine.url.database:
        sizes["database"] = sum(path.stat().st_size for path in Path(engine.url.database).parent.glob(f"{Path(engine.url.database).name}*"))
    returns = loaded.folder / "state" / "returns"
    sizes["returns"] = sum(path.stat().st_size for path in returns.glob("*.eml")) if returns.is_dir() else 0
    return sizes
