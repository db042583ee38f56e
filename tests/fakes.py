"""Hand-made stand-ins for the ports, and a web server on loopback that remembers what it was asked."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any

from digest.errors import PublishError
from digest.lines import article_lines
from digest.model import (
    UNCHANGED,
    ArticleLine,
    Batch,
    CacheStamp,
    Coverage,
    Decision,
    Document,
    Download,
    Entry,
    Issue,
    IssueLine,
    Language,
    Memory,
    NextPoll,
    NotModified,
    Receipt,
    Rhythm,
    Source,
    Subject,
    SubjectKey,
)
from digest.subjects import NEWEST, last_months, subjects_of
from digest.text import arxiv_id, canonical_url


class FakeCache:
    """An AnswerCache in memory."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}

    def find(self, keys: Sequence[str]) -> dict[str, str]:
        return {key: self.answers[key] for key in keys if key in self.answers}

    def keep(self, key: str, answer: str, model: str) -> None:
        self.answers[key] = answer


class ModelServer:
    """An OpenAI-compatible server on loopback. ``say`` gets the request (a dict) and its number and gives an Answer, a text (an answer of
    the model) or a text with its finish_reason; it remembers every request."""

    def __init__(self, say: Callable[[dict[str, Any], int], Answer | str | tuple[str, str]]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.side_by_side = 0
        self._open = 0
        self._lock = Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.requests.append(request | {"key": self.headers.get("Authorization", "")})
                    number = len(outer.requests)
                    outer._open += 1
                    outer.side_by_side = max(outer.side_by_side, outer._open)
                try:
                    said = say(request, number)
                finally:
                    with outer._lock:
                        outer._open -= 1
                answer = said if isinstance(said, Answer) else Answer(body=json.dumps(_completion(said)).encode())
                with suppress(OSError):
                    self.send_response(answer.status)
                    for name, value in ({"Content-Type": "application/json", "Content-Length": str(len(answer.body))} | answer.headers).items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(answer.body)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


def _completion(said: str | tuple[str, str]) -> dict[str, Any]:
    text, reason = (said, "stop") if isinstance(said, str) else said
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000},
    }


class FakePublisher:
    """Remembers what it published; refuses when told to."""

    name = "fake"

    def __init__(self, *, refuses: bool = False) -> None:
        self.published: list[str] = []
        self.documents: tuple[Document, ...] = ()
        self._refuses = refuses

    def publish(self, issue: Issue, documents: Sequence[Document], now: datetime, delivered: Sequence[Receipt]) -> tuple[Receipt, ...]:
        if self._refuses:
            raise PublishError("the fake refuses; tell it not to")
        if any(receipt.publisher == self.name for receipt in delivered):
            return ()
        self.published.append(issue.key)
        self.documents = tuple(documents)
        return (Receipt(publisher=self.name, issue_key=issue.key, target="reader", delivered_at=now),)


