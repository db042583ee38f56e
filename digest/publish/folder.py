"""Documents to a folder: each file appears whole or not at all, and only what differs is written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from digest.errors import PublishError
from digest.model import Document, Issue, Receipt


class FolderPublisher:
    """Writes below ``folder``. Repeating it is harmless, so receipts do not keep it from restoring a lost file."""

    name = "folder"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def publish(self, issue: Issue, documents: Sequence[Document], now: datetime, delivered: Sequence[Receipt]) -> tuple[Receipt, ...]:
        try:
            for document in documents:
                _write(self._folder / document.name, document.body)
        except OSError as error:
            raise PublishError(f"cannot write below {self._folder}: {error.strerror}; check the path and the disk") from error
        known = {(receipt.publisher, receipt.target) for receipt in delivered}
        receipt = Receipt(publisher=self.name, issue_key=issue.key, target=self._folder.name, delivered_at=now)
        return () if (receipt.publisher, receipt.target) in known else (receipt,)


def _write(path: Path, body: bytes) -> None:
    if path.is_file() and path.read_bytes() == body:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
