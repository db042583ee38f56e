"""Does the job by itself, for years: APScheduler says when to look, this module what is due, the database what is done.

Every act can be cut off at any moment: what is due is read from what is there, never from what was meant to happen. So a missed run is
made up for by the next, two runs make nothing twice, and a restart needs no memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from digest import alerts, housekeeping, mail_wiring, wiring
from digest.acts import Clock, Newsroom, at_work, joined, keep_run, opened, utc_now
from digest.coverage.arxiv_calendar import eastern_day, pause
from digest.errors import BusyError, DigestError
from digest.in_force import InForce
from digest.model import MEMORY, Problem, Report
from digest.pipeline import due
from digest.plan import CATCH_UP, DayPlan, decide, due_days, end_of
from digest.settings.schema import EditionSettings
from digest.store.archive import SqlArchive
from digest.store.entries import SqlEntryStore

_log = logging.getLogger(__name__)
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_AWAITED = ("waiting", "stale", "failed")
LOCK = "schedule"
LONGEST_PAUSE = timedelta(minutes=30)
AGAIN = timedelta(hours=12)  # so long after its first delivery a day that met trouble is delivered again
SECONDS_BETWEEN_CHECKS, SECONDS_TO_SETTLE = 10, 12


def plan_of(edition: EditionSettings) -> DayPlan:
    """The plan of an edition's days."""
    make_at, wait_until = (time.fromisoformat(text) for text in (edition.schedule.make_at, edition.schedule.wait_until))
    return DayPlan(zone=edition.timezone, make_at=make_at, wait_until=wait_until, has_mail=edition.mail is not None)


@dataclass(slots=True)
class _Patience:
    """How often an act failed in a row, and when it is tried again."""

    failures: int = 0
    again_at: datetime = _BEGINNING

    def failed(self, now: datetime) -> None:
        self.failures += 1
        self.again_at = now + min(LONGEST_PAUSE, timedelta(minutes=2 ** min(self.failures, 5)))


