"""What was seen: the entries, the validators of their sources, and how each poll went."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, Table, and_, false, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from digest.model import MEMORY, UNCHANGED, Batch, CacheStamp, Coverage, Download, Entry, Memory, NextPoll, NotModified, Rhythm, Source
from digest.store.database import transaction
from digest.store.rows import entry_of, row_of
from digest.store.search import index
from digest.store.tables import batches, entries, issues, polls, sources
from digest.text import arxiv_id, canonical_url


def insert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insert that knows ``on_conflict_…``, of the dialect in use."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


_WELL: Mapping[str, Any] = {"failures": 0, "not_before": None, "is_gone": False, "paused_host": "", "failure": "", "failure_reason": ""}
_UNKNOWN: Mapping[str, Any] = {"etag": None, "last_modified": None, "moved_to": "", "moved_times": 0, "rhythm": None, "fresh_until": None}
_RHYTHM_DAYS = 28


class SqlEntryStore:
    """The EntryStore on SQLite and PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def memories(self, now: datetime) -> Mapping[str, Memory]:
        lately = and_(polls.c.polled_at > now - MEMORY, polls.c.polled_at <= now)
        usual: defaultdict[str, list[int]] = defaultdict(list)
        last_well: dict[str, datetime] = {}
        with transaction(self._engine) as connection:
            for poll in connection.execute(select(polls).where(lately).order_by(polls.c.polled_at)):
                if poll.state == "complete":
                    usual[poll.source_name].append(poll.seen)
                if poll.state != "failed":
                    last_well[poll.source_name] = poll.polled_at
            return {
                row.name: Memory(
                    url=row.url,
                    stamp=CacheStamp(etag=row.etag, last_modified=row.last_modified),
                    usual=tuple(usual[row.name]),
                    new_a_week=row.new_a_week,
                    last_well_at=last_well.get(row.name),
                    last_new_at=row.last_new_at,
                    failures=row.failures,
                    failure=row.failure,
                    reason=row.failure_reason,
                    not_before=row.not_before,
                    is_gone=row.is_gone,
                    moved_to=row.moved_to,
                    moved_times=row.moved_times,
                    paused_host=row.paused_host,
                    rhythm=_rhythm(row.rhythm),
                    next_poll=NextPoll(fresh_until=row.fresh_until, due_at=row.due_at),
                )
                for row in connection.execute(select(sources))
            }

    def known(self, source: Source, entries_: Sequence[Entry]) -> set[str]:
        of_source = entries.c.source_name == source.name
        urls = Counter(entry.url for entry in entries_ if entry.url)
        alone = [url for url, times in urls.items() if times == 1] if source.kind != "arxiv" else []
        with transaction(self._engine) as connection:
            keys = set(connection.execute(select(entries.c.key).where(entries.c.key.in_([entry.key for entry in entries_]))).scalars())
            addresses = set(connection.execute(select(entries.c.url).where(of_source, entries.c.url.in_(alone))).scalars()) if alone else set()
        return keys | {entry.key for entry in entries_ if entry.url in addresses}

    def remember(self, download: Download, entries_: Sequence[Entry], coverage: Coverage, rhythm: Rhythm, next_poll: NextPoll) -> None:
        source, now = download.source, download.fetched_at
        with transaction(self._engine) as connection:
            earlier = connection.execute(select(sources).where(sources.c.name == source.name)).first()
            is_first = earlier is None or earlier.first_polled_at is None
            if entries_:
                seen_at = self._after_issues(connection, now)
                rows = [row_of(entry, is_first and _is_old(entry, source, now)) | {"seen_at": seen_at} for entry in entries_]
                self._save(connection, rows)
            fresh = {
                **_answered(earlier, source, download.stamp, download.moved_to),
                **_planned(next_poll),
                "rhythm": asdict(rhythm),
                "first_polled_at": now if is_first or earlier is None else earlier.first_polled_at,
            }
            if entries_:
                fresh |= {"last_new_at": now, "new_a_week": 0.0 if is_first else self._new_a_week(connection, source.name, now, len(entries_))}
            self._save_source(connection, source, {**_WELL, **fresh})
            self._save_poll(connection, coverage, now, len(entries_))

    def _new_a_week(self, connection: Connection, name: str, now: datetime, added: int) -> float:
        """How many entries were new a week over the last four, without those that had gathered before the first poll."""
        lately = select(polls.c.polled_at, polls.c.added).where(polls.c.source_name == name, polls.c.polled_at > now - timedelta(days=_RHYTHM_DAYS))
        rows = connection.execute(lately.where(polls.c.polled_at < now).order_by(polls.c.polled_at)).all()
        since = rows[0].polled_at if rows else now
        return float(7 * (sum(row.added for row in rows[1:]) + added) / max(1.0, (now - since) / timedelta(days=1)))

    def _after_issues(self, connection: Connection, now: datetime) -> datetime:
        """The moment itself, or the next one after the issues that had read up to it: what they could not know is not theirs."""
        covering = select(func.max(issues.c.until)).where(issues.c.since < now, issues.c.until >= now, issues.c.entries_read > 0)
        until = connection.execute(covering).scalar()
        return now if until is None else until + timedelta(microseconds=1)

    def _save_source(self, connection: Connection, source: Source, values: Mapping[str, Any]) -> None:
        row = {"name": source.name, "url": source.url, "moved_to": "", "moved_times": 0, **_WELL, **values}
        statement = insert(connection, sources).values(row)
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=dict(values)))

    def _save_poll(self, connection: Connection, coverage: Coverage, now: datetime, added: int) -> None:
        outcome = {"state": coverage.state, "seen": coverage.seen, "note": coverage.note, "reason": coverage.reason}
        statement = insert(connection, polls).values(source_name=coverage.source_name, polled_at=now, added=added, **outcome)
        again = {**outcome, "added": polls.c.added + added}
        connection.execute(statement.on_conflict_do_update(index_elements=["source_name", "polled_at"], set_=again))

    def record(
        self, source: Source, coverage: Coverage, now: datetime, answer: NotModified | None = None, next_poll: NextPoll | None = None, added: int = 0
    ) -> None:
        with transaction(self._engine) as connection:
            if coverage.note != UNCHANGED or not self._has_poll(connection, source, now):
                self._save_poll(connection, coverage, now, added)
            values: dict[str, Any] = (_planned(next_poll) if next_poll else {}) | ({"last_new_at": now} if added else {})
            if answer is not None:
                earlier = connection.execute(select(sources).where(sources.c.name == source.name)).first()
                values |= {**_WELL, **_answered(earlier, source, answer.stamp, answer.moved_to)}
            if values:
                connection.execute(update(sources).where(sources.c.name == source.name).values(values))

    def pause(self, source: Source, coverage: Coverage, now: datetime, until: datetime | None, *, failures: int, is_gone: bool, paused_host: str = "") -> None:
        values = {"url": source.url, "failures": failures, "not_before": until, "due_at": until, "is_gone": is_gone, "paused_host": paused_host}
        values |= {"failure": coverage.note, "failure_reason": coverage.reason, "moved_to": "", "moved_times": 0}
        with transaction(self._engine) as connection:
            earlier = connection.execute(select(sources.c.url).where(sources.c.name == source.name)).scalar()
            if earlier is not None and earlier != source.url:
                values |= _UNKNOWN  # what another address said counts no more
            self._save_source(connection, source, values)
            self._save_poll(connection, coverage, now, 0)

    def batches(self, source_names: Sequence[str], since: date) -> dict[tuple[str, date], Batch]:
        other = batches.alias()
        newest = select(func.max(other.c.day)).where(other.c.source_name == batches.c.source_name).scalar_subquery()
        statement = select(batches).where(batches.c.source_name.in_(source_names), or_(batches.c.day >= since, batches.c.day == newest))
        with transaction(self._engine) as connection:
            return {(row.source_name, row.day): Batch(**row._mapping) for row in connection.execute(statement)}

    def keep_batch(self, batch: Batch) -> None:
        values = asdict(batch)
        with transaction(self._engine) as connection:
            statement = insert(connection, batches).values(values)
            connection.execute(statement.on_conflict_do_update(index_elements=["source_name", "day"], set_=values))

    def take_in(self, entries_: Sequence[Entry], now: datetime) -> int:
        with transaction(self._engine) as connection:
            seen_at = self._after_issues(connection, now)
            return self._save(connection, [row_of(entry, False) | {"seen_at": seen_at} for entry in entries_])

    def _save(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> int:
        """Adds the entries that are not there, and makes them findable; how many were new."""
        if not rows:
            return 0
        added = set(connection.execute(insert(connection, entries).on_conflict_do_nothing().returning(entries.c.key), rows).scalars())
        index(connection, [row for row in rows if row["key"] in added])
        return len(added)

    def known_papers(self, source_name: str, names: Sequence[str]) -> set[str]:
        statement = select(entries.c.arxiv).where(entries.c.source_name == source_name, entries.c.arxiv.in_(names))
        with transaction(self._engine) as connection:
            return set(connection.execute(statement).scalars())

    def _has_poll(self, connection: Connection, source: Source, now: datetime) -> bool:
        there = select(polls.c.state).where(polls.c.source_name == source.name, polls.c.polled_at == now)
        return connection.execute(there).first() is not None

    def untold(self, edition: str, source_names: Sequence[str], since: datetime, until: datetime) -> list[Entry]:
        in_time = (entries.c.seen_at > since, entries.c.seen_at <= until, entries.c.is_backlog.is_(False), entries.c.source_name.in_(source_names))
        with transaction(self._engine) as connection:
            statement = select(entries).where(*in_time, ~in_issues(connection, edition, since, until)).order_by(entries.c.seen_at, entries.c.key)
            return [entry_of(row._mapping) for row in connection.execute(statement)]

    def seen(self, source_names: Sequence[str], since: datetime, until: datetime) -> list[Entry]:
        with transaction(self._engine) as connection:
            return [entry_of(row._mapping) for row in connection.execute(_seen(select(entries), source_names, since, until))]

    def texts(self, source_names: Sequence[str], since: datetime, until: datetime) -> list[tuple[str, str]]:
        words = select(entries.c.key, entries.c.title, entries.c.text).where(entries.c.revision != "replaced")
        with transaction(self._engine) as connection:
            return [(row.key, f"{row.title}\n{row.text}") for row in connection.execute(_seen(words, source_names, since, until))]

    def find(self, name: str) -> list[Entry]:
        ways = [entries.c.key == name, entries.c.url == (canonical_url(name) or name)]
        if paper := arxiv_id(name) or ("" if "://" in name else name):
            ways.append(entries.c.arxiv == paper)
        with transaction(self._engine) as connection:
            return [entry_of(row._mapping) for row in connection.execute(select(entries).where(or_(*ways)).order_by(entries.c.key))]

    def polls(self, source_names: Sequence[str], since: datetime, until: datetime) -> dict[str, Coverage]:
        statement = (
            select(polls).where(polls.c.source_name.in_(source_names), polls.c.polled_at > since, polls.c.polled_at <= until).order_by(polls.c.polled_at)
        )
        found: dict[str, Coverage] = {}
        with transaction(self._engine) as connection:
            for row in connection.execute(statement):
                earlier = found.get(row.source_name)
                if row.note != UNCHANGED or earlier is None or earlier.state == "failed":
                    found[row.source_name] = Coverage(source_name=row.source_name, state=row.state, seen=row.seen, note=row.note, reason=row.reason)
        return found


def _seen(statement: Select[Any], source_names: Sequence[str], since: datetime, until: datetime) -> Select[Any]:
    in_time = and_(entries.c.seen_at > since, entries.c.seen_at <= until, entries.c.is_backlog.is_(False))
    return statement.where(in_time, entries.c.source_name.in_(source_names)).order_by(entries.c.seen_at, entries.c.key)


def in_issues(connection: Connection, edition: str, since: datetime, until: datetime, *, but: date | None = None) -> ColumnElement[bool]:
    """The condition that an entry seen in that time lies in an issue of the edition (of another day than ``but``). Their few windows are
    looked up first: joined entry by entry, ten years of issues would be read for each."""
    own = (issues.c.edition == edition, issues.c.entries_read > 0, issues.c.until > since, issues.c.since < until)
    windows = connection.execute(select(issues.c.day, issues.c.since, issues.c.until).where(*own)).all()
    return or_(false(), *(and_(entries.c.seen_at > row.since, entries.c.seen_at <= row.until) for row in windows if row.day != but))


def _answered(earlier: Row[Any] | None, source: Source, stamp: CacheStamp, moved_to: str) -> dict[str, Any]:
    """What an answer says of its source; a permanent move counts how often in a row it was said alike."""
    is_same = earlier is not None and earlier.url == source.url and earlier.moved_to == moved_to
    times = (earlier.moved_times if is_same and earlier is not None else 0) + 1 if moved_to else 0
    return {"url": source.url, "etag": stamp.etag, "last_modified": stamp.last_modified, "moved_to": moved_to, "moved_times": times}


def _planned(next_poll: NextPoll) -> dict[str, Any]:
    return {"fresh_until": next_poll.fresh_until, "due_at": next_poll.due_at}


def _rhythm(stored: dict[str, Any] | None) -> Rhythm:
    found = stored or {}
    return Rhythm(ttl_minutes=found.get("ttl_minutes", 0), skip_hours=tuple(found.get("skip_hours", ())), skip_days=tuple(found.get("skip_days", ())))


def _is_old(entry: Entry, source: Source, now: datetime) -> bool:
    if entry.published_at is None:
        return source.kind == "feed"
    return entry.published_at < now - timedelta(days=source.window_days)
