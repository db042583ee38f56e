"""The third act: the archived issue as documents, and the documents to their readers; and the whole site anew from the archive."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime

from digest.errors import DigestError
from digest.lines import article_lines
from digest.model import Desk, Document, Issue, Problem, Receipt, Report, Shelf, Source, SourceLine
from digest.pipeline.parts import Parts, Step, no_step
from digest.pipeline.processes import side_by_side
from digest.write.desk import apply

log = logging.getLogger(__name__)
FEED_ISSUES = 20
DeskOf = Callable[[date], Desk]


def deliver(parts: Parts, edition: str, day: date, now: datetime, desk: DeskOf, sources: Sequence[Source] = (), step: Step = no_step) -> Report:
    """Renders the archived issue as the editor's ``desk`` wants it and hands it to every publisher; what a receipt proves is not sent
    again. Raises DigestError when there is no such issue.
    """
    archived = parts.archive.issue(edition, day)
    if archived is None:
        raise DigestError(f"there is no issue of {day.isoformat()} yet; `digest make --date {day.isoformat()}` makes it")
    issue, warnings = apply(archived, desk(day))
    parts.archive.list_as(issue, now)
    shelf = _shelf(parts, edition, desk, sources, now)
    shelf = replace(shelf, beside=_beside(parts, issue, shelf, desk), former=article_lines(archived))
    documents: list[Document] = []
    for renderer in parts.renderers:
        documents += renderer.render(issue, shelf)
        step("render")
    for shelf_renderer in parts.shelf_renderers:
        documents += shelf_renderer.render({day}, shelf)
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
    problems += _searchable(parts)
    return Report(
        issue=issue,
        documents=tuple(document.name for document in documents),
        receipts=tuple(sorted(receipts, key=lambda receipt: (receipt.publisher, receipt.target))),
        problems=tuple(problems),
        warnings=(*warnings, *_notes(parts)),
        counts={"documents": len(documents)},
    )


def build(parts: Parts, edition: str, now: datetime, desk: DeskOf, sources: Sequence[Source] = (), step: Step = no_step) -> Report:
    """Makes the whole site anew from the archive, each issue as its editor wants it. Nothing is sent. Raises DigestError when there is
    no issue yet, or no site."""
    days = parts.archive.days(edition)
    if not days:
        raise DigestError("there is no issue yet; `digest run` makes the first")
    if parts.site is None:
        raise DigestError("nothing publishes to a folder; there is no site to build")
    warnings: list[Problem] = _notes(parts)

    def issues() -> Iterator[Issue]:
        for day in days:
            archived = parts.archive.issue(edition, day)
            assert archived is not None
            issue, found = apply(archived, desk(day))
            warnings.extend(found)
            parts.archive.list_as(issue, now)
            yield issue

    def documents() -> Iterator[Document]:
        lines = Shelf(lines=parts.archive.shelf(edition, 0).lines, recent=())
        for rendered in side_by_side(parts.renderers, lines, issues(), len(days)):
            yield from rendered
            step("issue")
        shelf = _shelf(parts, edition, desk, sources, now)
        for shelf_renderer in parts.shelf_renderers:
            yield from shelf_renderer.render(set(days), shelf)
        step("lists")

    change = parts.site.replace(documents())
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


def _shelf(parts: Parts, edition: str, desk: DeskOf, sources: Sequence[Source], now: datetime) -> Shelf:
    """The shelf with the recent issues as their editors want them."""
    shelf = parts.archive.shelf(edition, FEED_ISSUES)
    recent = tuple(apply(issue, desk(issue.day))[0] for issue in shelf.recent)
    return replace(shelf, recent=recent, articles=parts.archive.articles(edition), sources=_source_lines(parts, sources, recent[0], now))


def _beside(parts: Parts, issue: Issue, shelf: Shelf, desk: DeskOf) -> tuple[Issue, ...]:
    """The issues just before and after, which lead to this one."""
    days = sorted(line.day for line in shelf.lines)
    place = days.index(issue.day)
    found = [parts.archive.issue(issue.edition, day) for day in days[max(0, place - 1) : place + 2] if day != issue.day]
    return tuple(apply(other, desk(other.day))[0] for other in found if other is not None)


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
