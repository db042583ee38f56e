"""Feeds of issues, of articles, and of each topic's articles, per language: Atom (RFC 4287), RSS 2.0, JSON Feed 1.1.

Ids are tag: addresses (RFC 4151) of the edition and its day or story, so they depend neither on titles nor on the layout of the
site; times are those of the content (``updated``: an editor's last change), so equal issues give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import urlsplit

from feedgen.feed import FeedGenerator

from digest.model import Article, ArticleLine, Document, Issue, Language, Shelf
from digest.render import places
from digest.render.environment import Templates, safe_url
from digest.render.words import HTML_LANGUAGES
from digest.text import clean

ENTRY_LIMIT = 20
ARTICLE_LIMIT = 30
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

    def render(self, days: Collection[date], shelf: Shelf) -> Iterator[Document]:
        for language in shelf.recent[0].languages:
            for feed in self._feeds(shelf, language):
                for each in _FORMATS:
                    yield _document(feed, *each)

    def _feeds(self, shelf: Shelf, language: Language) -> Iterator[_Feed]:
        issues = shelf.recent[:ENTRY_LIMIT]
        newest = issues[0]
        changed = {line.day: line.changed_at for line in shelf.lines if line.changed_at}
        line_by_key = {(line.day, line.story): line for line in shelf.articles}
        host = urlsplit(newest.address).hostname or "localhost"
        title, tag = newest.title[language], f"tag:{host},2026:{newest.edition}"

        def feed(place: str, name: str, heading: str, items: Iterable[_Item]) -> _Feed:
            told_items = tuple(items)
            return _Feed(
                id=f"{tag}{place}/{language}",
                name=f"{name}.{language}",
                title=heading,
                language=language,
                address=newest.address,
                at=max((item.changed_at for item in told_items), default=newest.until),
                hub=self._templates.options.hub,
                items=told_items,
            )

        yield feed("", "feed", title, (self._of_issue(each, language, host, changed.get(each.day, each.until)) for each in issues))
        told = [
            (article, self._of_article(each, article, line_by_key[each.day, article.pick.story.key], language, host))
            for each in issues
            for article in each.articles
        ]
        heading = self._templates.words.say(language, "%(title)s: every article", title=title)
        yield feed("/articles", "articles", heading, _some(item for _, item in told))
        titles = {topic: words for each in reversed(issues) for topic, words in each.tag_titles.items()}
        for topic in sorted({topic for article, _ in told for topic in article.tags} & titles.keys()):
            own = _some(item for article, item in told if topic in article.tags)
            yield feed(f"/topics/{topic}", f"topics/{places.slug(topic)}", f"{title} · {titles[topic][language]}", own)

    def _of_issue(self, issue: Issue, language: Language, host: str, changed_at: datetime) -> _Item:
        lead = next((article.wording(language).headline for article in issue.articles), self._templates.words.say(language, "No pick today."))
        return _Item(
            id=f"tag:{host},{issue.day.year}:{issue.edition}/{issue.day.isoformat()}/{language}",
            title=f"{issue.title[language]} · {self._templates.words.day(language, issue.day)}",
            url=f"{issue.address}/{places.issue(issue.day, language)}",
            html=self._templates.render("web/feed_entry.html", issue=issue, articles=issue.articles, language=language, is_whole=True),
            summary=lead,
            at=issue.until,
            changed_at=max(issue.until, changed_at),
        )

    def _of_article(self, issue: Issue, article: Article, line: ArticleLine, language: Language, host: str) -> _Item:
        wording, entry = article.wording(language), article.pick.story.lead.entry
        at = issue.until - timedelta(seconds=line.place)  # no two alike, the hottest first
        return _Item(
            id=f"tag:{host},2026:item/{article.pick.story.key}/{language}",
            title=wording.headline,
            url=f"{issue.address}/{places.article(issue.day, article.pick.story.key, language)}",
            html=self._templates.render("web/feed_entry.html", issue=issue, articles=[article], language=language, is_whole=False),
            summary=wording.blurb or wording.summary,
            at=at,
            changed_at=max(at, (line.changed_at or at) - timedelta(seconds=line.place)),
            source_url=safe_url(entry.url),
            tags=tuple(issue.tag_titles[tag][language] for tag in article.tags if tag in issue.tag_titles),
        )


def _some(items: Iterable[_Item]) -> tuple[_Item, ...]:
    """The newest of them, each story once."""
    return tuple({item.id: item for item in reversed(list(items))}.values())[::-1][:ARTICLE_LIMIT]


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