class FakeStore:
    """An EntryStore in memory."""

    def __init__(self, archive: FakeArchive | None = None) -> None:
        self._entries: dict[str, tuple[Entry, bool]] = {}
        self._sources: dict[str, Memory] = {}
        self._read: set[str] = set()
        self._added: dict[tuple[str, datetime], int] = {}
        self._polls: dict[tuple[str, datetime], Coverage] = {}
        self._batches: dict[tuple[str, date], Batch] = {}
        self._archive = archive or FakeArchive()
        self._archive.put_off = self._put_off

    def _put_off(self, issue: Issue, read: Collection[str], source_names: Sequence[str]) -> None:
        for entry in self.seen(source_names, issue.since, issue.until):
            if entry.key not in read:
                self._entries[entry.key] = (replace(entry, seen_at=issue.until + timedelta(microseconds=1)), False)

    def memories(self, now: datetime) -> dict[str, Memory]:
        found = {}
        for name, memory in self._sources.items():
            polls = [(at, coverage) for (other, at), coverage in sorted(self._polls.items()) if other == name and now - timedelta(days=40) < at <= now]
            found[name] = replace(
                memory,
                usual=tuple(coverage.seen for _, coverage in polls if coverage.state == "complete"),
                last_well_at=max((at for at, coverage in polls if coverage.state != "failed"), default=None),
            )
        return found

    def _new_a_week(self, name: str, now: datetime, added: int) -> float:
        polled = sorted(at for other, at in self._polls if other == name and now - timedelta(days=28) < at < now)
        since = polled[0] if polled else now
        return 7 * (sum(self._added.get((name, at), 0) for at in polled[1:]) + added) / max(1.0, (now - since) / timedelta(days=1))

    def known(self, source: Source, entries: Sequence[Entry]) -> set[str]:
        urls = Counter(entry.url for entry in entries)
        known_urls = {entry.url for entry, _ in self._entries.values() if entry.source_name == source.name and entry.url}
        by_url = {entry.key for entry in entries if source.kind != "arxiv" and urls[entry.url] == 1 and entry.url in known_urls}
        return by_url | {entry.key for entry in entries if entry.key in self._entries}

    def remember(self, download: Download, entries: Sequence[Entry], coverage: Coverage, rhythm: Rhythm, next_poll: NextPoll) -> None:
        source, name = download.source, download.source.name
        for entry in entries:
            age = None if entry.published_at is None else (download.fetched_at - entry.published_at).total_seconds() / 86400
            is_old = source.kind == "feed" if age is None else age > source.window_days
            self._keep(entry, download.fetched_at, name not in self._read and is_old)
        memory = replace(self._answered(source, download.stamp, download.moved_to), rhythm=rhythm, next_poll=next_poll)
        if entries:
            rate = self._new_a_week(name, download.fetched_at, len(entries)) if name in self._read else 0.0
            memory = replace(memory, last_new_at=download.fetched_at, new_a_week=rate)
        self._read.add(name)
        self._sources[name] = memory
        self._added[name, download.fetched_at] = len(entries)
        self._polls[name, download.fetched_at] = coverage

    def _keep(self, entry: Entry, now: datetime, is_backlog: bool) -> None:
        covering = [issue.until for issue in self._archive.issues.values() if issue.since < now <= issue.until and issue.entries_read]
        seen_at = max(covering) + timedelta(microseconds=1) if covering else now
        self._entries.setdefault(entry.key, (replace(entry, seen_at=seen_at), is_backlog))

    def _answered(self, source: Source, stamp: CacheStamp, moved_to: str) -> Memory:
        earlier = self._sources.get(source.name, Memory())
        times = earlier.moved_times if (earlier.url, earlier.moved_to) == (source.url, moved_to) else 0
        return Memory(
            url=source.url,
            stamp=stamp,
            moved_to=moved_to,
            moved_times=times + 1 if moved_to else 0,
            rhythm=earlier.rhythm,
            last_new_at=earlier.last_new_at,
            new_a_week=earlier.new_a_week,
        )

    def pause(self, source: Source, coverage: Coverage, now: datetime, until: datetime | None, *, failures: int, is_gone: bool, paused_host: str = "") -> None:
        earlier = self._sources.get(source.name, Memory())
        if earlier.url != source.url:
            earlier = Memory(last_new_at=earlier.last_new_at, new_a_week=earlier.new_a_week)
        self._sources[source.name] = replace(
            earlier,
            url=source.url,
            failures=failures,
            failure=coverage.note,
            reason=coverage.reason,
            not_before=until,
            is_gone=is_gone,
            paused_host=paused_host,
            moved_to="",
            moved_times=0,
            next_poll=NextPoll(fresh_until=earlier.next_poll.fresh_until, due_at=until),
        )
        self._polls[source.name, now] = coverage

    def record(
        self, source: Source, coverage: Coverage, now: datetime, answer: NotModified | None = None, next_poll: NextPoll | None = None, added: int = 0
    ) -> None:
        if coverage.note != UNCHANGED or (source.name, now) not in self._polls:
            self._polls[source.name, now] = coverage
            self._added[source.name, now] = self._added.get((source.name, now), 0) + added
        if source.name not in self._sources:
            return
        if added:
            self._sources[source.name] = replace(self._sources[source.name], last_new_at=now)
        if answer is not None:
            earlier = self._sources[source.name]
            self._sources[source.name] = replace(self._answered(source, answer.stamp, answer.moved_to), next_poll=earlier.next_poll)
        if next_poll is not None:
            self._sources[source.name] = replace(self._sources[source.name], next_poll=next_poll)

    def batches(self, source_names: Sequence[str], since: date) -> dict[tuple[str, date], Batch]:
        newest = {name: max(day for other, day in self._batches if other == name) for name, _ in self._batches}
        return {key: batch for key, batch in self._batches.items() if key[0] in source_names and (key[1] >= since or key[1] == newest[key[0]])}

    def keep_batch(self, batch: Batch) -> None:
        self._batches[batch.source_name, batch.day] = batch

    def take_in(self, entries: Sequence[Entry], now: datetime) -> int:
        new = [entry for entry in entries if entry.key not in self._entries]
        for entry in new:
            self._keep(entry, now, False)
        return len(new)

    def known_papers(self, source_name: str, names: Sequence[str]) -> set[str]:
        return {entry.ids.arxiv for entry, _ in self._entries.values() if entry.source_name == source_name} & set(names)

    def untold(self, edition: str, source_names: Sequence[str], since: datetime, until: datetime) -> list[Entry]:
        windows = [(issue.since, issue.until) for issue in self._archive.issues.values() if issue.edition == edition and issue.entries_read]
        found = [
            entry
            for entry, is_backlog in self._entries.values()
            if not is_backlog and since < entry.seen_at <= until and entry.source_name in source_names and not any(a < entry.seen_at <= b for a, b in windows)
        ]
        return sorted(found, key=lambda entry: (entry.seen_at, entry.key))

    def seen(self, source_names: Sequence[str], since: datetime, until: datetime) -> list[Entry]:
        found = [
            entry for entry, is_backlog in self._entries.values() if not is_backlog and since < entry.seen_at <= until and entry.source_name in source_names
        ]
        return sorted(found, key=lambda entry: (entry.seen_at, entry.key))

    def texts(self, source_names: Sequence[str], since: datetime, until: datetime) -> list[tuple[str, str]]:
        return [(entry.key, f"{entry.title}\n{entry.text}") for entry in self.seen(source_names, since, until) if entry.revision != "replaced"]

    def find(self, name: str) -> list[Entry]:
        names = {name, canonical_url(name) or name, arxiv_id(name) or name}
        return sorted((entry for entry, _ in self._entries.values() if names & {entry.key, entry.url, entry.ids.arxiv}), key=lambda entry: entry.key)

    def polls(self, source_names: Sequence[str], since: datetime, until: datetime) -> dict[str, Coverage]:
        polls = sorted(self._polls.items(), key=lambda item: item[0][1])
        found: dict[str, Coverage] = {}
        for (name, at), coverage in polls:
            earlier = found.get(name)
            if name in source_names and since < at <= until and (coverage.note != UNCHANGED or earlier is None or earlier.state == "failed"):
                found[name] = coverage
        return found


