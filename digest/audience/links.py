"""The addresses in a mail that belong to one reader: signed, opaque, valid for years, also after a change of key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from itsdangerous import BadSignature, URLSafeSerializer

from digest.errors import AudienceError, ConfigError

FEWEST_LETTERS = 24
NOBODY = 0  # the reader of a link that only asks whether the pages answer


class Links:
    """Makes and reads them. ``keys``: the one that signs first, then older ones that are still believed."""

    def __init__(self, base: str, keys: Sequence[str]) -> None:
        if not keys or any(len(key) < FEWEST_LETTERS for key in keys):
            raise ConfigError(f"the signing key must have at least {FEWEST_LETTERS} letters; make one with: openssl rand -base64 32")
        self._base = base.rstrip("/")
        self._serializer = URLSafeSerializer(list(reversed(keys)), salt="digest.mail")
        self._forms = URLSafeSerializer(list(reversed(keys)), salt="digest.form")

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

    def form(self, now: datetime) -> str:
        """What a page that was made at that moment carries in its form."""
        return str(self._forms.dumps(int(now.timestamp())))

    def form_age(self, token: str, now: datetime) -> timedelta | None:
        """How old the page is whose form carries the token; None for one that was not made here."""
        try:
            made = self._forms.loads(token)
        except BadSignature:
            return None
        return timedelta(seconds=now.timestamp() - made)

    def confirm(self, id: str) -> str:
        return f"{self._base}/c/{id}"

    def subscribe(self, edition: str) -> str:
        return f"{self._base}/subscribe/{edition}"

    def unsubscribe(self, token: str) -> str:
        return f"{self._base}/u/{token}"

    def preferences(self, token: str) -> str:
        return f"{self._base}/p/{token}"
