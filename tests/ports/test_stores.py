"""One suite for the EntryStore, the Archive and the AnswerCache, run on the fake, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from digest.errors import StoreError
from digest.model import (
    Article,
    CacheStamp,
    Decision,
    Entry,
    Identifiers,
    Issue,
    NextPoll,
    NotModified,
    Pick,
    Reason,
    Receipt,
    Rhythm,
    Section,
    Wording,
)
from digest.phrase import Phrase
from digest.ports import AnswerCache, Archive, EntryStore
from digest.store.answers import SqlAnswerCache
from digest.store.archive import SqlArchive
from digest.store.database import open_database
from digest.store.entries import SqlEntryStore
from digest.store.search import SqlSearch
from digest.subjects import NEWEST, touched
from digest.write.grounding import refusal
from tests.builders import DAY, NOON, a_claim, a_coverage, a_download, a_source, a_story, an_entry, an_issue, issues_of_years
from tests.conftest import emptied
from tests.fakes import FakeArchive, FakeCache, FakeStore, subjects

LONG_AGO = NOON - timedelta(days=365)


@dataclass
class Both:
    store: EntryStore
    archive: Archive
    answers: AnswerCache


@pytest.fixture(params=["fake", "sqlite", "postgresql"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Both]:
    if request.param == "fake":
        archive = FakeArchive()
        yield Both(FakeStore(archive), archive, FakeCache())
        return
    address = f"sqlite:///{tmp_path}/digest.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgresql")
    engine = open_database(address)
    yield Both(SqlEntryStore(engine), SqlArchive(engine), SqlAnswerCache(engine))
    if request.param == "postgresql":
        emptied(engine)
    engine.dispose()


def remember(both: Both, *entries: Entry, **changes: Any) -> int:
    """Remembers what is new, as collecting does; the number of new entries."""
    download = a_download(**changes)
    known = both.store.known(download.source, entries)
    new = [entry for entry in entries if entry.key not in known]
    both.store.remember(download, new, a_coverage(source_name=download.source.name, seen=len(entries)), Rhythm(), NextPoll())
    return len(new)


def untold(both: Both, hours: int = 1) -> list[str]:
    return [entry.key for entry in both.store.untold("training", ["Blog"], LONG_AGO, NOON + timedelta(hours=hours))]


def test_entries_come_back_as_they_were(both: Both) -> None:
    entry = an_entry(title="训练加速 “quoted” 🚀", authors=("A. One", "李四"), published_at=None, published_by="seen", revision="cross")
    remember(both, an_entry(key="Blog|0", published_at=NOON))
    remember(both, entry)
    assert both.store.untold("training", ["Blog"], LONG_AGO, NOON)[1] == entry


def test_what_is_known_is_not_new_and_stays_as_first_seen(both: Both) -> None:
    assert remember(both, an_entry()) == 1
    assert remember(both, an_entry(title="Changed", seen_at=NOON + timedelta(hours=1)), fetched_at=NOON + timedelta(hours=1)) == 0
    assert both.store.untold("training", ["Blog"], LONG_AGO, NOON)[0].title == "A title of some length"


def test_the_first_poll_keeps_what_is_older_than_the_window_out(both: Both) -> None:
    old = an_entry(key="Blog|old", published_at=NOON - timedelta(days=4))
    undated = an_entry(key="Blog|undated", published_at=None, published_by="seen")
    remember(both, an_entry(), old, undated)
    assert untold(both) == ["Blog|1"]
    remember(both, an_entry(key="Blog|later", published_at=NOON - timedelta(days=9)))
    assert untold(both) == ["Blog|1", "Blog|later"]


def test_stamps_are_verbatim_and_belong_to_an_address(both: Both) -> None:
    stamp = CacheStamp(etag='W/"odd, one"', last_modified="yesterday, roughly")
    remember(both, stamp=stamp)
    memory = both.store.memories(NOON + timedelta(hours=1))["Blog"]
    assert (memory.url, memory.stamp) == ("https://blog.example.com/feed", stamp)
    moved = a_source(url="https://elsewhere.example/feed")
    remember(both, source=moved, stamp=CacheStamp())
    memory = both.store.memories(NOON + timedelta(hours=1))["Blog"]
    assert (memory.url, memory.stamp) == ("https://elsewhere.example/feed", CacheStamp())


def test_a_memory_holds_what_is_usual_and_when_something_was_new(both: Both) -> None:
    remember(both, an_entry(), an_entry(key="Blog|2", url=""))
    later = NOON + timedelta(hours=1)
    remember(both, an_entry(), fetched_at=later, stamp=CacheStamp(etag="2"))
    both.store.record(a_source(), a_coverage(state="failed", seen=0), later + timedelta(hours=1))
    memory = both.store.memories(later + timedelta(days=1))["Blog"]
    assert (memory.usual, memory.last_new_at, memory.stamp.etag) == ((2, 1), NOON, "2")
    assert both.store.memories(NOON + timedelta(days=90))["Blog"].usual == ()


def test_a_new_guid_at_a_known_address_is_no_news_but_a_shared_address_is_none(both: Both) -> None:
    remember(both, an_entry())
    flipped = an_entry(key="Blog|new-guid", url=an_entry().url)
    assert both.store.known(a_source(), [flipped]) == {"Blog|new-guid"}
    assert both.store.known(a_source(), [flipped, an_entry(key="Blog|other", url=an_entry().url)]) == set()
    assert both.store.known(a_source(name="Else"), [an_entry(key="Else|1", source_name="Else")]) == set()
    assert both.store.known(a_source(kind="arxiv"), [flipped]) == set()


def test_an_entry_belongs_to_the_first_issue_made_after_it_was_seen(both: Both) -> None:
    remember(both, an_entry())
    both.archive.save(an_issue(), {}, (), (), [])
    assert untold(both) == []
    later = NOON + timedelta(minutes=30)
    remember(both, an_entry(key="Blog|2", seen_at=later), fetched_at=later)
    assert untold(both) == ["Blog|2"]
    assert both.store.untold("other", ["Blog"], LONG_AGO, NOON) != []


def test_entries_of_other_sources_and_of_the_future_are_left_out(both: Both) -> None:
    remember(both, an_entry())
    assert both.store.untold("training", ["Blog"], LONG_AGO, NOON - timedelta(seconds=1)) == []
    assert both.store.untold("training", ["Else"], LONG_AGO, NOON) == []


def test_the_last_poll_of_each_source_counts(both: Both) -> None:
    source = a_source()
    both.store.record(source, a_coverage(state="failed", note="no"), NOON)
    both.store.record(source, a_coverage(state="quiet", seen=0), NOON + timedelta(hours=1))
    assert both.store.polls(["Blog"], NOON, NOON + timedelta(hours=2))["Blog"].state == "quiet"
    assert both.store.polls(["Blog"], NOON - timedelta(hours=1), NOON)["Blog"].note == "no"


def test_a_pause_is_kept_until_an_answer_comes(both: Both) -> None:
    until = NOON + timedelta(hours=1)
    both.store.pause(a_source(), a_coverage(state="failed", seen=0, note="no"), NOON, until, failures=2, is_gone=True)
    memory = both.store.memories(NOON)["Blog"]
    assert (memory.failures, memory.failure, memory.not_before, memory.is_gone, memory.stamp) == (2, "no", until, True, CacheStamp())
    remember(both, an_entry(published_at=NOON - timedelta(days=9)), fetched_at=until)
    memory = both.store.memories(until)["Blog"]
    assert (memory.failures, memory.failure, memory.not_before, memory.is_gone) == (0, "", None, False)
    assert both.store.untold("training", ["Blog"], LONG_AGO, until) == []  # the first poll that was answered
    both.store.pause(a_source(), a_coverage(state="failed", seen=0, note="no"), until, None, failures=1, is_gone=False)
    both.store.record(a_source(), a_coverage(state="quiet", note="unchanged"), until + timedelta(hours=1))
    assert both.store.memories(until + timedelta(hours=1))["Blog"].failures == 1  # nothing was asked
    both.store.record(a_source(), a_coverage(state="quiet", note="unchanged"), until + timedelta(hours=1), NotModified(stamp=CacheStamp(etag="2")))
    assert both.store.memories(until + timedelta(hours=1))["Blog"].failures == 0


def test_what_is_stored_while_an_issue_is_made_goes_to_the_next(both: Both) -> None:
    remember(both, an_entry())
    read = both.store.untold("training", ["Blog"], LONG_AGO, NOON)
    remember(both, an_entry(), an_entry(key="Blog|late"))  # a poll that began before the issue, and ends while it is written
    both.archive.save(an_issue(since=LONG_AGO, until=NOON), {}, (), {entry.key for entry in read}, ["Blog"])
    assert untold(both) == ["Blog|late"]


def test_the_rhythm_is_that_of_the_time_when_there_was_news(both: Both) -> None:
    for day in range(15):
        remember(both, *(an_entry(key=f"Blog|{day}-{number}") for number in range(2)), fetched_at=NOON + timedelta(days=day))
    memory = both.store.memories(NOON + timedelta(days=300))["Blog"]
    assert (round(memory.new_a_week), memory.last_new_at) == (14, NOON + timedelta(days=14))


def test_a_move_is_counted_while_it_says_the_same(both: Both) -> None:
    moved = "https://new.example/feed"
    for times, target in ((1, moved), (2, moved), (1, "https://other.example/"), (0, "")):
        remember(both, moved_to=target)
        memory = both.store.memories(NOON)["Blog"]
        assert (memory.moved_to, memory.moved_times) == (target, times)


def test_an_unchanged_poll_hides_no_other(both: Both) -> None:
    source, later = a_source(), NOON + timedelta(hours=1)
    both.store.record(source, a_coverage(state="degraded", note="cut off"), NOON)
    for moment in (NOON, later):
        both.store.record(source, a_coverage(state="quiet", seen=0, note="unchanged"), moment)
    assert both.store.polls(["Blog"], NOON - timedelta(hours=1), later)["Blog"].note == "cut off"
    assert both.store.polls(["Blog"], NOON, later)["Blog"].state == "quiet"


def test_an_archived_issue_wins_over_a_second_one(both: Both) -> None:
    first = both.archive.save(an_issue(), {}, (), (), [])
    second = both.archive.save(an_issue(entries_read=99), {"key:x": "X"}, (), (), [])
    assert first == second == both.archive.issue("training", DAY) == an_issue()
    assert both.archive.told("training", DAY + timedelta(days=1)) == {}


def test_a_blank_issue_gives_way_and_takes_nothing(both: Both) -> None:
    both.archive.save(an_issue(entries_read=0), {}, (), (), [])
    remember(both, an_entry())
    assert untold(both) == ["Blog|1"]
    assert both.archive.last_until("training", DAY + timedelta(days=1)) is None
    whole = both.archive.save(an_issue(entries_read=5), {"key:x": "X"}, (), (), [])
    assert whole.entries_read == 5
    assert both.archive.told("training", DAY + timedelta(days=1)) == {"key:x": ("training/2026-11-24", "X")}


def test_what_comes_at_the_very_moment_of_an_issue_belongs_to_the_next(both: Both) -> None:
    both.archive.save(an_issue(), {}, (), (), [])
    remember(both, an_entry())
    assert untold(both) == ["Blog|1"]
    assert both.store.untold("training", ["Blog"], LONG_AGO, NOON) == []


def test_what_was_told_is_remembered_with_its_issue(both: Both) -> None:
    both.archive.save(an_issue(), {"arxiv:1": "One"}, (), (), [])
    both.archive.save(an_issue(day=DAY + timedelta(days=1)), {"arxiv:1": "One again", "arxiv:2": "Two"}, (), (), [])
    assert both.archive.told("training", DAY) == {}
    assert both.archive.told("training", DAY + timedelta(days=9)) == {
        "arxiv:1": ("training/2026-11-24", "One"),
        "arxiv:2": ("training/2026-11-25", "Two"),
    }


def test_issues_are_listed_newest_first(both: Both) -> None:
    for days in (1, 3, 2):
        both.archive.save(an_issue(day=DAY + timedelta(days=days), until=NOON + timedelta(days=days)), {}, (), (), [])
    assert [line.day.day for line in both.archive.lines("training")] == [27, 26, 25]
    assert [line.day.day for line in both.archive.lines("training", 2)] == [27, 26]
    assert [issue.day.day for issue in both.archive.newest("training", 2)] == [27, 26]
    assert both.archive.last_until("training", DAY + timedelta(days=3)) == NOON + timedelta(days=2)


def test_decisions_are_kept_with_their_issue(both: Both) -> None:
    decision = Decision(entry_key="Blog|1", topic="training-acceleration", score=7.5, is_in=True)
    both.archive.save(an_issue(), {}, [decision], (), [])
    assert both.archive.decisions("training", DAY) == [decision]
    assert both.archive.decisions("training", DAY + timedelta(days=1)) == []


def test_entries_are_found_by_any_of_their_names(both: Both) -> None:
    entry = an_entry(url="https://arxiv.org/abs/2611.00001", ids=Identifiers(arxiv="2611.00001"))
    remember(both, entry)
    for name in ("Blog|1", "2611.00001", "http://arxiv.org/pdf/2611.00001v3"):
        assert both.store.find(name) == [entry]
    assert both.store.find("nothing") == []
    assert both.store.seen(["Blog"], NOON - timedelta(seconds=1), NOON) == [entry]
    assert both.store.seen(["Blog"], NOON, NOON + timedelta(days=1)) == []
    assert both.store.texts(["Blog"], NOON - timedelta(seconds=1), NOON) == [(entry.key, f"{entry.title}\n{entry.text}")]


def test_receipts_are_kept_once(both: Both) -> None:
    receipt = Receipt(publisher="folder", issue_key="training/2026-11-24", target="out", delivered_at=NOON)
    both.archive.keep([receipt])
    both.archive.keep([Receipt(publisher="folder", issue_key="training/2026-11-24", target="out", delivered_at=NOON + timedelta(days=1))])
    assert both.archive.receipts("training/2026-11-24") == [receipt]
    assert both.archive.receipts("training/2026-11-25") == []


def test_answers_are_found_by_their_key_and_the_newest_counts(both: Both) -> None:
    both.answers.keep("a", "erste Antwort", "model")
    both.answers.keep("a", "回答", "model")
    both.answers.keep("b", "x", "model")
    assert both.answers.find(["a", "c"]) == {"a": "回答"}
    assert both.answers.find([]) == {}
    assert len(both.answers.find(["a", "b", *(str(number) for number in range(1200))])) == 2


@dataclass
class Library:
    store: SqlEntryStore
    archive: SqlArchive
    search: SqlSearch


@pytest.fixture(params=["sqlite", "postgresql"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    address = f"sqlite:///{tmp_path}/digest.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgresql")
    engine = open_database(address)
    library = Library(SqlEntryStore(engine), SqlArchive(engine), SqlSearch(engine))
    library.store.take_in(
        [
            an_entry(key="Blog|speed", title="Training speedup of large models", text="We train faster. It’s 2× on GPUs.", seen_at=NOON),
            an_entry(key="Blog|text", title="On cats", text="A remark on the training speedups of cats, and more on cats.", seen_at=NOON),
            an_entry(key="Blog|zh", title="大模型训练加速", text="训练加速的新方法，吞吐量提高两倍。", language="zh", seen_at=NOON),
            an_entry(key="Blog|zht", title="訓練與推理", text="加速訓練。", language="zh", seen_at=NOON),
            an_entry(key="Else|1", source_name="Else", title="Serving", text="Inference only: no training here. C++ & 50% <b>off</b>", seen_at=NOON),
        ],
        NOON,
    )
    yield library
    if request.param == "postgresql":
        emptied(engine)
    engine.dispose()


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("training speedup", ["Blog|speed", "Blog|text"]),
        ("TRAINING speedups", ["Blog|speed", "Blog|text"]),
        ('"training speedup"', ["Blog|speed", "Blog|text"]),
        ('"speedup training"', []),
        ("training -cats -inference", ["Blog|speed"]),
        ("speed*", ["Blog|speed", "Blog|text"]),
        ("训练加速", ["Blog|zh", "Blog|zht"]),
        ('"训练加速"', ["Blog|zh"]),
        ("新方法", ["Blog|zh"]),
        ("大模型训练", ["Blog|zh"]),
        ("训练", ["Blog|zh", "Blog|zht"]),
        ("訓練", ["Blog|zh", "Blog|zht"]),
        ("吞", ["Blog|zh"]),
        ("大模型 吞吐量", ["Blog|zh"]),
        ("training 训练", []),
        ("nothing-of-this-kind", []),
        ("50%", ["Else|1"]),
        ("' OR 1=1; --", []),
        ("cats AND NOT", ["Blog|text"]),
    ],
)
def test_entries_are_found_in_both_languages(library: Library, query: str, keys: list[str]) -> None:
    found = library.search.find(query)
    assert sorted(entry.key for entry in found.entries) == sorted(keys)
    assert found.total == len(keys)


def test_a_hit_in_the_title_comes_first_and_filters_narrow(library: Library) -> None:
    assert [entry.key for entry in library.search.find("training speedup").entries] == ["Blog|speed", "Blog|text"]
    assert [entry.key for entry in library.search.find("training", source_names=["Else"]).entries] == ["Else|1"]
    assert library.search.find("training", since=NOON + timedelta(seconds=1)).total == 0
    assert library.search.find("training", until=NOON).total == 0
    page = library.search.find("training", limit=1)
    assert (len(page.entries), page.total) == (1, 3)
    library.archive.save(an_issue(), {}, [Decision(entry_key="Blog|speed", topic="fast", score=9, is_in=True)], (), [])
    assert [entry.key for entry in library.search.find("training", topic="fast").entries] == ["Blog|speed"]


@pytest.mark.parametrize("query", ["", "  ", "-cats", "!!!", '""'])
def test_a_query_without_words_is_refused(library: Library, query: str) -> None:
    with pytest.raises(StoreError, match="nothing to look for"):
        library.search.find(query)


def an_issue_of(*keys: str, **changes: Any) -> Issue:
    """An issue with an article for each key, in that order."""
    articles = []
    for key in keys:
        wordings = tuple(Wording(language=language, headline=f"{key} {language}", summary="", blurb="") for language in ("zh", "en"))
        pick = Pick(story=a_story(key=key), reasons=(Reason(points=50, why="on-topic"),))
        articles.append(Article(pick=pick, source=a_source(), claims=(a_claim(),), mentions=(), wordings=wordings, written_by="patterns"))
    sections = (Section(topic="training-acceleration", title={"zh": "训", "en": "T"}, articles=tuple(articles)),) if articles else ()
    return an_issue(sections=sections, **changes)


def reworded(issue: Issue, key: str, headline: str) -> Issue:
    (section,) = issue.sections
    articles = tuple(
        replace(article, wordings=tuple(replace(wording, headline=headline) for wording in article.wordings)) if article.pick.story.key == key else article
        for article in section.articles
    )
    return replace(issue, sections=(replace(section, articles=articles),))


def test_every_article_of_every_issue_has_a_line(both: Both) -> None:
    both.archive.save(an_issue_of("a", "b"), {}, (), (), [])
    both.archive.save(an_issue_of("c", day=DAY + timedelta(days=1)), {}, (), (), [])
    both.archive.save(an_issue_of("x", edition="other"), {}, (), (), [])
    lines = both.archive.articles("training")
    assert [(line.story, line.place) for line in lines] == [("c", 0), ("a", 0), ("b", 1)]
    assert lines[1].headlines == {"zh": "a zh", "en": "a en"} and lines[1].claims == (a_claim(),)
    assert both.archive.days("training") == [DAY, DAY + timedelta(days=1)]
    assert both.archive.days("nobody") == [] and both.archive.articles("nobody") == ()


def test_a_blank_issue_that_gives_way_leaves_no_lines(both: Both) -> None:
    both.archive.save(an_issue_of(entries_read=0), {}, (), (), [])
    both.archive.save(an_issue_of("a"), {}, (), (), [])
    assert [line.story for line in both.archive.articles("training")] == ["a"]


def test_an_issue_is_listed_as_its_editor_wants_it_from_then_on(both: Both) -> None:
    issue = an_issue_of("a", "b", "c")
    both.archive.save(issue, {}, (), (), [])
    assert both.archive.list_as(issue, NOON + timedelta(hours=1)) is False
    assert {line.changed_at for line in both.archive.articles("training")} == {None}
    edited = reworded(an_issue_of("c", "a"), "a", "better")
    assert both.archive.list_as(edited, NOON + timedelta(hours=2)) is True
    assert both.archive.list_as(edited, NOON + timedelta(hours=3)) is True  # it went out to nobody yet
    both.archive.confirm(edited)
    assert both.archive.list_as(edited, NOON + timedelta(hours=4)) is False
    lines = both.archive.articles("training")
    assert [(line.story, line.place, line.headlines["en"], line.changed_at) for line in lines] == [
        ("c", 2, "c en", None),
        ("a", 0, "better", NOON + timedelta(hours=2)),
    ]
    (line,) = both.archive.lines("training")
    assert (line.articles, line.headlines["en"], line.changed_at) == (2, "c en", NOON + timedelta(hours=2))
    assert both.archive.issue("training", DAY) == issue


def test_an_edit_that_is_taken_back_is_a_change_too(both: Both) -> None:
    issue = an_issue_of("a")
    both.archive.save(issue, {}, (), (), [])
    edited = reworded(issue, "a", "better")
    both.archive.list_as(edited, NOON)
    both.archive.confirm(edited)
    assert both.archive.list_as(issue, NOON + timedelta(hours=1)) is True
    both.archive.confirm(issue)
    assert both.archive.list_as(issue, NOON + timedelta(hours=2)) is False
    assert both.archive.articles("training")[0].headlines["en"] == "a en"


def test_subjects_are_counted_over_all_years_and_shown_where_they_are_asked_for(both: Both) -> None:
    for issue in issues_of_years(30, 40):
        both.archive.save(issue, {}, (), (), [])
    days = both.archive.days("training")
    (gone, *_), edited = (line.story for line in both.archive.articles("training")), both.archive.newest("training", 30)
    for issue in edited:
        for section in issue.sections:
            kept = tuple(article for article in section.articles if article.pick.story.key != gone)
            both.archive.list_as(replace(issue, sections=(replace(section, articles=kept),)), NOON)
    lines, held = both.archive.articles("training"), {days[-2], days[3]}
    assert gone not in {line.story for line in lines} and len(lines) > 2 * NEWEST
    asked = set(touched(lines, {days[-1], days[-2], days[1]})) | {("topics", "unheard-of")}
    for without in ((), held):
        found = both.archive.subjects("training", asked, without)
        assert found == subjects([line for line in lines if line.day not in without], asked)
        spelled = {subject.name for subject in found if subject.key == "lora"}
        assert len(spelled) == 1 and max(subject.articles for subject in found) > NEWEST
    assert both.archive.subjects("nobody", asked) == ()


def test_articles_are_listed_since_a_day(both: Both) -> None:
    for issue in issues_of_years(12, 10):
        both.archive.save(issue, {}, (), (), [])
    since = DAY - timedelta(days=50)
    lines = both.archive.articles("training")
    assert both.archive.articles("training", since) == tuple(line for line in lines if line.day >= since) != lines


def test_why_something_was_not_printed_is_said_in_any_language_after_years(both: Both) -> None:
    issue = an_issue_of("a")
    (section,) = issue.sections
    why = Phrase("%(where)s is about %(theirs)s in the source, not %(ours)s", where="2x", theirs=("inference", "latency"), ours=("training",))
    article = replace(section.articles[0], refusals=(refusal("patterns", "zh", "scope", "训练快 2 倍", why),))
    both.archive.save(replace(issue, sections=(replace(section, articles=(article,)),)), {}, (), (), [])
    kept = both.archive.issue("training", DAY)
    assert kept is not None
    (found,) = kept.articles[0].refusals
    assert isinstance(found.reason, Phrase) and (found.reason.pattern, found.reason.values) == (why.pattern, why.values) and found.why == str(why)
