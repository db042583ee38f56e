"""Raw fields to an Entry: the rules that hold for every kind of source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from digest.model import Download, Entry, Identifiers, Language, Revision
from digest.parse.dates import resolve
from digest.text import arxiv_id, canonical_url, doi, is_han, one_line, repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """One entry as its feed has it, markup already taken off."""

    guid: str = ""
    link: str = ""
    title: str = ""
    text: str = ""
    authors: tuple[str, ...] = ()
    date: str = ""
    doi: str = ""
    revision: Revision = "new"


def assemble(raws: Iterable[Raw], download: Download) -> tuple[Entry, ...]:
    """Entries with stable, distinct keys, in the order of the feed; wholly empty ones are left out.

    The key is the source's name and the guid, else the canonical address, else a hash of the words. A guid
    that repeats in one feed is joined with the address, and what still repeats is the same entry twice.
    """
    found: dict[str, Entry] = {}
    guids: set[str] = set()
    for raw in raws:
        if not (raw.title or raw.text or raw.link):
            continue
        url = canonical_url(one_line(raw.link))
        name = one_line(raw.guid) or url or "hash:" + _hash(raw.title, raw.text)
        if name in guids:
            name = f"{name} {url or _hash(raw.title, raw.text)}"
        guids.add(name)
        key = f"{download.source.name}|{name if len(name) <= 300 else _hash(name)}"
        found.setdefault(key, _entry(key, url, raw, download))
    return tuple(found.values())


def _entry(key: str, url: str, raw: Raw, download: Download) -> Entry:
    source = download.source
    published_at, rule = resolve(raw.date, source.timezone, download.fetched_at)
    return Entry(
        key=key,
        source_name=source.name,
        url=url,
        ids=Identifiers(
            arxiv=arxiv_id(url) or arxiv_id(raw.guid),
            doi=doi(raw.doi) or doi(url),
            repository=repository(url),
        ),
        title=raw.title,
        text=raw.text,
        language=_language(raw, source.language),
        authors=raw.authors,
        published_at=published_at,
        published_by=rule,
        seen_at=download.fetched_at,
        revision=raw.revision,
    )


def _language(raw: Raw, expected: Language) -> Language:
    sample = f"{raw.title} {raw.text[:400]}"
    if not any(character.isalpha() for character in sample):
        return expected
    return "zh" if is_han(sample) else "en"


def _hash(*words: str) -> str:
    return sha256("\n".join(words).encode("utf-8", "replace")).hexdigest()[:16]
