"""The names by which an entry is known as the same work elsewhere."""

from __future__ import annotations

from hashlib import sha256

from digest.model import Entry


def identities(entry: Entry) -> tuple[str, ...]:
    """All names, strongest first: arXiv id, DOI, repository, canonical address, the entry's own key."""
    url = (f"url:{entry.url}",) if entry.url and not _is_front_page(entry.url) else ()
    return (*entry.ids, *url, f"key:{entry.key}")


def story_key(entry: Entry) -> str:
    """A short stable name for the story that this entry leads; safe in addresses and anchors."""
    name = identities(entry)[0]
    scheme, _, value = name.partition(":")
    return f"arxiv-{value.replace('/', '-')}" if scheme == "arxiv" else sha256(name.encode()).hexdigest()[:12]


def _is_front_page(url: str) -> bool:
    """An address without path or query stands for a site, not for a work (some feeds give it to every entry)."""
    return url.count("/") <= 3 and url.endswith("/") and "?" not in url
