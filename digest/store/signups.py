"""Sign-ups that wait for a confirmation: three days at most, and so many a mailbox, a network and in all, and no more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import Engine, RowMapping, delete, func, select, update

from digest.model import SignUp
from digest.store.database import transaction
from digest.store.tables import signups

VALID = timedelta(hours=72)
A_MAILBOX_A_DAY, A_NETWORK_AN_HOUR, ALL_AN_HOUR = 3, 10, 300


class SqlSignUps:
    """The SignUps on SQLite and PostgreSQL. ``hash_of`` gives the hash under which a mailbox is known, ``network_of`` the network of
    a client."""

    def __init__(self, engine: Engine, hash_of: Callable[[str], str], network_of: Callable[[str], str]) -> None:
        self._engine = engine
        self._hash_of = hash_of
        self._network_of = network_of

    def keep(self, new: SignUp) -> bool:
        hashed, network, now = self._hash_of(new.address), self._network_of(new.client), new.asked_at
        with transaction(self._engine) as connection:
            connection.execute(delete(signups).where(signups.c.asked_at < now - VALID))
            hour, day = now - timedelta(hours=1), now - timedelta(days=1)
            for limit, since, where in (
                (A_MAILBOX_A_DAY, day, signups.c.address_hash == hashed),
                (A_NETWORK_AN_HOUR, hour, signups.c.network == network),
                (ALL_AN_HOUR, hour, signups.c.asked_at >= hour),
            ):
                if connection.execute(select(func.count()).where(where, signups.c.asked_at >= since)).scalar_one() >= limit:
                    return False
            row = {name: getattr(new, name) for name in ("id", "edition", "address", "rhythm", "client", "language", "words", "asked_at")}
            lists = {"languages": list(new.languages), "topics": list(new.topics)}
            connection.execute(signups.insert().values(row | lists | {"address_hash": hashed, "network": network}))
        return True

    def waiting(self, edition: str, now: datetime) -> list[SignUp]:
        due = (signups.c.edition == edition, signups.c.mailed_at.is_(None), signups.c.asked_at >= now - VALID)
        statement = select(signups).where(*due).order_by(signups.c.asked_at).limit(50)
        with transaction(self._engine) as connection:
            return [_signup(row) for row in connection.execute(statement).mappings()]

    def mailed(self, id: str, now: datetime) -> bool:
        statement = update(signups).where(signups.c.id == id, signups.c.mailed_at.is_(None)).values(mailed_at=now)
        with transaction(self._engine) as connection:
            return bool(connection.execute(statement).rowcount)

    def waits(self, id: str) -> None:
        with transaction(self._engine) as connection:
            connection.execute(update(signups).where(signups.c.id == id).values(mailed_at=None))

    def find(self, id: str, now: datetime) -> SignUp | None:
        statement = select(signups).where(signups.c.id == id, signups.c.asked_at >= now - VALID)
        with transaction(self._engine) as connection:
            row = connection.execute(statement).mappings().first()
        return None if row is None else _signup(row)

    def confirmed(self, id: str, now: datetime) -> None:
        with transaction(self._engine) as connection:
            connection.execute(update(signups).where(signups.c.id == id, signups.c.confirmed_at.is_(None)).values(confirmed_at=now))


def _signup(row: RowMapping) -> SignUp:
    fields = {name: row[name] for name in ("id", "edition", "address", "rhythm", "client", "language", "words", "asked_at", "confirmed_at")}
    return SignUp(**fields, languages=tuple(row["languages"]), topics=tuple(row["topics"]))
