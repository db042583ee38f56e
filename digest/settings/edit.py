"""Edits of ``feeds.yaml`` that keep its comments and its order. A file that would be wrong afterwards is not written.

Lists written one item a line are edited as lines, so that no comment moves; lists in brackets by the YAML library.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from digest.errors import ConfigError
from digest.phrase import Phrase
from digest.settings.load import load
from digest.settings.schema import unknown
from digest.text import canonical_url


def add_word(path: Path, topic: str, expression: str, points: float | None) -> None:
    """Adds a plain word to the topic, or with points a rule. Raises ConfigError when it is there already."""
    file = _open(path)
    settings = _topic(file, topic, path)
    if expression in _expressions(settings):
        raise ConfigError(Phrase("%(path)s: topic %(topic)s has “%(expression)s” already", path=str(path), topic=topic, expression=expression))
    item: Any = expression if points is None else CommentedMap({"find": expression, "points": points})
    _append(path, file, settings, "words" if points is None else "rules", [item])


def remove_word(path: Path, topic: str, expression: str) -> None:
    """Removes the word or rule from the topic. Raises ConfigError when it is not there, with what is."""
    while True:
        file = _open(path)
        settings = _topic(file, topic, path)
        places = [(key, place) for key in ("words", "rules") for place, rule in enumerate(settings.get(key) or []) if _find(rule) == expression]
        if not places:
            raise ConfigError(f"{path}: topic {topic} has no {expression!r}; `digest keywords list {topic}` shows what it has")
        key, place = places[0]
        _delete(path, file, settings, key, place)
        if len(places) == 1:
            return


def set_threshold(path: Path, topic: str, threshold: float) -> None:
    """Changes from how many points on an entry is in. Raises ConfigError."""
    file = _open(path)
    settings = _topic(file, topic, path)
    if "threshold" not in settings or settings.fa.flow_style():
        _by_library(path, file, lambda: settings.__setitem__("threshold", threshold))
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    row, _ = settings.lc.key("threshold")
    lines[row] = re.sub(r"(threshold:\s*)[^\s#]+", rf"\g<1>{threshold:g}", lines[row], count=1)
    _save(path, "\n".join(lines) + "\n")


def add_sources(path: Path, sources: Sequence[Mapping[str, str]]) -> list[str]:
    """Adds those sources whose name and address the file does not have; the names that were added."""
    file = _open(path)
    names, urls = {str(source["name"]) for source in file["sources"]}, {_address(str(source["url"])) for source in file["sources"]}
    new = []
    for source in sources:
        if source["name"] not in names and _address(source["url"]) not in urls:
            names.add(source["name"])
            urls.add(_address(source["url"]))
            new.append(CommentedMap(source))
    if new:
        _append(path, file, file, "sources", new)
    return [source["name"] for source in new]


def remove_source(path: Path, name: str) -> None:
    """Removes the source of that name or address. Raises ConfigError with the nearest name when there is none."""
    file = _open(path)
    listed = file.get("sources") or []
    places = [place for place, source in enumerate(listed) if name in (source["name"], source["url"])]
    if not places:
        raise ConfigError(f"{path}: {unknown(name, {str(source['name']) for source in listed}, 'source')}")
    _delete(path, file, file, "sources", places[0])


def _address(url: str) -> str:
    return canonical_url(url) or url


def _editor() -> YAML:
    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 4096
    editor.indent(mapping=2, sequence=4, offset=2)
    return editor


def _open(path: Path) -> Any:
    load(path)
    return _editor().load(path.read_text(encoding="utf-8"))


def _topic(file: Any, topic: str, path: Path) -> Any:
    topics = file.get("topics") or {}
    if topic not in topics:
        words = "%(path)s: there is no topic %(topic)s in this file; it has: %(known)s (see `extends`)"
        raise ConfigError(Phrase(words, path=str(path), topic=topic, known=", ".join(topics) or "–"))
    return topics[topic]


def _find(rule: Any) -> str:
    return str(rule["find"] if isinstance(rule, dict) else rule)


def _expressions(settings: Any) -> list[str]:
    return [_find(rule) for key in ("words", "rules") for rule in settings.get(key) or []]


def _append(path: Path, file: Any, parent: Any, key: str, items: Sequence[Any]) -> None:
    """Adds the items to ``parent[key]``; a list that is not there yet stands right below the first key of its parent."""
    listed = parent.get(key)
    if listed and listed.fa.flow_style():
        _by_library(path, file, lambda: listed.extend(items))
    elif parent.fa.flow_style():
        _by_library(path, file, lambda: parent.setdefault(key, []).extend(items))
    else:
        lines = path.read_text(encoding="utf-8").splitlines()
        if listed:
            row, column = listed.lc.item(len(listed) - 1)
            new = [" " * (column - 2) + "- " + _inline(item) for item in items]
        else:
            row, column = parent.lc.key(next(iter(parent)))
            new = [" " * column + f"{key}:", *(" " * (column + 2) + "- " + _inline(item) for item in items)]
            column += 2
        end = _end(lines, row, column - 2)
        _save(path, "\n".join(lines[:end] + new + lines[end:]) + "\n")


def _delete(path: Path, file: Any, parent: Any, key: str, place: int) -> None:
    listed = parent[key]
    if listed.fa.flow_style() or parent.fa.flow_style():
        _by_library(path, file, lambda: listed.pop(place))
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    row, column = listed.lc.item(place)
    start = row if len(listed) > 1 else parent.lc.key(key)[0]
    _save(path, "\n".join(lines[:start] + lines[_end(lines, row, column - 2) :]) + "\n")


def _end(lines: Sequence[str], row: int, column: int) -> int:
    """The line after the item that begins in ``row`` with its dash (or key) at ``column``: what follows further in is its own."""
    row += 1
    while row < len(lines) and lines[row].strip() and len(lines[row]) - len(lines[row].lstrip()) > column:
        row += 1
    return row


def _inline(item: Any) -> str:
    """The item on one line, quoted where YAML wants it."""
    if isinstance(item, CommentedMap):
        item.fa.set_flow_style()
    text = io.StringIO()
    _editor().dump([item], text)
    return text.getvalue().strip().removeprefix("- ")


def _by_library(path: Path, file: Any, change: Callable[[], Any]) -> None:
    change()
    text = io.StringIO()
    _editor().dump(file, text)
    _save(path, text.getvalue())


def _save(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(text, encoding="utf-8")
        _check(draft, path)
        draft.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def _check(draft: Path, path: Path) -> None:
    """Raises ConfigError when the edited file would be wrong; it speaks of the file that people know."""
    try:
        load(draft)
    except ConfigError as error:
        raise ConfigError(f"nothing was written, since the file would be wrong:\n{error}".replace(str(draft), str(path))) from error
