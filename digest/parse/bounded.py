"""Parsing within bounds: a worker process with a clock and a memory limit, so that a hostile feed costs itself only."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import TimeoutError as FutureTimeoutError
from multiprocessing.context import BaseContext
from types import TracebackType
from typing import TypeVar

from pebble import ProcessExpired, ProcessPool

from digest.errors import ParseError
from digest.model import Download, Parsed
from digest.parse.article import article

Read = TypeVar("Read")
SECONDS = 10.0
MEMORY_BYTES = 512 * 1024 * 1024
_FEW_BYTES = 256 * 1024


class BoundedParser:
    """Runs the parser of each kind in workers that are killed when they exceed ``SECONDS``.

    A body up to a quarter of a mebibyte that has no document type is parsed in place: it cannot blow up, and starting
    a worker costs more than parsing it.
    """

    def __init__(self, parsers: Mapping[str, Callable[[Download], Parsed]]) -> None:
        self._parsers = parsers
        self._pool: ProcessPool | None = None

    async def parse(self, download: Download) -> Parsed:
        """What the download holds. Raises ParseError, also when the bounds are reached."""
        parser = self._parsers[download.source.kind]
        if len(download.body) <= _FEW_BYTES and b"<!doctype" not in download.body[:20_000].lower():
            return parser(download)
        return await self._in_a_worker(parser, download)

    async def article(self, download: Download) -> str:
        """The main text of a web page. Raises ParseError, also when the bounds are reached."""
        return await self._in_a_worker(article, download)

    async def _in_a_worker(self, read: Callable[[Download], Read], download: Download) -> Read:
        try:
            return await asyncio.wrap_future(self._workers().schedule(read, args=(download,), timeout=SECONDS))
        except FutureTimeoutError as error:
            raise ParseError(f"not read within {SECONDS:g} seconds; the feed is broken or hostile", reason="hostile") from error
        except (MemoryError, ProcessExpired) as error:
            raise ParseError("reading it took too much memory; the feed is broken or hostile", reason="hostile") from error

    def _workers(self) -> ProcessPool:
        if self._pool is None:
            self._pool = ProcessPool(max_workers=2, initializer=_limit_memory, context=_clean_processes())
        return self._pool

    def __enter__(self) -> BoundedParser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]  # pebble types only its results
            self._pool.join()


def _clean_processes() -> BaseContext:
    """New processes that know nothing of this one. Where the system can, one that has read the parsers once makes them all."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["digest.parse.syndication", "digest.parse.bounded"])
    return context


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows, where the clock alone is the bound
        return
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
