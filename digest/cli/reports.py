"""What a run prints: progress while it works, then a short table, or JSON for programs."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table

from digest.model import Article, Report, Spending

_MAILS = {"accepted": "handed over", "deferred": "to be tried again", "failed": "failed", "uncertain": "uncertain"}
_NAMES = {"collect": "collect 收集", "make": "make 编写", "deliver": "deliver 发布", "build": "build 建站", "send": "send 寄送"}


class Progress:
    """A bar per act on standard error; silent when not shown or when nobody watches."""

    def __init__(self, *, is_shown: bool) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description:<12}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(compact=True))
        self._bars = Bars(*columns, console=console, disable=not is_shown)

    def __enter__(self) -> Progress:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for task in self._bars.tasks:
            self._bars.update(task.id, total=task.total if task.total is not None else task.completed)
        self._bars.stop()

    def act(self, name: str, total: int | None) -> Callable[[str], None]:
        """A bar for an act; the returned function moves it by one."""
        task = self._bars.add_task(_NAMES[name], total=total)
        return lambda _: self._bars.advance(task)


def print_json(report: Report, edition: str, day: date) -> None:
    """The report for programs, on standard output."""
    articles = report.issue.articles if report.issue else ()
    print(
        json.dumps(
            {
                "edition": edition,
                "day": day.isoformat(),
                "counts": report.counts,
                "articles": [
                    {
                        "key": article.pick.story.key,
                        "url": article.pick.story.lead.entry.url,
                        "heat": article.pick.heat,
                        "featured": article.pick.featured,
                        "headlines": {wording.language: wording.headline for wording in article.wordings},
                        "written_by": article.written_by,
                        "is_edited": article.is_edited,
                        "refusals": [{name: getattr(refusal, name) for name in ("writer", "language", "kind", "words", "why")} for refusal in article.refusals],
                    }
                    for article in articles
                ],
                "coverage": [asdict(coverage) for coverage in report.coverage],
                "documents": list(report.documents),
                "receipts": [asdict(receipt) | {"delivered_at": receipt.delivered_at.isoformat()} for receipt in report.receipts],
                "spending": asdict(report.spending),
                "warnings": [asdict(warning) for warning in report.warnings],
                "problems": [asdict(problem) for problem in report.problems],
            },
            ensure_ascii=False,
            indent=2,
        )
    )


def print_table(report: Report, day: date, folder: Path, *, quiet: bool) -> None:
    """What was done and where to look, on standard output; problems on standard error."""
    if not quiet:
        _print_summary(report, day, folder)
    errors = Console(stderr=True, soft_wrap=True)
    subjects: dict[tuple[str, str], list[str]] = {}
    for problem in report.problems:
        subjects.setdefault((problem.step, problem.message), []).append(problem.subject)
    for warning in report.warnings:
        errors.print(f"[yellow]{escape(warning.step)}[/yellow] [bold]{escape(warning.subject)}[/bold]: {escape(warning.message)}", highlight=False)
    for (step, message), names in subjects.items():
        errors.print(f"[red]{escape(step)}[/red] [bold]{escape(', '.join(names))}[/bold]: {escape(message)}", highlight=False)


def _print_summary(report: Report, day: date, folder: Path) -> None:
    console = Console(soft_wrap=not sys.stdout.isatty())
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    states = Counter(coverage.state for coverage in report.coverage)
    rows = {
        "day": day.isoformat(),
        "sources": ", ".join(f"{number} {state}" for state, number in sorted(states.items())),
        "entries": _numbers(report, ("entries_seen", "in the feeds"), ("entries_new", "new"), ("entries_read", "read for this issue")),
        "issue": _numbers(report, ("picks", "picked"), ("near_misses", "narrowly missed")),
        "writing": _writing(report),
        "mail": _numbers(report, *((f"mails_{state}", words) for state, words in _MAILS.items())),
        "files": str(len(report.documents)) if report.documents else "",
    }
    for name, value in rows.items():
        if value:
            table.add_row(name, value)
    console.print(table)
    if report.documents and report.issue:
        console.print(f"\nLook here 请看：{(folder / 'index.html').resolve()}", highlight=False)


def _writing(report: Report) -> str:
    """Who wrote, what it took, and what had to be given up."""
    articles: tuple[Article, ...] = report.issue.articles if report.issue else ()
    writers = Counter(article.written_by for article in articles)
    parts = [f"{number} by {writer}" for writer, number in writers.most_common()]
    spent = report.spending
    if spent != Spending():
        parts.append(f"{spent.answers} answers, {spent.cached} from the cache, {spent.tokens_in + spent.tokens_out:,} tokens, cost {spent.money:.4f}")
    refused = [refusal for article in articles for refusal in article.refusals]
    if refused:
        parts.append(f"{len(refused)} sentences refused ({', '.join(sorted({refusal.kind for refusal in refused}))}); `digest judge` shows them")
    return "; ".join(parts)


def _numbers(report: Report, *names: tuple[str, str]) -> str:
    return ", ".join(f"{report.counts[name]} {words}" for name, words in names if name in report.counts)
