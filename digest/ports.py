"""Every seam, on one page. Whoever implements a Protocol keeps what its docstring promises.

A plug-in is a factory (a class will do) named in an entry point of group ``digest.<seam>s``; it gets its
options from ``feeds.yaml`` as keywords.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from digest.model import (
    ArticleLine,
    Assignment,
    Batch,
    Bucket,
    CacheStamp,
    Claim,
    Coverage,
    Decision,
    DeliveryState,
    Document,
    Download,
    Draft,
    Entry,
    Issue,
    IssueLine,
    Label,
    Mailing,
    MailingState,
    MailRhythm,
    Memory,
    NextPoll,
    NotModified,
    Outcome,
    Parsed,
    Reason,
    Receipt,
    Reply,
    ReturnKind,
    Rhythm,
    Shelf,
    SignUp,
    SiteChange,
    Source,
    Spending,
    Story,
    Subject,
    SubjectKey,
    Subscriber,
    Suppression,
)


class Fetcher(Protocol):
    """Bytes from an address, chosen by its scheme."""

    async def fetch(self, source: Source, stamp: CacheStamp, now: datetime) -> Download | NotModified:
        """The whole decompressed body, at most 10 MiB, or that nothing changed since ``stamp``.

        Raises FetchError with the reason and a remedy.
        """


class Parser(Protocol):
    """Entries from bytes, chosen by the kind of the source."""

    async def parse(self, download: Download) -> Parsed:
        """Entries in plain text, keys distinct, seen at ``download.fetched_at``. Raises ParseError."""

    async def article(self, download: Download) -> str:
        """The main text of a web page; empty where there is none. Raises ParseError."""


class ArticlePages(Protocol):
    """Article pages, where their site allows it."""

    async def fetch(self, url: str, now: datetime) -> Download | None:
        """The page, or None where robots.txt forbids it. Raises FetchError."""


class EntryStore(Protocol):
    """What was seen."""

    def memories(self, now: datetime) -> Mapping[str, Memory]:
        """What the polls of the last forty days left, by source name."""

    def known(self, source: Source, entries: Sequence[Entry]) -> set[str]:
        """The keys of those entries that were seen before: under that key, or (but for arXiv, where another version has
        the same address) at that address in the same source, where the feed gives the address to one entry only."""

    def remember(self, download: Download, entries: Sequence[Entry], coverage: Coverage, rhythm: Rhythm, next_poll: NextPoll) -> None:
        """Saves new entries, validators, rhythm and the poll in one transaction. What an issue that is archived up to this moment or later
        could not know counts as seen just after it.

        An entry that is known stays as it was first seen. On the first poll of a source, entries older than its
        window are kept as backlog that no issue tells.
        """

    def record(
        self, source: Source, coverage: Coverage, now: datetime, answer: NotModified | None = None, next_poll: NextPoll | None = None, added: int = 0
    ) -> None:
        """Saves a poll that brought no body: an answer that nothing changed, or no question at all; ``added`` entries came another
        way. One without change never replaces another of the same moment."""

    def pause(self, source: Source, coverage: Coverage, now: datetime, until: datetime | None, *, failures: int, is_gone: bool, paused_host: str = "") -> None:
        """Saves a poll that failed, the failures in a row, and until when to leave the source (and ``paused_host``) alone. A move that
        was believed is so no more; of another address than before nothing is kept."""

    def batches(self, source_names: Sequence[str], since: date) -> dict[tuple[str, date], Batch]:
        """What is known of the batches of arXiv sources since that day, and of the newest one before, by source name and day."""

    def keep_batch(self, batch: Batch) -> None:
        """Remembers a batch; what was known of it is replaced."""

    def take_in(self, entries: Sequence[Entry], now: datetime) -> int:
        """Saves entries that came another way than by a poll of their feed; those known stay. How many were new."""

    def known_papers(self, source_name: str, names: Sequence[str]) -> set[str]:
        """Those of the arXiv ids that the source had before."""

    def untold(self, edition: str, source_names: Sequence[str], since: datetime, until: datetime) -> list[Entry]:
        """Entries first seen after ``since`` and up to ``until`` that lie in no issue of the edition, by time seen and key."""

    def seen(self, source_names: Sequence[str], since: datetime, until: datetime) -> list[Entry]:
        """Entries first seen after ``since`` and up to ``until``, without backlog, by time seen and key."""

    def texts(self, source_names: Sequence[str], since: datetime, until: datetime) -> list[tuple[str, str]]:
        """Of the entries that ``seen`` gives, those not replaced: the key and the words (title, line end, text), for tens of thousands."""

    def find(self, name: str) -> list[Entry]:
        """Entries of that key, canonical address or arXiv id."""

    def polls(self, source_names: Sequence[str], since: datetime, until: datetime) -> dict[str, Coverage]:
        """The last poll of each source in that time, by source name; one that brought no change hides none but a failure."""


class Archive(Protocol):
    """What was published, and what was delivered."""

    def issue(self, edition: str, day: date) -> Issue | None:
        """The issue as it was composed, or None."""

    def save(self, issue: Issue, identities: Mapping[str, str], decisions: Sequence[Decision], read: Collection[str], source_names: Sequence[str]) -> Issue:
        """Archives the issue with the identities it told (identity to title) and all decisions, in one transaction. Entries of the
        sources that were stored meanwhile, and so are not among the keys that were ``read``, count as seen just after it.

        The issue that is archived for that day already wins, and is what is returned, unless it had read no entry: a blank
        issue (no network, a quiet morning) gives way.
        """

    def told(self, edition: str, before: date) -> dict[str, tuple[str, str]]:
        """Identity to (issue key, title) of all stories that issues before that day told."""

    def decisions(self, edition: str, day: date) -> list[Decision]:
        """What the rules said on that day, by entry key and topic."""

    def last_until(self, edition: str, before: date) -> datetime | None:
        """Up to when the newest issue before that day that read anything had read; None when there is none."""

    def newest(self, edition: str, number: int) -> tuple[Issue, ...]:
        """The newest issues as they were composed, the newest first."""

    def lines(self, edition: str, number: int | None = None) -> tuple[IssueLine, ...]:
        """A line for each of the newest issues (None: of all), the newest first."""

    def articles(self, edition: str, since: date = date.min) -> tuple[ArticleLine, ...]:
        """A line for every article of the edition since that day, the newest day first, within a day in their order."""

    def subjects(self, edition: str, asked: Collection[SubjectKey], held: Collection[date] = ()) -> tuple[Subject, ...]:
        """What the articles of the edition are about, mention and come from, by folder and key, without those of the ``held`` days; for
        those ``asked`` for with their newest articles and months."""

    def list_as(self, issue: Issue, now: datetime) -> bool:
        """The lines of an archived issue as its editor wants it, from now on; an article that differs from what was listed counts as
        changed now, and so does the issue. Whether anything differed, or went out to nobody yet (see ``confirm``)."""

    def confirm(self, issue: Issue) -> None:
        """The issue went out as it was listed last."""

    def undelivered(self, edition: str) -> list[date]:
        """The days of all issues that no folder has a receipt for."""

    def days(self, edition: str) -> list[date]:
        """The days of the edition's issues, the oldest first."""

    def receipts(self, issue_key: str) -> list[Receipt]:
        """What was delivered of an issue."""

    def keep(self, receipts: Sequence[Receipt]) -> None:
        """Remembers deliveries; one that is known is left as it was."""


