"""What articles are about, mention and come from, how lists count it, and how it is called in addresses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import date
from functools import lru_cache
from hashlib import sha256

from digest.model import ArticleLine, Folder, MentionKind, SubjectKey

NAMED: tuple[MentionKind, ...] = ("method", "model", "hardware", "organisation", "framework", "venue")
NEWEST = 20  # articles of a subject that its page and feeds show
MONTHS = 12
LONGEST = 200  # characters of a name
_PLAIN = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_LONGEST_KEY = 60


def subjects_of(line: ArticleLine) -> dict[SubjectKey, tuple[str, str]]:
    """What an article is about, mentions and comes from: its folder and name in addresses, with its (name, kind); of two spellings of
    one name the first."""
    found: dict[SubjectKey, tuple[str, str]] = {}
    named = ((name, kind) for kind in NAMED for name in line.names.get(kind, ()))
    own: tuple[tuple[Folder, Iterable[tuple[str, str]]], ...] = (
        ("topics", ((tag, "topic") for tag in line.tags)),
        ("entities", named),
        ("sources", ((line.source_name, line.trust),)),
    )
    for folder, names in own:
        for name, kind in names:
            found.setdefault((folder, slug(name)), (name[:LONGEST], kind))
    return found


def touched(lines: Iterable[ArticleLine], days: Collection[date]) -> dict[SubjectKey, tuple[str, str]]:
    """All that the articles of those days are about, mention and come from, in the order of their keys."""
    found: dict[SubjectKey, tuple[str, str]] = {}
    for line in lines:
        if line.day in days:
            for key, named in subjects_of(line).items():
                found.setdefault(key, named)
    return dict(sorted(found.items()))


def last_months(until: date) -> tuple[date, ...]:
    """The first days of the twelve months up to that day, the newest last."""
    months = (divmod(until.year * 12 + until.month - 1 - back, 12) for back in range(MONTHS - 1, -1, -1))
    return tuple(date(year, month + 1, 1) for year, month in months)


@lru_cache(maxsize=20_000)
def slug(name: str) -> str:
    """The name as part of an address: lower case, hyphens for what is no letter or digit; where that loses something (C++, 字节跳动) or
    is long, eight hex digits keep it apart from others."""
    plain = re.sub(r"[\s_/-]+", "-", name.casefold()).strip("-")
    if _PLAIN.fullmatch(plain) and len(plain) <= _LONGEST_KEY and plain not in ("zh", "en", "index"):
        return plain
    rest = re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-")
    return "-".join(part for part in (rest, sha256(name.encode()).hexdigest()[:8]) if part)
