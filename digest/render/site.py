"""What leads to the issues: the front pages, search, and what crawlers and browsers look for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from xml.sax.saxutils import escape

from digest.model import Document, Issue, IssueLine, Language, Shelf
from digest.render import places
from digest.render.environment import Templates
from digest.render.pages import newest_of, page, plain, told_in

NEWEST = 14
_TOP = 5
_FILES = {"style.css": "text/css", "site.js": "text/javascript", "search.js": "text/javascript", "icon.svg": "image/svg+xml"}


class SiteRenderer:
    """Renders the front page (one with all languages, one per language), ``search/``, ``404.html``, the style sheet and scripts,
    ``robots.txt``, ``llms.txt`` and the site maps."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def reach(self, days: Collection[date], lines: Sequence[IssueLine]) -> date:
        return min(min(days).replace(month=1, day=1), lines[0].day)

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        newest = newest_of(shelf)
        main = newest.languages[0]
        for name, media_type in _FILES.items():
            yield plain(name, media_type, main, self._templates.text(f"web/{name}"))
        if self._templates.options.has_search:
            for language in newest.languages:
                yield page(self._templates, "web/search.html", f"search/{language}.html", newest, (language,))
        yield from _site_maps(days, shelf, newest)
        yield plain("robots.txt", "text/plain", main, f"User-agent: *\nAllow: /\n\nSitemap: {newest.address}/sitemap.xml\n")
        llms = self._templates.render("plain/llms.txt", issue=newest, lines=shelf.lines[:NEWEST], languages=newest.languages)
        yield plain("llms.txt", "text/plain", main, llms)
        yield page(self._templates, "web/404.html", "404.html", newest, newest.languages)
        yield from self._fronts(shelf, newest)

    def _fronts(self, shelf: Shelf, newest: Issue) -> Iterator[Document]:
        shown: list[tuple[str, Sequence[Language]]] = [(f"{language}.html", (language,)) for language in newest.languages]
        for name, languages in [*shown, ("index.html", newest.languages)]:
            lines = {language: [line for line in shelf.lines if language in line.languages] for language in languages}
            values = {
                "top": {language: [line for line in told_in(shelf.articles, language) if line.day == newest.day][:_TOP] for language in languages},
                "lines": {language: lines[language][:NEWEST] for language in languages},
                "months": {language: sorted({line.day.replace(day=1) for line in lines[language]}, reverse=True) for language in languages},
                "in_issue": shelf.recent[0].languages,
            }
            yield page(self._templates, "web/index.html", name, newest, languages, **values)


def _site_maps(days: Collection[date], shelf: Shelf, newest: Issue) -> Iterator[Document]:
    """``sitemap.xml`` leads to one map a year and one of everything else (sitemaps.org/protocol.html; a map holds 50,000 addresses)."""
    years = sorted({line.day.year for line in shelf.lines})
    for year in sorted({day.year for day in days}):
        names = [(places.issue(line.day, language), line.day) for line in shelf.lines if line.day.year == year for language in newest.languages]
        names += [
            (places.article(line.day, line.story, language), line.day) for line in shelf.articles if line.day.year == year for language in newest.languages
        ]
        yield _map(newest, f"sitemap-{year}.xml", names)
    names = [("", newest.day)]
    for language in newest.languages:
        names += [(f"{part}/{language}.html", newest.day) for part in ("topics", "entities", "sources", "trends")]
        names += [(places.month(day, language), day) for day in sorted({line.day.replace(day=1) for line in shelf.lines if language in line.languages})]
        topics = [subject for subject in shelf.subjects if subject.folder == "topics" and language in subject.articles_in]
        names += [(places.subject("topics", subject.key, language), newest.day) for subject in topics]
    yield _map(newest, "sitemap-pages.xml", names)
    rows = "".join(f"<sitemap><loc>{newest.address}/{name}</loc></sitemap>\n" for name in [*(f"sitemap-{year}.xml" for year in years), "sitemap-pages.xml"])
    yield _xml(newest, "sitemap.xml", f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</sitemapindex>')


def _map(newest: Issue, name: str, names: Sequence[tuple[str, date]]) -> Document:
    rows = "".join(f"<url><loc>{escape(f'{newest.address}/{path}')}</loc><lastmod>{day}</lastmod></url>\n" for path, day in names[:50_000])
    return _xml(newest, name, f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>')


def _xml(newest: Issue, name: str, body: str) -> Document:
    return plain(name, "application/xml", newest.languages[0], f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n')