class Schedule:
    """All editions of a ``feeds.yaml``. ``clock`` tells the time."""

    def __init__(self, path: Path, clock: Clock = utc_now) -> None:
        self.in_force = InForce(path)
        self.clock = clock
        self.is_stopping = False
        self._turns: dict[str, asyncio.Lock] = {}
        self._patience: dict[tuple[str, str, date | None], _Patience] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Works until ``stop`` is set; then begins nothing new and returns when what runs has ended. Raises BusyError when another
        process keeps the schedule."""
        scheduler = AsyncIOScheduler(timezone=UTC)
        # A look that was missed is made up for by one (coalesce), however late (no grace time: what is due is known from the database);
        # two of the same kind never run at once.
        options = {"coalesce": True, "misfire_grace_time": None, "max_instances": 1}
        with at_work(self.in_force.loaded, LOCK, self.clock) as lost:
            for look, minutes in ((self.issues, 1), (self.collect, 5), (self.mail, 1), (self.returns, 15), (self.watch, 10), (self.tidy, 60)):
                scheduler.add_job(self._look, "interval", [look], minutes=minutes, next_run_time=datetime.now(UTC), name=look.__name__, **options)
            scheduler.start()
            await self._watch_over(scheduler, stop, lost)
            self.is_stopping = True
            scheduler.shutdown(wait=False)
            with suppress(TimeoutError):  # whatever is cut off goes on at the next start
                await asyncio.wait_for(self._settled(), SECONDS_TO_SETTLE)

    async def _watch_over(self, scheduler: AsyncIOScheduler, stop: asyncio.Event, lost: Event) -> None:
        """Until it is to stop. APScheduler waits by the wall clock: when that is set back, its looks are called anew."""
        before = datetime.now(UTC)
        while not stop.is_set() and not lost.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), SECONDS_BETWEEN_CHECKS)
            now = datetime.now(UTC)
            if now < before - timedelta(minutes=1):
                _log.warning("the clock was set back from %s to %s", before.isoformat(timespec="seconds"), now.isoformat(timespec="seconds"))
                for job in scheduler.get_jobs():
                    job.modify(next_run_time=now)
            before = now
        if lost.is_set():
            _log.error("another process has taken over the schedule; this one ends")

    async def _settled(self) -> None:
        """When no act runs any more."""
        for turn in list(self._turns.values()):
            async with turn:
                pass

    async def tick(self) -> None:
        """One look at everything, in the order of a day."""
        for look in (self.collect, self.issues, self.mail, self.returns, self.watch, self.tidy):
            await self._look(look)

    async def _look(self, look: Callable[[], Awaitable[None]]) -> None:
        """A look that cannot even see what is due (the database is away) is told and taken again."""
        try:
            await look()
        except DigestError as error:
            _log.error("%s: %s", look.__name__, error)
        except Exception:  # a bug costs this look
            _log.exception("a bug in %s", look.__name__)

    async def collect(self) -> None:
        """Asks every source whose time has come."""
        for newsroom in self._newsrooms():
            if self._is_any_due(newsroom):
                await self._try(newsroom, "collect", None, partial(newsroom.collect, self.clock(), is_due_only=True))

    def _is_any_due(self, newsroom: Newsroom) -> bool:
        """Looked up before anything is put together for a collection: mostly nothing is."""
        sources, _ = wiring.sources(newsroom.loaded.settings, newsroom.edition)
        with opened(newsroom.loaded) as engine:
            return bool(due(sources, SqlEntryStore(engine).memories(self.clock()), self.clock()))

    async def issues(self) -> None:
        """Makes the issues that are due, missed days first and marked as late, and delivers what was not."""
        for newsroom in self._newsrooms():
            try:
                await self._make_due(newsroom)
                await self._deliver_due(newsroom)
            except DigestError as error:  # the next edition has its turn all the same
                _log.error("issues of %s: %s", newsroom.name, error)

    async def _make_due(self, newsroom: Newsroom) -> None:
        plan, now = plan_of(newsroom.edition), self.clock()
        with opened(newsroom.loaded) as engine:
            made = SqlArchive(engine).days(newsroom.name)
        today = now.astimezone(ZoneInfo(plan.zone)).date()
        for day in due_days(plan, made, now):
            if day < today:
                work = partial(self._late, newsroom, day)
            elif await self._is_time(newsroom, plan, day, now):
                work = partial(self._today, newsroom, day)
            else:
                return
            if not await self._try(newsroom, "make", day, work):
                return  # days are made in order

    async def _deliver_due(self, newsroom: Newsroom) -> None:
        today = self.clock().astimezone(ZoneInfo(newsroom.edition.timezone)).date()
        for day in sorted(self._undelivered(newsroom, today), reverse=True):  # the newest is what readers wait for
            try:
                may_go = newsroom.may_go(day)
            except DigestError as error:  # its edits are wrong: an alert says so
                _log.error("%s of %s is not delivered: %s", day, newsroom.name, error)
                continue
            if may_go:
                await self._try(newsroom, "deliver", day, partial(newsroom.deliver, day, self._moment(newsroom, day)))

    async def mail(self) -> None:
        """Sends the newsletter of the newest day, when its issue is delivered, and goes on with what was deferred."""
        for newsroom in self._newsrooms():
            if newsroom.edition.mail is None or not newsroom.edition.mail.automatic:
                continue
            today = self.clock().astimezone(ZoneInfo(newsroom.edition.timezone)).date()
            if self._is_delivered(newsroom, today):
                await self._try(newsroom, "mail", today, partial(newsroom.mail, today))

    async def returns(self) -> None:
        """Reads the mails that came back, where feeds.yaml says where they arrive."""
        for newsroom in self._newsrooms():
            if newsroom.edition.mail is not None and newsroom.edition.mail.returns and newsroom.edition.mail.bounces:
                await self._try(newsroom, "bounces", None, partial(asyncio.to_thread, self._bounces, newsroom))

    async def watch(self) -> None:
        """Tells the owner what stands wrong, once."""
        for newsroom in self._newsrooms():
            await self._try(newsroom, "alerts", None, partial(alerts.tell, newsroom, self.in_force.complaint, self.clock(), plan_of(newsroom.edition)))

    async def tidy(self) -> None:
        """Forgets what feeds.yaml says need not be kept, once a day."""
        for newsroom in self._newsrooms():
            await self._try(newsroom, "prune", None, partial(asyncio.to_thread, housekeeping.daily, newsroom.loaded, newsroom.name, self.clock()))

    def _newsrooms(self) -> Iterator[Newsroom]:
        if self.in_force.refresh():
            _log.warning("feeds.yaml or a template changed: %s", self.in_force.complaint or "applied")
        loaded = self.in_force.loaded
        for name, edition in loaded.settings.editions.items():
            if self.is_stopping:
                return
            yield Newsroom(loaded=loaded, name=name, edition=edition, clock=self.clock, is_stopping=lambda: self.is_stopping)

    async def _try(self, newsroom: Newsroom, act: str, day: date | None, work: Callable[[], Awaitable[Report]]) -> bool:
        """Runs an act when its turn has come; whether it was done. What fails is kept as a report and tried again after a growing pause."""
        now, patience = self.clock(), self._patience.setdefault((newsroom.name, act, day), _Patience())
        if self.is_stopping or now < patience.again_at <= now + LONGEST_PAUSE:
            return False
        async with self._turns.setdefault("mail" if act == "mail" else "work", asyncio.Lock()):
            try:
                report = await self._locked(newsroom, act, work)
            except BusyError as error:
                _log.info("%s of %s waits: %s", act, newsroom.name, error)
                return False
            except DigestError as error:
                report = Report(problems=(Problem(step=act, subject=newsroom.name, message=str(error)),))
            except Exception as error:  # a bug costs this run, not the schedule
                _log.exception("a bug in %s of %s", act, newsroom.name)
                report = Report(problems=(Problem(step=act, subject=newsroom.name, message=f"{type(error).__name__}: {error}", is_bug=True),))
        self._remember(newsroom, act, day, now, report, patience)
        return not any(problem.step == act or problem.is_bug for problem in report.problems)

    async def _locked(self, newsroom: Newsroom, act: str, work: Callable[[], Awaitable[Report]]) -> Report:
        if act not in ("collect", "make", "deliver"):
            return await work()
        with at_work(newsroom.loaded, clock=self.clock):
            return await work()

    def _remember(self, newsroom: Newsroom, act: str, day: date | None, began_at: datetime, report: Report, patience: _Patience) -> None:
        has_failed = any(problem.step != "collect" for problem in report.problems)  # a source that fails has a pause of its own
        has_recovered = patience.failures > 0 and not has_failed
        if has_failed:
            patience.failed(began_at)
        else:
            patience.failures, patience.again_at = 0, _BEGINNING
        for problem in report.problems:
            _log.error("%s %s %s: %s", newsroom.name, problem.step, problem.subject, problem.message)
        did = any(number for name, number in report.counts.items() if name != "entries_seen")
        if report.problems or has_recovered or act in ("make", "deliver") or (did and act != "mail"):
            try:
                keep_run(newsroom.loaded, newsroom.name, act, day, began_at, self.clock(), report)
            except DigestError as error:
                _log.error("the report of %s could not be kept: %s", act, error)

    async def _is_time(self, newsroom: Newsroom, plan: DayPlan, day: date, now: datetime) -> bool:
        """Whether today's issue is made now, or waits for a source that is late."""
        return decide(plan, day, now, is_awaited=self._is_awaited(newsroom, now)) == "make"

    def _is_awaited(self, newsroom: Newsroom, now: datetime) -> bool:
        sources, _ = wiring.sources(newsroom.loaded.settings, newsroom.edition)
        wanted = newsroom.edition.schedule.wait_for
        names = [source.name for source in sources if (source.kind == "arxiv" if wanted is None else source.name in wanted)]
        if wanted is None and pause(eastern_day(now)):
            return False
        with opened(newsroom.loaded) as engine:
            polls = SqlEntryStore(engine).polls(names, now - MEMORY, now)
        return any(name not in polls or polls[name].state in _AWAITED for name in names)

    async def _today(self, newsroom: Newsroom, day: date) -> Report:
        collected = await newsroom.collect(self.clock(), is_due_only=True)
        return joined(collected, await newsroom.make(day, self.clock()))

    async def _late(self, newsroom: Newsroom, day: date) -> Report:
        """The issue of a day that was missed: of what had been read by its end."""
        return await newsroom.make(day, self._moment(newsroom, day), is_late=True)

    def _moment(self, newsroom: Newsroom, day: date) -> datetime:
        """Now, or the last second of a day that is over."""
        return min(self.clock(), end_of(day, newsroom.edition.timezone))

    def _undelivered(self, newsroom: Newsroom, today: date) -> list[date]:
        """Days of the last week whose issue went to nobody yet, or was changed by its editor, or met trouble when it went out."""
        with opened(newsroom.loaded) as engine:
            archive = SqlArchive(engine)
            days = [day for day in archive.days(newsroom.name) if (today - day).days < CATCH_UP]
            return [day for day in days if self._is_to_deliver(newsroom, archive, day)]

    def _is_to_deliver(self, newsroom: Newsroom, archive: SqlArchive, day: date) -> bool:
        receipt = next((each for each in archive.receipts(f"{newsroom.name}/{day.isoformat()}") if each.publisher == "folder"), None)
        if receipt is None:
            return True
        last, is_recent = housekeeping.last_delivery(newsroom.loaded, newsroom.name, day), self.clock() - receipt.delivered_at < AGAIN
        if last is None:  # it was cut off between the site and the rest
            return is_recent
        files = [
            newsroom.loaded.folder / "edits" / f"{day}.yaml",
            *(newsroom.loaded.folder / "notes" / f"{day}.{language}.md" for language in newsroom.edition.languages),
        ]
        newest = max((path.stat().st_mtime for path in files if path.is_file()), default=0.0)
        return newest > last.began_at.timestamp() or (last.problems > 0 and is_recent)

    def _is_delivered(self, newsroom: Newsroom, day: date) -> bool:
        with opened(newsroom.loaded) as engine:
            return _has_receipt(SqlArchive(engine), newsroom.name, day)

    def _bounces(self, newsroom: Newsroom) -> Report:
        with opened(newsroom.loaded) as engine:
            counts, problems = mail_wiring.read_returns(newsroom.loaded, newsroom.edition, engine, self.clock)
        return Report(counts={str(kind): number for kind, number in counts.items()}, problems=tuple(problems))


def _has_receipt(archive: SqlArchive, name: str, day: date) -> bool:
    return any(receipt.publisher == "folder" for receipt in archive.receipts(f"{name}/{day.isoformat()}"))
