"""The whole database out and in: a consistent copy while others write, and JSON Lines that either kind of database reads."""

from __future__ import annotations

import base64
import gzip
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from sqlalchemy import Date, Engine, Table, create_engine, select, text

from digest.errors import StoreError
from digest.store.database import transaction
from digest.store.search import index
from digest.store.tables import HEAD, UtcDateTime, entries, metadata

_AT_ONCE = 500


def backup(engine: Engine, path: Path) -> int:
    """Writes a consistent SQLite copy to the path while others go on writing; its bytes. Raises StoreError for a database of another
    kind, or when the copy cannot be written."""
    if engine.dialect.name != "sqlite" or not engine.url.database:
        raise StoreError("digest backup copies SQLite; for PostgreSQL use pg_dump, or `digest export`, which either kind reads")
    _refuse_other_files(path, _is_copy, engine)
    beside = path.with_name(f"{path.name}.writing")
    try:
        beside.unlink(missing_ok=True)
        with closing(sqlite3.connect(engine.url.database)) as source, closing(sqlite3.connect(beside)) as copy:
            source.backup(copy, pages=2000)
            if (found := copy.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                raise StoreError(f"the copy is not whole: {found}")
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except (sqlite3.Error, OSError) as error:
        beside.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {error}") from error
    return path.stat().st_size


def restore(path: Path, target: Path, *, is_forced: bool) -> None:
    """Puts a copy in the place of the database; the old one stays beside it as ``NAME.before-restore``. Raises StoreError where the copy is
    none, or a database is there and it is not forced."""
    if not path.is_file():
        raise StoreError(f"there is no file {path}")
    try:
        with _kept(path) as copy:
            version = copy.execute("SELECT version_num FROM alembic_version").fetchone()
            whole = copy.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.Error as error:
        raise StoreError(f"{path} is no copy of a database of ours: {error}") from error
    if whole != "ok" or version is None or version[0] > HEAD:
        raise StoreError(f"{path} cannot be restored: {'it is of a newer version' if whole == 'ok' and version else f'it is not whole ({whole})'}")
    if target.exists() and not is_forced:
        raise StoreError(f"{target} is there; stop everything that uses it, then repeat with --force (it is kept as {target.name}.before-restore)")
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.restoring")
    with _kept(path) as source, closing(sqlite3.connect(beside)) as copy:
        source.backup(copy)
    if target.exists():
        with closing(sqlite3.connect(target)) as old:  # so that the old file is whole without its journal
            if old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise StoreError(f"{target} is in use; stop everything that uses it (`digest serve`, `digest schedule`), then repeat")
        before = target.with_name(f"{target.name}.before-restore")
        before.unlink(missing_ok=True)
        before.hardlink_to(target)  # there is a database at every moment
    beside.replace(target)
    for journal in ("-wal", "-shm"):
        target.with_name(f"{target.name}{journal}").unlink(missing_ok=True)


def _kept(path: Path) -> closing[sqlite3.Connection]:
    """A copy, opened so that nothing is written beside it; with its journal where it has one."""
    is_alone = not path.with_name(f"{path.name}-wal").exists()
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_alone else ''}", uri=True))


def export(engine: Engine, path: Path) -> dict[str, int]:
    """Writes every row of every table as JSON Lines (gzip where the name ends in .gz), all as they were at one moment while others go on
    writing; rows by table."""
    _refuse_other_files(path, _is_export, engine)
    try:
        if engine.dialect.name != "sqlite":
            return _export(engine.execution_options(isolation_level="REPEATABLE READ"), path)
        with TemporaryDirectory(dir=path.parent) as place:
            backup(engine, Path(place) / "copy.sqlite3")
            copy = create_engine(f"sqlite:///{place}/copy.sqlite3")
            try:
                return _export(copy, path)
            finally:
                copy.dispose()
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def _is_copy(path: Path) -> bool:
    try:
        with _kept(path) as copy:
            return copy.execute("SELECT version_num FROM alembic_version").fetchone() is not None
    except sqlite3.Error:
        return False


def _is_export(path: Path) -> bool:
    try:
        with _opened(path, path.suffix == ".gz", "rt") as file:
            return str(file.read(9)) == '{"digest"'
    except (OSError, EOFError, UnicodeDecodeError, StoreError):
        return False


