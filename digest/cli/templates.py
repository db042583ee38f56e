"""``digest templates``: which files make the pages, and copies of them to change."""

from __future__ import annotations

import shutil
from argparse import Namespace
from difflib import get_close_matches
from pathlib import Path

from digest.cli.arguments import parser
from digest.errors import ConfigError
from digest.shipped import SHIPPED

_EPILOG = """A file in `templates/` beside feeds.yaml hides the shipped one of the same name; all others go on coming with the program.

examples:
  digest templates list
  digest templates copy web/style.css locale/zh.po
  digest site build                      all pages with the changed templates; an error names file and line and changes nothing
"""


def main(command: str, arguments: list[str]) -> int:
    """Lists or copies templates."""
    options = parser(command, "Lists the templates, or copies some to change them.", _EPILOG)
    kinds = options.add_subparsers(dest="what", required=True, metavar="list|copy")
    copying = kinds.add_parser("copy", help="copies shipped templates beside feeds.yaml; never overwrites")
    copying.add_argument("names", nargs="+", metavar="NAME", help="as `digest templates list` prints it")
    for kind in (kinds.add_parser("list", help="every template, and which of them are yours"), copying):
        kind.add_argument("--config", type=Path, default=Path("feeds.yaml"), metavar="FILE", help="the settings (feeds.yaml)")
    chosen = options.parse_args(arguments)
    return _list(chosen) if chosen.what == "list" else _copy(chosen)


def _shipped() -> list[str]:
    folder = SHIPPED / "templates"
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _list(chosen: Namespace) -> int:
    own = chosen.config.parent / "templates"
    names = _shipped()
    for name in names:
        print(f"{name}{'  (yours)' if _is_own(own / name, name) else ''}")
    for path in sorted(path.relative_to(own).as_posix() for path in own.rglob("*") if path.is_file()) if own.is_dir() else []:
        if path not in names:
            print(f"{path}  (yours; no shipped template has this name)")
    return 0


def _is_own(path: Path, name: str) -> bool:
    return path.is_file() and path.resolve() != (SHIPPED / "templates" / name).resolve()


def _copy(chosen: Namespace) -> int:
    names, own = _shipped(), chosen.config.parent / "templates"
    for name in chosen.names:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            raise ConfigError(f"there is no template {name!r}" + (f"; did you mean {near[0]!r}?" if near else "; `digest templates list` names them"))
        if (own / name).exists():
            raise ConfigError(f"{own / name} exists; nothing was written over it")
    for name in chosen.names:
        try:
            (own / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SHIPPED / "templates" / name, own / name)
        except OSError as error:
            raise ConfigError(f"cannot write {own / name}: {error.strerror}") from error
        print(own / name)
    return 0
