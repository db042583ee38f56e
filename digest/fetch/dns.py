"""What the domain name system says of a sender (dnspython)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dns.exception
import dns.resolver
import dns.reversename

from digest.errors import FetchError

_SECONDS = 5.0


class Names:
    """Asks the machine's resolvers, or those named. Every question raises FetchError when nobody answers; what does not exist is empty."""

    def __init__(self, servers: Sequence[str] = (), port: int = 53) -> None:
        try:
            self._resolver = dns.resolver.Resolver(configure=not servers)
        except dns.resolver.NoResolverConfiguration as error:
            raise FetchError("this machine has no DNS resolver configured; name one with --resolver") from error
        if servers:
            self._resolver.nameservers, self._resolver.port = list(servers), port
        self._resolver.lifetime = _SECONDS

    def texts(self, name: str) -> list[str]:
        """The TXT records, their parts joined."""
        return [b"".join(record.strings).decode("utf-8", "replace") for record in self._asked(name, "TXT")]

    def addresses(self, name: str) -> list[str]:
        return [record.address for kind in ("A", "AAAA") for record in self._asked(name, kind)]

    def exchangers(self, name: str) -> list[str]:
        """The hosts that take mail for the domain, best first."""
        found = sorted(self._asked(name, "MX"), key=lambda record: record.preference)
        return [str(record.exchange).rstrip(".") for record in found if str(record.exchange) != "."]

    def pointers(self, address: str) -> list[str]:
        """The names of an IP address."""
        return [str(record.target).rstrip(".") for record in self._asked(dns.reversename.from_address(address), "PTR")]

    def _asked(self, name: Any, kind: str) -> list[Any]:
        try:
            return list(self._resolver.resolve(name, kind))
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except (dns.exception.DNSException, ValueError) as error:
            raise FetchError(f"DNS does not answer for {name} {kind}: {type(error).__name__}") from error
