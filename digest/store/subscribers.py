"""Subscribers and the list of who must never get a mail again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, delete, exists, or_, select, update

from digest.model import Consent, Subscriber, Suppression
from digest.store.database import transaction
from digest.store.entries import insert
from digest.store.tables import subscribers, suppressions

_AT_ONCE = 500
EVERYWHERE = ""


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
        statement = select(subscribers).where(subscribers.c.edition == edition, subscribers.c.address_hash == self._hash_of(address))
        with transaction(self._engine) as connection:
            row = connection.execute(statement).mappings().first()
        return None if row is None else subscriber_of(row)

    def all(self, edition: str) -> Iterator[Subscriber]:
        last = 0
        while True:
            statement = select(subscribers).where(subscribers.c.edition == edition, subscribers.c.id > last).order_by(subscribers.c.id).limit(_AT_ONCE * 4)
            with transaction(self._engine) as connection:
                found = [subscriber_of(row) for row in connection.execute(statement).mappings()]
            if not found:
                return
            yield from found
            last = found[-1].id

    def change(self, subscriber: Subscriber) -> None:
        row = _row(subscriber, self._hash_of(subscriber.address))
        with transaction(self._engine) as connection:
            connection.execute(update(subscribers).where(subscribers.c.id == subscriber.id).values(row))
            if subscriber.state == "active":  # a fresh yes ends an old no of their own, and no other
                closed = (suppressions.c.address_hash == row["address_hash"], suppressions.c.edition == subscriber.edition)
                connection.execute(delete(suppressions).where(*closed, suppressions.c.reason == "unsubscribed"))

    def leave(self, subscriber: Subscriber, reason: Suppression, now: datetime) -> None:
        edition = subscriber.edition if reason == "unsubscribed" else EVERYWHERE
        with transaction(self._engine) as connection:
            connection.execute(update(subscribers).where(subscribers.c.id == subscriber.id).values(state="left"))
            _suppress(connection, self._hash_of(subscriber.address), edition, reason, now)

    def suppress(self, address: str, reason: Suppression, now: datetime) -> None:
        with transaction(self._engine) as connection:
            _suppress(connection, self._hash_of(address), EVERYWHERE, reason, now)

    def forget(self, address: str, now: datetime) -> int:
        hashed = self._hash_of(address)
        with transaction(self._engine) as connection:
            gone = connection.execute(delete(subscribers).where(subscribers.c.address_hash == hashed)).rowcount
            _suppress(connection, hashed, EVERYWHERE, "manual", now)
        return int(gone)


def is_suppressed() -> Any:
    """The condition that a row of ``subscribers`` must not be written to."""
    here = or_(suppressions.c.edition == subscribers.c.edition, suppressions.c.edition == EVERYWHERE)
    return exists().where(suppressions.c.address_hash == subscribers.c.address_hash, here)


def _suppressed(connection: Connection, keys: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    statement = select(suppressions.c.address_hash, suppressions.c.edition).where(suppressions.c.address_hash.in_([hashed for _, hashed in keys]))
    closed = {(row.edition, row.address_hash) for row in connection.execute(statement)}
    return {(edition, hashed) for edition, hashed in keys if (edition, hashed) in closed or (EVERYWHERE, hashed) in closed}


def _suppress(connection: Connection, hashed: str, edition: str, reason: Suppression, now: datetime) -> None:
    row = {"address_hash": hashed, "edition": edition, "reason": reason, "at": now}
    connection.execute(insert(connection, suppressions).values(row).on_conflict_do_nothing())


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
