"""The state of one poll of one source, from what it held, what is known, and what is usual."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from statistics import median

from digest.coverage.arxiv_calendar import eastern_day, pause
from digest.model import UNCHANGED, Coverage, CoverageState, Parsed, Source

ARXIV_ROW_LIMIT = 2000
FIRST_PAUSE = timedelta(minutes=15)
LONGEST_PAUSE = timedelta(hours=24)
FEW_SHARE = 0.25
STALE_SHARE = 0.5  # a new batch holds next to nothing that was there before
FEW_MEDIAN = 20
FEW_POLLS = 5


def of_unchanged(source: Source, now: datetime, has_batch: bool) -> Coverage:
    """A poll that was answered "unchanged". ``has_batch``: today's arXiv batch was read before."""
    if source.kind == "arxiv" and not pause(eastern_day(now)) and not has_batch:
        return Coverage(source_name=source.name, state="waiting", note="arXiv has not announced yet", reason="waiting")
    return Coverage(source_name=source.name, state="quiet", note=UNCHANGED)


def of_parsed(source: Source, parsed: Parsed, known: Collection[str], usual: Sequence[int], now: datetime, has_batch: bool) -> Coverage:
    """A poll that brought a body. ``known`` are the keys seen before, ``usual`` how many entries earlier polls held."""
    seen = len(parsed.entries)
    state, reason, note = _state(source, parsed, known, usual, now, has_batch)
    notes = "; ".join(part for part in (*parsed.warnings, note) if part)
    return Coverage(source_name=source.name, state=state, seen=seen, note=notes, reason=reason)


def _state(source: Source, parsed: Parsed, known: Collection[str], usual: Sequence[int], now: datetime, has_batch: bool) -> tuple[CoverageState, str, str]:
    seen = len(parsed.entries)
    is_due = source.kind == "arxiv" and not pause(eastern_day(now)) and not has_batch
    if not parsed.entries and parsed.warnings:
        return "degraded", "repaired", "no entry could be read"
    if not parsed.entries:
        return ("waiting", "waiting", "arXiv has not announced yet") if is_due else ("quiet", "", "")
    if source.kind == "arxiv" and len(parsed.entries) >= ARXIV_ROW_LIMIT:
        return "degraded", "cut", "arXiv cuts a feed at 2,000 rows, and new papers go first; read fewer categories in one feed"
    if parsed.warnings:
        return "degraded", "repaired", ""
    if is_due and sum(entry.key in known for entry in parsed.entries) >= STALE_SHARE * seen:
        return "stale", "stale", "the batch of the day before under today's date"
    if len(usual) >= FEW_POLLS and median(usual) >= FEW_MEDIAN and len(parsed.entries) < FEW_SHARE * median(usual):
        return "degraded", "few", f"far fewer than usual ({len(parsed.entries)} instead of about {median(usual):g})"
    return "complete", "", ""


def not_before(failures: int, retry_after_seconds: float, now: datetime) -> datetime:
    """Until when to leave a source alone after so many failures in a row: each pause twice the one before, from a
    quarter of an hour to a day, and at least what the server asked for (a day at most)."""
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * int(2 ** min(failures - 1, 10)))
    return now + max(pause, timedelta(seconds=min(LONGEST_PAUSE.total_seconds(), max(0.0, retry_after_seconds))))
