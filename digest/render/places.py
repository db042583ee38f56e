"""Where the pages lie below the output folder. Addresses are for ever: they depend on days, keys and names, never on titles."""

from __future__ import annotations

from datetime import date, timedelta

from digest.model import Folder, Language, folder_of
from digest.subjects import slug


def issue(day: date, language: Language) -> str:
    return f"{folder_of(day)}/{language}.html"


def article(day: date, story: str, language: Language) -> str:
    return f"{folder_of(day)}/{story}.{language}.html"


def card(day: date, story: str, language: Language) -> str:
    """The picture of an article, or of an issue where ``story`` is empty."""
    return f"{folder_of(day)}/{story or 'card'}.{language}.png"


def subject(folder: Folder, key: str, language: Language) -> str:
    return f"{folder}/{key}.{language}.html"


def topic(name: str, language: Language) -> str:
    return subject("topics", slug(name), language)


def entity(name: str, language: Language) -> str:
    return subject("entities", slug(name), language)


def source(name: str, language: Language) -> str:
    return subject("sources", slug(name), language)


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
