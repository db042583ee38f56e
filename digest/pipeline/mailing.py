"""The mail of an issue to its subscribers: nobody twice, nobody forgotten, whatever breaks in between.

Several connections send side by side. Before a mail goes out its row in the ledger is claimed in a transaction, and the transaction
that claims the next one also writes what came of the last, so that a mail costs one commit; connections share commits. What is only
known to have left, and not to have arrived, stays ``uncertain`` until a person decides.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from digest.audience.addresses import domain_of
from digest.audience.limits import Limits
from digest.audience.outcomes import Meaning, meaning
from digest.errors import DigestError
from digest.model import DeliveryState, Issue, Mailing, MailRhythm, Outcome, Problem, Subscriber
from digest.pipeline.parts import Step
from digest.pipeline.returning import drop_unreachable
from digest.ports import Ledger, Relay, RelayConnection, Returns, Subscribers

PAGE = 2000
LEASE = timedelta(minutes=15)
FEWEST_TO_JUDGE, HARD_SHARE, REFUSED_SHARE = 20, 0.05, 0.3
RELAY_FAULTS = 5

Encode = Callable[[Issue, Subscriber, datetime], tuple[str, bytes] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MailParts:
    """What sending needs. ``encode`` gives (the envelope's sender, the message) for a subscriber, or None
    where the issue has nothing for them; ``clock`` the time;
    ``is_gone`` says of another sender's name that it surely runs no more; ``is_stopping`` that no other mail may begin; ``keeps_limits``:
    what was sent counts for later runs; ``say`` hears once why nothing moves; ``sleep`` waits."""

    ledger: Ledger
    subscribers: Subscribers
    returns: Returns
    relay: Relay
    encode: Encode
    limits: Limits
    clock: Callable[[], datetime]
    worker: str
    connections: int = 4
    is_gone: Callable[[str], bool] = lambda worker: False
    is_stopping: Callable[[], bool] = lambda: False
    keeps_limits: bool = True
    say: Callable[[str], None] = lambda words: None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(slots=True)
class MailReport:
    """What a run of sending did; ``problems`` say why it stopped before the end."""

    mailing: Mailing
    counts: Mapping[DeliveryState, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def audience(issue: Issue) -> tuple[MailRhythm, ...]:
    """The rhythms to which an issue goes: those who want only news get no quiet day."""
    if issue.period == "day":
        return ("daily", "news") if issue.articles else ("daily",)
    return ("weekly",) if issue.period == "week" else ("monthly",)


async def send(
    parts: MailParts, issue: Issue, rhythms: Collection[MailRhythm], *, limit: int = 0, step: Callable[[str], None] = lambda word: None
) -> MailReport:
    """Sends the issue to whoever has not had it. A mailing that began stays with the issue as it was then. ``limit``: at most so many now.
    What is deferred is left for a later call."""
    mailing = parts.ledger.open(issue, rhythms, parts.clock())
    gone = [worker for worker in parts.ledger.workers(mailing.issue.key) if parts.is_gone(worker)]
    parts.ledger.hold_leftovers(mailing.issue.key, parts.clock(), parts.clock() - LEASE, gone)
    run = _Run(parts, mailing, limit, step)
    if mailing.state == "open":
        parts.limits.buckets.update(parts.ledger.buckets() if parts.keeps_limits else {})
        await run.work()
    for id in run.full:
        parts.returns.note(sha256(f"{mailing.issue.key}|{id}".encode()).hexdigest(), id, "soft", "", parts.clock())
    drop_unreachable(parts.subscribers, parts.returns, run.full, parts.clock())
    report = MailReport(mailing=parts.ledger.mailing(mailing.issue.key) or mailing, problems=run.problems)
    report.counts = parts.ledger.counts(mailing.issue.key)
    if mailing.state == "open" and not run.problems and not parts.is_stopping() and not set(report.counts) & {"pending", "sending", "deferred", "uncertain"}:
        parts.ledger.set_state(mailing.issue.key, "done")
    return report


class _Run:
    """One run: a queue that the ledger fills, connections that empty it, and a clerk who writes the ledger for all of them."""

    def __init__(self, parts: MailParts, mailing: Mailing, limit: int, step: Step) -> None:
        self.parts, self.mailing, self.step = parts, mailing, step
        self.problems: list[Problem] = []
        self.full: list[int] = []  # whose mailbox takes nothing for now
        self._key = mailing.issue.key
        self._left = limit or None
        self._queue: deque[tuple[Subscriber, int]] = deque()
        self._last, self._is_read = 0, False
        self._requests: list[tuple[Outcome | None, int | None, asyncio.Future[bool]]] = []
        self._is_asked = asyncio.Event()
        self._tried = self._hard = self._refused = self._faults = 0
        self._is_stopped = self._was_said = False

    async def work(self) -> None:
        clerk = asyncio.create_task(self._clerk())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.parts.connections):
                    group.create_task(self._connection())
        except* DigestError as errors:  # the ledger cannot be written: nothing may be sent
            self._stop(str(errors.exceptions[0]), pause=False)
        finally:
            clerk.cancel()

    async def _connection(self) -> None:
        """Sends one mail after the other over a connection of its own."""
        connection: RelayConnection | None = None
        outcome: Outcome | None = None
        again: tuple[Subscriber, int] | None = None
        try:
            while (taken := await self._next()) is not None:
                subscriber, attempt = taken
                if connection is None or not connection.is_open:
                    connection = await self._connected()
                if connection is None:
                    break
                is_mine = await self._write(outcome, subscriber.id)
                if again is not None:
                    self._queue.append(again)
                outcome = again = None
                if not is_mine:
                    self.parts.limits.give_back(domain_of(subscriber.address))
                    continue
                found = await self._sent(connection, subscriber, attempt + 1)
                outcome = found.outcome
                self._judge(found, subscriber)
                again = (subscriber, attempt + 1) if outcome.state == "pending" else None
                self.step(outcome.state)
        finally:
            try:
                if outcome is not None:
                    await self._write(outcome, None)
            finally:
                if connection is not None:
                    await connection.quit()

    async def _connected(self) -> RelayConnection | None:
        """A connection to the relay; None when it cannot be had."""
        while not self._is_stopped:
            try:
                return await self.parts.relay.connect()
            except DigestError as error:
                reply = getattr(error, "reply", None)
                self._faults += 1
                if reply is not None and reply.stage == "auth":
                    self._stop(f"{error}; nothing is lost, `digest send resume` goes on when it is mended", pause=True)
                    return None
                if self._faults >= RELAY_FAULTS * self.parts.connections:  # all of them count one outage
                    self._stop(f"{error}; nothing is lost, the next `digest send` goes on", pause=False)
                    return None
                if not self._was_said:
                    self._was_said = True
                    self.parts.say(f"{error}; trying again for a minute")
                await self.parts.sleep(min(60, 2 ** (1 + self._faults // self.parts.connections)))
        return None

    async def _sent(self, connection: RelayConnection, subscriber: Subscriber, attempt: int) -> Meaning:
        now = self.parts.clock()
        try:
            encoded = self.parts.encode(self.mailing.issue, subscriber, now)
        except Exception as error:  # nothing has left: it costs this mail only
            self._complain(f"the mail of subscriber {subscriber.id} could not be written: {error}", is_bug=not isinstance(error, DigestError))
            return Meaning(Outcome(subscriber=subscriber.id, state="failed", text="could not be written"))
        if encoded is None:
            return Meaning(Outcome(subscriber=subscriber.id, state="suppressed", text="nothing on their topics"))
        sender, message = encoded
        reply = await connection.send(sender, subscriber.address, message)
        return meaning(subscriber.id, reply, attempt, self.mailing.began_at, self.parts.clock())

    def _judge(self, found: Meaning, subscriber: Subscriber) -> None:
        """What the reply means for the rest of the run."""
        self._tried += 1
        if found.outcome.state == "accepted":
            self._faults = 0
        if found.is_hard:
            self._hard += 1
            self.parts.subscribers.leave(subscriber, "hard-bounce", self.parts.clock())
        if found.is_soft:
            self.full.append(subscriber.id)
        self._refused += found.outcome.state == "failed"
        if found.fault == "slower":
            self.parts.limits.slower(domain_of(subscriber.address))
        elif found.fault in ("sender", "auth"):
            self._stop(f"the mail servers refuse the sender and not the readers ({found.outcome.text}); mend it, then `digest send resume`", pause=True)
        elif found.fault == "relay":
            self._faults += 1
            if self._faults >= RELAY_FAULTS * self.parts.connections:
                self._stop(f"the relay breaks off again and again ({found.outcome.text}); nothing is lost, the next `digest send` goes on", pause=False)
        if self._tried >= FEWEST_TO_JUDGE and self._hard > HARD_SHARE * self._tried:
            self._stop(f"{self._hard} of {self._tried} addresses do not exist; look at the list, then `digest send resume`", pause=True)
        elif self._tried >= FEWEST_TO_JUDGE and self._refused > REFUSED_SHARE * self._tried:
            why = f"{self._refused} of {self._tried} mails were refused (the last: {found.outcome.text or 'no reason'}); mend it, then `digest send resume`"
            self._stop(why, pause=True)

    def _complain(self, why: str, *, is_bug: bool) -> None:
        """Once for each kind of trouble, however many it meets."""
        if not any(problem.subject == "mail" for problem in self.problems):
            self.problems.append(Problem(step="send", subject="mail", message=why, is_bug=is_bug))

    def _stop(self, why: str, *, pause: bool) -> None:
        if self._is_stopped:
            return
        self._is_stopped = True
        self.problems.append(Problem(step="send", subject=self._key, message=why))
        if pause:
            self.parts.ledger.set_state(self._key, "paused", why)

    async def _next(self) -> tuple[Subscriber, int] | None:
        """The next reader to whose domain a mail may go now; None at the end."""
        while not self._is_stopped and self._left != 0 and not self.parts.is_stopping():
            if len(self._queue) < PAGE // 2 and not self._is_read:
                self._read()
            if not self._queue:
                return None
            now = self.parts.clock()
            waits = []
            for _ in range(len(self._queue)):
                subscriber, attempt = self._queue.popleft()
                seconds = self.parts.limits.wait(domain_of(subscriber.address), now)
                if seconds <= 0:
                    self.parts.limits.take(domain_of(subscriber.address), now)  # at once: between asking and counting nobody may ask
                    if self._left is not None:
                        self._left -= 1
                    return subscriber, attempt
                self._queue.append((subscriber, attempt))
                waits.append(seconds)
                if len(waits) >= 200:
                    break
            if min(waits) == float("inf"):
                self._stop("the number of mails for this day is used up; `digest send` goes on tomorrow", pause=False)
                return None
            await self.parts.sleep(min(max(min(waits), 0.01), 1.0))
        return None

    def _read(self) -> None:
        found = self.parts.ledger.waiting(self._key, self.parts.clock(), self._last, PAGE)
        self._is_read = len(found) < PAGE
        if found:
            self._last = found[-1][0].id
        self._queue.extend(found)

    async def _write(self, outcome: Outcome | None, start: int | None) -> bool:
        """Hands the last outcome and the next claim to the clerk; whether the claim was won."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._requests.append((outcome, start, done))
        self._is_asked.set()
        return await done

    async def _clerk(self) -> None:
        """Writes what all connections ask for in one transaction, again and again."""
        while True:
            await self._is_asked.wait()
            self._is_asked.clear()
            await asyncio.sleep(0)  # lets those that are ready join
            asked, self._requests = self._requests, []
            done = [outcome for outcome, _, _ in asked if outcome is not None]
            start = [subscriber for _, subscriber, _ in asked if subscriber is not None]
            kept = dict(self.parts.limits.buckets) if self.parts.keeps_limits else {}
            try:
                won = await asyncio.to_thread(self.parts.ledger.step, self._key, done, start, self.parts.worker, self.parts.clock(), kept)
            except Exception as error:  # whoever waits must hear of it
                for _, _, future in asked:
                    if not future.done():
                        future.set_exception(error)
                continue
            for _, subscriber, future in asked:
                if not future.done():
                    future.set_result(subscriber in won)
