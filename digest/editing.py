"""What an editor does to a day, as changes of plain files beside ``feeds.yaml``: each can be undone, none touches the archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from digest.errors import ConfigError
from digest.model import Language
from digest.phrase import Phrase
from digest.settings.desk import change_edits, write_file, write_letter

_KEPT = 100
Edits = dict[str, Any]


class Editing:
    """The editor's hand on the days of a folder. ``undo`` takes back the last change, whatever it was."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before: list[tuple[dict[Path, str], dict[Path, str]]] = []  # (as it was, as we left it)

    def pin(self, day: date, story: str, *, is_on: bool) -> None:
        """Puts the article first and features it, or lets it go."""
        self._edit(day, lambda edits: _toggle(edits, "pin", story, is_on))

    def drop(self, day: date, story: str, *, is_on: bool) -> None:
        """Takes the article out, or brings it back."""
        self._edit(day, lambda edits: _toggle(edits, "drop", story, is_on))

    def order(self, day: date, stories: Sequence[str]) -> None:
        """The order of all articles."""
        self._edit(day, lambda edits: edits.__setitem__("order", list(stories)))

    def merge(self, day: date, into: str, story: str) -> None:
        """Makes the story a part of another."""
        if into == story:
            raise ConfigError(Phrase("a story cannot be merged into itself"))

        def change(edits: Edits) -> None:
            merges = edits.setdefault("merge", [])
            own = next((merge for merge in merges if merge["into"] == into), None)
            if own is None:
                merges.append({"into": into, "stories": [story]})
            elif story not in own["stories"]:
                own["stories"].append(story)

        self._edit(day, change)

    def split(self, day: date, story: str, entry: str) -> None:
        """Takes an entry out of a story; one that an editor merged in goes back to where it was."""

        def change(edits: Edits) -> None:
            splits = edits.setdefault("split", [])
            own = next((split for split in splits if split["story"] == story), None)
            if own is None:
                splits.append({"story": story, "entries": [entry]})
            elif entry not in own["entries"]:
                own["entries"].append(entry)

        self._edit(day, change)

    def unmerge(self, day: date, story: str) -> None:
        """Lets a story that was merged into another stand alone again."""

        def change(edits: Edits) -> None:
            for merge in edits.get("merge", []):
                if story in merge["stories"]:
                    merge["stories"].remove(story)
            edits["merge"] = [merge for merge in edits.get("merge", []) if merge["stories"]]

        self._edit(day, change)

    def reword(self, day: date, story: str, language: Language, words: dict[str, str | None]) -> None:
        """Other words for headline, summary or blurb; None takes an editor's words back."""

        def change(edits: Edits) -> None:
            own = edits.setdefault("reword", {}).setdefault(story, {}).setdefault(language, {})
            for part, text in words.items():
                if text is None:
                    own.pop(part, None)
                else:
                    own[part] = text.strip()
            rewords = edits["reword"]
            if not own:
                del rewords[story][language]
            if not rewords[story]:
                del rewords[story]

        self._edit(day, change)

    def approve(self, day: date, *, is_on: bool) -> None:
        """Says that the day may go out, or takes that back."""
        self._edit(day, lambda edits: edits.__setitem__("approved", is_on))

    def letter(self, day: date, language: Language, text: str) -> None:
        """The letter before the issue, in Markdown."""
        before = self._now(day)
        write_letter(self._folder, day, language, text)
        self._remember(before)

    def undo(self) -> bool:
        """Takes back the last change; whether there was one. Raises ConfigError when somebody else has changed the files since."""
        if not self._before:
            return False
        before, after = self._before[-1]
        if _texts(after) != after:
            raise ConfigError(Phrase("the files of the day were changed elsewhere since; nothing was taken back"))
        self._before.pop()
        for path, text in before.items():
            write_file(path, text)
        return True

    @property
    def can_undo(self) -> bool:
        return bool(self._before)

    def _edit(self, day: date, change: Callable[[Edits], Any]) -> None:
        before = self._now(day)
        change_edits(self._folder, day, change)
        self._remember(before)

    def _now(self, day: date) -> dict[Path, str]:
        paths = [self._folder / "edits" / f"{day}.yaml", *(self._folder / "notes" / f"{day}.{language}.md" for language in ("zh", "en"))]
        return _texts(paths)

    def _remember(self, before: dict[Path, str]) -> None:
        self._before.append((before, _texts(before)))
        del self._before[:-_KEPT]


def _texts(paths: Iterable[Path]) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") if path.is_file() else "" for path in paths}


def _toggle(edits: Edits, name: str, story: str, is_on: bool) -> None:
    found = [key for key in edits.get(name, []) if key != story]
    edits[name] = [*found, story] if is_on else found
