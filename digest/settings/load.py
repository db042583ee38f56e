"""Reading ``feeds.yaml``: fast when it is right, and when it is wrong every complaint with its place.

A right file is read by the quick YAML loader; only a wrong one is read again with line numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from digest.errors import ConfigError
from digest.settings.schema import Settings, unknown
from digest.shipped import SHIPPED

_INHERITED = ("groups", "topics", "kinds", "entities")
_EXPECTED = {
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "list_type": "must be a list",
    "dict_type": "must be keys with values",
    "model_type": "must be keys with values",
}


@dataclass(frozen=True)
class Loaded:
    """Settings and the folder that their relative paths start from; ``templates`` are the owner's own, beside the file where not said."""

    settings: Settings
    path: Path
    own_templates: Path | None = None

    @cached_property
    def folder(self) -> Path:
        return self.path.resolve().parent

    @property
    def templates(self) -> Path:
        return self.own_templates or self.folder / "templates"


def load(path: Path) -> Loaded:
    """The settings of the file. Raises ConfigError with every complaint, one a line, as file:line:column."""
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}:1:1: the file must hold keys with values, such as `sources:`")
    merged = _merged(raw, path)
    found = [(tuple(where), text) for where, text in _disagreements(merged)]
    settings = None
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        found += [complaint for detail in error.errors() for complaint in _complaints(dict(detail))]
    if settings is None or found:
        raise ConfigError(with_places(path, found))
    return Loaded(settings, path)


def files_of(path: Path) -> list[Path]:
    """The file and those that it extends, as far as they can be followed."""
    found: list[Path] = []
    while path not in found:
        found.append(path)
        try:
            raw = read_yaml(path)
        except ConfigError:
            break
        parent = raw.get("extends") if isinstance(raw, dict) else None
        if not isinstance(parent, str):
            break
        path = SHIPPED / "feeds.yaml" if parent == "shipped" else path.parent / parent
    return found


def with_places(path: Path, complaints: Iterable[tuple[tuple[str | int, ...], str]]) -> str:
    """The complaints as lines ``file:line:column: key: what is wrong``, in the order of the file, each once."""
    marked = read_yaml(path, with_places=True)
    found = set()
    for where, text in complaints:
        line, column = place_of(marked, where)
        name = ".".join(str(part) for part in where) or "the file"
        found.add((line, column, f"{path}:{line}:{column}: {name}: {text}"))
    return "\n".join(text for _, _, text in sorted(found))


