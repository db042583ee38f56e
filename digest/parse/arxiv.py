"""What is particular to arXiv: ids, versions, announce types, the lead of its abstracts, authors in one string.

arXiv's RSS puts "arXiv:2608.14539v1 Announce Type: new \\nAbstract: " before each abstract
(info.arxiv.org/help/rss_specifications.html); older feeds wrap it in HTML.
"""

from __future__ import annotations

import re

from digest.model import Revision
from digest.parse.markup import plain, readable_latex
from digest.text import one_line

_LEAD = re.compile(r"^\s*arXiv:(\S+?)(v\d+)?\s+Announce Type:\s*([a-z-]+)\s*(?:Abstract:\s*)?", re.IGNORECASE)
_ASKED = re.compile(r"[?&]search_query=cat(?:%3A|:)([A-Za-z-]+(?:\.[A-Za-z-]+)?)")
_TITLE_TAIL = re.compile(r"\s*\(arXiv:[^)]*\)\s*$")
_REVISIONS: dict[str, Revision] = {
    "new": "new",
    "cross": "cross",
    "replace": "replaced",
    "replace-cross": "replaced",
}


def announced(text: str, announce_type: str | None) -> tuple[str, Revision]:
    """The abstract as one readable line, and whether the paper is new here."""
    match = _LEAD.match(text)
    kind = (announce_type or (match[3] if match else "new")).lower()
    body = text[match.end() :] if match else text
    if re.search(r"</?(?:p|a|br)\b", body):
        body = plain(body)
    return one_line(readable_latex(body)), _REVISIONS.get(kind, "new")


def announce_type(primary: str, asked: str) -> str | None:
    """What the feed of a category would call a paper of the API: "cross" where its first category is not the one asked for."""
    match = _ASKED.search(asked)
    if not (primary and match):
        return None
    return "new" if primary == match[1] or primary.startswith(match[1] + ".") else "cross"


def paper_title(title: str) -> str:
    """The title in readable characters, without the "(arXiv:…)" tail of the old feeds."""
    return one_line(readable_latex(_TITLE_TAIL.sub("", title)))


def split_authors(names: list[str]) -> tuple[str, ...]:
    """One name each; arXiv's RSS sends all of them in one comma-separated string."""
    found: list[str] = []
    for name in names:
        text = plain(name) if "<" in name else name
        text = re.sub(r"\s*\([^()]*\)", "", readable_latex(text))
        parts = re.split(r",\s+(?!(?:Jr|Sr|I{1,3}|IV)\b)|\s*;\s*", one_line(text))
        found.extend(part for part in parts if part)
    return tuple(dict.fromkeys(found))
