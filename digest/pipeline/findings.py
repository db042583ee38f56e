"""What an editor should see before an issue goes out, by the rules that also guard sending: each with the words it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from digest.model import MAIL_BYTES, Article, Issue, MailBody
from digest.publish.check import page_findings
from digest.write import grounding
from digest.write.issue import assign

SUBJECT_WIDTH = 110
_SPAM = re.compile(
    r"免费领|点击这里|点此领取|中奖|赚钱|发票|限时优惠|恭喜您|100%\s*免费|！{2,}"
    r"|\bact now\b|\bclick here\b|\brisk[- ]free\b|\bwinner\b|\bfree money\b|\bmiracle\b|!{2,}|\${3}",
    re.IGNORECASE,
)
_TWICE_ESCAPED = re.compile(r"&amp;(?:lt|gt|amp|quot|#\d+);")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something to look at: ``kind`` is a phrase key, ``words`` the place in the picture (empty for the whole), ``why`` what is wrong."""

    level: Literal["wrong", "look"]
    kind: str
    why: str
    words: str = ""
    story: str = ""
    language: str = ""


def of_words(issue: Issue) -> Iterator[Note]:
    """Sentences that their sources do not carry, languages that differ, words that are missing in one of them."""
    for article in issue.articles:
        yield from _of_article(article, issue)


def _of_article(article: Article, issue: Issue) -> Iterator[Note]:
    key, entry = article.pick.story.key, article.pick.story.lead.entry
    assignment = assign(article.pick, issue.languages)
    for wording in article.wordings:
        for refusal in grounding.refusals(wording, assignment, article.written_by):
            yield Note(level="wrong", kind=f"judge {refusal.kind}", why=refusal.reason, words=refusal.words, story=key, language=wording.language)
        if wording.headline == entry.title and wording.language != entry.language:
            yield Note(level="look", kind="not translated", why="", words=wording.headline, story=key, language=wording.language)
        if not wording.summary and not wording.blurb:
            yield Note(level="look", kind="no words", why="", words=wording.headline, story=key, language=wording.language)
    for why in grounding.differing_figures(article.wordings):
        yield Note(level="wrong", kind="languages differ", why=why, words=article.wordings[0].headline, story=key)
    for language in issue.languages:
        if not any(wording.language == language for wording in article.wordings):
            yield Note(level="wrong", kind="missing language", why=language, words=entry.title, story=key, language=language)


def of_mail(body: MailBody, articles: int) -> Iterator[Note]:
    """Size, subject, and words that spam filters count."""
    size, language = len((body.html + body.html_foot).encode()), body.languages[0]
    if size > MAIL_BYTES:
        yield Note(level="wrong", kind="mail too long", why=f"{size:,} > {MAIL_BYTES:,}", language=language)
    if body.rest:
        yield Note(level="look", kind="mail shortened", why=f"{articles - body.rest} + {body.rest}", language=language)
    if (width := sum(2 if character > "\u2e80" else 1 for character in body.subject)) > SUBJECT_WIDTH:
        yield Note(level="look", kind="subject too long", why=f"{width} > {SUBJECT_WIDTH}", words=body.subject, language=language)
    for match in {found[0] for found in _SPAM.finditer(f"{body.subject}\n{body.text}")}:
        yield Note(level="look", kind="spam words", why=match, words=match, language=language)


def of_page(name: str, html: str, files: set[str], address: str) -> Iterator[Note]:
    """Markup, pictures without words, links between the files that lead nowhere, text that was escaped twice."""
    for found in page_findings(name, html, files, address):
        yield Note(level="wrong", kind="broken link" if found.kind in ("link", "anchor") else "markup", why=found.words)
    for match in {found[0] for found in _TWICE_ESCAPED.finditer(html)}:
        yield Note(level="look", kind="escaped twice", why=match)


_PAIRS = (("ink", "paper"), ("ink", "card"), ("soft", "paper"), ("soft", "card"), ("accent", "card"), ("hot", "card"), ("mark", "card"), ("ink", "why"))
LEAST_CONTRAST = 4.5


def of_style(css: str) -> Iterator[Note]:
    """Colours of the style sheet that are too near to each other to be read (WCAG 2.2, 1.4.3), light and dark."""
    light = dict(re.findall(r"--(\w+):\s*(#[0-9a-fA-F]{6})", css.partition("prefers-color-scheme: dark")[0]))
    dark = light | dict(re.findall(r"--(\w+):\s*(#[0-9a-fA-F]{6})", css.partition("prefers-color-scheme: dark")[2]))
    for scheme, colours in (("light", light), ("dark", dark)):
        for one, other in _PAIRS:
            if one in colours and other in colours and (found := contrast(colours[one], colours[other])) < LEAST_CONTRAST:
                yield Note(level="wrong", kind="contrast", why=f"--{one} / --{other} ({scheme}): {found:.1f} < {LEAST_CONTRAST}")


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, #rrggbb, from 1 to 21 (WCAG 2.2)."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    def linear(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(colour[place : place + 2]) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
