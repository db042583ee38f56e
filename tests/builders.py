"""Valid things with one word changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from digest.model import (
    Article,
    CacheStamp,
    Claim,
    Coverage,
    Download,
    Entry,
    Issue,
    Label,
    LabelledEntry,
    Language,
    Mention,
    Parsed,
    Pick,
    Reason,
    Section,
    Source,
    Story,
    Wording,
)

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


def issues_of_years(number: int, step: int, articles: Sequence[int] = (0, 1, 2, 5)) -> list[Issue]:
    """So many issues, each ``step`` days after the one before, the last on DAY: as many articles as by chance one of those
    numbers; names that come and go, in several spellings; the English began after a third of the issues."""
    chance, issues = Random(1), []
    for place in range(number):
        day = DAY - timedelta(days=step * (number - 1 - place))
        languages: tuple[Language, ...] = ("zh", "en") if place > number // 3 else ("zh",)
        told = tuple(_an_article(chance, day, f"s{place}-{each}", languages) for each in range(chance.choice(articles)))
        until = NOON - timedelta(days=step * (number - 1 - place))
        sections = (Section(topic="training-acceleration", title={"zh": "训", "en": "T"}, articles=told),) if told else ()
        issues.append(an_issue(day=day, languages=languages, sections=sections, since=until - timedelta(days=1), until=until))
    return issues


def _an_article(chance: Random, day: date, key: str, languages: tuple[Language, ...]) -> Article:
    source = a_source(name=chance.choice(("Blog", "Lab", "机器前沿")), trust=chance.choice(("person", "official")))
    claims = (a_claim(metric=chance.choice(("training_speed", "memory", "throughput")), low=float(value := chance.choice((1.5, 2, 3))), high=value),)
    names = (chance.choice(("LoRA", "lora", "GaLore")), f"Rare {chance.randrange(40)}")
    mentions = tuple(Mention(kind=chance.choice(("method", "model")), text=name, quote=name) for name in names)
    entry = an_entry(key=key, source_name=source.name, url=f"https://example.com/{key}", title=f"Title {key}")
    story = a_story(key=key, entries=(a_labelled(entry=entry, claims=claims),))
    wordings = tuple(Wording(language=language, headline=f"{key} {language}", summary=f"{key} sum {language}.", blurb="") for language in languages)
    pick = Pick(story=story, reasons=(Reason(points=chance.randint(20, 90), why="on-topic"),))
    tags = tuple(chance.sample(("moe", "fp8", "optimizer", "dataset"), 2))
    return Article(pick=pick, source=source, claims=claims, mentions=mentions, tags=tags, wordings=wordings, written_by="patterns")
