"""A site of three days on loopback, and Chromium to look at it."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

DAYS = ("2026-11-23", "2026-11-24", "2026-11-25")
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's site of three days, made by the command line: Playwright has the event loop of this process."""
    folder = tmp_path_factory.mktemp("browser")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "feeds.yaml", folder)
    for day in DAYS:
        command = [sys.executable, "-m", "digest", "run", "--config", str(folder / "examples" / "feeds.yaml"), "--date", day, "--quiet"]
        assert subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL, check=False).returncode in (0, 1)
    return folder / "out" / "demo"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    with serving(site) as found:
        yield found


class serving:  # noqa: N801  # used like a function
    """Serves a folder on loopback; no lines on the terminal."""

    def __init__(self, folder: Path) -> None:
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *arguments: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Chromium; the test is skipped where it is not, unless BROWSER=required."""
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None and os.environ.get("BROWSER") != "required":
        pytest.skip("there is no Chromium here (Debian: apt-get install chromium)")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield running
        running.close()
