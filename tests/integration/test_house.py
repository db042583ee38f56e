"""Where it lives and what it keeps: copies, moves between databases, the doctor, and the files that let it run by itself."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from sqlalchemy import select, text

from digest.acts import opened
from digest.cli import COMMANDS, main
from digest.cli.init import PLACES
from digest.settings.load import load
from digest.store.database import open_database
from digest.store.tables import metadata
from tests.conftest import DAY, ROOT, emptied
from tests.mail_server import MailServer

DEPLOY = ROOT / "deploy"


@pytest.fixture
def house(made_demo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo with an issue, a reader and a sent mail; its settings."""
    monkeypatch.setenv("MAIL_KEY", "k" * 40)
    assert main(["subscribers", "add", "r@example.com", "--consent", "x", "--config", str(made_demo)]) == 0
    assert main(["send", "--spool", str(made_demo.parent / "spool"), "--record", "--date", DAY, "--config", str(made_demo)]) == 0
    return made_demo


def everything(address: str) -> dict[str, list[Any]]:
    engine = open_database(address)
    try:
        with engine.connect() as connection:
            return {table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr) for table in metadata.sorted_tables}
    finally:
        engine.dispose()


def address_of(path: Path) -> str:
    return f"sqlite:///{path.parent.parent}/state/demo.sqlite3"