class Labeller(Protocol):
    """Topics of an entry, with the evidence. All labellers are asked."""

    def label(self, entry: Entry, claims: Sequence[Claim]) -> tuple[Label, ...]:
        """The topics that anything in the entry speaks for, also below their threshold."""


class Scorer(Protocol):
    """Points for a story. All scorers are asked and their points are added."""

    def score(self, story: Story, sources: Mapping[str, Source], now: datetime) -> tuple[Reason, ...]:
        """The reasons, each with its points; none when the scorer has nothing to say."""


class Writer(Protocol):
    """Words for picks."""

    name: str

    async def write(self, assignments: Sequence[Assignment]) -> tuple[list[Draft], Spending]:
        """A draft for each assignment, in their order. A wording that could not be made is missing from its draft, with the reason
        among the refusals; whatever is returned is judged again before it is printed."""


class AnswerCache(Protocol):
    """What language models answered, by what they were asked."""

    def find(self, keys: Sequence[str]) -> dict[str, str]:
        """The answers that are known, by key."""

    def keep(self, key: str, answer: str, model: str) -> None:
        """Remembers an answer; one that is known is replaced."""


class Renderer(Protocol):
    """Documents of one issue."""

    def render(self, issue: Issue, shelf: Shelf) -> Iterable[Document]:
        """The documents of the issue, below its folder or under its day, and those beside it that must lead to it. Raises RenderError."""


