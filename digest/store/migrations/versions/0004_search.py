"""Full text search over all entries."""

import sqlalchemy as sa
from alembic import op

from digest.store.search import index

revision = "0004"
down_revision = "0003"
_AT_A_TIME = 2000


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        op.execute("CREATE TABLE search (key VARCHAR(600) PRIMARY KEY, words TSVECTOR NOT NULL)")
        op.execute("CREATE INDEX search_by_words ON search USING GIN (words)")
    else:
        op.execute("CREATE VIRTUAL TABLE search USING fts5(key UNINDEXED, title, text, tokenize = 'porter unicode61 remove_diacritics 2')")
    last = ""
    while rows := connection.execute(
        sa.text("SELECT key, title, text FROM entries WHERE key > :last ORDER BY key LIMIT :limit"), {"last": last, "limit": _AT_A_TIME}
    ).all():
        index(connection, [dict(row._mapping) for row in rows])
        last = rows[-1].key