@dataclass
class FakeArchive:
    """An Archive in memory."""

    issues: dict[tuple[str, date], Issue] = field(default_factory=dict)
    put_off: Callable[[Issue, Collection[str], Sequence[str]], None] | None = None
    _told: dict[str, list[tuple[str, date, str]]] = field(default_factory=dict)
    _decisions: dict[tuple[str, date], list[Decision]] = field(default_factory=dict)
    _receipts: list[Receipt] = field(default_factory=list)
    _lines: dict[tuple[str, date], dict[str, ArticleLine]] = field(default_factory=dict)
    _changed: dict[tuple[str, date], datetime] = field(default_factory=dict)
    _listed: dict[tuple[str, date], object] = field(default_factory=dict)
    _waiting: dict[tuple[str, date], object] = field(default_factory=dict)

    def issue(self, edition: str, day: date) -> Issue | None:
        return self.issues.get((edition, day))

    def save(self, issue: Issue, identities: dict[str, str], decisions: Sequence[Decision], read: Collection[str], source_names: Sequence[str]) -> Issue:
        archived = self.issues.get((issue.edition, issue.day))
        if archived is None or not archived.entries_read:
            if self.put_off is not None and issue.entries_read:
                self.put_off(issue, read, source_names)
            self.issues[issue.edition, issue.day] = issue
            self._decisions[issue.edition, issue.day] = sorted(decisions, key=lambda decision: (decision.entry_key, decision.topic))
            self._told.setdefault(issue.edition, []).extend((name, issue.day, title) for name, title in identities.items())
        return self.issues[issue.edition, issue.day]

    def told(self, edition: str, before: date) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for name, day, title in self._told.get(edition, []):
            if day < before:
                found.setdefault(name, (f"{edition}/{day.isoformat()}", title))
        return found

    def decisions(self, edition: str, day: date) -> list[Decision]:
        return self._decisions.get((edition, day), [])

    def last_until(self, edition: str, before: date) -> datetime | None:
        return max((issue.until for issue in self.issues.values() if issue.edition == edition and issue.day < before and issue.entries_read), default=None)

    def newest(self, edition: str, number: int) -> tuple[Issue, ...]:
        return tuple(self.issues[edition, day] for day in self.days(edition)[::-1][:number])

    def lines(self, edition: str, number: int | None = None) -> tuple[IssueLine, ...]:
        lines = []
        for issue in self.newest(edition, number or len(self.issues)):
            told = self._listed_lines(issue)
            changed = self._changed.get((edition, issue.day))
            lines.append(
                IssueLine(day=issue.day, languages=issue.languages, articles=len(told), headlines=told[0].headlines if told else {}, changed_at=changed)
            )
        return tuple(lines)

    def _listed_lines(self, issue: Issue) -> list[ArticleLine]:
        return list(self._lines.get((issue.edition, issue.day), {line.story: line for line in article_lines(issue)}).values())

    def list_as(self, issue: Issue, now: datetime) -> bool:
        key = (issue.edition, issue.day)
        if _content(issue) == self._listed.get(key, _content(self.issues[key])):
            return False
        if self._waiting.get(key) == _content(issue):
            return True
        before = self._lines.get(key, {line.story: line for line in article_lines(self.issues[key])})
        lines = {line.story: line for line in article_lines(issue)}
        for story, line in lines.items():
            known = before.get(story)
            if known is not None:
                line = replace(line, place=known.place, changed_at=known.changed_at)
            lines[story] = line if line == known else replace(line, changed_at=now)
        self._listed[key] = "?"
        self._waiting[key], self._changed[key], self._lines[key] = _content(issue), now, lines
        return True

    def confirm(self, issue: Issue) -> None:
        key = (issue.edition, issue.day)
        if key in self._waiting:
            self._listed[key] = self._waiting.pop(key)

    def articles(self, edition: str, since: date = date.min) -> tuple[ArticleLine, ...]:
        return tuple(line for issue in self.newest(edition, len(self.issues)) for line in self._listed_lines(issue) if line.day >= since)

    def subjects(self, edition: str, asked: Collection[SubjectKey], held: Collection[date] = ()) -> tuple[Subject, ...]:
        return subjects([line for line in self.articles(edition) if line.day not in held], asked)

    def days(self, edition: str) -> list[date]:
        return sorted(day for name, day in self.issues if name == edition)

    def receipts(self, issue_key: str) -> list[Receipt]:
        return sorted((receipt for receipt in self._receipts if receipt.issue_key == issue_key), key=lambda receipt: (receipt.publisher, receipt.target))

    def keep(self, receipts: Sequence[Receipt]) -> None:
        known = {(receipt.issue_key, receipt.publisher, receipt.target) for receipt in self._receipts}
        self._receipts += [receipt for receipt in receipts if (receipt.issue_key, receipt.publisher, receipt.target) not in known]


