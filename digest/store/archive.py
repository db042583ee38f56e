"""What was published: issues exactly as composed, the stories they told, and the receipts of their delivery."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime, timedelta

from pydantic import TypeAdapter
from sqlalchemy import Connection, Engine, and_, exists, select, update

from digest.model import Decision, Issue, IssueLine, Receipt, Shelf
from digest.store.database import transaction
from digest.store.entries import insert
from digest.store.tables import decisions, entries, issues, receipts, told

_ISSUE = TypeAdapter(Issue)


class SqlArchive:
    """The Archive on SQLite and PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def issue(self, edition: str, day: date) -> Issue | None:
        with transaction(self._engine) as connection:
            document = connection.execute(select(issues.c.document).where(issues.c.edition == edition, issues.c.day == day)).scalar()
        return None if document is None else _ISSUE.validate_json(document)

    def save(self, issue: Issue, identities: Mapping[str, str], decisions_: Sequence[Decision], read: Collection[str], source_names: Sequence[str]) -> Issue:
        with transaction(self._engine) as connection:
            row = {
                "edition": issue.edition,
                "day": issue.day,
                "since": issue.since,
                "until": issue.until,
                "entries_read": issue.entries_read,
                "articles": len(issue.articles),
                "headlines": {wording.language: wording.headline for wording in issue.articles[0].wordings} if issue.articles else {},
                "document": _ISSUE.dump_json(issue).decode("utf-8"),
            }
            statement = insert(connection, issues).values(row)
            statement = statement.on_conflict_do_update(index_elements=["edition", "day"], set_=row, where=issues.c.entries_read == 0)
            added = connection.execute(statement.returning(issues.c.day)).first() is not None
            if added and decisions_:
                rows = [{"edition": issue.edition, "day": issue.day, **asdict(decision)} for decision in decisions_]
                connection.execute(insert(connection, decisions).on_conflict_do_nothing(), rows)
            if added and identities:
                rows = [{"edition": issue.edition, "identity": name[:600], "day": issue.day, "title": title} for name, title in identities.items()]
                connection.execute(insert(connection, told).on_conflict_do_nothing(), rows)
            if added and issue.entries_read:
                self._put_off(connection, issue, read, source_names)
        archived = self.issue(issue.edition, issue.day)
        assert archived is not None
        return archived

    def _put_off(self, connection: Connection, issue: Issue, read: Collection[str], source_names: Sequence[str]) -> None:
        """What was stored while the issue was made goes to the next one."""
        others = issues.alias()
        elsewhere = exists().where(
            others.c.edition == issue.edition,
            others.c.day != issue.day,
            others.c.entries_read > 0,
            others.c.since < entries.c.seen_at,
            entries.c.seen_at <= others.c.until,
        )
        window = and_(entries.c.seen_at > issue.since, entries.c.seen_at <= issue.until, entries.c.is_backlog.is_(False))
        statement = select(entries.c.key).where(window, entries.c.source_name.in_(source_names), ~elsewhere)
        late = set(connection.execute(statement).scalars()) - set(read)
        if late:
            after = issue.until + timedelta(microseconds=1)
            connection.execute(update(entries).where(entries.c.key.in_(late)).values(seen_at=after))

    def told(self, edition: str, before: date) -> dict[str, tuple[str, str]]:
        statement = select(told.c.identity, told.c.day, told.c.title).where(told.c.edition == edition, told.c.day < before)
        with transaction(self._engine) as connection:
            return {row.identity: (f"{edition}/{row.day.isoformat()}", row.title) for row in connection.execute(statement)}

    def decisions(self, edition: str, day: date) -> list[Decision]:
        columns = (decisions.c.entry_key, decisions.c.topic, decisions.c.score, decisions.c.is_in)
        statement = select(*columns).where(decisions.c.edition == edition, decisions.c.day == day).order_by(decisions.c.entry_key, decisions.c.topic)
        with transaction(self._engine) as connection:
            return [Decision(**row) for row in connection.execute(statement).mappings()]

    def last_until(self, edition: str, before: date) -> datetime | None:
        statement = (
            select(issues.c.until).where(issues.c.edition == edition, issues.c.day < before, issues.c.entries_read > 0).order_by(issues.c.day.desc()).limit(1)
        )
        with transaction(self._engine) as connection:
            return connection.execute(statement).scalar()

    def shelf(self, edition: str, limit: int) -> Shelf:
        newest = select(issues).where(issues.c.edition == edition).order_by(issues.c.day.desc())
        with transaction(self._engine) as connection:
            rows = connection.execute(newest.with_only_columns(issues.c.day, issues.c.articles, issues.c.headlines))
            lines = tuple(IssueLine(day=row.day, articles=row.articles, headlines=row.headlines) for row in rows)
            documents = connection.execute(newest.with_only_columns(issues.c.document).limit(limit)).scalars()
            return Shelf(lines=lines, recent=tuple(_ISSUE.validate_json(document) for document in documents))

    def receipts(self, issue_key: str) -> list[Receipt]:
        statement = select(receipts).where(receipts.c.issue_key == issue_key).order_by(receipts.c.publisher, receipts.c.target)
        with transaction(self._engine) as connection:
            return [Receipt(**row) for row in connection.execute(statement).mappings()]

    def keep(self, receipts_: Sequence[Receipt]) -> None:
        rows = [
            {"publisher": receipt.publisher, "issue_key": receipt.issue_key, "target": receipt.target, "delivered_at": receipt.delivered_at}
            for receipt in receipts_
        ]
        if rows:
            with transaction(self._engine) as connection:
                connection.execute(insert(connection, receipts).on_conflict_do_nothing(), rows)
