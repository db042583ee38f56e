"""A DNS server for tests that knows what it is told."""

from __future__ import annotations

import socketserver
from threading import Thread

import dns.flags
import dns.message
import dns.rcode
import dns.rrset


class DnsServer:
    """On loopback, by UDP. ``records``: (name, kind) to the data, as a zone file writes it; ``is_broken``: every question fails."""

    def __init__(self, records: dict[tuple[str, str], list[str]], *, is_broken: bool = False) -> None:
        class Handler(socketserver.DatagramRequestHandler):
            def handle(self) -> None:
                question = dns.message.from_wire(self.rfile.read())
                answer = dns.message.make_response(question)
                answer.flags |= dns.flags.RA
                name, kind = question.question[0].name, dns.rdatatype.to_text(question.question[0].rdtype)
                found = records.get((str(name).rstrip(".").lower(), kind), [])
                if is_broken:
                    answer.set_rcode(dns.rcode.SERVFAIL)
                elif found:
                    answer.answer.append(dns.rrset.from_text_list(name, 60, "IN", kind, found))
                elif not any(known == str(name).rstrip(".").lower() for known, _ in records):
                    answer.set_rcode(dns.rcode.NXDOMAIN)
                self.wfile.write(answer.to_wire())

        self._server = socketserver.ThreadingUDPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]

    def __enter__(self) -> DnsServer:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *arguments: object) -> None:
        self._server.shutdown()
        self._server.server_close()
