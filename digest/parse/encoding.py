"""Which characters the bytes of a feed mean, decided by us before any parser sees them.

In order: byte order mark, UTF-16/32 by its zero bytes, strict UTF-8, the superset of what the document
or the HTTP header declares, detection, and last Windows-1252 with replacements.
"""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ZEROS = ((b"\0\0\0<", "utf-32-be"), (b"<\0\0\0", "utf-32-le"), (b"\0<\0", "utf-16-be"), (b"<\0", "utf-16-le"))
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']\s*([A-Za-z0-9._:-]{1,40})")
# The label that is declared -> the larger set that its users really write (WHATWG Encoding Standard).
_SUPERSET = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "ascii": "cp1252",
    "tis-620": "cp874",
}
_SEVEN_BIT = ("iso2022_jp", "iso2022_kr", "hz")


def decode(body: bytes, charset: str | None = None) -> tuple[str, str, bool]:
    """The text, the name of its encoding, and whether it was certain (False: guessed or repaired)."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _with_replacements(body[len(mark) :], name)
    for zeros, name in _ZEROS:
        if body.startswith(zeros):
            return _with_replacements(body, name)
    labels = [_codec(found.group(1).decode("ascii")) if (found := _DECLARED.search(body, 0, 1024)) else None]
    labels.append(_codec(charset) if charset else None)
    declared = [label for label in labels if label]
    if not any(label in _SEVEN_BIT for label in declared) and (text := _strict(body, "utf-8")) is not None:
        return text, "utf-8", True
    for label in declared:
        name = _SUPERSET.get(label, label)
        if name != "utf-8" and (text := _strict(body, name)) is not None:
            return text, name, True
    return _repair(body) or _detect(body)


def _codec(label: str) -> str | None:
    try:
        return codecs.lookup(label).name
    except LookupError:
        return None


def _strict(body: bytes, name: str) -> str | None:
    try:
        return body.decode(name)
    except (UnicodeError, LookupError):
        return None


def _with_replacements(body: bytes, name: str) -> tuple[str, str, bool]:
    text = body.decode(name, "replace")
    return text, name, "\ufffd" not in text


def _repair(body: bytes) -> tuple[str, str, bool] | None:
    """UTF-8 with a few broken bytes (a cut character, a stray Latin-1 letter), else None."""
    text = body.decode("utf-8", "replace")
    multibyte = sum(character > "\x7f" for character in text)
    broken = text.count("\ufffd")
    return (text, "utf-8", False) if broken * 10 < multibyte else None


def _detect(body: bytes) -> tuple[str, str, bool]:
    from charset_normalizer import from_bytes

    sample = re.sub(rb"<[^>]{0,400}>", b" ", body[:200_000])
    best = from_bytes(sample, cp_exclusion=["utf_7"]).best()
    if best is not None:
        name = _codec(best.encoding) or "cp1252"
        name = _SUPERSET.get(name, name)
        if (text := _strict(body, name)) is not None:
            return text, name, False
    return body.decode("cp1252", "replace"), "cp1252", False
