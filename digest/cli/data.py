"""``digest backup``, ``restore``, ``export``, ``import``: what is remembered, safe and movable."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from digest import wiring
from digest.acts import at_work, opened
from digest.cli.arguments import a_path, add_config, parser
from digest.errors import ConfigError
from digest.schedule import LOCK
from digest.settings.load import Loaded, load
from digest.store.transfer import backup, export, restore, take_in

_WORDS = {
    "backup": ("Copies the SQLite database to a file while everything goes on.", "  digest backup /safe/digest-$(date +%F).sqlite3"),
    "restore": ("Puts a copy in the place of the database.", "  digest restore /safe/digest-2026-11-30.sqlite3 --force"),
    "export": ("Writes everything as JSON Lines, which any version of this schema reads, on either database.", "  digest export all.jsonl.gz"),
    "import": ("Reads an export into an empty database: also from SQLite to PostgreSQL and back.", "  digest import all.jsonl.gz --config new/feeds.yaml"),
}


def main(command: str, arguments: list[str]) -> int:
    """Runs one of the four."""
    words, example = _WORDS[command]
    options = parser(command, words, f"feeds.yaml, edits/, notes/ and templates/ are plain files of yours; keep them in git.\n\nexample:\n{example}")
    options.add_argument("file", type=a_path)
    add_config(options)
    if command == "restore":
        options.add_argument("--force", action="store_true", help="also where a database is there; it is kept beside")
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    print({"backup": _backup, "restore": _restore, "export": _export, "import": _import}[command](loaded, chosen))
    return 0


def _backup(loaded: Loaded, chosen: Namespace) -> str:
    with opened(loaded) as engine:
        return f"{chosen.file}: {backup(engine, chosen.file) / 1e6:.1f} MB"


def _restore(loaded: Loaded, chosen: Namespace) -> str:
    address = wiring.database_address(loaded)
    if not address.startswith("sqlite:///"):
        raise ConfigError("digest restore puts back SQLite copies; for PostgreSQL use pg_restore, or `digest import`")
    target = Path(address.removeprefix("sqlite:///"))
    if target.exists():
        with at_work(loaded, LOCK), at_work(loaded):
            pass  # nobody does the daily job, or is in the middle of something
    restore(chosen.file, target, is_forced=chosen.force)
    return f"{target} is as it was in {chosen.file}"


def _export(loaded: Loaded, chosen: Namespace) -> str:
    with opened(loaded) as engine:
        counts = export(engine, chosen.file)
    return f"{chosen.file}: {sum(counts.values())} rows of {len(counts)} tables"


def _import(loaded: Loaded, chosen: Namespace) -> str:
    with opened(loaded) as engine:
        counts = take_in(engine, chosen.file)
    return f"{sum(counts.values())} rows of {len(counts)} tables"
