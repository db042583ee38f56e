"""The mail relay: SMTP with TLS by aiosmtplib, or a folder of ``.eml`` files for trying out."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import aiosmtplib

from digest.errors import PublishError
from digest.model import Reply

_SECONDS = 30.0
_LOGIN = {"password": "password", "oauth2": "access token"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayAddress:
    """Where mail is handed in. ``security``: STARTTLS (587), TLS from the first byte (465), or none (only for this machine)."""

    host: str
    port: int
    security: Literal["starttls", "tls", "none"]
    user: str = ""
    password: Callable[[], str] = str  # asked at each connection: a token may have been renewed
    login: Literal["password", "oauth2"] = "password"
    certificates: str = ""  # a file of further trusted ones

    def __repr__(self) -> str:
        return f"RelayAddress({self.host}:{self.port})"


class RelayRefusal(PublishError):
    """The relay could not be used; ``reply`` says at which step."""

    def __init__(self, message: str, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


class SmtpRelay:
    """Opens connections to one relay; each is used for one message after the other."""

    def __init__(self, address: RelayAddress, seconds: float = _SECONDS) -> None:
        self._address = address
        self._seconds = seconds

    async def connect(self) -> SmtpConnection:
        """A connection that is ready to send. Raises RelayRefusal."""
        address = self._address
        try:
            context = ssl.create_default_context(cafile=address.certificates or None)
        except (OSError, ssl.SSLError) as error:
            raise _refused("connect", f"mail.certificates: {address.certificates} cannot be used", error) from error
        client = aiosmtplib.SMTP(
            hostname=address.host,
            port=address.port,
            timeout=self._seconds,
            use_tls=address.security == "tls",
            start_tls=address.security == "starttls",
            tls_context=context,
        )
        try:
            await client.connect()
        except (TimeoutError, aiosmtplib.SMTPException, OSError, ssl.SSLError) as error:
            client.close()
            raise _refused("connect", f"cannot connect to {address.host}:{address.port}", error) from error
        try:
            if address.user and address.login == "oauth2":
                await client.auth_xoauth2(address.user, address.password())
            elif address.user:
                await client.login(address.user, address.password())
        except aiosmtplib.SMTPAuthenticationError as error:
            client.close()
            raise _refused("auth", f"{address.host} did not accept the user {address.user!r} and its {_LOGIN[address.login]}", error) from error
        except (TimeoutError, aiosmtplib.SMTPException, OSError) as error:
            client.close()
            raise _refused("connect", f"{address.host} broke off at the login", error) from error
        return SmtpConnection(client)


def _refused(stage: Literal["connect", "auth"], message: str, error: Exception) -> RelayRefusal:
    code, words = getattr(error, "code", 0) or 0, " ".join(str(getattr(error, "message", "") or error).split())[:300]
    return RelayRefusal(f"{message}: {words or type(error).__name__}", Reply(stage=stage, code=int(code), text=words))


class SmtpConnection:
    """One connection."""

    def __init__(self, client: aiosmtplib.SMTP) -> None:
        self._client = client

    async def send(self, sender: str, recipient: str, message: bytes) -> Reply:
        """What the relay said at the verb at which it ended. Code 0: the connection broke there; at ``dot`` the message may have arrived."""
        verb: Literal["mail", "rcpt", "dot"] = "mail"
        try:
            said = await self._client.mail(sender)
            verb = "rcpt"
            said = await self._client.rcpt(recipient)
            verb = "dot"
            said = await self._client.data(message)
        except aiosmtplib.SMTPDataError as error:  # 354 refused, or the message itself
            await self._reset(error.code)
            return Reply(stage="dot", code=error.code, text=_words(error.message))
        except aiosmtplib.SMTPResponseException as error:
            if verb == "dot" and error.code <= 0:
                return Reply(stage="dot", code=0)
            await self._reset(error.code)
            return Reply(stage=verb, code=max(error.code, 0), text=_words(error.message))
        except (TimeoutError, aiosmtplib.SMTPException, OSError):
            self.close()
            return Reply(stage=verb, code=0)
        return Reply(stage="dot", code=said.code, text=_words(said.message))

    async def _reset(self, code: int) -> None:
        """Ends the transaction, so that the next may begin; a server that says 421 wants to be left."""
        if code == 421:
            self.close()
            return
        try:
            await self._client.rset()
        except (TimeoutError, aiosmtplib.SMTPException, OSError):
            self.close()

    @property
    def is_open(self) -> bool:
        return self._client.is_connected

    def close(self) -> None:
        self._client.close()

    async def quit(self) -> None:
        """Ends it politely."""
        try:
            await self._client.quit()
        except (TimeoutError, aiosmtplib.SMTPException, OSError):
            self.close()


def _words(message: str) -> str:
    return " ".join(message.split())[:300]


class FolderRelay:
    """Writes each message as a file of its own, named by ``name_of`` the recipient; for trying out, and for another program to send."""

    def __init__(self, folder: Path, name_of: Callable[[str], str]) -> None:
        self._folder = folder
        self._name_of = name_of

    async def connect(self) -> FolderRelay:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RelayRefusal(f"cannot write to {self._folder}: {error.strerror}", Reply(stage="connect", code=0, text=str(error.strerror))) from error
        return self

    async def send(self, sender: str, recipient: str, message: bytes) -> Reply:
        path = self._folder / f"{self._name_of(recipient)}.eml"
        beside = path.with_suffix(".writing")
        try:
            with beside.open("wb") as file:
                file.write(message)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            return Reply(stage="rcpt", code=452, text=f"cannot write {path}: {error.strerror}")
        return Reply(stage="dot", code=250, text=f"written to {path.name}")

    is_open = True

    def close(self) -> None:
        pass

    async def quit(self) -> None:
        pass
