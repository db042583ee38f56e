"""What an editor does to a day, and what the panels of the desk show of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from digest import wiring
from digest.errors import ConfigError
from digest.model import MAIL_BYTES, Language
from digest.phrase import Phrase
from digest.settings.edit import add_word, set_threshold
from digest.workbench import Languages

if TYPE_CHECKING:
    from digest.serve.preview import Preview


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a request asks to see: the day, the languages of the reader, the language of the desk itself, light or dark."""

    day: date
    languages: Languages
    ui: Language
    scheme: str = "light"


def rule(form: FormData) -> tuple[str, float | None, float | None]:
    """(expression, points, threshold) of the form of the rules. Raises ConfigError."""
    try:
        points, threshold = (float(text) if (text := str(form.get(name, "")).strip()) else None for name in ("points", "threshold"))
    except ValueError as error:
        raise ConfigError(Phrase("points and threshold are numbers")) from error
    if (points is not None and not -20 <= points <= 20) or (threshold is not None and not 0 < threshold <= 100):
        raise ConfigError(Phrase("points lie between -20 and 20, a threshold above 0"))
    return str(form.get("expression", "")).strip()[:2000], points, threshold


def _save_rule(preview: Preview, seen: Seen, form: FormData) -> None:
    expression, points, threshold = rule(form)
    path, topic = preview.in_force.loaded.path, preview.edition.topics[0]
    if expression:
        add_word(path, topic, expression, points)
    if threshold:
        set_threshold(path, topic, threshold)


def _approve(preview: Preview, seen: Seen, *, is_on: bool) -> None:
    """Only what is archived can be approved: a day in the making may still become another."""
    if preview.table(seen.day).archived is None:
        raise ConfigError(Phrase("%(day)s is in the making; it can be approved when it is made", day=seen.day.isoformat()))
    preview.editing.approve(seen.day, is_on=is_on)


def _is_on(form: FormData) -> bool:
    return form.get("on") == "yes"


def _reword(preview: Preview, seen: Seen, form: FormData) -> None:
    """Only what differs from the words as they stand is kept; empty fields take the writer's words back."""
    table, story = preview.table(seen.day), str(form.get("story", ""))
    language = next((each for each in table.issue.languages if each == form.get("language")), None)
    article = next((each for each in table.issue.articles if each.pick.story.key == story), None)
    if article is None or language is None:
        raise HTTPException(404)
    now = article.wording(language)
    typed = {part: str(form.get(part, "")).strip() for part in ("headline", "summary", "blurb")}
    changes: dict[str, str | None] = {part: text or None for part, text in typed.items() if text != getattr(now, part)}
    if changes:
        preview.editing.reword(seen.day, story, language, changes)


ACTS: dict[str, Callable[[Preview, Seen, FormData], Any]] = {
    "pin": lambda preview, seen, form: preview.editing.pin(seen.day, str(form["story"]), is_on=_is_on(form)),
    "drop": lambda preview, seen, form: preview.editing.drop(seen.day, str(form["story"]), is_on=_is_on(form)),
    "order": lambda preview, seen, form: preview.editing.order(seen.day, str(form["stories"]).split()),
    "merge": lambda preview, seen, form: preview.editing.merge(seen.day, str(form["into"]), str(form["story"])),
    "unmerge": lambda preview, seen, form: preview.editing.unmerge(seen.day, str(form["story"])),
    "split": lambda preview, seen, form: preview.editing.split(seen.day, str(form["story"]), str(form["entry"])),
    "reword": _reword,
    "letter": lambda preview, seen, form: preview.editing.letter(seen.day, "en" if form.get("language") == "en" else "zh", str(form.get("text", ""))),
    "approve": lambda preview, seen, form: _approve(preview, seen, is_on=_is_on(form)),
    "undo": lambda preview, seen, form: preview.editing.undo() and "",
    "rule": _save_rule,
}
PANELS: dict[str, Callable[[Preview, Seen, Request], dict[str, Any]]] = {
    "stories": lambda preview, seen, request: {"table": preview.table(seen.day), "desk": _desk(preview, seen), "editing": preview.editing},
    "entries": lambda preview, seen, request: {"table": preview.table(seen.day), "threshold": _topic(preview).threshold},
    "entry": lambda preview, seen, request: _one_entry(preview, seen, request),
    "edit": lambda preview, seen, request: {"table": preview.table(seen.day), "story": request.query_params.get("story", "")},
    "letter": lambda preview, seen, request: {"table": preview.table(seen.day)},
    "rules": lambda preview, seen, request: {"topic": _topic(preview), "topic_name": preview.edition.topics[0]},
    "notes": lambda preview, seen, request: {"notes": preview.table(seen.day).notes(), "size": _size(preview, seen), "limit": MAIL_BYTES},
}


def _topic(preview: Preview) -> Any:
    return preview.in_force.loaded.settings.topics[preview.edition.topics[0]]


def _desk(preview: Preview, seen: Seen) -> dict[str, Any]:
    """What the editor has done to the day so far."""
    return asdict(wiring.desk(preview.in_force.loaded, seen.day))


def _one_entry(preview: Preview, seen: Seen, request: Request) -> dict[str, Any]:
    table, key = preview.table(seen.day), request.query_params.get("key", "")
    found = next((each for each in table.considered if each.entry.key == key), None)
    if found is None:
        raise HTTPException(404)
    article = next((each for each in table.issue.articles if each.pick.story.key == found.story), None)
    return {
        "each": found,
        "article": article,
        "title": table.words(found.entry, "title"),
        "text": table.words(found.entry, "text"),
        "threshold": _topic(preview).threshold,
    }


def _size(preview: Preview, seen: Seen) -> int:
    """Bytes of the mail's HTML."""
    return len(preview.table(seen.day).mail_part(seen.languages, "html").encode())
