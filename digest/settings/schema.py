"""What may stand in ``feeds.yaml``. Every key, its type, its default and what it is for."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from digest.model import ItemKind, Language, MentionKind, Metric, SourceKind, Trust

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Words = dict[Language, Annotated[str, StringConstraints(min_length=1, max_length=200)]]


def _known_zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError(f"not a time zone: {name!r}; expected a name such as Asia/Shanghai or UTC")
    return name


Clock = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
Zone = Annotated[str, AfterValidator(_known_zone)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MailSettings(_Part):
    """The newsletter of an edition."""

    sender: str = Field(pattern=r"^[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+$", description="The address it comes from; its domain needs SPF, DKIM and DMARC.")
    reply_to: str = Field("", description="Where answers go; to the sender when left out.")
    links: str = Field(pattern=r"^https?://", description="Where `digest serve` answers: unsubscribe and preference links begin with it.")
    key: str = Field(
        "MAIL_KEY", pattern=r"^[A-Z_][A-Z0-9_]*$", description="The environment variable with the key that signs links; older keys follow it after commas."
    )
    bounces: str = Field("", pattern=r"^$|^[^@\s]+@[^@\s]+$", description="bounces@domain: every mail gets its own envelope sender, bounces+TOKEN@domain.")
    returns: str = Field("", description="Where mails to it arrive, for `digest bounces read`: imaps://user@host/INBOX, or a Maildir or mbox file.")
    returns_password: str = Field("", pattern=r"^$|^[A-Z_][A-Z0-9_]*$", description="The environment variable with the password of that mailbox.")
    host: str = Field("localhost", description="The relay.")
    port: int = Field(587, ge=1, le=65535)
    security: Literal["starttls", "tls", "none"] = Field("starttls", description="starttls (587), tls (465), or none, for a relay on this machine only.")
    certificates: str = Field("", description="A file with a certificate of the relay's that is not publicly known.")
    user: str = Field("", description="The user at the relay, where it wants one.")
    password: str = Field("", pattern=r"^$|^[A-Z_][A-Z0-9_]*$", description="The environment variable with its password.")
    login: Literal["password", "oauth2"] = Field("password", description="oauth2: the variable, or the file of VARIABLE_FILE, holds an access token.")
    dkim_selector: str = Field("", pattern=r"^[A-Za-z0-9._-]*$", description="Sign with DKIM under this name (the dkim extra); relays mostly do it themselves.")
    dkim_key: str = Field("DKIM_KEY", pattern=r"^[A-Z_][A-Z0-9_]*$", description="The environment variable with the private key, or DKIM_KEY_FILE.")
    connections: int = Field(4, ge=1, le=50, description="So many side by side.")
    automatic: bool = Field(True, description="`digest run` and `digest schedule` send it; false: only `digest send` does.")
    warm_up: bool = Field(False, description="A new sender: 50 mails on the first day, a third more on each day of fine delivery, until a_day or all.")
    a_minute: dict[str, float] = Field({}, description="At most so many mails a minute: relay, a receiving domain such as qq.com, or * for every other.")
    a_day: int = Field(0, ge=0, description="At most so many a day, while a new sender warms up; 0 for no limit.")


class ScheduleSettings(_Part):
    """When the issue of a day is made by `digest serve` and `digest schedule`, in the edition's time zone."""

    make_at: Clock = Field("08:30", description="The hour at which it is made.")
    wait_until: Clock = Field("13:30", description="So long it waits for sources that have not said all they have to say.")
    wait_for: list[str] | None = Field(None, description="Names of the sources it waits for; all of kind arxiv when left out.")
    approval: Literal["none", "hold", "send"] = Field(
        "none", description="An editor approves each day in `digest preview`; at approve_until it is held back, or sent, without."
    )
    approve_until: Clock = Field("14:00", description="So long an issue waits for its approval.")


class KeepSettings(_Part):
    """For how many days what is remembered is kept; 0 for ever."""

    entries: int = Field(0, ge=0, description="Entries that no issue told.")
    runs: int = Field(400, ge=0, description="Reports of runs, and polls of sources.")
    mails: int = Field(400, ge=0, description="Who was sent which issue, and what came back.")
    answers: int = Field(400, ge=0, description="What language models answered.")


class AlertSettings(_Part):
    """Who is told, once, when a day fails, a source dies or a promise is about to be missed."""

    mail: str = Field("", pattern=r"^$|^[^@\s]+@[^@\s]+$", description="An address; it goes through the relay of the first edition that has mail.")
    chat: str = Field("", pattern=r"^[A-Z_][A-Z0-9_]*$|^$", description="The environment variable with an apprise address.")
    language: Language = Field("zh", description="In which language they are written.")


class ChatSettings(_Part):
    """A chat channel that gets each issue once."""

    name: str = Field(min_length=1, max_length=100, description="How it is called in reports; a channel of another name gets the issue anew.")
    address: str = Field(pattern=r"^[A-Z_][A-Z0-9_]*$", description="The environment variable with its apprise address (feishu://, dingtalk://, slack://, …).")
    languages: list[Language] = Field([], description="The main language of the edition when left out.")


