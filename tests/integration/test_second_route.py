"""arXiv by two routes, on a loopback server that plays its feed and its API: counts, late feeds, missed days, stale batches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine

from digest.cli import main
from tests.conftest import ROOT
from tests.fakes import Answer, FeedServer


def rss(ids: Sequence[str], kind: str, date: str) -> bytes:
    items = "".join(
        f"<item><title>Paper {name}</title><link>https://arxiv.org/abs/{name}</link>"
        f"<description>arXiv:{name}v1 Announce Type: {kind} \nAbstract: Text of {name}.</description>"
        f"<guid isPermaLink='false'>oai:arXiv.org:{name}v1</guid><arxiv:announce_type>{kind}</arxiv:announce_type></item>"
        for name in ids
    )
    return f"<rss version='2.0' xmlns:arxiv='http://arxiv.org/schemas/atom'><channel><title>cs.LG updates on arXiv.org</title><pubDate>{date}</pubDate>{items}</channel></rss>".encode()


class Arxiv:
    """A feed and an API; ``papers`` are what the API lists for the hours of submission of a batch, by the first of them."""

    def __init__(self, folder: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
        self._settings, self._server, self._capsys = folder / "feeds.yaml", server, capsys
        self.papers: dict[str, list[str]] = {}
        edition = "editions: {e: {title: {zh: 甲, en: E}, topics: [training-acceleration]}}"
        source = f'sources: [{{name: LG, kind: arxiv, url: "{server.address}/rss/cs.LG"}}]'
        fetch = f"fetch: {{allow: [127.0.0.1], arxiv_api: '{server.address}/api/query'}}"
        self._settings.write_text(f"extends: {ROOT / 'feeds.yaml'}\n{edition}\n{source}\n{fetch}\n", encoding="utf-8")
        server.answers["/api/query"] = lambda: self._answer(server.requests[-1][0])

    def _answer(self, path: str) -> Answer:
        query = parse_qs(urlsplit(path).query)
        begin = query["search_query"][0].partition("[")[2][:12]
        listed = self.papers.get(begin, [])
        start, limit = int(query["start"][0]), int(query["max_results"][0])
        entries = "".join(
            f"<entry><id>http://arxiv.org/abs/{name}v1</id><title>Paper {name}</title><summary>Text of {name}.</summary>"
            f"<link href='https://arxiv.org/abs/{name}v1' rel='alternate'/><published>2026-11-20T18:00:00Z</published>"
            f"<arxiv:primary_category term='{'cs.LG' if name[-1] != '9' else 'stat.ML'}'/></entry>"
            for name in listed[start : start + limit]
        )
        names = "xmlns='http://www.w3.org/2005/Atom' xmlns:arxiv='http://arxiv.org/schemas/atom' xmlns:opensearch='http://a9.com/-/spec/opensearch/1.1/'"
        head = f"<id>x</id><title>arXiv Query</title><opensearch:totalResults>{len(listed)}</opensearch:totalResults>"
        return Answer(f"<feed {names}>{head}{entries}</feed>".encode())

    def feed(self, *ids: str, kind: str = "new", date: str = "") -> None:
        self._server.answers["/rss/cs.LG"] = Answer(rss(ids, kind, date))

    def collect(self, clock: str) -> dict[str, object]:
        with time_machine.travel(f"{clock}:00Z", tick=False):
            main(["collect", "--config", str(self._settings), "--json"])
        report: dict[str, object] = json.loads(self._capsys.readouterr().out)
        return report

    @property
    def asked(self) -> list[str]:
        return [parse_qs(urlsplit(path).query)["max_results"][0] for path, _ in self._server.requests if path.startswith("/api")]


@pytest.fixture
def arxiv(tmp_path: Path, server: FeedServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Arxiv:
    monkeypatch.setattr("digest.fetch.web._host", lambda url: urlsplit(url).hostname)
    return Arxiv(tmp_path, server, capsys)


def state(report: dict[str, object]) -> tuple[str, str]:
    (coverage,) = report["coverage"]  # type: ignore[misc]
    return coverage["state"], coverage["note"]


def new(report: dict[str, object]) -> int:
    return report["counts"]["entries_new"]  # type: ignore[index,no-any-return]


TUESDAY, WEDNESDAY = "202611201900", "202611231900"  # where the hours of submission of a batch begin, in UTC


def test_a_whole_batch_is_confirmed_by_one_count_a_day(arxiv: Arxiv) -> None:
    arxiv.papers[TUESDAY] = ["2611.00001", "2611.00002"]
    arxiv.feed("2611.00001", "2611.00002", "2611.00003")
    assert state(arxiv.collect("2026-11-24T06:00")) == ("complete", "")
    arxiv.collect("2026-11-24T07:00")
    assert arxiv.asked == ["1"]


def test_what_the_feed_lacked_is_taken_in_and_said(arxiv: Arxiv) -> None:
    arxiv.papers[TUESDAY] = [f"2611.0000{number}" for number in range(1, 9)]
    arxiv.feed("2611.00001", "2611.00002")
    report = arxiv.collect("2026-11-24T06:00")
    assert new(report) == 8
    assert state(report) == ("degraded", "on 2026-11-24 the feed had 2 papers, arXiv's API knows 8; 6 were taken from there")
    assert new(arxiv.collect("2026-11-24T07:00")) == 0


def test_a_late_feed_is_waited_for_and_then_replaced_by_the_api(arxiv: Arxiv) -> None:
    arxiv.feed("2611.00001")
    arxiv.papers = {TUESDAY: ["2611.00001"], WEDNESDAY: ["2611.00005", "2611.00009"]}
    arxiv.collect("2026-11-24T06:00")
    assert state(arxiv.collect("2026-11-25T05:15"))[0] == "waiting"
    arxiv.feed("2611.00001", date="Wed, 25 Nov 2026 00:00:00 -0500")
    assert state(arxiv.collect("2026-11-25T05:30"))[0] == "stale"
    report = arxiv.collect("2026-11-25T09:00")
    assert (state(report)[0], new(report)) == ("degraded", 2)
    assert "did not bring the batch of 2026-11-25" in state(report)[1]
    arxiv.feed("2611.00005", "2611.00009")
    assert (state(arxiv.collect("2026-11-25T11:00")), new(report)) == (("complete", ""), 2)


def test_a_missed_day_is_made_up(arxiv: Arxiv) -> None:
    arxiv.feed("2611.00001")
    arxiv.papers = {TUESDAY: ["2611.00001"], WEDNESDAY: ["2611.00004", "2611.00005"]}
    arxiv.collect("2026-11-24T06:00")
    arxiv.feed("2611.00099")
    report = arxiv.collect("2026-11-27T06:00")  # nothing ran on Wednesday, Thursday is Thanksgiving
    assert (state(report)[0], new(report)) == ("complete", 3)
    assert "did not bring the batch of 2026-11-25" in state(report)[1]


def test_yesterday_s_batch_that_was_missed_is_not_taken_for_today_s(arxiv: Arxiv) -> None:
    """On Wednesday the feed still holds Tuesday's batch, which nobody has read: new keys, but ids from before Wednesday's first."""
    arxiv.papers = {TUESDAY: ["2611.00001", "2611.00002"], WEDNESDAY: ["2611.00005", "2611.00006"]}
    arxiv.feed("2611.00001", "2611.00002")
    report = arxiv.collect("2026-11-25T06:00")
    assert new(report) == 4


def test_replacements_are_no_papers_of_the_batch_and_no_news(arxiv: Arxiv) -> None:
    arxiv.papers[TUESDAY] = ["2611.00001"]
    arxiv.feed("2611.00001", kind="replace")
    assert state(arxiv.collect("2026-11-24T06:00"))[0] == "complete"
    assert arxiv.asked == []


def test_an_api_that_fails_costs_a_warning_and_is_asked_again_later(arxiv: Arxiv, server: FeedServer) -> None:
    arxiv.feed("2611.00001")
    listing, server.answers["/api/query"] = server.answers["/api/query"], Answer(status=429)
    report = arxiv.collect("2026-11-24T06:00")
    assert state(report) == ("complete", "")
    assert "arXiv's API on the batch of 2026-11-24" in report["warnings"][0]["message"]  # type: ignore[index]
    server.answers["/api/query"] = listing
    arxiv.papers[TUESDAY] = ["2611.00001", "2611.00002"]
    assert new(arxiv.collect("2026-11-24T09:00")) == 1


def test_a_stale_feed_and_a_lagging_api_lose_nothing(arxiv: Arxiv) -> None:
    """Nobody has read Tuesday's batch, which the feed still holds on Wednesday, and the API does not know Wednesday's yet."""
    arxiv.papers[TUESDAY] = ["2611.00001"]
    arxiv.feed("2611.00001")
    arxiv.collect("2026-11-25T05:10")
    arxiv.feed("2611.00005", "2611.00006")
    arxiv.papers[WEDNESDAY] = ["2611.00005", "2611.00006"]
    assert new(arxiv.collect("2026-11-25T08:00")) == 2


def test_one_paper_that_nobody_saw_makes_no_new_batch(arxiv: Arxiv) -> None:
    arxiv.papers = {TUESDAY: ["2611.00001", "2611.00002"], WEDNESDAY: []}
    arxiv.feed("2611.00001", "2611.00002")
    arxiv.collect("2026-11-24T06:00")
    arxiv.feed("2611.00001", "2611.00002", "2611.00003")
    assert state(arxiv.collect("2026-11-25T05:10"))[0] == "stale"
    arxiv.feed("2611.00005")
    report = arxiv.collect("2026-11-25T06:10")
    assert (state(report)[0], new(report)) == ("complete", 1)


def test_papers_of_a_missed_day_are_not_today_s_batch(arxiv: Arxiv) -> None:
    arxiv.papers = {"202611191900": ["2611.00000"], TUESDAY: ["2611.00001"]}
    arxiv.feed("2611.00000")
    arxiv.collect("2026-11-23T06:00")
    assert new(arxiv.collect("2026-11-25T05:10")) == 1  # Tuesday's, from the API
    assert state(arxiv.collect("2026-11-25T05:30"))[0] == "waiting"
    arxiv.feed("2611.00005")
    assert new(arxiv.collect("2026-11-25T06:30")) == 1


def test_after_more_than_a_week_the_last_one_is_made_up(arxiv: Arxiv) -> None:
    arxiv.papers = {"202611121900": ["2611.00000"], "202611191900": ["2611.00003"], TUESDAY: ["2611.00004"]}
    arxiv.feed("2611.00000")
    arxiv.collect("2026-11-16T06:00")
    arxiv.feed("2611.00004")
    assert new(arxiv.collect("2026-11-24T06:00")) == 2  # Tuesday's from the feed, Monday's from the API


def test_the_api_is_left_alone_when_it_asks_for_it(arxiv: Arxiv, server: FeedServer) -> None:
    arxiv.feed("2611.00001")
    server.answers["/api/query"] = Answer(status=429, headers={"Retry-After": "7200"})
    for clock in ("06:00", "06:05", "07:59", "08:01"):
        arxiv.collect(f"2026-11-24T{clock}")
    assert len(arxiv.asked) == 2


def test_a_failure_keeps_its_words_when_the_api_steps_in(arxiv: Arxiv, server: FeedServer) -> None:
    arxiv.papers = {TUESDAY: ["2611.00001"], WEDNESDAY: ["2611.00005"]}
    arxiv.feed("2611.00001")
    arxiv.collect("2026-11-24T06:00")
    server.answers["/rss/cs.LG"] = Answer(status=404)
    report = arxiv.collect("2026-11-25T09:00")
    assert state(report)[0] == "degraded" and "404" in state(report)[1]
    assert "404" in arxiv.collect("2026-11-25T09:05")["problems"][0]["message"]  # type: ignore[index]
