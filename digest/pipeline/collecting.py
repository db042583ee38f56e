"""The first act: every source is asked, side by side, and what is new is remembered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from urllib.parse import urlsplit

from digest.coverage import states
from digest.coverage.arxiv_calendar import eastern_day
from digest.coverage.rhythm import next_poll
from digest.errors import DigestError, FetchError, ParseError
from digest.model import UNCHANGED, Batch, Coverage, Download, Memory, NextPoll, NotModified, Problem, Report, Rhythm, Source
from digest.pipeline.full_text import with_full_text
from digest.pipeline.parts import Parts, Reading, Step, no_step
from digest.pipeline.second_route import API_NAME, is_certain, known_batches, second_route
from digest.ports import Fetcher

log = logging.getLogger(__name__)
MOVES_TO_BELIEVE = 2
Outcome = tuple[Coverage, Problem | None, int]


async def collect(parts: Parts, reading: Reading, sources: Sequence[Source], now: datetime, step: Step = no_step, *, is_due_only: bool = False) -> Report:
    """Asks every source once, side by side, and remembers what is new; what arXiv's feeds missed is taken from its API. One failure
    costs its own source only. ``is_due_only``: a source whose usual time has not come is left out."""
    memories = parts.store.memories(now)
    batches = known_batches(parts, sources, now)
    asked = due(sources, memories, now) if is_due_only else sources
    pauses = _host_pauses(memories)
    outcomes = await asyncio.gather(
        *(_collect_one(parts, reading, source, memories.get(source.name, Memory()), batches.get(source.name, {}), pauses, now, step) for source in asked)
    )
    coverage = {found.source_name: found for found, _, _ in outcomes}
    warnings, taken_in = await second_route(parts, reading, sources, coverage, batches, memories.get(API_NAME, Memory()), now)
    return Report(
        coverage=tuple(coverage.values()),
        problems=tuple(problem for _, problem, _ in outcomes if problem),
        warnings=(*(note for note in parts.notes if note.step == "collect"), *warnings),
        counts={"entries_seen": sum(item.seen for item in coverage.values()), "entries_new": sum(added for _, _, added in outcomes) + taken_in},
    )


def due(sources: Sequence[Source], memories: Mapping[str, Memory], now: datetime) -> list[Source]:
    """The sources whose usual time has come, or whose address is new."""
    found = []
    for source in sources:
        memory = memories.get(source.name, Memory())
        if memory.url != source.url or memory.next_poll.due_at is None or now >= memory.next_poll.due_at:
            found.append(source)
    return found


def _host_pauses(memories: Mapping[str, Memory]) -> dict[str, datetime]:
    """Until when hosts want to be left alone (Retry-After)."""
    pauses: dict[str, datetime] = {}
    for memory in memories.values():
        if memory.paused_host and memory.not_before:
            pauses[memory.paused_host] = max(memory.not_before, pauses.get(memory.paused_host, memory.not_before))
    return pauses


def _address(source: Source, memory: Memory) -> str:
    """Where to ask: the address of the settings, or where it has said often enough that it moved for good."""
    return memory.moved_to if memory.moved_times >= MOVES_TO_BELIEVE else source.url


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").lower()


async def _collect_one(
    parts: Parts,
    reading: Reading,
    source: Source,
    memory: Memory,
    batches: Mapping[date, Batch],
    pauses: Mapping[str, datetime],
    now: datetime,
    step: Step,
) -> Outcome:
    memory = memory if memory.url == source.url else Memory(usual=memory.usual, last_new_at=memory.last_new_at, new_a_week=memory.new_a_week)
    try:
        if memory.is_gone:
            return _gone(parts, source, now), None, 0
        if memory.not_before is not None and now < memory.not_before:
            return _left_alone(parts, source, memory, now)
        host_until = pauses.get(_host(_address(source, memory))) if source.pauses_host else None
        if host_until is not None and now < host_until:
            return _host_left_alone(parts, source, host_until, now)
        if memory.next_poll.fresh_until is not None and now < memory.next_poll.fresh_until:
            coverage = Coverage(source_name=source.name, state="quiet", note=UNCHANGED)
            parts.store.record(source, coverage, now)
            return coverage, None, 0
        return await _ask(parts, reading, source, memory, batches, now)
    except DigestError as error:
        return _failed(parts, source, memory, now, error)
    except Exception as error:  # a surprise within one source costs that source only
        log.exception("a bug while collecting %s", source.name)
        return _failed(parts, source, memory, now, ParseError(f"a bug in this program: {type(error).__name__}; please report it", reason="bug"), is_bug=True)
    finally:
        step(source.name)


def _gone(parts: Parts, source: Source, now: datetime) -> Coverage:
    coverage = Coverage(source_name=source.name, state="off", note="the server said it is gone for good (410); remove the source", reason="gone")
    parts.store.record(source, coverage, now)
    return coverage


def _left_alone(parts: Parts, source: Source, memory: Memory, now: datetime) -> Outcome:
    coverage = Coverage(source_name=source.name, state="failed", note=memory.failure, reason=memory.reason)
    parts.store.pause(source, coverage, now, memory.not_before, failures=memory.failures, is_gone=False, paused_host=memory.paused_host)
    message = f"{memory.failure}; left alone until {memory.not_before:%Y-%m-%d %H:%M} UTC"
    return coverage, Problem(step="collect", subject=source.name, message=message), 0


def _host_left_alone(parts: Parts, source: Source, until: datetime, now: datetime) -> Outcome:
    coverage = Coverage(source_name=source.name, state="failed", note=f"{_host(source.url)} wants to be left alone", reason="busy")
    parts.store.record(source, coverage, now)
    message = f"{coverage.note} until {until:%Y-%m-%d %H:%M} UTC; `retry: source` keeps its sources apart"
    return coverage, Problem(step="collect", subject=source.name, message=message), 0


def _failed(parts: Parts, source: Source, memory: Memory, now: datetime, error: DigestError, *, is_bug: bool = False) -> Outcome:
    coverage = Coverage(source_name=source.name, state="failed", note=str(error), reason=error.reason)
    failures, until, is_gone, paused_host = memory.failures, memory.not_before, False, ""
    if not (isinstance(error, FetchError) and error.is_ours):
        failures += 1
        seconds = error.retry_after_seconds if isinstance(error, FetchError) else 0.0
        until = states.not_before(failures, seconds, now)
        is_gone = isinstance(error, FetchError) and error.is_gone
        paused_host = _host(_address(source, memory)) if source.pauses_host and seconds > 0 else ""
    if is_gone:
        coverage = replace(coverage, state="off")
    parts.store.pause(source, coverage, now, until, failures=failures, is_gone=is_gone, paused_host=paused_host)
    return coverage, Problem(step="collect", subject=source.name, message=str(error), is_bug=is_bug), 0


async def _ask(parts: Parts, reading: Reading, source: Source, memory: Memory, batches: Mapping[date, Batch], now: datetime) -> Outcome:
    address = _address(source, memory)
    has_moved = address != source.url
    try:
        answer = await _fetcher(reading, source).fetch(replace(source, url=address), memory.stamp, now)
    except FetchError as error:
        if has_moved and error.is_gone:  # only what the owner wrote down can be gone for good
            raise FetchError(f"{error} (it had moved to {address})", reason=error.reason) from error
        raise
    if has_moved:
        answer = replace(answer, moved_to=address)
    if isinstance(answer, NotModified):
        coverage = states.of_unchanged(source, now, _has_batch(batches, now))
        parts.store.record(source, coverage, now, answer, _plan(parts, source, memory, memory.rhythm, answer.fresh_seconds, coverage, batches, now))
        return coverage, None, 0
    return await _read(parts, reading, source, memory, batches, replace(answer, source=source))


def _has_batch(batches: Mapping[date, Batch], now: datetime) -> bool:
    today = batches.get(eastern_day(now))
    return today is not None and today.is_here


def _plan(
    parts: Parts, source: Source, memory: Memory, rhythm: Rhythm, fresh_seconds: float, coverage: Coverage, batches: Mapping[date, Batch], now: datetime
) -> NextPoll:
    """When to ask again. An arXiv feed rests until the next batch only once it is certain which batch it holds."""
    is_doubtful = source.kind == "arxiv" and not is_certain(parts, source, batches, eastern_day(now))
    return next_poll(source, memory, rhythm, fresh_seconds, "waiting" if is_doubtful else coverage.state, now)


def _fetcher(reading: Reading, source: Source) -> Fetcher:
    scheme = urlsplit(source.url).scheme
    fetcher = reading.fetchers.get(scheme)
    if fetcher is None:
        raise FetchError(f"no way to fetch {scheme}: addresses; known: {', '.join(name or 'path' for name in reading.fetchers)}")
    return fetcher


async def _read(parts: Parts, reading: Reading, source: Source, memory: Memory, batches: Mapping[date, Batch], download: Download) -> Outcome:
    now = download.fetched_at
    parsed = await reading.parser.parse(download)
    known = parts.store.known(source, parsed.entries)
    coverage = states.of_parsed(source, parsed, known, memory.usual, now, _has_batch(batches, now))
    new = [entry for entry in parsed.entries if entry.key not in known]
    if new and source.full_text and reading.pages is not None:
        new, note = await with_full_text(reading.parser, reading.pages, new, now)
        coverage = replace(coverage, note="; ".join(part for part in (coverage.note, note) if part))
    plan = _plan(parts, source, memory, parsed.rhythm, download.fresh_seconds, coverage, batches, now)
    parts.store.remember(download, new, coverage, parsed.rhythm, plan)
    return coverage, None, len(new)