def subjects(lines: Sequence[ArticleLine], asked: Collection[SubjectKey] | None = None) -> tuple[Subject, ...]:
    """What the lines, newest first, are about, mention and come from; those asked for (None: all) with their newest lines and months."""
    found: dict[SubjectKey, list[ArticleLine]] = {}
    spellings: dict[SubjectKey, Counter[tuple[str, str]]] = {}
    for line in lines:
        for key, spelling in subjects_of(line).items():
            found.setdefault(key, []).append(line)
            spellings.setdefault(key, Counter())[spelling] += 1
    made = []
    for key, own in sorted(found.items()):
        name, kind = sorted(spellings[key], key=lambda spelling: (-spellings[key][spelling], spelling))[0]
        told: dict[Language, tuple[ArticleLine, ...]] = {language: tuple(line for line in own if language in line.headlines) for language in ("zh", "en")}
        told = {language: some for language, some in told.items() if some}
        subject = Subject(
            folder=key[0], key=key[1], name=name, kind=kind, articles=len(own), articles_in={language: len(some) for language, some in told.items()}
        )
        if asked is None or key in asked:
            months = {language: _months(some) for language, some in told.items()}
            subject = replace(subject, newest={language: some[:NEWEST] for language, some in told.items()}, months=months)
        made.append(subject)
    return tuple(made)


def _months(lines: Sequence[ArticleLine]) -> tuple[tuple[date, int], ...]:
    months = last_months(lines[0].day)
    return tuple((month, sum(line.day.replace(day=1) == month for line in lines)) for month in months)


def _content(issue: Issue) -> object:
    return issue.letters, article_lines(issue), [wording.quotes for article in issue.articles for wording in article.wordings]


@dataclass
class Answer:
    """What the server says at a path."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    zipped: bool = False


class _PatientServer(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


class FeedServer:
    """Serves answers with ETags, answers 304 to a matching If-None-Match, and counts."""

    def __init__(self, interface: str = "127.0.0.1") -> None:
        self.answers: dict[str, Answer | Callable[[], Answer]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.posted: Callable[[bytes], object] = lambda body: None
        self.statuses: Counter[int] = Counter()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self)

            def do_POST(self) -> None:
                status = outer.posted(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(status if isinstance(status, int) else 204)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = _PatientServer((interface, 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> FeedServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append((handler.path, {name.lower(): value for name, value in handler.headers.items()}))
        found = self.answers.get(handler.path) or self.answers.get(handler.path.partition("?")[0], Answer(status=404))
        answer = found() if callable(found) else found
        etag = f'"{sha256(answer.body).hexdigest()[:16]}"'
        status = 304 if answer.status == 200 and handler.headers.get("If-None-Match") == etag else answer.status
        self.statuses[status] += 1
        body = b"" if status == 304 else gzip.compress(answer.body) if answer.zipped else answer.body
        handler.send_response(status)
        headers = {"ETag": etag, "Content-Length": str(len(body))} | ({"Content-Encoding": "gzip"} if answer.zipped else {}) | answer.headers
        with suppress(OSError):  # whoever asked may have left
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body)
