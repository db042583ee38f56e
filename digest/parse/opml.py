"""OPML 2.0 (opml.org/spec2.opml): lists of feeds in and out. What only we know travels in our own namespace."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET  # bodies with a document type are refused before they reach it
from collections.abc import Iterable

from digest.errors import ParseError
from digest.model import Source
from digest.parse.encoding import decode

LIMIT_BYTES = 5 * 1024 * 1024
LIMIT_FEEDS = 2000
_NAMESPACE = "https://digest.example.org/ns/opml"
_DECLARATION = re.compile(r"^<\?xml[^>]{0,400}\?>")
_OURS = ("kind", "language", "trust", "timezone")


def read(body: bytes) -> list[dict[str, str]]:
    """The feeds of the list, nested groups included, each with name, url and whatever of ours it has, each address once.

    Raises ParseError for what is no OPML, is too large, or declares a document type.
    """
    if len(body) > LIMIT_BYTES:
        raise ParseError(f"an OPML file larger than {LIMIT_BYTES // 1024 // 1024} MiB")
    text = _DECLARATION.sub("", decode(body)[0].lstrip("\ufeff \t\r\n"))
    if re.search(r"<!(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise ParseError("an OPML file with a document type; take the DOCTYPE out")
    try:
        root = ET.fromstring(text)  # noqa: S314  # no document type, bounded size: nothing can expand
    except (ET.ParseError, ValueError) as error:
        raise ParseError(f"not OPML: {error}") from error
    if root.tag.lower() != "opml":
        raise ParseError("not OPML: the outermost element must be <opml>")
    found: dict[str, dict[str, str]] = {}
    for outline in root.iter("outline"):
        url = (outline.get("xmlUrl") or outline.get("xmlurl") or "").strip()
        if not url or url in found:
            continue
        feed = {"name": (outline.get("text") or outline.get("title") or url).strip()[:100], "url": url}
        feed |= {name: value for name in _OURS if (value := outline.get(f"{{{_NAMESPACE}}}{name}"))}
        found[url] = feed
    return list(found.values())[:LIMIT_FEEDS]


def write(title: str, sources: Iterable[Source]) -> str:
    """The list as OPML, in the order given."""
    ET.register_namespace("digest", _NAMESPACE)
    root = ET.Element("opml", version="2.0")
    ET.SubElement(ET.SubElement(root, "head"), "title").text = title
    body = ET.SubElement(root, "body")
    for source in sources:
        ours = {f"{{{_NAMESPACE}}}{name}": str(getattr(source, name)) for name in _OURS}
        ET.SubElement(body, "outline", {"type": "rss", "text": source.name, "title": source.name, "xmlUrl": source.url, **ours})
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
