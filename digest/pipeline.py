"""The three acts: collect, make, deliver. The only place that knows the order of the steps."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

from digest.classify.mentions import NameReader
from digest.cluster.stories import group, told_names
from digest.coverage import states
from digest.coverage.arxiv_calendar import batch_begins_at, eastern_day, next_batch_day, pause
from digest.errors import DigestError, FetchError, ParseError
from digest.model import (
    UNCHANGED,
    ArxivPause,
    Coverage,
    Decision,
    Desk,
    Document,
    Entry,
    Issue,
    Label,
    LabelledEntry,
    Memory,
    Problem,
    Receipt,
    Report,
    Shelf,
    Source,
    Spending,
)
from digest.ports import Archive, EntryStore, Fetcher, Labeller, Parser, Publisher, Renderer, Scorer, Writer
from digest.rank.selection import near_misses, select
from digest.read import claims as claims_step
from digest.write.desk import apply
from digest.write.issue import EditionFrame, article, assign, compose, issue_line

log = logging.getLogger(__name__)
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
FEED_ISSUES = 30
MOVES_TO_BELIEVE = 2
Step = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything concrete that the acts need, put together in ``wiring.py``; ``notes`` say what was wanted and is not there."""

    store: EntryStore
    archive: Archive
    fetchers: Mapping[str, Fetcher]
    parser: Parser
    labellers: Sequence[Labeller]
    names: NameReader
    thresholds: Mapping[str, float]
    scorers: Sequence[Scorer]
    writer: Writer
    renderers: Sequence[Renderer]
    publishers: Sequence[Publisher]
    notes: Sequence[Problem] = ()


def no_step(name: str) -> None:
    """The step callback of someone who does not watch."""


async def collect(parts: Parts, sources: Sequence[Source], now: datetime, step: Step = no_step) -> Report:
    """Asks every source once, side by side, and remembers what is new. One failure costs its own source only."""
    memories = parts.store.memories(now)
    outcomes = await asyncio.gather(*(_collect_one(parts, source, memories.get(source.name, Memory()), now, step) for source in sources))
    coverage = tuple(coverage for coverage, _, _ in outcomes)
    return Report(
        coverage=coverage,
        problems=tuple(problem for _, problem, _ in outcomes if problem),
        counts={"entries_seen": sum(item.seen for item in coverage), "entries_new": sum(added for _, _, added in outcomes)},
    )


async def _collect_one(parts: Parts, source: Source, memory: Memory, now: datetime, step: Step) -> tuple[Coverage, Problem | None, int]:
    memory = memory if memory.url == source.url else Memory(usual=memory.usual, last_new_at=memory.last_new_at)
    try:
        if memory.is_gone:
            return Coverage(source_name=source.name, state="off", note="the server said it is gone for good (410); remove the source", reason="gone"), None, 0
        if memory.not_before is not None and now < memory.not_before:
            return _left_alone(parts, source, memory, now)
        return await _ask(parts, source, memory, now)
    except DigestError as error:
        return _failed(parts, source, memory, now, error)
    except Exception as error:  # a surprise within one source costs that source only
        log.exception("a bug while collecting %s", source.name)
        return _failed(parts, source, memory, now, ParseError(f"a bug in this program: {type(error).__name__}; please report it", reason="bug"), is_bug=True)
    finally:
        step(source.name)


def _left_alone(parts: Parts, source: Source, memory: Memory, now: datetime) -> tuple[Coverage, Problem, int]:
    coverage = Coverage(source_name=source.name, state="failed", note=memory.failure, reason=memory.reason)
    parts.store.pause(source, coverage, now, memory.not_before, failures=memory.failures, is_gone=False)
    message = f"{memory.failure}; left alone until {memory.not_before:%Y-%m-%d %H:%M} UTC"
    return coverage, Problem(step="collect", subject=source.name, message=message), 0


def _failed(parts: Parts, source: Source, memory: Memory, now: datetime, error: DigestError, *, is_bug: bool = False) -> tuple[Coverage, Problem, int]:
    coverage = Coverage(source_name=source.name, state="failed", note=str(error), reason=error.reason)
    failures, until, is_gone = memory.failures, memory.not_before, False
    if not (isinstance(error, FetchError) and error.is_ours):
        failures += 1
        until = states.not_before(failures, error.retry_after_seconds if isinstance(error, FetchError) else 0, now)
        is_gone = isinstance(error, FetchError) and error.is_gone
    parts.store.pause(source, coverage, now, until, failures=failures, is_gone=is_gone)
    return coverage, Problem(step="collect", subject=source.name, message=str(error), is_bug=is_bug), 0


