"""Everything concrete that the acts need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from digest.classify.mentions import NameReader
from digest.model import Problem
from digest.ports import Archive, ArticlePages, EntryStore, Fetcher, Labeller, Parser, Publisher, Renderer, Scorer, SearchIndex, ShelfRenderer, Site, Writer

Step = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What fetches, by the scheme of addresses, and parses; ``pages``: None when articles cannot be read."""

    fetchers: Mapping[str, Fetcher]
    parser: Parser
    pages: ArticlePages | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything concrete that the acts need, put together in ``wiring.py``; ``notes`` say what was wanted and is not there.
    ``arxiv_api``: the address of arXiv's API, empty when it is not to be asked."""

    store: EntryStore
    archive: Archive
    labellers: Sequence[Labeller]
    names: NameReader
    thresholds: Mapping[str, float]
    scorers: Sequence[Scorer]
    writer: Writer
    renderers: Sequence[Renderer]
    shelf_renderers: Sequence[ShelfRenderer] = ()
    site: Site | None = None
    search: SearchIndex | None = None
    publishers: Sequence[Publisher]
    arxiv_api: str = ""
    notes: Sequence[Problem] = ()


def no_step(name: str) -> None:
    """The step callback of someone who does not watch."""
