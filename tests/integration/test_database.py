"""The schema: migrated and declared tables agree; a newer database is refused; trouble is said in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from digest.errors import StoreError
from digest.store.database import open_database
from digest.store.tables import HEAD, metadata


def address(folder: Path) -> str:
    return f"sqlite:///{folder}/deep/er/digest.sqlite3"


def test_the_migrations_give_the_declared_tables(tmp_path: Path) -> None:
    engine = open_database(address(tmp_path))
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts={"include_name": _is_declared}), metadata) == []
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == HEAD
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    engine.dispose()


def _is_declared(name: str | None, kind: str, parents: object) -> bool:
    """Everything but the search index, which SQLAlchemy cannot declare."""
    return kind != "table" or not str(name).startswith("search")


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    open_database(address(tmp_path)).dispose()
    open_database(address(tmp_path)).dispose()


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    engine = open_database(address(tmp_path))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match="newer version"):
        open_database(address(tmp_path))


@pytest.mark.parametrize("wrong", ["nonsense", "mysql://x/y", "sqlite:////proc/nowhere/x.sqlite3"])
def test_an_unusable_address_is_said_to_be_one(wrong: str) -> None:
    with pytest.raises(StoreError):
        open_database(wrong)