class ShelfRenderer(Protocol):
    """Documents over many issues: lists, periods, feeds."""

    def reach(self, days: Collection[date], lines: Sequence[IssueLine]) -> date:
        """Since when ``render`` needs to know articles, for those days; ``lines``: of all issues, newest first."""

    def render(self, days: Collection[date], shelf: Shelf) -> Iterable[Document]:
        """The documents that show issues of those days, or are about all. The shelf holds at least one recent issue, and the articles as
        far as the renderer reaches. Raises RenderError."""


class Site(Protocol):
    """The files that readers see."""

    def replace(self, documents: Iterable[Document]) -> SiteChange:
        """Makes the documents the whole site: what differs is written, what is no longer made is removed. Until all of them were made
        nothing changes. Raises PublishError."""


class SearchIndex(Protocol):
    """What finds articles on the site."""

    def update(self) -> bool:
        """Brings the index up to date with the published pages; whether anything had changed. Raises PublishError."""


class Publisher(Protocol):
    """Documents to readers."""

    name: str

    def publish(self, issue: Issue, documents: Sequence[Document], now: datetime, delivered: Sequence[Receipt]) -> tuple[Receipt, ...]:
        """Delivers what ``delivered`` does not prove to be delivered; the new receipts. Raises PublishError."""


class Subscribers(Protocol):
    """Who gets the mail, and who must never get it again."""

    def add(self, new: Sequence[Subscriber]) -> tuple[list[Subscriber], list[Subscriber]]:
        """(those that were added, with their ids; those that must not be written to). A mailbox that is there stays as it is."""

    def find(self, edition: str, address: str) -> Subscriber | None:
        """The subscriber with that mailbox, however it is spelled."""

    def get(self, id: int) -> Subscriber | None:
        """The subscriber with that id."""

    def refusals(self, edition: str, address: str) -> list[tuple[Suppression, datetime]]:
        """Why no mail of the edition may go to the mailbox, and since when; oldest first, empty where it may."""

    def may_ask(self, edition: str, address: str) -> bool:
        """Whether a mail that asks for a confirmation may go to the mailbox."""

    def welcome(self, new: Subscriber) -> Subscriber | None:
        """Whoever confirmed, active and with their id, also when they had left before or been erased; None where no mail may go."""

    def all(self, edition: str) -> Iterable[Subscriber]:
        """Everyone, by id, also those who left."""

    def change(self, subscriber: Subscriber) -> None:
        """Saves the languages, topics and rhythm that the subscriber with that id wants; nobody comes back by it."""

    def leave(self, subscriber: Subscriber, reason: Suppression, now: datetime) -> None:
        """No more mail to the mailbox: of this edition when it unsubscribed, of any edition for every other reason."""

    def suppress(self, address: str, reason: Suppression, now: datetime, edition: str = "") -> None:
        """No mail of the edition, or of any, to the mailbox, whether it ever subscribed or not."""

    def forget(self, address: str, now: datetime) -> int:
        """Erases the mailbox everywhere but for the hash that keeps it from being written to; how many subscriptions there were."""


