"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("etag", sa.Text),
        sa.Column("last_modified", sa.Text),
        sa.Column("first_polled_at", sa.DateTime),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("not_before", sa.DateTime),
        sa.Column("is_gone", sa.Boolean, nullable=False),
        sa.Column("moved_to", sa.Text, nullable=False),
        sa.Column("moved_times", sa.Integer, nullable=False),
    )
    op.create_table(
        "polls",
        sa.Column("source_name", sa.String(200), primary_key=True),
        sa.Column("polled_at", sa.DateTime, primary_key=True),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("seen", sa.Integer, nullable=False),
        sa.Column("added", sa.Integer, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("reason", sa.String(20), nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("key", sa.String(600), primary_key=True),
        sa.Column("source_name", sa.String(200), nullable=False),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("arxiv", sa.String(40), nullable=False),
        sa.Column("doi", sa.String(120), nullable=False),
        sa.Column("repository", sa.String(200), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("language", sa.String(2), nullable=False),
        sa.Column("authors", sa.JSON, nullable=False),
        sa.Column("published_at", sa.DateTime),
        sa.Column("published_by", sa.String(20), nullable=False),
        sa.Column("seen_at", sa.DateTime, nullable=False),
        sa.Column("revision", sa.String(10), nullable=False),
        sa.Column("is_backlog", sa.Boolean, nullable=False),
    )
    op.create_index("entries_by_time", "entries", ["seen_at", "source_name"])
    op.create_index("entries_by_url", "entries", ["url"])
    op.create_table(
        "issues",
        sa.Column("edition", sa.String(100), primary_key=True),
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("since", sa.DateTime, nullable=False),
        sa.Column("until", sa.DateTime, nullable=False),
        sa.Column("entries_read", sa.Integer, nullable=False),
        sa.Column("articles", sa.Integer, nullable=False),
        sa.Column("headlines", sa.JSON, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "decisions",
        sa.Column("edition", sa.String(100), primary_key=True),
        sa.Column("entry_key", sa.String(600), primary_key=True),
        sa.Column("topic", sa.String(60), primary_key=True),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("score", sa.Float, nullable=False),
        sa.Column("is_in", sa.Boolean, nullable=False),
    )
    op.create_index("decisions_by_day", "decisions", ["edition", "day"])
    op.create_table(
        "told",
        sa.Column("edition", sa.String(100), primary_key=True),
        sa.Column("identity", sa.String(600), primary_key=True),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
    )
    op.create_table(
        "receipts",
        sa.Column("issue_key", sa.String(120), primary_key=True),
        sa.Column("publisher", sa.String(60), primary_key=True),
        sa.Column("target", sa.String(300), primary_key=True),
        sa.Column("delivered_at", sa.DateTime, nullable=False),
    )
