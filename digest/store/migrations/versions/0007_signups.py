"""Sign-ups that wait for their confirmation, and mails that came back."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "signups",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("edition", sa.String(100), nullable=False),
        sa.Column("address", sa.String(320), nullable=False),
        sa.Column("address_hash", sa.String(64), nullable=False),
        sa.Column("languages", sa.JSON(), nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("rhythm", sa.String(10), nullable=False),
        sa.Column("client", sa.String(60), nullable=False),
        sa.Column("network", sa.String(60), nullable=False),
        sa.Column("language", sa.String(10), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(), nullable=False),
        sa.Column("mailed_at", sa.DateTime()),
        sa.Column("confirmed_at", sa.DateTime()),
    )
    op.create_index("signups_by_mailbox", "signups", ["address_hash", "asked_at"])
    op.create_index("signups_by_network", "signups", ["network", "asked_at"])
    op.create_index("signups_by_time", "signups", ["asked_at"])
    op.create_table(
        "returns",
        sa.Column("fingerprint", sa.String(64), primary_key=True),
        sa.Column("subscriber", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
    )
    op.create_index("returns_by_subscriber", "returns", ["subscriber", "at"])
