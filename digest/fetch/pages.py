"""Article pages, asked only where the site's robots.txt allows it (RFC 9309)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from digest.errors import FetchError
from digest.fetch.web import WebFetcher
from digest.model import CacheStamp, Download, Source

if TYPE_CHECKING:
    from protego import Protego

HOPS = 5
_SHUT = ("server", "unreachable", "busy", "slow")


class ArticlePages:
    """Pages over a WebFetcher; each site's robots.txt is asked once by this instance. Needs the ``full-text`` extra."""

    def __init__(self, web: WebFetcher, user_agent: str) -> None:
        self._web = web
        self._user_agent = user_agent
        self._rules: dict[str, Protego | None] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def fetch(self, url: str, now: datetime) -> Download | None:
        """The page, or None where it may not be asked. An https address that cannot be reached is tried as http, since the addresses
        of entries say https for both. Raises FetchError."""
        for address in (url, "http://" + url.removeprefix("https://")):
            if await self._rules_of(address, now) is not None:
                return await self._followed(address, now)
        return None

    async def _followed(self, url: str, now: datetime) -> Download | None:
        """The page at the end of its redirects, each of which must be allowed as well."""
        for _ in range(HOPS):
            rules = await self._rules_of(url, now)
            if rules is None or not rules.can_fetch(url, self._user_agent):
                return None
            try:
                answer = await self._web.fetch(Source(name=url, url=url), CacheStamp(), now, is_followed=False)
                return answer if isinstance(answer, Download) else None
            except FetchError as error:
                if not error.leads_to:
                    raise
                url = error.leads_to
        raise FetchError(f"more than {HOPS} redirects", reason="redirects")

    async def _rules_of(self, url: str, now: datetime) -> Protego | None:
        """The rules of a site; None when its robots.txt cannot be had, which forbids everything for now."""
        place = urlsplit(url)
        site = urlunsplit((place.scheme, place.netloc, "/robots.txt", "", ""))
        async with self._turns[site]:
            if site not in self._rules:
                self._rules[site] = await self._read(site, now)
        return self._rules[site]

    async def _read(self, site: str, now: datetime) -> Protego | None:
        from protego import Protego

        try:
            answer = await self._web.fetch(Source(name=site, url=site), CacheStamp(), now)
        except FetchError as error:
            return None if error.reason in _SHUT else Protego.parse("")
        body = answer.body if isinstance(answer, Download) else b""
        return Protego.parse(body[: 512 * 1024].decode("utf-8", "replace"))
