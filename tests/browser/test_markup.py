"""Every page of the site against the HTML standard, by html-validate (Node; in CI, and where it is installed)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

SETTINGS = ROOT / "tests" / "browser" / "html-validate.json"


def validator() -> str | None:
    here = ROOT / ".venv" / "node" / "node_modules" / ".bin" / "html-validate"
    return str(here) if here.is_file() else shutil.which("html-validate")


def complaints(folder: Path) -> list[str]:
    program = validator()
    if program is None and os.environ.get("BROWSER") != "required":
        pytest.skip("html-validate is not here (npm install --prefix .venv/node html-validate)")
    shutil.copy(SETTINGS, folder / ".htmlvalidate.json")
    command = [str(program), "--config", str(folder / ".htmlvalidate.json"), "--formatter", "json", f"{folder}/**/*.html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    (folder / ".htmlvalidate.json").unlink()
    return [f"{page['filePath']}:{each['line']}: {each['ruleId']}: {each['message']}" for page in json.loads(done.stdout) for each in page["messages"]]


def test_every_page_is_html_as_the_standard_has_it(site: Path) -> None:
    assert complaints(site) == []


def test_the_validator_would_notice(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!DOCTYPE html><html lang=en><title>x</title><p id=a><p id=a><blink>", encoding="utf-8")
    assert len(complaints(tmp_path)) >= 2
