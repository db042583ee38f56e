"""What leads to the issues: the front page, a page per month in each language, and what search engines and browsers look for."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from datetime import date
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from digest.model import Document, Issue, IssueLine, Language, Shelf
from digest.render.environment import Templates

NEWEST = 30


class SiteRenderer:
    """Renders ``index.html``, ``YYYY/MM/<language>.html`` for the month of the issue, ``404.html``, ``robots.txt``, ``sitemap.xml``
    and ``llms.txt``."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, issue: Issue, shelf: Shelf) -> tuple[Document, ...]:
        newest = shelf.recent[0]
        languages, main = newest.languages, newest.languages[0]
        months = sorted({(day.year, day.month) for day in (issue.day, *(line.day for line in shelf.lines))}, reverse=True)
        common = {"issue": newest, "languages": languages, "main": main, "months": months}
        index = self._templates.render("web/index.html", lines=shelf.lines[:NEWEST], root="", path="index.html", **common)
        missing = self._templates.render("web/404.html", root=f"{urlsplit(newest.address).path.rstrip('/')}/", path="404.html", **common)
        found = [_page("index.html", "+".join(languages), index), _page("404.html", "+".join(languages), missing)]
        found += [self._month(newest, shelf.lines, (issue.day.year, issue.day.month), months, language) for language in languages]
        llms = self._templates.render("plain/llms.txt", issue=newest, lines=shelf.lines[:NEWEST], languages=languages)
        found.append(Document(format="text", language=main, name="llms.txt", media_type="text/plain", body=llms.encode("utf-8")))
        found.append(_robots(newest))
        found.append(_sitemap(newest, shelf.lines, months))
        return tuple(found)

    def _month(self, newest: Issue, lines: Sequence[IssueLine], month: tuple[int, int], months: Sequence[tuple[int, int]], language: Language) -> Document:
        name = f"{month[0]:04d}/{month[1]:02d}/{language}.html"
        place = months.index(month)
        page = self._templates.render(
            "web/month.html",
            issue=newest,
            languages=(language,),
            main=language,
            month=date(*month, 1),
            weeks=calendar.Calendar().monthdatescalendar(*month),
            line_by_day={line.day: line for line in lines if (line.day.year, line.day.month) == month},
            earlier=months[place + 1] if place + 1 < len(months) else None,
            later=months[place - 1] if place else None,
            root="../../",
            path=name,
        )
        return _page(name, language, page)


def _page(name: str, language: str, page: str) -> Document:
    return Document(format="web", language=language, name=name, media_type="text/html", body=page.encode("utf-8"))


def _robots(issue: Issue) -> Document:
    text = f"User-agent: *\nAllow: /\n\nSitemap: {issue.address}/sitemap.xml\n"
    return Document(format="text", language=issue.languages[0], name="robots.txt", media_type="text/plain", body=text.encode("utf-8"))


def _sitemap(issue: Issue, lines: Sequence[IssueLine], months: Sequence[tuple[int, int]]) -> Document:
    """Every page of every issue, with its day (sitemaps.org/protocol.html; at most 50,000 addresses, the newest)."""
    urls = [(f"{issue.address}/", lines[0].day.isoformat() if lines else "")]
    urls += [(f"{issue.address}/{year:04d}/{month:02d}/{language}.html", "") for year, month in months for language in issue.languages]
    urls += [(f"{issue.address}/{line.day:%Y/%m/%d}/{language}.html", line.day.isoformat()) for line in lines for language in issue.languages]
    rows = "".join(f"<url><loc>{escape(url)}</loc>{f'<lastmod>{day}</lastmod>' if day else ''}</url>\n" for url, day in urls[:50_000])
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    return Document(format="sitemap", language="+".join(issue.languages), name="sitemap.xml", media_type="application/xml", body=body.encode("utf-8"))
