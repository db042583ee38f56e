"""What was seen: the entries, the validators of their sources, and how each poll went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Connection, Engine, Row, Table, and_, exists, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from digest.model import CacheStamp, Coverage, Download, Entry, Identifiers, Parsed, Source
from digest.store.database import transaction
from digest.store.tables import entries, issues, polls, sources
from digest.text import arxiv_id, canonical_url


def insert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insert that knows ``on_conflict_…``, of the dialect in use."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


class SqlEntryStore:
    """The EntryStore on SQLite and PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def stamps(self) -> Mapping[str, CacheStamp]:
        with transaction(self._engine) as connection:
            rows = connection.execute(select(sources.c.name, sources.c.url, sources.c.etag, sources.c.last_modified))
            return {f"{row.name} {row.url}": CacheStamp(etag=row.etag, last_modified=row.last_modified) for row in rows}

    def remember(self, download: Download, parsed: Parsed, coverage: Coverage) -> int:
        source, now = download.source, download.fetched_at
        with transaction(self._engine) as connection:
            is_first = connection.execute(select(sources.c.name).where(sources.c.name == source.name)).first() is None
            rows = [_row(entry, is_first and _is_old(entry, source, now)) for entry in parsed.entries]
            added = 0
            if rows:
                before = connection.execute(select(func.count()).select_from(entries).where(entries.c.source_name == source.name)).scalar_one()
                connection.execute(insert(connection, entries).on_conflict_do_nothing(), rows)
                after = connection.execute(select(func.count()).select_from(entries).where(entries.c.source_name == source.name)).scalar_one()
                added = after - before
            self._save_stamp(connection, download)
            self._save_poll(connection, coverage, now)
            return added

    def _save_stamp(self, connection: Connection, download: Download) -> None:
        stamp = {"url": download.source.url, "etag": download.stamp.etag, "last_modified": download.stamp.last_modified}
        statement = insert(connection, sources).values(name=download.source.name, first_polled_at=download.fetched_at, **stamp)
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=stamp))

    def _save_poll(self, connection: Connection, coverage: Coverage, now: datetime) -> None:
        outcome = {"state": coverage.state, "seen": coverage.seen, "note": coverage.note}
        statement = insert(connection, polls).values(source_name=coverage.source_name, polled_at=now, **outcome)
        connection.execute(statement.on_conflict_do_update(index_elements=["source_name", "polled_at"], set_=outcome))

    def record(self, source: Source, coverage: Coverage, now: datetime) -> None:
        with transaction(self._engine) as connection:
            self._save_poll(connection, coverage, now)

    def untold(self, edition: str, source_names: Sequence[str], until: datetime) -> list[Entry]:
        in_an_issue = exists().where(and_(issues.c.edition == edition, issues.c.since < entries.c.seen_at, entries.c.seen_at <= issues.c.until))
        statement = (
            select(entries)
            .where(entries.c.seen_at <= until, entries.c.is_backlog.is_(False), entries.c.source_name.in_(source_names), ~in_an_issue)
            .order_by(entries.c.seen_at, entries.c.key)
        )
        with transaction(self._engine) as connection:
            return [_entry(row) for row in connection.execute(statement)]

    def seen(self, source_names: Sequence[str], since: datetime, until: datetime) -> list[Entry]:
        in_time = and_(entries.c.seen_at > since, entries.c.seen_at <= until, entries.c.is_backlog.is_(False))
        statement = select(entries).where(in_time, entries.c.source_name.in_(source_names)).order_by(entries.c.seen_at, entries.c.key)
        with transaction(self._engine) as connection:
            return [_entry(row) for row in connection.execute(statement)]

    def find(self, name: str) -> list[Entry]:
        is_named = or_(entries.c.key == name, entries.c.url == (canonical_url(name) or name), entries.c.arxiv == (arxiv_id(name) or name))
        with transaction(self._engine) as connection:
            return [_entry(row) for row in connection.execute(select(entries).where(is_named).order_by(entries.c.key))]

    def polls(self, source_names: Sequence[str], since: datetime, until: datetime) -> dict[str, Coverage]:
        statement = (
            select(polls).where(polls.c.source_name.in_(source_names), polls.c.polled_at > since, polls.c.polled_at <= until).order_by(polls.c.polled_at)
        )
        with transaction(self._engine) as connection:
            return {
                row.source_name: Coverage(source_name=row.source_name, state=row.state, seen=row.seen, note=row.note) for row in connection.execute(statement)
            }


def _is_old(entry: Entry, source: Source, now: datetime) -> bool:
    if entry.published_at is None:
        return source.kind == "feed"
    return entry.published_at < now - timedelta(days=source.window_days)


def _row(entry: Entry, is_backlog: bool) -> dict[str, Any]:
    return {
        "key": entry.key,
        "source_name": entry.source_name,
        "url": entry.url,
        "arxiv": entry.ids.arxiv,
        "doi": entry.ids.doi,
        "repository": entry.ids.repository[:200],
        "title": entry.title,
        "text": entry.text,
        "language": entry.language,
        "authors": list(entry.authors),
        "published_at": entry.published_at,
        "published_by": entry.published_by,
        "seen_at": entry.seen_at,
        "revision": entry.revision,
        "is_backlog": is_backlog,
    }


def _entry(row: Row[Any]) -> Entry:
    fields = cast(dict[str, Any], dict(row._mapping))
    del fields["is_backlog"]
    ids = Identifiers(**{scheme: fields.pop(scheme) for scheme in ("arxiv", "doi", "repository")})
    return Entry(ids=ids, **{**fields, "authors": tuple(fields["authors"])})
