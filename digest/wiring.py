"""Settings to concrete parts; the one list of what is built in."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import date
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from digest import __version__
from digest.classify.expressions import Lexicon
from digest.classify.labels import KeywordLabeller, Rule, Topic
from digest.classify.mentions import Kind, NameReader
from digest.errors import ConfigError, WriteError
from digest.model import Desk, Issue, Language, Problem, Source
from digest.plugins import Registry
from digest.ports import AnswerCache, Publisher, Writer
from digest.settings.desk import load_desk
from digest.settings.load import Loaded, with_places
from digest.settings.schema import EditionSettings, Settings, TopicSettings, WriterSettings
from digest.shipped import SHIPPED

if TYPE_CHECKING:  # imported where they are used: most commands need few of them
    from digest.fetch.guard import Guard
    from digest.pipeline import Parts, Reading
    from digest.publish.hub import HubPublisher
    from digest.publish.search_index import PagefindIndex
    from digest.render.chat_message import ChatForm
    from digest.render.environment import SiteOptions, Templates
    from digest.render.fonts import Fonts
    from digest.store.archive import SqlArchive
    from digest.write.glossary import Glossary
    from digest.write.issue import EditionFrame
    from digest.write.pattern import PatternWriter
    from digest.write.translation import Translate

SCORERS = Registry("scorer", {"heat": "digest.rank.heat:HeatScorer"})
RENDERERS = Registry(
    "renderer",
    {"issue": "digest.render.issue_files:IssueRenderer", "api": "digest.render.api:IssueApiRenderer", "cards": "digest.render.cards:CardRenderer"},
)
SHELF_RENDERERS = Registry(
    "shelf_renderer",
    {
        "subjects": "digest.render.subjects:SubjectRenderer",
        "periods": "digest.render.periods:PeriodRenderer",
        "trends": "digest.render.trends:TrendRenderer",
        "feeds": "digest.render.web_feed:FeedRenderer",
        "api": "digest.render.api:ApiRenderer",
        "site": "digest.render.site:SiteRenderer",
    },
)
PUBLISHERS = Registry("publisher", {"folder": "digest.publish.folder:FolderPublisher"})
WRITERS = Registry("writer", {"llm": "digest.wiring:llm_writer"})
_RSSHUB = "rsshub:"


def topic(name: str, settings: TopicSettings) -> Topic:
    """The topic as the labeller takes it; a plain word alone is worth the threshold."""
    words = tuple(Rule(find=word, points=settings.threshold) for word in settings.words)
    rules = tuple(Rule(find=rule.find, points=rule.points, where=rule.where, needs=rule.needs, unless=rule.unless) for rule in settings.rules)
    return Topic(name=name, rules=words + rules, threshold=settings.threshold, claims=settings.claims, never=tuple(settings.never))


@lru_cache(maxsize=4)
def labeller(settings: Settings) -> KeywordLabeller:
    """The keyword rules of all topics. Raises ConfigError when an expression is wrong."""
    return KeywordLabeller([topic(name, value) for name, value in settings.topics.items()], settings.groups)


@lru_cache(maxsize=4)
def rule_complaints(loaded: Loaded) -> str:
    """Every expression of the file that is not understood, a line each with its place; empty when all are."""
    settings, lexicon = loaded.settings, Lexicon(loaded.settings.groups)
    found: list[tuple[tuple[str | int, ...], str]] = []
    for where, expression in _expressions(settings):
        try:
            lexicon.compile(expression)
        except ConfigError as error:
            found.append((where, str(error)))
    return with_places(loaded.path, found) if found else ""


def _expressions(settings: Settings) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for group, expressions in settings.groups.items():
        yield from ((("groups", group, place), expression) for place, expression in enumerate(expressions))
    for name, topic_ in settings.topics.items():
        for key in ("words", "never"):
            yield from ((("topics", name, key, place), expression) for place, expression in enumerate(getattr(topic_, key)))
        for place, rule in enumerate(topic_.rules):
            for key in ("find", "needs", "unless"):
                if expression := getattr(rule, key):
                    yield ("topics", name, "rules", place, key), expression
    for place, kind in enumerate(settings.kinds):
        yield from ((("kinds", place, "find", number), expression) for number, expression in enumerate(kind.find))
    for kind_name, lines in settings.entities.items():
        for place, line in enumerate(lines):
            yield from ((("entities", kind_name, place), name.strip()) for name in line.split("="))


def name_reader(settings: Settings) -> NameReader:
    """The names and kinds of the settings."""
    kinds = [Kind(kind=kind.kind, sources=tuple(kind.sources), links=tuple(kind.links), find=tuple(kind.find)) for kind in settings.kinds]
    return NameReader(settings.entities, kinds)


def edition(settings: Settings, name: str | None) -> tuple[str, EditionSettings]:
    """The edition of that name, or the only one. Raises ConfigError that names the editions."""
    if name is None and len(settings.editions) == 1:
        return next(iter(settings.editions.items()))
    if name not in settings.editions:
        raise ConfigError(f"which edition? Use --edition with one of: {', '.join(settings.editions)}")
    return name, settings.editions[name]


def frame(name: str, chosen: EditionSettings, settings: Settings) -> EditionFrame:
    """What every issue of the edition has in common."""
    from digest.write.issue import EditionFrame

    return EditionFrame(
        name=name,
        title=chosen.title,
        timezone=chosen.timezone,
        languages=tuple(chosen.languages),
        address=chosen.address,
        topics=tuple(chosen.topics),
        topic_titles=topic_titles(settings),
    )


def topic_titles(settings: Settings) -> dict[str, dict[Language, str]]:
    """The title of each topic; a language that is missing is shown in another."""
    languages: tuple[Language, ...] = ("zh", "en")
    return {
        name: {language: value.title.get(language) or next(iter(value.title.values())) for language in languages} for name, value in settings.topics.items()
    }


def sources(settings: Settings, chosen: EditionSettings) -> tuple[list[Source], list[str]]:
    """(the sources of the edition, the names of those that are switched off)."""
    found, off = [], []
    for source in settings.sources:
        if chosen.sources is not None and source.name not in chosen.sources:
            continue
        is_hub = source.url.startswith(_RSSHUB)
        if not source.on or (is_hub and not settings.rsshub.on):
            off.append(source.name)
            continue
        url = f"{settings.rsshub.address.rstrip('/')}/{source.url.removeprefix(_RSSHUB).lstrip('/')}" if is_hub else source.url
        found.append(
            Source(
                name=source.name,
                url=url,
                kind=source.kind,
                language=source.language,
                trust=source.trust,
                weight=source.weight,
                timezone=source.timezone,
                window_days=source.window_days,
                every_minutes=source.every_minutes or 0,
                pauses_host=(source.retry or ("source" if is_hub else "host")) == "host",
                is_public=not is_hub,
                full_text=source.full_text,
            )
        )
    return found, off


def sources_by_name(settings: Settings) -> dict[str, Source]:
    """Every source of the file by its name."""
    whole = next(iter(settings.editions.values())).model_copy(update={"sources": None})
    return {source.name: source for source in sources(settings, whole)[0]}


def templates(loaded: Loaded, options: SiteOptions | None = None) -> Templates:
    """The templates beside ``feeds.yaml``, which hide the shipped ones file by file."""
    from digest.render.environment import SiteOptions, Templates
    from digest.write.figures import Against

    folders = [folder for folder in (loaded.templates, SHIPPED / "templates") if folder.is_dir()]
    return Templates(folders, topic_titles(loaded.settings), options or SiteOptions(compiled=compiled_templates(loaded)), Against(glossary(loaded)))


def compiled_templates(loaded: Loaded) -> Path | None:
    """A folder of the owner's own for compiled templates, beside the database; None where there is none or it cannot be written."""
    address = loaded.settings.database
    if "://" in address:
        return None
    folder = (loaded.folder / address).parent / "templates"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def card_fonts(loaded: Loaded, chosen: EditionSettings) -> tuple[Fonts | None, list[Problem]]:
    """(the fonts to draw share cards with, why there are none)."""
    from digest.render.fonts import Fonts, find_fonts

    if not chosen.cards:
        return None, []
    if chosen.card_font:
        path = loaded.folder / chosen.card_font
        if not path.is_file():
            raise ConfigError(f"card_font: there is no file {path}")
        return Fonts(path, path), []
    found = find_fonts()
    message = "no font with Chinese letters was found; install one (Debian: fonts-noto-cjk), name one as card_font, or set cards: false"
    return found, [] if found else [Problem(step="deliver", subject="share cards", message=message)]