def test_a_copy_is_whole_while_others_write_and_can_be_put_back(house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy, before = tmp_path / "copy.sqlite3", everything(address_of(house))
    is_done = threading.Event()

    def write() -> None:
        engine = open_database(address_of(house))
        number = 0
        while not is_done.is_set():
            number += 1
            with engine.begin() as connection:
                connection.execute(text("INSERT INTO answers (key, model, answer) VALUES (:key, 'm', 'a')"), {"key": f"k{number}"})
        engine.dispose()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert main(["backup", str(copy), "--config", str(house)]) == 0
    finally:
        is_done.set()
        writer.join()
    assert {name: rows for name, rows in everything(f"sqlite:///{copy}").items() if name != "answers"} == {
        name: rows for name, rows in before.items() if name != "answers"
    }
    assert main(["restore", str(copy), "--config", str(house)]) == 1 and "--force" in capsys.readouterr().err
    kept = everything(f"sqlite:///{copy}")
    assert main(["restore", str(copy), "--force", "--config", str(house)]) == 0
    assert everything(address_of(house)) == kept
    assert (house.parent.parent / "state" / "demo.sqlite3.before-restore").is_file()


@pytest.mark.parametrize("wrong", ["nothing", "text", "newer"])
def test_what_is_no_copy_is_not_put_back(house: Path, tmp_path: Path, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, before = tmp_path / "x.sqlite3", everything(address_of(house))
    if wrong == "text":
        path.write_text("not a database", encoding="utf-8")
    if wrong == "newer":
        assert main(["backup", str(path), "--config", str(house)]) == 0
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.close()
    assert main(["restore", str(path), "--force", "--config", str(house)]) == 1
    assert str(path) in capsys.readouterr().err and everything(address_of(house)) == before


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_everything_moves_to_postgresql_and_back(house: Path, tmp_path: Path, postgresql: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / name, tmp_path / f"back-{name}"
    assert main(["export", str(first), "--config", str(house)]) == 0
    settings = house.read_text(encoding="utf-8")
    house.write_text(settings.replace("database: ../state/demo.sqlite3", f"database: {postgresql}"), encoding="utf-8")
    try:
        assert main(["import", str(first), "--config", str(house)]) == 0
        assert main(["import", str(first), "--config", str(house)]) == 1 and "not empty" in capsys.readouterr().err
        assert main(["search", "训练", "--config", str(house)]) == 0  # what was moved is found
        assert main(["subscribers", "add", "new@example.com", "--consent", "x", "--config", str(house)]) == 0  # ids go on
        assert main(["subscribers", "forget", "new@example.com", "--config", str(house)]) == 0
        assert main(["backup", str(tmp_path / "x"), "--config", str(house)]) == 1 and "pg_dump" in capsys.readouterr().err
        assert main(["export", str(second), "--config", str(house)]) == 0
    finally:
        with opened(load(house)) as engine:
            emptied(engine)
    house.write_text(settings.replace("demo.sqlite3", "moved.sqlite3"), encoding="utf-8")
    assert main(["import", str(second), "--config", str(house)]) == 0
    moved = everything(f"sqlite:///{house.parent.parent}/state/moved.sqlite3")
    original = everything(address_of(house))
    assert {name: rows for name, rows in moved.items() if name != "suppressions"} == {name: rows for name, rows in original.items() if name != "suppressions"}


def test_an_import_that_is_cut_brings_nothing(house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.jsonl"
    main(["export", str(path), "--config", str(house)])
    path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    house.write_text(house.read_text(encoding="utf-8").replace("demo.sqlite3", "cut.sqlite3"), encoding="utf-8")
    assert main(["import", str(path), "--config", str(house)]) == 1 and "cannot be read" in capsys.readouterr().err
    assert not any(everything(f"sqlite:///{house.parent.parent}/state/cut.sqlite3").values())


@pytest.mark.parametrize("keep", [1, 20, -1])
def test_an_export_that_lost_lines_brings_nothing(house: Path, tmp_path: Path, keep: int, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.jsonl"
    main(["export", str(path), "--config", str(house)])
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:keep]), encoding="utf-8")
    house.write_text(house.read_text(encoding="utf-8").replace("demo.sqlite3", "cut.sqlite3"), encoding="utf-8")
    assert main(["import", str(path), "--config", str(house)]) == 1 and "is not whole" in capsys.readouterr().err
    assert not any(everything(f"sqlite:///{house.parent.parent}/state/cut.sqlite3").values())


@pytest.mark.parametrize("command", ["backup", "export"])
def test_a_copy_replaces_nothing_but_an_earlier_one(house: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings, database = house.read_bytes(), Path(address_of(house).removeprefix("sqlite:///"))
    before = everything(address_of(house))
    for path in (house, database, tmp_path, tmp_path / "no" / "folder" / "x", Path("/dev/null"), tmp_path / ("x" * 300)):
        assert main([command, str(path), "--config", str(house)]) == 1 and capsys.readouterr().err.startswith(f"digest {command}: ")
    assert house.read_bytes() == settings and everything(address_of(house)) == before and Path("/dev/null").is_char_device()
    other, packed = tmp_path / "other.sqlite3", tmp_path / "other.gz"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    packed.write_bytes(gzip.compress(b"somebody's"))
    for path in (other, packed):
        kept = path.read_bytes()
        assert main([command, str(path), "--config", str(house)]) == 1 and "something else" in capsys.readouterr().err and path.read_bytes() == kept
    for _ in range(2):
        assert main([command, str(tmp_path / "copy"), "--config", str(house)]) == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy"]


def test_what_is_put_back_stays_as_it_was_kept(house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "safe" / "copy.sqlite3"
    copy.parent.mkdir()
    assert main(["backup", str(copy), "--config", str(house)]) == 0 and main(["restore", str(copy), "--force", "--config", str(house)]) == 0
    assert [path.name for path in copy.parent.iterdir()] == ["copy.sqlite3"]
    odd = tmp_path / "a#b?c%.sqlite3"
    assert main(["backup", str(odd), "--config", str(house)]) == 0 and main(["restore", str(odd), "--force", "--config", str(house)]) == 0
    capsys.readouterr()
    assert main(["restore", str(tmp_path / "nothere"), "--config", str(house)]) == 1 and "there is no file" in capsys.readouterr().err


# The doctor.


def look(house: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main(["doctor", "--json", "--config", str(house), *arguments])
    return code, {each["subject"]: each for each in json.loads(capsys.readouterr().out)}


def test_the_doctor_finds_nothing_wrong_in_a_house_in_order(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = look(house, capsys, "--offline")
    assert code == 0 and {each["state"] for each in found.values()} <= {"fine", "look"}
    assert {
        "feeds.yaml",
        "rules",
        "templates",
        "demo: zone",
        "disk",
        "database",
        "clock",
        "demo: MAIL_KEY",
        "demo: links",
        "demo: sources",
        "demo: schedule",
    } <= set(found)
    assert "Moved Away" in found["demo: sources"]["saw"]


def test_the_doctor_names_what_is_wrong_and_the_remedy(
    house: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = house.parent / "templates"
    own.mkdir()
    (own / "x.html").write_text("{% if %}", encoding="utf-8")
    monkeypatch.setenv("MAIL_KEY", "short")
    with opened(load(house)) as engine, engine.begin() as connection:
        connection.execute(text("UPDATE runs SET began_at = '2199-01-01 00:00:00.000000'"))
    code, found = look(house, capsys, "--offline")
    assert code == 1 and {subject for subject, each in found.items() if each["state"] == "wrong"} == {"templates", "demo: links", "clock"}
    assert "x.html:1" in found["templates"]["saw"] and "openssl rand" in found["demo: links"]["saw"]


def test_the_doctor_asks_the_relay_and_sees_open_secrets(
    house: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_text("k" * 40, encoding="utf-8")
    key.chmod(0o644)
    monkeypatch.delenv("MAIL_KEY")
    monkeypatch.setenv("MAIL_KEY_FILE", str(key))
    with MailServer() as server:
        text_ = house.read_text(encoding="utf-8")
        house.write_text(text_.replace("mail: {", f"mail: {{host: 127.0.0.1, port: {server.port}, security: none, "), encoding="utf-8")
        code, found = look(house, capsys)
        assert code == 0 and found["demo: relay"]["state"] == "fine" and "chmod 600" in found["demo: MAIL_KEY"]["remedy"]
        house.write_text(text_.replace("mail: {", "mail: {host: 127.0.0.1, port: 1, security: none, "), encoding="utf-8")
        code, found = look(house, capsys)
        assert code == 1 and found["demo: relay"]["state"] == "wrong"


# Places to live.


def test_init_lays_out_what_each_place_needs_and_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    assert main(["init", str(folder), "--with", ",".join(PLACES)]) == 0
    assert {target for place in PLACES.values() for target in place.values()} <= {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    assert main(["config", "check", "--config", str(folder / "feeds.yaml")]) == 0
    assert main(["init", str(folder), "--with", "cron"]) == 2 and "exists" in capsys.readouterr().err
    (folder / "crontab").unlink()
    (folder / "feeds.yaml").write_text("mine", encoding="utf-8")
    assert main(["init", str(folder), "--with", "cron"]) == 0  # a place for a folder that is there already
    assert (folder / "feeds.yaml").read_text(encoding="utf-8") == "mine" and (folder / "crontab").is_file()
    assert main(["init", str(folder), "--with", "moon"]) == 2


def commands() -> Iterator[tuple[str, str]]:
    for path in sorted(DEPLOY.rglob("*")):
        if path.is_file():
            words = path.read_text(encoding="utf-8").replace('", "', " ").replace('"', " ")
            yield from (
                (path.name, match[1])
                for match in re.finditer(r"(?:^|[\s/\[&])digest ((?:[a-z]+)(?: (?:build|read|check))?(?: --?[a-z-]+)*)", words)
                if match[1].split()[0] in COMMANDS
            )


@pytest.mark.parametrize(("file", "command"), sorted(set(commands())))
def test_every_command_in_a_file_for_a_place_is_one_of_ours(file: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *rest = command.split()
    with pytest.raises(SystemExit) as stopped:
        main([name, *[word for word in rest if not word.startswith("-")][:1], "--help"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    assert all(word in said for word in rest if word.startswith("--")), f"{file}: digest {command}"


def test_the_files_were_seen() -> None:
    assert {file for file, _ in commands()} >= {"Dockerfile", "digest.service", "digest-run.service", "crontab", "digest.yml"}


def test_the_units_are_right_and_hardened(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze here")
    for name in PLACES["systemd"]:
        (tmp_path / name).write_text((DEPLOY / name).read_text(encoding="utf-8").replace("/opt/digest/bin/digest", "/bin/true"), encoding="utf-8")
    units = [str(tmp_path / name) for name in PLACES["systemd"]]
    said = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert said.returncode == 0 and not [line for line in said.stderr.splitlines() if str(tmp_path) in line], said.stderr
    level = subprocess.run(["systemd-analyze", "security", "--offline=true", units[0]], capture_output=True, text=True, check=False).stdout
    found = re.search(r"exposure level for digest.service: ([\d.]+)", level)
    assert found is None or float(found[1]) < 3  # older systemd cannot look offline


def test_the_compose_file_is_whole() -> None:
    compose = YAML(typ="safe").load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"]
    assert set(services) == {"digest", "db", "proxy"} and services["digest"]["read_only"] is True and services["digest"]["cap_drop"] == ["ALL"]
    named = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", []) if not volume.startswith(".")}
    assert named <= set(compose["volumes"]) and all("latest" not in service.get("image", "") for service in services.values())
    secrets = {secret for service in services.values() for secret in service.get("secrets", [])}
    assert secrets == set(compose["secrets"])
    for service in services.values():
        assert set(service.get("depends_on", [])) <= set(services)


def test_the_image_is_small_without_root_and_says_how_it_is() -> None:
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    extras = set(re.search(r"\[([a-z,-]+)\]", lines)[1].split(","))  # type: ignore[index]
    declared = set(
        re.findall(r"^([a-z-]+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("optional-dependencies]")[2].partition("\n[")[0], re.M)
    )
    assert extras <= declared
    assert "\nUSER digest\n" in lines and "HEALTHCHECK" in lines and "-slim" in lines and lines.index("USER digest") > lines.index("apt-get")


def test_the_workflow_keeps_what_is_remembered_and_publishes() -> None:
    workflow = YAML(typ="safe").load((DEPLOY / "github" / "digest.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["digest"]["steps"]
    assert workflow["permissions"] == {"contents": "write", "pages": "write", "id-token": "write"} and workflow["concurrency"]["cancel-in-progress"] is False
    assert [step.get("uses", "").partition("@")[0] for step in steps if "uses" in step] == [
        "actions/checkout",
        "actions/setup-python",
        "actions/upload-pages-artifact",
        "actions/deploy-pages",
    ]
    assert any("git commit" in step.get("run", "") for step in steps)
