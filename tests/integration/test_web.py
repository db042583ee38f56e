"""Fetching over real sockets: conditional, bounded, retried, one at a time per host."""

from __future__ import annotations

import asyncio
import gzip
import time
from threading import Lock

import httpx
import pytest

from digest.errors import FetchError
from digest.fetch import web
from digest.fetch.guard import Guard
from digest.fetch.web import WebFetcher
from digest.model import CacheStamp, Download
from tests.builders import NOON, a_source
from tests.fakes import Answer, FeedServer

LOOPBACK = Guard(["127.0.0.1"])


def fetch(server: FeedServer, path: str = "/feed", stamp: CacheStamp | None = None) -> Download | None:
    return asyncio.run(fetch_all(server, [path], stamp))[0]


async def fetch_all(server: FeedServer, paths: list[str], stamp: CacheStamp | None = None) -> list[Download | None]:
    async with WebFetcher("Test/1 (+contact)", LOOPBACK, pause_seconds=0.01) as fetcher:
        sources = [a_source(name=path, url=server.address + path) for path in paths]
        return list(await asyncio.gather(*(fetcher.fetch(source, stamp or CacheStamp(), NOON) for source in sources)))


def test_the_second_request_is_answered_by_304(server: FeedServer) -> None:
    server.answers["/feed"] = Answer(b"<rss/>", headers={"Last-Modified": "as it likes"})
    first = fetch(server)
    assert first is not None and first.body == b"<rss/>"
    assert fetch(server, stamp=first.stamp) is None
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
    assert download is not None and download.body == b"hello " * 1000
    server.answers["/bomb"] = Answer(b"\0" * (web.BODY_LIMIT + 1), zipped=True)
    with pytest.raises(FetchError, match="larger than 10 MiB"):
        fetch(server, "/bomb")


def test_a_damaged_body_is_said_to_be_damaged(server: FeedServer) -> None:
    server.answers["/feed"] = Answer(gzip.compress(b"x" * 1000)[:-20].replace(b"\x1f\x8b", b"zz"), headers={"Content-Encoding": "gzip"})
    with pytest.raises(FetchError, match="damaged"):
        fetch(server)


def test_server_errors_are_retried_twice(server: FeedServer) -> None:
    answers = iter([Answer(status=503), Answer(status=500), Answer(b"at last")])
    server.answers["/feed"] = lambda: next(answers)
    download = fetch(server)
    assert download is not None and download.body == b"at last"
    server.answers["/down"] = Answer(status=502)
    with pytest.raises(FetchError, match="502"):
        fetch(server, "/down")
    assert sum(path == "/down" for path, _ in server.requests) == 3


@pytest.mark.parametrize(("status", "words"), [(404, "check the address"), (403, "refuses"), (410, "gone for good"), (429, "too often"), (204, "answered 204")])
def test_refusals_are_not_retried_and_name_a_remedy(server: FeedServer, status: int, words: str) -> None:
    server.answers["/feed"] = Answer(status=status)
    with pytest.raises(FetchError, match=words):
        fetch(server)
    assert len(server.requests) == 1


def test_an_unreachable_host_is_tried_thrice_and_then_believed() -> None:
    async def run() -> float:
        async with WebFetcher("T", LOOPBACK, pause_seconds=0.05) as fetcher:
            source = a_source(url="http://127.0.0.1:1/feed")
            for _ in range(2):
                with pytest.raises(FetchError, match="no connection"):
                    await fetcher.fetch(source, CacheStamp(), NOON)
                    raise AssertionError
            started = time.perf_counter()
            with pytest.raises(FetchError):
                await fetcher.fetch(source, CacheStamp(), NOON)
            return time.perf_counter() - started

    assert asyncio.run(run()) < 0.05


def test_an_endless_redirect_stops(server: FeedServer) -> None:
    server.answers["/feed"] = Answer(status=302, headers={"Location": "/feed"})
    with pytest.raises(FetchError, match="redirects"):
        fetch(server)
    assert len(server.requests) == 6


def test_one_request_at_a_time_to_a_host(server: FeedServer) -> None:
    busy, lock, most = 0, Lock(), 0

    def slow() -> Answer:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.02)
        with lock:
            busy -= 1
        return Answer(b"x")

    server.answers = {f"/{number}": slow for number in range(6)}
    asyncio.run(fetch_all(server, list(server.answers)))
    assert (most, len(server.requests)) == (1, 6)


def test_an_unusable_address_is_a_fetch_error() -> None:
    async def run() -> None:
        async with WebFetcher("T", LOOPBACK, pause_seconds=0.01) as fetcher:
            await fetcher.fetch(a_source(url="http://[broken"), CacheStamp(), NOON)

    with pytest.raises((FetchError, ValueError)):
        asyncio.run(run())


def test_a_move_from_https_to_http_is_never_kept() -> None:
    def answer(status: int, url: str) -> httpx.Response:
        return httpx.Response(status, request=httpx.Request("GET", url))

    for first, last, kept in (("https://a.example/", "http://a.example/", ""), ("http://a.example/", "https://a.example/x", "https://a.example/x")):
        response = answer(200, last)
        response.history = [answer(301, first)]
        assert web._moved_to(response) == kept


def test_a_redirect_into_a_private_network_is_not_followed(server: FeedServer) -> None:
    port = server.address.rpartition(":")[2]
    server.answers["/feed"] = Answer(status=302, headers={"Location": f"http://127.0.0.2:{port}/secret"})
    with pytest.raises(FetchError, match="not on the public internet") as caught:
        fetch(server)
    assert caught.value.reason == "forbidden"
    assert [path for path, _ in server.requests] == ["/feed"]


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://example.com/x", "javascript:alert(1)"])
def test_a_redirect_to_another_scheme_is_not_followed(server: FeedServer, location: str) -> None:
    server.answers["/feed"] = Answer(status=302, headers={"Location": location})
    with pytest.raises(FetchError):
        fetch(server)


def test_without_an_allowance_loopback_is_not_asked(server: FeedServer) -> None:
    async def run() -> None:
        async with WebFetcher("T", Guard(), pause_seconds=0.01) as fetcher:
            await fetcher.fetch(a_source(url=server.address + "/feed"), CacheStamp(), NOON)

    with pytest.raises(FetchError, match="allow"):
        asyncio.run(run())
    assert server.requests == []


def test_the_server_hears_the_name_and_not_the_number(server: FeedServer) -> None:
    server.answers["/feed"] = Answer(b"x")
    port = server.address.rpartition(":")[2]

    async def run() -> Download | None:
        async with WebFetcher("T", Guard(["localhost"]), pause_seconds=0.01) as fetcher:
            return await fetcher.fetch(a_source(url=f"http://localhost:{port}/feed"), CacheStamp(), NOON)

    download = asyncio.run(run())
    assert download is not None and download.url == f"http://localhost:{port}/feed"
    assert server.requests[0][1]["host"] == f"localhost:{port}"