def search_index(loaded: Loaded, chosen: EditionSettings) -> tuple[PagefindIndex | None, list[Problem]]:
    """(what indexes the site, why nothing does)."""
    if not chosen.search:
        return None, []
    if find_spec("pagefind") is None:
        message = "searching the site needs more: pip install 'training-digest[search]', or set search: false"
        return None, [Problem(step="deliver", subject="search", message=message)]
    from digest.publish.search_index import PagefindIndex

    return PagefindIndex(loaded.folder / chosen.folder), []


def hub_publishers(settings: Settings, chosen: EditionSettings) -> list[HubPublisher]:
    """What tells the hub of the edition, where it has one."""
    if not chosen.hub:
        return []
    from digest.fetch.web import post_form
    from digest.publish.hub import HubPublisher

    agent, through = user_agent(settings), proxy(settings)
    return [HubPublisher(chosen.hub, lambda url, fields: post_form(url, fields, agent, through))]


def chat_publishers(loaded: Loaded, chosen: EditionSettings, archive: SqlArchive, pages: Templates) -> list[Publisher]:
    """The chat channels of the edition. Raises ConfigError where an address or the library is missing."""
    if not chosen.chat:
        return []
    if find_spec("apprise") is None:
        raise ConfigError("chat channels need more: pip install 'training-digest[chat]'")
    from digest.publish.chat import ChatPublisher
    from digest.render.chat_message import ChatRenderer

    renderer = ChatRenderer(pages)

    def message_in(languages: list[Language]) -> Callable[[Issue, ChatForm, int], tuple[str, str]]:
        return lambda issue, form, limit: (renderer.title(issue, languages[0]), renderer.render(issue, languages, form, limit))

    return [
        ChatPublisher(
            channel.name,
            secret(channel.address, f"the address of the chat channel {channel.name}"),
            message_in(channel.languages or chosen.languages[:1]),
            archive.claim,
            archive.release,
        )
        for channel in chosen.chat
    ]


