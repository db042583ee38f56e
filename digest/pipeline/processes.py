"""A whole site rendered in a process per core: templates and pictures are work for the processor."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from datetime import date

from digest.model import ArticleLine, Document, Issue, Shelf
from digest.ports import Renderer, ShelfRenderer

Told = tuple[Issue, tuple[ArticleLine, ...]]  # an issue as its editor wants it, and its articles as they were archived
FEWEST = 40  # issues for which the start of processes pays
_Held = tuple[Sequence[Renderer], Sequence[ShelfRenderer], Shelf]
_held: _Held


def side_by_side(
    renderers: Sequence[Renderer], lists: Sequence[ShelfRenderer], shelf: Shelf, issues: Iterable[Told], days: Collection[date]
) -> Iterator[list[Document]]:
    """The documents of each issue in their order, then those of each list; the first error of any of them is raised."""
    if len(days) < FEWEST or (cores := os.cpu_count() or 1) < 2:
        _hold((renderers, lists, shelf))
        yield from map(_issue, issues)
        yield from (_list(place, days) for place in range(len(lists)))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, mp_context=context, initializer=_hold, initargs=((renderers, lists, shelf),)) as pool:
        try:
            listed = [pool.submit(_list, place, days) for place in range(len(lists))]  # the long ones first
            waiting: deque[Future[list[Document]]] = deque()
            for told in issues:
                waiting.append(pool.submit(_issue, told))
                if len(waiting) > 2 * cores:
                    yield waiting.popleft().result()
            yield from (future.result() for future in (*waiting, *listed))
        finally:
            pool.shutdown(cancel_futures=True)


def _hold(held: _Held) -> None:
    global _held
    _held = held


def _issue(told: Told) -> list[Document]:
    renderers, _, shelf = _held
    issue, former = told
    own = replace(shelf, former=former)
    return [document for renderer in renderers for document in renderer.render(issue, own)]


def _list(place: int, days: Collection[date]) -> list[Document]:
    _, lists, shelf = _held
    return list(lists[place].render(days, shelf))
