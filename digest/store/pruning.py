"""What is older than wished is forgotten, by kind. Issues, receipts, readers and who must not be written to stay for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Engine, Table, delete, func, select, text, update

from digest.store.database import transaction
from digest.store.tables import answers, decisions, deliveries, entries, mailings, polls, returns, runs


def prune(engine: Engine, since: Mapping[str, datetime], *, is_dry: bool = False) -> dict[str, int]:
    """Forgets what each kind holds from before its moment; how many rows of each table. Of an entry that no issue told the words go and
    the key stays: a feed that still lists it must not bring it as new. ``is_dry``: only counts."""
    found: dict[str, int] = {}
    for kind, moment in since.items():
        for table, where in _old(kind, moment):
            with transaction(engine) as connection:
                number = int(connection.execute(select(func.count()).select_from(table).where(where)).scalar_one())
                found[table.name] = found.get(table.name, 0) + number
                if is_dry or not number:
                    continue
                if table is entries:
                    keys = [row[0] for row in connection.execute(select(entries.c.key).where(where))]
                    connection.execute(update(entries).where(where).values(text="", authors=[]))
                    connection.execute(text("DELETE FROM search WHERE key = :key"), [{"key": key} for key in keys])
                else:
                    connection.execute(delete(table).where(where))
    return found


def _old(kind: str, moment: datetime) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    if kind == "runs":
        yield runs, runs.c.began_at < moment
        yield polls, polls.c.polled_at < moment
    elif kind == "mails":
        done = select(mailings.c.issue_key).where(mailings.c.began_at < moment, mailings.c.state == "done")
        yield deliveries, deliveries.c.issue_key.in_(done)
        yield returns, returns.c.at < moment
    elif kind == "answers":
        yield answers, answers.c.kept_at < moment
    elif kind == "entries":
        told = select(decisions.c.entry_key).where(decisions.c.is_in)
        yield entries, (entries.c.seen_at < moment) & (entries.c.text != "") & entries.c.key.not_in(told)