def send_chat(variable: str, title: str, body: str) -> None:
    """A plain message to the apprise address that the environment variable holds. Raises ConfigError and PublishError."""
    if find_spec("apprise") is None:
        raise ConfigError("chat channels need more: pip install 'training-digest[chat]'")
    from digest.publish.chat import send_plain

    send_plain(secret(variable, "the address of a chat channel"), title, body)


def secret(variable: str, what: str) -> str:
    """The value of an environment variable, or of the file that VARIABLE_FILE names. Raises ConfigError that names it."""
    if value := os.environ.get(variable, ""):
        return value
    if not (file := os.environ.get(f"{variable}_FILE", "")):
        raise ConfigError(f"the environment variable {variable} is not set; it holds {what} ({variable}_FILE may name a file instead)")
    try:
        value = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{variable}_FILE: {file} cannot be read: {error}") from error
    if not value:
        raise ConfigError(f"{variable}_FILE: {file} is empty; it holds {what}")
    return value


def glossary(loaded: Loaded) -> Glossary:
    """The words of the field, from the user's templates or the shipped ones."""
    from digest.write.glossary import Glossary

    path = next(path for folder in (loaded.templates, SHIPPED / "templates") if (path := folder / "glossary.txt").is_file())
    return Glossary(path.read_text(encoding="utf-8").splitlines())


def translator(loaded: Loaded) -> tuple[Translate | None, list[Problem]]:
    """(what translates, why nothing does): a missing or broken model costs nothing but itself."""
    if not loaded.settings.translation:
        return None, []
    from digest.write import translation

    try:
        return translation.load(loaded.folder / loaded.settings.translation), []
    except WriteError as error:
        return None, [Problem(step="make", subject="translation", message=str(error))]


def writer(loaded: Loaded, cache: AnswerCache, translate: Translate | None = None) -> Writer:
    """The writer of the settings, the patterns behind it. Raises ConfigError when what it needs is not there."""
    plain = patterns(loaded, translate)
    if loaded.settings.writer.use == "patterns":
        return plain
    from digest.write.fallback import Fallback

    return Fallback(WRITERS.create(loaded.settings.writer.use, settings=loaded.settings.writer, cache=cache), plain)


def llm_writer(settings: WriterSettings, cache: AnswerCache) -> Writer:
    """The writer that asks a language model. Raises ConfigError when what it needs is not there."""
    if find_spec("openai") is None:
        raise ConfigError("writer llm needs the openai package: pip install 'training-digest[llm]'")
    from digest.write.llm import Limits, LlmWriter

    key = os.environ.get(settings.key, "") if settings.key else ""
    if settings.key and not key:
        raise ConfigError(f"writer: the environment variable {settings.key} is not set; it holds the key of {settings.address}")
    limits = Limits(**settings.model_dump(include={"side_by_side", "request_seconds", "issue_seconds", "tokens", "money", "price_in", "price_out"}))
    return LlmWriter(address=settings.address, model=settings.model, key=key, limits=limits, cache=cache)


def patterns(loaded: Loaded, translate: Translate | None = None) -> PatternWriter:
    """The writer without a model."""
    from digest.write.pattern import PatternWriter

    trusts = {source.name: source.trust for source in loaded.settings.sources}
    return PatternWriter(topic_titles(loaded.settings), glossary(loaded), trusts, translate)


def database_address(loaded: Loaded) -> str:
    """The address of the database; a plain path is an SQLite file relative to ``feeds.yaml``."""
    address = loaded.settings.database
    return address if "://" in address else f"sqlite:///{(loaded.folder / Path(address)).as_posix()}"


