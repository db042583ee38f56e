"""The files of one issue: a self-contained page per language and one with both, Markdown, plain text."""

from __future__ import annotations

from collections.abc import Sequence

from digest.model import Document, Issue, Language, Shelf
from digest.render.environment import Templates


def issue_folder(issue: Issue) -> str:
    """``YYYY/MM/DD``, below the output folder."""
    return f"{issue.day:%Y/%m/%d}"


class IssueRenderer:
    """Renders ``web/issue.html``, ``markdown/issue.md`` and ``plain/issue.txt`` for one issue."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, issue: Issue, shelf: Shelf) -> tuple[Document, ...]:
        documents = [self._page(issue, (language,), f"{language}.html") for language in issue.languages]
        if len(issue.languages) > 1:
            documents.append(self._page(issue, issue.languages, "index.html"))
        for language in issue.languages:
            documents.append(self._text(issue, language, "markdown/issue.md", f"{language}.md", "text/markdown"))
            documents.append(self._text(issue, language, "plain/issue.txt", f"{language}.txt", "text/plain"))
        return tuple(documents)

    def _page(self, issue: Issue, languages: Sequence[Language], name: str) -> Document:
        page = self._templates.render("web/issue.html", issue=issue, languages=languages, main=languages[0], root="../../../")
        return Document(format="web", language="+".join(languages), name=f"{issue_folder(issue)}/{name}", media_type="text/html", body=page.encode("utf-8"))

    def _text(self, issue: Issue, language: Language, template: str, name: str, media_type: str) -> Document:
        text = self._templates.render(template, issue=issue, language=language, rule="-" * 60)
        return Document(
            format=media_type.partition("/")[2], language=language, name=f"{issue_folder(issue)}/{name}", media_type=media_type, body=text.encode("utf-8")
        )


class IndexRenderer:
    """Renders ``index.html``, which leads to the newest issue and lists all."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, issue: Issue, shelf: Shelf) -> tuple[Document, ...]:
        page = self._templates.render(
            "web/index.html", issue=shelf.recent[0], lines=shelf.lines, languages=shelf.recent[0].languages, main=shelf.recent[0].languages[0], root=""
        )
        return (Document(format="web", language="+".join(shelf.recent[0].languages), name="index.html", media_type="text/html", body=page.encode("utf-8")),)
