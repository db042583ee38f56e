"""Documents to a folder: each file appears whole or not at all, only what differs is written, and all of it or none.

Everything is first written beside the site (``.writing-…``) and put on the disk; only then are the files moved into place, one rename
each, pages before the lists that lead to them. A stop before the moves leaves the old site whole; one between them leaves whole files,
and the same command puts the rest in place.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from digest.errors import PublishError
from digest.model import Document, Issue, Receipt, SiteChange

_WRITING = ".writing-"
_OURS = re.compile(r"(?:zh|en)\.html|(?:feed|articles)\.(?:zh|en)\.(?:xml|rss|json)|sitemap-[\w]+\.xml")


class FolderPublisher:
    """Writes below ``folder``. Repeating it is harmless, so receipts do not keep it from restoring a lost file."""

    name = "folder"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(self, issue: Issue, documents: Sequence[Document], now: datetime, delivered: Sequence[Receipt]) -> tuple[Receipt, ...]:
        with self._staging() as staging:
            for document in documents:
                staging.add(document)
            staging.move()
            _remove_others(self._folder / issue.folder, self._folder, staging.names)
        known = {(receipt.publisher, receipt.target) for receipt in delivered}
        receipt = Receipt(publisher=self.name, issue_key=issue.key, target=self._folder.name, delivered_at=now)
        return () if (receipt.publisher, receipt.target) in known else (receipt,)

    def replace(self, documents: Iterable[Document]) -> SiteChange:
        """See ``ports.Site``. Files of others at the top of the folder stay, such as CNAME or a favicon."""
        with self._staging() as staging:
            for document in documents:
                staging.add(document)
            staging.move()
            removed = 0
            for path in self._folder.iterdir():
                if _OURS.fullmatch(path.name) and path.name not in staging.names:
                    path.unlink()
                    removed += 1
            for top in sorted({PurePosixPath(name).parts[0] for name in staging.names if "/" in name}):
                removed += _remove_others(self._folder / top, self._folder, staging.names)
        return SiteChange(written=staging.written, unchanged=len(staging.names) - staging.written, removed=removed)

    @contextmanager
    def _staging(self) -> Iterator[_Staging]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for leftover in self._folder.glob(f"{_WRITING}*"):
                if not _is_at_work(leftover.name):
                    shutil.rmtree(leftover, ignore_errors=True)
            beside = Path(tempfile.mkdtemp(prefix=f"{_WRITING}{os.getpid()}-", dir=self._folder))
            try:
                yield _Staging(self._folder, beside)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
        except OSError as error:
            raise PublishError(f"cannot write below {self._folder}: {error.strerror}; check the path and the disk") from error


@dataclass
class _Staging:
    """Documents that wait to be moved into place, in their order."""

    folder: Path
    beside: Path
    names: set[str] = field(default_factory=set)
    waiting: list[str] = field(default_factory=list)
    _made: set[str] = field(default_factory=set)

    @property
    def written(self) -> int:
        return len(self.waiting)

    def add(self, document: Document) -> None:
        name = document.name
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts:
            raise PublishError(f"a document wants to be written outside the folder: {name!r}")
        if name in self.names:
            raise PublishError(f"two documents have the same name: {name!r}")
        self.names.add(name)
        if _bytes(f"{self.folder}/{name}") == document.body:
            return
        self._make_folder(f"{self.beside}/{name}")
        with open(f"{self.beside}/{name}", "wb") as file:  # noqa: PTH123  # thousands of files: a Path for each costs more than the writing
            file.write(document.body)
        self.waiting.append(name)

    def move(self) -> None:
        _put_on_disk([f"{self.beside}/{name}" for name in self.waiting])
        for name in self.waiting:
            self._make_folder(f"{self.folder}/{name}")
            os.replace(f"{self.beside}/{name}", f"{self.folder}/{name}")  # noqa: PTH105  # as above

    def _make_folder(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        if folder not in self._made:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._made.add(folder)


def _is_at_work(name: str) -> bool:
    """Whether the process that writes there still runs."""
    process = name.removeprefix(_WRITING).partition("-")[0]
    if not process.isdecimal() or int(process) == os.getpid():
        return False
    if os.name == "nt":  # where this question would end it
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _bytes(path: str) -> bytes | None:
    """What the file holds; None where there is none."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # as above
            return file.read()
    except FileNotFoundError:
        return None


def _put_on_disk(paths: Sequence[str]) -> None:
    """Makes sure that the bytes are on the disk before any file is moved; one call for many files where the system has it."""
    if len(paths) > 50 and hasattr(os, "sync"):
        os.sync()
        return
    for path in paths:
        with open(path, "rb") as file:  # noqa: PTH123  # as above
            os.fsync(file.fileno())


def _remove_others(below: Path, folder: Path, names: set[str]) -> int:
    """Removes the files below that place that are not among the names, and the folders that are empty then."""
    removed = 0
    for path in sorted(below.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(folder).as_posix() not in names:
            path.unlink()
            removed += 1
    return removed
