"""A parser that hangs, dies or grows costs its own feed only."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from digest.errors import ParseError
from digest.model import Download, Parsed
from digest.parse import bounded
from digest.parse.bounded import BoundedParser
from tests.builders import a_download, a_parsed, a_source

DOCTYPE = b"<!DOCTYPE rss><rss/>"


def hang(download: Download) -> Parsed:
    time.sleep(60)
    return a_parsed()


def die(download: Download) -> Parsed:
    os._exit(3)


def grow(download: Download) -> Parsed:
    return a_parsed(title="x" * len(bytearray(2 * bounded.MEMORY_BYTES)))


def fine(download: Download) -> Parsed:
    return a_parsed(title=str(os.getpid()))


@pytest.mark.parametrize(("kind", "words"), [("feed", "not read within"), ("arxiv", "too much memory"), ("hf-papers", "too much memory")])
def test_a_hostile_feed_is_stopped_and_the_next_one_read(kind: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "SECONDS", 3.0)
    parsers = {"feed": hang, "arxiv": die, "hf-papers": grow}

    async def run() -> None:
        with BoundedParser({kind: parsers[kind], "other": fine}) as parser:
            with pytest.raises(ParseError, match=words):
                await parser.parse(a_download(DOCTYPE, source=a_source(kind=kind)))
            assert (await parser.parse(a_download(DOCTYPE, source=a_source(kind="other")))).title != str(os.getpid())

    asyncio.run(run())


def test_a_small_plain_body_needs_no_worker() -> None:
    async def run() -> str:
        with BoundedParser({"feed": fine}) as parser:
            return (await parser.parse(a_download(b"<rss/>"))).title

    assert asyncio.run(run()) == str(os.getpid())
