"""The tables. Every change here needs a migration beside it (``migrations/versions``) and a new ``HEAD``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Date, DateTime, Float, Index, Integer, MetaData, String, Table, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

HEAD = "0010"


class UtcDateTime(TypeDecorator[datetime]):
    """Moments with a zone in, moments in UTC out; stored without zone, which sorts and compares alike everywhere."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


metadata = MetaData()

sources = Table(
    "sources",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("url", Text, nullable=False),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("first_polled_at", UtcDateTime),
    Column("failures", Integer, nullable=False),
    Column("not_before", UtcDateTime),
    Column("is_gone", Boolean, nullable=False),
    Column("moved_to", Text, nullable=False),
    Column("moved_times", Integer, nullable=False),
    Column("paused_host", String(255), nullable=False, server_default=""),
    Column("failure", Text, nullable=False, server_default=""),
    Column("failure_reason", String(20), nullable=False, server_default=""),
    Column("last_new_at", UtcDateTime),
    Column("new_a_week", Float, nullable=False, server_default="0"),
    Column("rhythm", JSON),
    Column("fresh_until", UtcDateTime),
    Column("due_at", UtcDateTime),
)

batches = Table(
    "batches",
    metadata,
    Column("source_name", String(200), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("in_feed", Integer),
    Column("listed", Integer),
    Column("taken_in", Integer, nullable=False),
    Column("checked_at", UtcDateTime),
)

polls = Table(
    "polls",
    metadata,
    Column("source_name", String(200), primary_key=True),
    Column("polled_at", UtcDateTime, primary_key=True),
    Column("state", String(20), nullable=False),
    Column("seen", Integer, nullable=False),
    Column("added", Integer, nullable=False),
    Column("note", Text, nullable=False),
    Column("reason", String(20), nullable=False),
)

entries = Table(
    "entries",
    metadata,
    Column("key", String(600), primary_key=True),
    Column("source_name", String(200), nullable=False),
    Column("url", String(2000), nullable=False),
    Column("arxiv", String(40), nullable=False),
    Column("doi", String(120), nullable=False),
    Column("repository", String(200), nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("language", String(2), nullable=False),
    Column("authors", JSON, nullable=False),
    Column("published_at", UtcDateTime),
    Column("published_by", String(20), nullable=False),
    Column("seen_at", UtcDateTime, nullable=False),
    Column("revision", String(10), nullable=False),
    Column("is_backlog", Boolean, nullable=False),
    Column("text_from", String(10), nullable=False, server_default="feed"),
    Index("entries_by_time", "seen_at", "source_name"),
    Index("entries_by_url", "url"),
    Index("entries_by_arxiv", "arxiv"),
)

issues = Table(
    "issues",
    metadata,
    Column("edition", String(100), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("since", UtcDateTime, nullable=False),
    Column("until", UtcDateTime, nullable=False),
    Column("entries_read", Integer, nullable=False),
    Column("articles", Integer, nullable=False),
    Column("headlines", JSON, nullable=False),
    Column("document", Text, nullable=False),
    Column("languages", JSON),
    Column("listed", String(65), nullable=False, server_default=""),
    Column("changed_at", UtcDateTime),
    # In SQLite what stands behind a long text is only reached through it: a list of ten years would read every issue.
    Index("issues_by_day", "edition", "day", "languages", "articles", "headlines", "changed_at").ddl_if(dialect="sqlite"),
)

articles = Table(
    "articles",
    metadata,
    Column("edition", String(100), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("document", Text, nullable=False),
)

subjects = Table(
    "subjects",
    metadata,
    Column("edition", String(100), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("folder", String(10), primary_key=True),
    Column("key", String(60), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("languages", String(20), nullable=False),
    Index("subjects_by_day", "edition", "folder", "key", "day", "place", "languages"),
    Index("subjects_by_name", "edition", "folder", "key", "name", "kind", "languages", "day"),
)

decisions = Table(
    "decisions",
    metadata,
    Column("edition", String(100), primary_key=True),
    Column("entry_key", String(600), primary_key=True),
    Column("topic", String(60), primary_key=True),
    Column("day", Date, nullable=False),
    Column("score", Float, nullable=False),
    Column("is_in", Boolean, nullable=False),
    Index("decisions_by_day", "edition", "day"),
)

told = Table(
    "told",
    metadata,
    Column("edition", String(100), primary_key=True),
    Column("identity", String(600), primary_key=True),
    Column("day", Date, nullable=False),
    Column("title", Text, nullable=False),
)

answers = Table(
    "answers",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("model", String(200), nullable=False),
    Column("answer", Text, nullable=False),
    Column("kept_at", UtcDateTime),
)

receipts = Table(
    "receipts",
    metadata,
    Column("issue_key", String(120), primary_key=True),
    Column("publisher", String(60), primary_key=True),
    Column("target", String(300), primary_key=True),
    Column("delivered_at", UtcDateTime, nullable=False),
)

subscribers = Table(
    "subscribers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("edition", String(100), nullable=False),
    Column("address", String(320), nullable=False),
    Column("address_hash", String(64), nullable=False),
    Column("languages", JSON, nullable=False),
    Column("topics", JSON, nullable=False),
    Column("rhythm", String(10), nullable=False),
    Column("state", String(10), nullable=False),
    Column("consent_how", String(40), nullable=False),
    Column("consent_at", UtcDateTime, nullable=False),
    Column("consent_evidence", Text, nullable=False),
    Index("subscribers_by_mailbox", "edition", "address_hash", unique=True),
    sqlite_autoincrement=True,  # an id is in signed links: it is never given to another
)

suppressions = Table(
    "suppressions",
    metadata,
    Column("address_hash", String(64), primary_key=True),
    Column("edition", String(100), primary_key=True),
    Column("reason", String(20), nullable=False),
    Column("at", UtcDateTime, nullable=False),
)

mailings = Table(
    "mailings",
    metadata,
    Column("issue_key", String(120), primary_key=True),
    Column("state", String(10), nullable=False),
    Column("why", Text, nullable=False),
    Column("began_at", UtcDateTime, nullable=False),
    Column("document", Text, nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("issue_key", String(120), primary_key=True),
    Column("subscriber", Integer, primary_key=True, autoincrement=False),
    Column("state", String(10), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("next_at", UtcDateTime),
    Column("worker", String(80), nullable=False),
    Column("claimed_at", UtcDateTime),
    Column("code", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Index("deliveries_by_state", "issue_key", "state", "next_at"),
)

signups = Table(
    "signups",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("edition", String(100), nullable=False),
    Column("address", String(320), nullable=False),
    Column("address_hash", String(64), nullable=False),
    Column("languages", JSON, nullable=False),
    Column("topics", JSON, nullable=False),
    Column("rhythm", String(10), nullable=False),
    Column("client", String(60), nullable=False),
    Column("network", String(60), nullable=False),
    Column("language", String(10), nullable=False),
    Column("words", Text, nullable=False),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("mailed_at", UtcDateTime),
    Column("confirmed_at", UtcDateTime),
    Index("signups_by_mailbox", "address_hash", "asked_at"),
    Index("signups_by_network", "network", "asked_at"),
    Index("signups_by_time", "asked_at"),
)

returns = Table(
    "returns",
    metadata,
    Column("fingerprint", String(64), primary_key=True),
    Column("subscriber", Integer, nullable=False),
    Column("kind", String(10), nullable=False),
    Column("status", String(20), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("returns_by_subscriber", "subscriber", "at"),
)

buckets = Table(
    "buckets",
    metadata,
    Column("name", String(300), primary_key=True),
    Column("left", Float, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("day", Date, nullable=False),
    Column("sent", Integer, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("edition", String(100), nullable=False),
    Column("act", String(20), nullable=False),
    Column("day", Date),
    Column("began_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime, nullable=False),
    Column("problems", Integer, nullable=False),
    Column("report", JSON, nullable=False),
    Index("runs_by_time", "began_at"),
)

locks = Table(
    "locks",
    metadata,
    Column("name", String(60), primary_key=True),
    Column("holder", String(100), nullable=False),
    Column("since", UtcDateTime, nullable=False),
    Column("until", UtcDateTime, nullable=False),
)

alerts = Table(
    "alerts",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("message", Text, nullable=False),
    Column("raised_at", UtcDateTime, nullable=False),
    Column("told_at", UtcDateTime),
)
