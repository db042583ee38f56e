"""The template environment: strict, escaping, with the helpers that templates may use. Time is never one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, TemplateNotFound, TemplateSyntaxError, select_autoescape
from jinja2.bccache import Bucket, BytecodeCache
from markupsafe import Markup

from digest.errors import RenderError
from digest.figures import change
from digest.model import Article, ArticleLine, ArxivPause, Claim, Coverage, Entry, Issue, Language, Source
from digest.render import places
from digest.render.fonts import Fonts
from digest.render.letter import letter
from digest.render.words import HTML_LANGUAGES, Words
from digest.subjects import NAMED
from digest.text import is_han

_KEPT = 20_000
_COMPILED = 1000  # some ten sets of templates


def as_told(claim: Claim, language: Language) -> str:
    """What the source compares the claim with, in its own words."""
    return claim.baseline or ""


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What a site may have: fonts to draw share cards with, a search index, a WebSub hub that its feeds name, the address of a page to
    ``subscribe`` by mail; and a folder to keep compiled templates in, which saves every run a fifth of a second."""

    fonts: Fonts | None = None
    has_search: bool = False
    hub: str = ""
    compiled: Path | None = None
    subscribe: str = ""


class _Compiled(BytecodeCache):
    """Compiled templates: kept by the process, however often it reads them, and with a folder from one process to the next."""

    _kept: ClassVar[dict[str, tuple[str, CodeType]]] = {}

    def __init__(self, folder: Path | None) -> None:
        self._files = FileSystemBytecodeCache(str(folder)) if folder else None

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._kept.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code
        elif self._files:
            self._files.load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if len(self._kept) >= _COMPILED:
            self._kept.clear()
        if bucket.code is not None:
            self._kept[bucket.key] = bucket.checksum, bucket.code
        if self._files:
            self._files.dump_bytecode(bucket)


