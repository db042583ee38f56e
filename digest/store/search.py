"""Full text search over every entry that was ever collected, in Chinese and English: FTS5 on SQLite, tsvector on PostgreSQL.

Neither knows where Chinese words end, so Chinese is indexed by pairs of characters (训练加速: 训练 练加 加速) and a longer word is
searched as the phrase of its pairs. Both sides go through ``read.folding.fold``: one case, one script, hyphens as spaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Float, String, exists, func, select, text

from digest.errors import StoreError
from digest.model import Entry
from digest.read.folding import fold
from digest.store.database import transaction
from digest.store.rows import entry_of
from digest.store.tables import decisions, entries

_HAN = re.compile(r"[\u3400-\u9fff]+")
_LONG_HAN = re.compile(r"[\u3400-\u9fff]{4,}")
_TERM = re.compile(r'(?P<not>-)?(?:"(?P<phrase>[^"]+)"|(?P<word>[^\s"]+))')
_TOKEN = re.compile(r"[\w]+")
_STOP = frozenset("a an and are as at be by for from if in into is it no not of on or such that the their then there these they this to was will with".split())
TERMS_LIMIT = 20
RANKED = 20_000


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to find: tokens in a row; the last may be the beginning of a word only."""

    tokens: tuple[str, ...]
    is_beginning: bool = False
    is_excluded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The entries of a page of results, best first, and how many there are in all; ``is_cut``: older ones were not looked at."""

    entries: tuple[Entry, ...]
    total: int
    is_cut: bool = False


def indexed(words: str) -> str:
    """The words as they are indexed: folded, Chinese in pairs."""
    return _HAN.sub(lambda match: f" {' '.join(_pairs(match[0]))} ", fold(words))


def terms(query: str) -> tuple[Term, ...]:
    """What a person typed, understood: every word must be there, "a phrase" in a row, -word not at all, wor* as a beginning; little
    words count in phrases only. Raises StoreError when nothing is left to look for."""
    found = [term for match in _TERM.finditer(query) for term in _read(match)][:TERMS_LIMIT]
    if all(term.is_excluded for term in found):
        raise StoreError("nothing to look for; give at least one word")
    return tuple(found)


def _read(match: re.Match[str]) -> list[Term]:
    """The terms of a word or phrase; a longer Chinese word that is not quoted is several words, as far as anybody can tell."""
    written = match["phrase"] or match["word"]
    if not match["phrase"] and (long := _LONG_HAN.fullmatch(fold(written))):
        halves = [long[0][place : place + 2] for place in range(0, len(long[0]) - 1, 2)]
        return [Term((half,), is_excluded=bool(match["not"])) for half in dict.fromkeys([*halves, long[0][-2:]])]
    tokens: list[str] = []
    for part in _TOKEN.findall(fold(written)):
        place = 0
        for han in _HAN.finditer(part):
            tokens += [part[place : han.start()]] if han.start() > place else []
            tokens += _pairs(han[0])
            place = han.end()
        tokens += [part[place:]] if place < len(part) else []
    if not tokens or (len(tokens) == 1 and tokens[0] in _STOP):
        return []
    is_single = len(tokens[-1]) == 1 and _HAN.fullmatch(tokens[-1]) is not None
    return [Term(tuple(tokens), is_beginning=written.endswith("*") or is_single, is_excluded=bool(match["not"]))]


def _pairs(han: str) -> list[str]:
    return [han[place : place + 2] for place in range(len(han) - 1)] or [han]


def index(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Adds entries to the index, in the transaction that saves them; ``rows`` have key, title and text."""
    if not rows:
        return
    words = [{"key": row["key"], "title": indexed(row["title"]), "text": indexed(row["text"])} for row in rows]
    if connection.dialect.name == "postgresql":
        connection.execute(text(_ADD_POSTGRESQL), words)
    else:
        connection.execute(text("INSERT INTO search (key, title, text) VALUES (:key, :title, :text)"), words)


