"""Fetching over real sockets: conditional, bounded, retried, one at a time per host."""

from __future__ import annotations

import asyncio
import gzip
import socket
import socketserver
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

import brotli
import pytest

from digest.errors import FetchError
from digest.fetch import web
from digest.fetch.guard import Guard
from digest.fetch.web import WebFetcher
from digest.model import CacheStamp, Download, NotModified
from tests.builders import NOON, a_source
from tests.fakes import Answer, FeedServer

LOOPBACK = Guard(["127.0.0.1"])


def fetch(server: FeedServer, path: str = "/feed", stamp: CacheStamp | None = None) -> Any:
    return asyncio.run(fetch_all(server, [path], stamp))[0]


async def fetch_all(server: FeedServer, paths: list[str], stamp: CacheStamp | None = None) -> list[Download | NotModified]:
    async with WebFetcher("Test/1 (+contact)", LOOPBACK, pause_seconds=0.01) as fetcher:
        sources = [a_source(name=path, url=server.address + path) for path in paths]
        return list(await asyncio.gather(*(fetcher.fetch(source, stamp or CacheStamp(), NOON) for source in sources)))


def test_the_second_request_is_answered_by_304(server: FeedServer) -> None:
    server.answers["/feed"] = Answer(b"<rss/>", headers={"Last-Modified": "as it likes"})
    first = fetch(server)
    assert first.body == b"<rss/>"
    again = fetch(server, stamp=first.stamp)
    assert again == NotModified(stamp=first.stamp)
    _, headers = server.requests[1]
    assert headers["if-none-match"] == first.stamp.etag
    assert headers["if-modified-since"] == "as it likes"


def test_it_says_who_asks_and_keeps_nothing_else(server: FeedServer) -> None:
    server.answers["/feed"] = Answer(b"x", headers={"Set-Cookie": "a=1"})
    asyncio.run(fetch_all(server, ["/feed", "/feed"]))
    _, headers = server.requests[1]
    assert headers["user-agent"] == "Test/1 (+contact)"
    assert "cookie" not in headers and "referer" not in headers


def test_a_compressed_body_is_unpacked_and_bounded(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["/feed"] = Answer(b"hello " * 1000, zipped=True)
    download = fetch(server)
    assert download.body == b"hello " * 1000
    monkeypatch.setattr(web, "GROWTH_LIMIT", 10_000)
    server.answers["/bomb"] = Answer(b"\0" * (web.BODY_LIMIT + 1), zipped=True)
    with pytest.raises(FetchError, match="larger than 10 MiB"):
        fetch(server, "/bomb")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_a_body_that_grows_a_hundredfold_is_hostile(server: FeedServer, encoding: str) -> None:
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}[encoding]
    server.answers["/bomb"] = Answer(pack(b"\0" * 5_000_000), headers={"Content-Encoding": encoding})
    with pytest.raises(FetchError, match="grows more than 100 times"):
        fetch(server, "/bomb")
    server.answers["/fine"] = Answer(pack(b"hello " * 1000), headers={"Content-Encoding": encoding})
    assert fetch(server, "/fine").body == b"hello " * 1000


def test_a_304_may_bring_new_validators(server: FeedServer) -> None:
    server.answers["/feed"] = Answer(status=304, headers={"Last-Modified": "later", "ETag": '"2"', "Cache-Control": "max-age=60"})
    assert fetch(server, stamp=CacheStamp(etag='"1"', last_modified="once")) == NotModified(
        stamp=CacheStamp(etag='"2"', last_modified="later"), fresh_seconds=60
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Cache-Control": "public, max-age=3600"}, 3600),
        ({"Cache-Control": "max-age=3600", "Age": "600"}, 3000),
        ({"Cache-Control": "max-age=3600, no-cache"}, 0),
        ({"Expires": "Tue, 24 Nov 2026 13:00:00 GMT"}, 3600),
        ({"Expires": "0"}, 0),
        ({"Cache-Control": "max-age=soon"}, 0),
        ({}, 0),
    ],
)
def test_how_long_an_answer_stays_fresh_is_read_from_its_head(server: FeedServer, headers: dict[str, str], seconds: float) -> None:
    server.answers["/feed"] = Answer(b"x", headers=headers)
    assert fetch(server).fresh_seconds == seconds


