"""What an editor wrote for a day, in plain files beside ``feeds.yaml``: ``notes/DATE.zh.md`` and ``.en.md``, ``edits/DATE.yaml``."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from digest.errors import ConfigError
from digest.model import Desk, Language, Merge, Reworded, Split
from digest.settings.load import place_of, read_yaml

_LETTER_LIMIT = 100_000


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class _Words(_Part):
    headline: str | None = Field(None, min_length=1, max_length=300)
    summary: str | None = Field(None, max_length=5000)
    blurb: str | None = Field(None, max_length=1000)


class _Merge(_Part):
    into: str
    stories: list[str] = Field(min_length=1)


class _Split(_Part):
    story: str
    entries: list[str] = Field(min_length=1)


class _Edits(_Part):
    approved: bool = False
    pin: list[str] = []
    drop: list[str] = []
    order: list[str] = []
    split: list[_Split] = []
    merge: list[_Merge] = []
    reword: dict[str, dict[Language, _Words]] = {}


def load_desk(folder: Path, day: date) -> Desk:
    """The letters and edits of a day; an empty desk where there are none. Raises ConfigError with file, line and column."""
    letters: dict[Language, str] = {}
    for language in ("zh", "en"):
        path = folder / "notes" / f"{day.isoformat()}.{language}.md"
        if path.is_file():
            letters[language] = _letter(path)
    edits = _edits(folder / "edits" / f"{day.isoformat()}.yaml")
    return Desk(
        letters={language: letter for language, letter in letters.items() if letter},
        pin=tuple(edits.pin),
        drop=tuple(edits.drop),
        order=tuple(edits.order),
        split=tuple(Split(story=split.story, entries=tuple(split.entries)) for split in edits.split),
        approved=edits.approved,
        merge=tuple(Merge(into=merge.into, stories=tuple(merge.stories)) for merge in edits.merge),
        reword=tuple(
            Reworded(story=story, language=language, headline=words.headline, summary=words.summary, blurb=words.blurb)
            for story, by_language in edits.reword.items()
            for language, words in by_language.items()
        ),
    )


def change_edits(folder: Path, day: date, change: Callable[[dict[str, Any]], None]) -> None:
    """Lets ``change`` edit the day's edits and saves them, comments kept; a file that would be wrong is not written. Raises ConfigError."""
    path = folder / "edits" / f"{day.isoformat()}.yaml"
    editor = YAML()
    editor.preserve_quotes, editor.width, editor.allow_unicode = True, 4096, True
    found: Any = (read_yaml(path, with_places=True) if path.is_file() else None) or CommentedMap()
    change(found)
    for key in [key for key, value in found.items() if value in ([], {}, False)]:
        del found[key]
    try:
        _Edits.model_validate(found)
    except ValidationError as error:
        detail = error.errors()[0]
        raise ConfigError(f"nothing was saved: {'.'.join(str(part) for part in detail['loc'])}: {detail['msg'].lower()}") from error
    text = io.StringIO()
    if found:
        editor.dump(found, text)
    write_file(path, text.getvalue())


def write_letter(folder: Path, day: date, language: Language, letter: str) -> None:
    """Saves the editor's letter; an empty one is removed. Raises ConfigError."""
    write_file(folder / "notes" / f"{day.isoformat()}.{language}.md", f"{letter.strip()[:_LETTER_LIMIT]}\n" if letter.strip() else "")


def write_file(path: Path, text: str) -> None:
    """Writes the file whole, or removes it where there is nothing to say. Raises ConfigError."""
    try:
        if not text:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.draft")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def _letter(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")[:_LETTER_LIMIT].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not readable as UTF-8 text ({type(error).__name__}); save it as UTF-8") from error


def _edits(path: Path) -> _Edits:
    if not path.is_file():
        return _Edits()
    raw: Any = read_yaml(path) or {}
    try:
        return _Edits.model_validate(raw)
    except ValidationError as error:
        marked = read_yaml(path, with_places=True)
        lines = []
        for detail in error.errors():
            where = tuple(part for part in detail["loc"] if part != "[key]")
            line, column = place_of(marked, where)
            lines.append(f"{path}:{line}:{column}: {'.'.join(str(part) for part in where)}: {detail['msg'].lower()}")
        raise ConfigError("\n".join(lines)) from error
