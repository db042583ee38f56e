"""``digest init DIR``: a working folder of one's own."""

from __future__ import annotations

import shutil
from pathlib import Path

from digest.cli.arguments import parser
from digest.errors import ConfigError
from digest.shipped import SHIPPED

_FILES = ("feeds.yaml", "feeds.schema.json")
_IGNORED = "state/\nout/\n"


def main(command: str, arguments: list[str]) -> int:
    """Copies the shipped settings; never overwrites."""
    options = parser(command, "Lays out a folder with feeds.yaml and its schema. Files that exist are left alone, and it says so.")
    options.add_argument("folder", type=Path, metavar="DIR", help="where; made when it does not exist")
    chosen = options.parse_args(arguments)
    folder: Path = chosen.folder
    existing = [name for name in _FILES if (folder / name).exists()]
    if existing:
        raise ConfigError(f"{folder / existing[0]} exists; nothing was written. Choose another folder, or move it away")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            shutil.copyfile(SHIPPED / name, folder / name)
        if not (folder / ".gitignore").exists():
            (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot lay out {folder}: {error.strerror}") from error
    print(f"{folder}: feeds.yaml is yours to edit. Next:\n  cd {folder}\n  digest config check\n  digest run")
    return 0
