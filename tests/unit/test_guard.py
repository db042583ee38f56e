"""Which addresses may be asked: the public internet, and what the owner allows; in every disguise."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import Any

import pytest

from digest.errors import FetchError
from digest.fetch.guard import Guard, is_public

PRIVATE = [
    "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.1.1", "0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1",
    "192.88.99.1", "::1", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_the_public_internet_is_not_asked(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"])
def test_public_addresses_are_asked_also_in_ipv6_dress(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def asked(guard: Guard, host: str, port: int = 80, scheme: str = "http") -> list[str]:
    return asyncio.run(guard.addresses(scheme, host, port))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_refused_however_it_is_spelled(host: str) -> None:
    with pytest.raises((FetchError, OSError), match=r"not on the public internet|not known"):
        asked(Guard(), host)


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.0/8", "localhost", "localhost:80"])
def test_the_owner_may_allow_a_host_a_port_or_a_network(allowed: str) -> None:
    assert "127.0.0.1" in asked(Guard([allowed]), "localhost" if "localhost" in allowed else "127.0.0.1")


def test_a_host_that_is_allowed_on_one_port_is_not_on_another() -> None:
    with pytest.raises(FetchError):
        asked(Guard(["localhost:1200"]), "localhost", 80)


@pytest.mark.parametrize("scheme", ["ftp", "file", "gopher", "unix"])
def test_other_schemes_are_refused(scheme: str) -> None:
    with pytest.raises(FetchError, match="only http and https"):
        asked(Guard(), "example.com", scheme=scheme)


class _Resolver:
    """Stands in for the loop's resolver."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    async def __call__(self, host: str, port: int, **options: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, port)) for address in self._addresses]


def resolved(*addresses: str, port: int = 443) -> list[str]:
    async def run() -> list[str]:
        asyncio.get_running_loop().getaddrinfo = _Resolver(*addresses)  # type: ignore[method-assign]
        return await Guard().addresses("https", "blog.example.com", port)

    return asyncio.run(run())


def test_a_name_with_one_private_address_is_refused() -> None:
    assert resolved("8.8.8.8", "9.9.9.9") == ["8.8.8.8", "9.9.9.9"]
    with pytest.raises(FetchError, match="allow"):
        resolved("8.8.8.8", "10.0.0.1")


def test_unusual_ports_are_refused_and_the_remedy_is_named() -> None:
    with pytest.raises(FetchError, match=r"allow: \['blog.example.com:22'\]"):
        resolved("8.8.8.8", port=22)
