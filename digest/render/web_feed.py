"""Feeds of issues, of articles, and of each topic's articles, per language: Atom (RFC 4287), RSS 2.0, JSON Feed 1.1.

Ids are tag: addresses (RFC 4151) of the edition and its day or story, so they depend neither on titles nor on the layout of the
site; times are those of the content (``updated``: an editor's last change), so equal issues give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate, islice
from urllib.parse import urlsplit

from feedgen.feed import FeedGenerator

from digest.model import ArticleLine, Document, Issue, IssueLine, Language, Shelf
from digest.render import places
from digest.render.environment import Templates, safe_url
from digest.render.pages import newest_of, told_in
from digest.render.words import HTML_LANGUAGES
from digest.subjects import NEWEST, touched
from digest.text import clean

ENTRY_LIMIT = 20
ARTICLE_LIMIT = NEWEST
_RSS_LANGUAGES: dict[Language, str] = {"zh": "zh-CN", "en": "en"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """One entry of a feed, whatever the format."""

    id: str
    title: str
    url: str
    html: str
    summary: str
    at: datetime
    changed_at: datetime
    source_url: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Feed:
    """A feed before it has a format; ``name`` is its path without an ending."""

    id: str
    name: str
    title: str
    language: Language
    address: str
    at: datetime
    hub: str
    items: tuple[_Item, ...]


class FeedRenderer:
    """Renders ``feed.<language>``, ``articles.<language>`` and ``topics/<topic>.<language>``, each as .xml (Atom), .rss and .json."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def reach(self, days: Collection[date], lines: Sequence[IssueLine]) -> date:
        reached = [min(days), lines[:ENTRY_LIMIT][-1].day]
        for language in {language for line in lines for language in line.languages}:
            own = [line for line in lines if language in line.languages]
            numbers = accumulate(line.articles for line in own)
            reached.append(next((line.day for line, number in zip(own, numbers, strict=True) if number >= ARTICLE_LIMIT), own[-1].day))
        return min(reached)

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        for language in newest_of(shelf).languages:
            for feed in self._feeds(days, shelf, language):
                for each in _FORMATS:
                    yield _document(feed, *each)

    def _feeds(self, days: Collection[date], shelf: Shelf, language: Language) -> Iterator[_Feed]:
        newest = newest_of(shelf)
        host = urlsplit(newest.address).hostname or "localhost"
        title, tag = newest.title[language], f"tag:{host},2026:{newest.edition}"
        lines = told_in(shelf.articles, language)

        def feed(place: str, name: str, heading: str, items: Iterable[_Item]) -> _Feed:
            told = tuple(items)
            return _Feed(
                id=f"{tag}{place}/{language}",
                name=f"{name}.{language}",
                title=heading,
                language=language,
                address=newest.address,
                at=max((item.changed_at for item in told), default=newest.until),
                hub=self._templates.options.hub,
                items=told,
            )

        changed = {line.day: line.changed_at for line in shelf.lines}
        issues = [issue for issue in shelf.recent if language in issue.languages][:ENTRY_LIMIT]
        yield feed("", "feed", title, (self._of_issue(issue, lines, language, host, changed.get(issue.day)) for issue in issues))
        made: dict[tuple[date, str], _Item] = {}

        def newest_articles(wanted: Iterable[ArticleLine]) -> Iterator[_Item]:
            for line in islice(wanted, ARTICLE_LIMIT):
                if (line.day, line.story) not in made:
                    made[line.day, line.story] = self._of_article(line, newest, language, host)
                yield made[line.day, line.story]

        heading = self._templates.words.say(language, "%(title)s: every article", title=title)
        yield feed("/articles", "articles", heading, newest_articles(lines))
        topics = {subject.key: subject for subject in shelf.subjects if subject.folder == "topics"}
        for (folder, key), (topic, _) in touched((*shelf.articles, *shelf.former), days).items():
            if folder == "topics":
                named = f"{title} · {self._templates.topic_title(topic, language, newest)}"
                own = topics[key].newest.get(language, ()) if key in topics else ()
                yield feed(f"/topics/{topic}", f"topics/{key}", named, newest_articles(own))

    def _of_issue(self, issue: Issue, lines: Sequence[ArticleLine], language: Language, host: str, changed_at: datetime | None) -> _Item:
        own = [line for line in lines if line.day == issue.day]
        return _Item(
            id=f"tag:{host},{issue.day.year}:{issue.edition}/{issue.day.isoformat()}/{language}",
            title=f"{issue.title[language]} · {self._templates.words.day(language, issue.day)}",
            url=f"{issue.address}/{places.issue(issue.day, language)}",
            html=self._templates.render("web/feed_issue.html", issue=issue, lines=own, language=language),
            summary=own[0].headlines[language] if own else self._templates.words.say(language, "No pick today."),
            at=issue.until,
            changed_at=max(issue.until, changed_at or issue.until),
        )

    def _of_article(self, line: ArticleLine, newest: Issue, language: Language, host: str) -> _Item:
        at = line.told_at - timedelta(seconds=line.place)  # no two alike, the hottest first
        return _Item(
            id=f"tag:{host},2026:item/{line.story}/{language}",
            title=line.headlines[language],
            url=f"{newest.address}/{places.article(line.day, line.story, language)}",
            html=self._templates.render("web/feed_article.html", issue=newest, line=line, language=language),
            summary=line.blurbs.get(language) or line.summaries.get(language, ""),
            at=at,
            changed_at=max(at, (line.changed_at or at) - timedelta(seconds=line.place)),
            source_url=safe_url(line.url),
            tags=tuple(self._templates.topic_title(tag, language, newest) for tag in line.tags),
        )


