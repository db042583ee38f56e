"""``digest feeds``: what is read, what a feed holds, and sources as people name them."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from digest import wiring
from digest.cli.arguments import add_config, add_edition, parser
from digest.errors import ConfigError, DigestError, ParseError
from digest.model import CacheStamp, Download, Entry, Parsed, Source, SourceKind
from digest.parse import discovery, hf_papers, opml, syndication
from digest.parse.encoding import decode
from digest.settings.edit import add_sources, remove_source
from digest.settings.load import load
from digest.shipped import SHIPPED
from digest.store.database import open_database
from digest.store.entries import SqlEntryStore

_EPILOG = """examples:
  digest feeds list                            every source with its state and rhythm
  digest feeds check                           asks every source now and says what is wrong with it
  digest feeds test https://blog.example.com/feed
  digest feeds test saved.xml --json           exactly what is read from a file
  digest feeds add cs.DC                       an arXiv category; also a blog, a GitHub repository, a subreddit,
                                               a YouTube channel, a Mastodon or X account, a papers page
  digest feeds import mine.opml                twice makes no doubles
  digest feeds export > digest.opml
"""
_SHOWN = 5


def main(command: str, arguments: list[str]) -> int:
    """Runs one sub-command."""
    options = parser(command, "Shows, tests and edits the sources.", _EPILOG)
    kinds = options.add_subparsers(dest="what", required=True, metavar="WHAT")
    add_edition(_sub(kinds, "list", "every source with its last state, last news and rhythm"))
    checking = _sub(kinds, "check", "asks every source now, saves nothing: validators, encoding, dates, and what is wrong")
    add_edition(checking)
    checking.add_argument("--json", action="store_true")
    testing = _sub(kinds, "test", "what is read from a feed: per entry key, ids, title, link, date and the rule that read it")
    testing.add_argument("name", metavar="FILE-OR-URL")
    testing.add_argument("--kind", choices=get_args(SourceKind))
    testing.add_argument("--timezone", default="UTC", help="the zone of dates that name none")
    testing.add_argument("--json", action="store_true")
    adding = _sub(kinds, "add", "finds the feed, shows some entries, and writes it into feeds.yaml")
    adding.add_argument("name", metavar="URL-OR-NAME")
    adding.add_argument("--as", dest="title", metavar="NAME", help="how to call it")
    _sub(kinds, "remove", "takes a source out of feeds.yaml").add_argument("name", metavar="NAME-OR-URL")
    _sub(kinds, "import", "adds the feeds of an OPML file").add_argument("name", metavar="FILE")
    _sub(kinds, "export", "prints the feeds as OPML")
    chosen = options.parse_args(arguments)
    return _COMMANDS[chosen.what](chosen)


def _sub(kinds: Any, name: str, line: str) -> ArgumentParser:
    added: ArgumentParser = kinds.add_parser(name, help=line, description=line)
    add_config(added)
    return added


def _list(chosen: Namespace) -> int:
    loaded = load(chosen.config)
    _, edition = wiring.edition(loaded.settings, chosen.edition)
    sources, off = wiring.sources(loaded.settings, edition)
    engine = open_database(wiring.database_address(loaded))
    store = SqlEntryStore(engine)
    now = datetime.now(UTC)
    memories = store.memories(now)
    polls = store.polls([source.name for source in sources], datetime(1970, 1, 1, tzinfo=UTC), now)
    engine.dispose()
    table = Table("source", "state", "last news", "usual entries", "note", box=None, pad_edge=False)
    for source in sources:
        memory, poll = memories.get(source.name), polls.get(source.name)
        news = f"{memory.last_new_at:%Y-%m-%d %H:%M}" if memory and memory.last_new_at else ""
        usual = str(sorted(memory.usual)[len(memory.usual) // 2]) if memory and memory.usual else ""
        table.add_row(source.name, poll.state if poll else "never asked", news, usual, poll.note if poll else "")
    for name in off:
        table.add_row(name, "off", "", "", "")
    Console().print(table)
    return 0


def _check(chosen: Namespace) -> int:
    from digest.cli.feeds_check import check

    return check(chosen)


def _test(chosen: Namespace) -> int:
    source = Source(name="test", url=chosen.name, kind=chosen.kind or "feed", timezone=chosen.timezone)
    try:
        parsed = _parse(asyncio.run(_download(source)))
    except DigestError as error:
        if chosen.json:
            print(json.dumps({"state": "failed", "reason": str(error)}, ensure_ascii=False))
        else:
            print(f"{chosen.name}: not a readable feed: {error}")
        return 1
    if chosen.json:
        print(json.dumps(_as_record(parsed), ensure_ascii=False, indent=2))
    else:
        _print(parsed, len(parsed.entries))
    return 0


async def _download(source: Source, typed: str = "") -> Download:
    """The body at an address or in a file. The host that the owner typed may be a private one; what a page there links, or where it
    leads to, may not."""
    from digest.fetch.disk import DiskFetcher
    from digest.fetch.guard import Guard
    from digest.fetch.web import WebFetcher

    place = urlsplit(typed or source.url)
    now = datetime.now(UTC)
    if source.url.startswith(("http://", "https://")):
        async with WebFetcher(wiring.user_agent(load(SHIPPED / "feeds.yaml").settings), Guard([place.netloc, place.hostname or ""])) as web:
            download = await web.fetch(source, CacheStamp(), now)
    else:
        download = await DiskFetcher(Path()).fetch(source, CacheStamp(), now)
    assert isinstance(download, Download)  # nothing was asked with a condition
    return download


def _parse(download: Download) -> Parsed:
    is_papers = download.source.kind == "hf-papers" or download.body.lstrip()[:1] == b"["
    return hf_papers.parse(download) if is_papers else syndication.parse(download)


def _as_record(parsed: Parsed) -> dict[str, Any]:
    return {
        "state": "degraded" if parsed.warnings else "complete" if parsed.entries else "quiet",
        "format": parsed.format,
        "encoding": parsed.encoding,
        "title": parsed.title,
        "warnings": list(parsed.warnings),
        "entries": [_entry_record(entry) for entry in parsed.entries],
    }


def _entry_record(entry: Entry) -> dict[str, Any]:
    return {
        "key": entry.key.removeprefix("test|"),
        "ids": list(entry.ids),
        "title": entry.title,
        "url": entry.url,
        "authors": list(entry.authors),
        "text_length": len(entry.text),
        "published_at": entry.published_at.isoformat() if entry.published_at else None,
        "date_rule": entry.published_by,
        "language": entry.language,
        "revision": entry.revision,
    }


def _print(parsed: Parsed, limit: int) -> None:
    console = Console(soft_wrap=True, highlight=False)
    record = _as_record(parsed)
    console.print(f"{parsed.title or '(no title)'}: {record['state']}, {parsed.format}, {parsed.encoding}, {len(parsed.entries)} entries", markup=False)
    for warning in parsed.warnings:
        console.print(f"  warning: {warning}", markup=False)
    for entry in parsed.entries[:limit]:
        date = f"{entry.published_at:%Y-%m-%d %H:%M}" if entry.published_at else "no date"
        console.print(f"  {date} ({entry.published_by}) {entry.language} {len(entry.text):>6} characters  {entry.title or '(no title)'}", markup=False)
        console.print(f"    {entry.url or '(no address)'}", markup=False, style="dim")


def _add(chosen: Namespace) -> int:
    load(chosen.config)
    address = discovery.by_rule(chosen.name) or discovery.Address(chosen.name)
    row = {"name": chosen.title or address.name, "url": address.url}
    if not address.url.startswith("rsshub:"):
        download, parsed = _found(Source(name="test", url=address.url, kind=address.kind))
        row = {"name": chosen.title or address.name or parsed.title or address.url, "url": download.source.url}
        _print(parsed, _SHOWN)
        if sum(entry.language == "zh" for entry in parsed.entries) * 2 > len(parsed.entries):
            row |= {"language": "zh", "timezone": "Asia/Shanghai"}
    if address.kind != "feed":
        row["kind"] = address.kind
    if not add_sources(chosen.config, [row]):
        raise ConfigError(f"{chosen.config} has {row['url']} (or the name {row['name']!r}) already; nothing was written")
    print(f"{chosen.config}: added {row['name']}: {row['url']}")
    return 0


def _found(source: Source) -> tuple[Download, Parsed]:
    """The feed at the address, or the first one that the page there links. Raises ParseError when there is none."""
    download = asyncio.run(_download(source))
    try:
        return download, _parse(download)
    except ParseError as error:
        links = discovery.linked_feeds(decode(download.body, download.charset)[0], download.url)
        if not links:
            raise ParseError(f"{source.url}: {error}; the page links no feed either") from error
    found = asyncio.run(_download(Source(name="test", url=links[0]), typed=source.url))
    return found, _parse(found)


def _remove(chosen: Namespace) -> int:
    remove_source(chosen.config, chosen.name)
    print(f"{chosen.config}: removed {chosen.name}")
    return 0


def _import(chosen: Namespace) -> int:
    try:
        body = Path(chosen.name).read_bytes()
    except OSError as error:
        raise ConfigError(f"{chosen.name}: {error.strerror}") from error
    feeds = opml.read(body)
    added = add_sources(chosen.config, feeds)
    print(f"{chosen.config}: {len(added)} of {len(feeds)} feeds added; the others were there already")
    return 0


def _export(chosen: Namespace) -> int:
    settings = load(chosen.config).settings
    edition = next(iter(settings.editions.values()))
    sources, _ = wiring.sources(settings, edition.model_copy(update={"sources": None}))
    print(opml.write(next(iter(edition.title.values())), sources), end="")
    return 0


_COMMANDS: dict[str, Callable[[Namespace], int]] = {
    "list": _list,
    "check": _check,
    "test": _test,
    "add": _add,
    "remove": _remove,
    "import": _import,
    "export": _export,
}
