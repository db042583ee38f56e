"""Opening the database: SQLite by default, PostgreSQL by address; the schema is brought up to date by Alembic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, inspect, text
from sqlalchemy import Engine as Engine  # whoever opens one may name it
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from digest.errors import StoreError
from digest.store.tables import HEAD

_BUSY_SECONDS = 30


def open_database(address: str) -> Engine:
    """An engine whose schema is current. Raises StoreError when it cannot be reached or is newer than this program."""
    try:
        url = make_url(address)
        if url.get_backend_name() not in ("sqlite", "postgresql", "postgres"):
            raise StoreError(f"the database {url.get_backend_name()!r} is not supported; use a path (SQLite) or postgresql://")
        if url.drivername == "sqlite" and url.database and url.database != ":memory:":
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        if url.drivername in ("postgresql", "postgres"):
            url = url.set(drivername="postgresql+psycopg")
        engine = create_engine(url, connect_args={"timeout": _BUSY_SECONDS} if url.drivername == "sqlite" else {})
    except (ArgumentError, OSError, ImportError) as error:
        raise StoreError(f"the database address is not usable: {type(error).__name__}; see `database` in feeds.yaml") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _tune_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    with _translated():
        if _revision(engine) != HEAD:
            _migrate(engine)
    return engine


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """One transaction; a refusal of the database is raised as StoreError."""
    with _translated(), engine.begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One transaction that only reads: it sees one moment, and nobody who writes waits for it."""
    with _translated(), engine.execution_options(only_reads=True).begin() as connection:
        yield connection


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or type(error).__name__).splitlines()[0][:200]
        raise StoreError(f"the database refused: {reason}; check that it is reachable, writable and not full") from error


def _tune_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # the driver would commit before each change of the schema; transactions are ours
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: Connection) -> None:
    is_reading = connection.get_execution_options().get("only_reads")
    connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")  # waits for its turn at once, instead of failing in the middle


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _migrate(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    found = _revision(engine)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreError(f"the database is of a newer version ({found}) than this program knows; update the program")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(f"the database could not be brought up to date: {error}") from error
