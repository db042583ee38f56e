"""A mail as bytes (RFC 5322, 2045, 2047, 2919, 8058, 3834): encoded once per body, the reader's own lines spliced in.

A base64 line of 76 letters stands for 57 bytes. What all readers share is padded to a multiple of 57, so the lines of the foot can
follow those of the rest without encoding it again.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime
from email.charset import BASE64, Charset
from email.header import Header
from email.utils import format_datetime, parseaddr
from hashlib import sha256

from digest.errors import ConfigError
from digest.model import MailBody

_LINE = 57
_CHARSET = Charset("utf-8")
_CHARSET.header_encoding = BASE64  # said here, for libraries change what Python does for utf-8 (apprise does)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who sends: the ``address`` for From, the ``list_id`` (RFC 2919), where readers find the archive and help, and where mail
    to unsubscribe goes (``leave``, empty for none). Raises ConfigError for anything that would break a header."""

    address: str
    list_id: str
    archive: str
    reply_to: str = ""
    leave: str = ""

    def __post_init__(self) -> None:
        for value in (self.address, self.list_id, self.archive, self.reply_to, self.leave):
            if any(ord(character) < 32 or ord(character) == 127 for character in value):
                raise ConfigError(f"a line break or control character in {value!r}; mail headers allow none")
        if "@" not in parseaddr(self.address)[1]:
            raise ConfigError(f"{self.address!r} is no sender's address")

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Personal:
    """What differs from reader to reader. ``token`` stands for the reader in Message-ID and bounces; both addresses are https."""

    address: str
    token: str
    unsubscribe: str
    preferences: str


class Message:
    """The message of one body; ``bytes_for`` makes it a reader's. ``places``: the two addresses in the feet to be replaced."""

    def __init__(self, body: MailBody, sender: Sender, issue_key: str, places: tuple[str, str]) -> None:
        self._sender = sender
        self._issue_key = issue_key
        self._places = places
        self._text_foot, self._html_foot = body.text_foot, body.html_foot
        self._text = _encoded(_padded(body.text))
        self._html = _encoded(_padded(body.html))
        boundary = f"=_{sha256(self._text + self._html).hexdigest()[:32]}"
        shared = [
            ("From", f"{encoded_words(body.title, 'From')}\r\n <{sender.address}>"),
            *([("Reply-To", sender.reply_to)] if sender.reply_to else []),
            ("Subject", encoded_words(body.subject, "Subject")),
            ("List-Id", f"<{sender.list_id}>"),
            ("List-Archive", f"<{sender.archive}>"),
            ("List-Help", f"<{sender.archive}>"),
            ("Auto-Submitted", "auto-generated"),
            ("Precedence", "bulk"),
            ("MIME-Version", "1.0"),
            ("Content-Type", f'multipart/alternative;\r\n boundary="{boundary}"'),
        ]
        self._shared = "".join(f"{name}: {value}\r\n" for name, value in shared).encode("ascii")
        self._text_head, self._html_head = (_part_head(kind, boundary) for kind in ("plain", "html"))
        self._end = f"--{boundary}--\r\n".encode("ascii")

    def bytes_for(self, personal: Personal, now: datetime) -> bytes:
        """The whole message for a reader, sent at that moment, with CRLF at every line's end."""
        leave = f", <mailto:{self._sender.leave}?subject=unsubscribe-{personal.token}>" if self._sender.leave else ""
        own = (
            f"To: {personal.address}\r\n"
            f"Date: {format_datetime(now)}\r\n"
            f"Message-ID: {self.message_id(personal)}\r\n"
            f"List-Unsubscribe: <{personal.unsubscribe}>{leave}\r\n"
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
        ).encode("ascii")
        text, html = (_encoded(self._filled(foot, personal)) for foot in (self._text_foot, self._html_foot))
        return b"".join((own, self._shared, b"\r\n", self._text_head, self._text, text, self._html_head, self._html, html, self._end))

    def message_id(self, personal: Personal) -> str:
        """The same for the same issue and reader, whenever it is sent."""
        return f"<{sha256(f'{self._issue_key}|{personal.token}'.encode()).hexdigest()[:32]}@{self._sender.domain}>"

    def _filled(self, foot: str, personal: Personal) -> bytes:
        unsubscribe, preferences = self._places
        return _lines(foot.replace(unsubscribe, personal.unsubscribe).replace(preferences, personal.preferences))


def letter(sender: Sender, title: str, to: str, subject: str, parts: tuple[str, str], identity: str, now: datetime) -> bytes:
    """A mail to one person who asked for it: ``parts`` are text and HTML; ``identity`` keeps its Message-ID apart from all others."""
    name = sha256(identity.encode()).hexdigest()[:32]
    heads = [
        ("From", f"{encoded_words(title, 'From')}\r\n <{sender.address}>"),
        ("To", to),
        ("Subject", encoded_words(subject, "Subject")),
        ("Date", format_datetime(now)),
        ("Message-ID", f"<{name}@{sender.domain}>"),
        *([("Reply-To", sender.reply_to)] if sender.reply_to else []),
        ("Auto-Submitted", "auto-generated"),
        ("MIME-Version", "1.0"),
        ("Content-Type", f'multipart/alternative;\r\n boundary="=_{name}"'),
    ]
    bodies = b"".join(_part_head(kind, f"=_{name}") + _encoded(_lines(text)) for kind, text in zip(("plain", "html"), parts, strict=True))
    return "".join(f"{key}: {value}\r\n" for key, value in heads).encode("ascii") + b"\r\n" + bodies + f"--=_{name}--\r\n".encode()


def encoded_words(text: str, header: str) -> str:
    """The text as a header's value (RFC 2047): whole, in words of at most 75 octets that break between characters."""
    return Header(" ".join(text.split()), _CHARSET, header_name=header).encode(linesep="\r\n")


def _part_head(kind: str, boundary: str) -> bytes:
    return f"--{boundary}\r\nContent-Type: text/{kind}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n".encode("ascii")


def _lines(text: str) -> bytes:
    return text.replace("\r\n", "\n").replace("\n", "\r\n").encode("utf-8")


def _padded(text: str) -> bytes:
    """The text as a multiple of 57 bytes, by a line of blanks before the foot."""
    body = _lines(f"{text.rstrip()}\n")
    missing = -len(body) % _LINE
    if missing == 1:
        missing += _LINE
    return body + b" " * (missing - 2) + b"\r\n" if missing else body


def _encoded(body: bytes) -> bytes:
    return b"".join(base64.b64encode(body[place : place + _LINE]) + b"\r\n" for place in range(0, len(body), _LINE))
