"""A mailbox on IMAP for tests: one user, one folder, the few commands that reading it needs."""

from __future__ import annotations

import re
import socketserver
from threading import Thread


class ImapServer:
    """On loopback. ``flags`` says how each mail was marked."""

    def __init__(self, mails: list[bytes], password: str = "secret") -> None:
        self.mails, self.password = mails, password
        self.flags: dict[int, str] = {}
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.wfile.write(b"* OK here\r\n")
                for line in self.rfile:
                    tag, _, rest = line.decode().strip().partition(" ")
                    for answer in outer._answers(rest):
                        self.wfile.write(answer)
                    self.wfile.write(f"{tag} {outer._result(rest)}\r\n".encode())

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]

    def __enter__(self) -> ImapServer:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *arguments: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _result(self, rest: str) -> str:
        if rest.startswith("LOGIN") and f'"{self.password}"' not in rest:
            return "NO wrong password"
        return "OK done"

    def _answers(self, rest: str) -> list[bytes]:
        if rest == "CAPABILITY":
            return [b"* CAPABILITY IMAP4rev1\r\n"]
        if rest.startswith("SELECT"):
            return [f"* {len(self.mails)} EXISTS\r\n".encode()]
        if rest.startswith("UID SEARCH"):
            unseen = " ".join(str(uid) for uid in range(1, len(self.mails) + 1) if uid not in self.flags)
            return [f"* SEARCH {unseen}\r\n".encode()]
        if fetched := re.match(r"UID FETCH (\d+)", rest):
            raw = self.mails[int(fetched[1]) - 1]
            return [f"* {fetched[1]} FETCH (UID {fetched[1]} BODY[] {{{len(raw)}}}\r\n".encode() + raw + b")\r\n"]
        if stored := re.match(r"UID STORE (\d+) \+FLAGS \((.*)\)", rest):
            self.flags[int(stored[1])] = stored[2]
        return [b"* BYE\r\n"] if rest == "LOGOUT" else []
