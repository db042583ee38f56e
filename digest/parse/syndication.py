"""RSS of every age, Atom and RDF, by way of feedparser; JSON Feed when the body turns out to be JSON.

feedparser gets UTF-8 bytes whose encoding we decided, never a string, an address or a file name.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import feedparser

from digest.errors import ParseError
from digest.model import Download, Parsed
from digest.parse import json_feed
from digest.parse.arxiv import announce_type, announced, paper_title, split_authors
from digest.parse.assemble import Raw, assemble
from digest.parse.document import regular
from digest.parse.encoding import decode
from digest.parse.feed_rhythm import rhythm
from digest.parse.markup import plain, plain_title, tidy

ENTRY_LIMIT = 2000
_GZIP = b"\x1f\x8b"
_SURVIVABLE = (feedparser.CharacterEncodingOverride, feedparser.NonXMLContentType)


def parse(download: Download) -> Parsed:
    """The entries of a feed in its own order. Raises ParseError when the body is no feed."""
    if not download.body.strip():
        raise ParseError("the answer is empty", reason="empty")
    if download.body.startswith(_GZIP):
        raise ParseError("compressed bytes that the server did not declare", reason="damaged")
    text, encoding, is_certain = decode(download.body, download.charset)
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        return json_feed.parse_text(text, encoding, download)
    document, warnings = regular(text, ENTRY_LIMIT)
    feed = _read(document)
    if not feed.get("version") and not feed.entries:
        raise ParseError("not a feed: neither RSS, Atom, RDF nor JSON Feed")
    if feed.feed.get("title", "").startswith("Feed error for query"):
        raise ParseError("arXiv did not understand the address; use one category, such as https://rss.arxiv.org/rss/cs.LG", reason="refused")
    if not is_certain:
        warnings += (f"the encoding was guessed: {encoding}",)
    if feed.bozo and not isinstance(feed.bozo_exception, _SURVIVABLE):
        warnings += (f"not well-formed: {str(feed.bozo_exception)[:120]}",)
    base = feed.feed.get("link") or download.url
    is_arxiv = download.source.kind == "arxiv" or "arxiv.org" in feed.feed.get("title", "")
    raws = [_raw(entry, base, download, is_arxiv) for entry in feed.entries]
    total = feed.feed.get("opensearch_totalresults", "")
    return Parsed(
        entries=assemble(raws, download),
        format=feed.get("version") or "unknown",
        encoding=encoding,
        title=plain_title(feed.feed.get("title", "")),
        warnings=warnings,
        rhythm=rhythm(document),
        total=int(total) if total.isascii() and total.isdigit() else None,
    )


def _read(document: str) -> Any:
    """What feedparser makes of it. Its own slips over broken markup are the document's fault."""
    try:
        return feedparser.parse(
            document.encode("utf-8"),
            response_headers={"content-type": "application/xml; charset=utf-8"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except (LookupError, AttributeError, TypeError, ValueError, AssertionError, RecursionError) as error:
        raise ParseError(f"too broken to read ({type(error).__name__})", reason="damaged") from error


def _raw(entry: Any, base: str, download: Download, is_arxiv: bool) -> Raw:
    link = _link(entry, base, download.url)
    date = entry.get("published") or entry.get("created") or entry.get("updated") or entry.get("date") or ""
    if is_arxiv:
        primary = (entry.get("arxiv_primary_category") or {}).get("term", "")
        text, revision = announced(entry.get("summary", ""), entry.get("arxiv_announce_type") or announce_type(primary, download.source.url))
        return Raw(
            guid=_guid(entry),
            link=link,
            title=paper_title(plain_title(entry.get("title", ""))),
            text=text,
            authors=split_authors(_authors(entry)),
            date=date,
            doi=entry.get("arxiv_doi", ""),
            revision=revision,
        )
    return Raw(
        guid=_guid(entry),
        link=link,
        title=plain_title(entry.get("title", "")),
        text=_text(entry),
        authors=tuple(dict.fromkeys(name for author in _authors(entry) if (name := plain_title(author)))),
        date=date,
        doi=entry.get("prism_doi", "") or entry.get("dc_identifier", ""),
    )


def _guid(entry: Any) -> str:
    return str(entry.get("id") or "").strip()


def _link(entry: Any, base: str, feed_url: str) -> str:
    candidates = [entry.get("feedburner_origlink"), entry.get("link")]
    candidates += [link.get("href") for link in entry.get("links", ()) if link.get("rel") in (None, "alternate", "via", "self")]
    if entry.get("guidislink") or _guid(entry).startswith(("http://", "https://")):
        candidates.append(_guid(entry))
    for candidate in candidates:
        if candidate and candidate.strip():
            try:
                return str(urljoin(urljoin(feed_url, base), candidate.strip()))
            except ValueError:
                continue
    return ""


def _authors(entry: Any) -> list[str]:
    names = [author.get("name") or "" for author in entry.get("authors", ())]
    return [name for name in names if name] or [name for name in (entry.get("author"),) if name]


def _text(entry: Any) -> str:
    """The longest text that the entry carries: full content where there is some, else the summary."""
    bodies = [(content.get("value", ""), content.get("type", "")) for content in entry.get("content", ())]
    bodies.append((entry.get("summary", ""), entry.get("summary_detail", {}).get("type", "")))
    bodies.append((entry.get("media_description", ""), "text/plain"))
    texts = [tidy(value) if kind == "text/plain" and "<" not in value and "&" not in value else plain(value) for value, kind in bodies if value]
    return max(texts, key=len, default="")
