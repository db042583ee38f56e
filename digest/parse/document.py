"""XML made safe and regular before the feed parser sees it.

The declaration and the document type go; entities that the type declares as short plain text and the
named HTML ones are written out, all others become literal text. Nothing is ever opened or expanded
twice. A document cut off in the middle loses its last, unfinished entry and gets its closing tags back.
"""

from __future__ import annotations

import html.entities
import re
from collections.abc import Iterator

from digest.errors import ParseError

GROWTH_LIMIT = 1024 * 1024
PROLOG_LIMIT = 20_000
_DECLARATION = re.compile(r"<\?xml\s[^>]{0,400}\?>", re.IGNORECASE)
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^\[>]{0,1000}(?:\[(?P<subset>.*?)\]\s*)?>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"<!ENTITY\s+([\w.:-]{1,60})\s+(?:\"([^\"<&%]{0,500})\"|'([^'<&%]{0,500})')\s*>")
_AMPERSAND = re.compile(r"&(?:(#\d{1,7}|#[xX][0-9a-fA-F]{1,6})|([A-Za-z][\w.:-]{0,60}))?(;?)")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_XML_NAMES = frozenset(("amp", "lt", "gt", "quot", "apos"))
_ROOT = re.compile(r"<(?:\w+:)?(rss|feed|RDF)\b", re.IGNORECASE)
_CLOSERS = {"rss": "</channel></rss>", "feed": "</feed>", "rdf": "</rdf:RDF>"}


def regular(text: str, limit_entries: int) -> tuple[str, tuple[str, ...]]:
    """The document ready for the parser, and warnings about what was repaired.

    Raises ParseError for what is no feed at all: nothing, a web page, XML of another kind.
    """
    warnings: list[str] = []
    text = _NOT_XML.sub("", text)
    text = _DECLARATION.sub("", text, count=1)
    text, subset = _without_document_type(text)
    text = text.lstrip("\ufeff \t\r\n")
    root = _root(text)
    text = _write_out_entities(text, subset)
    tag = "entry" if root == "feed" else "item"
    text = _limit(text, tag, root, limit_entries, warnings)
    return _close(text, tag, root, warnings), tuple(warnings)


def _without_document_type(text: str) -> tuple[str, str]:
    """(the document without its type, what the type declares). It can only stand before the root."""
    root = _ROOT.search(text, 0, PROLOG_LIMIT)
    prolog = text[: root.start()] if root else text[:PROLOG_LIMIT]
    if "<!doctype" not in prolog.lower():
        return text, ""
    match = _DOCTYPE.search(prolog)
    if match is None:
        raise ParseError("a document type that cannot be read", reason="hostile")
    return text[: match.start()] + text[match.end() :], match["subset"] or ""


def _root(text: str) -> str:
    if not text:
        raise ParseError("the answer is empty", reason="empty")
    found = _ROOT.search(text, 0, PROLOG_LIMIT)
    if found is None:
        if re.search(r"<(?:!doctype\s+)?html\b", text[:2000], re.IGNORECASE):
            raise ParseError("a web page, not a feed; look on it for the address of its feed")
        raise ParseError("not a feed: neither RSS, Atom, RDF nor JSON Feed")
    return found[1].lower()


def _write_out_entities(text: str, subset: str) -> str:
    declared = {name: double or single for name, double, single in _ENTITY.findall(subset)}
    grown = 0

    def write_out(match: re.Match[str]) -> str:
        nonlocal grown
        number, name, end = match.groups()
        if (number or name in _XML_NAMES) and end:
            return match[0]
        if name and end and (value := declared.get(name) or html.entities.html5.get(name + ";")):
            grown += len(value)
            if grown > GROWTH_LIMIT:
                raise ParseError("entities that would grow the document beyond bounds", reason="hostile")
            return value.replace("&", "&amp;").replace("<", "&lt;")
        return "&amp;" + match[0][1:]

    return "".join(part if is_literal else _AMPERSAND.sub(write_out, part) for part, is_literal in _sections(text))


def _sections(text: str) -> Iterator[tuple[str, bool]]:
    """The text in parts, and whether each is a CDATA section; one that is never closed is none."""
    place = 0
    while (start := text.find("<![CDATA[", place)) >= 0 and (end := text.find("]]>", start)) >= 0:
        yield text[place:start], False
        yield text[start : end + 3], True
        place = end + 3
    yield text[place:], False


def _limit(text: str, tag: str, root: str, limit: int, warnings: list[str]) -> str:
    starts = re.finditer(rf"<(?:\w+:)?{tag}[\s>]", text)
    for count, start in enumerate(starts):
        if count == limit:
            warnings.append(f"more than {limit} entries; the rest was left unread")
            return text[: start.start()] + _CLOSERS[root]
    return text


def _close(text: str, tag: str, root: str, warnings: list[str]) -> str:
    if re.search(rf"</(?:\w+:)?{root}\s*>\s*(?:<!--.*?-->\s*)*$", text[-4000:], re.IGNORECASE | re.DOTALL):
        return text
    ends = [match.end() for match in re.finditer(rf"</{tag}\s*>", text)]
    if not ends or re.search(rf"</(?:\w+:)?{root}\s*>", text[ends[-1] :], re.IGNORECASE):
        return text
    warnings.append("the document is cut off; its whole entries were kept")
    return text[: ends[-1]] + _CLOSERS[root]
