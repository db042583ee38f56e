"""Which addresses may be asked: http and https on the public internet, and what the owner allows by name.

A feed, or a redirect of one, must not make this program ask the owner's own network (server-side request forgery). A name is resolved
once, every address is looked at, and that very address is connected to; a redirect goes through the same gate.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence

from digest.errors import FetchError

PORTS = (80, 443)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SIX_TO_FOUR = ipaddress.ip_network("2002::/16")
_LOCAL_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")
_OLD_RELAY = ipaddress.ip_network("192.88.99.0/24")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Guard:
    """``allowed`` are hosts (``rss.internal``, ``rss.internal:1200``) and networks (``10.1.0.0/16``) that may be asked although they
    are not public, or on another port."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._hosts: set[str] = set()
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        for name in allowed:
            try:
                self._networks.append(ipaddress.ip_network(name.strip("[]"), strict=False))
            except ValueError:
                self._hosts.add(name.lower())

    def is_own(self, host: str, port: int) -> bool:
        """Whether the owner named this host, or the network of this address."""
        if host.lower() in self._hosts or f"{host.lower()}:{port}" in self._hosts:
            return True
        try:
            address = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            return False
        return any(address in network for network in self._networks)

    def check_name(self, scheme: str, host: str, port: int) -> None:
        """Refuses what can be refused without asking for the name's addresses. Raises FetchError."""
        if scheme not in ("http", "https"):
            raise FetchError(f"only http and https are asked, not {scheme}:", reason="forbidden")
        if self.is_own(host, port):
            return
        try:
            address = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            address = None
        if host == "localhost" or (address is not None and not is_public(address)):
            raise self._not_public(host)
        if port not in PORTS:
            raise self._odd_port(host, port)

    async def addresses(self, scheme: str, host: str, port: int) -> list[str]:
        """The addresses that may be connected to for this host, in the resolver's order. Raises FetchError when there is none, and
        ``OSError`` when the name is not known."""
        if scheme not in ("http", "https"):
            raise FetchError(f"only http and https are asked, not {scheme}:", reason="forbidden")
        is_named = self.is_own(host, port)
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        resolved = list(dict.fromkeys(ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in found))
        if is_named:
            return [str(address) for address in resolved]
        known = [address for address in resolved if any(address in network for network in self._networks)]
        if known:
            return [str(address) for address in known]
        if not all(is_public(address) for address in resolved):
            raise self._not_public(host)
        if port not in PORTS:
            raise self._odd_port(host, port)
        return [str(address) for address in resolved]

    def _not_public(self, host: str) -> FetchError:
        return FetchError(f"{host} is not on the public internet; if it is yours, add it to `fetch: {{allow: [{host}]}}`", reason="forbidden")

    def _odd_port(self, host: str, port: int) -> FetchError:
        return FetchError(f"port {port} is not asked; if it is right, add it to `fetch: {{allow: ['{host}:{port}']}}`", reason="forbidden")


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could be reached there: global, unicast, and not a private address in disguise (IPv4 inside
    IPv6, NAT64 of RFC 6052, 6to4)."""
    inside = _ipv4_inside(address)
    if inside is not None:
        return is_public(inside)
    return address.is_global and not address.is_multicast and address not in _OLD_RELAY and address not in _LOCAL_NAT64


def _ipv4_inside(address: Address) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        return ipaddress.IPv4Address(int(address) >> 80 & 0xFFFFFFFF)
    return None
