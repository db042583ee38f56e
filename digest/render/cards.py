"""Share cards: a picture per issue and per featured article that is legible in a chat window (opengraph.org).

They are laid out in units of 1200 × 630 and drawn at four fifths of that, which chats show as sharp and costs a third less.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from digest.errors import RenderError
from digest.figures import change
from digest.model import Article, Document, Issue, Language, Shelf
from digest.render import places
from digest.render.environment import Templates, gap, shown, versus
from digest.render.fonts import Fonts

SIZE = (960, 504)
_WIDTH, _HEIGHT = 1200, 630
_MARGIN = 64
_PAPER = (251, 250, 247)
_COLOURS = {"ink": (29, 33, 38), "soft": (90, 99, 112), "hot": (179, 65, 30), "line": (214, 209, 198)}
_LEVELS = 4
_PALETTE = [
    paper + (ink - paper) * level // (_LEVELS - 1)
    for colour in _COLOURS.values()
    for level in range(_LEVELS)
    for paper, ink in zip(_PAPER, colour, strict=True)
]
_STEPS = {name: [place * _LEVELS + (value * (_LEVELS - 1) + 127) // 255 for value in range(256)] for place, name in enumerate(_COLOURS)}
_TOKEN = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]|\s+|[^\s\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]+")
_NOT_FIRST = frozenset("，。、；：？！）》」』”’％%°.,;:!?)]}…")
_NOT_LAST = frozenset("（《「『“‘([{")
_UNDRAWN = re.compile(r"[^\u0020-\u024f\u0370-\u03ff\u2010-\u203a\u2070-\u22ff\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


@lru_cache(maxsize=64)
def _font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    """The face for simplified Chinese where the file holds several, or its first."""
    try:
        first = face = ImageFont.truetype(path, size)
    except OSError as error:
        raise RenderError(f"{path} is no font that can be read: {error}") from error
    for index in range(1, 12 if path.suffix == ".ttc" else 1):
        if "SC" in (face.getname()[0] or "").split():
            return face
        try:
            face = ImageFont.truetype(path, size, index=index)
        except OSError:  # the last one
            break
    return first


@lru_cache(maxsize=20_000)
def _width(path: Path, size: int, token: str) -> float:
    return _font(path, size).getlength(token)


class CardRenderer:
    """Renders ``YYYY/MM/DD/card.<language>.png`` and ``STORY.<language>.png`` for featured articles; nothing without fonts."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def render(self, issue: Issue, shelf: Shelf) -> Iterator[Document]:
        fonts = self._templates.options.fonts
        if fonts is None:
            return
        for language in issue.languages:
            frame = self._frame(issue, language, _Card(fonts))
            yield _document(places.card(issue.day, "", language), language, self._of_issue(issue, language, frame.copy()))
            for article in issue.articles:
                if article.pick.featured:
                    body = self._of_article(article, language, frame.copy())
                    yield _document(places.card(issue.day, article.pick.story.key, language), language, body)

    def _of_issue(self, issue: Issue, language: Language, card: _Card) -> bytes:
        words = self._templates.words
        articles = issue.articles
        headline = articles[0].wording(language).headline if articles else words.say(language, "No pick today.")
        y = card.block(headline, 56, 150, 3, "ink", is_bold=True)
        for article in articles[1:4]:
            if y > 470:
                break
            card.line(f"{article.pick.heat}°", 30, _MARGIN, y + 14, "hot", is_bold=True)
            y = card.block(article.wording(language).headline, 32, y + 12, 1, "ink", left=_MARGIN + 80)
        told = words.count(language, "%(number)s article", "%(number)s articles", len(articles))
        read = words.count(language, "%(number)s entry read", "%(number)s entries read", issue.entries_read)
        card.line(f"{told} · {read}", 28, _MARGIN, 548, "soft")
        return card.png()

    def _of_article(self, article: Article, language: Language, card: _Card) -> bytes:
        words, entry = self._templates.words, article.pick.story.lead.entry
        y = card.block(article.wording(language).headline, 52, 146, 3, "ink", is_bold=True)
        if claims := shown(article):
            claim = claims[0]
            card.line(words.say(language, claim.metric), 28, _MARGIN, y + 18, "soft")
            card.line(change(claim, language), 76, _MARGIN, y + 58, "hot", is_bold=True)
            if claim.baseline and y <= 340:  # where it ends above the foot
                other = self._templates.against(claim, language)
                card.line(f"{words.say(language, versus(claim))}{gap(language, other)}{other}", 28, _MARGIN, y + 168, "soft")
        card.line(f"{words.say(language, article.source.trust)} {entry.source_name}", 28, _MARGIN, 548, "soft")
        card.line(f"{article.pick.heat}°", 44, _WIDTH - _MARGIN, 534, "hot", is_bold=True, is_right=True)
        return card.png()

    def _frame(self, issue: Issue, language: Language, card: _Card) -> _Card:
        """What all cards of an issue in a language have in common."""
        card.line(issue.title[language], 34, _MARGIN, 52, "ink", is_bold=True)
        card.line(self._templates.words.day(language, issue.day), 28, _WIDTH - _MARGIN, 58, "soft", is_right=True)
        card.bar(_MARGIN, 116, _WIDTH - _MARGIN, 119, "line")
        card.bar(0, 0, 14, _HEIGHT, "hot")
        return card


