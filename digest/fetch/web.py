"""HTTP, politely: one request at a time per host, conditional, bounded, retried twice and no more.

arXiv asks for one request every three seconds on one connection over all its hosts
(info.arxiv.org/help/api/tou.html).
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx
import stamina
from aiolimiter import AsyncLimiter

from digest.errors import FetchError
from digest.fetch.guard import Guard
from digest.model import CacheStamp, Download, NotModified, Source

try:
    import brotli  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError:  # not needed: it is used when it is there
    brotli = None

BODY_LIMIT = 10 * 1024 * 1024
GROWTH_LIMIT = 100
_SMALL = 1024 * 1024  # what is no larger may be as dense as it likes
_PIECE = 256 * 1024
CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 30.0
DAY_SECONDS = 86_400.0
ATTEMPTS = 3
SIDE_BY_SIDE = 32
_ENCODINGS = "gzip, deflate" if brotli is None else "gzip, deflate, br"
_LIMITS = httpx.Limits(max_connections=2, max_keepalive_connections=1)
_REMEDIES = {
    401: "the address wants a password",
    403: "the site refuses this program; ask its owner, or leave the source out",
    404: "nothing is there; check the address",
    410: "the feed is gone for good; remove the source",
    429: "asked too often; it will be tried again later",
}


_REASONS = {404: "missing", 410: "gone", 429: "busy", 503: "busy"}


class _Passing(Exception):
    """A fault that may pass: no connection, a connection that broke, a server error."""

    def __init__(self, message: str, *, reason: str = "unreachable", retry_after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds


class _GuardedTransport(httpx.AsyncBaseTransport):
    """Connects to an address that the guard has looked at, never to a name; a pool of its own for each host, so that no connection of
    one is used for another behind the same address."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._context = httpx.create_ssl_context(trust_env=False)
        self._pools: dict[tuple[str, str, int], httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            addresses = await self._guard.addresses(url.scheme, url.host, port)
        except OSError as error:
            raise httpx.ConnectError(f"{url.host} is not known", request=request) from error
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        pool = self._pools.setdefault((url.scheme, url.host, port), httpx.AsyncHTTPTransport(verify=self._context, trust_env=False, limits=_LIMITS))
        for place, address in enumerate(addresses):
            try:
                pinned_url = url.copy_with(host=address)
                pinned = httpx.Request(request.method, pinned_url, headers=request.headers, stream=request.stream, extensions=request.extensions)
                return await pool.handle_async_request(pinned)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if place == len(addresses) - 1:
                    raise
        raise httpx.ConnectError(f"{url.host} has no address", request=request)

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


class _ProxiedTransport(httpx.AsyncBaseTransport):
    """Goes through a proxy that the owner configured. The proxy resolves names, so only what can be told without is checked here."""

    def __init__(self, guard: Guard, proxy: str) -> None:
        self._guard = guard
        self._transport = httpx.AsyncHTTPTransport(proxy=proxy, trust_env=False, limits=httpx.Limits(max_connections=20))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._guard.check_name(request.url.scheme, request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80))
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        await self._transport.aclose()


class _PacedTransport(httpx.AsyncBaseTransport):
    """Waits between two requests to a host that is not the owner's, also when a redirect leads there."""

    def __init__(self, inner: httpx.AsyncBaseTransport, guard: Guard, host_seconds: float, arxiv_seconds: float) -> None:
        self._inner, self._guard = inner, guard
        self._seconds = host_seconds
        self._pauses = {"arxiv.org": AsyncLimiter(1, arxiv_seconds)}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host, url = _host(str(request.url)), request.url
        if host == "arxiv.org" or not self._guard.is_own(host, url.port or (443 if url.scheme == "https" else 80)):
            await self._pauses.setdefault(host, AsyncLimiter(1, self._seconds)).acquire()
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