@asynccontextmanager
async def open_reading(loaded: Loaded) -> AsyncIterator[Reading]:
    """Connections and workers to read feeds with, closed at the end."""
    from digest.fetch.disk import DiskFetcher
    from digest.fetch.pages import ArticlePages
    from digest.fetch.web import WebFetcher
    from digest.parse import hf_papers, syndication
    from digest.parse.bounded import BoundedParser
    from digest.pipeline import Reading

    settings = loaded.settings
    disk = DiskFetcher(loaded.folder)
    with BoundedParser({"feed": syndication.parse, "arxiv": syndication.parse, "hf-papers": hf_papers.parse}) as parser:
        async with WebFetcher(user_agent(settings), guard(settings), proxy=proxy(settings)) as web:
            pages = ArticlePages(web, user_agent(settings)) if can_read_pages() else None
            yield Reading(fetchers={"http": web, "https": web, "file": disk, "": disk}, parser=parser, pages=pages)


@asynccontextmanager
async def open_parts(loaded: Loaded, name: str, chosen: EditionSettings, *, tells_chat: bool = False) -> AsyncIterator[Parts]:
    """All parts of a run for the edition of that name, closed at its end; ``tells_chat``: chat channels are among them. Raises ConfigError
    and StoreError before anything is done."""
    from digest.pipeline import Parts
    from digest.render.environment import SiteOptions
    from digest.store.answers import SqlAnswerCache
    from digest.store.archive import SqlArchive
    from digest.store.database import open_database
    from digest.store.entries import SqlEntryStore

    settings = loaded.settings
    if complaints := rule_complaints(loaded):
        raise ConfigError(complaints)
    labelling = labeller(settings)
    fonts, no_fonts = card_fonts(loaded, chosen)
    index, no_index = search_index(loaded, chosen)
    subscribe = f"{chosen.mail.links.rstrip('/')}/subscribe/{name}" if chosen.mail else ""
    pages = templates(loaded, SiteOptions(fonts, index is not None, chosen.hub, compiled_templates(loaded), subscribe))
    engine = open_database(database_address(loaded))
    translate, notes = translator(loaded)
    archive = SqlArchive(engine)
    try:
        chat = chat_publishers(loaded, chosen, archive, pages) if tells_chat else []
        folder = PUBLISHERS.create("folder", folder=loaded.folder / chosen.folder)
        yield Parts(
            store=SqlEntryStore(engine),
            archive=archive,
            labellers=[labelling],
            names=name_reader(settings),
            thresholds={name: value.threshold for name, value in settings.topics.items()},
            scorers=[SCORERS.create(name) for name in SCORERS.names()],
            writer=writer(loaded, SqlAnswerCache(engine), translate),
            renderers=[RENDERERS.create(name, templates=pages) for name in RENDERERS.names()],
            shelf_renderers=[SHELF_RENDERERS.create(name, templates=pages) for name in SHELF_RENDERERS.names()],
            site=folder,
            search=index,
            publishers=[folder, *hub_publishers(settings, chosen), *chat],
            arxiv_api=settings.fetch.arxiv_api,
            notes=[*notes, *no_fonts, *no_index, *missing_pages(settings)],
        )
    finally:
        engine.dispose()


def guard(settings: Settings) -> Guard:
    """The guard of the settings; an RSSHub that is switched on may be asked wherever it is."""
    from digest.fetch.guard import Guard

    hub = urlsplit(settings.rsshub.address).netloc.rpartition("@")[2] if settings.rsshub.on else ""
    return Guard([*settings.fetch.allow, *([hub, hub.partition(":")[0]] if hub else [])])


def can_read_pages() -> bool:
    """Whether what reads article pages is installed."""
    return find_spec("trafilatura") is not None and find_spec("protego") is not None


def missing_pages(settings: Settings) -> list[Problem]:
    """What to say where sources ask for the full text and nothing can read it."""
    names = [source.name for source in settings.sources if source.full_text and source.on]
    if not names or can_read_pages():
        return []
    return [Problem(step="collect", subject=", ".join(names), message="full_text needs more: pip install 'training-digest[full-text]'")]


def proxy(settings: Settings) -> str:
    """The address of the proxy to go through, also from the environment where the owner says so; empty for none."""
    if settings.fetch.proxy != "environment":
        return settings.fetch.proxy
    found = getproxies()
    return found.get("https") or found.get("http") or ""


def user_agent(settings: Settings) -> str:
    """The program, its version and where its owner is reached."""
    contact = f" (+{settings.contact})" if settings.contact else ""
    return f"TrainingDigest/{__version__}{contact}"


def desk(loaded: Loaded, day: date) -> Desk:
    """What an editor wrote for a day. Raises ConfigError where the files are wrong."""
    return load_desk(loaded.folder, day)
