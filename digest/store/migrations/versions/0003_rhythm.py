"""When to ask again, arXiv's batches, and which text an entry rests on."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("sources", sa.Column("pauses_host", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("sources", sa.Column("rhythm", sa.JSON))
    op.add_column("sources", sa.Column("fresh_until", sa.DateTime))
    op.add_column("sources", sa.Column("due_at", sa.DateTime))
    op.add_column("entries", sa.Column("text_from", sa.String(10), nullable=False, server_default="feed"))
    op.create_table(
        "batches",
        sa.Column("source_name", sa.String(200), primary_key=True),
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("in_feed", sa.Integer),
        sa.Column("listed", sa.Integer),
        sa.Column("taken_in", sa.Integer, nullable=False),
        sa.Column("checked_at", sa.DateTime),
    )
