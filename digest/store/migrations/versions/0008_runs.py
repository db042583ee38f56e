"""What was run, who is at work, and what an owner was told."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("edition", sa.String(100), nullable=False),
        sa.Column("act", sa.String(20), nullable=False),
        sa.Column("day", sa.Date()),
        sa.Column("began_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=False),
        sa.Column("problems", sa.Integer(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
    )
    op.create_index("runs_by_time", "runs", ["began_at"])
    op.create_table(
        "locks",
        sa.Column("name", sa.String(60), primary_key=True),
        sa.Column("holder", sa.String(100), nullable=False),
        sa.Column("since", sa.DateTime(), nullable=False),
        sa.Column("until", sa.DateTime(), nullable=False),
    )
    with op.batch_alter_table("answers") as table:
        table.add_column(sa.Column("kept_at", sa.DateTime()))
    op.create_table(
        "alerts",
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("raised_at", sa.DateTime(), nullable=False),
        sa.Column("told_at", sa.DateTime()),
    )