_ADD_POSTGRESQL = """
INSERT INTO search (key, words)
VALUES (:key, setweight(to_tsvector('english', :title), 'A') || setweight(to_tsvector('english', left(:text, 200000)), 'B'))
ON CONFLICT (key) DO NOTHING
"""


class SqlSearch:
    """Search on SQLite and PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(
        self,
        query: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        source_names: Sequence[str] = (),
        topic: str = "",
        limit: int = 20,
        newest_first: bool = False,
    ) -> Found:
        """The entries that hold the query, the best first (a hit in the title counts five times), ties by time and key; ``topic``:
        only what some issue's rules found to be about it. Of a query that tens of thousands hold, SQLite looks at the newest. Raises
        StoreError for a query without words."""
        is_postgresql = self._engine.dialect.name == "postgresql"
        asked = (_tsquery if is_postgresql else _fts5)(terms(query))
        values: dict[str, Any] = {"query": asked} if is_postgresql else {"query": asked, "after": self._too_many(asked)}
        matched = text(_POSTGRESQL if is_postgresql else _SQLITE).bindparams(**values).columns(key=String, rank=Float).subquery("found")
        statement = select(entries).join(matched, matched.c.key == entries.c.key)
        if since is not None:
            statement = statement.where(entries.c.seen_at >= since)
        if until is not None:
            statement = statement.where(entries.c.seen_at < until)
        if source_names:
            statement = statement.where(entries.c.source_name.in_(source_names))
        if topic:
            statement = statement.where(exists().where(decisions.c.entry_key == entries.c.key, decisions.c.topic == topic, decisions.c.is_in))
        ranked = statement.order_by(*(() if newest_first else (matched.c.rank,)), entries.c.seen_at.desc(), entries.c.key).limit(limit)
        with transaction(self._engine) as connection:
            total = connection.execute(select(func.count()).select_from(statement.subquery())).scalar_one()
            found = tuple(entry_of(row._mapping) for row in connection.execute(ranked))
        return Found(entries=found, total=total, is_cut=bool(values.get("after")))

    def _too_many(self, asked: str) -> int:
        """The row behind which at most ``RANKED`` rows hold the query: a word that half of ten years hold would be ranked for seconds."""
        statement = text("SELECT rowid FROM search WHERE search MATCH :query ORDER BY rowid DESC LIMIT 1 OFFSET :ranked")
        with transaction(self._engine) as connection:
            return int(connection.execute(statement, {"query": asked, "ranked": RANKED}).scalar() or 0)


_SQLITE = "SELECT key, bm25(search, 0, 5.0, 1.0) AS rank FROM search WHERE search MATCH :query AND rowid > :after"
_POSTGRESQL = """
SELECT key, -ts_rank('{0, 0, 0.2, 1.0}', words, asked, 1) AS rank FROM search, to_tsquery('english', :query) AS asked WHERE words @@ asked
"""


def _fts5(wanted: Sequence[Term]) -> str:
    """The query in FTS5's language (sqlite.org/fts5.html, 3)."""
    phrases = [(f'"{" ".join(term.tokens)}"' + ("*" if term.is_beginning else ""), term.is_excluded) for term in wanted]
    asked = " AND ".join(phrase for phrase, is_excluded in phrases if not is_excluded)
    return asked + "".join(f" NOT {phrase}" for phrase, is_excluded in phrases if is_excluded)


def _tsquery(wanted: Sequence[Term]) -> str:
    """The query in PostgreSQL's language (postgresql.org/docs/current/datatype-textsearch.html)."""
    phrases = []
    for term in wanted:
        *first, last = (f"'{token}'" for token in term.tokens)
        phrases.append(("!" if term.is_excluded else "") + "(" + " <-> ".join([*first, last + (":*" if term.is_beginning else "")]) + ")")
    return " & ".join(phrases)
