"""A day on an editor's table: the issue as it will go out, every channel of it, why each entry is in or out, and what an edit does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from email import policy
from email.parser import BytesParser
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from digest import pipeline, wiring
from digest.acts import Clock, opened
from digest.classify.explain import marked, strongest_first
from digest.errors import ConfigError, DigestError
from digest.lines import article_lines
from digest.model import Document, Entry, Hit, Issue, Label, Language, MailBody, Problem, Shelf
from digest.phrase import Phrase
from digest.pipeline import findings
from digest.pipeline.findings import Note
from digest.publish.message import Message, Personal, Sender
from digest.read.claims import extract
from digest.render import places
from digest.render.chat_message import ChatForm, ChatRenderer
from digest.render.environment import SiteOptions, Templates
from digest.render.mail_body import PREFERENCES, UNSUBSCRIBE, MailRenderer
from digest.settings.load import Loaded
from digest.settings.schema import EditionSettings, RuleSettings, Settings
from digest.store.archive import SqlArchive
from digest.store.entries import SqlEntryStore
from digest.write.desk import apply

Languages = tuple[Language, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """An entry of the day: its score for the main topic, what spoke for and against it, where it went (the story that told it, or empty)."""

    entry: Entry
    label: Label | None
    story: str
    is_lead: bool

    @property
    def score(self) -> float:
        return self.label.score if self.label else 0.0

    @property
    def hits(self) -> list[Hit]:
        return strongest_first(self.label.evidence if self.label else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a change of the rules would do to the day: titles that come in, go out, and how many stay."""

    come: tuple[str, ...]
    go: tuple[str, ...]
    stay: int


class Unsaved:
    """An archive that hands back what it is given to keep: for an issue in the making that nobody has seen."""

    def __init__(self, archive: Any) -> None:
        self._archive = archive

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archive, name)

    def issue(self, edition: str, day: date) -> Issue | None:
        return None

    def save(self, issue: Issue, *more: object) -> Issue:
        return issue


def days(loaded: Loaded, name: str, edition: EditionSettings, now: datetime) -> list[date]:
    """The archived days and today, newest first."""
    with opened(loaded) as engine:
        found = SqlArchive(engine).days(name)
    return sorted({*found, now.astimezone(ZoneInfo(edition.timezone)).date()}, reverse=True)


