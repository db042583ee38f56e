"""The ledger of the mail: one row per issue and subscriber, claimed before it is sent.

A row goes from pending (or deferred) to sending in a transaction that only one sender can win; then the mail goes out; then the row
says what came of it. Whatever is found as sending after a crash may have arrived or not: it becomes uncertain, and a person decides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time

from pydantic import TypeAdapter
from sqlalchemy import Connection, Engine, RowMapping, and_, case, func, literal, null, or_, select, update

from digest.model import Bucket, Delivery, DeliveryState, Issue, Mailing, MailingState, MailRhythm, Outcome, Subscriber
from digest.store.database import transaction
from digest.store.entries import insert
from digest.store.subscribers import is_suppressed, subscriber_of
from digest.store.tables import buckets, deliveries, mailings, subscribers

_ISSUE = TypeAdapter(Issue)


class SqlLedger:
    """The Ledger on SQLite and PostgreSQL, and what people ask of it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def open(self, issue: Issue, rhythms: Collection[MailRhythm], now: datetime) -> Mailing:
        with transaction(self._engine) as connection:
            row = {"issue_key": issue.key, "state": "open", "why": "", "began_at": now, "document": _ISSUE.dump_json(issue).decode("utf-8")}
            statement = insert(connection, mailings).values(row).on_conflict_do_nothing().returning(mailings.c.issue_key)
            if connection.execute(statement).first() is not None:
                wanted = and_(subscribers.c.edition == issue.edition, subscribers.c.state == "active", subscribers.c.rhythm.in_(rhythms))
                state = case((is_suppressed(), "suppressed"), else_="pending")
                chosen = select(literal(issue.key), subscribers.c.id, state, literal(0), null(), literal(""), null(), literal(0), literal("")).where(wanted)
                connection.execute(deliveries.insert().from_select([column.name for column in deliveries.c], chosen))
        found = self.mailing(issue.key)
        assert found is not None
        return found

    def mailing(self, issue_key: str) -> Mailing | None:
        with transaction(self._engine) as connection:
            row = connection.execute(select(mailings).where(mailings.c.issue_key == issue_key)).first()
        if row is None:
            return None
        return Mailing(issue=_ISSUE.validate_json(row.document), state=row.state, why=row.why, began_at=row.began_at)

    def under_way(self) -> list[str]:
        statement = select(mailings.c.issue_key).where(mailings.c.state == "open").order_by(mailings.c.began_at)
        with transaction(self._engine) as connection:
            return list(connection.execute(statement).scalars())

    def paused(self) -> list[tuple[str, str]]:
        """(issue, why) of every mailing that is paused."""
        statement = select(mailings.c.issue_key, mailings.c.why).where(mailings.c.state == "paused").order_by(mailings.c.began_at)
        with transaction(self._engine) as connection:
            return [(row.issue_key, row.why) for row in connection.execute(statement)]

    def last(self, edition: str, number: int) -> list[tuple[str, MailingState, str, dict[DeliveryState, int]]]:
        """The newest mailings of an edition: (issue, state, why of a pause, mails by state)."""
        own = mailings.c.issue_key.startswith(f"{edition}/", autoescape=True)
        statement = select(mailings.c.issue_key, mailings.c.state, mailings.c.why).where(own).order_by(mailings.c.began_at.desc()).limit(number)
        with transaction(self._engine) as connection:
            rows = connection.execute(statement).all()
        return [(row.issue_key, row.state, row.why, self.counts(row.issue_key)) for row in rows]

    def fine_days(self, edition: str, before: date) -> int:
        """On how many days before that one mails of the edition went out and at most one in twenty was refused."""
        day = func.date(mailings.c.began_at)
        accepted = func.sum(case((deliveries.c.state == "accepted", 1), else_=0))
        failed = func.sum(case((deliveries.c.state == "failed", 1), else_=0))
        own = mailings.c.issue_key.startswith(f"{edition}/", autoescape=True)
        statement = (
            select(day)
            .join(deliveries, deliveries.c.issue_key == mailings.c.issue_key)
            .where(own, mailings.c.began_at < datetime.combine(before, time(), UTC))
            .group_by(day)
            .having(accepted > 0, failed * 20 <= accepted)
        )
        with transaction(self._engine) as connection:
            return len(connection.execute(statement).all())

    def set_state(self, issue_key: str, state: MailingState, why: str = "") -> None:
        with transaction(self._engine) as connection:
            connection.execute(update(mailings).where(mailings.c.issue_key == issue_key).values(state=state, why=why))

    def waiting(self, issue_key: str, now: datetime, after: int, limit: int) -> list[tuple[Subscriber, int]]:
        due = or_(deliveries.c.next_at.is_(None), deliveries.c.next_at <= now)
        statement = (
            select(subscribers, deliveries.c.attempt)
            .join(deliveries, deliveries.c.subscriber == subscribers.c.id)
            .where(deliveries.c.issue_key == issue_key, deliveries.c.state.in_(("pending", "deferred")), due, subscribers.c.id > after)
            .order_by(subscribers.c.id)
            .limit(limit)
        )
        with transaction(self._engine) as connection:
            return [(subscriber_of(row), row["attempt"]) for row in connection.execute(statement).mappings()]

    def step(self, issue_key: str, done: Sequence[Outcome], start: Sequence[int], worker: str, now: datetime, kept: Mapping[str, Bucket]) -> set[int]:
        with transaction(self._engine) as connection:
            for outcome in done:
                self._settle(connection, issue_key, outcome, worker)
            if kept:
                rows = [{"name": name, "left": each.left, "at": each.at, "day": each.day, "sent": each.sent} for name, each in kept.items()]
                statement = insert(connection, buckets)
                changed = {name: statement.excluded[name] for name in ("left", "at", "day", "sent")}
                connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=changed), rows)
            return self._claimed(connection, issue_key, start, worker, now) if start else set()

    def _settle(self, connection: Connection, issue_key: str, outcome: Outcome, worker: str) -> None:
        values = {"state": outcome.state, "code": outcome.code, "text": outcome.text[:500], "next_at": outcome.next_at, "claimed_at": None}
        mine = (deliveries.c.subscriber == outcome.subscriber, deliveries.c.worker == worker, deliveries.c.state.in_(("sending", "uncertain")))
        connection.execute(update(deliveries).where(deliveries.c.issue_key == issue_key, *mine).values(values))

    def _claimed(self, connection: Connection, issue_key: str, start: Sequence[int], worker: str, now: datetime) -> set[int]:
        mine = (deliveries.c.issue_key == issue_key, deliveries.c.subscriber.in_(start), deliveries.c.state.in_(("pending", "deferred")))
        unwanted = select(subscribers.c.id).where(subscribers.c.id.in_(start), or_(is_suppressed(), subscribers.c.state != "active"))
        connection.execute(update(deliveries).where(*mine, deliveries.c.subscriber.in_(unwanted)).values(state="suppressed"))
        known = select(subscribers.c.id).where(subscribers.c.id.in_(start))
        is_open = select(mailings.c.issue_key).where(mailings.c.issue_key == issue_key, mailings.c.state == "open").exists()
        values = {"state": "sending", "worker": worker, "claimed_at": now, "attempt": deliveries.c.attempt + 1}
        statement = update(deliveries).where(*mine, deliveries.c.subscriber.in_(known), is_open).values(values)
        return set(connection.execute(statement.returning(deliveries.c.subscriber)).scalars())

    def workers(self, issue_key: str) -> list[str]:
        statement = select(deliveries.c.worker).where(deliveries.c.issue_key == issue_key, deliveries.c.state == "sending").distinct()
        with transaction(self._engine) as connection:
            return sorted(connection.execute(statement).scalars())

    def hold_leftovers(self, issue_key: str, now: datetime, older_than: datetime, gone: Collection[str] = ()) -> int:
        stale = or_(
            deliveries.c.worker.in_(gone), deliveries.c.claimed_at < older_than, deliveries.c.claimed_at > now
        )  # a clock that went back counts as long ago
        with transaction(self._engine) as connection:
            forgotten = deliveries.c.subscriber.not_in(select(subscribers.c.id))
            waiting = (deliveries.c.issue_key == issue_key, deliveries.c.state.in_(("pending", "deferred")))
            connection.execute(update(deliveries).where(*waiting, forgotten).values(state="suppressed"))
            statement = update(deliveries).where(deliveries.c.issue_key == issue_key, deliveries.c.state == "sending", stale)
            return int(connection.execute(statement.values(state="uncertain", text="the sender stopped in the middle")).rowcount)

    def resolve(self, issue_key: str, to: DeliveryState, only: Collection[int] = ()) -> int:
        """A person's decision on uncertain ones: ``accepted``, or ``pending`` to send again. How many there were."""
        with transaction(self._engine) as connection:
            where = [deliveries.c.issue_key == issue_key, deliveries.c.state == "uncertain"]
            if only:
                where.append(deliveries.c.subscriber.in_(only))
            return int(connection.execute(update(deliveries).where(*where).values(state=to, claimed_at=None, next_at=None)).rowcount)

    def counts(self, issue_key: str) -> dict[DeliveryState, int]:
        statement = select(deliveries.c.state, func.count()).where(deliveries.c.issue_key == issue_key).group_by(deliveries.c.state)
        with transaction(self._engine) as connection:
            return {row[0]: row[1] for row in connection.execute(statement)}

    def deliveries(self, issue_key: str, states: Collection[DeliveryState] = ()) -> list[Delivery]:
        """Every mail of an issue with its reader and state, by subscriber."""
        statement = (
            select(deliveries, subscribers.c.address)
            .outerjoin(subscribers, subscribers.c.id == deliveries.c.subscriber)
            .where(deliveries.c.issue_key == issue_key)
            .order_by(deliveries.c.subscriber)
        )
        if states:
            statement = statement.where(deliveries.c.state.in_(states))
        with transaction(self._engine) as connection:
            return [_delivery(row) for row in connection.execute(statement).mappings()]

    def buckets(self) -> dict[str, Bucket]:
        with transaction(self._engine) as connection:
            return {row.name: Bucket(row.left, row.at, row.day, row.sent) for row in connection.execute(select(buckets))}


def _delivery(row: RowMapping) -> Delivery:
    return Delivery(
        subscriber=row["subscriber"],
        address=row["address"] or "",
        state=row["state"],
        attempt=row["attempt"],
        next_at=row["next_at"],
        code=row["code"],
        text=row["text"],
    )
