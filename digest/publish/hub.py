"""Tells a WebSub hub (w3.org/TR/websub, 7) that the feeds have a new issue, so that their subscribers get it at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from digest.errors import DigestError, PublishError
from digest.model import Document, Issue, Receipt

_FEEDS = ("application/atom+xml", "application/rss+xml", "application/feed+json")


class HubPublisher:
    """Posts the addresses of the feeds once per issue; ``post`` gives the status of the answer."""

    name = "hub"

    def __init__(self, hub: str, post: Callable[[str, Sequence[tuple[str, str]]], int]) -> None:
        self._hub = hub
        self._post = post

    def publish(self, issue: Issue, documents: Sequence[Document], now: datetime, delivered: Sequence[Receipt]) -> tuple[Receipt, ...]:
        if any((receipt.publisher, receipt.target) == (self.name, self._hub) for receipt in delivered):
            return ()
        feeds = [("hub.url", f"{issue.address}/{document.name}") for document in documents if document.media_type in _FEEDS]
        if not feeds:
            return ()  # an older issue that its editor changed: its entries go out with the newest one's feeds
        try:
            status = self._post(self._hub, [("hub.mode", "publish"), *feeds])
        except DigestError as error:
            raise PublishError(f"the hub was not told: {error}; it is tried again at the next delivery") from error
        if not 200 <= status < 300:
            raise PublishError(f"the hub {self._hub} answered {status}; it is tried again at the next delivery")
        return (Receipt(publisher=self.name, issue_key=issue.key, target=self._hub, delivered_at=now),)
