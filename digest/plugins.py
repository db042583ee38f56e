"""Name to factory: the built-in parts, and those that installed packages add by entry point."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from digest.errors import ConfigError


class Registry:
    """The factories of one seam: ``Registry("publisher", {...})`` also knows group ``digest.publishers``. Those built in are named as
    those of others are, ``module:name``, and imported when they are wanted."""

    def __init__(self, seam: str, built_in: Mapping[str, str]) -> None:
        self._seam = seam
        self._built_in = tuple(EntryPoint(name, place, f"digest.{seam}s") for name, place in built_in.items())

    def names(self) -> list[str]:
        """All known names; raises ConfigError when two packages claim one."""
        names = [point.name for point in self._points()]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigError(f"two {self._seam}s are named {twice[0]!r}; uninstall one of the packages that bring them")
        return sorted(names)

    def create(self, name: str, /, **options: Any) -> Any:
        """The part of that name, made with the options. Raises ConfigError that lists the known names."""
        if name not in self.names():
            raise ConfigError(f"there is no {self._seam} {name!r}; known: {', '.join(self.names())}")
        factory = next(point for point in self._points() if point.name == name).load()
        try:
            return factory(**options)
        except TypeError as error:
            raise ConfigError(f"the {self._seam} {name!r} does not take these options: {error}") from error

    def _points(self) -> tuple[EntryPoint, ...]:
        return (*self._built_in, *installed(self._seam))


@cache
def installed(seam: str) -> tuple[EntryPoint, ...]:
    """What installed packages add; read once, since it means opening a file of each."""
    return tuple(entry_points(group=f"digest.{seam}s"))
