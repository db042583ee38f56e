"""Many issues rendered side by side, in a process per core: templates and pictures are work for the processor."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace

from digest.model import ArticleLine, Document, Issue, Shelf
from digest.ports import Renderer

Told = tuple[Issue, tuple[ArticleLine, ...]]  # an issue as its editor wants it, and its articles as they were archived
FEWEST = 40  # issues for which the start of processes pays
_held: tuple[Sequence[Renderer], Shelf]


def side_by_side(renderers: Sequence[Renderer], shelf: Shelf, issues: Iterable[Told], number: int) -> Iterator[list[Document]]:
    """The documents of each issue, in their order; the first error of any of them is raised."""
    if number < FEWEST or (cores := os.cpu_count() or 1) < 2:
        _hold(renderers, shelf)
        yield from map(_rendered, issues)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, mp_context=context, initializer=_hold, initargs=(renderers, shelf)) as pool:
        waiting: deque[Future[list[Document]]] = deque()
        try:
            for told in issues:
                waiting.append(pool.submit(_rendered, told))
                if len(waiting) > 2 * cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def _hold(renderers: Sequence[Renderer], shelf: Shelf) -> None:
    global _held
    _held = renderers, shelf


def _rendered(told: Told) -> list[Document]:
    renderers, shelf = _held
    issue, former = told
    own = replace(shelf, former=former)
    return [document for renderer in renderers for document in renderer.render(issue, own)]
