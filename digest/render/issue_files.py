"""The files of one issue: a self-contained page per language and one with both, Markdown, plain text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from digest.model import Document, Issue, Language, Shelf
from digest.render.environment import Templates


def issue_folder(issue: Issue) -> str:
    """``YYYY/MM/DD``, below the output folder."""
    return f"{issue.day:%Y/%m/%d}"


class IssueRenderer:
    """Renders ``web/issue.html``, ``markdown/issue.md`` and ``plain/issue.txt`` for one issue, and the pages of the issues beside it,
    which lead to it."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, issue: Issue, shelf: Shelf) -> tuple[Document, ...]:
        days = sorted({line.day for line in shelf.lines} | {issue.day})
        place = days.index(issue.day)
        beside = {day for day in days[max(0, place - 1) : place + 2] if day != issue.day}
        documents = self._pages(issue, days)
        for other in shelf.recent:
            documents += self._pages(other, days) if other.day in beside else []
        for language in issue.languages:
            documents.append(self._text(issue, language, "markdown/issue.md", f"{language}.md", "text/markdown"))
            documents.append(self._text(issue, language, "plain/issue.txt", f"{language}.txt", "text/plain"))
        return tuple(documents)

    def _pages(self, issue: Issue, days: Sequence[date]) -> list[Document]:
        pages = [self._page(issue, days, (language,), f"{language}.html") for language in issue.languages]
        return [*pages, self._page(issue, days, issue.languages, "index.html")] if len(issue.languages) > 1 else pages

    def _page(self, issue: Issue, days: Sequence[date], languages: Sequence[Language], file: str) -> Document:
        name = f"{issue_folder(issue)}/{file}"
        place = days.index(issue.day)
        page = self._templates.render(
            "web/issue.html",
            issue=issue,
            languages=languages,
            main=languages[0],
            root="../../../",
            path=name,
            file=file,
            earlier=days[place - 1] if place else None,
            later=days[place + 1] if place + 1 < len(days) else None,
        )
        return Document(format="web", language="+".join(languages), name=name, media_type="text/html", body=page.encode("utf-8"))

    def _text(self, issue: Issue, language: Language, template: str, name: str, media_type: str) -> Document:
        text = self._templates.render(template, issue=issue, language=language, rule="-" * 60)
        return Document(
            format=media_type.partition("/")[2], language=language, name=f"{issue_folder(issue)}/{name}", media_type=media_type, body=text.encode("utf-8")
        )
