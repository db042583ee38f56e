"""When to ask again, arXiv's batches, and which text an entry rests on."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("sources", sa.Column("paused_host", sa.String(255), nullable=False, server_default=""))
    op.add_column("sources", sa.Column("failure", sa.Text, nullable=False, server_default=""))
    op.add_column("sources", sa.Column("failure_reason", sa.String(20), nullable=False, server_default=""))
    op.add_column("sources", sa.Column("last_new_at", sa.DateTime))
    op.add_column("sources", sa.Column("new_a_week", sa.Float, nullable=False, server_default="0"))
    op.execute("UPDATE sources SET last_new_at = (SELECT max(polled_at) FROM polls WHERE polls.source_name = sources.name AND polls.added > 0)")
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
