"""A mail server for tests that does what it is told: refuses, stalls and breaks off at any verb, and remembers what it took."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections import Counter
from collections.abc import Callable
from threading import Thread
from typing import Any

Say = Callable[[str, str], str]


class MailServer:
    """On loopback, in a thread of its own. ``say(verb, recipient)`` gives the answer at connect, auth, mail, rcpt, data or dot: a line such
    as "250 fine", ``reset`` (the connection breaks), ``stall`` (silence), or for dot ``take and reset``: it took the mail and broke off."""

    def __init__(self, say: Say | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.say: Say = say or (lambda verb, recipient: "")
        self.taken: list[tuple[str, str]] = []  # recipient, Message-ID
        self.raw: list[bytes] = []
        self.keeps_raw = False
        self.envelopes: list[str] = []
        self.logins: list[str] = []
        self.port = 0
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, daemon=True)

    @property
    def times(self) -> Counter[str]:
        """How many mails each recipient got."""
        return Counter(recipient for recipient, _ in self.taken)

    def __enter__(self) -> MailServer:
        self._thread.start()
        while not self.port:
            pass
        return self

    def __exit__(self, *arguments: Any) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", 0, ssl=self._tls, limit=2**20))
        self.port = server.sockets[0].getsockname()[1]
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._session(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, _Break):
            pass
        finally:
            writer.close()

    async def _session(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        recipient = ""

        async def answer(verb: str, usual: str) -> str:
            said = self.say(verb, recipient) or usual
            if said == "stall":
                await asyncio.sleep(3600)
            if said == "reset":
                raise _Break
            writer.write(f"{said}\r\n".encode())
            await writer.drain()
            return said

        await answer("connect", "220 here")
        while line := (await reader.readline()).decode():
            verb = line.split()[0].upper().rstrip(":") if line.split() else ""
            if verb in ("EHLO", "HELO"):
                writer.write(b"250-here\r\n250-AUTH PLAIN LOGIN XOAUTH2\r\n250 8BITMIME\r\n")
            elif verb == "AUTH":
                self.logins.append(line.split()[1])
                await answer("auth", "235 welcome")
            elif verb == "MAIL":
                self.envelopes.append(re.findall(r"<(.*?)>", line)[0])
                await answer("mail", "250 fine")
            elif verb == "RCPT":
                recipient = re.findall(r"<(.*?)>", line)[0]
                await answer("rcpt", "250 fine")
            elif verb == "DATA":
                if not (await answer("data", "354 go on")).startswith("354"):
                    continue
                message = await reader.readuntil(b"\r\n.\r\n")
                said = self.say("dot", recipient) or "250 taken"
                if said.startswith(("250", "take")):
                    found = re.search(rb"Message-ID: (\S+)", message)
                    self.taken.append((recipient, found[1].decode() if found else ""))
                    if self.keeps_raw:
                        self.raw.append(message.removesuffix(b".\r\n"))
                if said.endswith("reset"):
                    raise _Break
                if said.endswith("stall"):
                    await asyncio.sleep(3600)
                writer.write(f"{said}\r\n".encode())
            elif verb == "QUIT":
                writer.write(b"221 bye\r\n")
                await writer.drain()
                return
            else:
                writer.write(b"250 fine\r\n")
            await writer.drain()


class _Break(Exception):
    pass
