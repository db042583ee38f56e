"""The search of the site: an index of the article pages by Pagefind (pagefind.app), which knows Chinese words and runs in the reader's browser.

Its files have hashes as names; they are moved into place before the one that names them, and the old ones removed after it, so that a
reader meets the old index or the new one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from digest.errors import PublishError

FOLDER = "pagefind"
_DAYS = "[0-9][0-9][0-9][0-9]/[0-9][0-9]/[0-9][0-9]"
_ENTRY = "pagefind-entry.json"
_UNUSED = ("pagefind-component-ui", "pagefind-modular-ui", "pagefind-ui", "pagefind-highlight")  # its own search boxes; ours is search.js
_SECONDS = 600


class PagefindIndex:
    """The index below ``folder``, a finished site."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def update(self) -> bool:
        """Makes the index anew where an article page has changed since; whether it did. Raises PublishError; the old index stays then."""
        target = self._folder / FOLDER
        if _is_current(self._folder, target / _ENTRY):
            return False
        beside = Path(tempfile.mkdtemp(prefix=f".writing-{os.getpid()}-", dir=self._folder))
        try:
            _run(self._folder, beside)
            _in_order(beside / _ENTRY)
            _move(beside, target)
        except OSError as error:
            raise PublishError(f"cannot write the search index in {target}: {error.strerror}; check the disk") from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return True


def _is_current(folder: Path, entry: Path) -> bool:
    """Whether the index is younger than the last change in any day's folder; files are moved there, which a folder's time shows."""
    if not entry.is_file():
        return False
    made = entry.stat().st_mtime_ns
    return all(day.stat().st_mtime_ns <= made for day in folder.glob(_DAYS))


def _run(folder: Path, beside: Path) -> None:
    command = [sys.executable, "-m", "pagefind", "--silent", "--site", str(folder), "--glob", f"{_DAYS}/*.html", "--output-path", str(beside)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603  # our own words
    except subprocess.TimeoutExpired as error:
        raise PublishError(f"the search index was not ready in {_SECONDS} s; the old one stays") from error
    if done.returncode or not (beside / _ENTRY).is_file():
        said = " ".join((done.stderr or done.stdout).split())[-300:]
        raise PublishError(f"pagefind could not make the search index ({said or f'exit code {done.returncode}'}); the old one stays")


def _in_order(entry: Path) -> None:
    """Pagefind names its languages in any order; equal pages shall give equal bytes."""
    entry.write_text(json.dumps(json.loads(entry.read_bytes()), sort_keys=True, separators=(",", ":")), encoding="utf-8")


def _move(beside: Path, target: Path) -> None:
    made = [path for path in sorted(beside.rglob("*")) if path.is_file() and not path.name.startswith(_UNUSED)]
    names = {path.relative_to(beside).as_posix() for path in made}
    for path in sorted(made, key=lambda path: path.name == _ENTRY):
        place = target / path.relative_to(beside)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)
    for path in sorted(target.rglob("*")):
        if path.is_file() and path.relative_to(target).as_posix() not in names:
            path.unlink()
