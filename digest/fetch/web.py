"""HTTP, politely: one request at a time per host, conditional, bounded, retried twice and no more.

arXiv asks for one request every three seconds on one connection over all its hosts
(info.arxiv.org/help/api/tou.html).
"""

from __future__ import annotations

import asyncio
import zlib
from collections import defaultdict
from datetime import datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from urllib.parse import urlsplit

import httpx
import stamina
from aiolimiter import AsyncLimiter

from digest.errors import FetchError
from digest.fetch.guard import Guard
from digest.model import CacheStamp, Download, Source

BODY_LIMIT = 10 * 1024 * 1024
CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 30.0
ATTEMPTS = 3
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


class WebFetcher:
    """Fetches over one client; use as an asynchronous context manager. ``guard`` says which addresses may be asked.

    ``pause_seconds`` is the first pause before a retry, it doubles; ``arxiv_seconds`` lies between two
    requests to arXiv. A host that could not be reached is not tried again by this instance.
    """

    def __init__(self, user_agent: str, guard: Guard, *, pause_seconds: float = 1.0, arxiv_seconds: float = 3.0) -> None:
        self._client = httpx.AsyncClient(
            headers={"User-Agent": user_agent, "Accept-Encoding": "gzip, deflate", "Accept": _ACCEPT},
            timeout=httpx.Timeout(TOTAL_SECONDS, connect=CONNECT_SECONDS),
            transport=_GuardedTransport(guard),
            follow_redirects=True,
            max_redirects=5,
            trust_env=False,
            cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=[])),  # none is ever kept or sent
        )
        self._pause_seconds = pause_seconds
        self._arxiv = AsyncLimiter(1, arxiv_seconds)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._unreachable: dict[str, str] = {}

    async def __aenter__(self) -> WebFetcher:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._client.aclose()

    async def fetch(self, source: Source, stamp: CacheStamp, now: datetime) -> Download | None:
        """The body, or None when the server says that nothing changed. Raises FetchError."""
        host = _host(source.url)
        async with self._turns[host]:
            if reason := self._unreachable.get(host):
                raise FetchError(reason, is_ours=True)
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
                        return await self._ask(source, stamp, now, host)
            except _Passing as error:
                is_ours = isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout)
                if is_ours:
                    self._unreachable[host] = str(error)
                raise FetchError(str(error), reason=error.reason, is_ours=is_ours, retry_after_seconds=error.retry_after_seconds) from error
        raise AssertionError("retry_context always runs once")

    async def _ask(self, source: Source, stamp: CacheStamp, now: datetime, host: str) -> Download | None:
        if host == "arxiv.org":
            await self._arxiv.acquire()
        try:
            async with (
                asyncio.timeout(TOTAL_SECONDS),
                self._client.stream("GET", source.url, headers=_conditions(stamp)) as response,
            ):
                if response.status_code == 304:
                    return None
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
            stamp=CacheStamp(etag=response.headers.get("etag"), last_modified=response.headers.get("last-modified")),
            fetched_at=now,
            moved_to=_moved_to(response),
        )


_ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, application/json;q=0.9, */*;q=0.5"


def _host(url: str) -> str:
    host = (urlsplit(url).hostname or "").lower()
    return "arxiv.org" if host == "arxiv.org" or host.endswith(".arxiv.org") else host


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


def _retry_after(value: str, now: datetime) -> float:
    """Seconds to wait by a Retry-After header, a number or a date (RFC 9110, 10.2.3); 0 when it says nothing usable."""
    if value.strip().isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max(0.0, (moment - now).total_seconds()) if moment.tzinfo else 0.0


def _moved_to(response: httpx.Response) -> str:
    """Where the feed says it has moved for good: every hop permanent, and none from https back to http."""
    hops = response.history
    if not hops or any(hop.status_code not in (301, 308) for hop in hops):
        return ""
    is_weaker = hops[0].url.scheme == "https" and response.url.scheme != "https"
    return "" if is_weaker else str(response.url)


async def _read(response: httpx.Response) -> bytes:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise FetchError(f"an encoding that was not asked for: {encoding[:40]}", reason="damaged")
    body = bytearray()
    inflater = None if encoding in ("identity", "") else zlib.decompressobj(47 if "gzip" in encoding else 15)
    async for chunk in response.aiter_raw():
        if inflater is None:
            body += chunk
        else:
            _inflate(inflater, chunk, body)
        if len(body) > BODY_LIMIT:
            raise FetchError(f"the body is larger than {BODY_LIMIT // 1024 // 1024} MiB", reason="large")
    return bytes(body)


def _inflate(inflater: zlib._Decompress, chunk: bytes, body: bytearray) -> None:
    """Adds the decompressed chunk, never more than one byte beyond the limit at a time."""
    try:
        while chunk and len(body) <= BODY_LIMIT:
            body += inflater.decompress(chunk, BODY_LIMIT + 1 - len(body))
            chunk = inflater.unconsumed_tail
    except zlib.error as error:
        raise FetchError("the compressed body is damaged", reason="damaged") from error