def _document(name: str, language: Language, body: bytes) -> Document:
    return Document(format="card", language=language, name=name, media_type="image/png", body=body)


class _Card:
    """A picture in the making: each colour has four steps of the palette of sixteen, from paper to itself."""

    def __init__(self, fonts: Fonts, picture: Image.Image | None = None) -> None:
        self._fonts = fonts
        self._picture = picture or Image.new("P", SIZE)
        self._picture.putpalette(_PALETTE)

    def copy(self) -> _Card:
        """Another one, so far alike."""
        return _Card(self._fonts, self._picture.copy())

    def bar(self, left: int, top: int, right: int, bottom: int, colour: str) -> None:
        self._picture.paste(_STEPS[colour][255], (_px(left), _px(top), _px(right), _px(bottom)))

    def line(self, text: str, size: int, x: int, y: int, colour: str, *, is_bold: bool = False, is_right: bool = False) -> None:
        """One line, cut where it does not fit between the margins."""
        room = _WIDTH - 2 * _MARGIN if is_right else _WIDTH - _MARGIN - x
        for words in wrapped(text, self._path(is_bold), _px(size), _px(room), 1):
            self._write(words, size, x, y, colour, is_bold=is_bold, is_right=is_right)

    def block(self, text: str, size: int, y: int, lines: int, colour: str, *, is_bold: bool = False, left: int = _MARGIN) -> int:
        """Text in at most so many lines, the last one cut; where the next thing may begin."""
        step = int(size * 1.4)
        found = wrapped(text, self._path(is_bold), _px(size), _px(_WIDTH - _MARGIN - left), lines)
        for place, words in enumerate(found):
            self._write(words, size, left, y + place * step, colour, is_bold=is_bold)
        return y + len(found) * step

    def png(self) -> bytes:
        body = io.BytesIO()
        self._picture.save(body, "PNG", bits=4, compress_type=3)  # run lengths: as small as any for such pictures, and the fastest
        return body.getvalue()

    def _path(self, is_bold: bool) -> Path:
        return self._fonts.bold if is_bold else self._fonts.regular

    def _write(self, words: str, size: int, x: int, y: int, colour: str, *, is_bold: bool, is_right: bool = False) -> None:
        font = _font(self._path(is_bold), _px(size))
        wide = int(font.getlength(words)) + 4 if is_right else SIZE[0] - _px(x)
        letters = Image.new("L", (wide, _px(size * 1.4)))
        ImageDraw.Draw(letters).text((0, 0), words, font=font, fill=255)
        self._picture.paste(letters.point(_STEPS[colour], "P"), (_px(x) - wide if is_right else _px(x), _px(y)))


def _px(units: float) -> int:
    return int(units * SIZE[0] / _WIDTH)


def wrapped(text: str, path: Path, size: int, room: float, limit: int) -> list[str]:
    """The text in lines that fit: between Chinese characters or Latin words, never before closing or after opening punctuation; the
    last of ``limit`` lines ends in "…" where something is left out."""
    pieces: Sequence[str] = [piece for piece in _TOKEN.findall(" ".join(_UNDRAWN.sub(" ", text).split())) if piece]
    lines, line, width = [], "", 0.0
    for place, piece in enumerate(pieces):
        piece = " " if piece.isspace() else piece
        wide = _width(path, size, piece)
        after = pieces[place + 1][0] if piece == " " and place + 1 < len(pieces) else piece[0]  # a space clings to what may not begin a line
        is_tied = after in _NOT_FIRST or (line != "" and line[-1] in _NOT_LAST)
        if line and width + wide > room and not is_tied:
            lines.append(line.rstrip())
            line, width = "", 0.0
            if len(lines) == limit:
                return _cut(lines, path, size, room, "".join(pieces[place:]).strip() != "")
        if piece == " " and not line:
            continue
        line, width = line + piece, width + wide
    return _cut([*lines, line.rstrip()] if line.strip() else lines, path, size, room, False)


def _cut(lines: list[str], path: Path, size: int, room: float, is_more: bool) -> list[str]:
    """Lines that are too long in themselves (one long word) or go on, with "…" in place of what is left out."""
    found = []
    for place, line in enumerate(lines):
        if (is_more and place == len(lines) - 1) or _width(path, size, line) > room + size:
            while line and _width(path, size, f"{line}…") > room:
                line = line[:-1]
            line = f"{line.rstrip()}…"
        found.append(line)
    return found
