"""Every error that is not a bug.

DigestError
├── ConfigError    feeds.yaml or the arguments are wrong: nothing was done
├── FetchError     an address gave no usable bytes
├── ParseError     bytes that are no feed
├── StoreError     the database refused or cannot be reached
├── BusyError      another process is at work
├── WriteError     no wording could be made
├── RenderError    a template is wrong
├── PublishError   a document did not reach its reader
└── AudienceError  an address or link of a reader is none

Each message names its subject and what to try.
"""


class DigestError(Exception):
    """The root: whoever catches it catches all of ours and no bug.

    The message is for owners; ``reason`` is a word for readers, which the catalogues say in every language.
    """

    def __init__(self, message: str = "", *, reason: str = "other") -> None:
        super().__init__(message)
        self.reason = reason


class ConfigError(DigestError):
    """Settings or arguments are wrong; the message holds every complaint, one a line."""


class FetchError(DigestError):
    """An address gave no usable bytes.

    ``is_ours``: the fault lies on this side (no network), so the source is asked again without a pause.
    ``retry_after_seconds`` is what the server asked for; ``is_gone``: it said that the feed is gone for good (410);
    ``leads_to``: where a redirect that was not followed leads.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str = "unreachable",
        is_ours: bool = False,
        retry_after_seconds: float = 0.0,
        is_gone: bool = False,
        leads_to: str = "",
    ) -> None:
        super().__init__(message, reason=reason)
        self.is_ours = is_ours
        self.retry_after_seconds = retry_after_seconds
        self.is_gone = is_gone
        self.leads_to = leads_to


class BusyError(DigestError):
    """Another process is at work on the same database; the message says which."""


class ParseError(DigestError):
    """Bytes that are no feed, or one too hostile to read."""

    def __init__(self, message: str, *, reason: str = "no-feed") -> None:
        super().__init__(message, reason=reason)


class StoreError(DigestError):
    """The database refused, is locked, or cannot be reached."""


class WriteError(DigestError):
    """No wording could be made for a pick."""


class RenderError(DigestError):
    """A template is missing or wrong."""


class PublishError(DigestError):
    """A document did not reach its reader."""


class AudienceError(DigestError):
    """An address or a signed link that is none; nothing was changed."""