async def _ask(parts: Parts, source: Source, memory: Memory, now: datetime) -> tuple[Coverage, Problem | None, int]:
    scheme = urlsplit(source.url).scheme
    fetcher = parts.fetchers.get(scheme)
    if fetcher is None:
        raise FetchError(f"no way to fetch {scheme}: addresses; known: {', '.join(name or 'path' for name in parts.fetchers)}")
    has_batch = memory.last_new_at is not None and memory.last_new_at >= batch_begins_at(eastern_day(now))
    has_moved = memory.moved_times >= MOVES_TO_BELIEVE
    asked = replace(source, url=memory.moved_to) if has_moved else source
    download = await fetcher.fetch(asked, memory.stamp, now)
    if download is not None and has_moved:
        download = replace(download, source=source, moved_to=memory.moved_to)
    if download is None:
        coverage = states.of_unchanged(source, now, has_batch)
        parts.store.record(source, coverage, now)
        return coverage, None, 0
    parsed = await parts.parser.parse(download)
    known = parts.store.known(source, parsed.entries)
    coverage = states.of_parsed(source, parsed, known, memory.usual, now, has_batch)
    new = [entry for entry in parsed.entries if entry.key not in known]
    parts.store.remember(download, new, coverage)
    return coverage, None, len(new)


async def make(
    parts: Parts, frame: EditionFrame, sources: Sequence[Source], off: Sequence[str], day: date, now: datetime, limits: tuple[int, int], step: Step = no_step
) -> Report:
    """The issue of that day: the archived one, or composed from all entries that no issue told, and archived. An archived
    issue that had nothing to read is made again as soon as there is something.

    ``limits`` are the most articles and near misses. ``off`` names the sources that are switched off.
    """
    archived = parts.archive.issue(frame.name, day)
    if archived and archived.entries_read:
        return Report(issue=archived, coverage=archived.coverage, counts=_counts(archived))
    since = parts.archive.last_until(frame.name, day) or _BEGINNING
    by_name = {source.name: source for source in sources}
    entries = [entry for entry in parts.store.untold(frame.name, list(by_name), since, now) if entry.revision != "replaced"]
    labelled = []
    for entry in entries:
        labelled.append(label(parts, entry, by_name[entry.source_name]))
        step("read")
    stories = group(labelled, frame.topics, by_name, parts.archive.told(frame.name, day))
    picks, left_over = select(stories, parts.scorers, by_name, now, limits[0])
    assignments = [assign(pick, frame.languages) for pick in picks]
    drafts, spending = await parts.writer.write(assignments) if assignments else ([], Spending())
    articles = [article(assignment, draft, by_name) for assignment, draft in zip(assignments, drafts, strict=True)]
    thresholds = {topic: parts.thresholds[topic] for topic in frame.topics}
    missed = near_misses(labelled, stories, left_over, thresholds, limits[1])
    coverage = _coverage(parts, sources, off, entries, [pick.story.entries for pick in picks], since, now)
    if archived and not entries and [item.state for item in coverage] == [item.state for item in archived.coverage]:
        return Report(issue=archived, coverage=archived.coverage, counts=_counts(archived))
    issue = compose(frame, day, articles, missed, coverage, len(entries), _arxiv_pause(sources, now), since, now)
    told = {name: title for pick in picks for name, title in told_names(pick.story).items()}
    issue = parts.archive.save(issue, told, _decisions(labelled, frame.topics))
    return Report(issue=issue, coverage=issue.coverage, spending=spending, warnings=tuple(parts.notes), counts=_counts(issue))


def _arxiv_pause(sources: Sequence[Source], now: datetime) -> ArxivPause | None:
    """Why arXiv says nothing today, where the edition reads it and it does not announce."""
    day = eastern_day(now)
    why = pause(day) if any(source.kind == "arxiv" for source in sources) else None
    return ArxivPause(why=why, next_day=next_batch_day(day)) if why else None


