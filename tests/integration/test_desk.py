"""The editor's files beside feeds.yaml: letters open the issue, edits survive re-runs; a wrong file names its place."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from digest.cli import main
from digest.errors import ConfigError
from digest.settings.desk import load_desk
from tests.conftest import DAY

PAGES = "out/demo/2026/11/24"


@pytest.fixture
def made(made_demo: Path) -> Path:
    return made_demo


def again(settings: Path, *more: str) -> int:
    return main(["deliver", "--config", str(settings), "--date", DAY, "--quiet", *more])


def page(settings: Path, name: str = "zh.html") -> str:
    return (settings.parent.parent / PAGES / name).read_text(encoding="utf-8")


def write(settings: Path, name: str, text: str) -> None:
    path = settings.parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def keys(settings: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    main(["show", "--config", str(settings), "--keys"])
    return [line.split()[0] for line in capsys.readouterr().out.splitlines()]


def test_a_letter_opens_the_issue_in_its_language_and_nothing_in_it_runs(made: Path) -> None:
    write(
        made,
        f"notes/{DAY}.zh.md",
        "# 今天\n\n大家好，**两篇** 值得看。<script>alert(1)</script> [坏](javascript:alert(1)) <img src=x onerror=alert(1)> [好](https://example.com/)\n",
    )
    assert again(made) == 0
    text = page(made)
    assert "<strong>两篇</strong>" in text and "<h3>今天</h3>" in text and 'href="https://example.com/"' in text
    assert not any(bad in text for bad in ("<script>", "javascript:", "onerror", "<img"))
    assert "两篇" not in page(made, "en.html")
    assert "**两篇**" in page(made, "zh.md")
    assert "两篇" in (made.parent.parent / "out/demo/feed.zh.xml").read_text(encoding="utf-8")


def test_edits_are_applied_marked_and_kept_through_re_runs(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third, *_ = keys(made, capsys)
    write(made, f"edits/{DAY}.yaml", f"pin: [{third}]\ndrop: [{first}]\nreword:\n  {second}:\n    zh: {{headline: 编辑改过的标题}}\n")
    again(made)
    text = page(made)
    assert first not in text and "编辑改过的标题" in text and "已编辑" in text
    assert text.index(f'id="{third}"') < text.index(f'id="{second}"')
    assert keys(made, capsys)[0] == third
    main(["run", "--config", str(made), "--date", DAY, "--quiet"])
    assert page(made) == text
    (made.parent / f"edits/{DAY}.yaml").unlink()
    again(made)
    assert f'id="{first}"' in page(made)


def test_a_reword_that_says_more_is_a_warning_and_no_failure(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = keys(made, capsys)[0]
    write(made, f"edits/{DAY}.yaml", f"reword:\n  {key}:\n    en: {{blurb: It is 77x faster than anything.}}\n")
    assert again(made, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert any("77x" in warning["message"] for warning in report["warnings"])
    assert "77x faster" in page(made, "en.html")
    assert main(["judge", "--config", str(made)]) == 1
    assert "77x" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("drop: nobody\n", ":1:1: drop: "),
        ("pin: []\nreword:\n  key:\n    fr: {headline: x}\n", "reword"),
        ("unpin: [a]\n", "unpin"),
        ("pin: [\n", "not valid YAML"),
    ],
)
def test_a_wrong_file_names_its_place(made: Path, text: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(made, f"edits/{DAY}.yaml", text)
    assert again(made) == 2
    error = capsys.readouterr().err
    assert f"edits/{DAY}.yaml" in error and complaint in error


def test_an_unknown_key_is_warned_about(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(made, f"edits/{DAY}.yaml", "drop: [nobody]\n")
    assert again(made) == 0
    assert "digest show --keys" in capsys.readouterr().err


@pytest.mark.parametrize("empty", ['""', '"  "'])
def test_an_empty_headline_is_refused_with_its_place(tmp_path: Path, empty: str) -> None:
    (tmp_path / "edits").mkdir()
    (tmp_path / "edits" / f"{DAY}.yaml").write_text(f"reword:\n  key:\n    zh:\n      headline: {empty}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"2026-11-24\.yaml:4:\d+: reword\.key\.zh\.headline"):
        load_desk(tmp_path, date.fromisoformat(DAY))
