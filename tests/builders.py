"""Valid things with one word changed."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from digest.model import CacheStamp, Claim, Coverage, Download, Entry, Issue, Label, LabelledEntry, Parsed, Source, Story

NOON = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
DAY = date(2026, 11, 24)


def a_source(**changes: Any) -> Source:
    return Source(**{"name": "Blog", "url": "https://blog.example.com/feed"} | changes)


def a_download(body: bytes | str = b"", **changes: Any) -> Download:
    raw = body.encode() if isinstance(body, str) else body
    fields: dict[str, Any] = {
        "source": a_source(),
        "url": "https://blog.example.com/feed",
        "body": raw,
        "media_type": "",
        "charset": None,
        "stamp": CacheStamp(etag='"1"'),
        "fetched_at": NOON,
    }
    return Download(**fields | changes)


def an_entry(**changes: Any) -> Entry:
    fields: dict[str, Any] = {
        "key": "Blog|1",
        "source_name": "Blog",
        "url": "https://blog.example.com/1",
        "title": "A title of some length",
        "text": "Some text.",
        "published_at": NOON,
        "published_by": "iso",
        "seen_at": NOON,
    }
    fields["url"] = f"https://blog.example.com/{changes.get('key', fields['key']).split('|')[-1]}"
    return Entry(**fields | changes)


def a_label(**changes: Any) -> Label:
    return Label(**{"topic": "training-acceleration", "score": 8.0, "is_in": True} | changes)


def a_labelled(**changes: Any) -> LabelledEntry:
    return LabelledEntry(**{"entry": an_entry(), "labels": (a_label(),), "kind": "paper"} | changes)


def a_story(**changes: Any) -> Story:
    return Story(**{"key": "story", "topic": "training-acceleration", "entries": (a_labelled(),)} | changes)


def a_claim(**changes: Any) -> Claim:
    fields: dict[str, Any] = {
        "metric": "training_speed",
        "low": 2.0,
        "high": 2.0,
        "unit": "x",
        "direction": "faster",
        "quote": "a 2x training speedup",
        "entry_key": "Blog|1",
    }
    return Claim(**fields | changes)


def a_parsed(*entries: Entry, **changes: Any) -> Parsed:
    return Parsed(**{"entries": entries, "format": "rss20", "encoding": "utf-8"} | changes)


def a_coverage(**changes: Any) -> Coverage:
    return Coverage(**{"source_name": "Blog", "state": "complete", "seen": 1} | changes)


def an_issue(**changes: Any) -> Issue:
    fields: dict[str, Any] = {
        "edition": "training",
        "day": DAY,
        "title": {"zh": "训练加速日报", "en": "Training Digest"},
        "languages": ("zh", "en"),
        "timezone": "Asia/Shanghai",
        "address": "https://digest.example.org",
        "sections": (),
        "entries_read": 1,
        "since": datetime(2026, 11, 23, 12, tzinfo=UTC),
        "until": NOON,
    }
    return Issue(**fields | changes)