class ServeSettings(_Part):
    """The web part: pages for readers of the newsletter, and the published site."""

    host: str = Field("127.0.0.1", description="The address to listen at; 0.0.0.0 for all of this machine.")
    port: int = Field(8321, ge=1, le=65535)
    proxies: list[str] = Field([], description="Addresses of reverse proxies whose word on the reader's address and https is believed.")
    key: str = Field("", pattern=r"^[A-Z_][A-Z0-9_]*$|^$", description="The environment variable with the key to the status page and the metrics.")
    site: bool = Field(True, description="Serve the published files too; false where another web server does.")


class EditionSettings(_Part):
    """One digest: who it is for, when its day ends, where it goes."""

    title: Words = Field(description="The name of the digest in each language.")
    timezone: Zone = Field("UTC", description="The zone in which the day of an issue begins and ends, and all times are shown.")
    languages: list[Language] = Field(["zh", "en"], min_length=1, description="The languages, the main one first.")
    address: str = Field("https://digest.example.org", pattern=r"^https?://", description="Where the web archive can be read; part of every stable id.")
    topics: list[Name] = Field(min_length=1, description="The topics an entry must have to be in, in the order of the sections.")
    sources: list[str] | None = Field(None, description="Names of the sources to read; all when left out.")
    articles: int = Field(12, ge=1, le=100, description="At most so many articles an issue.")
    near_misses: int = Field(5, ge=0, le=50, description="At most so many near misses below them.")
    mail: MailSettings | None = Field(None, description="The newsletter; none when left out.")
    schedule: ScheduleSettings = Field(default_factory=lambda: ScheduleSettings.model_validate({}), description="When its issues are made.")
    chat: list[ChatSettings] = Field([], description="Chat channels (needs the chat extra).")
    folder: str = Field("out", description="Where the files go, relative to this file.")
    cards: bool = Field(True, description="A picture per issue and featured article, which chats show beside a link.")
    search: bool = Field(True, description="Search on the site (needs the search extra).")
    hub: str = Field("", pattern=r"^$|^https?://", description="A WebSub hub that is told of new issues, and that the Atom and JSON feeds name.")
    card_font: str = Field("", description="A font file with Chinese and Latin letters for them; one of the machine's when left out.")

    @model_validator(mode="after")
    def _has_titles(self) -> Self:
        if missing := [language for language in self.languages if language not in self.title]:
            raise ValueError(f"the title is missing in: {', '.join(missing)}")
        if len(set(self.languages)) != len(self.languages):
            raise ValueError("a language is named twice")
        if len({channel.name for channel in self.chat}) != len(self.chat):
            raise ValueError("two chat channels have the same name")
        return self


class SourceSettings(_Part):
    """One feed."""

    name: str = Field(min_length=1, max_length=100, description="How the source is named in the digest.")
    url: str = Field(min_length=1, description="http(s) address, file: address, path relative to this file, or rsshub:/route.")
    kind: SourceKind = Field("feed", description="feed (RSS, Atom, RDF, JSON Feed), arxiv, or hf-papers (Hugging Face daily papers).")
    language: Language = Field("en", description="The language it is expected to be in.")
    trust: Trust = Field("first-hand", description="official, first-hand (the makers themselves), person, or aggregator.")
    weight: float = Field(1.0, ge=0, le=3, description="How much its word counts in the heat.")
    timezone: Zone = Field("UTC", description="The zone of dates that name none, or an ambiguous one such as CST.")
    window_days: int = Field(3, ge=1, le=60, description="On the first poll, what is older counts as already seen.")
    every_minutes: int | None = Field(None, ge=15, le=1440, description="How often it is asked by `collect --due`; by its own rhythm when left out.")
    retry: Literal["host", "source"] | None = Field(
        None, description="Whom a Retry-After of its server keeps waiting: its whole host, or (default for rsshub:) itself."
    )
    full_text: bool = Field(False, description="For feeds with titles or cut summaries only: read the article pages too (needs the full-text extra).")
    on: bool = Field(True, description="false: the source is left out, and said to be off.")


class RuleSettings(_Part):
    """Words that speak for a topic, or against it when the points are negative."""

    find: Expression = Field(description='For instance: "{faster} ~8 {training}".')
    points: float = Field(1.0, ge=-20, le=20, description="What a hit is worth; a rule counts once an entry.")
    where: Literal["any", "title", "text"] = Field("any", description="In which field; a hit in the title is worth half as much again.")
    needs: Expression | None = Field(None, description="Must be found anywhere in the entry as well.")
    unless: Expression | None = Field(None, description="Cancels the hits in its own sentence.")
    yes: list[str] = Field([], description="Examples that the rule must take; `digest config check` runs them.")
    no: list[str] = Field([], description="Examples that it must not take.")


