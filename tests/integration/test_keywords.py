"""The rules at work: tag for scripts, explain, try, replay, suggest, add and remove."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import time_machine

from digest.cli import main
from digest.settings.load import load
from tests.conftest import DAY, ROOT


@pytest.fixture
def told(made_demo: Path) -> Path:
    return made_demo


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_tag_answers_a_line_for_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [
        {"id": "a", "title": None, "text": "Our system makes training up to 2x faster than FSDP on H100."},
        {"id": "b", "title": "A walk", "text": "Nothing about computers."},
    ]
    file = tmp_path / "items.jsonl"
    file.write_text("\n".join(json.dumps(item) for item in items) + "\n\n", encoding="utf-8")
    assert main(["tag", str(file), "--config", str(ROOT / "feeds.yaml")]) == 0
    yes, no = (json.loads(line) for line in lines(capsys))
    assert (yes["id"], yes["training_acceleration"], no["training_acceleration"]) == ("a", True, False)
    (fact,) = yes["facts"]
    assert (fact["value_min"], fact["unit"], fact["metric"], fact["qualifier"], fact["baseline"]) == (2, "x", "training_speed", "up_to", "FSDP")
    assert {"kind": "hardware", "text": "H100", "quote": "H100"} in yes["mentions"]
    assert sum(hit["points"] for hit in yes["evidence"]) == yes["score"]
    assert no["topics"] == ["other"]


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"text": 5}'])
def test_tag_names_the_line_that_is_wrong(tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "items.jsonl"
    file.write_text('{"id": 1, "text": "x"}\n' + line, encoding="utf-8")
    assert main(["tag", str(file), "--config", str(ROOT / "feeds.yaml")]) == 2
    assert "line 2" in capsys.readouterr().err


def test_explain_marks_the_words_and_adds_up(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keywords", "explain", "https://arxiv.org/abs/2611.90001", "--config", str(told)]) == 0
    page = capsys.readouterr().out
    assert "⟦accelerates end-to-end training⟧" in page
    assert ": in" in page and "by  {faster} ~6 {train}" in page
    assert main(["keywords", "explain", "https://nowhere.example/x", "--config", str(told)]) == 1
    assert "nothing was collected" in capsys.readouterr().err


def test_try_shows_who_would_come_in_and_saves_nothing(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = told.read_bytes()
    with time_machine.travel("2026-11-25T12:00:00Z"):
        assert main(["keywords", "try", "tokenisation", "--config", str(told)]) == 0
        assert "+ A Survey of Tokenisation for Low-Resource Languages" in lines(capsys)
        main(["keywords", "try", "the | of | a | 的", "--config", str(told)])
        assert "too wide" in capsys.readouterr().out
    assert told.read_bytes() == before


def test_replay_is_empty_until_the_rules_change(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["keywords", "replay", "--config", str(told)])
    assert lines(capsys)[-1].startswith("0 come in, 0 go out")
    parent = told.parent.parent / "feeds.yaml"
    assert main(["keywords", "add", "training-acceleration", "tokenisation", "--config", str(parent)]) == 0
    capsys.readouterr()
    main(["keywords", "replay", DAY, "--config", str(told)])
    assert lines(capsys)[-1].startswith("1 come in, 0 go out")


def test_suggest_needs_something_to_learn_from(told: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with time_machine.travel("2026-11-25T12:00:00Z"):
        assert main(["keywords", "suggest", "--config", str(told)]) == 0
        assert any("for" in line and "training" in line for line in lines(capsys))
    with time_machine.travel("2027-11-25T12:00:00Z"):
        main(["keywords", "suggest", "--config", str(told)])
        assert "Nothing" in capsys.readouterr().out


def test_what_is_added_and_removed_again_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "feeds.yaml"
    path.write_bytes((ROOT / "feeds.yaml").read_bytes())
    for topic, rule, more in (
        ("training-acceleration", "wonder*", ()),
        ("training-acceleration", "{train} ~3 wonder*", ("--points", "2")),
        ("low-precision", "a: b # c", ()),
        ("optimizer", "'quoted'", ("--points", "-1")),
    ):
        assert main(["keywords", "add", topic, rule, *more, "--config", str(path)]) == 0
        assert path.read_bytes() != (ROOT / "feeds.yaml").read_bytes()
        assert main(["keywords", "remove", topic, rule, "--config", str(path)]) == 0
        assert path.read_bytes() == (ROOT / "feeds.yaml").read_bytes()


def test_every_comment_stays_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "feeds.yaml"
    path.write_bytes((ROOT / "feeds.yaml").read_bytes())
    comments = [line.split("#", 1)[1] for line in path.read_text(encoding="utf-8").splitlines() if "#" in line]
    last = load(path).settings.topics["training-acceleration"].rules[-1].find
    assert main(["keywords", "remove", "training-acceleration", last, "--config", str(path)]) == 0
    assert main(["keywords", "add", "moe", "expert routing", "--config", str(path)]) == 0
    assert main(["keywords", "add", "training-acceleration", "{train} ~3 wonder*", "--points", "2", "--config", str(path)]) == 0
    assert "expert routing" in load(path).settings.topics["moe"].words
    assert [line.split("#", 1)[1] for line in path.read_text(encoding="utf-8").splitlines() if "#" in line] == comments
    capsys.readouterr()
    main(["keywords", "list", "training-acceleration", "--config", str(path)])
    listed = lines(capsys)
    assert "+2  {train} ~3 wonder*" in listed and not any(line.endswith(f"  {last}") for line in listed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "moe", "MoE"], "already"),
        (["add", "nothing", "x"], "no topic"),
        (["add", "moe", "{gone} ~ x"], "no group"),
        (["remove", "moe", "x"], "keywords list"),
        (["list", "nothing"], "known"),
    ],
)
def test_wrong_edits_are_refused_and_change_nothing(tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "feeds.yaml"
    path.write_bytes((ROOT / "feeds.yaml").read_bytes())
    assert main(["keywords", *arguments, "--config", str(path)]) == 2
    assert words in capsys.readouterr().err
    assert path.read_bytes() == (ROOT / "feeds.yaml").read_bytes()


def test_check_runs_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keywords", "check", "--config", str(ROOT / "feeds.yaml")]) == 0
    assert ", 0 judged otherwise" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["try", "x", "--points", "100"], ["try", "x", "--days", "-5"], ["try", "x", "--days", "99999999"], ["add", "moe", "x", "--points", "much"]]
)
def test_impossible_numbers_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["keywords", *arguments])
    assert stop.value.code == 2
    assert "argument --" in capsys.readouterr().err


def test_tag_reads_marks_wrong_bytes_and_half_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "items.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"id": null, "text": "faster training \xff"}\n\n{"id": 3, "text": "\\ud800"}\n')
    assert main(["tag", str(file), "--config", str(ROOT / "feeds.yaml")]) == 0
    assert [json.loads(line)["id"] for line in lines(capsys)] == ["1", "3"]
    file.write_bytes(b"\n" + b"[" * 100_000)
    assert main(["tag", str(file), "--config", str(ROOT / "feeds.yaml")]) == 2
    assert "line 2" in capsys.readouterr().err
