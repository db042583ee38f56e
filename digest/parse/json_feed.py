"""JSON Feed 1 and 1.1 (jsonfeed.org/version/1.1), and RSS written as JSON."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin

from digest.errors import ParseError
from digest.model import Download, Parsed
from digest.parse.assemble import Raw, assemble
from digest.parse.markup import plain, plain_title, tidy

ENTRY_LIMIT = 2000


def parse_text(text: str, encoding: str, download: Download) -> Parsed:
    """The items of a JSON Feed. Raises ParseError for JSON of another kind."""
    try:
        feed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"not JSON: {str(error)[:120]}") from error
    if isinstance(feed, dict) and isinstance(feed.get("rss"), dict):
        return _rss_in_json(feed["rss"], encoding, download)
    if not isinstance(feed, dict) or not _string(feed.get("version")).startswith("https://jsonfeed.org/version/1"):
        raise ParseError("JSON, but neither JSON Feed nor RSS in JSON")
    items = [item for item in _list(feed.get("items")) if isinstance(item, dict)]
    warnings = _excess(items)
    home = _string(feed.get("home_page_url")) or download.url
    return Parsed(
        entries=assemble([_raw(item, home, feed) for item in items[:ENTRY_LIMIT]], download),
        format="json-feed",
        encoding=encoding,
        title=plain_title(_string(feed.get("title"))),
        warnings=warnings,
    )


def _raw(item: dict[str, Any], home: str, feed: dict[str, Any]) -> Raw:
    link = _string(item.get("url")) or _string(item.get("external_url"))
    html, text = _string(item.get("content_html")), _string(item.get("content_text"))
    own = item.get("author")
    authors = _list(item.get("authors")) or ([own] if own else _list(feed.get("authors")))
    return Raw(
        guid=_string(item.get("id")),
        link=_joined(home, link),
        title=plain_title(_string(item.get("title"))),
        text=plain(html) if html else tidy(text or _string(item.get("summary"))),
        authors=tuple(plain_title(_string(author.get("name"))) for author in authors if isinstance(author, dict) and author.get("name")),
        date=_string(item.get("date_published")) or _string(item.get("date_modified")),
    )


def _rss_in_json(rss: dict[str, Any], encoding: str, download: Download) -> Parsed:
    channel = rss.get("channel") if isinstance(rss.get("channel"), dict) else {}
    assert isinstance(channel, dict)
    items = [item for item in _list(channel.get("item")) if isinstance(item, dict)]
    raws = [
        Raw(
            guid=_string(item["guid"].get("#value") if isinstance(item.get("guid"), dict) else item.get("guid")),
            link=_string(item.get("link")),
            title=plain_title(_string(item.get("title"))),
            text=plain(_string(item.get("description"))),
            date=_string(item.get("pubDate")),
        )
        for item in items[:ENTRY_LIMIT]
    ]
    return Parsed(
        entries=assemble(raws, download),
        format="rss-in-json",
        encoding=encoding,
        title=plain_title(_string(channel.get("title"))),
        warnings=_excess(items),
    )


def _excess(items: list[Any]) -> tuple[str, ...]:
    return (f"more than {ENTRY_LIMIT} entries; the rest was left unread",) if len(items) > ENTRY_LIMIT else ()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _joined(home: str, link: str) -> str:
    try:
        return urljoin(home, link) if link else ""
    except ValueError:
        return ""


def _string(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