class TopicSettings(_Part):
    """A topic: a plain list of words, or rules with points, or both."""

    title: Words = Field(description="Its name in each language.")
    words: list[Expression] = Field([], description="Any one of them is enough.")
    rules: list[RuleSettings] = Field([], description="Rules whose points are added.")
    threshold: float = Field(1.0, gt=0, description="So many points and the entry is in.")
    claims: dict[Metric, float] = Field({}, description="Points for a figure that the source claims, by its metric.")
    never: list[Expression] = Field([], description="Contexts that cancel every hit in their own sentence.")

    @field_validator("rules", mode="before")
    @classmethod
    def _plain_rules(cls, rules: Any) -> Any:
        return [{"find": rule} if isinstance(rule, str) else rule for rule in rules] if isinstance(rules, list) else rules


class KindSettings(_Part):
    """How an item of a kind is recognised; the kinds are tried in order, the first that fits wins."""

    kind: ItemKind
    sources: list[SourceKind] = Field([], description="Everything from such sources.")
    links: list[str] = Field([], description="Parts of its address.")
    find: list[Expression] = Field([], description="Words in its title.")


class FetchSettings(_Part):
    """How addresses are asked."""

    allow: list[str] = Field([], description="Hosts, host:port or networks that may be asked although they are private, or on another port than 80 and 443.")
    proxy: str = Field(
        "", pattern=r"^$|^environment$|^(https?|socks5h?)://", description="A proxy's address, or `environment` for HTTPS_PROXY; none when left out."
    )
    arxiv_api: str = Field("https://export.arxiv.org/api/query", pattern=r"^$|^https?://", description="arXiv's API, the second route; empty: it is not asked.")


class WriterSettings(_Part):
    """Who writes: sentence patterns, or a language model at an OpenAI-compatible address with the patterns behind it."""

    use: str = Field("patterns", description="patterns needs nothing; llm needs an address, a model and the extra `llm`; or a plug-in's name.")
    address: str = Field("http://127.0.0.1:11434/v1", pattern=r"^https?://", description="OpenAI-compatible: DeepSeek, Qwen, Ollama, vLLM, llama.cpp.")
    model: str = Field("", max_length=200, description="The model's name at that address.")
    key: str = Field("", pattern=r"^[A-Z_][A-Z0-9_]*$|^$", description="The name of the environment variable that holds the key; empty where none is needed.")
    side_by_side: int = Field(4, ge=1, le=64, description="So many requests at a time.")
    request_seconds: float = Field(120, gt=0, description="One answer takes at most so long.")
    issue_seconds: float = Field(900, gt=0, description="All answers of an issue take at most so long; what is late is written by patterns.")
    tokens: int = Field(200_000, ge=1, description="At most so many tokens an issue, in and out; the hottest stories come first.")
    money: float | None = Field(None, gt=0, description="At most so much money an issue, in the currency of the prices.")
    price_in: float = Field(0, ge=0, description="The price of a million tokens in.")
    price_out: float = Field(0, ge=0, description="The price of a million tokens out.")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.use == "llm" and not self.model:
            raise ValueError("writer llm needs `model`, the model's name at the address")
        if self.money is not None and not (self.price_in or self.price_out):
            raise ValueError("`money` needs `price_in` and `price_out`, per million tokens")
        return self


class RssHubSettings(_Part):
    """The RSSHub through which sources with an rsshub: address are read."""

    address: str = Field("https://rsshub.app", pattern=r"^https?://")
    on: bool = False


class Settings(_Part):
    """The whole file."""

    __hash__ = object.__hash__  # what is made of a file that was read can be kept with it

    extends: str | None = Field(None, description="Another such file (or `shipped`) whose groups, topics, kinds and entities are taken over.")
    contact: str = Field("", max_length=200, description="An address where site owners reach you; sent with every request.")
    database: str = Field("state/digest.sqlite3", description="A path relative to this file, or postgresql://….")
    editions: dict[Name, EditionSettings] = Field(min_length=1)
    sources: list[SourceSettings] = Field(min_length=1)
    rsshub: RssHubSettings = Field(default_factory=lambda: RssHubSettings(address="https://rsshub.app"))
    fetch: FetchSettings = Field(default_factory=lambda: FetchSettings.model_validate({}), description="Which addresses may be asked.")
    writer: WriterSettings = Field(default_factory=lambda: WriterSettings.model_validate({}), description="Who puts the picks into words.")
    serve: ServeSettings = Field(default_factory=lambda: ServeSettings.model_validate({}), description="What `digest serve` answers.")
    alerts: AlertSettings = Field(default_factory=lambda: AlertSettings.model_validate({}), description="Who is told of trouble.")
    keep: KeepSettings = Field(default_factory=lambda: KeepSettings.model_validate({}), description="How long things are remembered (`digest prune`).")
    translation: str = Field("", description="The folder of a translation model (`digest models get en-zh`); relative to this file.")
    groups: dict[Name, list[Expression]] = Field({}, description="Words that several rules use as {name}.")
    topics: dict[Name, TopicSettings] = Field(min_length=1)
    kinds: list[KindSettings] = []
    entities: dict[MentionKind, list[str]] = Field({}, description="Names to recognise: `Name`, or `Name = other spelling = …`.")


def unknown(name: str, known: set[str], what: str) -> str:
    """A complaint about a name that nobody knows, with the nearest one that is known."""
    from difflib import get_close_matches

    near = sorted(other for other in known if len(name) > 2 and other.startswith(name[:3])) or get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f"there is no {what} {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
