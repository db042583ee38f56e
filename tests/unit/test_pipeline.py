"""The three acts with stand-ins at every edge: what one failure costs, and what it does not."""

from __future__ import annotations

import asyncio
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from digest.classify.mentions import NameReader
from digest.errors import DigestError, FetchError
from digest.model import Article, CacheStamp, Desk, Document, Download, Issue, NotModified, Parsed, Pick, Section, Shelf, Source, Wording
from digest.pipeline import Parts, Reading, collect, deliver
from tests.builders import DAY, NOON, a_download, a_parsed, a_source, a_story, an_entry, an_issue
from tests.fakes import FakeArchive, FakePublisher, FakeStore


class _Fetcher:
    """Answers by the name of the source: raises what stands there, or gives an empty download."""

    def __init__(self, **answers: Exception) -> None:
        self._answers = answers

    async def fetch(self, source: Source, stamp: CacheStamp, now: datetime) -> Download | NotModified:
        if source.name in self._answers:
            raise self._answers[source.name]
        return a_download(source=source)


class _Parser:
    async def parse(self, download: Download) -> Parsed:
        name = download.source.name
        return a_parsed(an_entry(key=f"{name}|1", source_name=name))

    async def article(self, download: Download) -> str:
        return ""


class _Renderer:
    def render(self, issue: Issue, shelf: Shelf) -> tuple[Document, ...]:
        return (Document(format="text", language="zh", name="x.txt", media_type="text/plain", body=b"x"),)


class _Broken:
    name = "broken"

    def publish(self, *arguments: Any) -> Any:
        raise RuntimeError("a surprise")


def parts(**changes: Any) -> Parts:
    archive = changes.pop("archive", FakeArchive())
    fields: dict[str, Any] = {
        "store": FakeStore(archive),
        "archive": archive,
        "labellers": (),
        "names": NameReader({}, ()),
        "thresholds": {},
        "scorers": (),
        "writer": None,
        "renderers": (_Renderer(),),
        "publishers": (),
    }
    return Parts(**fields | changes)


def reading(fetcher: _Fetcher | None = None) -> Reading:
    return Reading(fetchers={"https": fetcher or _Fetcher()}, parser=_Parser())


def test_one_failing_source_costs_itself_and_a_surprise_is_marked_as_a_bug(caplog: pytest.LogCaptureFixture) -> None:
    fetcher = _Fetcher(Refused=FetchError("no; try later"), Surprised=KeyError("oops"))
    sources = [a_source(name=name) for name in ("Refused", "Surprised", "Fine")]
    report = asyncio.run(collect(parts(), reading(fetcher), sources, NOON))
    assert {coverage.source_name: coverage.state for coverage in report.coverage} == {"Refused": "failed", "Surprised": "failed", "Fine": "complete"}
    assert {problem.subject: problem.is_bug for problem in report.problems} == {"Refused": False, "Surprised": True}
    assert report.counts == {"entries_seen": 1, "entries_new": 1}
    assert "a bug while collecting Surprised" in caplog.text


def test_an_address_that_nobody_can_fetch_says_what_can_be() -> None:
    report = asyncio.run(collect(parts(), reading(), [a_source(url="gopher://x/")], NOON))
    assert "no way to fetch gopher:" in report.problems[0].message


def test_whoever_has_a_receipt_is_skipped() -> None:
    archive, publisher = FakeArchive(), FakePublisher()
    archive.save(an_issue(), {}, (), (), [])
    deliver(parts(archive=archive, publishers=(publisher,)), "training", DAY, NOON, lambda day: Desk())
    report = deliver(parts(archive=archive, publishers=(publisher,)), "training", DAY, NOON, lambda day: Desk())
    assert publisher.published == ["training/2026-11-24"]
    assert report.receipts == ()


def test_a_refusing_and_a_broken_publisher_do_not_keep_the_others_from_delivering(caplog: pytest.LogCaptureFixture) -> None:
    archive, fine = FakeArchive(), FakePublisher()
    archive.save(an_issue(), {}, (), (), [])
    report = deliver(parts(archive=archive, publishers=(FakePublisher(refuses=True), _Broken(), fine)), "training", DAY, NOON, lambda day: Desk())
    assert fine.published == ["training/2026-11-24"]
    assert [problem.is_bug for problem in report.problems] == [False, True]


def test_an_edit_of_another_day_that_could_not_be_published_is_published_later() -> None:
    archive = FakeArchive()
    yesterday, story = DAY - timedelta(days=1), a_story()
    wordings = tuple(Wording(language=language, headline="H", summary="S", blurb="B") for language in ("zh", "en"))
    article = Article(pick=Pick(story=story, reasons=()), source=a_source(), claims=(), mentions=(), wordings=wordings, written_by="patterns")
    section = Section(topic="training-acceleration", title={"zh": "训", "en": "T"}, articles=(article,))
    archive.save(an_issue(day=yesterday, sections=(section,)), {}, (), (), [])
    archive.save(an_issue(), {}, (), (), [])

    def desk(day: date) -> Desk:
        return Desk(drop=("story",)) if day == yesterday else Desk()

    deliver(parts(archive=archive, publishers=(FakePublisher(refuses=True),)), "training", DAY, NOON, desk)
    fine = FakePublisher()
    deliver(parts(archive=archive, publishers=(fine,)), "training", DAY, NOON, desk)
    assert fine.published == ["training/2026-11-23", "training/2026-11-24"]
    again = FakePublisher()
    deliver(parts(archive=archive, publishers=(again,)), "training", DAY, NOON, desk)
    assert "training/2026-11-23" not in again.published


def test_there_is_nothing_to_deliver_before_it_is_made() -> None:
    with pytest.raises(DigestError, match="digest make"):
        deliver(parts(), "training", DAY, NOON, lambda day: Desk())