def _refuse_other_files(path: Path, is_ours: Callable[[Path], bool], engine: Engine) -> None:
    """Only an empty file and what an earlier call wrote may be replaced. Raises StoreError."""
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder {path.parent}")
    if not path.exists():
        return
    is_database = engine.dialect.name == "sqlite" and bool(engine.url.database) and path.samefile(str(engine.url.database))
    if not path.is_file() or is_database:
        raise StoreError(f"{path} is {'the database itself' if is_database else 'no file'}; choose another name")
    if path.stat().st_size and not is_ours(path):
        raise StoreError(f"{path} is there and holds something else; choose another name")


def _export(engine: Engine, path: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    beside = path.with_name(f"{path.name}.writing")
    with _opened(beside, path.suffix == ".gz", "wt") as file, transaction(engine) as connection:
        file.write(json.dumps({"digest": HEAD}) + "\n")
        for table in metadata.sorted_tables:
            number = 0
            for rows in connection.execution_options(yield_per=_AT_ONCE).execute(select(table)).mappings().partitions():
                file.writelines(json.dumps({"table": table.name, "row": _plain(row)}, ensure_ascii=False) + "\n" for row in rows)
                number += len(rows)
            counts[table.name] = number
        file.write(json.dumps({"end": counts}) + "\n")
    beside.replace(path)
    return counts


def take_in(engine: Engine, path: Path) -> dict[str, int]:
    """Reads what ``export`` wrote into an empty database, all of it or nothing; rows by table. Raises StoreError."""
    counts: dict[str, int] = {}
    try:
        with _opened(path, path.suffix == ".gz", "rt") as file, transaction(engine) as connection:
            if any(connection.execute(select(table).limit(1)).first() is not None for table in metadata.sorted_tables):
                raise StoreError("the database is not empty; import into a new one")
            if json.loads(file.readline() or "{}").get("digest") != HEAD:
                raise StoreError(f"{path} was not exported by this version; export it with the same version of the program")
            end: list[dict[str, int]] = []
            for table, rows in _batches(file, end):
                connection.execute(table.insert(), rows)
                counts[table.name] = counts.get(table.name, 0) + len(rows)
                if table is entries:
                    index(connection, rows)
            if [{name: number for name, number in each.items() if number} for each in end] != [counts]:
                raise StoreError(f"{path} is not whole: rows or its last line are missing, or stand twice; export it again")
            if engine.dialect.name == "postgresql":
                for table in metadata.sorted_tables:  # ids that the database gives go on after the highest
                    if "id" in table.c and table.c.id.type.python_type is int:
                        statement = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), GREATEST((SELECT max(id) FROM {table.name}), 1))"  # noqa: S608
                        connection.execute(text(statement))
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    return counts


def _opened(path: Path, is_packed: bool, mode: str) -> IO[Any]:
    try:
        opened: IO[Any] = gzip.open(path, mode, encoding="utf-8") if is_packed else path.open(mode, encoding="utf-8")  # type: ignore[assignment]  # noqa: SIM115
        return opened
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error


def _plain(row: Any) -> dict[str, Any]:
    def value(found: Any) -> Any:
        if isinstance(found, datetime | date):
            return found.isoformat()
        return base64.b64encode(found).decode() if isinstance(found, bytes) else found

    return {str(name): value(found) for name, found in row.items()}


def _batches(file: IO[str], end: list[dict[str, int]]) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """Rows of one table after the other, some hundred at a time; ``end`` gets what the last line counts."""
    name = ""
    rows: list[dict[str, Any]] = []
    for line in file:
        found = json.loads(line)
        if "end" in found:
            end.append(found["end"])
            break
        if found["table"] != name or len(rows) >= _AT_ONCE:
            if rows:
                yield metadata.tables[name], rows
            name, rows = found["table"], []
        rows.append(_typed(metadata.tables[name], found["row"]))
    if rows:
        yield metadata.tables[name], rows


def _typed(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    for column in table.c:
        if (value := row.get(column.name)) is not None:
            if isinstance(column.type, UtcDateTime):
                row[column.name] = datetime.fromisoformat(value)
            elif isinstance(column.type, Date):
                row[column.name] = date.fromisoformat(value)
    return row
