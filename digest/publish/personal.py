"""The message of each subscriber: one encoding per language and topics, then a few bytes each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from digest.model import Issue, Language, MailBody, Subscriber
from digest.publish.message import Message, Personal, Sender


class Personaliser:
    """``body_of`` renders, ``token_of`` stands for a subscriber, ``links_of`` gives (unsubscribe, preferences) for a token; ``places`` are
    the two addresses in a body that these replace. ``bounces``: bounces@domain, or empty for one envelope sender for all. ``sign`` gives
    the header that goes before a message (DKIM)."""

    def __init__(
        self,
        sender: Sender,
        body_of: Callable[[Issue, tuple[Language, ...], tuple[str, ...]], MailBody],
        token_of: Callable[[int], str],
        links_of: Callable[[str], tuple[str, str]],
        places: tuple[str, str],
        bounces: str,
        sign: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self._sender, self._body_of, self._token_of, self._links_of, self._places = sender, body_of, token_of, links_of, places
        self._bounces = bounces
        self._sign = sign
        self._messages: dict[tuple[str, tuple[Language, ...], tuple[str, ...]], tuple[Message, int]] = {}

    def __call__(self, issue: Issue, subscriber: Subscriber, now: datetime) -> tuple[str, bytes] | None:
        """(the envelope's sender, the whole message); None where their topics have nothing, but for those who want a mail every day."""
        languages = tuple(language for language in subscriber.languages if language in issue.languages) or issue.languages
        key = (issue.key, languages, tuple(sorted(subscriber.topics)))
        if key not in self._messages:
            body = self._body_of(issue, key[1], key[2])
            self._messages[key] = Message(body, self._sender, issue.key, self._places), body.articles
        found, articles = self._messages[key]
        if subscriber.rhythm != "daily" and not articles:
            return None
        token = self._token_of(subscriber.id)
        unsubscribe, preferences = self._links_of(token)
        message = found.bytes_for(Personal(address=subscriber.address, token=token, unsubscribe=unsubscribe, preferences=preferences), now)
        if self._sign:
            message = self._sign(message) + message
        name, _, domain = self._bounces.rpartition("@")
        return (f"{name}+{token}@{domain}" if name else self._sender.address), message
