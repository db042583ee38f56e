"""Collecting like a good guest, over real sockets and a moving clock: pauses, Retry-After, moves, gone for good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import time_machine

from bench.collecting import ENTRIES, HOSTILE, feed
from digest.cli import main
from tests.conftest import ROOT
from tests.fakes import Answer, FeedServer

FEED = (ROOT / "examples" / "person.json").read_bytes()


class Guest:
    """Collects one source at given moments of a day."""

    def __init__(self, folder: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
        self._settings, self._server, self._capsys = folder / "feeds.yaml", server, capsys
        self.name("/feed")

    def name(self, path: str) -> None:
        edition = "editions: {e: {title: {zh: 甲, en: E}, topics: [training-acceleration]}}"
        sources = f'sources: [{{name: S, url: "{self._server.address}{path}"}}]'
        self._settings.write_text(f"extends: {ROOT / 'feeds.yaml'}\n{edition}\n{sources}\nfetch: {{allow: [127.0.0.1]}}\n", encoding="utf-8")

    def collect(self, clock: str) -> tuple[str, str]:
        """(state, note) of the source."""
        with time_machine.travel(f"2026-11-24T{clock}:00Z", tick=False):
            main(["collect", "--config", str(self._settings), "--json"])
        (coverage,) = json.loads(self._capsys.readouterr().out)["coverage"]
        return coverage["state"], coverage["note"]

    @property
    def asked(self) -> list[str]:
        return [path for path, _ in self._server.requests]


@pytest.fixture
def guest(tmp_path: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> Guest:
    return Guest(tmp_path, server, capsys)


def test_a_refused_source_is_left_alone_for_growing_times(guest: Guest, server: FeedServer) -> None:
    server.answers["/feed"] = Answer(status=404)
    assert guest.collect("10:00")[0] == "failed"
    assert guest.collect("10:14") == ("failed", "the server answered 404: nothing is there; check the address")
    assert len(guest.asked) == 1
    guest.collect("10:15")
    guest.collect("10:44")
    assert len(guest.asked) == 2
    server.answers["/feed"] = Answer(FEED)
    assert guest.collect("10:45")[0] == "complete"
    assert guest.collect("10:46")[0] == "quiet"


def test_retry_after_is_honoured(guest: Guest, server: FeedServer) -> None:
    server.answers["/feed"] = Answer(status=429, headers={"Retry-After": "7200"})
    guest.collect("10:00")
    guest.collect("11:59")
    assert len(guest.asked) == 1
    server.answers["/feed"] = Answer(status=503, headers={"Retry-After": "Tue, 24 Nov 2026 20:00:00 GMT"})
    guest.collect("12:00")
    guest.collect("19:59")
    assert len(guest.asked) == 2
    server.answers["/feed"] = Answer(FEED)
    assert guest.collect("20:00")[0] == "complete"


def test_a_feed_that_is_gone_is_switched_off_until_its_address_changes(guest: Guest, server: FeedServer) -> None:
    server.answers["/feed"] = Answer(status=410)
    server.answers["/new"] = Answer(FEED)
    guest.collect("10:00")
    state, note = guest.collect("23:00")
    assert (state, "410" in note, len(guest.asked)) == ("off", True, 1)
    guest.name("/new")
    assert guest.collect("23:30")[0] == "complete"


def test_a_permanent_move_is_believed_after_two_equal_answers(guest: Guest, server: FeedServer) -> None:
    server.answers |= {"/feed": Answer(status=301, headers={"Location": "/new"}), "/new": Answer(FEED, headers={"ETag": "1"})}
    guest.collect("10:00")
    guest.collect("11:00")
    guest.collect("12:00")
    assert guest.asked == ["/feed", "/new", "/feed", "/new", "/new"]


def test_a_passing_move_is_never_kept(guest: Guest, server: FeedServer) -> None:
    server.answers |= {"/feed": Answer(status=302, headers={"Location": "/new"}), "/new": Answer(FEED, headers={"ETag": "1"})}
    for clock in ("10:00", "11:00", "12:00"):
        guest.collect(clock)
    assert guest.asked == ["/feed", "/new"] * 3


def test_a_broken_feed_keeps_its_validators_back_so_nothing_is_lost(guest: Guest, server: FeedServer) -> None:
    server.answers["/feed"] = Answer(b"<html>soon</html>")
    assert guest.collect("10:00")[0] == "failed"
    guest.collect("10:20")
    assert server.statuses == {200: 2}


def test_without_a_network_there_is_no_pause(guest: Guest, server: FeedServer) -> None:
    guest.name("/feed")
    address, server.address = server.address, "http://127.0.0.1:1"
    guest.name("/feed")
    assert "no connection" in guest.collect("10:00")[1]
    server.address = address
    guest.name("/feed")
    server.answers["/feed"] = Answer(FEED)
    assert guest.collect("10:01")[0] == "complete"


def test_old_entries_with_new_ids_are_no_news(guest: Guest, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/feed"] = Answer(FEED)
    guest.collect("10:00")
    server.answers["/feed"] = Answer(FEED.replace(b'"id": "https://rao', b'"id": "urn:new:https://rao'))
    with time_machine.travel("2026-11-24T11:00:00Z", tick=False):
        main(["collect", "--config", str(guest._settings), "--json"])
    assert json.loads(capsys.readouterr().out)["counts"]["entries_new"] == 0


def collected(folder: Path, server: FeedServer, names: Sequence[str], capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    """The coverage of each source after one collect, by name."""
    folder.mkdir(exist_ok=True)
    rows = ", ".join(f'{{name: "{name}", url: "{server.address.replace("0.0.1", f"0.0.{1 + place}")}/{name}"}}' for place, name in enumerate(names))
    edition = "editions: {e: {title: {zh: 甲, en: E}, topics: [training-acceleration]}}"
    text = f"extends: {ROOT / 'feeds.yaml'}\n{edition}\nsources: [{rows}]\nfetch: {{allow: [127.0.0.0/8]}}\n"
    (folder / "feeds.yaml").write_text(text, encoding="utf-8")
    main(["collect", "--config", str(folder / "feeds.yaml"), "--json"])
    return {row["source_name"]: row for row in json.loads(capsys.readouterr().out)["coverage"]}


def test_hostile_feeds_change_nothing_for_the_others_and_a_second_poll_parses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = [f"blog-{number}" for number in range(30)]
    with FeedServer("0.0.0.0") as server:  # every address of 127/8 is a host of its own
        server.answers = {f"/{name}": Answer(feed(number)) for number, name in enumerate(good)} | {f"/{name}": Answer(make()) for name, make in HOSTILE.items()}
        alone = collected(tmp_path / "alone", server, good, capsys)
        mixed = collected(tmp_path / "mixed", server, [*HOSTILE, *good], capsys)
        assert {name: mixed[name] for name in good} == alone
        assert all(row["state"] == "complete" and row["seen"] == ENTRIES for row in alone.values())
        assert all(mixed[name]["state"] in ("failed", "degraded") for name in HOSTILE)
        server.statuses.clear()
        monkeypatch.setattr("digest.parse.syndication.parse", lambda download: pytest.fail("nothing is parsed again"))
        again = collected(tmp_path / "alone", server, good, capsys)
        assert server.statuses == {304: 30}
        assert {row["state"] for row in again.values()} == {"quiet"}


@pytest.mark.parametrize("value", ["999999999999999999", "9" * 400, "²", "Fri, 31 Dec 9999 23:59:59 -1200", "soon"])
def test_no_retry_after_ends_the_run(guest: Guest, server: FeedServer, value: str) -> None:
    server.answers["/feed"] = Answer(status=503, headers={"Retry-After": value})
    assert guest.collect("10:00")[0] == "failed"


@pytest.mark.parametrize(
    "headers", [{"Cache-Control": "max-age=60", "Age": "²"}, {"Expires": "Fri, 31 Dec 9999 23:59:59 -1200"}, {"Cache-Control": "max-age=999999999"}]
)
def test_no_cache_time_costs_the_feed(guest: Guest, server: FeedServer, headers: dict[str, str]) -> None:
    server.answers["/feed"] = Answer(FEED, headers={name: value.encode("utf-8").decode("latin-1") for name, value in headers.items()})
    assert guest.collect("10:00")[0] == "complete"


def test_a_new_address_inherits_nothing_from_the_old_one(guest: Guest, server: FeedServer) -> None:
    server.answers["/feed"] = Answer(FEED, headers={"Last-Modified": "once"})
    guest.collect("10:00")
    guest.name("/new")
    guest.collect("11:00")
    server.answers["/new"] = Answer(FEED.replace(b"Rao", b"Roa"))
    guest.collect("11:20")
    assert "if-none-match" not in server.requests[-1][1] and "if-modified-since" not in server.requests[-1][1]


def test_a_move_that_leads_to_nothing_is_taken_back(guest: Guest, server: FeedServer) -> None:
    server.answers |= {"/feed": Answer(status=301, headers={"Location": "/moved"}), "/moved": Answer(FEED, headers={"ETag": "1"})}
    guest.collect("09:00")
    guest.collect("10:00")
    server.answers |= {"/feed": Answer(FEED, headers={"ETag": "2"}), "/moved": Answer(status=410)}
    assert guest.collect("11:00")[0] == "failed"
    assert guest.collect("12:00")[0] in ("complete", "quiet")
    assert guest.asked[-2:] == ["/moved", "/feed"]


def test_an_answer_that_nothing_changed_since_nothing_is_an_error(guest: Guest, server: FeedServer) -> None:
    server.answers["/feed"] = Answer(status=304)
    state, note = guest.collect("10:00")
    assert (state, "304" in note) == ("failed", True)


def test_a_feed_that_is_gone_is_off_in_every_issue(guest: Guest, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/feed"] = Answer(status=410)
    assert guest.collect("10:00")[0] == "off"
    for day in ("2026-11-24", "2026-11-25"):
        with time_machine.travel(f"{day}T11:00:00Z", tick=False):
            main(["run", "--config", str(guest._settings), "--json"])
        (coverage,) = json.loads(capsys.readouterr().out)["coverage"]
        assert (coverage["state"], coverage["reason"]) == ("off", "gone")


def test_a_source_that_is_not_due_stands_as_it_stood(guest: Guest, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/feed"] = Answer(status=404)
    with time_machine.travel("2026-11-24T10:00:00Z", tick=False):
        main(["collect", "--due", "--config", str(guest._settings), "--json"])
        main(["make", "--config", str(guest._settings), "--json"])
    capsys.readouterr()
    with time_machine.travel("2026-11-25T10:00:00Z", tick=False):
        main(["make", "--config", str(guest._settings), "--json"])
    (coverage,) = json.loads(capsys.readouterr().out)["coverage"]
    assert (coverage["state"], coverage["reason"]) == ("failed", "missing")
