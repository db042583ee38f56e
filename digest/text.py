"""Pure helpers on words and addresses."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f"
_IDEOGRAPH = "\u3400-\u9fff\uf900-\ufaff"
_LATIN_AFTER_HAN = re.compile(rf"(?<=[{_IDEOGRAPH}])(?=[A-Za-z0-9$@#&(\[+~<≥≤])(?![(\[])")
_HAN_AFTER_LATIN = re.compile(rf"(?<=[A-Za-z0-9%°×+)\]])(?=[{_IDEOGRAPH}])(?<![)\]])")
_SPACES = re.compile(r"\s+")
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
_TRACKING = re.compile(r"^(utm_\w+|fbclid|gclid|mc_cid|mc_eid|ref|ref_src|spm|from|source|share)$")
_SENTENCE_END = re.compile(r"(?<=[。！？；])\s*|(?<=[.!?])[\"'”’)\]]?\s+(?=[\"'“‘(\[]?[A-Z0-9\u4e00-\u9fff$\\])|\n+")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|et al|vs|Fig|Eq|Sec|Tab|cf|approx|resp|Dr|Mr|Ms|Prof|No|St|Inc|Ltd|U\.S)\.|\b[A-Z]\.)$")


def clean(text: str) -> str:
    """NFC, without control and direction characters, outer space removed; line ends are ``\\n``."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", unicodedata.normalize("NFC", text)).strip()


def one_line(text: str) -> str:
    """``clean`` with every run of white space turned into one space."""
    return _SPACES.sub(" ", clean(text))


def shorten(text: str, limit: int, language: str = "en") -> str:
    """At most ``limit`` characters, cut at a word (Latin) or character (Chinese), ending in …."""
    text = one_line(text)
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    if language == "en" and " " in cut[limit // 2 :]:
        cut = cut[: cut.rindex(" ")]
    return cut.rstrip(" ,，、;；:：.-–") + "…"


def is_han(text: str) -> bool:
    """Whether the text is mainly Chinese: a fifth of its letters or more are ideographs."""
    if text.isascii():
        return False
    han = sum("\u3400" <= character <= "\u9fff" for character in text)
    kana = sum("\u3040" <= character <= "\u30ff" for character in text)
    letters = sum(character.isalpha() for character in text)
    return letters > 0 and han >= 0.2 * letters and kana < 0.1 * letters


def space_han(text: str) -> str:
    """One space between Chinese and Latin letters or digits, as careful typesetting has it."""
    return _HAN_AFTER_LATIN.sub(" ", _LATIN_AFTER_HAN.sub(" ", text))


def sentences(text: str) -> list[str]:
    """The sentences in order, white space trimmed; abbreviations and decimals do not end one."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence in ``text``, white space trimmed."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match.group().find("\n") < 0 and _ABBREVIATION.search(text, max(start, match.start() - 12), match.start()):
            continue
        _append_span(spans, text, start, match.end())
        start = match.end()
    _append_span(spans, text, start, len(text))
    return spans


def _append_span(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        spans.append((start, end))


def canonical_url(url: str) -> str:
    """The address by which two links to one page are equal.

    Host in lower case, default port, fragment, tracking parameters and closing slash removed,
    https for http, arXiv links without version. Empty for anything that is not http(s) or file.
    """
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").lower().rstrip(".")
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or not host:
        return ""
    if port not in (None, 80, 443):
        host = f"{host}:{port}"
    if found := arxiv_id(url):
        return f"https://arxiv.org/abs/{found}"
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.match(pair[0].lower())]
    return urlunsplit(("https", host, parts.path.rstrip("/") or "/", urlencode(kept), ""))


_ARXIV = re.compile(
    r"(?:arxiv\.org[:/](?:abs|pdf|html)/|arxiv\.org:|\barxiv:|huggingface\.co/papers/|alphaxiv\.org/abs/)\s*"
    r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(v\d+)?",
    re.IGNORECASE,
)
_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"'<>,;，。；]{2,100})", re.IGNORECASE)
_REPOSITORY = re.compile(r"\b(?:github\.com|gitlab\.com)/([\w.-]{1,60})/([\w.-]{1,100})", re.IGNORECASE)


def arxiv_id(text: str) -> str:
    """The first arXiv id in ``text``, without version; empty when there is none."""
    match = _ARXIV.search(text)
    return match.group(1) if match else ""


def doi(text: str) -> str:
    """The first DOI in ``text`` in lower case; empty when there is none."""
    match = _DOI.search(text)
    return match.group(1).rstrip(".)]}").lower() if match else ""


def repository(text: str) -> str:
    """``host/owner/name`` of the first code repository in ``text``; empty when there is none."""
    match = _REPOSITORY.search(text)
    if not match:
        return ""
    host = match.group(0).split("/", 1)[0].lower()
    name = match.group(2).rstrip(".").removesuffix(".git").rstrip(".")
    return f"{host}/{match.group(1)}/{name}".lower() if name else ""
