"""Mail addresses: checked, in the one form that two spellings of a mailbox share, and as the hash that outlives a reader."""

from __future__ import annotations

from hashlib import sha256
from ipaddress import ip_address, ip_network

from email_validator import EmailNotValidError, validate_email

from digest.errors import AudienceError
from digest.phrase import Phrase


def checked(text: str) -> str:
    """The address as it is to be written to: no display name, the domain in lower case and ASCII. Raises AudienceError with the reason.

    Whether the mailbox exists only a mail to it can tell.
    """
    try:
        found = validate_email(text.strip(), check_deliverability=False, allow_smtputf8=False, strict=True)
    except EmailNotValidError as error:
        raise AudienceError(Phrase("“%(what)s” is not an email address: %(why)s", what=text.strip()[:80], why=str(error))) from error
    return str(found.ascii_email)


def normal(address: str) -> str:
    """The form that names a mailbox: lower case, without what follows a plus sign; the dots of Gmail do not count."""
    local, _, domain = address.casefold().rpartition("@")
    local = local.partition("+")[0] or local
    if domain in ("gmail.com", "googlemail.com"):
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"


def address_hash(address: str) -> str:
    """What stays of a reader who left: the SHA-256 of the normal form, in hex."""
    return sha256(normal(address).encode()).hexdigest()


def network_of(client: str) -> str:
    """The network that counts as one client: 256 addresses of IPv4, a /64 of IPv6; anything else is itself."""
    try:
        address = ip_address(client)
    except ValueError:
        return client[:60]
    address = getattr(address, "ipv4_mapped", None) or address
    return str(ip_network(f"{address}/{24 if address.version == 4 else 64}", strict=False))


def domain_of(address: str) -> str:
    """The receiving domain, in lower case."""
    return address.rpartition("@")[2].casefold()
