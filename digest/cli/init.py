"""``digest init DIR``: a working folder of one's own, and what lets it live somewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

from digest.cli.arguments import a_path, parser
from digest.errors import ConfigError
from digest.shipped import SHIPPED

_FILES = ("feeds.yaml", "feeds.schema.json")
_IGNORED = "state/\nout/\nsecrets/\n"
PLACES = {
    "docker": {"Dockerfile": "Dockerfile", "dockerignore": ".dockerignore", "compose.yaml": "compose.yaml"},
    "systemd": {name: name for name in ("digest.service", "digest-run.service", "digest-run.timer")},
    "github": {"github/digest.yml": ".github/workflows/digest.yml"},
    "cron": {"crontab": "crontab"},
}
_NEXT = {
    "docker": "docker compose up -d        (read the top of compose.yaml first)",
    "systemd": "the first lines of each unit say where it goes",
    "github": "git init && git add . && git commit && git push; then Settings, Pages, GitHub Actions",
    "cron": "crontab crontab             (look at the paths first)",
}
_EPILOG = """examples:
  digest init my-digest
  digest init my-digest --with systemd
  digest init my-digest --with docker,github
"""


def main(command: str, arguments: list[str]) -> int:
    """Copies the shipped settings and files; never overwrites."""
    options = parser(command, "Lays out a folder with feeds.yaml and its schema. Files that exist are left alone, and it says so.", _EPILOG)
    options.add_argument("folder", type=a_path, metavar="DIR", help="where; made when it does not exist")
    options.add_argument("--with", dest="places", default="", metavar="A,B", help=f"also what it needs to live with {', '.join(PLACES)}")
    chosen = options.parse_args(arguments)
    folder: Path = chosen.folder
    places = [place for place in chosen.places.split(",") if place]
    if unknown := [place for place in places if place not in PLACES]:
        raise ConfigError(f"--with knows {', '.join(PLACES)}, not {unknown[0]!r}")
    wanted = {SHIPPED / name: folder / name for name in _FILES}
    wanted |= {SHIPPED / "deploy" / source: folder / target for place in places for source, target in PLACES[place].items()}
    existing = [target for target in wanted.values() if target.exists()]
    is_only_added = places and all(target.name in _FILES for target in existing)  # a place for a folder that is there already
    if existing and not is_only_added:
        raise ConfigError(f"{existing[0]} exists; nothing was written. Choose another folder, or move it away")
    try:
        for source, target in wanted.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            if target not in existing:
                shutil.copyfile(source, target)
        if not (folder / ".gitignore").exists():
            (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot lay out {folder}: {error.strerror}") from error
    print(f"{folder}: feeds.yaml is yours to edit. Next:\n  cd {folder}\n  digest config check\n  digest run")
    for place in places:
        print(f"  {place}: {_NEXT[place]}")
    return 0