@dataclass(frozen=True)
class Table:
    """One day, read once; made anew when a file changes. ``archived`` is None for the day in the making."""

    loaded: Loaded
    name: str
    edition: EditionSettings
    day: date
    issue: Issue
    archived: Issue | None
    warnings: tuple[Problem, ...] = ()
    lines: Shelf = field(default_factory=lambda: Shelf(lines=(), recent=()))

    @cached_property
    def templates(self) -> Templates:
        fonts, _ = wiring.card_fonts(self.loaded, self.edition)
        return wiring.templates(self.loaded, SiteOptions(fonts=fonts, subscribe=self._subscribe))

    @property
    def _subscribe(self) -> str:
        return f"{self.edition.mail.links.rstrip('/')}/subscribe/{self.name}" if self.edition.mail else ""

    @cached_property
    def documents(self) -> dict[str, Document]:
        """The files of the day as they will be published, by name, and those that all pages need."""
        shelf = replace(self.lines, recent=(self.issue,), articles=article_lines(self.issue))
        found: dict[str, Document] = {}
        for name in ("issue", "cards"):
            if name != "cards" or self.templates.options.fonts:
                found |= {each.name: each for each in wiring.RENDERERS.create(name, templates=self.templates).render(self.issue, shelf)}
        for name, media_type in (("style.css", "text/css"), ("site.js", "text/javascript"), ("icon.svg", "image/svg+xml")):
            body = self.templates.text(f"web/{name}").encode()
            found[name] = Document(format="web", language="", name=name, media_type=media_type, body=body)
        return found

    def page(self, languages: Languages) -> str:
        """The name of the issue's page in those languages."""
        return places.issue(self.day, languages[0]) if len(languages) == 1 else f"{self.issue.folder}/index.html"

    def mail(self, languages: Languages) -> MailBody:
        """The words of the mail."""
        return MailRenderer(self.templates).render(self.issue, languages)

    def message(self, languages: Languages) -> bytes:
        """The mail as it goes out, to nobody."""
        mail = self.edition.mail
        address = mail.sender if mail else "digest@example.org"
        base = mail.links.rstrip("/") if mail else "https://mail.example.org"
        sender = Sender(address=address, list_id=f"{self.name}.example.org", archive=f"{self.issue.address}/")
        reader = Personal(address="reader@example.org", token="TOKEN", unsubscribe=f"{base}/u/TOKEN", preferences=f"{base}/p/TOKEN")  # noqa: S106
        return Message(self.mail(languages), sender, self.issue.key, (UNSUBSCRIBE, PREFERENCES)).bytes_for(reader, self.issue.until)

    def mail_part(self, languages: Languages, kind: str) -> str:
        """The HTML or text part of the message as a mail program shows it."""
        body = BytesParser(policy=policy.default).parsebytes(self.message(languages)).get_body((kind,))
        assert body is not None
        return str(body.get_content())

    def chat(self, languages: Languages, form: ChatForm, limit_bytes: int = 4000) -> tuple[str, str]:
        """(title, message) of a chat channel."""
        renderer = ChatRenderer(self.templates)
        return renderer.title(self.issue, languages[0]), renderer.render(self.issue, languages, form, limit_bytes)

    def feed_entry(self, languages: Languages) -> str:
        """The day as feed readers show it."""
        lines = [line for line in article_lines(self.issue) if languages[0] in line.headlines]
        return self.templates.render("web/feed_issue.html", issue=self.issue, lines=lines, language=languages[0])

    def markdown(self, languages: Languages) -> str:
        return "\n\n".join(self.documents[f"{self.issue.folder}/{language}.md"].body.decode() for language in languages)

    def notes(self) -> list[Note]:
        """Everything to look at before the day goes out, the worst first."""
        found = [*findings.of_words(self.issue), *findings.of_style(self.documents["style.css"].body.decode())]
        for warning in self.warnings:
            found.append(Note(level="look", kind="edit", why=Phrase("%(subject)s: %(what)s", subject=warning.subject, what=warning.message)))
        for languages in choices(self.issue.languages):
            found += findings.of_mail(self.mail(languages), len(self.issue.articles))
        files = _Files(self.documents, self.issue.folder)
        for name, document in self.documents.items():
            if name.endswith(".html") and name.startswith(self.issue.folder):
                found += findings.of_page(name, document.body.decode(), files, self.issue.address)
        return sorted(dict.fromkeys(found), key=lambda note: note.level != "wrong")

    @cached_property
    def considered(self) -> tuple[Considered, ...]:
        """Every entry that was read for the day, those that are in first, then by score."""
        told = {member.entry.key: (article, member) for article in self.issue.articles for member in article.pick.story.entries}
        labelling = wiring.labeller(self.loaded.settings)
        found = []
        for entry in self._entries():
            label = _label(labelling.label(entry, extract(entry)), self.edition.topics[0])
            article, member = told.get(entry.key, (None, None))
            story = article.pick.story.key if article else ""
            found.append(Considered(entry=entry, label=label, story=story, is_lead=bool(article and member is article.pick.story.lead)))
        return tuple(sorted(found, key=lambda each: (not each.story, -each.score, each.entry.key)))

    def _entries(self) -> list[Entry]:
        sources, _ = wiring.sources(self.loaded.settings, self.edition)
        with opened(self.loaded) as engine:
            entries = SqlEntryStore(engine).seen([source.name for source in sources], self.issue.since, self.issue.until)
        return [entry for entry in entries if entry.revision != "replaced"]

    def words(self, entry: Entry, part: str) -> list[tuple[str, float]]:
        """The title or text of an entry in pieces, each with the points of the rule that marks it."""
        marks = wiring.labeller(self.loaded.settings).marks(entry.title, entry.text, self.edition.topics[0])
        words = entry.title if part == "title" else entry.text
        return list(marked(words, [mark[1:] for mark in marks if mark[0] == part]))

    def what_if(self, expression: str, points: float | None, threshold: float | None) -> Difference:
        """What a word (without points), a rule, or another threshold would do to the day. Raises ConfigError for a wrong expression."""
        settings, topic = self.loaded.settings, self.edition.topics[0]
        changed = changed_settings(settings, topic, expression, points, threshold)
        entries = self._entries()
        before, after = (_ins(each, entries, topic) for each in (settings, changed))
        titles = {entry.key: entry.title for entry in entries}
        return Difference(
            come=tuple(titles[key] for key in sorted(after - before)), go=tuple(titles[key] for key in sorted(before - after)), stay=len(before & after)
        )


