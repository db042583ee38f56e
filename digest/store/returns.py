"""Mails that came back: each counted once, by the reader."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime

from sqlalchemy import Engine, func, select

from digest.model import ReturnKind
from digest.store.database import transaction
from digest.store.entries import insert
from digest.store.tables import deliveries, mailings, returns


class SqlReturns:
    """The Returns on SQLite and PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def is_known(self, fingerprint: str) -> bool:
        with transaction(self._engine) as connection:
            return connection.execute(select(returns.c.kind).where(returns.c.fingerprint == fingerprint)).first() is not None

    def note(self, fingerprint: str, subscriber: int, kind: ReturnKind, status: str, now: datetime) -> None:
        row = {"fingerprint": fingerprint, "subscriber": subscriber, "kind": kind, "status": status[:20], "at": now}
        with transaction(self._engine) as connection:
            connection.execute(insert(connection, returns).values(row).on_conflict_do_nothing())

    def days(self, subscribers: Collection[int], since: datetime) -> dict[int, tuple[list[date], list[date]]]:
        found: dict[int, tuple[list[date], list[date]]] = {id: ([], []) for id in subscribers}
        came_back = select(returns.c.subscriber, returns.c.at).where(returns.c.subscriber.in_(found), returns.c.kind == "soft", returns.c.at >= since)
        arrived = (
            select(deliveries.c.subscriber, mailings.c.began_at)
            .join(mailings, mailings.c.issue_key == deliveries.c.issue_key)
            .where(deliveries.c.subscriber.in_(found), deliveries.c.state == "accepted", mailings.c.began_at >= since)
        )
        with transaction(self._engine) as connection:
            for place, statement in enumerate((came_back, arrived)):
                for id, at in connection.execute(statement):
                    found[id][place].append(at.date())
        return found

    def of_mailing(self, issue_key: str) -> dict[ReturnKind, int]:
        readers = select(deliveries.c.subscriber).where(deliveries.c.issue_key == issue_key)
        began_at = select(mailings.c.began_at).where(mailings.c.issue_key == issue_key).scalar_subquery()
        statement = select(returns.c.kind, func.count()).where(returns.c.subscriber.in_(readers), returns.c.at >= began_at).group_by(returns.c.kind)
        with transaction(self._engine) as connection:
            return {row[0]: row[1] for row in connection.execute(statement)}

    def counts(self, since: datetime) -> dict[ReturnKind, int]:
        """How many of each kind came back since then."""
        statement = select(returns.c.kind, func.count()).where(returns.c.at >= since).group_by(returns.c.kind)
        with transaction(self._engine) as connection:
            return {row[0]: row[1] for row in connection.execute(statement)}
