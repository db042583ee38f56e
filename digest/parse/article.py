"""The main text of a web page, without its menus and comments, by way of trafilatura on bytes that we fetched."""

from __future__ import annotations

import re

from digest.errors import ParseError
from digest.model import Download
from digest.parse.encoding import decode
from digest.parse.markup import tidy

TEXT_LIMIT = 256 * 1024
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)


def article(download: Download) -> str:
    """The text in paragraphs; empty where no article is found. Raises ParseError. Needs the ``full-text`` extra."""
    import trafilatura

    meta = _META.search(download.body, 0, 4096)
    charset = download.charset or (meta[1].decode("ascii") if meta else None)
    page, _, _ = decode(download.body, charset)
    try:
        found = trafilatura.extract(page, include_comments=False, include_tables=False, favor_precision=True)
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError, AssertionError) as error:  # pages of any shape
        raise ParseError(f"the page could not be read ({type(error).__name__})") from error
    return tidy(found or "")[:TEXT_LIMIT]
