"""The command line as a user meets it: exit codes, reports, help, twice is once, killed and run again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest
import time_machine

from digest.cli import COMMANDS, main
from tests.conftest import DAY, ROOT
from tests.fakes import Answer, FeedServer


def files(demo: Path) -> dict[str, str]:
    out = demo.parent.parent / "out" / "demo"
    return {path.relative_to(out).as_posix(): sha256(path.read_bytes()).hexdigest() for path in sorted(out.rglob("*")) if path.is_file()}


def run(demo: Path, command: str = "run", *more: str) -> int:
    return main([command, "--config", str(demo), "--date", DAY, "--quiet", *more])


def test_a_run_gives_an_issue_and_names_the_broken_feed(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--config", str(demo), "--date", DAY]) == 1
    captured = capsys.readouterr()
    assert "1 failed" in captured.out and "index.html" in captured.out
    assert "Moved Away" in captured.err and "web page" in captured.err
    assert {"index.html", "feed.zh.xml", "feed.en.xml", "2026/11/24/zh.html", "2026/11/24/both.html"} - set(files(demo)) == {"2026/11/24/both.html"}


def test_the_report_for_programs_is_json_alone(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "--config", str(demo), "--date", DAY, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["day"] == DAY
    assert {coverage["state"] for coverage in report["coverage"]} == {"complete", "quiet", "failed", "off"}
    assert report["articles"][0]["headlines"].keys() == {"zh", "en"}
    assert report["problems"][0]["subject"] == "Moved Away"


def test_the_second_run_changes_no_byte(demo: Path) -> None:
    run(demo)
    before = files(demo)
    run(demo)
    assert files(demo) == before


def test_the_three_acts_are_the_run(demo: Path, tmp_path: Path) -> None:
    run(demo)
    whole = files(demo)
    shutil.rmtree(demo.parent.parent / "out")
    shutil.rmtree(demo.parent.parent / "state")
    assert [run(demo, "collect"), run(demo, "make"), run(demo, "deliver")] == [1, 0, 0]
    assert files(demo) == whole


def test_a_lost_file_is_restored_by_delivering_again(demo: Path) -> None:
    run(demo)
    whole = files(demo)
    (demo.parent.parent / "out" / "demo" / "2026/11/24/zh.html").unlink()
    run(demo, "deliver")
    assert files(demo) == whole


def test_a_feed_that_comes_late_is_told_the_next_day_and_a_blank_day_is_made_again(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = [demo.parent / name for name in ("arxiv-cs.LG.xml", "vendor.atom.xml", "media.zh.rss.xml", "person.json")]
    for path in hidden:
        path.rename(path.with_suffix(".away"))
    run(demo)
    hidden[0].with_suffix(".away").rename(hidden[0])
    capsys.readouterr()
    main(["run", "--config", str(demo), "--date", DAY, "--json"])
    keys = [article["key"] for article in json.loads(capsys.readouterr().out)["articles"]]
    assert "arxiv-2611.90001" in keys
    hidden[1].with_suffix(".away").rename(hidden[1])
    run(demo)
    capsys.readouterr()
    with time_machine.travel("2026-11-26T12:00:00Z"):
        main(["run", "--config", str(demo), "--date", "2026-11-25", "--json"])
    (article,) = json.loads(capsys.readouterr().out)["articles"]
    assert article["headlines"]["en"] == "An NVFP4 training recipe for Blackwell"


def test_the_next_day_repeats_no_story(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(demo)
    capsys.readouterr()
    main(["run", "--config", str(demo), "--date", "2026-11-25", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["articles"] == []


@pytest.mark.parametrize("milliseconds", [150, 400, 700, 900, 1000, 1100, 1200, 1400])
def test_killed_at_any_point_the_same_command_goes_on(demo: Path, tmp_path: Path, milliseconds: int) -> None:
    run(demo)
    whole = files(demo)
    for name in ("out", "state"):
        shutil.rmtree(demo.parent.parent / name)
    command = [sys.executable, "-m", "digest", "run", "--config", str(demo), "--date", DAY, "--quiet"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(milliseconds / 1000)
    process.kill()
    process.wait()
    run(demo)
    assert {name: digest for name, digest in files(demo).items() if ".writing-" not in name} == whole


def test_a_build_of_the_site_that_is_killed_leaves_whole_files_and_goes_on(demo: Path) -> None:
    run(demo)
    whole = files(demo)
    template = demo.parent / "templates" / "web" / "base.html"
    template.parent.mkdir(parents=True)
    command = [sys.executable, "-m", "digest", "site", "build", "--config", str(demo), "--json"]
    changed = (ROOT / "templates" / "web" / "base.html").read_text(encoding="utf-8").replace('<footer class="site">', '<footer class="site" id="changed">')
    for milliseconds in (500, 700, 800, 900, 1000):
        template.write_text(changed.replace("changed", f"changed{milliseconds}"), encoding="utf-8")
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(milliseconds / 1000)
        process.kill()
        process.wait()
        for path in (demo.parent.parent / "out" / "demo").rglob("*.html"):
            assert path.read_text(encoding="utf-8").endswith("</html>\n")
    shutil.rmtree(template.parent.parent)
    assert main(["site", "build", "--config", str(demo)]) == 0
    assert {name for name, digest in files(demo).items() if whole.get(name) != digest} <= {"sources/zh.html", "sources/en.html", "api/v1/sources.json"}


def test_nothing_reachable_is_an_honest_issue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "feeds.yaml"
    settings.write_text(
        f"extends: {ROOT / 'feeds.yaml'}\n"
        "editions: {e: {title: {zh: 甲, en: E}, topics: [training-acceleration]}}\n"
        "sources: [{name: Gone, url: 'http://127.0.0.1:1/feed'}, {name: Lost, url: nowhere.xml}]\n",
        encoding="utf-8",
    )
    assert main(["run", "--config", str(settings), "--quiet"]) == 1
    errors = capsys.readouterr().err
    assert "Gone" in errors and "Lost" in errors
    page = next((tmp_path / "out").glob("*/*/*/zh.html")).read_text(encoding="utf-8")
    assert "有 2 个来源未能读取，原因见下。" in page


def test_a_second_poll_is_answered_by_304(demo: Path, server: FeedServer) -> None:
    server.answers["/feed"] = Answer((demo.parent / "vendor.atom.xml").read_bytes())
    demo.write_text(
        demo.read_text(encoding="utf-8").replace("vendor.atom.xml", f'"{server.address}/feed"') + "\nfetch: {allow: [127.0.0.1]}\n", encoding="utf-8"
    )
    run(demo)
    run(demo, "collect")
    assert (server.statuses[200], server.statuses[304]) == (1, 1)


def test_show_prints_the_issue_in_either_language(demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    run(demo)
    capsys.readouterr()
    assert main(["show", "--config", str(demo)]) == 0
    assert "推荐理由" in capsys.readouterr().out
    assert main(["show", DAY, "--config", str(demo), "--language", "en"]) == 0
    assert "Why it matters" in capsys.readouterr().out
    assert main(["show", "2026-11-01", "--config", str(demo)]) == 1
    assert "digest make" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["rum"], 2, "did you mean `digest run`?"),
        (["run", "--config", "none.yaml"], 2, "digest init"),
        (["run", "--date", "2026-13-01"], 2, "not a day"),
        (["run", "--config", str(ROOT / "examples/feeds.yaml"), "--date", "2099-01-01"], 2, "has not begun"),
        (["run", "--config", str(ROOT / "examples/feeds.yaml"), "--edition", "x"], 2, "demo"),
        (["config", "nothing"], 2, "check"),
    ],
)
def test_wrong_arguments_end_with_2_and_a_hint(arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        found = main(arguments)
    except SystemExit as stop:
        found = int(stop.code or 0)
    assert found == code
    assert words in capsys.readouterr().err


def test_deliver_before_make_says_what_to_do(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(demo, "deliver") == 1
    assert "digest make" in capsys.readouterr().err


def test_init_lays_out_a_folder_and_never_overwrites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "mine")]) == 0
    assert main(["config", "check", "--config", str(tmp_path / "mine" / "feeds.yaml")]) == 0
    assert "right" in capsys.readouterr().out
    (tmp_path / "mine" / "feeds.yaml").write_text("mine")
    assert main(["init", str(tmp_path / "mine")]) == 2
    assert (tmp_path / "mine" / "feeds.yaml").read_text() == "mine"


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    page = capsys.readouterr().out
    for command in COMMANDS:
        assert f"  {command}" in page
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
        assert f"usage: digest {command}" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(option: str) -> None:
    code = f"import sys; from digest.cli import main; main([{option!r}]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert not {"feedparser", "httpx", "apscheduler", "jinja2", "sqlalchemy", "babel", "rich", "pydantic", "argparse"} & set(loaded)


def test_an_own_template_hides_the_shipped_one(demo: Path) -> None:
    own = demo.parent / "templates" / "plain"
    own.mkdir(parents=True)
    (own / "issue.txt").write_text("mine: {{ issue.day }}", encoding="utf-8")
    run(demo)
    assert (demo.parent.parent / "out/demo/2026/11/24/zh.txt").read_text() == f"mine: {DAY}"


def test_a_broken_template_names_its_file_and_line(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = demo.parent / "templates" / "plain"
    own.mkdir(parents=True)
    (own / "issue.txt").write_text("one\n{{ issue.nothing }}", encoding="utf-8")
    assert run(demo) == 1
    assert "issue.txt:2" in capsys.readouterr().err
    assert not (demo.parent.parent / "out").exists()


def test_the_program_runs_as_a_module() -> None:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-m", "digest", "--version"], cwd=ROOT, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.startswith("digest ")
