"""The files of one issue: a page per language and one with both, a page per article, Markdown, plain text."""

from __future__ import annotations

from collections.abc import Iterator

from digest.model import Document, Issue, Language, Shelf
from digest.render import places
from digest.render.environment import Templates
from digest.render.pages import page, plain


class IssueRenderer:
    """Renders ``web/issue.html``, ``web/article.html``, ``markdown/issue.md`` and ``plain/issue.txt`` for one issue, ``web/gone.html`` in the
    place of articles that its editor took out, and the pages of the issues beside it, which lead to it."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, issue: Issue, shelf: Shelf) -> Iterator[Document]:
        for each in (issue, *shelf.beside):
            yield from self._pages(each, shelf)
        there = {article.pick.story.key for article in issue.articles}
        for language in issue.languages:
            yield from self._articles(issue, language)
            for line in shelf.former:
                if line.day == issue.day and line.story not in there:
                    yield page(self._templates, "web/gone.html", places.article(issue.day, line.story, language), issue, (language,))
            for template, ending, media_type in (("markdown/issue.md", "md", "text/markdown"), ("plain/issue.txt", "txt", "text/plain")):
                text = self._templates.render(template, issue=issue, language=language, rule="-" * 60)
                yield plain(f"{issue.folder}/{language}.{ending}", media_type, language, text)

    def _pages(self, issue: Issue, shelf: Shelf) -> Iterator[Document]:
        shown: list[tuple[str, tuple[Language, ...]]] = [(language, (language,)) for language in issue.languages]
        if len(issue.languages) > 1:
            shown.append(("index", issue.languages))
        for file, languages in shown:
            days = [line.day for line in shelf.lines if set(languages) <= set(line.languages)]
            name = f"{issue.folder}/{file}.html"
            yield page(
                self._templates,
                "web/issue.html",
                name,
                issue,
                languages,
                file=f"{file}.html",
                earlier=max((day for day in days if day < issue.day), default=None),
                later=min((day for day in days if day > issue.day), default=None),
            )

    def _articles(self, issue: Issue, language: Language) -> Iterator[Document]:
        articles = issue.articles
        for place, article in enumerate(articles):
            yield page(
                self._templates,
                "web/article.html",
                places.article(issue.day, article.pick.story.key, language),
                issue,
                (language,),
                article=article,
                earlier=articles[place - 1] if place else None,
                later=articles[place + 1] if place + 1 < len(articles) else None,
            )
