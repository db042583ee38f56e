"""The third act: the archived issue as documents, and the documents to their readers; and the whole site anew from the archive."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from digest.errors import DigestError
from digest.lines import article_lines
from digest.model import ArticleLine, Desk, Document, Issue, Problem, Receipt, Report, Shelf, Source, SourceLine
from digest.pipeline.parts import Parts, Step, no_step
from digest.pipeline.processes import side_by_side
from digest.ports import Publisher
from digest.subjects import touched
from digest.write.desk import apply

log = logging.getLogger(__name__)
FEED_ISSUES = 20
DeskOf = Callable[[date], Desk]


def deliver(
    parts: Parts,
    edition: str,
    day: date,
    now: datetime,
    desk: DeskOf,
    sources: Sequence[Source] = (),
    step: Step = no_step,
    *,
    at: datetime | None = None,
    held: Collection[date] = (),
) -> Report:
    """Renders the archived issue as the editor's ``desk`` wants it and hands it to every publisher; what a receipt proves is not sent
    again. Recent issues and the ones beside it that their editor changed meanwhile go out anew too; the change counts as made ``at`` that
    moment (``now`` when left out). Nothing is shown of the ``held`` days. Raises DigestError when there is no such issue.
    """
    if parts.archive.issue(edition, day) is None:
        raise DigestError(f"there is no issue of {day.isoformat()} yet; `digest make --date {day.isoformat()}` makes it")
    archived = [each for each in _near(parts, edition, day, len(held)) if each.day not in held]
    by_name = {source.name: source for source in sources}
    edited = {each.day: apply(each, desk(each.day), by_name) for each in archived}
    changed = {issue.day for issue, _ in edited.values() if parts.archive.list_as(issue, at or now)}
    issue, warnings = edited[day]
    former = tuple(line for each in archived if each.day in changed | {day} for line in article_lines(each))
    shelf = _shelf(parts, edition, {each: found for each, (found, _) in edited.items()}, sources, now, held, changed | {day}, former)
    lists = [document for renderer in parts.shelf_renderers for document in _counted(renderer.render(changed | {day}, shelf), step)]
    problems: list[Problem] = []
    receipts: list[Receipt] = []
    names: list[str] = []
    for each in [*sorted(changed - {day}), day]:
        own = replace(shelf, beside=_beside(shelf, edited, day) if each == day else (), former=tuple(line for line in shelf.former if line.day == each))
        documents = [document for renderer in parts.renderers for document in _counted(renderer.render(edited[each][0], own), step)]
        documents += lists if each == day else []
        names += [document.name for document in documents]
        before = len(problems)
        for publisher in parts.publishers:
            receipts += _published(parts, publisher, edited[each][0], documents, now, problems)
            step(publisher.name)
        if len(problems) == before:
            parts.archive.confirm(edited[each][0])
    problems += _searchable(parts)
    return Report(
        issue=issue,
        documents=tuple(names),
        receipts=tuple(sorted(receipts, key=lambda receipt: (receipt.publisher, receipt.target))),
        problems=tuple(problems),
        warnings=(*warnings, *_notes(parts)),
        counts={"documents": len(names)},
    )


def _near(parts: Parts, edition: str, day: date, held: int) -> list[Issue]:
    """The issue, the ones beside it, and the recent ones, as they were archived; as many more as are ``held``."""
    found = {issue.day: issue for issue in parts.archive.newest(edition, FEED_ISSUES + held)}
    days = parts.archive.days(edition)
    place = days.index(day)
    for each in days[max(0, place - 1) : place + 2]:
        if each not in found and (issue := parts.archive.issue(edition, each)) is not None:
            found[each] = issue
    return [found[each] for each in sorted(found)]


def _beside(shelf: Shelf, edited: Mapping[date, tuple[Issue, object]], day: date) -> tuple[Issue, ...]:
    """The issues just before and after, which lead to this one."""
    days = sorted(line.day for line in shelf.lines)
    place = days.index(day)
    return tuple(edited[each][0] for each in days[max(0, place - 1) : place + 2] if each != day and each in edited)


def _counted(documents: Iterable[Document], step: Step) -> list[Document]:
    found = list(documents)
    step("render")
    return found


def _published(parts: Parts, publisher: Publisher, issue: Issue, documents: Sequence[Document], now: datetime, problems: list[Problem]) -> tuple[Receipt, ...]:
    """The new receipts; what went wrong is added to the problems and keeps no other publisher from its work."""
    try:
        new = publisher.publish(issue, documents, now, parts.archive.receipts(issue.key))
        parts.archive.keep(new)
        return new
    except DigestError as error:
        problems.append(Problem(step="deliver", subject=publisher.name, message=str(error)))
    except Exception as error:  # a surprise within one publisher
        log.exception("a bug while delivering by %s", publisher.name)
        message = f"a bug in this program: {type(error).__name__}; please report it"
        problems.append(Problem(step="deliver", subject=publisher.name, message=message, is_bug=True))
    return ()


def build(
    parts: Parts, edition: str, now: datetime, desk: DeskOf, sources: Sequence[Source] = (), step: Step = no_step, *, held: Collection[date] = ()
) -> Report:
    """Makes the whole site anew from the archive, each issue as its editor wants it. Nothing is sent. Raises DigestError when there is
    no issue yet, or no site."""
    days = [day for day in parts.archive.days(edition) if day not in held]
    if not days:
        raise DigestError("there is no issue yet; `digest run` makes the first")
    if parts.site is None:
        raise DigestError("nothing publishes to a folder; there is no site to build")
    warnings, changed = _notes(parts), []
    by_name = {source.name: source for source in sources}

    def issues() -> Iterator[tuple[Issue, Issue, list[Problem]]]:
        """As the editor wants it, as it was archived, what is worth a look; one at a time, for there may be thousands."""
        for day in days:
            archived = parts.archive.issue(edition, day)
            assert archived is not None
            issue, found = apply(archived, desk(day), by_name)
            yield issue, archived, found

    for issue, _, found in issues():
        warnings += found
        if parts.archive.list_as(issue, now):
            changed.append(issue)
    recent = {issue.day: apply(issue, desk(issue.day), by_name)[0] for issue in parts.archive.newest(edition, FEED_ISSUES + len(held)) if issue.day not in held}
    shelf = _shelf(parts, edition, recent, sources, now, held, days)
    told = ((issue, article_lines(archived)) for issue, archived, _ in issues())

    def documents() -> Iterator[Document]:
        for rendered in side_by_side(parts.renderers, parts.shelf_renderers, shelf, told, set(days)):
            yield from rendered
            step("rendered")

    change = parts.site.replace(documents())
    for issue in changed:
        parts.archive.confirm(issue)
    problems = _searchable(parts)
    step("search")
    counts = {"issues": len(days), "written": change.written, "unchanged": change.unchanged, "removed": change.removed}
    return Report(problems=tuple(problems), warnings=tuple(warnings), counts=counts)


def _notes(parts: Parts) -> list[Problem]:
    return [note for note in parts.notes if note.step == "deliver"]


def _searchable(parts: Parts) -> list[Problem]:
    """Brings the search index up to date; what went wrong with it."""
    try:
        if parts.search is not None:
            parts.search.update()
    except DigestError as error:
        return [Problem(step="deliver", subject="search", message=str(error))]
    return []


def _shelf(
    parts: Parts,
    edition: str,
    edited: Mapping[date, Issue],
    sources: Sequence[Source],
    now: datetime,
    held: Collection[date],
    days: Collection[date],
    former: tuple[ArticleLine, ...] = (),
) -> Shelf:
    """What the lists of those days need to know, with the recent issues as their editors want them, without the held days."""
    lines = tuple(line for line in parts.archive.lines(edition) if line.day not in held)
    recent = tuple(edited[line.day] for line in lines[:FEED_ISSUES] if line.day in edited)
    since = min((renderer.reach(days, lines) for renderer in parts.shelf_renderers), default=min(days))
    articles = tuple(line for line in parts.archive.articles(edition, since) if line.day not in held)
    return Shelf(
        lines=lines,
        recent=recent,
        articles=articles,
        former=former,
        subjects=parts.archive.subjects(edition, touched((*articles, *former), days), held),
        sources=_source_lines(parts, sources, recent[0], now),
    )


def _source_lines(parts: Parts, sources: Sequence[Source], newest: Issue, now: datetime) -> tuple[SourceLine, ...]:
    memories = parts.store.memories(now) if sources else {}
    coverage_by_name = {coverage.source_name: coverage for coverage in newest.coverage}
    found = []
    for source in sources:
        memory, coverage = memories.get(source.name), coverage_by_name.get(source.name)
        found.append(
            SourceLine(
                source=source,
                new_a_week=memory.new_a_week if memory else 0.0,
                last_new_at=memory.last_new_at if memory else None,
                state=coverage.state if coverage else None,
                reason=coverage.reason if coverage else "",
            )
        )
    return tuple(found)
