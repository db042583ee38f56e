"""The house rules, checked from the code: imports, doors, clock."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "digest"
ROWS = [
    {"__main__"},
    {"cli"},
    {"schedule"},
    {"serve"},  # the command line starts both
    {"alerts", "housekeeping", "in_force", "checks", "editing"},
    {"overview", "workbench"},
    {"acts"},
    {"mail_wiring"},
    {"wiring"},
    {"pipeline"},
    {"fetch", "parse", "store", "classify", "cluster", "rank", "write", "render", "publish", "audience", "settings", "plugins", "coverage"},
    {"ports"},
    {"judge"},
    {"read"},
    {"figures"},
    {"lines", "subjects"},
    {"model", "errors", "text", "shipped", "machine", "plan"},
    {"phrase"},
]
DOORS = {
    "feedparser": {"parse/syndication.py"},
    "sqlalchemy": {"store/"},
    "alembic": {"store/"},
    "jinja2": {"render/"},
    "markdown": {"render/"},
    "babel": {"render/"},
    "feedgen": {"render/"},
    "apscheduler": {"schedule.py"},
    "ruamel": {"settings/"},
    "pydantic": {"settings/", "store/archive.py", "store/ledger.py", "store/listed.py"},
    "httpx": {"fetch/web.py"},
    "stamina": {"fetch/web.py", "write/llm.py"},
    "fxtranslate": {"write/translation.py"},
    "pypinyin": {"judge/pinyin.py"},
    "trafilatura": {"parse/article.py"},
    "protego": {"fetch/pages.py"},
    "brotli": {"fetch/web.py"},
    "pebble": {"parse/bounded.py"},
    "nh3": {"parse/markup.py", "render/letter.py"},
    "opencc": {"read/folding.py"},
    "ahocorasick_rs": {"classify/expressions.py"},
    "rapidfuzz": {"cluster/similarity.py"},
    "openai": {"write/llm.py"},
    "aiosmtplib": {"publish/relay.py"},
    "css_inline": {"render/mail_body.py"},
    "email_validator": {"audience/addresses.py"},
    "itsdangerous": {"audience/links.py"},
    "PIL": {"render/cards.py"},
    "starlette": {"serve/"},
    "prometheus_client": {"serve/health.py"},
    "dns": {"fetch/dns.py"},
    "flufl": {"audience/bounces.py"},
    "apprise": {"publish/chat.py"},
    "dkim": {"publish/signature.py"},
    "anyio": {"serve/"},
    "uvicorn": {"cli/serve.py", "cli/preview.py"},
    "rich": {"cli/"},
}
CLOCKS = {"now", "utcnow", "today", "time", "monotonic"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "_shipped" not in path.parts)


def row(name: str) -> int:
    """Which row a part stands in. A new part must be given one."""
    return next(number for number, parts in enumerate(ROWS) if name in parts)


def part_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_from_below_or_from_its_own_folder(path: Path) -> None:
    own = part_of(path)
    if own == "__init__" or "migrations" in path.parts:
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "digest" or parts[1] in (own, "__version__"):
            continue
        assert row(parts[1]) > row(own), f"{path.name} of {own} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_library_has_one_door(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    for name in imported(path):
        doors = DOORS.get(name.split(".")[0])
        assert doors is None or any(place.startswith(door) for door in doors), f"{place} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_outside_asks_the_clock(path: Path) -> None:
    if part_of(path) in {"cli", "schedule", "serve", "acts"}:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS:
            holder = node.func.value
            assert not (isinstance(holder, ast.Name) and holder.id in ("datetime", "date", "time")), f"{path.name}:{node.lineno} asks the clock"


def test_the_checks_see_the_code() -> None:
    assert any("httpx" in imported(path) for path in modules())
    assert len(modules()) > 40


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_map_shows_the_rows_as_they_are(name: str) -> None:
    line = next(line for line in (PACKAGE.parent / name).read_text(encoding="utf-8").splitlines() if line.startswith("cli  >  "))
    assert [set(part.split()) for part in line.split("  >  ")] == [parts for parts in ROWS if parts != {"__main__"}]
