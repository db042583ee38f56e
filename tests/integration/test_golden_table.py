"""What is read from every captured feed, row by row, in ``golden/captured.tsv``. Skipped without the feeds."""

from __future__ import annotations

import csv
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from digest.errors import ParseError
from digest.model import Parsed
from digest.parse import hf_papers, syndication
from tests.builders import a_download, a_source

TABLE = Path(__file__).parent.parent / "golden" / "captured.tsv"
COLUMNS = ("file", "state", "format", "encoding", "entries", "date rules", "first date", "newest", "languages", "first title (hash)", "why")


def row(captured: Path, name: str) -> dict[str, str]:
    """What ``digest feeds test`` shows of a file."""
    kind = "hf-papers" if name.startswith("daily/hf-daily-papers") else "arxiv" if "arxiv.org" in name else "feed"
    zone = "Asia/Shanghai" if "zh" in name else "UTC"
    download = a_download((captured / name).read_bytes(), source=a_source(kind=kind, timezone=zone), url="https://feed.example/dir/feed.xml")
    try:
        parsed = hf_papers.parse(download) if kind == "hf-papers" else syndication.parse(download)
    except ParseError as error:
        return dict.fromkeys(COLUMNS, "") | {"file": name, "state": "failed", "why": str(error)}
    return {"file": name, **_of(parsed)}


def _of(parsed: Parsed) -> dict[str, str]:
    entries = parsed.entries
    rules = Counter(entry.published_by for entry in entries)
    dates = [entry.published_at for entry in entries if entry.published_at]
    languages = Counter(entry.language for entry in entries)
    return {
        "state": "degraded" if parsed.warnings else "complete" if entries else "quiet",
        "format": parsed.format,
        "encoding": parsed.encoding,
        "entries": str(len(entries)),
        "date rules": " ".join(f"{rule}:{number}" for rule, number in rules.most_common()),
        "first date": entries[0].published_at.isoformat() if entries and entries[0].published_at else "",
        "newest": max(dates).date().isoformat() if dates else "",
        "languages": " ".join(f"{language}:{number}" for language, number in languages.most_common()),
        "first title (hash)": sha256(entries[0].title.encode()).hexdigest()[:12] if entries else "",  # the words are their makers'
        "why": "; ".join(parsed.warnings),
    }


@pytest.mark.slow
def test_every_captured_feed_is_read_as_the_table_says(captured: Path, request: pytest.FixtureRequest) -> None:
    names = sorted(path.relative_to(captured).as_posix() for path in captured.rglob("*") if path.is_file() and path.parent != captured)
    rows = [row(captured, name) for name in names]
    if request.config.getoption("--rewrite-golden"):
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    with TABLE.open(encoding="utf-8", newline="") as file:
        kept = {each["file"]: each for each in csv.DictReader(file, delimiter="\t")}
    assert {each["file"]: each for each in rows} == kept
