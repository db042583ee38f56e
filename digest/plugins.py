"""Name to factory: the built-in parts, and those that installed packages add by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from digest.errors import ConfigError

Factory = Callable[..., Any]


class Registry:
    """The factories of one seam: ``Registry("publisher", {...})`` also knows group ``digest.publishers``."""

    def __init__(self, seam: str, built_in: Mapping[str, Factory]) -> None:
        self._seam = seam
        self._built_in = built_in

    def names(self) -> list[str]:
        """All known names; raises ConfigError when two packages claim one."""
        names = [*self._built_in, *(point.name for point in installed(self._seam))]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigError(f"two {self._seam}s are named {twice[0]!r}; uninstall one of the packages that bring them")
        return sorted(names)

    def create(self, name: str, /, **options: Any) -> Any:
        """The part of that name, made with the options. Raises ConfigError that lists the known names."""
        if name not in self.names():
            raise ConfigError(f"there is no {self._seam} {name!r}; known: {', '.join(self.names())}")
        factory = self._built_in.get(name) or next(point for point in installed(self._seam) if point.name == name).load()
        try:
            return factory(**options)
        except TypeError as error:
            raise ConfigError(f"the {self._seam} {name!r} does not take these options: {error}") from error


@cache
def installed(seam: str) -> tuple[EntryPoint, ...]:
    """What installed packages add; read once, since it means opening a file of each."""
    return tuple(entry_points(group=f"digest.{seam}s"))
