"""The words of a mail: subject, hidden first line, HTML with inlined styles and plain text, of the same articles in the same order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

import css_inline

from digest.model import MAIL_BYTES, Article, Issue, Language, MailBody
from digest.render import places
from digest.render.environment import Templates
from digest.text import clean, shorten

SUBJECT_LIMIT = 90
PREHEADER_LIMIT = 110
_SUBJECTS = {"confirm": "Please confirm: %(title)s by mail", "known": "Your subscription to %(title)s"}
# What is put in their place for each reader.
UNSUBSCRIBE, PREFERENCES = "https://unsubscribe.invalid/", "https://preferences.invalid/"


class MailRenderer:
    """Renders ``mail/issue.html``, ``issue.txt`` and the foot of each for some languages and topics."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._inliner = css_inline.CSSInliner(load_remote_stylesheets=False)

    def render(self, issue: Issue, languages: Sequence[Language], topics: Collection[str] = ()) -> MailBody:
        """The mail of an issue in those languages, the main one first; with topics only the articles that have one of them. What makes
        the HTML longer than 96 kB is told as a line with a link. Raises RenderError."""
        articles = [article for article in issue.articles if not topics or set(article.tags) & set(topics)]
        told = replace(
            issue, sections=tuple(replace(section, articles=tuple(each for each in section.articles if each in articles)) for section in issue.sections)
        )
        values = {"issue": told, "languages": languages, "unsubscribe": UNSUBSCRIBE, "preferences": PREFERENCES}
        foot = self._templates.render("mail/foot.html", **values)
        whole = len(articles)
        html = self._inlined(told, languages, articles, whole, foot)
        while whole and len(html.encode()) > MAIL_BYTES:
            whole = min(whole - 1, whole * MAIL_BYTES // len(html.encode()))
            html = self._inlined(told, languages, articles, whole, foot)
        body, _, closing = html.partition('<td class="foot"')
        text = self._templates.render("mail/issue.txt", page=_page(issue, languages), articles=articles[:whole], rest=articles[whole:], **values)
        return MailBody(
            languages=tuple(languages),
            title=issue.title[languages[0]],
            subject=self._subject(told, languages[0], articles),
            text=_mailable(text),
            text_foot=self._templates.render("mail/foot.txt", **values),
            html=body,
            html_foot=f'<td class="foot"{closing}',
            articles=len(articles),
            rest=len(articles) - whole,
        )

    def _inlined(self, issue: Issue, languages: Sequence[Language], articles: Sequence[Article], whole: int, foot: str) -> str:
        html = self._templates.render(
            "mail/issue.html",
            issue=issue,
            languages=languages,
            articles=articles[:whole],
            rest=articles[whole:],
            page=_page(issue, languages),
            subject=self._subject(issue, languages[0], articles),
            preheader=self._preheader(issue, languages[0], articles),
        )
        return _mailable(self._inliner.inline(html + foot))

    def _subject(self, issue: Issue, language: Language, articles: Sequence[Article]) -> str:
        """The day's lead, then the name of the digest and the date, which keeps mails of different days apart."""
        words = self._templates.words
        when = {
            "day": words.short_day(language, issue.day),
            "week": words.say(language, "week %(number)s", number=issue.day.isocalendar().week),
            "month": words.month(language, issue.day),
        }[issue.period]
        day = f"{issue.title[language]} {when}"
        lead = articles[0].wording(language).headline if articles else words.say(language, "No pick today.").rstrip(".。")
        return f"{shorten(lead, SUBJECT_LIMIT, language)} · {day}"

    def _preheader(self, issue: Issue, language: Language, articles: Sequence[Article]) -> str:
        """What follows the lead; many clients show it beside the subject."""
        others = [article.wording(language).headline for article in articles[1:4]]
        return shorten((" · ").join(others), PREHEADER_LIMIT, language) if others else self._templates.dated(language, issue)


class LetterRenderer:
    """Renders ``mail/letter.html`` and ``letter.txt``: what a sign-up is answered with."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._inliner = css_inline.CSSInliner(load_remote_stylesheets=False)

    def render(self, kind: Literal["confirm", "known"], title: str, language: Language, link: str) -> tuple[str, str, str]:
        """(subject, text, HTML) of a letter that leads to the link. Nothing in it was typed by the one who asked."""
        subject = self._templates.words.say(language, _SUBJECTS[kind], title=title)
        values = {"kind": kind, "title": title, "main": language, "link": link, "subject": subject}
        html = self._inliner.inline(self._templates.render("mail/letter.html", **values))
        return subject, _mailable(self._templates.render("mail/letter.txt", **values)), _mailable(html)


def _mailable(text: str) -> str:
    """Without any control character, also not U+0085, at which some clients cut a mail."""
    return clean(text).replace("\x85", " ")


def _page(issue: Issue, languages: Sequence[Language]) -> str:
    if issue.period == "day":
        return places.issue(issue.day, languages[0]) if len(languages) == 1 else f"{issue.folder}/index.html"
    return (places.week if issue.period == "week" else places.month)(issue.day, languages[0])