def json_schema() -> str:
    """The JSON Schema of the file, for editors that complete and check it."""
    return json.dumps(Settings.model_json_schema(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def read_yaml(path: Path, *, with_places: bool = False) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; `digest init DIR` lays out a folder with one") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text; save it as UTF-8") from error
    try:
        return YAML(typ="rt").load(text) if with_places else _plain(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise ConfigError(f"{place}: not valid YAML: {(error.problem or error.context or '').splitlines()[0]}") from error
    except (YAMLError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid YAML: {(str(error) or type(error).__name__).splitlines()[0]}") from error


@lru_cache(maxsize=8)
def _plain(text: str) -> Any:
    """The text as plain values, which nobody may change: the same file is asked for again and again."""
    return YAML(typ="safe").load(text)


def _merged(raw: dict[str, Any], path: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The keys of the file with those it inherits, its own first; ``extends`` is followed as far as it leads."""
    parent_name = raw.get("extends")
    if not isinstance(parent_name, str):
        return raw
    parent_path = SHIPPED / "feeds.yaml" if parent_name == "shipped" else path.parent / parent_name
    seen = (*seen, path.resolve())
    if parent_path.resolve() in seen:
        raise ConfigError(f"{path}: `extends: {parent_name}` leads back to a file that extends it")
    parent = read_yaml(parent_path)
    if not isinstance(parent, dict):
        raise ConfigError(f"{parent_path}:1:1: the file must hold keys with values")
    parent = _merged(parent, parent_path, seen)
    merged = dict(raw)
    for key in _INHERITED:
        theirs, ours = parent.get(key), raw.get(key)
        if isinstance(theirs, dict) and isinstance(ours, dict | None):
            merged[key] = theirs | (ours or {})
        elif isinstance(theirs, list) and isinstance(ours, list | None):
            merged[key] = (ours or []) + theirs
    return merged


def _complaints(detail: dict[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    where = tuple(part for part in detail["loc"] if part != "[key]")
    if detail["type"] == "value_error":
        texts = str(detail["ctx"]["error"]).splitlines()
    elif detail["type"] == "extra_forbidden":
        texts = [f"is not a known key{_nearest(where)}"]
    elif detail["type"] == "string_pattern_mismatch":
        texts = [_form(where)]
    else:
        texts = [_EXPECTED.get(detail["type"]) or _lowered(detail["msg"])]
    return [(where, text) for text in texts]


def _form(where: Sequence[str | int]) -> str:
    """What a text must look like, in the words of the model."""
    field = _known_fields(where[:-1]).get(str(where[-1]))
    meaning = f": {_lowered(field.description)}" if field is not None and field.description else ""
    example = f" For instance {field.default}" if field is not None and isinstance(field.default, str) and field.default else ""
    return f"has not the form that it needs{meaning}{example}"


def _disagreements(raw: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Names that one part of the file uses and another does not have; tolerant of whatever else is wrong."""
    topics = set(raw["topics"]) if isinstance(raw.get("topics"), dict) else set()
    rows = raw["sources"] if isinstance(raw.get("sources"), list) else []
    names = [str(row["name"]) if isinstance(row, dict) and "name" in row else "" for row in rows]
    yield from ((("sources", place, "name"), f"the source {name!r} stands here twice") for place, name in enumerate(names) if name and name in names[:place])
    yield from _addresses(rows)
    database = str(raw.get("database", "state/digest.sqlite3"))
    if not database.strip() or ("://" in database and not database.startswith(("sqlite://", "postgres://", "postgresql"))):
        yield ("database",), "is no database that is known; write a path (SQLite) or postgresql://…"
    folders: list[str] = []
    for edition, chosen in (raw["editions"] if isinstance(raw.get("editions"), dict) else {}).items():
        chosen = chosen if isinstance(chosen, dict) else {}
        for key, known, what in (("topics", topics, "topic"), ("sources", set(names), "source")):
            wanted = chosen.get(key)
            for place, name in enumerate(wanted if isinstance(wanted, list) else []):
                if str(name) not in known:
                    yield ("editions", edition, key, place), unknown(str(name), known, what)
        plan = chosen.get("schedule")
        awaited = plan.get("wait_for") if isinstance(plan, dict) else None
        for place, name in enumerate(awaited if isinstance(awaited, list) else []):
            if str(name) not in names:
                yield ("editions", edition, "schedule", "wait_for", place), unknown(str(name), set(names), "source")
        folder = str(PurePath(str(chosen.get("folder", "out"))))
        if folder in folders:
            yield ("editions", edition, "folder"), "two editions write into the same folder"
        folders.append(folder)


def _addresses(rows: Sequence[Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Addresses of sources that nobody can ask."""
    for place, row in enumerate(rows):
        url = str(row.get("url") or "") if isinstance(row, dict) else ""
        if url and (what := _unusable(url)):
            yield ("sources", place, "url"), what


def _unusable(url: str) -> str:
    """Why an address cannot be one; empty where it can."""
    if re.match(r"(?:[\w-]+\.)+(?:com|org|net|io|ai|dev|cn|edu|me|co|xyz|blog)[/:]", url):
        return f"is a path as it stands; write https://{url}"
    scheme, colon, _ = url.partition(":")
    if not colon or not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9+.-]+", scheme):
        return ""
    if scheme not in ("http", "https", "file", "rsshub"):
        return f"{scheme}: is nothing that can be asked; write https://…, file:…, a path or rsshub:/…"
    try:
        parts = urlsplit(url)
        is_whole = scheme in ("file", "rsshub") or (bool(parts.hostname) and (parts.port or 1) > 0)
    except ValueError:
        is_whole = False
    return "" if is_whole and not re.search(r"\s", url) else "is not a whole address; write https://host/path"


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]


def _nearest(where: Sequence[str | int]) -> str:
    known = set(_known_fields(where[:-1]))
    hint = unknown(str(where[-1]), known, "key").partition("; ")[2]
    return f"; {hint}" if hint else f"; known here: {', '.join(sorted(known))}" if known else ""


def _known_fields(where: Sequence[str | int]) -> dict[str, FieldInfo]:
    """What the model knows at that place, by name."""
    model: Any = Settings
    for part in where:
        if isinstance(model, type) and issubclass(model, BaseModel) and part in model.model_fields:
            model = model.model_fields[str(part)].annotation
        else:
            model = _inner(model)
    model = model if isinstance(model, type) and issubclass(model, BaseModel) else _inner(model)
    return dict(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else {}


def _inner(annotation: Any) -> Any:
    arguments = getattr(annotation, "__args__", ())
    return next((argument for argument in reversed(arguments) if argument is not type(None)), annotation)


def place_of(marked: Any, where: Sequence[str | int]) -> tuple[int, int]:
    """Line and column (from 1) of the key, or of the nearest place around it that the file has."""
    line, column, node = 1, 1, marked
    for part in where:
        places = getattr(node, "lc", None)
        if places is None:
            break
        try:
            row, col = places.key(part) if isinstance(node, dict) else places.item(part)
            node = node[part]
        except (KeyError, IndexError, TypeError, AttributeError):
            break
        line, column = row + 1, col + 1
    return line, column
