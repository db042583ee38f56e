"""Mailboxes that mails come back to: Maildir, mbox, IMAP, or one mail on standard input."""

from __future__ import annotations

import imaplib
import mailbox
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import unquote, urlsplit

from digest.errors import FetchError

_SECONDS = 60.0


class Mail(Protocol):
    """One mail in a mailbox."""

    raw: bytes

    def done(self, *, is_understood: bool) -> None:
        """Marks it as read, so that it is not given again; one that was not understood stays to be looked at."""


class _Kept:
    """A mail of a place that cannot be marked."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def done(self, *, is_understood: bool) -> None:
        pass


class _InMaildir:
    def __init__(self, box: mailbox.Maildir, key: str) -> None:
        self._box, self._key = box, key
        self.raw = box.get_bytes(key)

    def done(self, *, is_understood: bool) -> None:
        message = self._box[self._key]
        message.set_subdir("cur")
        message.set_flags("S" if is_understood else "SF")
        self._box[self._key] = message


class _OnImap:
    def __init__(self, client: imaplib.IMAP4, uid: str, raw: bytes) -> None:
        self._client, self._uid, self.raw = client, uid, raw

    def done(self, *, is_understood: bool) -> None:
        self._client.uid("STORE", self._uid, "+FLAGS", r"(\Seen)" if is_understood else r"(\Seen \Flagged)")


def from_stream(stream: BinaryIO) -> Iterator[Mail]:
    """The one mail that a mail server pipes in."""
    yield _Kept(stream.read())


def from_maildir(folder: Path) -> Iterator[Mail]:
    """The new mails of a Maildir. Raises FetchError."""
    if not (folder / "new").is_dir():
        raise FetchError(f"{folder} is no Maildir (it has no folder `new`)")
    box = mailbox.Maildir(folder, create=False)
    for key in sorted(box.keys()):
        if box[key].get_subdir() == "new":
            yield _InMaildir(box, key)


def from_mbox(path: Path) -> Iterator[Mail]:
    """All mails of an mbox file, which stays as it is. Raises FetchError."""
    if not path.is_file():
        raise FetchError(f"there is no file {path}")
    with closing(mailbox.mbox(path, create=False)) as box:
        for key in box.iterkeys():
            yield _Kept(box.get_bytes(key))


@contextmanager
def _imap(address: str, password: str, certificates: str) -> Iterator[imaplib.IMAP4]:
    parts = urlsplit(address)
    host, folder = parts.hostname or "", unquote(parts.path.strip("/")) or "INBOX"
    try:
        if parts.scheme == "imaps":
            context = ssl.create_default_context(cafile=certificates or None)
            client: imaplib.IMAP4 = imaplib.IMAP4_SSL(host, parts.port or 993, ssl_context=context, timeout=_SECONDS)
        else:
            client = imaplib.IMAP4(host, parts.port or 143, timeout=_SECONDS)
        with client:
            client.login(unquote(parts.username or ""), password)
            kind, words = client.select(f'"{folder}"')
            if kind != "OK":
                raise FetchError(f"{host} has no folder {folder!r}: {words[0]!r}")
            yield client
    except (imaplib.IMAP4.error, OSError) as error:
        raise FetchError(f"cannot read the mailbox at {host}: {' '.join(str(error).split())[:200]}") from error


def from_imap(address: str, password: str, certificates: str = "") -> Iterator[Mail]:
    """The unseen mails of ``imaps://user@host/FOLDER``, oldest first. Raises FetchError."""
    with _imap(address, password, certificates) as client:
        for uid in (client.uid("SEARCH", "UNSEEN")[1][0] or b"").decode().split():
            answer = client.uid("FETCH", uid, "(BODY.PEEK[])")[1]
            if answer and isinstance(answer[0], tuple):
                yield _OnImap(client, uid, answer[0][1])
