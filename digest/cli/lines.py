"""JSON Lines from a file or standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from digest.errors import ConfigError


def objects(name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each line and its object; ``-`` is standard input; wrong bytes become replacement characters."""
    if name == "-":
        yield from _lines(sys.stdin.buffer)
        return
    try:
        with Path(name).open("rb") as file:
            yield from _lines(file)
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror}") from error


def _lines(file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, raw in enumerate(file, start=1):
        line = raw.decode("utf-8-sig", "replace")
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"line {number}: not JSON: {error}") from error
        if not isinstance(item, dict):
            raise ConfigError(f"line {number}: not an object")
        yield number, item