def _document(feed: _Feed, ending: str, media_type: str, write: Callable[[_Feed, str], bytes]) -> Document:
    name = f"{feed.name}.{ending}"
    return Document(format=ending, language=feed.language, name=name, media_type=media_type, body=write(feed, f"{feed.address}/{name}"))


def _generator(feed: _Feed, url: str, media_type: str, language: str) -> FeedGenerator:
    made = FeedGenerator()
    made.id(feed.id)
    made.title(clean(feed.title))
    made.subtitle(clean(feed.title))
    made.description(clean(feed.title))
    made.updated(feed.at)
    made.lastBuildDate(feed.at)
    made.author(name=clean(feed.title))
    made.language(language)
    made.link(href=url, rel="self", type=media_type)
    if feed.hub:
        made.link(href=feed.hub, rel="hub")
    made.link(href=f"{feed.address}/", rel="alternate", type="text/html")  # the last one is the link of an RSS channel
    made.generator("Training Digest")
    for item in feed.items:
        entry = made.add_entry(order="append")
        entry.id(item.id)
        entry.guid(item.id, permalink=False)
        entry.title(clean(item.title))
        entry.updated(item.changed_at)
        entry.published(item.at)
        entry.link(href=item.url, rel="alternate", type="text/html")
        for tag in item.tags:
            entry.category(term=clean(tag))
    return made


def _atom(feed: _Feed, url: str) -> bytes:
    made = _generator(feed, url, "application/atom+xml", HTML_LANGUAGES[feed.language])
    for entry, item in zip(made.entry(), feed.items, strict=True):
        entry.summary(clean(item.summary))
        entry.content(clean(item.html), type="html")
    return bytes(made.atom_str(pretty=True))


def _rss(feed: _Feed, url: str) -> bytes:
    made = _generator(feed, url, "application/rss+xml", _RSS_LANGUAGES[feed.language])
    for entry, item in zip(made.entry(), feed.items, strict=True):
        entry.description(clean(item.summary))
        entry.content(clean(item.html), type="CDATA")
    return bytes(made.rss_str(pretty=True))


def _json(feed: _Feed, url: str) -> bytes:
    """JSON Feed 1.1 (jsonfeed.org/version/1.1)."""
    made = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": clean(feed.title),
        "home_page_url": f"{feed.address}/",
        "feed_url": url,
        "language": _RSS_LANGUAGES[feed.language],
        "authors": [{"name": clean(feed.title)}],
        **({"hubs": [{"type": "WebSub", "url": feed.hub}]} if feed.hub else {}),
        "items": [
            {
                "id": item.id,
                "url": item.url,
                **({"external_url": item.source_url} if item.source_url.startswith("http") else {}),
                "title": clean(item.title),
                "summary": clean(item.summary),
                "content_html": clean(item.html),
                "date_published": item.at.isoformat(timespec="seconds"),
                "date_modified": item.changed_at.isoformat(timespec="seconds"),
                "language": _RSS_LANGUAGES[feed.language],
                **({"tags": list(item.tags)} if item.tags else {}),
            }
            for item in feed.items
        ],
    }
    return (json.dumps(made, ensure_ascii=False) + "\n").encode("utf-8")


_FORMATS: tuple[tuple[str, str, Callable[[_Feed, str], bytes]], ...] = (
    ("xml", "application/atom+xml", _atom),
    ("rss", "application/rss+xml", _rss),
    ("json", "application/feed+json", _json),
)
