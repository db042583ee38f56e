"""Edits of ``feeds.yaml`` that keep its comments and its order. A file that would be wrong afterwards is not written."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from digest.errors import ConfigError
from digest.settings.load import load


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


def _save(path: Path, editor: YAML, file: Any) -> None:
    text = io.StringIO()
    editor.dump(file, text)
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(text.getvalue(), encoding="utf-8")
        load(draft)
        draft.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
