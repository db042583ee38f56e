"""Subscribers, who must not be written to, and a ledger of every mail."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "subscribers",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("edition", sa.String(100), nullable=False),
        sa.Column("address", sa.String(320), nullable=False),
        sa.Column("address_hash", sa.String(64), nullable=False),
        sa.Column("languages", sa.JSON(), nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("rhythm", sa.String(10), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("consent_how", sa.String(40), nullable=False),
        sa.Column("consent_at", sa.DateTime(), nullable=False),
        sa.Column("consent_evidence", sa.Text(), nullable=False),
    )
    op.create_index("subscribers_by_mailbox", "subscribers", ["edition", "address_hash"], unique=True)
    op.create_table(
        "suppressions",
        sa.Column("address_hash", sa.String(64), primary_key=True),
        sa.Column("edition", sa.String(100), primary_key=True),
        sa.Column("reason", sa.String(20), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "mailings",
        sa.Column("issue_key", sa.String(120), primary_key=True),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("began_at", sa.DateTime(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
    )
    op.create_table(
        "deliveries",
        sa.Column("issue_key", sa.String(120), primary_key=True),
        sa.Column("subscriber", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime()),
        sa.Column("worker", sa.String(80), nullable=False),
        sa.Column("claimed_at", sa.DateTime()),
        sa.Column("code", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
    )
    op.create_index("deliveries_by_state", "deliveries", ["issue_key", "state", "next_at"])
    op.create_table(
        "buckets",
        sa.Column("name", sa.String(300), primary_key=True),
        sa.Column("left", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("sent", sa.Integer(), nullable=False),
    )
