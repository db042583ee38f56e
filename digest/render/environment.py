"""The template environment: strict, escaping, with the helpers that templates may use. Time is never one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, TemplateNotFound, TemplateSyntaxError, select_autoescape

from digest.errors import RenderError
from digest.figures import change
from digest.model import Article, ArxivPause, Claim, Coverage, Entry, Issue, Language
from digest.render.letter import letter
from digest.render.words import HTML_LANGUAGES, Words
from digest.text import is_han


class Templates:
    """Renders the templates of the folders; a file in an earlier folder hides the same one in a later."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.words = Words(folders)
        self._environment = Environment(
            loader=FileSystemLoader([str(folder) for folder in folders]),
            autoescape=select_autoescape(["html", "xml"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.globals |= {
            "t": self.words.say,
            "n": self.words.count,
            "words": self.words,
            "html_language": HTML_LANGUAGES,
            "shown": shown,
            "change": change,
            "basis": basis,
            "versus": versus,
            "states": states,
            "local": local,
            "pause": self._pause,
            "empty_day": self._empty_day,
            "byline": self._byline,
        }
        self._environment.filters |= {"safe_url": safe_url, "language_of": language_of, "markdown": escape_markdown, "digest": short_hash, "letter": letter}

    def render(self, name: str, **values: Any) -> str:
        """The template filled. Raises RenderError with file, line and cause."""
        try:
            return self._environment.get_template(name).render(values)
        except TemplateNotFound as error:
            raise RenderError(f"the template {error.name} is missing; copy it from the shipped templates") from error
        except TemplateSyntaxError as error:
            raise RenderError(f"{error.filename or name}:{error.lineno}: {error.message}") from error
        except (TemplateError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise RenderError(f"{_where(error, name)}: {error}") from error

    def _pause(self, language: Language, pause: ArxivPause) -> str:
        """Why arXiv says nothing today and when it speaks again, in one sentence."""
        sentence = "arXiv does not announce today (%(why)s); the next batch comes on %(day)s."
        why, day = self.words.say(language, pause.why), self.words.weekday(language, pause.next_day)
        return self.words.say(language, sentence, why=why, day=day)

    def _byline(self, language: Language, article: Article) -> str:
        """Who wrote an article, and whether an editor changed it."""
        names = []
        for name in article.written_by.split(", "):
            model = re.fullmatch(r"llm \((.+)\)", name)
            names.append(self.words.say(language, "language model %(model)s", model=model[1]) if model else self.words.say(language, name))
        writer = self.words.join(language, names)
        if article.is_edited:
            writer = self.words.say(language, "%(writer)s, edited", writer=writer)
        return self.words.say(language, "Written by: %(writer)s", writer=writer)

    def _empty_day(self, language: Language, issue: Issue) -> str:
        """Why a day has no pick: nothing on the topic, nothing new, or nothing that could be read."""
        failed = len(states(issue).get("failed", ()))
        count = self.words.count
        parts = []
        if issue.entries_read:
            one, many = "%(number)s entry was read, none is about the topic.", "%(number)s entries were read, none is about the topic."
            parts.append(count(language, one, many, issue.entries_read))
        elif not failed:
            parts.append(self.words.say(language, "The sources said nothing new."))
        if issue.near_misses:
            one, many = "%(number)s near miss is listed below.", "%(number)s near misses are listed below."
            parts.append(count(language, one, many, len(issue.near_misses)))
        if any(coverage.reason in ("waiting", "stale") for coverage in issue.coverage):
            parts.append(self.words.say(language, "arXiv had not announced its new papers yet."))
        if failed:
            one, many = "%(number)s source could not be read; the reason is below.", "%(number)s sources could not be read; the reasons are below."
            parts.append(count(language, one, many, failed))
        return ("" if language == "zh" else " ").join(parts)


def _where(error: Exception, name: str) -> str:
    trace, place = error.__traceback__, name
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(name.rsplit("/", 1)[-1]):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def safe_url(url: str) -> str:
    """The address if it is http(s), else "#": nothing from a feed may become a script."""
    return url if urlsplit(url).scheme in ("http", "https") else "#"


def language_of(text: str) -> str:
    """The value of a ``lang`` attribute for words whose language the issue does not know."""
    return HTML_LANGUAGES["zh" if is_han(text) else "en"]


def shown(article: Article) -> tuple[Claim, ...]:
    """The claims that stand as figures: at most four, about speed, time, memory and the like. What a result of another kind
    means, only its own sentence can say."""
    return tuple(claim for claim in article.claims if claim.metric not in ("quality", "other"))[:4]


def basis(entry: Entry) -> str:
    """Which text an article rests on, where that is not what its feed said: a phrase key, or empty."""
    if entry.text_from == "page":
        return "From the article's full text"
    return "" if entry.text else "From the title only"


def versus(claim: Claim) -> str:
    """The word before a claim's baseline: what it is compared with, or where it came from."""
    return "before:" if re.match(r"[约\d$]", claim.baseline or "") else "against"


def states(issue: Issue) -> Mapping[str, list[Coverage]]:
    """The coverage by state, in the order of the sources."""
    found: dict[str, list[Coverage]] = {}
    for coverage in issue.coverage:
        found.setdefault(coverage.state, []).append(coverage)
    return found


def local(issue: Issue, moment: Any) -> Any:
    """The moment in the zone of the edition."""
    return moment.astimezone(ZoneInfo(issue.timezone))


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    escaped = "".join(f"\\{character}" if character in "\\`*_{}[]<>#|~$" else character for character in text)
    return " ".join(escaped.split())


def short_hash(text: str) -> str:
    """Eight hex digits that stand for the text."""
    return sha256(text.encode()).hexdigest()[:8]
