"""Mail addresses: checked, in the one form that two spellings of a mailbox share, and as the hash that outlives a reader."""

from __future__ import annotations

from hashlib import sha256

from email_validator import EmailNotValidError, validate_email

from digest.errors import AudienceError


def checked(text: str) -> str:
    """The address as it is to be written to: no display name, the domain in lower case and ASCII. Raises AudienceError with the reason.

    Whether the mailbox exists only a mail to it can tell.
    """
    try:
        found = validate_email(text.strip(), check_deliverability=False, allow_smtputf8=False, strict=True)
    except EmailNotValidError as error:
        raise AudienceError(f"{text.strip()[:80]!r} is no mail address: {error}") from error
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


def domain_of(address: str) -> str:
    """The receiving domain, in lower case."""
    return address.rpartition("@")[2].casefold()
