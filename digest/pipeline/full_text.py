"""Thin entries (a title only, a cut summary) with the text of their article pages, for sources that ask for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from digest.errors import DigestError
from digest.model import Entry
from digest.ports import ArticlePages, Parser

log = logging.getLogger(__name__)
THIN_CHARACTERS = 600
PAGES_A_POLL = 20
SECONDS_A_POLL = 60.0


async def with_full_text(parser: Parser, pages: ArticlePages, entries: Sequence[Entry], now: datetime) -> tuple[list[Entry], str]:
    """(the entries, thin ones with their pages' text where there is more of it; a note on pages that were not read).

    At most ``PAGES_A_POLL`` pages in ``SECONDS_A_POLL``; the other entries stay as the feed has them.
    """
    found = list(entries)
    thin = [place for place, entry in enumerate(found) if len(entry.text) < THIN_CHARACTERS and entry.url.startswith(("http://", "https://"))]
    read = 0
    try:
        async with asyncio.timeout(SECONDS_A_POLL):
            for place in thin[:PAGES_A_POLL]:
                text = await _text(parser, pages, found[place], now)
                read += text is not None
                if text and len(text) > len(found[place].text):
                    found[place] = replace(found[place], text=text, text_from="page")
    except TimeoutError:
        log.info("no time for all article pages of %s", entries[0].source_name)
    return found, f"{len(thin) - read} of {len(thin)} article pages were not read" if read < len(thin) else ""


async def _text(parser: Parser, pages: ArticlePages, entry: Entry, now: datetime) -> str | None:
    """The text of an entry's page; None where it may not be asked or cannot be read."""
    try:
        page = await pages.fetch(entry.url, now)
        return None if page is None else await parser.article(page)
    except DigestError as error:
        log.info("%s: %s", entry.url, error)
        return None
