"""DKIM (RFC 6376): the sender's own signature, for relays that do not sign."""

from __future__ import annotations

from base64 import b64encode

import dkim
from dkim.crypto import parse_pem_private_key

from digest.errors import ConfigError

# What receivers ask to be signed (RFC 8058: both List-Unsubscribe headers); whatever a message does not have is signed as absent.
SIGNED = "from reply-to to subject date message-id mime-version content-type list-id list-archive list-unsubscribe list-unsubscribe-post auto-submitted".split()


def public_part(key: str) -> str:
    """The public half of an RSA key as a DKIM record holds it (PKCS #1, base64); empty for a key of another kind."""
    if "-----BEGIN" not in key:
        return ""
    numbers = parse_pem_private_key(key.encode())
    body = _der(0x02, numbers["modulus"]) + _der(0x02, numbers["publicExponent"])
    inner = bytes([0x30]) + _length(len(body)) + body
    bits = bytes([0x03]) + _length(len(inner) + 1) + b"\0" + inner
    rsa = bytes.fromhex("300d06092a864886f70d0101010500")
    return b64encode(bytes([0x30]) + _length(len(rsa + bits)) + rsa + bits).decode()


def _der(tag: int, number: int) -> bytes:
    body = number.to_bytes(number.bit_length() // 8 + 1, "big")
    return bytes([tag]) + _length(len(body)) + body


def _length(size: int) -> bytes:
    if size < 128:
        return bytes([size])
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits


class DkimSignature:
    """Signs with an RSA or Ed25519 key (PEM, or for Ed25519 base64 as dkimpy makes it). Raises ConfigError for a key that is none."""

    def __init__(self, domain: str, selector: str, key: str) -> None:
        self._domain, self._selector, self._key = domain.encode(), selector.encode(), key.encode()
        self._algorithm = b"rsa-sha256" if "-----BEGIN" in key else b"ed25519-sha256"
        self.header_for(b"From: a@b.example\r\n\r\nx\r\n")

    def header_for(self, message: bytes) -> bytes:
        """The DKIM-Signature header to put before the message."""
        try:
            headers = [name.encode() for name in SIGNED]
            signed: bytes = dkim.sign(
                message,
                self._selector,
                self._domain,
                self._key,
                canonicalize=(b"relaxed", b"simple"),
                signature_algorithm=self._algorithm,
                include_headers=headers,
            )
        except (dkim.DKIMException, ValueError, TypeError) as error:
            raise ConfigError(f"the DKIM key cannot be used: {error}") from error
        return signed.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
