"""What an editor wrote for a day, in plain files beside ``feeds.yaml``: ``notes/DATE.zh.md`` and ``.en.md``, ``edits/DATE.yaml``."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from digest.errors import ConfigError
from digest.model import Desk, Language, Merge, Reworded
from digest.settings.load import place_of, read_yaml

_LETTER_LIMIT = 100_000


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Words(_Part):
    headline: str | None = Field(None, max_length=300)
    summary: str | None = Field(None, max_length=5000)
    blurb: str | None = Field(None, max_length=1000)


class _Merge(_Part):
    into: str
    stories: list[str] = Field(min_length=1)


class _Edits(_Part):
    pin: list[str] = []
    drop: list[str] = []
    order: list[str] = []
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
        merge=tuple(Merge(into=merge.into, stories=tuple(merge.stories)) for merge in edits.merge),
        reword=tuple(
            Reworded(story=story, language=language, headline=words.headline, summary=words.summary, blurb=words.blurb)
            for story, by_language in edits.reword.items()
            for language, words in by_language.items()
        ),
    )


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
