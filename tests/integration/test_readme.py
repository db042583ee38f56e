"""README keeps its word: its examples run, and it mentions every command, seam and setting."""

from __future__ import annotations

import json
import re
import shutil
import sys
from datetime import date
from pathlib import Path

import pytest

from digest import plugins, ports, wiring
from digest.classify.labels import KeywordLabeller
from digest.cli import COMMANDS, main
from digest.cli.rule_examples import complaints
from digest.settings.desk import load_desk
from digest.settings.load import load
from tests.conftest import DAY, ROOT
from tests.fakes import Answer, FeedServer

README = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")
FRAME = "editions: {e: {title: {zh: 甲, en: E}, topics: [%s]}}\nsources: [{name: S, url: x}]\n"


def blocks(kind: str, page: str = README) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL)


def block_with(words: str, page: str = README) -> str:
    return next(block for block in blocks("yaml", page) if words in block)


def test_the_writer_example_is_right(tmp_path: Path) -> None:
    path = tmp_path / "feeds.yaml"
    path.write_text(FRAME % "t" + "topics: {t: {title: {zh: 甲, en: T}, words: [x]}}\n" + block_with("writer:"), encoding="utf-8")
    assert load(path).settings.writer.model == "deepseek-chat"


def test_the_example_of_edits_is_right(tmp_path: Path) -> None:
    (tmp_path / "edits").mkdir()
    (tmp_path / "edits" / "2026-11-30.yaml").write_text(block_with("reword:"), encoding="utf-8")
    desk = load_desk(tmp_path, date(2026, 11, 30))
    assert (len(desk.pin), len(desk.merge), desk.reword[0].headline) == (1, 1, "换一个标题")


@pytest.mark.parametrize("page", [README, CHINESE])
def test_the_rule_examples_are_right(tmp_path: Path, page: str) -> None:
    for topic in ("robots", "cheap-training"):
        block = block_with(f"  {topic}:", page)
        path = tmp_path / "feeds.yaml"
        path.write_text(FRAME % topic + block, encoding="utf-8")
        settings = load(path).settings
        assert complaints(settings) == []
        labelling: KeywordLabeller = wiring.labeller(settings)
        assert labelling.label_words("A robot that learns" if topic == "robots" else "Training on a budget", "")[0].is_in


@pytest.mark.parametrize("page", [README, CHINESE])
def test_the_edition_for_another_field_works(tmp_path: Path, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    block = block_with("extends: shipped", page)
    assert len(block.strip().splitlines()) <= 10
    shutil.copy(ROOT / "examples" / "vendor.atom.xml", tmp_path)
    text = re.sub(r"sources: .*", "sources: [{name: Vendor, url: vendor.atom.xml}]", block)
    (tmp_path / "feeds.yaml").write_text(text, encoding="utf-8")
    assert main(["run", "--config", str(tmp_path / "feeds.yaml"), "--date", "2026-11-24", "--json"]) == 0
    (article,) = json.loads(capsys.readouterr().out)["articles"]
    assert article["headlines"]["en"] == "Serving long contexts without tears"


def test_every_command_is_in_both_readmes() -> None:
    for command in COMMANDS:
        assert f"digest {command}" in README, command
        assert f"digest {command}" in CHINESE, command


def test_every_make_target_is_real() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in (README, CHINESE):
        assert set(re.findall(r"make (demo|test|digest|week|bench|lint)\b", page)) <= targets


def test_every_plug_in_seam_is_named() -> None:
    for seam in ("scorers", "renderers", "publishers", "writers"):
        assert f"digest.{seam}" in README
        assert seam[:-1].capitalize() in vars(ports)


def test_every_key_of_the_settings_is_shown_somewhere() -> None:
    schema = json.loads((ROOT / "feeds.schema.json").read_text(encoding="utf-8"))
    shown = README + (ROOT / "feeds.yaml").read_text(encoding="utf-8") + (ROOT / "examples/feeds.yaml").read_text(encoding="utf-8")
    keys = set(schema["properties"]) | {key for part in schema["$defs"].values() for key in part.get("properties", {})}
    assert [key for key in sorted(keys - {"on", "sources"}) if not re.search(rf"\b{key}\b", shown)] == []


def test_ten_lines_push_the_day_to_a_group(demo: Path, server: FeedServer) -> None:
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    server.answers["/latest"] = Answer((demo.parent.parent / "out/demo/api/v1/latest.json").read_bytes())
    code = next(block for block in blocks("python") if "urlopen" in block)
    code = code.replace("https://digest.example.org/api/v1/latest.json", f"{server.address}/latest").replace("https://chat.example.com", server.address)
    said: list[bytes] = []
    server.posted = said.append
    exec(code, {})  # the README's own example
    text = json.loads(said[0])["text"]["content"]
    assert text.startswith("训练加速日报（演示）\n") and "TideFlow" in text and "/2026/11/24/arxiv-2611.90001.zh.html" in text


def test_the_plug_in_of_the_readme_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = next(block for block in blocks("python") if "class FriendScorer" in block)
    (toml,) = blocks("toml")
    package, described = tmp_path / "my_package", tmp_path / "my_package-1.0.dist-info"
    package.mkdir()
    described.mkdir()
    (package / "__init__.py").touch()
    (package / "scorer.py").write_text(code, encoding="utf-8")
    name, target = re.search(r'(\w+) = "([\w.:]+)"', toml).groups()  # type: ignore[union-attr]
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[digest.scorers]\n{name} = {target}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.installed.cache_clear()
    assert wiring.SCORERS.names() == ["friend", "heat"]
    from tests.builders import NOON, a_source, a_story

    (reason,) = wiring.SCORERS.create("friend").score(a_story(), {"Blog": a_source()}, NOON)
    assert reason.points == 5
    plugins.installed.cache_clear()
    sys.modules.pop("my_package.scorer", None)
    sys.modules.pop("my_package", None)
