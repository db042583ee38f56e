"""What is wrong with the files of a site: links and anchors that lead nowhere, broken markup, doubled ids, missing languages, sizes."""

from __future__ import annotations

import gzip
import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree  # the files are our own

LIMIT_KB = 60
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_FOREIGN = frozenset("svg path rect circle line text g".split())


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something wrong with a file; ``kind`` is link, anchor, html, id, language, size or data."""

    page: str
    kind: str
    words: str


@dataclass
class _Page(HTMLParser):
    """One page read: what it links to, its ids, and what is wrong with its markup."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.seen.add(tag)
        if len(values) != len(attrs):
            self.wrong.append(f"<{tag}> has an attribute twice")
        if tag == "html" and not values.get("lang"):
            self.wrong.append("<html> has no lang")
        if tag == "img" and "alt" not in values:
            self.wrong.append("a picture has no alt text")
        if identity := values.get("id"):
            self.ids.append(identity)
        self.links += [value for name in ("href", "src", "data-index") if (value := values.get(name)) is not None]
        if tag == "meta" and values.get("property") in ("og:url", "og:image"):
            self.links.append(values.get("content") or "")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in _FOREIGN:
            self.open.pop()
        elif tag not in _VOID:
            self.wrong.append(f"<{tag}/> does not close itself in HTML")

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.wrong.append(f"</{tag}> closes {f'<{self.open[-1]}>' if self.open else 'nothing'} (line {self.getpos()[0]})")
            if tag in self.open:
                while self.open.pop() != tag:
                    pass


def findings(folder: Path, address: str, languages: tuple[str, ...]) -> list[Finding]:
    """Everything wrong below the folder, by page; ``address`` is where the site is read, whose links are followed too."""
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    files = {name for name in files if not name.startswith(".")}  # a build that was stopped, and what belongs to the host
    pages = {name: _read(folder / name) for name in sorted(files) if name.endswith(".html") and not name.startswith("pagefind/")}
    found: list[Finding] = []
    for name, page in pages.items():
        found += [Finding(name, "html", words) for words in page.wrong]
        found += [Finding(name, "html", f"<{tag}> is not closed") for tag in page.open]
        found += [Finding(name, "html", f"there is no <{tag}>") for tag in ("title", "main", "h1") if tag not in page.seen]
        found += [Finding(name, "id", f"the id {identity!r} stands twice") for identity in sorted({each for each in page.ids if page.ids.count(each) > 1})]
        found += _links(name, page, pages, files, address)
        if (size := len(gzip.compress((folder / name).read_bytes(), 6)) / 1000) > LIMIT_KB:
            found.append(Finding(name, "size", f"{size:.0f} kB compressed, more than {LIMIT_KB}"))
        for language in languages:
            if (match := re.search(r"(^|[/.])(zh|en)\.html$", name)) and f"{name[: match.start(2)]}{language}.html" not in files:
                found.append(Finding(name, "language", f"the page in {language} is missing"))
    found += [finding for name in sorted(files) if (finding := _data(folder, name))]
    return sorted(set(found))


def page_findings(name: str, html: str, files: set[str], address: str) -> list[Finding]:
    """What is wrong with one page that stands among these files: its markup and where its links lead."""
    page = _Page()
    page.feed(html)
    page.close()
    wrong = [Finding(name, "html", words) for words in (*page.wrong, *(f"<{tag}> is not closed" for tag in page.open))]
    return [*wrong, *_links(name, page, {name: page}, files, address)]


def _read(path: Path) -> _Page:
    page = _Page()
    body = path.read_bytes()
    page.feed(body.decode("utf-8", "replace"))
    page.close()
    if "\ufffd" in body.decode("utf-8", "replace"):
        page.wrong.append("it is not UTF-8")
    return page


def _links(name: str, page: _Page, pages: dict[str, _Page], files: set[str], address: str) -> Iterator[Finding]:
    root = urlsplit(address).path.rstrip("/")
    for link in dict.fromkeys(page.links):
        if not link:
            yield Finding(name, "link", "a link leads nowhere")
            continue
        if link.startswith(f"{address}/") or link == address:
            target, anchor = link.removeprefix(address).strip("/") or "index.html", ""
        elif urlsplit(link).scheme or link.startswith("//"):
            continue
        else:
            path, _, anchor = link.partition("#")
            path = unquote(path.partition("?")[0])
            inside = path.removeprefix(root).lstrip("/") if path.startswith("/") else posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            target = inside if path else name
        if target.startswith("pagefind/"):
            continue  # built after the pages, where pagefind is there
        if target not in files:
            yield Finding(name, "link", f"{link} leads to no file")
        elif anchor and target in pages and anchor not in pages[target].ids:
            yield Finding(name, "anchor", f"{link} leads to no such place")


def _data(folder: Path, name: str) -> Finding | None:
    """Whether a feed, site map or JSON file can be read at all."""
    try:
        if name.endswith((".xml", ".rss", ".opml")):
            ElementTree.parse(folder / name)  # noqa: S314  # written by ourselves
        elif name.endswith(".json"):
            json.loads((folder / name).read_bytes())
    except (ElementTree.ParseError, ValueError) as error:
        return Finding(name, "data", str(error))
    return None
