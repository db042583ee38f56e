"""What language models answered, so that the same question is never paid for twice."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine, select

from digest.store.database import transaction
from digest.store.entries import insert
from digest.store.tables import answers

_AT_ONCE = 500


class SqlAnswerCache:
    """The AnswerCache on SQLite and PostgreSQL."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, keys: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        with transaction(self._engine) as connection:
            for start in range(0, len(keys), _AT_ONCE):
                statement = select(answers.c.key, answers.c.answer).where(answers.c.key.in_(keys[start : start + _AT_ONCE]))
                found |= {row.key: row.answer for row in connection.execute(statement)}
        return found

    def keep(self, key: str, answer: str, model: str) -> None:
        row = {"key": key, "answer": answer, "model": model[:200]}
        with transaction(self._engine) as connection:
            statement = insert(connection, answers).values(row)
            connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_=row))