def test_a_host_that_wants_to_be_left_alone_is_not_asked_for_its_other_feeds(server: FeedServer) -> None:
    server.answers |= {"/a": Answer(status=429, headers={"Retry-After": "60"}), "/b": Answer(b"b"), "/c": Answer(b"c")}

    async def run() -> list[Any]:
        async with WebFetcher("T", LOOPBACK, pause_seconds=0.01) as fetcher:
            sources = [a_source(url=server.address + "/a"), a_source(url=server.address + "/b"), a_source(url=server.address + "/c", pauses_host=False)]
            return await asyncio.gather(*(fetcher.fetch(source, CacheStamp(), NOON) for source in sources), return_exceptions=True)

    refused, left_alone, own = asyncio.run(run())
    assert (refused.retry_after_seconds, left_alone.reason, left_alone.retry_after_seconds, own.body) == (60, "busy", 60, b"c")
    assert [path for path, _ in server.requests] == ["/a", "/c"]


def test_strangers_are_asked_with_a_pause_between(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["/feed"] = Answer(b"x")
    monkeypatch.setattr(Guard, "is_own", lambda *arguments: False)
    monkeypatch.setattr(Guard, "addresses", _loopback)

    async def run() -> float:
        async with WebFetcher("T", Guard(), host_seconds=0.2) as fetcher:
            started = time.perf_counter()
            for _ in range(3):
                await fetcher.fetch(a_source(url=server.address + "/feed"), CacheStamp(), NOON)
            return time.perf_counter() - started

    assert asyncio.run(run()) >= 0.4


async def _loopback(*arguments: object) -> list[str]:
    return ["127.0.0.1"]


def test_a_proxy_is_used_only_when_it_is_named(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["http://feeds.example.com/feed"] = Answer(b"through the proxy")
    monkeypatch.setenv("HTTP_PROXY", server.address)

    async def run(proxy: str) -> Any:
        async with WebFetcher("T", Guard(), proxy=proxy, pause_seconds=0.01) as fetcher:
            return await fetcher.fetch(a_source(url="http://feeds.example.com/feed"), CacheStamp(), NOON)

    assert asyncio.run(run(server.address)).body == b"through the proxy"
    with pytest.raises(FetchError, match="no connection"):
        asyncio.run(run(""))


def test_through_a_proxy_private_addresses_are_still_refused(server: FeedServer) -> None:
    async def run() -> None:
        async with WebFetcher("T", Guard(), proxy=server.address, pause_seconds=0.01) as fetcher:
            await fetcher.fetch(a_source(url="http://169.254.169.254/latest"), CacheStamp(), NOON)

    with pytest.raises(FetchError, match="not on the public internet"):
        asyncio.run(run())
    assert server.requests == []


def test_a_slow_drip_ends_at_the_total_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "TOTAL_SECONDS", 0.5)

    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        for _ in range(60):
            connection.sendall(b"x")
            time.sleep(0.05)

    with pytest.raises(FetchError, match=r"no whole answer within 0\.5 seconds"):
        _from_raw(drip)


def test_a_head_without_end_is_no_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: " % number + b"y" * 200 + b"\r\n" for number in range(2000))
    with pytest.raises(FetchError, match="connection broke"):
        _from_raw(lambda connection: connection.sendall(head))


def _from_raw(answer: Callable[[socket.socket], None]) -> Download | NotModified:
    """What is fetched from a server that writes raw bytes."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                answer(self.request)

    async def run(port: int) -> Download | NotModified:
        async with WebFetcher("T", LOOPBACK, pause_seconds=0.01) as fetcher:
            return await fetcher.fetch(a_source(url=f"http://127.0.0.1:{port}/feed"), CacheStamp(), NOON)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as raw:
        Thread(target=raw.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            return asyncio.run(run(raw.server_address[1]))
        finally:
            raw.shutdown()
