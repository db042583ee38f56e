"""The settings and templates in force while the program runs for long: a change is checked, then applied, or refused with the reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path

from digest import wiring
from digest.errors import ConfigError, DigestError
from digest.settings.load import Loaded, files_of, load
from digest.shipped import SHIPPED

State = dict[Path, tuple[int, int]]
_IGNORED = (".*", "*~", "#*#")  # what editors leave beside a file while they work on it


class InForce:
    """Reads ``feeds.yaml`` again when it, a file that it extends or a template changed. Raises ConfigError when even the first is wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own = path.resolve().parent / "templates"
        self.complaint = ""
        self._files = files_of(path)
        self._settings_seen, self._templates_seen = _state(self._files), _state(self._own.rglob("*"))
        self._checked = self._read()
        wiring.templates(self._checked).check()
        self.loaded = self._kept(self._checked)

    def refresh(self) -> bool:
        """Looks for a change and applies it, or says in ``complaint`` why not; whether anything changed. Called between acts only."""
        settings, templates = _state(self._files), _state(self._own.rglob("*"))
        if (settings, templates) == (self._settings_seen, self._templates_seen):
            return False
        changed = [path for path, seen in templates.items() if self._templates_seen.get(path) != seen]
        is_to_read, is_to_check_all = settings != self._settings_seen or bool(self.complaint), bool(self.complaint)
        self._settings_seen, self._templates_seen = settings, templates
        try:
            checked = self._read() if is_to_read else self._checked
            wiring.templates(checked).check(None if is_to_check_all else [path.relative_to(self._own).as_posix() for path in changed])
            self._checked, self.loaded, self.complaint = checked, self._kept(checked), ""
        except DigestError as error:
            self.complaint = str(error)
        except OSError as error:  # a file that came or went while it was copied
            self.complaint = f"{error.filename or self._own}: {error.strerror or error}; it is looked at again when something changes"
            self._templates_seen = {}
        return True

    def _read(self) -> Loaded:
        loaded = load(self._path)
        self._files = files_of(self._path)
        self._settings_seen = _state(self._files)
        if complaints := wiring.rule_complaints(loaded):
            raise ConfigError(complaints)
        return loaded

    def _kept(self, loaded: Loaded) -> Loaded:
        """With a copy of the owner's templates as they are: what is saved next may be wrong."""
        if not self._own.is_dir() or self._own.resolve() == (SHIPPED / "templates").resolve():
            return loaded
        state = loaded.folder / "state" / "templates-in-force"
        kept = state / sha256(repr(sorted(self._templates_seen.items())).encode()).hexdigest()[:16]  # another process may use another
        if not kept.is_dir():
            beside = state / f"{kept.name}.{os.getpid()}"
            shutil.copytree(self._own, beside, ignore=shutil.ignore_patterns(*_IGNORED), dirs_exist_ok=True)
            with suppress(OSError):  # another process was faster
                beside.rename(kept)
        self._forget_old(state, kept)
        return replace(loaded, own_templates=kept)

    def _forget_old(self, state: Path, kept: Path) -> None:
        """Copies that nobody can be using any more: of two weeks ago."""
        limit = kept.stat().st_mtime - 14 * 86_400
        for old in state.iterdir():
            if old != kept and old.stat().st_mtime < limit:
                shutil.rmtree(old, ignore_errors=True)


def _state(paths: Iterable[Path]) -> State:
    found: State = {}
    for path in paths:
        try:
            status = path.stat()
        except OSError:  # gone between two looks
            continue
        if path.is_file() and not any(fnmatch(path.name, pattern) for pattern in _IGNORED):
            found[path] = (status.st_mtime_ns, status.st_size)
    return found
