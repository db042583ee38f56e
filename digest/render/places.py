"""Where the pages lie below the output folder. Addresses are for ever: they depend on days, keys and names, never on titles."""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import lru_cache
from hashlib import sha256

from digest.model import Language

_PLAIN = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
LIMIT = 60


@lru_cache(maxsize=20_000)
def slug(name: str) -> str:
    """The name as part of an address: lower case, hyphens for what is no letter or digit; where that loses something (C++, 字节跳动) or
    is long, eight hex digits keep it apart from others."""
    plain = re.sub(r"[\s_/-]+", "-", name.casefold()).strip("-")
    if _PLAIN.fullmatch(plain) and len(plain) <= LIMIT and plain not in ("zh", "en", "index"):
        return plain
    rest = re.sub(r"[^a-z0-9]+", "-", plain)[:40].strip("-")
    return "-".join(part for part in (rest, short_hash(name)) if part)


def short_hash(text: str) -> str:
    """Eight hex digits that stand for the text."""
    return sha256(text.encode()).hexdigest()[:8]


def issue(day: date, language: Language) -> str:
    return f"{day:%Y/%m/%d}/{language}.html"


def article(day: date, story: str, language: Language) -> str:
    return f"{day:%Y/%m/%d}/{story}.{language}.html"


def card(day: date, story: str, language: Language) -> str:
    """The picture of an article, or of an issue where ``story`` is empty."""
    return f"{day:%Y/%m/%d}/{story or 'card'}.{language}.png"


def topic(name: str, language: Language) -> str:
    return f"topics/{slug(name)}.{language}.html"


def entity(name: str, language: Language) -> str:
    return f"entities/{slug(name)}.{language}.html"


def source(name: str, language: Language) -> str:
    return f"sources/{slug(name)}.{language}.html"


def month(day: date, language: Language) -> str:
    return f"{day:%Y/%m}/{language}.html"


def week(day: date, language: Language) -> str:
    """The page of the ISO week that holds the day."""
    year, number, _ = day.isocalendar()
    return f"{year:04d}/w{number:02d}.{language}.html"


def first_of_month(day: date) -> date:
    return day.replace(day=1)


def monday(day: date) -> date:
    """The Monday of the day's ISO week."""
    return day - timedelta(days=day.weekday())


def counterpart(path: str, main: Language, other: str) -> str:
    """The same page in another language (or ``index``: in all), as a link from the page itself; empty where there is none."""
    name = path.rsplit("/", 1)[-1]
    if name == "index.html":
        return f"{other}.html"
    if name == f"{main}.html" or name.endswith(f".{main}.html"):
        return f"{name.removesuffix(f'{main}.html')}{other}.html"
    return ""
