"""The third act: the archived issue as documents, and the documents to their readers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import date, datetime

from digest.errors import DigestError
from digest.model import Desk, Document, Problem, Receipt, Report, Shelf
from digest.pipeline.parts import Parts, Step, no_step
from digest.write.desk import apply
from digest.write.issue import issue_line

log = logging.getLogger(__name__)
FEED_ISSUES = 30


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
