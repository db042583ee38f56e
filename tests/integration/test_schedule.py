"""Left alone for days: killed, switched off, started twice, with broken settings; each day is made once and nobody is told twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from digest import alerts
from digest.acts import WORK, Newsroom, at_work, opened
from digest.cli import acts, main
from digest.errors import BusyError
from digest.machine import here, is_gone
from digest.model import Issue, Run
from digest.schedule import Schedule, _Patience, plan_of
from digest.settings.load import load
from digest.store.archive import SqlArchive
from digest.store.database import open_database
from digest.store.ledger import SqlLedger
from digest.store.office import LEASE, SqlOffice
from digest.store.pruning import prune
from tests import clockwork
from tests.builders import NOON
from tests.clockwork import Clock, play
from tests.conftest import ROOT, emptied
from tests.mail_server import MailServer

START = datetime(2026, 11, 24, 0, 0, tzinfo=UTC)  # 08:00 in Shanghai


@dataclass
class House:
    """A working folder of the demo, a clock, and a look into what was done."""

    folder: Path
    clock: Clock

    @property
    def path(self) -> Path:
        return self.folder / "examples" / "feeds.yaml"

    def set(self, old: str, new: str) -> None:
        text_ = self.path.read_text(encoding="utf-8")
        assert old in text_
        self.path.write_text(text_.replace(old, new, 1), encoding="utf-8")
        stamp = time.time() + random.random()
        os.utime(self.path, (stamp, stamp))

    def tick(self, schedule: Schedule, **passed: float) -> None:
        self.clock.now += timedelta(**passed)
        asyncio.run(schedule.tick())

    def issues(self) -> list[Issue]:
        with opened(load(self.path)) as engine:
            archive = SqlArchive(engine)
            return [issue for day in archive.days("demo") if (issue := archive.issue("demo", day))]

    def days(self) -> list[int]:
        return [issue.day.day for issue in self.issues()]

    def site(self) -> dict[str, bytes]:
        out = self.folder / "out" / "demo"
        return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file() and "pagefind" not in path.parts}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    return a_house(tmp_path, monkeypatch)


def a_house(folder: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    folder.mkdir(exist_ok=True)
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "feeds.yaml", folder)
    path = folder / "examples" / "feeds.yaml"
    path.write_text(re.sub(r"    mail: .*\n", "    cards: false\n    search: false\n", path.read_text(encoding="utf-8")), encoding="utf-8")
    monkeypatch.setenv("MAIL_KEY", "k" * 40)
    return House(folder, Clock(START))


def test_a_day_is_made_at_its_hour_delivered_and_only_once(house: House) -> None:
    schedule = Schedule(house.path, house.clock)
    house.tick(schedule)
    assert house.days() == []
    house.tick(schedule, minutes=31)
    assert house.days() == [24] and (house.folder / "out/demo/2026/11/24/zh.html").is_file()
    before = house.site()
    house.tick(schedule, minutes=5)
    house.tick(Schedule(house.path, house.clock), minutes=5)  # started anew
    assert house.days() == [24] and house.site() == before
    acts = [run.act for run in _runs(house)]
    assert (acts.count("make"), acts.count("deliver")) == (1, 1)


def _runs(house: House) -> list[Run]:
    with opened(load(house.path)) as engine:
        return SqlOffice(engine, is_gone).last("demo", 100)


def test_a_late_arxiv_is_awaited_and_not_for_ever(house: House) -> None:
    schedule = Schedule(house.path, house.clock)
    house.tick(schedule, minutes=31)
    house.tick(schedule, days=1)  # its feed still carries yesterday's batch
    assert house.days() == [24]
    house.tick(schedule, hours=5)
    assert house.days() == [24, 25]


def test_missed_days_are_made_in_order_and_marked_as_late(house: House) -> None:
    house.tick(Schedule(house.path, house.clock), minutes=31)
    house.tick(Schedule(house.path, house.clock), days=3, hours=6)
    assert [(issue.day.day, issue.is_late) for issue in house.issues()] == [(24, False), (25, True), (26, True), (27, False)]
    page = (house.folder / "out/demo/2026/11/25/zh.html").read_text(encoding="utf-8")
    assert "本期补发" in page and "本期补发" not in (house.folder / "out/demo/2026/11/27/zh.html").read_text(encoding="utf-8")


def test_what_was_made_and_not_delivered_goes_out_after_a_restart(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    async def dies(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Newsroom, "deliver", dies)
        with pytest.raises(KeyboardInterrupt):
            house.tick(Schedule(house.path, house.clock), minutes=31)
    assert house.days() == [24] and not (house.folder / "out/demo/2026/11/24/zh.html").exists()
    house.tick(Schedule(house.path, house.clock), minutes=1)
    assert (house.folder / "out/demo/2026/11/24/zh.html").is_file()


def test_what_fails_is_tried_again_after_a_growing_pause(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule, tried = Schedule(house.path, house.clock), []

    async def fails(self: Newsroom, *arguments: Any, **named: Any) -> None:
        tried.append(house.clock.now)
        raise RuntimeError("a bug")

    monkeypatch.setattr(Newsroom, "make", fails)
    house.tick(schedule, minutes=31)
    for _ in range(40):
        house.tick(schedule, minutes=1)
    pauses = [int((later - earlier).total_seconds() / 60) for earlier, later in pairwise(tried)]
    assert pauses == [2, 4, 8, 16]
    run = next(run for run in _runs(house) if run.act == "make")
    assert run.problems == 1 and run.report["problems"][0]["is_bug"]  # type: ignore[index]


def test_while_the_database_is_away_nothing_is_lost(house: House) -> None:
    schedule, state = Schedule(house.path, house.clock), house.folder / "state"
    house.tick(schedule)
    state.rename(house.folder / "away")
    state.write_text("in the way", encoding="utf-8")
    house.tick(schedule, minutes=31)
    assert not (house.folder / "out/demo/2026").exists()
    state.unlink()
    (house.folder / "away").rename(state)
    house.tick(schedule, minutes=3)
    assert house.days() == [24]


def test_however_often_it_fails_it_is_tried_again_every_half_hour() -> None:
    patience = _Patience()
    for _ in range(60):
        patience.failed(START)
    assert patience.again_at == START + timedelta(minutes=30)


def test_a_dead_channel_keeps_no_later_day_from_its_readers(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_TEAM", "json://127.0.0.1:1/dead")
    house.set("    cards: false\n", "    cards: false\n    chat: [{name: team, address: CHAT_TEAM}]\n")
    schedule = Schedule(house.path, house.clock)
    house.tick(schedule, minutes=31)
    house.tick(schedule, minutes=5)
    house.tick(schedule, days=1, hours=5)
    house.tick(schedule, minutes=1)
    assert (house.folder / "out/demo/2026/11/25/zh.html").is_file()


def test_a_delivery_that_was_cut_off_after_the_site_is_taken_up_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = Schedule(house.path, house.clock)
    house.tick(schedule, minutes=31)
    with opened(load(house.path)) as engine, engine.begin() as connection:
        connection.execute(text("DELETE FROM runs WHERE act = 'deliver'"))  # as a kill between the site and the rest leaves it
    house.tick(schedule, minutes=5)
    assert [run.act for run in _runs(house)].count("deliver") == 1


def test_a_clock_that_was_far_ahead_stops_nothing_and_is_told(house: House) -> None:
    schedule = Schedule(house.path, house.clock)
    house.tick(schedule, minutes=31)
    house.clock.now += timedelta(days=1000)
    house.tick(schedule)
    house.clock.now -= timedelta(days=999) - timedelta(hours=5)
    house.tick(schedule)
    assert {24, 25} <= {issue.day.day for issue in house.issues() if issue.day.year == 2026}
    with opened(load(house.path)) as engine:
        assert "demo:ahead" in [alert.key for alert in SqlOffice(engine, is_gone).standing()]


def test_wrong_edits_of_a_day_keep_no_other_day_and_no_alert_back(house: House) -> None:
    house.set("    cards: false\n", "    schedule: {approval: send, approve_until: '08:30'}\n    cards: false\n")
    edits = house.folder / "examples" / "edits"
    edits.mkdir()
    (edits / "2026-11-24.yaml").write_text("approvd: true\n", encoding="utf-8")
    schedule = Schedule(house.path, house.clock)
    house.tick(schedule, minutes=31)
    with opened(load(house.path)) as engine:
        assert "demo:edits:2026-11-24" in [alert.key for alert in SqlOffice(engine, is_gone).standing()]
    assert not (house.folder / "out/demo/2026/11/24").exists()
    (edits / "2026-11-24.yaml").unlink()
    house.tick(schedule, minutes=5)
    assert (house.folder / "out/demo/2026/11/24/zh.html").is_file()


def test_when_one_way_to_the_owner_is_dead_the_other_is_used_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALERTS", "json://127.0.0.1:1/dead")
    with MailServer() as server:
        mail = f"    mail: {{sender: d@example.org, links: 'https://m.example.org', automatic: false, host: 127.0.0.1, port: {server.port}, security: none}}\n    cards: false\n"
        house.set("    cards: false\n", mail)
        house.path.write_text(house.path.read_text(encoding="utf-8") + "\nalerts: {mail: owner@example.com, chat: ALERTS}\n", encoding="utf-8")
        schedule = Schedule(house.path, house.clock)
        for _ in range(30):
            house.tick(schedule, hours=1)
        assert server.times["owner@example.com"] == 1


def test_what_an_editor_leaves_beside_a_template_is_no_template(house: House) -> None:
    own = house.folder / "examples" / "templates" / "web"
    own.mkdir(parents=True)
    (own / ".#style.css").symlink_to("nobody@nowhere.1:2")
    (own / "style.css~").write_bytes(b"\xff")
    schedule = Schedule(house.path, house.clock)
    house.set("训练加速日报（演示）", "新名字")
    assert schedule.in_force.refresh() and schedule.in_force.complaint == ""
    assert schedule.in_force.loaded.settings.editions["demo"].title["zh"] == "新名字"


def test_changed_settings_are_applied_and_wrong_ones_refused_while_the_last_good_ones_stay(house: House) -> None:
    schedule = Schedule(house.path, house.clock)
    house.set("Asia/Shanghai", "Nowhere/Land")
    house.tick(schedule, minutes=31)
    assert "not a time zone" in schedule.in_force.complaint and (house.folder / "out/demo/2026/11/24/zh.html").is_file()
    house.set("Nowhere/Land", "Asia/Shanghai")
    house.set("训练加速日报（演示）", "新名字")
    house.tick(schedule, days=1, hours=5)
    assert schedule.in_force.complaint == "" and house.issues()[-1].title["zh"] == "新名字"


def test_a_broken_template_is_refused_and_the_last_good_one_stays_in_force(house: House) -> None:
    own = house.folder / "examples" / "templates" / "web"
    own.mkdir(parents=True)
    page = (ROOT / "templates" / "web" / "issue.html").read_text(encoding="utf-8").replace("</main>", "<p>MINE</p></main>")
    (own / "issue.html").write_text(page, encoding="utf-8")
    schedule = Schedule(house.path, house.clock)
    (own / "issue.html").write_text("{% if %}", encoding="utf-8")
    house.tick(schedule, minutes=31)
    assert "issue.html:1" in schedule.in_force.complaint
    assert "MINE" in (house.folder / "out/demo/2026/11/24/zh.html").read_text(encoding="utf-8")


def test_an_editors_change_goes_out_by_itself(house: House) -> None:
    schedule = Schedule(house.path, house.clock)
    house.clock.now = datetime.now(UTC).replace(hour=1, minute=0) - timedelta(days=1)
    house.tick(schedule)
    day = house.issues()[0].day
    notes = house.folder / "examples" / "notes"
    notes.mkdir()
    (notes / f"{day}.zh.md").write_text("大家好", encoding="utf-8")
    house.tick(schedule, minutes=1)
    assert "大家好" in (house.folder / f"out/demo/{day:%Y/%m/%d}/zh.html").read_text(encoding="utf-8")


def test_the_newsletter_goes_out_with_its_day_and_missed_days_are_not_mailed(house: House) -> None:
    with MailServer() as server:
        mail = f"    mail: {{sender: d@example.org, links: 'https://m.example.org', host: 127.0.0.1, port: {server.port}, security: none}}\n    cards: false\n"
        house.set("    cards: false\n", mail)
        assert main(["subscribers", "add", "r@example.com", "--consent", "x", "--config", str(house.path)]) == 0
        house.tick(Schedule(house.path, house.clock), minutes=31)
        assert server.times["r@example.com"] == 1
        house.tick(Schedule(house.path, house.clock), minutes=10)
        assert server.times["r@example.com"] == 1
        house.tick(Schedule(house.path, house.clock), days=3, hours=6)  # of the missed days only the newest is mailed
        assert server.times["r@example.com"] == 2
        with opened(load(house.path)) as engine:
            assert SqlLedger(engine).under_way() == []


# Locks, reports, alerts.


@pytest.fixture(params=["sqlite", "postgresql"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlOffice]:
    address = f"sqlite:///{tmp_path}/d.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgresql")
    engine = open_database(address)
    yield SqlOffice(engine, lambda name: name == "dead:1")
    if request.param == "postgresql":
        emptied(engine)
    engine.dispose()


def test_a_lock_is_held_by_one_until_it_is_given_back_or_its_holder_is_gone(office: SqlOffice) -> None:
    assert office.take("x", "one", NOON) is None and office.take("x", "one", NOON) is None
    assert office.take("x", "two", NOON + timedelta(minutes=1)) == ("one", NOON)
    assert office.holder("x", NOON) == "one" and office.holder("y", NOON) == ""
    office.give_back("x", "two")
    assert office.take("x", "two", NOON) is not None
    office.give_back("x", "one")
    assert office.take("x", "dead:1", NOON) is None and office.holder("x", NOON) == ""
    assert office.take("x", "two", NOON) is None
    assert office.take("x", "three", NOON + LEASE + timedelta(seconds=1)) is None  # its machine went away
    assert office.take("x", "four", NOON - timedelta(days=1)) is None  # the clock was ahead


def test_alerts_are_new_once_and_again_after_they_were_well(office: SqlOffice) -> None:
    def look(*keys: str) -> list[str]:
        return [alert.key for alert in office.stand(dict.fromkeys(keys, "words"), NOON, within=("a:",))]

    assert look("a:1") == ["a:1"] and look("a:1") == ["a:1"]  # not told yet
    office.told(["a:1"], NOON)
    assert look("a:1") == [] and look("a:1", "a:2") == ["a:2"]
    assert look() == [] and office.standing() == []
    assert look("a:1") == ["a:1"]
    assert office.stand({}, NOON, within=("b:",)) and [alert.key for alert in office.standing()] == ["a:1"]  # another edition's


def test_the_last_run_of_each_act_and_day_is_found(office: SqlOffice) -> None:
    for number, act in enumerate(["collect", "make", "deliver", "deliver"]):
        office.note(Run(edition="e", act=act, day=NOON.date(), began_at=NOON + timedelta(minutes=number), ended_at=NOON, problems=number, report={"n": number}))
    assert {act: run.problems for act, run in office.last_of_each("e").items()} == {"collect": 0, "make": 1, "deliver": 3}
    found = office.last_of_day("e", ("deliver", "run"), NOON.date())
    assert found and found.report == {"n": 3} and [run.act for run in office.last("e", 2)] == ["deliver", "deliver"]
    assert office.last_of_day("other", ("deliver",), NOON.date()) is None


def test_two_commands_never_work_at_once(house: House, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acts, "PATIENCE", timedelta(seconds=1))
    loaded = load(house.path)
    with opened(loaded) as engine:
        assert SqlOffice(engine, is_gone).take(WORK, "another-machine:7", datetime.now(UTC)) is None
    assert main(["run", "--config", str(house.path), "--date", "2026-11-24"]) == 1
    assert "another-machine:7 has been at work since" in capsys.readouterr().err
    with opened(loaded) as engine:
        SqlOffice(engine, is_gone).give_back(WORK, "another-machine:7")
    with at_work(loaded), pytest.raises(BusyError), opened(loaded) as engine:
        office = SqlOffice(engine, lambda name: False)
        assert office.holder(WORK, datetime.now(UTC)) == here()
        raise BusyError


def test_an_owner_is_told_of_trouble_once_with_the_remedy(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    with MailServer() as server:
        server.keeps_raw = True
        mail = f"    mail: {{sender: d@example.org, links: 'https://m.example.org', automatic: false, host: 127.0.0.1, port: {server.port}, security: none}}\n    cards: false\n"
        house.set("    cards: false\n", mail)
        house.path.write_text(house.path.read_text(encoding="utf-8") + "\nalerts: {mail: owner@example.com, language: en}\n", encoding="utf-8")
        schedule = Schedule(house.path, house.clock)
        for _ in range(30):
            house.tick(schedule, hours=1)
        assert server.times == {"owner@example.com": 1}
        assert "Moved Away could not be read so far. `digest feeds check` says why." in _words(server.raw[0])
        house.set("Asia/Shanghai", "Nowhere/Land")
        house.tick(schedule, minutes=11)
        house.tick(schedule, minutes=11)
        assert server.times == {"owner@example.com": 2} and "the last good one stays in force" in _words(server.raw[1])


def _words(raw: bytes) -> str:
    import email
    from email import policy

    message = email.message_from_bytes(raw, policy=policy.default)
    return str(message["Subject"]) + str(message.get_body(("plain",)).get_content())  # type: ignore[union-attr]


def test_a_promise_about_to_be_broken_is_an_alert(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(house.path)
    desk = Newsroom(loaded=loaded, name="demo", edition=loaded.settings.editions["demo"], clock=house.clock)
    house.clock.now = START + timedelta(hours=6)
    asyncio.run(alerts.tell(desk, "", house.clock.now, plan_of(desk.edition)))
    with opened(loaded) as engine:
        found = SqlOffice(engine, is_gone).standing()
    assert [alert.key for alert in found] == ["demo:day:2026-11-24"] and "13:30" in found[0].message


# Years.


def test_old_things_are_forgotten_and_what_readers_saw_stays(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.tick(Schedule(house.path, house.clock), minutes=31)
    site = house.site()
    with opened(load(house.path)) as engine:
        later = START + timedelta(days=500)
        dry = prune(engine, {"entries": later, "runs": later, "mails": later, "answers": later}, is_dry=True)
        assert dry["entries"] > 0 and dry["polls"] > 0 and dry == prune(engine, {"entries": later, "runs": later, "mails": later, "answers": later})
        assert set(prune(engine, {"entries": later, "runs": later}).values()) == {0}
        with engine.connect() as connection:
            told = connection.execute(text("SELECT count(*) FROM entries WHERE text != ''")).scalar_one()
            assert (
                told
                == connection.execute(
                    text("SELECT count(DISTINCT entry_key) FROM decisions JOIN entries ON key = entry_key WHERE is_in AND text != ''")
                ).scalar_one()
            )
    house.tick(Schedule(house.path, house.clock), hours=2)
    assert house.days() == [24] and house.site() == site
    assert main(["prune", "--dry-run", "--config", str(house.path)]) == 0 and "runs" in capsys.readouterr().out


@pytest.mark.slow
def test_a_schedule_killed_at_any_moment_ends_like_one_that_was_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed, killed = (a_house(tmp_path / name, monkeypatch) for name in ("calm", "killed"))
    until, step = START + timedelta(weeks=2), timedelta(hours=12)
    asyncio.run(play(undisturbed.path, START, until, step))
    command = clockwork.command(killed.path, START, until, step)
    chance, kills = random.Random(11), 5 if "KILLS" not in os.environ else 12
    for _ in range(kills):
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
            time.sleep(chance.uniform(0.6, 2.5))
            process.kill()
    subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL, check=True)
    assert killed.days() == undisturbed.days() and len(killed.days()) >= 14
    assert {issue.day: issue for issue in killed.issues()} == {issue.day: issue for issue in undisturbed.issues()}
    assert killed.site() == undisturbed.site()


# As its user starts it.


def started(house: House, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "digest", *arguments, "--config", str(house.path)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"STATUS_KEY": "open sesame"})


def answer(address: str, key: str = "") -> tuple[int, str]:
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {key}"} if key else {})
    for _ in range(600):
        try:
            with urllib.request.urlopen(request, timeout=5) as found:
                return found.status, found.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, ""
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError("nobody answers")


def test_serve_does_the_job_tells_how_it_is_and_ends_when_asked(house: House) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    house.path.write_text(house.path.read_text(encoding="utf-8") + f"\nserve: {{port: {port}, key: STATUS_KEY}}\n", encoding="utf-8")
    address = f"http://127.0.0.1:{port}"
    with started(house, "serve") as process:
        assert answer(f"{address}/healthz") == (200, "ok\n")
        assert answer(f"{address}/status")[0] == 401 and answer(f"{address}/metrics", "wrong")[0] == 401
        for _ in range(600):
            status, page = answer(f"{address}/status?lang=en", "open sesame")
            if "Moved Away" in page and "a web page, not a feed" in page:
                break
            time.sleep(0.1)
        assert status == 200 and "a web page, not a feed" in page
        assert 'digest_sources{edition="demo",state="failed"} 1.0' in answer(f"{address}/metrics", "open sesame")[1]
        with started(house, "schedule") as second:
            assert second.wait(60) == 1 and "has been at work since" in second.communicate()[1]
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0 and time.monotonic() - began < 20
        said = process.communicate()[1].splitlines()
        assert [line for line in said if not line.startswith("{")] == []  # JSON where nobody watches
        lines = [json.loads(line) for line in said]
        assert any("Moved Away" in line["message"] for line in lines)


def test_a_port_that_is_taken_is_said_before_any_work(house: House) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with started(house, "serve", "--port", str(taken.getsockname()[1])) as process:
            said = process.communicate(timeout=60)[1]
        assert process.returncode == 2 and "cannot be used" in said and "--port" in said and not list((house.path.parent.parent / "out").rglob("*.html"))
    with started(house, "serve", "--port", "99999") as process:
        assert "must lie between 1 and 65535" in process.communicate(timeout=60)[1] and process.returncode == 2


def test_schedule_shows_the_coming_days(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule", "--show", "--config", str(house.path)]) == 0
    said = capsys.readouterr().out
    assert "Asia/Shanghai" in said and "arXiv" in said and said.count("the issue of the day") >= 7
    assert main(["schedule", "--show", "--json", "--config", str(house.path)]) == 0
    assert {"make"} <= {each["what"] for each in json.loads(capsys.readouterr().out)}