class _Files(set[str]):
    """The files of a day; what lies outside of its folder is made with the lists, and taken to be there."""

    def __init__(self, names: Iterable[str], folder: str) -> None:
        super().__init__(names)
        self._folder = folder

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or not str(name).startswith(self._folder)


def choices(languages: Sequence[Language]) -> list[Languages]:
    """What a reader may choose: each language, and all of them."""
    return [*((language,) for language in languages), *([tuple(languages)] if len(languages) > 1 else [])]


def changed_settings(settings: Settings, topic: str, expression: str, points: float | None, threshold: float | None) -> Settings:
    """The settings with another word or rule, or threshold, of the topic."""
    own = settings.topics[topic]
    changes: dict[str, Any] = {"threshold": threshold} if threshold is not None else {}
    if expression and points is None:
        changes["words"] = [*own.words, expression]
    elif expression:
        try:
            changes["rules"] = [*own.rules, RuleSettings.model_validate({"find": expression, "points": points})]
        except ValueError as error:
            raise ConfigError(Phrase("points lie between -20 and 20")) from error
    return settings.model_copy(update={"topics": settings.topics | {topic: own.model_copy(update=changes)}})


def _ins(settings: Settings, entries: Sequence[Entry], topic: str) -> set[str]:
    labelling = wiring.labeller(settings)
    return {entry.key for entry in entries if (label := _label(labelling.label(entry, extract(entry)), topic)) and label.is_in}


def _label(labels: Sequence[Label], topic: str) -> Label | None:
    return next((label for label in labels if label.topic == topic), None)


def lay(loaded: Loaded, name: str, edition: EditionSettings, day: date, clock: Clock) -> Table:
    """The day on the table: archived, or for today in the making. Raises DigestError when there is no such day."""
    sources = wiring.sources_by_name(loaded.settings)
    with opened(loaded) as engine:
        archive = SqlArchive(engine)
        archived, lines = archive.issue(name, day), Shelf(lines=archive.lines(name), recent=())
    issue = archived or asyncio.run(_in_the_making(loaded, name, edition, day, clock()))
    edited, warnings = apply(issue, wiring.desk(loaded, day), sources)
    return Table(loaded, name, edition, day, edited, archived, tuple(warnings), lines)


async def _in_the_making(loaded: Loaded, name: str, edition: EditionSettings, day: date, now: datetime) -> Issue:
    """The issue as it would be made now, kept by nobody."""
    zone = ZoneInfo(edition.timezone)
    if day != now.astimezone(zone).date():
        raise DigestError(Phrase("there is no issue of %(day)s; `digest make --date %(day)s` makes it", day=day.isoformat()))
    sources, off = wiring.sources(loaded.settings, edition)
    frame = wiring.frame(name, edition, loaded.settings)
    async with wiring.open_parts(loaded, name, edition) as parts:
        unsaved: Any = Unsaved(parts.archive)
        report = await pipeline.make(replace(parts, archive=unsaved), frame, sources, off, day, now, (edition.articles, edition.near_misses))
    assert report.issue is not None
    return report.issue
