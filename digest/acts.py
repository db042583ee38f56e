"""The acts of an edition as the command line and the schedule call them: each under the lock, each with its report kept."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from threading import Event, Thread
from time import monotonic, sleep

from digest import pipeline, wiring
from digest.errors import BusyError, ConfigError, DigestError
from digest.machine import here, is_gone
from digest.model import Problem, Report, Run, Spending
from digest.pipeline import Parts
from digest.plan import moment
from digest.ports import Archive
from digest.settings.load import Loaded
from digest.settings.schema import EditionSettings
from digest.store.database import Engine, open_database
from digest.store.office import SqlOffice

_log = logging.getLogger(__name__)
FRESH = timedelta(days=1)  # a day that is played again later goes to no chat channel and no mailbox
WORK = "work"
PROLONG_SECONDS = 60
Clock = Callable[[], datetime]
Step = Callable[[str], None]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Newsroom:
    """An edition at work. ``steps`` gives what is called at every step of an act, with the number of steps where it is known;
    ``is_stopping`` says that no new work may begin."""

    loaded: Loaded
    name: str
    edition: EditionSettings
    steps: Callable[[str, int | None], Step] = lambda act, total: lambda word: None
    clock: Clock = utc_now
    is_stopping: Callable[[], bool] = lambda: False

    async def collect(self, now: datetime, *, is_due_only: bool = False) -> Report:
        """Asks the sources of the edition; ``is_due_only``: those whose time has come."""
        sources, _ = wiring.sources(self.loaded.settings, self.edition)
        async with self._parts(now) as parts, wiring.open_reading(self.loaded) as reading:
            return await pipeline.collect(parts, reading, sources, now, self.steps("collect", len(sources)), is_due_only=is_due_only)

    async def make(self, day: date, now: datetime, *, is_late: bool = False) -> Report:
        """Composes and archives the issue of the day."""
        sources, off = wiring.sources(self.loaded.settings, self.edition)
        frame = wiring.frame(self.name, self.edition, self.loaded.settings)
        limits = (self.edition.articles, self.edition.near_misses)
        async with self._parts(now) as parts:
            return await pipeline.make(parts, frame, sources, off, day, now, limits, self.steps("make", None), is_late=is_late)

    async def deliver(self, day: date, now: datetime) -> Report:
        """Publishes the archived issue of the day, unless it waits for its approval."""
        if not self.may_go(day):
            waiting = Problem(step="deliver", subject=day.isoformat(), message="it waits for its editor's approval (`digest preview`)")
            return Report(warnings=(waiting,))
        sources, _ = wiring.sources(self.loaded.settings, self.edition)
        async with self._parts(now) as parts:
            step = self.steps("deliver", len(parts.renderers) + len(parts.shelf_renderers) + len(parts.publishers))
            desk = partial(wiring.desk, self.loaded)
            return pipeline.deliver(parts, self.name, day, now, desk, sources, step, at=self.clock(), held=self.held(parts.archive))

    async def mail(self, day: date) -> Report:
        """Sends what is due on the day and goes on with what is under way; what stands in its way costs nothing but itself."""
        if self.edition.mail is None or not self.edition.mail.automatic:
            return Report()
        from digest import mail_wiring  # it takes a while, and most commands send nothing

        try:
            with opened(self.loaded) as engine:
                step = self.steps("send", None)
                found = await mail_wiring.send_due(
                    self.loaded, self.name, self.edition, engine, day, self.clock, step, self.is_stopping, is_held=not self.may_go(day)
                )
        except ConfigError as error:
            return Report(problems=(Problem(step="send", subject=self.name, message=str(error)),))
        counts: Counter[str] = Counter()
        for each in found:
            counts.update({f"mails_{state}": number for state, number in each.counts.items()})
        return Report(problems=tuple(problem for each in found for problem in each.problems), counts=dict(counts))

    def may_go(self, day: date) -> bool:
        """Whether the issue of the day may go out: approved, or past the hour until which it waits where it is then sent without."""
        plan = self.edition.schedule
        if plan.approval == "none" or wiring.desk(self.loaded, day).approved:
            return True
        return plan.approval == "send" and self.clock() >= moment(day, time.fromisoformat(plan.approve_until), self.edition.timezone)

    def held(self, archive: Archive) -> frozenset[date]:
        """The days that readers must not see yet: never delivered, and waiting for their approval."""
        if self.edition.schedule.approval == "none":
            return frozenset()
        return frozenset(day for day in archive.undelivered(self.name) if not self.may_go(day))

    def is_fresh(self, now: datetime) -> bool:
        """Whether the moment is so near that readers may hear of its day."""
        return self.clock() - now < FRESH

    @asynccontextmanager
    async def _parts(self, now: datetime) -> AsyncIterator[Parts]:
        async with wiring.open_parts(self.loaded, self.name, self.edition, tells_chat=self.is_fresh(now)) as parts:
            yield parts


@contextmanager
def opened(loaded: Loaded) -> Iterator[Engine]:
    """The database of the settings, closed at the end."""
    engine = open_database(wiring.database_address(loaded))
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def at_work(loaded: Loaded, name: str = WORK, clock: Clock = utc_now, *, patience: timedelta = timedelta()) -> Iterator[Event]:
    """Holds the lock of that name, so that two processes never make or publish at once. It is prolonged every minute; of a process that
    was killed it is free at once, of a machine that went away after three minutes. The event tells that another has taken it meanwhile
    (this machine had slept). Raises BusyError that says who holds it, after as much ``patience``."""
    with opened(loaded) as engine:
        office, me, done, lost = SqlOffice(engine, is_gone), here(), Event(), Event()
        until, is_told = monotonic() + patience.total_seconds(), False
        while (held := office.take(name, me, clock())) is not None:
            if patience and not is_told:
                _log.warning("%s is at work; this waits up to %d s", held[0], patience.total_seconds())
                is_told = True
            if monotonic() >= until:
                raise BusyError(f"{held[0]} has been at work since {held[1]:%Y-%m-%d %H:%M} UTC; wait until it is done, or stop it")
            sleep(1)

        def prolong() -> None:
            while not done.wait(PROLONG_SECONDS):
                with suppress(DigestError):  # tried again in a minute
                    if office.take(name, me, clock()) is not None:
                        lost.set()
                        return

        thread = Thread(target=prolong, daemon=True)
        thread.start()
        try:
            yield lost
        finally:
            done.set()
            thread.join()
            office.give_back(name, me)


def keep_run(loaded: Loaded, edition: str, act: str, day: date | None, began_at: datetime, ended_at: datetime, report: Report) -> None:
    """Remembers what was run, for `digest status` and alerts."""
    short: dict[str, object] = {
        "counts": report.counts,
        "problems": [asdict(each) for each in report.problems[:20]],
        "warnings": [asdict(each) for each in report.warnings[:20]],
        "spending": asdict(report.spending) if report.spending != Spending() else {},
    }
    with opened(loaded) as engine:
        run = Run(edition=edition, act=act, day=day, began_at=began_at, ended_at=ended_at, problems=len(report.problems), report=short)
        SqlOffice(engine, is_gone).note(run)


def joined(one: Report, other: Report) -> Report:
    """The later report, with the problems and counts of both."""
    return Report(
        issue=other.issue or one.issue,
        coverage=other.coverage or one.coverage,
        documents=one.documents + other.documents,
        receipts=one.receipts + other.receipts,
        problems=one.problems + other.problems,
        warnings=one.warnings + other.warnings,
        spending=other.spending if other.spending != Spending() else one.spending,
        counts=one.counts | other.counts,
    )
