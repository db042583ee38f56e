"""Every noun, in the order in which it appears.

Records are frozen; sequences are tuples; every time carries a zone. A step adds by wrapping
(a Pick holds a Story holds Entries), never by filling a blank later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal

from digest.phrase import Phrase

Language = Literal["zh", "en"]
Trust = Literal["official", "first-hand", "person", "aggregator"]
SourceKind = Literal["feed", "arxiv", "hf-papers"]
Revision = Literal["new", "cross", "replaced"]
TextFrom = Literal["feed", "page"]
Bound = Literal["up_to", "at_least", "about", "average", "exact"]
Metric = Literal[
    "training_speed",
    "training_time",
    "throughput",
    "iterations",
    "memory",
    "communication",
    "inference_speed",
    "quality",
    "other",
]
Direction = Literal["faster", "less", "more"]
MentionKind = Literal["method", "model", "hardware", "organisation", "framework", "code", "venue"]
Folder = Literal["topics", "entities", "sources"]
SubjectKey = tuple[Folder, str]  # where a page lies, and the name in its address
ItemKind = Literal["paper", "model", "product", "code", "tutorial", "news"]
Period = Literal["day", "week", "month"]
MailRhythm = Literal["daily", "news", "weekly", "monthly"]
SubscriberState = Literal["pending", "active", "left"]
Suppression = Literal["unsubscribed", "forgotten", "complaint", "hard-bounce", "soft-bounce", "manual", "list-bombed"]
ReturnKind = Literal["hard", "soft", "delayed", "complaint", "leave", "reply", "unknown"]
DeliveryState = Literal["pending", "sending", "deferred", "accepted", "failed", "suppressed", "uncertain"]
MailingState = Literal["open", "paused", "done"]
CoverageState = Literal["complete", "quiet", "waiting", "stale", "degraded", "failed", "off"]


def _require_zone(moment: datetime | None, name: str) -> None:
    if moment is not None and moment.utcoffset() is None:
        raise ValueError(f"{name} has no time zone: {moment!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where entries come from, as ``feeds.yaml`` names it."""

    name: str
    url: str
    kind: SourceKind = "feed"
    language: Language = "en"
    trust: Trust = "first-hand"
    weight: float = 1.0
    timezone: str = "UTC"
    window_days: int = 3
    every_minutes: int = 0
    pauses_host: bool = True
    is_public: bool = True
    full_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """What a feed says of its own rhythm: minutes between polls (``ttl``), hours (0–23, UTC) and weekdays (0 is Monday) without news."""

    ttl_minutes: int = 0
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPoll:
    """When a source is asked again: not before ``fresh_until`` by its server's own word, and at ``due_at`` by its usual rhythm."""

    fresh_until: datetime | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStamp:
    """The validators of the last good answer, verbatim; None where the server sent none."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What earlier polls of a source left: its address and validators, how many entries the complete ones held lately, how many
    were new a week, when one last went well and last brought something new, failures in a row and until when to leave it alone
    (``paused_host``: that whole host), when it is asked next, and where it says it moved for good."""

    url: str = ""
    stamp: CacheStamp = CacheStamp()
    usual: tuple[int, ...] = ()
    new_a_week: float = 0.0
    last_well_at: datetime | None = None
    last_new_at: datetime | None = None
    failures: int = 0
    failure: str = ""
    reason: str = ""
    not_before: datetime | None = None
    paused_host: str = ""
    is_gone: bool = False
    moved_to: str = ""
    moved_times: int = 0
    rhythm: Rhythm = Rhythm()
    next_poll: NextPoll = NextPoll()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotModified:
    """The answer that nothing changed (304): the validators to send next time, for how long the server promises no change, and
    where it says it moved for good."""

    stamp: CacheStamp
    fresh_seconds: float = 0.0
    moved_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """What an address answered: decompressed bytes, where they finally came from, for how long the server promises no change, and
    the address that it says to use for ever (``moved_to``, empty without a permanent redirect)."""

    source: Source
    url: str
    body: bytes
    media_type: str
    charset: str | None
    stamp: CacheStamp
    fetched_at: datetime
    fresh_seconds: float = 0.0
    moved_to: str = ""

    def __post_init__(self) -> None:
        _require_zone(self.fetched_at, "fetched_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifiers:
    """Names that the world gives a work; each is empty when the entry has none."""

    arxiv: str = ""
    doi: str = ""
    repository: str = ""

    def __iter__(self) -> Iterator[str]:
        for scheme in ("arxiv", "doi", "repository"):
            if value := getattr(self, scheme):
                yield f"{scheme}:{value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing a source said, in plain text. ``key`` is stable: source name and id."""

    key: str
    source_name: str
    url: str
    ids: Identifiers = Identifiers()
    title: str
    text: str = ""
    language: Language = "en"
    authors: tuple[str, ...] = ()
    published_at: datetime | None = None
    published_by: str = "seen"
    seen_at: datetime
    revision: Revision = "new"
    text_from: TextFrom = "feed"

    def __post_init__(self) -> None:
        _require_zone(self.published_at, "published_at")
        _require_zone(self.seen_at, "seen_at")

    @property
    def at(self) -> datetime:
        """When it was published, or first seen where the source gave no believable date."""
        return self.published_at or self.seen_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a download holds: its entries, and what was odd about it (``warnings``). ``total``: how many there are in all, where
    the answer is a page of a longer listing."""

    entries: tuple[Entry, ...]
    format: str
    encoding: str
    title: str = ""
    warnings: tuple[str, ...] = ()
    rhythm: Rhythm = Rhythm()
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One rule that fired: where, on which words, for how many points."""

    rule: str
    field: Literal["title", "text", "claim"]
    start: int
    end: int
    words: str
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A topic with its score; ``is_in`` says whether the score reaches the topic's threshold."""

    topic: str
    score: float
    is_in: bool
    evidence: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One figure that the source claims for its own work, with the words that carry it."""

    metric: Metric
    low: float
    high: float
    unit: str
    direction: Direction
    bound: Bound = "exact"
    baseline: str | None = None
    setting: str | None = None
    quote: str
    entry_key: str = ""

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"a claim from {self.low} down to {self.high}: {self.quote!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name that the source uses, with the words that carry it."""

    kind: MentionKind
    text: str
    quote: str
    entry_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the rules of a day said of an entry for one topic of the edition."""

    entry_key: str
    topic: str
    score: float
    is_in: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledEntry:
    """An entry with what the rules read in it."""

    entry: Entry
    labels: tuple[Label, ...]
    kind: ItemKind = "news"
    claims: tuple[Claim, ...] = ()
    mentions: tuple[Mention, ...] = ()

    def label(self, topic: str) -> Label | None:
        """The label of ``topic``, or None when no rule of it fired."""
        return next((label for label in self.labels if label.topic == topic), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One event or work; the lead entry comes first. ``known_from`` is the issue that told it."""

    key: str
    topic: str
    entries: tuple[LabelledEntry, ...]
    known_from: str | None = None

    def __post_init__(self) -> None:
        if not self.entries:
            raise ValueError(f"story {self.key} has no entry")

    @property
    def lead(self) -> LabelledEntry:
        return self.entries[0]

    @property
    def also_seen_in(self) -> tuple[Entry, ...]:
        """The other entries of the same story."""
        return tuple(labelled.entry for labelled in self.entries[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a story has its heat; ``why`` is a phrase key that the templates word."""

    points: float
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A story worth telling, and why."""

    story: Story
    reasons: tuple[Reason, ...]
    featured: bool = False

    @property
    def heat(self) -> int:
        """The sum of the reasons, from 0 to 100."""
        return round(min(100.0, max(0.0, sum(reason.points for reason in self.reasons))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What we say in one language. ``quotes`` are verbatim, in the source's own language."""

    language: Language
    headline: str
    summary: str
    blurb: str
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a writer is asked to put into words."""

    pick: Pick
    languages: tuple[Language, ...]
    claims: tuple[Claim, ...]
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Words that were not printed: whose, in which language, and why (``kind``: what the judge calls it, or "answer" for an answer
    that is no wording, "budget", "time", "unreachable"). ``why`` is the English; ``pattern`` and ``values`` say it in any language."""

    writer: str
    language: Language
    kind: str
    words: str
    why: str
    pattern: str = ""
    values: dict[str, str | tuple[str, ...]] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Why, as a ``Phrase`` where it is one, however it was kept."""
        return Phrase(self.pattern, **self.values) if self.pattern else self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a writer made of an assignment: at most one wording a language, and what it had to give up."""

    wordings: tuple[Wording, ...]
    written_by: str
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What writing an issue took: answers from a model and from the cache, tokens in and out, money."""

    answers: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """A pick in words. ``written_by`` names the writer, ``refusals`` what was not printed and why; tags are topics of the sub-set.
    ``is_edited``: an editor reworded it."""

    pick: Pick
    source: Source
    claims: tuple[Claim, ...]
    mentions: tuple[Mention, ...]
    tags: tuple[str, ...] = ()
    wordings: tuple[Wording, ...]
    written_by: str
    refusals: tuple[Refusal, ...] = ()
    is_edited: bool = False

    def wording(self, language: Language) -> Wording:
        """The words in ``language``; an issue only holds articles that have them."""
        return next(wording for wording in self.wordings if wording.language == language)


MEMORY = timedelta(days=40)  # so far back polls are looked at to tell what is usual
UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What one poll, or all polls for one issue, gave of a source; the note is UNCHANGED after an answer of 304.

    ``note`` is for owners; ``reason`` is a word that the catalogues say in every language (see ``DigestError``).
    """

    source_name: str
    state: CoverageState
    seen: int = 0
    kept: int = 0
    note: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A day's batch of an arXiv category: how many papers its feed held (None: it was not read), what arXiv's API says of it
    (``listed``: how many were submitted for it; None: not asked), and how many were taken in from there."""

    source_name: str
    day: date
    in_feed: int | None = None
    listed: int | None = None
    taken_in: int = 0
    checked_at: datetime | None = None

    @property
    def is_here(self) -> bool:
        """Whether its papers were read, by whichever route."""
        return self.in_feed is not None or self.taken_in > 0

    @property
    def is_confirmed(self) -> bool:
        """Whether the API knows a batch of that size; it may lag behind the announcement."""
        return bool(self.listed) and (self.listed or 0) >= 0.5 * (self.in_feed or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArxivPause:
    """arXiv announces nothing that day: why ("weekend" or a holiday), and the day of the next batch."""

    why: str
    next_day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """An entry that was nearly told, and the phrase key of why it was not."""

    title: str
    url: str
    source_name: str
    score: float
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The articles of one topic, hottest first."""

    topic: str
    title: dict[Language, str]
    articles: tuple[Article, ...]


def folder_of(day: date) -> str:
    """Where the files of a day's issue lie."""
    return day.isoformat().replace("-", "/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One day of one edition, whole. It is archived before anyone sees it. ``letters``: the editor's words before it, in Markdown. The best
    of a ``period`` is one too: ``day`` is its last, ``days`` says on which day each story was told. ``is_late``: it was made days after it was due."""

    edition: str
    day: date
    period: Period = "day"
    days: dict[str, date] = field(default_factory=dict)
    title: dict[Language, str]
    languages: tuple[Language, ...]
    timezone: str
    address: str
    sections: tuple[Section, ...]
    near_misses: tuple[NearMiss, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    entries_read: int = 0
    arxiv_pause: ArxivPause | None = None
    tag_titles: dict[str, dict[Language, str]] = field(default_factory=dict)
    letters: dict[Language, str] = field(default_factory=dict)
    since: datetime
    until: datetime
    is_late: bool = False

    def __post_init__(self) -> None:
        _require_zone(self.since, "since")
        _require_zone(self.until, "until")

    @property
    def key(self) -> str:
        year, week, _ = self.day.isocalendar()
        return f"{self.edition}/" + {"day": self.day.isoformat(), "week": f"{year}-W{week:02d}", "month": f"{self.day:%Y-%m}"}[self.period]

    @property
    def folder(self) -> str:
        """Where its files lie below the output folder: ``YYYY/MM/DD``."""
        return folder_of(self.day)

    def told_on(self, article: Article) -> date:
        """The day of the issue in which the article stands."""
        return self.days.get(article.pick.story.key, self.day)

    @property
    def articles(self) -> tuple[Article, ...]:
        return tuple(article for section in self.sections for article in section.articles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Stories that an editor takes for one."""

    into: str
    stories: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworded:
    """An editor's words for a story in one language; None leaves a part as it was."""

    story: str
    language: Language
    headline: str | None = None
    summary: str | None = None
    blurb: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Entries that an editor takes out of a story, each to be one of its own."""

    story: str
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What an editor wants of an issue: story keys to pin, drop and order, splits, merges, rewords, and letters in Markdown; and whether
    they ``approved`` it."""

    letters: dict[Language, str] = field(default_factory=dict)
    pin: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    split: tuple[Split, ...] = ()
    merge: tuple[Merge, ...] = ()
    reword: tuple[Reworded, ...] = ()
    approved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueLine:
    """An issue as a list of issues shows it: its day and languages, how many articles, the lead headline in each language, and when an
    editor's last change of it went out."""

    day: date
    languages: tuple[Language, ...]
    articles: int
    headlines: dict[Language, str]
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleLine:
    """An article as lists, feeds, periods and trends show it; ``story`` is its key, ``place`` where it first stood in its issue,
    ``names`` what it mentions, by kind, ``also_in`` the other sources. ``at``: when the source said it; ``told_at``: up to when
    its issue had read; ``changed_at``: when an editor's last change of it went out."""

    day: date
    story: str
    place: int
    heat: int
    featured: bool
    tags: tuple[str, ...]
    source_name: str
    trust: Trust
    at: datetime
    told_at: datetime
    url: str
    title: str
    headlines: dict[Language, str]
    summaries: dict[Language, str]
    blurbs: dict[Language, str]
    also_in: tuple[str, ...]
    names: dict[MentionKind, tuple[str, ...]]
    claims: tuple[Claim, ...]
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What articles are about (``topics``), mention (``entities``) or come from (``sources``), under its most usual spelling and by its
    ``key`` in addresses. How many ``articles`` have it, also by language; by language, where its page is asked for: its ``newest``
    articles, and how many each of the twelve ``months`` (first days) up to the newest one has."""

    folder: Folder
    key: str
    name: str
    kind: str
    articles: int
    articles_in: dict[Language, int]
    newest: dict[Language, tuple[ArticleLine, ...]] = field(default_factory=dict)
    months: dict[Language, tuple[tuple[date, int], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A source as the list of sources shows it: how often it says something new, when it last did, and how it was on the last day."""

    source: Source
    new_a_week: float = 0.0
    last_new_at: datetime | None = None
    state: CoverageState | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What stands around an issue: a line for every issue, and for every article as far back as the lists reach; the newest issues
    whole; all newest first; the issues just before and after it; the articles as they were before their editor's hand; what articles
    are about, mention and come from; the sources in the order of the settings."""

    lines: tuple[IssueLine, ...]
    recent: tuple[Issue, ...]
    beside: tuple[Issue, ...] = ()
    articles: tuple[ArticleLine, ...] = ()
    former: tuple[ArticleLine, ...] = ()
    subjects: tuple[Subject, ...] = ()
    sources: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One rendered file; ``name`` is its path below the output folder."""

    format: str
    language: str
    name: str
    media_type: str
    body: bytes


MAIL_BYTES = 96_000  # of HTML: some clients clip at 102 kB of source, counted in their own ways (github.com/hteumeuleu/email-bugs/issues/41)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailBody:
    """The words of a mail in some languages; ``title``: the digest's name in the main one; ``rest``: how many of its
    articles are links only, for want of room. The feet hold what differs from reader to
    reader, in the place of two addresses that do not exist (see ``render/mail_body.py``)."""

    languages: tuple[Language, ...]
    title: str
    subject: str
    text: str
    text_foot: str
    html: str
    html_foot: str
    articles: int
    rest: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """The proof that someone wants the mail: by which way, when, and what they said yes to."""

    how: str
    at: datetime
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber:
    """Someone who gets an edition by mail: in which languages, about which topics (none: all), and when: ``daily`` also on quiet days,
    ``news`` only when there is some, ``weekly`` and ``monthly`` the best of a week or month."""

    id: int = 0
    edition: str
    address: str
    languages: tuple[Language, ...]
    topics: tuple[str, ...] = ()
    rhythm: MailRhythm = "daily"
    state: SubscriberState = "active"
    consent: Consent


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUp:
    """Someone asked for the mail and has not confirmed it. ``client`` is the network address it came from, ``words`` what was said yes to,
    in the language of the page."""

    id: str
    edition: str
    address: str
    languages: tuple[Language, ...]
    topics: tuple[str, ...] = ()
    rhythm: MailRhythm = "daily"
    client: str
    language: Language
    words: str
    asked_at: datetime
    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A mail that came back: what it means, the reader's token (empty: not known), the status code (RFC 3463) and the words of the other side."""

    kind: ReturnKind
    token: str = ""
    status: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One mail of an issue to one subscriber, and how far it got. ``address`` is empty when the subscriber was forgotten."""

    subscriber: int
    address: str
    state: DeliveryState
    attempt: int = 0
    next_at: datetime | None = None
    code: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one attempt. ``next_at``: when a deferred one is tried again."""

    subscriber: int
    state: DeliveryState
    code: int = 0
    text: str = ""
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailing:
    """The sending of an issue, with the issue as it was when the first mail went out. ``why``: the reason of a pause."""

    issue: Issue
    state: MailingState
    began_at: datetime
    why: str = ""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A limit's memory: what was left at a moment, and how many were sent on that day (UTC)."""

    left: float
    at: datetime
    day: date
    sent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a mail server said to one message: at which verb, the code (0: it said nothing more), its words."""

    stage: Literal["connect", "auth", "mail", "rcpt", "data", "dot"]
    code: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a check found: ``fine``, worth a ``look``, or ``wrong``; what it saw, and what to do."""

    subject: str
    state: Literal["fine", "look", "wrong"]
    saw: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that a publisher delivered an issue to a target."""

    publisher: str
    issue_key: str
    target: str
    delivered_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteChange:
    """What replacing a site did: how many files were written, left as they were, and removed."""

    written: int = 0
    unchanged: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that cost its own subject and nothing else."""

    step: str
    subject: str
    message: str
    is_bug: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """An act that was run for an edition (and a day), and what it reported in short."""

    edition: str
    act: str
    day: date | None
    began_at: datetime
    ended_at: datetime
    problems: int
    report: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something that an owner must know, with the remedy, and whether they were told."""

    key: str
    message: str
    raised_at: datetime
    told_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run did. ``warnings`` are worth a look and cost nothing."""

    issue: Issue | None = None
    coverage: tuple[Coverage, ...] = ()
    documents: tuple[str, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    spending: Spending = Spending()
    counts: dict[str, int] = field(default_factory=dict)
