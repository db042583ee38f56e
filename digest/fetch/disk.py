"""Feeds that lie on disk: ``file:`` addresses, and paths relative to the folder of ``feeds.yaml``."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from digest.errors import FetchError
from digest.fetch.web import BODY_LIMIT
from digest.model import CacheStamp, Download, NotModified, Source


class DiskFetcher:
    """Reads files below ``folder`` or by ``file:`` address; the hash of the content is the validator."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def fetch(self, source: Source, stamp: CacheStamp, now: datetime) -> Download | NotModified:
        """The content, or that it equals what was read last. Raises FetchError."""
        parts = urlsplit(source.url)
        path = Path(url2pathname(parts.path)) if parts.scheme == "file" else self._folder / source.url
        try:
            with path.open("rb") as file:
                body = file.read(BODY_LIMIT + 1)
        except OSError as error:
            raise FetchError(f"cannot read {path.name}: {error.strerror}; check the path", reason="missing", is_ours=True) from error
        if len(body) > BODY_LIMIT:
            raise FetchError(f"{path.name} is larger than {BODY_LIMIT // 1024 // 1024} MiB", reason="large")
        etag = sha256(body).hexdigest()[:32]
        if etag == stamp.etag:
            return NotModified(stamp=stamp)
        return Download(
            source=source,
            url=path.resolve().as_uri(),
            body=body,
            media_type="",
            charset=None,
            stamp=CacheStamp(etag=etag),
            fetched_at=now,
        )