class SignUps(Protocol):
    """Who asked for the mail and has not confirmed it."""

    def keep(self, new: SignUp) -> bool:
        """Remembers it for three days; False where the mailbox, the network or all together asked too often."""

    def waiting(self, edition: str, now: datetime) -> list[SignUp]:
        """Those to whom no mail has gone, oldest first, at most fifty."""

    def mailed(self, id: str, now: datetime) -> bool:
        """Notes that its mail goes out; False where another had noted it."""

    def waits(self, id: str) -> None:
        """Takes that note back."""

    def find(self, id: str, now: datetime) -> SignUp | None:
        """The sign-up with that id, while it is valid."""

    def confirmed(self, id: str, now: datetime) -> None:
        """Notes the confirmation."""


class Ledger(Protocol):
    """One row per issue and subscriber; see ``store/ledger.py`` for the states."""

    def open(self, issue: Issue, rhythms: Collection[MailRhythm], now: datetime) -> Mailing:
        """Freezes the issue and its audience, once; a mailing that is open already stays as it is."""

    def mailing(self, issue_key: str) -> Mailing | None:
        """The mailing of an issue; None before it began."""

    def under_way(self) -> list[str]:
        """The issues whose mailing is neither done nor paused, oldest first."""

    def set_state(self, issue_key: str, state: MailingState, why: str = "") -> None:
        """Pauses, resumes or ends a mailing."""

    def waiting(self, issue_key: str, now: datetime, after: int, limit: int) -> list[tuple[Subscriber, int]]:
        """Whom to write to next, by id after that one, with the number of attempts so far."""

    def step(self, issue_key: str, done: Sequence[Outcome], start: Sequence[int], worker: str, now: datetime, kept: Mapping[str, Bucket]) -> set[int]:
        """In one transaction: what came of mails, the limits' memory, and who is written to next. The subscribers that this sender won;
        the others belong to another, have left meanwhile, or are suppressed."""

    def workers(self, issue_key: str) -> list[str]:
        """The senders that have a mail of the issue in their hands."""

    def hold_leftovers(self, issue_key: str, now: datetime, older_than: datetime, gone: Collection[str] = ()) -> int:
        """What senders that are ``gone``, or claimed it too long ago, left as sending becomes uncertain: it may have arrived; what waits
        for someone who was forgotten is suppressed. How many became uncertain."""

    def counts(self, issue_key: str) -> dict[DeliveryState, int]:
        """How many mails of the issue are in which state."""

    def buckets(self) -> dict[str, Bucket]:
        """The memory of all limits, by name."""


class Returns(Protocol):
    """Mails that came back."""

    def is_known(self, fingerprint: str) -> bool:
        """Whether that mail was counted before."""

    def note(self, fingerprint: str, subscriber: int, kind: ReturnKind, status: str, now: datetime) -> None:
        """Counts a mail, once."""

    def days(self, subscribers: Collection[int], since: datetime) -> dict[int, tuple[list[date], list[date]]]:
        """By subscriber: (days on which mail came back or was refused for a passing reason, days on which one was accepted)."""

    def of_mailing(self, issue_key: str) -> dict[ReturnKind, int]:
        """How many of each kind came back from the readers of a mailing since it began."""


class RelayConnection(Protocol):
    """A connection that takes one message after the other."""

    @property
    def is_open(self) -> bool:
        """Whether it can take another message."""

    async def send(self, sender: str, recipient: str, message: bytes) -> Reply:
        """What the relay said at the verb at which it ended. Code 0: it broke there; at ``dot`` the message may have arrived."""

    async def quit(self) -> None:
        """Ends it politely; never raises."""


class NameService(Protocol):
    """The domain name system. What does not exist is empty; FetchError when nobody answers."""

    def texts(self, name: str) -> list[str]:
        """The TXT records."""

    def addresses(self, name: str) -> list[str]:
        """The IP addresses of a host."""

    def exchangers(self, name: str) -> list[str]:
        """The hosts that take mail for a domain, best first."""

    def pointers(self, address: str) -> list[str]:
        """The names of an IP address."""


class Relay(Protocol):
    """Where mail is handed in."""

    async def connect(self) -> RelayConnection:
        """A connection that is ready. Raises PublishError, whose ``reply`` says at which step."""
