"""The addresses in a mail that belong to one reader: signed, opaque, valid for years, also after a change of key."""

from __future__ import annotations

from collections.abc import Sequence

from itsdangerous import BadSignature, URLSafeSerializer

from digest.errors import AudienceError, ConfigError

FEWEST_LETTERS = 24


class Links:
    """Makes and reads them. ``keys``: the one that signs first, then older ones that are still believed."""

    def __init__(self, base: str, keys: Sequence[str]) -> None:
        if not keys or any(len(key) < FEWEST_LETTERS for key in keys):
            raise ConfigError(f"the signing key must have at least {FEWEST_LETTERS} letters; make one with: openssl rand -base64 32")
        self._base = base.rstrip("/")
        self._serializer = URLSafeSerializer(list(reversed(keys)), salt="digest.mail")

    def token(self, reader: int) -> str:
        """What stands for the reader; nobody can make one for another."""
        return str(self._serializer.dumps(reader))

    def reader(self, token: str) -> int:
        """The reader a token stands for. Raises AudienceError for any other."""
        try:
            found = self._serializer.loads(token)
        except BadSignature as error:
            raise AudienceError("this link was not made here, or is cut") from error
        if not isinstance(found, int):
            raise AudienceError("this link was not made for a reader")
        return found

    def unsubscribe(self, token: str) -> str:
        return f"{self._base}/u/{token}"

    def preferences(self, token: str) -> str:
        return f"{self._base}/p/{token}"
