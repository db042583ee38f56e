"""Every captured feed gives what its manifest says; nothing hostile crashes, hangs or grows. Skipped without them."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import resource
import time
from pathlib import Path

import pytest

from digest.errors import ParseError
from digest.model import Parsed
from digest.parse import hf_papers, syndication
from digest.parse.bounded import BoundedParser
from tests.builders import a_download, a_source

# Entries without a word, an address or an id are nothing to show, and of a document that is cut off the last,
# unfinished entry is left out: here feedparser counts what we do not.
FEWER = {
    "arxiv/rss.arxiv.org-atom-cs.AI-2025-08-20-87entries-truncated.atom.xml": 86,
    "arxiv/rss.arxiv.org-atom-cs.AI-2025-08-20-trimmed-a.atom.xml": 4,
    "real/techweb-zh.rss.xml": 27,
}
NO_FEEDS = {"html", "empty", "gzip", "xml-unrecognised"}


def manifest(captured: Path) -> list[dict[str, str]]:
    with (captured / "MANIFEST.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def parse(captured: Path, name: str) -> Parsed:
    kind = "hf-papers" if name.startswith("daily/hf-daily-papers") else "arxiv" if "arxiv.org" in name else "feed"
    download = a_download((captured / name).read_bytes(), source=a_source(kind=kind, timezone="Asia/Shanghai"))
    return hf_papers.parse(download) if kind == "hf-papers" else syndication.parse(download)


def feeds(captured: Path, *kinds: str) -> list[dict[str, str]]:
    other = ("daily/arxiv-cs.CV", "daily/koaning", "daily/dw-arxiv", "daily/maydomine")  # listings in formats of their own
    return [row for row in manifest(captured) if row["kind"] in kinds and not row["file"].startswith(other)]


def test_every_real_feed_gives_its_entries_and_first_title(captured: Path) -> None:
    wrong = []
    for row in feeds(captured, "real", "arxiv", "daily"):
        if row["format"] in NO_FEEDS:
            continue
        parsed = parse(captured, row["file"])
        expected = FEWER.get(row["file"], int(row["entries"]))
        if len(parsed.entries) != expected:
            wrong.append(f"{row['file']}: {len(parsed.entries)} entries, {expected} expected")
        if any("\ufffd" in entry.title for entry in parsed.entries):
            wrong.append(f"{row['file']}: a title has replacement characters")
        if any("<p>" in entry.text or "&nbsp;" in entry.text for entry in parsed.entries):
            wrong.append(f"{row['file']}: markup in a text")
    assert wrong == []


def test_the_rebuilt_days_are_read_whole(captured: Path) -> None:
    for path in sorted((captured / "rebuilt").glob("*.xml")):
        parsed = parse(captured, f"rebuilt/{path.name}")
        assert len(parsed.entries) == path.read_bytes().count(b"<item>") or "06-2" in path.name
        assert all(entry.ids.arxiv and entry.published_by == "rfc822" for entry in parsed.entries)
        assert not any(entry.text.startswith("arXiv:") for entry in parsed.entries)


def test_what_is_no_feed_is_refused(captured: Path) -> None:
    for row in manifest(captured):
        if row["format"] in NO_FEEDS:
            with pytest.raises(ParseError):
                parse(captured, row["file"])


def test_no_hostile_file_crashes_hangs_or_grows(captured: Path) -> None:
    parsers = {"feed": syndication.parse}

    async def run() -> list[str]:
        slow = []
        with BoundedParser(parsers) as parser:
            for row in feeds(captured, "hostile"):
                started = time.perf_counter()
                with contextlib.suppress(ParseError):
                    await parser.parse(a_download((captured / row["file"]).read_bytes()))
                if time.perf_counter() - started > 10:
                    slow.append(row["file"])
        return slow

    assert asyncio.run(run()) == []
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 512 * 1024


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("hostile/undeclared-charset-gb2312.xml", "不归移民漫画系列：专业工作"),
        ("hostile/undeclared-charset-shiftjis.xml", "DrecomRSSに記事投稿が反映されない…"),
        ("real/kc0011-gb2312-zh.rss.xml", "建国35周年纪念，华表，和平鸽"),
        ("real/xakep-windows1251.rss.xml", "Руководители разведки США шутят об убийстве Сноудена"),
    ],
)
def test_hard_encodings_are_read_right(captured: Path, name: str, title: str) -> None:
    assert parse(captured, name).entries[0].title == title


def test_dates_that_feedparser_reads_wrong_are_right(captured: Path) -> None:
    dates = {str(entry.published_at) for entry in parse(captured, "real/kc0011-gb2312-zh.rss.xml").entries}
    assert "2020-01-10 06:33:00+00:00" in dates
    assert all(date.startswith("2020-01") for date in dates)