class Templates:
    """Renders the templates of the folders; a file in an earlier folder hides the same one in a later."""

    def __init__(
        self,
        folders: Sequence[Path],
        topic_titles: Mapping[str, Mapping[Language, str]] | None = None,
        options: SiteOptions = SiteOptions(),
        against: Callable[[Claim, Language], str] = as_told,
    ) -> None:
        """``against`` says in a language what a claim is compared with, or where it came from."""
        self._folders, self.options, self.against = tuple(folders), options, against
        self.words = Words(folders)
        self._topic_titles = topic_titles or {}
        self._made: dict[Any, tuple[Any, Markup]] = {}
        self._environment = Environment(
            loader=FileSystemLoader([str(folder) for folder in folders]),
            autoescape=select_autoescape(["html", "xml"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            bytecode_cache=_Compiled(options.compiled),
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
            "against": against,
            "gap": gap,
            "states": states,
            "local": local,
            "pause": self._pause,
            "empty_day": self._empty_day,
            "dated": self.dated,
            "byline": self._byline,
            "topic_title": self.topic_title,
            "options": options,
            "told": self._told,
            "said": self._said,
            "place": places,
            "named": NAMED,
        }
        self._environment.filters |= {
            "safe_url": safe_url,
            "public_url": public_url,
            "language_of": language_of,
            "markdown": escape_markdown,
            "letter": letter,
            "markup": Markup,  # for what a template of ours made
            "tied": tied,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Made anew in another process."""
        return Templates, (self._folders, self._topic_titles, self.options, self.against)

    def render(self, name: str, **values: Any) -> str:
        """The template filled. Raises RenderError with file, line and cause."""
        try:
            return self._environment.get_template(name).render(values)
        except TemplateNotFound as error:
            raise RenderError(f"the template {error.name} is missing; copy it from the shipped templates") from error
        except TemplateSyntaxError as error:
            raise RenderError(f"{error.filename or name}:{error.lineno}: {error.message}") from error
        except RenderError:
            raise
        except Exception as error:  # a template may do whatever Python does
            raise RenderError(f"{_where(error, name)}: {error or type(error).__name__}") from error

    def check(self, names: Iterable[str] | None = None) -> None:
        """Reads those templates, or every one, and the catalogues with them. Raises RenderError for the first that is wrong, with file and
        line."""
        kinds = ("html", "md", "txt", "xml")
        for name in self._environment.list_templates(extensions=kinds) if names is None else [name for name in names if name.endswith(kinds)]:
            try:
                self._environment.get_template(name)
            except TemplateSyntaxError as error:
                raise RenderError(f"{error.filename or name}:{error.lineno}: {error.message}") from error
            except (OSError, UnicodeDecodeError) as error:
                raise RenderError(f"templates/{name} cannot be read as UTF-8: {error}") from error

    def text(self, name: str) -> str:
        """A file of the templates as it stands. Raises RenderError when it is missing."""
        try:
            return self._environment.loader.get_source(self._environment, name)[0]  # type: ignore[union-attr]
        except TemplateNotFound as error:
            raise RenderError(f"the template {error.name} is missing; copy it from the shipped templates") from error
        except (OSError, UnicodeDecodeError) as error:
            raise RenderError(f"templates/{name} cannot be read as UTF-8: {error}") from error

    def topic_title(self, topic: str, language: Language, issue: Issue) -> str:
        """The topic's title in the settings, or where they know it no more in the issue, or its name."""
        titles = self._topic_titles.get(topic) or issue.tag_titles.get(topic) or {}
        return titles.get(language) or topic

    def dated(self, language: Language, issue: Issue) -> str:
        """The day, week or month of an issue, as its head says it."""
        if issue.period == "day":
            return self.words.day(language, issue.day)
        if issue.period == "month":
            return self.words.say(language, "The best of %(period)s", period=self.words.month(language, issue.day))
        return self.words.say(language, "The best of the week: %(period)s", period=self.words.week(language, places.monday(issue.day)))

    def _told(self, line: ArticleLine, language: Language, root: str, issue: Issue, kind: str) -> Markup:
        return self._once("web/line.html", line, language=language, root=root, issue=issue, kind=kind)

    def _said(self, article: Article, issue: Issue, language: Language, root: str, level: int) -> Markup:
        return self._once("web/said.html", article, language=language, root=root, issue=issue, level=level)

    def _once(self, name: str, subject: ArticleLine | Article, *, language: Language, root: str, issue: Issue, **values: Any) -> Markup:
        """A part of a page, made once for all pages that show the same thing in the same way; ``subject`` is kept, so its id stays its own."""
        key = (name, id(subject), language, root, issue.day, *values.values())
        if key not in self._made:
            if len(self._made) >= _KEPT:
                self._made.clear()
            html = self.render(name, subject=subject, language=language, root=root, issue=issue, **values)
            self._made[key] = (subject, Markup(html))  # noqa: S704  # from a template that escapes
        return self._made[key][1]

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

    def _empty_day(self, language: Language, issue: Issue, is_whole: bool = True) -> str:
        """Why a day has no pick: nothing on the topic, nothing new, or nothing that could be read; ``is_whole``: the rest of the issue follows."""
        failed = len(states(issue).get("failed", ()))
        count = self.words.count
        parts = []
        if issue.entries_read:
            one, many = "%(number)s entry was read, none is about the topic.", "%(number)s entries were read, none is about the topic."
            parts.append(count(language, one, many, issue.entries_read))
        elif not failed:
            parts.append(self.words.say(language, "The sources said nothing new."))
        if issue.near_misses and is_whole:
            one, many = "%(number)s near miss is listed below.", "%(number)s near misses are listed below."
            parts.append(count(language, one, many, len(issue.near_misses)))
        if any(coverage.reason in ("waiting", "stale") for coverage in issue.coverage):
            parts.append(self.words.say(language, "arXiv had not announced its new papers yet."))
        if failed:
            one, many = "%(number)s source could not be read; the reason is below.", "%(number)s sources could not be read; the reasons are below."
            if not is_whole:
                one, many = "%(number)s source could not be read.", "%(number)s sources could not be read."
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


_SECRETS = ("key", "code", "token", "secret", "auth", "password", "sig")


def public_url(source: Source) -> str:
    """A source's address as anybody may read it: without user, password and whatever looks like a key; empty where it is not public, no
    web address, or on a host that only this network knows."""
    parts = urlsplit(source.url)
    host = parts.hostname or ""
    if not source.is_public or parts.scheme not in ("http", "https") or "." not in host or _is_private(host):
        return ""
    query = "&".join(pair for pair in parts.query.split("&") if not any(secret in pair.partition("=")[0].lower() for secret in _SECRETS))
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query))


def _is_private(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host.endswith((".local", ".lan", ".internal", ".home", ".corp"))


_FIGURE_AND_UNIT = re.compile(
    r"(?<=\d) (?=(?:倍|个百分点|万|亿|小时|分钟|秒|天|周|步|张|GPU|[KMGT]?B|hours?|minutes?|seconds?|days?|weeks?|GPUs?|billion|million)(?![A-Za-z]))"
)


def tied(text: str) -> str:
    """The text with every figure tied to its unit by a space that does not break, so that no line begins with a lonely unit."""
    return _FIGURE_AND_UNIT.sub("\u00a0", text)


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
    return "before:" if re.fullmatch(r"(?:约|about )?\s?\$?[\d.,]+\s?\S*", claim.baseline or "") else "against"


def gap(language: Language, words: str) -> str:
    """What stands between a Chinese or English label and the words after it."""
    return "" if language == "zh" and "\u3400" <= words[:1] <= "\u9fff" else " "


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
