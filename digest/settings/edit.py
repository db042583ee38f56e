"""Edits of ``feeds.yaml`` that keep its comments and its order. A file that would be wrong afterwards is not written."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from digest.errors import ConfigError
from digest.settings.load import load
from digest.settings.schema import unknown
from digest.text import canonical_url


def add_word(path: Path, topic: str, expression: str, points: float | None) -> None:
    """Adds a plain word to the topic, or with points a rule. Raises ConfigError when it is there already."""
    editor, file = _open(path)
    settings = _topic(file, topic, path)
    if expression in _expressions(settings):
        raise ConfigError(f"{path}: topic {topic} has {expression!r} already")
    if points is None:
        settings.setdefault("words", []).append(expression)
    else:
        settings.setdefault("rules", []).append({"find": expression, "points": points})
    _save(path, editor, file)


def remove_word(path: Path, topic: str, expression: str) -> None:
    """Removes the word or rule from the topic. Raises ConfigError when it is not there, with what is."""
    editor, file = _open(path)
    settings = _topic(file, topic, path)
    if expression not in _expressions(settings):
        raise ConfigError(f"{path}: topic {topic} has no {expression!r}; `digest keywords list {topic}` shows what it has")
    for key in ("words", "rules"):
        for place in reversed(range(len(settings.get(key) or []))):
            if _find(settings[key][place]) == expression:
                del settings[key][place]
    _save(path, editor, file)


def add_sources(path: Path, sources: Sequence[Mapping[str, str]]) -> list[str]:
    """Adds those sources whose name and address the file does not have; the names that were added."""
    editor, file = _open(path)
    listed = file.setdefault("sources", [])
    names, urls = {str(source["name"]) for source in listed}, {_address(str(source["url"])) for source in listed}
    added = []
    for source in sources:
        if source["name"] in names or _address(source["url"]) in urls:
            continue
        names.add(source["name"])
        urls.add(_address(source["url"]))
        row = CommentedMap(source)
        row.fa.set_flow_style()
        listed.append(row)
        added.append(source["name"])
    if added:
        _save(path, editor, file)
    return added


def remove_source(path: Path, name: str) -> None:
    """Removes the source of that name or address. Raises ConfigError with the nearest name when there is none."""
    editor, file = _open(path)
    listed = file.get("sources") or []
    places = [place for place, source in enumerate(listed) if name in (source["name"], source["url"])]
    if not places:
        raise ConfigError(f"{path}: {unknown(name, {str(source['name']) for source in listed}, 'source')}")
    del listed[places[0]]
    _save(path, editor, file)


def _address(url: str) -> str:
    return canonical_url(url) or url


def _open(path: Path) -> tuple[YAML, Any]:
    load(path)
    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 4096
    editor.indent(mapping=2, sequence=4, offset=2)
    return editor, editor.load(path.read_text(encoding="utf-8"))


def _topic(file: Any, topic: str, path: Path) -> Any:
    topics = file.get("topics") or {}
    if topic not in topics:
        raise ConfigError(f"{path}: there is no topic {topic!r} in this file; it has: {', '.join(topics) or 'none (see `extends`)'}")
    return topics[topic]


def _find(rule: Any) -> str:
    return str(rule["find"] if isinstance(rule, dict) else rule)


def _expressions(settings: Any) -> list[str]:
    return [_find(rule) for key in ("words", "rules") for rule in settings.get(key) or []]


def _check(draft: Path, path: Path) -> None:
    """Raises ConfigError when the edited file would be wrong; it speaks of the file that people know."""
    try:
        load(draft)
    except ConfigError as error:
        raise ConfigError(f"nothing was written, since the file would be wrong:\n{error}".replace(str(draft), str(path))) from error


def _save(path: Path, editor: YAML, file: Any) -> None:
    text = io.StringIO()
    editor.dump(file, text)
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(text.getvalue(), encoding="utf-8")
        _check(draft, path)
        draft.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
