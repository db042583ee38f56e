"""What was published: issues exactly as composed, the stories they told, and the receipts of their delivery."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, datetime, timedelta
from hashlib import sha256

from pydantic import TypeAdapter
from sqlalchemy import Connection, Engine, and_, delete, func, select, update

from digest.lines import article_lines, issue_line
from digest.model import ArticleLine, Decision, Issue, IssueLine, Language, Receipt, Subject, SubjectKey
from digest.store import listed
from digest.store.database import reading, transaction
from digest.store.entries import in_issues, insert
from digest.store.tables import articles, decisions, entries, issues, receipts, told

_ISSUE = TypeAdapter(Issue)
_CONTENT = TypeAdapter(tuple[dict[Language, str], tuple[ArticleLine, ...], tuple[tuple[str, ...], ...]])
_CLAIM = "chat, begun"
_WAITING = "?"  # before the hash of what was listed and has not gone out


class SqlArchive:
    """The Archive on SQLite and PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def issue(self, edition: str, day: date) -> Issue | None:
        with reading(self._engine) as connection:
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
                "headlines": issue_line(issue).headlines,
                "languages": list(issue.languages),
                "listed": _content(issue),
                "changed_at": None,
                "document": _ISSUE.dump_json(issue).decode("utf-8"),
            }
            statement = insert(connection, issues).values(row)
            statement = statement.on_conflict_do_update(index_elements=["edition", "day"], set_=row, where=issues.c.entries_read == 0)
            added = connection.execute(statement.returning(issues.c.day)).first() is not None
            if added:
                listed.put(connection, issue.edition, issue.day, article_lines(issue))
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

    def list_as(self, issue: Issue, now: datetime) -> bool:
        with transaction(self._engine) as connection:
            where = (issues.c.edition == issue.edition, issues.c.day == issue.day)
            before = connection.execute(select(issues.c.listed).where(*where)).scalar_one()
            if not before:  # archived before this was kept
                before = _content(_ISSUE.validate_json(connection.execute(select(issues.c.document).where(*where)).scalar_one()))
            content = _content(issue)
            if content == before:
                return False
            if before == f"{_WAITING}{content}":
                return True
            known = {line.story: line for line in listed.lines(connection, articles.c.edition == issue.edition, articles.c.day == issue.day)}
            listed.put(connection, issue.edition, issue.day, [_dated(line, known.get(line.story), now) for line in article_lines(issue)])
            line = issue_line(issue)
            values = {"articles": line.articles, "headlines": line.headlines, "listed": f"{_WAITING}{content}", "changed_at": now}
            connection.execute(update(issues).where(*where).values(values))
            return True

    def confirm(self, issue: Issue) -> None:
        where = (issues.c.edition == issue.edition, issues.c.day == issue.day, issues.c.listed.startswith(_WAITING))
        with transaction(self._engine) as connection:
            connection.execute(update(issues).where(*where).values(listed=func.substr(issues.c.listed, len(_WAITING) + 1)))

    def undelivered(self, edition: str) -> list[date]:
        own = (receipts.c.publisher == "folder", receipts.c.issue_key.startswith(f"{edition}/", autoescape=True))
        with reading(self._engine) as connection:
            delivered = set(connection.execute(select(receipts.c.issue_key).where(*own)).scalars())
        return [day for day in self.days(edition) if f"{edition}/{day.isoformat()}" not in delivered]

    def days(self, edition: str) -> list[date]:
        with reading(self._engine) as connection:
            return list(connection.execute(select(issues.c.day).where(issues.c.edition == edition).order_by(issues.c.day)).scalars())

    def _put_off(self, connection: Connection, issue: Issue, read: Collection[str], source_names: Sequence[str]) -> None:
        """What was stored while the issue was made goes to the next one."""
        elsewhere = in_issues(connection, issue.edition, issue.since, issue.until, but=issue.day)
        window = and_(entries.c.seen_at > issue.since, entries.c.seen_at <= issue.until, entries.c.is_backlog.is_(False))
        statement = select(entries.c.key).where(window, entries.c.source_name.in_(source_names), ~elsewhere)
        late = set(connection.execute(statement).scalars()) - set(read)
        if late:
            after = issue.until + timedelta(microseconds=1)
            connection.execute(update(entries).where(entries.c.key.in_(late)).values(seen_at=after))

    def told(self, edition: str, before: date) -> dict[str, tuple[str, str]]:
        statement = select(told.c.identity, told.c.day, told.c.title).where(told.c.edition == edition, told.c.day < before)
        with reading(self._engine) as connection:
            return {row.identity: (f"{edition}/{row.day.isoformat()}", row.title) for row in connection.execute(statement)}

    def decisions(self, edition: str, day: date) -> list[Decision]:
        columns = (decisions.c.entry_key, decisions.c.topic, decisions.c.score, decisions.c.is_in)
        statement = select(*columns).where(decisions.c.edition == edition, decisions.c.day == day).order_by(decisions.c.entry_key, decisions.c.topic)
        with reading(self._engine) as connection:
            return [Decision(**row) for row in connection.execute(statement).mappings()]

    def last_until(self, edition: str, before: date) -> datetime | None:
        statement = (
            select(issues.c.until).where(issues.c.edition == edition, issues.c.day < before, issues.c.entries_read > 0).order_by(issues.c.day.desc()).limit(1)
        )
        with reading(self._engine) as connection:
            return connection.execute(statement).scalar()

    def newest(self, edition: str, number: int) -> tuple[Issue, ...]:
        statement = select(issues.c.document).where(issues.c.edition == edition).order_by(issues.c.day.desc()).limit(number)
        with reading(self._engine) as connection:
            return tuple(_ISSUE.validate_json(document) for document in connection.execute(statement).scalars())

    def lines(self, edition: str, number: int | None = None) -> tuple[IssueLine, ...]:
        columns = (issues.c.day, issues.c.languages, issues.c.articles, issues.c.headlines, issues.c.changed_at)
        statement = select(*columns).where(issues.c.edition == edition).order_by(issues.c.day.desc()).limit(number)
        with reading(self._engine) as connection:
            rows = connection.execute(statement).all()
            return tuple(
                IssueLine(day=day, languages=tuple(languages or headlines), articles=number_, headlines=headlines, changed_at=changed_at)
                for day, languages, number_, headlines, changed_at in rows
            )

    def articles(self, edition: str, since: date = date.min) -> tuple[ArticleLine, ...]:
        with reading(self._engine) as connection:
            return listed.lines(connection, articles.c.edition == edition, articles.c.day >= since)

    def subjects(self, edition: str, asked: Collection[SubjectKey], held: Collection[date] = ()) -> tuple[Subject, ...]:
        with reading(self._engine) as connection:
            return listed.find_subjects(connection, edition, asked, held)

    def receipts(self, issue_key: str) -> list[Receipt]:
        statement = select(receipts).where(receipts.c.issue_key == issue_key, receipts.c.publisher != _CLAIM).order_by(receipts.c.publisher, receipts.c.target)
        with reading(self._engine) as connection:
            return [Receipt(**row) for row in connection.execute(statement).mappings()]

    def claim(self, issue_key: str, target: str, now: datetime) -> bool:
        """Notes that a channel is about to get an issue; False when that was noted before."""
        row = {"issue_key": issue_key, "publisher": _CLAIM, "target": target, "delivered_at": now}
        with transaction(self._engine) as connection:
            statement = insert(connection, receipts).values(row).on_conflict_do_nothing().returning(receipts.c.target)
            return connection.execute(statement).first() is not None

    def release(self, issue_key: str, target: str) -> None:
        """Takes the note back: the channel refused."""
        own = (receipts.c.issue_key == issue_key, receipts.c.publisher == _CLAIM, receipts.c.target == target)
        with transaction(self._engine) as connection:
            connection.execute(delete(receipts).where(*own))

    def keep(self, receipts_: Sequence[Receipt]) -> None:
        rows = [
            {"publisher": receipt.publisher, "issue_key": receipt.issue_key, "target": receipt.target, "delivered_at": receipt.delivered_at}
            for receipt in receipts_
        ]
        if rows:
            with transaction(self._engine) as connection:
                connection.execute(insert(connection, receipts).on_conflict_do_nothing(), rows)


def _dated(line: ArticleLine, known: ArticleLine | None, now: datetime) -> ArticleLine:
    """The line with the moment of its last change and its first place: what is listed alike stays as it is."""
    if known is None:
        return replace(line, changed_at=now)
    line = replace(line, place=known.place, changed_at=known.changed_at)
    return known if line == known else replace(line, changed_at=now)


def _content(issue: Issue) -> str:
    """A hash that changes when anything changes that a reader is told: letters, articles, their order, words, figures and sources."""
    quotes = tuple(wording.quotes for article in issue.articles for wording in article.wordings)
    return sha256(_CONTENT.dump_json((issue.letters, article_lines(issue), quotes))).hexdigest()
