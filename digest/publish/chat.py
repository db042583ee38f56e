"""Chat channels (Feishu, DingTalk, WeCom, Slack, Telegram, Discord and whatever else apprise knows): each issue once to each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import apprise

from digest.errors import ConfigError, PublishError
from digest.model import Document, Issue, Receipt

OLDEST = timedelta(hours=36)
Form = Literal["md", "html", "txt"]
Message = Callable[[Issue, Form, int], tuple[str, str]]
Claim = Callable[[str, str, datetime], bool]
Release = Callable[[str, str], None]


class ChatPublisher:
    """One channel. ``message`` gives (title, body) for an issue, a form (md, html, txt) and a number of bytes; ``claim`` says once, and
    only once, that the channel may get the issue; ``release`` takes that back after a refusal. Raises ConfigError for an address that
    apprise does not know, without showing it: it holds the channel's key."""

    name = "chat"

    def __init__(self, channel: str, address: str, message: Message, claim: Claim, release: Release, seconds: float = 20) -> None:
        self._channel, self._message, self._claim, self._release = channel, message, claim, release
        self._plugin = _plugin(channel, address, seconds)

    def publish(self, issue: Issue, documents: Sequence[Document], now: datetime, delivered: Sequence[Receipt]) -> tuple[Receipt, ...]:
        if any((receipt.publisher, receipt.target) == (self.name, self._channel) for receipt in delivered) or now - issue.until > OLDEST:
            return ()
        title, body = self.message(issue)
        if not self._claim(issue.key, self._channel, now):
            raise PublishError(f"whether {self._channel} got the message nobody knows: a run stopped while it was sent; it is not sent again")
        if said := _notify(self._plugin, title, body, self.form):
            if re.search(r"connection error|timed? ?out", said, re.IGNORECASE):  # it may have arrived all the same
                raise PublishError(f"whether {self._channel} got the message nobody knows ({said}); it is not sent again")
            self._release(issue.key, self._channel)
            raise PublishError(f"{self._channel} did not take the message: {said}; it is tried again at the next delivery")
        return (Receipt(publisher=self.name, issue_key=issue.key, target=self._channel, delivered_at=now),)

    @property
    def form(self) -> Form:
        """What the channel shows best."""
        offered = self._plugin.notify_format
        forms = [str(getattr(each, "value", each)) for each in (offered if isinstance(offered, tuple) else (offered,))]
        return "html" if forms[0] == "html" else "md" if "markdown" in forms else "txt"

    def message(self, issue: Issue) -> tuple[str, str]:
        """(title, body) as the channel gets them."""
        title, _ = self._message(issue, self.form, 10_000)
        room = int(self._plugin.body_maxlen) - (0 if self._plugin.title_maxlen else len(title.encode()) + 20)
        return self._message(issue, self.form, room)


_FORMATS = {"md": apprise.NotifyFormat.MARKDOWN, "html": apprise.NotifyFormat.HTML, "txt": apprise.NotifyFormat.TEXT}


def send_plain(address: str, title: str, body: str) -> None:
    """A plain message to one address. Raises ConfigError and PublishError."""
    if said := _notify(_plugin("for alerts", address, 20), title, body, "txt"):
        raise PublishError(f"the chat channel for alerts did not take the message: {said}")


def _plugin(channel: str, address: str, seconds: float) -> Any:
    plugin = apprise.Apprise.instantiate(address, suppress_exceptions=True)
    if plugin is None:
        raise ConfigError(f"chat channel {channel}: its address is none that apprise knows (github.com/caronc/apprise lists them)")
    plugin.socket_read_timeout = plugin.socket_connect_timeout = seconds
    return plugin


def _notify(plugin: Any, title: str, body: str, form: Form) -> str:
    """Why the message was not taken; empty when it was."""
    with apprise.LogCapture(level=30) as log:  # type: ignore[no-untyped-call]
        is_taken = plugin.notify(title=title, body=body, body_format=_FORMATS[form])
        said = log.getvalue()
    return "" if is_taken else _harmless(said) or "no reason was given"


def _harmless(said: str) -> str:
    """The first thing apprise complained of, without addresses and keys."""
    line = next((line for line in said.splitlines() if line.strip()), "")
    return re.sub(r"\S*://\S*|[A-Za-z0-9_-]{24,}", "…", line.rpartition(" - ")[2])[:200]
