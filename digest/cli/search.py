"""``digest search``: over every entry that was ever collected, with the hits marked."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.text import Text

from digest import wiring
from digest.cli.arguments import a_day, a_number, add_config, add_edition, parser
from digest.model import Entry
from digest.read.folding import fold
from digest.settings.load import load
from digest.store.database import open_database
from digest.store.search import Found, SqlSearch, Term, terms

_EPILOG = """Every word must be there; "a phrase" in a row; -word must not; wor* is a beginning. Chinese and English alike.

examples:
  digest search "training speedup"
  digest search 训练加速 --since 2026-11-01 --source "arXiv cs.LG"
  digest search '"mixture of experts" -inference' --topic training-acceleration --json
"""
_EXCERPT = 420
_SUFFIX = re.compile(r"(?:ings?|ed|es|s|ions?|ers?)$")


def main(command: str, arguments: list[str]) -> int:
    """Prints what was found: 0 something, 1 nothing."""
    options = parser(command, "Searches all entries ever collected, not only the picks.", _EPILOG)
    add_config(options)
    add_edition(options)
    options.add_argument("query", nargs="+", metavar="WORD")
    options.add_argument("--since", type=a_day, metavar="DAY", help="first seen on this day or later")
    options.add_argument("--until", type=a_day, metavar="DAY", help="first seen on this day or before")
    options.add_argument("--source", action="append", default=[], metavar="NAME", help="of this source; may be given several times")
    options.add_argument("--topic", default="", help="only what the rules found to be about it")
    options.add_argument("--limit", type=a_number, default=10, metavar="N", help="at most so many (10)")
    options.add_argument("--newest", action="store_true", help="the newest first, not the best")
    options.add_argument("--json", action="store_true", help="for programs")
    arguments = [f" {each}" if re.match(r"-[^\s-]{2}", each) else each for each in arguments]  # -word is no option
    return _search(options.parse_args(arguments))


def _search(chosen: Namespace) -> int:
    loaded = load(chosen.config)
    _, edition = wiring.edition(loaded.settings, chosen.edition)
    zone = ZoneInfo(edition.timezone)
    query = " ".join(chosen.query)
    engine = open_database(wiring.database_address(loaded))
    try:
        found = SqlSearch(engine).find(
            query,
            since=datetime.combine(chosen.since, time(), zone).astimezone(UTC) if chosen.since else None,
            until=datetime.combine(chosen.until, time(23, 59, 59, 999_999), zone).astimezone(UTC) if chosen.until else None,
            source_names=chosen.source,
            topic=chosen.topic,
            limit=max(1, min(chosen.limit, 1000)),
            newest_first=chosen.newest,
        )
    finally:
        engine.dispose()
    if chosen.json:
        print(json.dumps({"total": found.total, "is_cut": found.is_cut, "entries": [_record(entry) for entry in found.entries]}, ensure_ascii=False, indent=2))
    else:
        _print(found, terms(query), zone)
    return 0 if found.total else 1


def _record(entry: Entry) -> dict[str, object]:
    return {
        "key": entry.key,
        "title": entry.title,
        "url": entry.url,
        "source": entry.source_name,
        "authors": list(entry.authors),
        "published_at": entry.published_at.isoformat() if entry.published_at else None,
        "seen_at": entry.seen_at.isoformat(),
        "language": entry.language,
        "text": entry.text,
    }


def _print(found: Found, wanted: tuple[Term, ...], zone: ZoneInfo) -> None:
    console = Console(highlight=False)
    for entry in found.entries:
        console.print(Text.assemble(*_marked(entry.title or "(no title)", wanted, "bold")))
        console.print(f"{entry.at.astimezone(zone):%Y-%m-%d} · {entry.source_name} · {entry.url}", style="dim", markup=False, soft_wrap=True)
        if entry.text:
            console.print(Text.assemble(*_marked(_excerpt(entry.text, wanted), wanted, "")))
        console.print()
    more = f", the first {len(found.entries)} shown" if found.total > len(found.entries) else ""
    console.print(f"{found.total} found{more}" + ("; older ones were not looked at, add a word" if found.is_cut else ""))


def spans(text: str, wanted: tuple[Term, ...]) -> list[tuple[int, int]]:
    """Where the text holds what was looked for, by place, none overlapping another."""
    folded = fold(text)
    taken: list[tuple[int, int]] = []
    for term in (term for term in wanted if not term.is_excluded):
        for match in re.finditer(_pattern(term), folded):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                taken.append(match.span())
    return sorted(taken)


def _pattern(term: Term) -> str:
    """The tokens in a row; pairs of Chinese characters as the word that they came from, Latin words by their stems."""
    parts: list[str] = []
    for place, token in enumerate(term.tokens):
        if "\u3400" <= token[0] <= "\u9fff":
            before = term.tokens[place - 1] if place else ""
            is_next = len(before) == 2 and before[1] == token[0] and "\u3400" <= before[0] <= "\u9fff"
            parts.append(re.escape(token[1:] if is_next else token))
        else:
            stem = _SUFFIX.sub("", token) if len(token) > 4 else token
            parts.append((r"[\W_]+" if parts else "") + rf"\b{re.escape(stem)}\w{{0,6}}")
    return "".join(parts)


def _excerpt(text: str, wanted: tuple[Term, ...]) -> str:
    """The part of a long text around its first hit."""
    found = spans(text, wanted)
    start = max(0, (found[0][0] if found else 0) - _EXCERPT // 3)
    if start:
        start = text.find(" ", start, start + 40) + 1 or start
    part = " ".join(text[start : start + _EXCERPT].split())
    return ("… " if start else "") + part + (" …" if start + _EXCERPT < len(text) else "")


def _marked(text: str, wanted: tuple[Term, ...], style: str) -> list[tuple[str, str]]:
    parts, place = [], 0
    for start, end in spans(text, wanted):
        parts += [(text[place:start], style), (text[start:end], f"{style} black on yellow".strip())]
        place = end
    return [*parts, (text[place:], style)]
