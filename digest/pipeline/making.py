"""The second act: from what was collected to the archived issue of a day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from digest.cluster.stories import group, told_names
from digest.coverage.arxiv_calendar import eastern_day, next_batch_day, pause
from digest.model import MEMORY, UNCHANGED, ArxivPause, Coverage, Decision, Entry, Issue, Label, LabelledEntry, Report, Source, Spending
from digest.pipeline.parts import Parts, Step, no_step
from digest.rank.selection import near_misses, select
from digest.read import claims as claims_step
from digest.write.issue import EditionFrame, article, assign, compose

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


async def make(
    parts: Parts,
    frame: EditionFrame,
    sources: Sequence[Source],
    off: Sequence[str],
    day: date,
    now: datetime,
    limits: tuple[int, int],
    step: Step = no_step,
    *,
    is_late: bool = False,
) -> Report:
    """The issue of that day: the archived one, or composed from all entries that no issue told, and archived. An archived
    issue that had nothing to read is made again as soon as there is something.

    ``limits`` are the most articles and near misses. ``off`` names the sources that are switched off. ``is_late``: days after it was due.
    """
    archived = parts.archive.issue(frame.name, day)
    if archived and archived.entries_read:
        return Report(issue=archived, coverage=archived.coverage, counts=_counts(archived))
    since = parts.archive.last_until(frame.name, day) or _BEGINNING
    by_name = {source.name: source for source in sources}
    untold = parts.store.untold(frame.name, list(by_name), since, now)
    entries = [entry for entry in untold if entry.revision != "replaced"]
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
    issue = replace(issue, is_late=is_late)
    told = {name: title for pick in picks for name, title in told_names(pick.story).items()}
    issue = parts.archive.save(issue, told, _decisions(labelled, frame.topics), {entry.key for entry in untold}, list(by_name))
    return Report(
        issue=issue, coverage=issue.coverage, spending=spending, warnings=tuple(note for note in parts.notes if note.step == "make"), counts=_counts(issue)
    )


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
    names = [source.name for source in sources]
    polls = parts.store.polls(names, since, now)
    earlier = parts.store.polls([name for name in names if name not in polls], now - MEMORY, now)
    seen = Counter(entry.source_name for entry in entries)
    kept = Counter(labelled.entry.source_name for members in told for labelled in members)
    found = []
    for source in sources:
        poll = polls.get(source.name) or _standing(earlier.get(source.name))
        read, used = seen.get(source.name, 0), kept.get(source.name, 0)
        if poll is None:
            found.append(Coverage(source_name=source.name, state="waiting", seen=read, kept=used, note="not asked yet", reason="unasked"))
        else:
            state = "complete" if poll.state == "quiet" and read else "quiet" if poll.state == "complete" and not read else poll.state
            note = "" if poll.note == UNCHANGED else poll.note
            found.append(Coverage(source_name=source.name, state=state, seen=read, kept=used, note=note, reason=poll.reason))
    return (*found, *(Coverage(source_name=name, state="off") for name in off))


def _standing(poll: Coverage | None) -> Coverage | None:
    """The state of a source whose time to be asked has not come since: as bad as it was, and else quiet."""
    if poll is None or poll.state in ("failed", "off", "waiting", "stale"):
        return poll
    return replace(poll, state="quiet", note="", reason="")


def _counts(issue: Issue) -> dict[str, int]:
    return {"entries_read": issue.entries_read, "picks": len(issue.articles), "near_misses": len(issue.near_misses)}
