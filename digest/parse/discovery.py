"""From what people name to the address of a feed: known sites by rule, other pages by the feeds they link."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urljoin

from digest.model import SourceKind

_PAGE_LIMIT = 512 * 1024
_ARXIV = re.compile(r"^(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:list|archive)/([a-z-]+(?:\.[A-Za-z-]+)?)")
_ARXIV_FEED = re.compile(r"^https?://(?:rss|export)\.arxiv\.org/(?:rss|atom)/")
_CATEGORY = re.compile(r"^(?:cs|stat|math|eess|q-bio|q-fin|econ|physics)\.[A-Za-z-]{2,}$")
_GITHUB = re.compile(r"^https?://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git|/releases)?/?$")
_YOUTUBE = re.compile(r"^https?://(?:www\.)?youtube\.com/channel/(UC[\w-]{22})")
_SUBREDDIT = re.compile(r"^(?:https?://(?:www\.|old\.)?reddit\.com)?/?r/(\w{2,24})/?$")
_MASTODON = re.compile(r"^https?://([\w.-]+)/@(\w{1,40})/?$")
_X = re.compile(r"^(?:https?://(?:www\.)?(?:x|twitter)\.com/|@)(\w{1,20})/?$")
_PAPERS = re.compile(r"^https?://huggingface\.co/(?:papers|api/daily_papers)\b")
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a feed is, of which kind, and the name that the site itself suggests."""

    url: str
    kind: SourceKind = "feed"
    name: str = ""


def by_rule(named: str) -> Address | None:
    """The feed of an arXiv category or listing, a GitHub repository, a YouTube channel, a subreddit, a Mastodon or X account, or of
    Hugging Face's papers; None when no rule knows the name."""
    named = named.strip()
    if match := _CATEGORY.match(named) or _ARXIV.match(named):
        category = match[match.lastindex or 0]
        return Address(f"https://rss.arxiv.org/rss/{category}", "arxiv", f"arXiv {category}")
    if _ARXIV_FEED.match(named):
        return Address(named, "arxiv", f"arXiv {named.rstrip('/').rsplit('/', 1)[-1]}")
    if _PAPERS.match(named):
        return Address("https://huggingface.co/api/daily_papers", "hf-papers", "Hugging Face Daily Papers")
    if match := _GITHUB.match(named):
        return Address(f"https://github.com/{match[1]}/{match[2]}/releases.atom", name=f"{match[2]} releases")
    if match := _YOUTUBE.match(named):
        return Address(f"https://www.youtube.com/feeds/videos.xml?channel_id={match[1]}")
    if match := _SUBREDDIT.match(named):
        return Address(f"https://www.reddit.com/r/{match[1]}/.rss", name=f"r/{match[1]}")
    if match := _X.match(named):
        return Address(f"rsshub:/twitter/user/{match[1]}", name=f"@{match[1]}")
    if match := _MASTODON.match(named):
        return Address(f"https://{match[1]}/@{match[2]}.rss", name=f"@{match[2]}@{match[1]}")
    return None


def linked_feeds(page: str, url: str) -> list[str]:
    """The addresses of the feeds that a web page links in its head, in order, absolute, each once."""
    reader = _Links()
    reader.feed(page[:_PAGE_LIMIT])
    found = [urljoin(url, address) for address in reader.found]
    return [address for address in dict.fromkeys(found) if address.startswith(("http://", "https://"))]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "link" and "alternate" in values.get("rel", "").lower().split() and values.get("type", "").lower() in _FEED_TYPES and values.get("href"):
            self.found.append(values["href"].strip())
