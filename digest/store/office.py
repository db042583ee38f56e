"""What keeps the house in order: a log of runs, locks with a lease, and the alerts that stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta

from sqlalchemy import Engine, RowMapping, delete, func, select, update

from digest.model import Alert, Run
from digest.store.database import transaction
from digest.store.entries import insert
from digest.store.tables import alerts, locks, runs

LEASE = timedelta(minutes=3)


class SqlOffice:
    """On SQLite and PostgreSQL. ``is_gone`` says of a holder's name that it surely runs no more."""

    def __init__(self, engine: Engine, is_gone: Callable[[str], bool]) -> None:
        self._engine = engine
        self._is_gone = is_gone

    def take(self, name: str, holder: str, now: datetime) -> tuple[str, datetime] | None:
        """Takes the lock, or prolongs it, for three minutes; (who holds it, since when) when another does."""
        with transaction(self._engine) as connection:
            row = connection.execute(select(locks).where(locks.c.name == name).with_for_update()).first()
            since = now
            if row is not None and row.holder == holder:
                since = row.since
            elif row is not None and row.until >= now and row.since <= now + LEASE and not self._is_gone(row.holder):
                return row.holder, row.since
            values = {"name": name, "holder": holder, "since": since, "until": now + LEASE}
            statement = insert(connection, locks).values(values)
            connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))
        return None

    def give_back(self, name: str, holder: str) -> None:
        """Frees the lock, if it is still the holder's."""
        with transaction(self._engine) as connection:
            connection.execute(delete(locks).where(locks.c.name == name, locks.c.holder == holder))

    def holder(self, name: str, now: datetime) -> str:
        """Who holds the lock; empty when nobody does."""
        with transaction(self._engine) as connection:
            row = connection.execute(select(locks).where(locks.c.name == name)).first()
        return row.holder if row is not None and row.until >= now and not self._is_gone(row.holder) else ""

    def note(self, run: Run) -> None:
        """Keeps the report of a run."""
        fields = ("edition", "act", "day", "began_at", "ended_at", "problems")
        with transaction(self._engine) as connection:
            connection.execute(runs.insert().values({name: getattr(run, name) for name in fields} | {"report": dict(run.report)}))

    def last(self, edition: str, number: int) -> list[Run]:
        """The newest runs of an edition."""
        statement = select(runs).where(runs.c.edition == edition).order_by(runs.c.began_at.desc(), runs.c.id.desc()).limit(number)
        with transaction(self._engine) as connection:
            return [_run(row) for row in connection.execute(statement).mappings()]

    def last_began_at(self) -> datetime | None:
        """When the newest run of all began."""
        with transaction(self._engine) as connection:
            return connection.execute(select(func.max(runs.c.began_at))).scalar()

    def last_of_each(self, edition: str) -> dict[str, Run]:
        """The newest run of each act."""
        newest = select(func.max(runs.c.id)).where(runs.c.edition == edition).group_by(runs.c.act)
        with transaction(self._engine) as connection:
            return {row["act"]: _run(row) for row in connection.execute(select(runs).where(runs.c.id.in_(newest))).mappings()}

    def last_of_day(self, edition: str, acts: Sequence[str], day: date) -> Run | None:
        """The newest run of one of the acts for a day."""
        where = (runs.c.edition == edition, runs.c.act.in_(acts), runs.c.day == day)
        with transaction(self._engine) as connection:
            row = connection.execute(select(runs).where(*where).order_by(runs.c.id.desc()).limit(1)).mappings().first()
        return None if row is None else _run(row)

    def stand(self, now_true: Mapping[str, str], now: datetime, *, within: Sequence[str]) -> list[Alert]:
        """Notes which alerts stand, by key with their words; those that stand no more are forgotten (only of keys that begin with one of
        ``within``). The ones that nobody was told of."""
        with transaction(self._engine) as connection:
            known = {row.key: row for row in connection.execute(select(alerts))}
            gone = [key for key in known if key not in now_true and key.startswith(tuple(within))]
            connection.execute(delete(alerts).where(alerts.c.key.in_(gone)))
            new = [{"key": key, "message": words, "raised_at": now, "told_at": None} for key, words in now_true.items() if key not in known]
            if new:
                connection.execute(insert(connection, alerts).on_conflict_do_nothing(), new)
            rows = connection.execute(select(alerts).where(alerts.c.told_at.is_(None)).order_by(alerts.c.raised_at, alerts.c.key)).mappings()
            return [Alert(**row) for row in rows]

    def told(self, keys: Sequence[str], now: datetime) -> None:
        """Notes that the owner was told."""
        with transaction(self._engine) as connection:
            connection.execute(update(alerts).where(alerts.c.key.in_(keys)).values(told_at=now))

    def standing(self) -> list[Alert]:
        """Every alert that stands, oldest first."""
        with transaction(self._engine) as connection:
            return [Alert(**row) for row in connection.execute(select(alerts).order_by(alerts.c.raised_at, alerts.c.key)).mappings()]


def _run(row: RowMapping) -> Run:
    return Run(**{str(name): value for name, value in row.items() if name != "id"})
