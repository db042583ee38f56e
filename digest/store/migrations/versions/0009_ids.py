"""The id of a reader who was erased is never given to another: old signed links carry it."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        with op.batch_alter_table("subscribers", recreate="always", table_kwargs={"sqlite_autoincrement": True}):
            pass
