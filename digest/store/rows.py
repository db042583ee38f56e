"""Entries to rows and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from digest.model import Entry, Identifiers


def row_of(entry: Entry, is_backlog: bool) -> dict[str, Any]:
    """The row of an entry."""
    return {
        "key": entry.key,
        "source_name": entry.source_name,
        "url": entry.url[:2000],
        "arxiv": entry.ids.arxiv,
        "doi": entry.ids.doi,
        "repository": entry.ids.repository[:200],
        "title": entry.title,
        "text": entry.text,
        "language": entry.language,
        "authors": list(entry.authors),
        "published_at": entry.published_at,
        "published_by": entry.published_by,
        "seen_at": entry.seen_at,
        "revision": entry.revision,
        "is_backlog": is_backlog,
        "text_from": entry.text_from,
    }


def entry_of(row: Mapping[Any, Any]) -> Entry:
    """The entry of a row."""
    fields: dict[str, Any] = {str(name): value for name, value in row.items()}
    del fields["is_backlog"]
    ids = Identifiers(**{scheme: fields.pop(scheme) for scheme in ("arxiv", "doi", "repository")})
    return Entry(ids=ids, **{**fields, "authors": tuple(fields["authors"])})