class WebFetcher:
    """Fetches over one client; use as an asynchronous context manager. ``guard`` says which addresses may be asked; ``proxy`` is the
    address of one to go through.

    ``pause_seconds`` is the first pause before a retry, it doubles; ``host_seconds`` lie between two requests to a host,
    ``arxiv_seconds`` between two to arXiv. A host that could not be reached, or wants to be left alone, is not asked again by this
    instance.
    """

    def __init__(
        self, user_agent: str, guard: Guard, *, proxy: str = "", pause_seconds: float = 1.0, host_seconds: float = 1.0, arxiv_seconds: float = 3.0
    ) -> None:
        self._client = httpx.AsyncClient(
            headers={"User-Agent": user_agent, "Accept-Encoding": _ENCODINGS, "Accept": _ACCEPT},
            timeout=httpx.Timeout(TOTAL_SECONDS, connect=CONNECT_SECONDS),
            transport=_PacedTransport(_ProxiedTransport(guard, proxy) if proxy else _GuardedTransport(guard), guard, host_seconds, arxiv_seconds),
            follow_redirects=True,
            max_redirects=5,
            trust_env=False,
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),  # none is ever kept or sent
        )
        self._pause_seconds = pause_seconds
        self._busy: dict[str, float] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._slots = asyncio.Semaphore(SIDE_BY_SIDE)  # more at once would wait for each other and call it a timeout
        self._unreachable: dict[str, str] = {}

    async def __aenter__(self) -> WebFetcher:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._client.aclose()

    async def fetch(self, source: Source, stamp: CacheStamp, now: datetime, *, is_followed: bool = True) -> Download | NotModified:
        """The body, or that nothing changed. Raises FetchError; without ``is_followed`` also for a redirect, which it names."""
        host = _host(source.url)
        async with self._turns[host], self._slots:
            if reason := self._unreachable.get(_site(source.url)):
                raise FetchError(reason, is_ours=True)
            if source.pauses_host and (seconds := self._busy.get(host)):
                raise FetchError(f"{host} wants to be left alone", reason="busy", retry_after_seconds=seconds)
            try:
                async for attempt in stamina.retry_context(
                    on=_Passing,
                    attempts=ATTEMPTS,
                    timeout=None,
                    wait_initial=self._pause_seconds,
                    wait_max=self._pause_seconds * 8,
                    wait_jitter=self._pause_seconds / 2,
                ):
                    with attempt:
                        return await self._ask(source, stamp, now, host, is_followed)
            except _Passing as error:
                is_ours = isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout)
                if is_ours:
                    self._unreachable[_site(source.url)] = str(error)
                raise FetchError(str(error), reason=error.reason, is_ours=is_ours, retry_after_seconds=error.retry_after_seconds) from error
            except FetchError as error:
                if error.retry_after_seconds:
                    self._busy[host] = error.retry_after_seconds
                raise
        raise AssertionError("retry_context always runs once")

    async def _ask(self, source: Source, stamp: CacheStamp, now: datetime, host: str, is_followed: bool) -> Download | NotModified:
        try:
            async with (
                asyncio.timeout(TOTAL_SECONDS),
                self._client.stream("GET", source.url, headers=_conditions(stamp), follow_redirects=is_followed) as response,
            ):
                if response.status_code == 304 and not _conditions(stamp):
                    raise FetchError("the server answered 304 to a question without a condition; it will be tried again later", reason="server")
                if response.status_code == 304:
                    return NotModified(stamp=_stamp(response, stamp), fresh_seconds=_fresh_seconds(response, now), moved_to=_moved_to(response))
                if response.next_request is not None:
                    raise FetchError("it leads elsewhere", reason="redirects", leads_to=str(response.next_request.url))
                _check_status(response, now)
                body = await _read(response)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise _Passing(f"no connection to {host}; check the network or the address") from error
        except TimeoutError as error:
            raise FetchError(f"no whole answer within {TOTAL_SECONDS:g} seconds", reason="slow") from error
        except httpx.TooManyRedirects as error:
            raise FetchError("more than 5 redirects; open the address in a browser and use where it leads", reason="redirects") from error
        except (httpx.TransportError, httpx.StreamError) as error:
            raise _Passing(f"the connection broke ({type(error).__name__})") from error
        except (httpx.InvalidURL, httpx.HTTPError, ValueError) as error:
            raise FetchError(f"not a usable address or answer: {str(error)[:120]}") from error
        return Download(
            source=source,
            url=str(response.url),
            body=body,
            media_type=response.headers.get("content-type", "").partition(";")[0].strip().lower(),
            charset=response.charset_encoding,
            stamp=_stamp(response, CacheStamp()),
            fetched_at=now,
            fresh_seconds=_fresh_seconds(response, now),
            moved_to=_moved_to(response),
        )


_ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, application/json;q=0.9, */*;q=0.5"


def post_form(url: str, fields: Sequence[tuple[str, str]], user_agent: str, proxy: str = "") -> int:
    """Posts a form to an address that the owner chose; the status of the answer. Raises FetchError when there is none."""
    try:
        with httpx.Client(headers={"User-Agent": user_agent}, timeout=CONNECT_SECONDS, proxy=proxy or None, trust_env=False) as client:
            body = urlencode(fields)
            return client.post(url, content=body, headers={"Content-Type": "application/x-www-form-urlencoded"}).status_code
    except httpx.HTTPError as error:
        raise FetchError(f"{_host(url)} did not answer ({type(error).__name__})") from error


def _host(url: str) -> str:
    host = (urlsplit(url).hostname or "").lower()
    return "arxiv.org" if host == "arxiv.org" or host.endswith(".arxiv.org") else host


def _site(url: str) -> str:
    """Scheme, host and port: what a connection is made to."""
    place = urlsplit(url)
    return f"{place.scheme}://{place.netloc.lower()}"


def _conditions(stamp: CacheStamp) -> dict[str, str]:
    conditions = {"If-None-Match": stamp.etag, "If-Modified-Since": stamp.last_modified}
    return {name: value for name, value in conditions.items() if value}


def _check_status(response: httpx.Response, now: datetime) -> None:
    status = response.status_code
    if status == 200:
        return
    wait = _retry_after(response.headers.get("retry-after", ""), now) if status in (429, 503) else 0.0
    if status >= 500 and not wait:
        raise _Passing(f"the server answered {status}; it will be tried again later", reason="server")
    remedy = _REMEDIES.get(status, "it will be tried again later" if status >= 500 else "check the address")
    reason = _REASONS.get(status, "server" if status >= 500 else "refused")
    raise FetchError(f"the server answered {status}: {remedy}", reason=reason, retry_after_seconds=wait, is_gone=status == 410)


def _stamp(response: httpx.Response, earlier: CacheStamp) -> CacheStamp:
    """The validators of an answer, verbatim; one that a 304 leaves out stays as it was (RFC 9111, 4.3.4)."""
    return CacheStamp(etag=response.headers.get("etag", earlier.etag), last_modified=response.headers.get("last-modified", earlier.last_modified))


def _fresh_seconds(response: httpx.Response, now: datetime) -> float:
    """How long the answer stays fresh: ``max-age`` less its ``Age``, else ``Expires`` (RFC 9111, 4.2); 0 when it says nothing usable."""
    directives = [part.strip().lower() for part in response.headers.get("cache-control", "").split(",")]
    if any(part in ("no-cache", "no-store") for part in directives):
        return 0.0
    for part in directives:
        if (match := re.fullmatch(r'max-age="?(\d{1,9})"?', part)) is not None:
            age = re.fullmatch(r"[0-9]{1,9}", response.headers.get("age", "0"))
            return max(0.0, float(match[1]) - (float(age[0]) if age else 0.0))
    return _retry_after(response.headers.get("expires", "no date"), now)


def _retry_after(value: str, now: datetime) -> float:
    """Seconds to wait by a Retry-After header, a number or a date (RFC 9110, 10.2.3), a day at most; 0 when it says nothing usable."""
    if re.fullmatch(r"\s*[0-9]+\s*", value):
        return min(float(value), DAY_SECONDS)
    try:
        moment = parsedate_to_datetime(value)
        return min(max(0.0, (moment - now).total_seconds()), DAY_SECONDS) if moment.tzinfo else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _moved_to(response: httpx.Response) -> str:
    """Where the feed says it has moved for good: every hop permanent, and none from https back to http."""
    hops = response.history
    if not hops or any(hop.status_code not in (301, 308) for hop in hops):
        return ""
    is_weaker = hops[0].url.scheme == "https" and response.url.scheme != "https"
    return "" if is_weaker else str(response.url)


async def _read(response: httpx.Response) -> bytes:
    """The decompressed body, within the limits of size and of growth."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    expand = _expander(encoding)
    body, received = bytearray(), 0
    async for chunk in response.aiter_raw():
        received += len(chunk)
        for piece in expand(chunk):
            body += piece
            if len(body) > BODY_LIMIT:
                raise FetchError(f"the body is larger than {BODY_LIMIT // 1024 // 1024} MiB", reason="large")
            if len(body) > _SMALL and len(body) > GROWTH_LIMIT * received:
                raise FetchError(f"the body grows more than {GROWTH_LIMIT} times when unpacked", reason="hostile")
    return bytes(body)


def _expander(encoding: str) -> Callable[[bytes], Iterator[bytes]]:
    """What unpacks the chunks of an encoding, a piece at a time. Raises FetchError for one that was not asked for."""
    if encoding in ("identity", ""):
        return lambda chunk: iter((chunk,))
    if encoding in ("gzip", "x-gzip", "deflate"):
        inflater = zlib.decompressobj(47 if "gzip" in encoding else 15)
        return lambda chunk: _inflated(inflater, chunk)
    if encoding == "br" and brotli is not None:
        decoder = brotli.Decompressor()
        return lambda chunk: _unbrotlied(decoder, chunk)
    raise FetchError(f"an encoding that was not asked for: {encoding[:40]}", reason="damaged")


def _inflated(inflater: zlib._Decompress, chunk: bytes) -> Iterator[bytes]:
    try:
        while chunk:
            yield inflater.decompress(chunk, _PIECE)
            chunk = inflater.unconsumed_tail
    except zlib.error as error:
        raise FetchError("the compressed body is damaged", reason="damaged") from error


def _unbrotlied(decoder: Any, chunk: bytes) -> Iterator[bytes]:
    try:
        piece = decoder.process(chunk, output_buffer_limit=_PIECE)
        while piece:
            yield piece
            piece = decoder.process(b"", output_buffer_limit=_PIECE)
    except brotli.error as error:
        raise FetchError("the compressed body is damaged", reason="damaged") from error
