"""What each article is about, mentions and comes from, so that lists count it without reading the articles; indexes for lists of issues and for arXiv ids."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_NAMED = ("method", "model", "hardware", "organisation", "framework", "venue")


def upgrade() -> None:
    table = op.create_table(
        "subjects",
        sa.Column("edition", sa.String(100), primary_key=True),
        sa.Column("day", sa.Date(), primary_key=True),
        sa.Column("place", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("folder", sa.String(10), primary_key=True),
        sa.Column("key", sa.String(60), primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("languages", sa.String(20), nullable=False),
    )
    op.create_index("entries_by_arxiv", "entries", ["arxiv"])
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        op.create_index("issues_by_day", "issues", ["edition", "day", "languages", "articles", "headlines", "changed_at"])
    articles = sa.table(
        "articles", sa.column("edition", sa.String()), sa.column("day", sa.Date()), sa.column("place", sa.Integer()), sa.column("document", sa.Text())
    )
    for edition in connection.execute(sa.select(articles.c.edition).distinct()).scalars().all():
        for day in connection.execute(sa.select(articles.c.day).where(articles.c.edition == edition).distinct()).scalars().all():
            own = connection.execute(sa.select(articles.c.place, articles.c.document).where(articles.c.edition == edition, articles.c.day == day))
            rows = [{"edition": edition, "day": day, "place": place, **row} for place, document in own for row in _subjects(json.loads(document))]
            connection.execute(table.insert(), rows)
    op.create_index("subjects_by_day", "subjects", ["edition", "folder", "key", "day", "place", "languages"])
    op.create_index("subjects_by_name", "subjects", ["edition", "folder", "key", "name", "kind", "languages", "day"])


def _subjects(line: dict[str, Any]) -> Iterator[dict[str, str]]:
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for folder, name, kind in _named(line):
        found.setdefault((folder, _slug(name)), (name[:200], kind))
    for (folder, key), (name, kind) in found.items():
        yield {"folder": folder, "key": key, "name": name, "kind": kind, "languages": "+".join(sorted(line["headlines"]))}


def _named(line: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for tag in line["tags"]:
        yield "topics", tag, "topic"
    for kind in _NAMED:
        for name in line["names"].get(kind, ()):
            yield "entities", name, kind
    yield "sources", line["source_name"], line["trust"]


def _slug(name: str) -> str:
    plain = re.sub(r"[\s_/-]+", "-", name.casefold()).strip("-")
    if re.fullmatch(r"[a-z0-9]+(?:[-.][a-z0-9]+)*", plain) and len(plain) <= 60 and plain not in ("zh", "en", "index"):
        return plain
    rest = re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-")
    return "-".join(part for part in (rest, sha256(name.encode()).hexdigest()[:8]) if part)