def _decisions(labelled: Sequence[LabelledEntry], topics: Sequence[str]) -> list[Decision]:
    return [
        Decision(entry_key=member.entry.key, topic=found.topic, score=found.score, is_in=found.is_in)
        for member in labelled
        for found in member.labels
        if found.topic in topics
    ]


def label(parts: Parts, entry: Entry, source: Source) -> LabelledEntry:
    """The entry with everything the rules read in it; names only where a topic speaks at all."""
    claims = claims_step.extract(entry)
    labels: tuple[Label, ...] = tuple(found for labeller in parts.labellers for found in labeller.label(entry, claims))
    mentions = parts.names.mentions(entry) if any(found.is_in for found in labels) else ()
    return LabelledEntry(entry=entry, labels=labels, kind=parts.names.kind(entry, source.kind), claims=claims, mentions=mentions)


def _coverage(
    parts: Parts,
    sources: Sequence[Source],
    off: Sequence[str],
    entries: Sequence[Entry],
    told: Sequence[Sequence[LabelledEntry]],
    since: datetime,
    now: datetime,
) -> tuple[Coverage, ...]:
    polls = parts.store.polls([source.name for source in sources], since, now)
    seen = Counter(entry.source_name for entry in entries)
    kept = Counter(labelled.entry.source_name for members in told for labelled in members)
    found = []
    for source in sources:
        poll = polls.get(source.name)
        read, used = seen.get(source.name, 0), kept.get(source.name, 0)
        if poll is None:
            found.append(Coverage(source_name=source.name, state="waiting", seen=read, kept=used, note="not asked yet", reason="unasked"))
        else:
            state = "complete" if poll.state == "quiet" and read else "quiet" if poll.state == "complete" and not read else poll.state
            note = "" if poll.note == UNCHANGED else poll.note
            found.append(Coverage(source_name=source.name, state=state, seen=read, kept=used, note=note, reason=poll.reason))
    return (*found, *(Coverage(source_name=name, state="off") for name in off))


def _counts(issue: Issue) -> dict[str, int]:
    return {"entries_read": issue.entries_read, "picks": len(issue.articles), "near_misses": len(issue.near_misses)}


def deliver(parts: Parts, edition: str, day: date, now: datetime, desk: Callable[[date], Desk], step: Step = no_step) -> Report:
    """Renders the archived issue as the editor's ``desk`` wants it and hands it to every publisher; what a receipt proves is not sent
    again. Raises DigestError when there is no such issue.
    """
    issue = parts.archive.issue(edition, day)
    if issue is None:
        raise DigestError(f"there is no issue of {day.isoformat()} yet; `digest make --date {day.isoformat()}` makes it")
    issue, warnings = apply(issue, desk(day))
    shelf = _edited(parts.archive.shelf(edition, FEED_ISSUES), desk)
    documents: list[Document] = []
    for renderer in parts.renderers:
        documents += renderer.render(issue, shelf)
        step("render")
    problems: list[Problem] = []
    receipts: list[Receipt] = []
    for publisher in parts.publishers:
        try:
            new = publisher.publish(issue, documents, now, parts.archive.receipts(issue.key))
            parts.archive.keep(new)
            receipts += new
        except DigestError as error:
            problems.append(Problem(step="deliver", subject=publisher.name, message=str(error)))
        except Exception as error:  # a surprise within one publisher keeps the others from nothing
            log.exception("a bug while delivering by %s", publisher.name)
            message = f"a bug in this program: {type(error).__name__}; please report it"
            problems.append(Problem(step="deliver", subject=publisher.name, message=message, is_bug=True))
        step(publisher.name)
    return Report(
        issue=issue,
        documents=tuple(document.name for document in documents),
        receipts=tuple(sorted(receipts, key=lambda receipt: (receipt.publisher, receipt.target))),
        problems=tuple(problems),
        warnings=tuple(warnings),
        counts={"documents": len(documents)},
    )


def _edited(shelf: Shelf, desk: Callable[[date], Desk]) -> Shelf:
    """The shelf with every issue as its editor wants it, the lines alike."""
    recent = tuple(apply(issue, desk(issue.day))[0] for issue in shelf.recent)
    lines = {issue.day: issue_line(issue) for issue in recent}
    return Shelf(lines=tuple(lines.get(line.day, line) for line in shelf.lines), recent=recent)
