"""Subscribers and the list of who must never get a mail again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, Select, case, delete, exists, or_, select, update

from digest.model import Consent, Subscriber, Suppression
from digest.store.database import transaction
from digest.store.entries import insert
from digest.store.tables import deliveries, returns, signups, subscribers, suppressions

_AT_ONCE = 500
EVERYWHERE = ""
OPEN_AGAIN: tuple[Suppression, ...] = ("unsubscribed", "forgotten", "soft-bounce")  # what a fresh yes of the reader's own ends


class SqlSubscribers:
    """The Subscribers on SQLite and PostgreSQL. ``hash_of`` gives the hash under which a mailbox is known."""

    def __init__(self, engine: Engine, hash_of: Any) -> None:
        self._engine = engine
        self._hash_of = hash_of

    def add(self, new: Sequence[Subscriber]) -> tuple[list[Subscriber], list[Subscriber]]:
        added: list[Subscriber] = []
        refused: list[Subscriber] = []
        with transaction(self._engine) as connection:
            for start in range(0, len(new), _AT_ONCE):
                part = {(each.edition, self._hash_of(each.address)): each for each in new[start : start + _AT_ONCE]}
                closed = _suppressed(connection, list(part))
                refused += [part[key] for key in closed]
                rows = [_row(each, key[1]) for key, each in part.items() if key not in closed]
                if not rows:
                    continue
                statement = insert(connection, subscribers).on_conflict_do_nothing(index_elements=["edition", "address_hash"])
                found = connection.execute(statement.returning(*subscribers.c), rows)
                added += [subscriber_of(row) for row in found.mappings()]
        return added, refused

    def find(self, edition: str, address: str) -> Subscriber | None:
        statement = _readers().where(subscribers.c.edition == edition, subscribers.c.address_hash == self._hash_of(address))
        with transaction(self._engine) as connection:
            row = connection.execute(statement).mappings().first()
        return None if row is None else subscriber_of(row)

    def get(self, id: int) -> Subscriber | None:
        with transaction(self._engine) as connection:
            row = connection.execute(_readers().where(subscribers.c.id == id)).mappings().first()
        return None if row is None else subscriber_of(row)

    def refusals(self, edition: str, address: str) -> list[tuple[Suppression, datetime]]:
        here = suppressions.c.edition.in_((edition, EVERYWHERE))
        statement = select(suppressions.c.reason, suppressions.c.at).where(suppressions.c.address_hash == self._hash_of(address), here)
        with transaction(self._engine) as connection:
            return [(row.reason, row.at) for row in connection.execute(statement.order_by(suppressions.c.at))]

    def may_ask(self, edition: str, address: str) -> bool:
        with transaction(self._engine) as connection:
            return not connection.execute(select(_closed(edition, self._hash_of(address)).exists())).scalar_one()

    def welcome(self, new: Subscriber) -> Subscriber | None:
        hashed = self._hash_of(new.address)
        with transaction(self._engine) as connection:
            if connection.execute(select(_closed(new.edition, hashed).exists())).scalar_one():
                return None
            own = (suppressions.c.address_hash == hashed, suppressions.c.edition.in_((new.edition, EVERYWHERE)))
            connection.execute(delete(suppressions).where(*own, suppressions.c.reason.in_(OPEN_AGAIN)))
            row = _row(new, hashed)
            statement = insert(connection, subscribers).values(row).on_conflict_do_update(index_elements=["edition", "address_hash"], set_=row)
            return subscriber_of(connection.execute(statement.returning(*subscribers.c)).mappings().one())

    def all(self, edition: str) -> Iterator[Subscriber]:
        last = 0
        while True:
            statement = _readers().where(subscribers.c.edition == edition, subscribers.c.id > last).order_by(subscribers.c.id).limit(_AT_ONCE * 4)
            with transaction(self._engine) as connection:
                found = [subscriber_of(row) for row in connection.execute(statement).mappings()]
            if not found:
                return
            yield from found
            last = found[-1].id

    def change(self, subscriber: Subscriber) -> None:
        wishes = {"languages": list(subscriber.languages), "topics": list(subscriber.topics), "rhythm": subscriber.rhythm}
        with transaction(self._engine) as connection:
            connection.execute(update(subscribers).where(subscribers.c.id == subscriber.id).values(wishes))

    def leave(self, subscriber: Subscriber, reason: Suppression, now: datetime) -> None:
        edition = subscriber.edition if reason == "unsubscribed" else EVERYWHERE
        with transaction(self._engine) as connection:
            connection.execute(update(subscribers).where(subscribers.c.id == subscriber.id).values(state="left"))
            _suppress(connection, self._hash_of(subscriber.address), edition, reason, now)

    def suppress(self, address: str, reason: Suppression, now: datetime, edition: str = EVERYWHERE) -> None:
        with transaction(self._engine) as connection:
            _suppress(connection, self._hash_of(address), edition, reason, now)

    def forget(self, address: str, now: datetime) -> int:
        hashed = self._hash_of(address)
        with transaction(self._engine) as connection:
            ids = list(connection.execute(select(subscribers.c.id).where(subscribers.c.address_hash == hashed)).scalars())
            connection.execute(delete(returns).where(returns.c.subscriber.in_(ids)))
            connection.execute(update(deliveries).where(deliveries.c.subscriber.in_(ids)).values(text=""))  # servers repeat addresses
            gone = connection.execute(delete(subscribers).where(subscribers.c.id.in_(ids))).rowcount
            connection.execute(delete(signups).where(signups.c.address_hash == hashed))
            _suppress(connection, hashed, EVERYWHERE, "forgotten", now)
        return int(gone)


def is_suppressed() -> Any:
    """The condition that a row of ``subscribers`` must not be written to."""
    here = or_(suppressions.c.edition == subscribers.c.edition, suppressions.c.edition == EVERYWHERE)
    return exists().where(suppressions.c.address_hash == subscribers.c.address_hash, here)


def _readers() -> Select[Any]:
    """Subscribers as they are to be treated: who must not be written to has left, also where another edition was told so."""
    columns = [column for column in subscribers.c if column.name != "state"]
    return select(*columns, case((is_suppressed(), "left"), else_=subscribers.c.state).label("state"))


def _closed(edition: str, hashed: str) -> Select[Any]:
    """The suppressions that no sign-up ends."""
    here = suppressions.c.edition.in_((edition, EVERYWHERE))
    return select(suppressions.c.address_hash).where(suppressions.c.address_hash == hashed, here, suppressions.c.reason.not_in(OPEN_AGAIN))


def _suppressed(connection: Connection, keys: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    statement = select(suppressions.c.address_hash, suppressions.c.edition).where(suppressions.c.address_hash.in_([hashed for _, hashed in keys]))
    closed = {(row.edition, row.address_hash) for row in connection.execute(statement)}
    return {(edition, hashed) for edition, hashed in keys if (edition, hashed) in closed or (EVERYWHERE, hashed) in closed}


def _suppress(connection: Connection, hashed: str, edition: str, reason: Suppression, now: datetime) -> None:
    row = {"address_hash": hashed, "edition": edition, "reason": reason, "at": now}
    statement = insert(connection, suppressions).values(row)
    if reason in OPEN_AGAIN:
        connection.execute(statement.on_conflict_do_nothing())
    else:  # what no sign-up ends outweighs what one does
        connection.execute(statement.on_conflict_do_update(index_elements=["address_hash", "edition"], set_={"reason": reason, "at": now}))


def _row(subscriber: Subscriber, hashed: str) -> dict[str, Any]:
    return {
        "edition": subscriber.edition,
        "address": subscriber.address,
        "address_hash": hashed,
        "languages": list(subscriber.languages),
        "topics": list(subscriber.topics),
        "rhythm": subscriber.rhythm,
        "state": subscriber.state,
        "consent_how": subscriber.consent.how,
        "consent_at": subscriber.consent.at,
        "consent_evidence": subscriber.consent.evidence,
    }


def subscriber_of(row: RowMapping) -> Subscriber:
    return Subscriber(
        id=row["id"],
        edition=row["edition"],
        address=row["address"],
        languages=tuple(row["languages"]),
        topics=tuple(row["topics"]),
        rhythm=row["rhythm"],
        state=row["state"],
        consent=Consent(how=row["consent_how"], at=row["consent_at"], evidence=row["consent_evidence"]),
    )
