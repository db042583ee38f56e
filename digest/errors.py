"""Every error that is not a bug.

DigestError
├── ConfigError    feeds.yaml or the arguments are wrong: nothing was done
├── FetchError     an address gave no usable bytes
├── ParseError     bytes that are no feed
├── StoreError     the database refused or cannot be reached
├── WriteError     no wording could be made
├── RenderError    a template is wrong
└── PublishError   a document did not reach its reader

Each message names its subject and what to try.
"""


class DigestError(Exception):
    """The root: whoever catches it catches all of ours and no bug."""


class ConfigError(DigestError):
    """Settings or arguments are wrong; the message holds every complaint, one a line."""


class FetchError(DigestError):
    """An address gave no usable bytes."""


class ParseError(DigestError):
    """Bytes that are no feed, or one too hostile to read."""


class StoreError(DigestError):
    """The database refused, is locked, or cannot be reached."""


class WriteError(DigestError):
    """No wording could be made for a pick."""


class RenderError(DigestError):
    """A template is missing or wrong."""


class PublishError(DigestError):
    """A document did not reach its reader."""
