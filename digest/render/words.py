"""The fixed words in each language: gettext catalogues under ``templates/locale``, dates and numbers by Babel."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_datetime, format_interval
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from babel.support import Translations

from digest.errors import RenderError
from digest.model import Language
from digest.phrase import Phrase
from digest.text import space_han

_LOCALES: dict[Language, str] = {"zh": "zh_Hans_CN", "en": "en_US"}
HTML_LANGUAGES: dict[Language, str] = {"zh": "zh-Hans", "en": "en"}


class Words:
    """Says fixed words, dates and counts in the language asked for. Raises RenderError when a catalogue is broken."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._catalogues = {language: _catalogue(folders, language) for language in _LOCALES}
        self._said: dict[tuple[Language, str], str] = {}

    def say(self, language: Language, message: str, **values: object) -> str:
        """The message in that language, its ``%(name)s`` filled."""
        key = language, message
        if key not in self._said:
            self._said[key] = self._catalogues[language].gettext(message)
        text = self._said[key]
        return _filled(language, text, values) if values else text

    def phrase(self, language: Language, said: str) -> str:
        """A ``Phrase`` in that language; plain words as they are."""
        if not isinstance(said, Phrase):
            return said
        values = {name: self.phrase(language, value) if isinstance(value, str) else self._ideas(language, value) for name, value in said.values.items()}
        if language != "zh" or not values:
            return self.say(language, said.pattern, **values) if said else ""
        told = ""
        for piece in re.split(r"(%\(\w+\)s)", self.say(language, said.pattern)):
            words = values.get(piece[2:-2], piece) if piece.startswith("%(") else piece
            told += " " + words if len(space_han(told[-1:] + words[:1])) == 3 else words  # the words themselves stay as they are
        return told

    def _ideas(self, language: Language, names: Iterable[str]) -> str:
        said = {name: self.say(language, f"idea {name}") for name in names}
        return ("、" if language == "zh" else ", ").join(name if words == f"idea {name}" else words for name, words in said.items())

    def count(self, language: Language, one: str, many: str, number: int, **values: object) -> str:
        """The message in the plural form of that number, which is ``%(number)s``."""
        return _filled(language, self._catalogues[language].ngettext(one, many, number), {"number": f"{number:,}", **values})

    def day(self, language: Language, day: date) -> str:
        """Such as "Monday, November 30, 2026" or "2026年11月30日星期一"."""
        return _date(day, "full", language)

    def short_day(self, language: Language, day: date) -> str:
        """Such as "Nov 30" or "11月30日"."""
        return _date(day, "MMM d" if language == "en" else "M月d日", language)

    def month(self, language: Language, day: date) -> str:
        """Such as "November 2026" or "2026年11月"."""
        return _date(day, "MMMM y" if language == "en" else "y年M月", language)

    def week(self, language: Language, monday: date) -> str:
        """Such as "Week 48, Nov 23 – 29, 2026" or "2026年第48周（11月23日至29日）"."""
        sunday, (year, number, _) = monday + timedelta(days=6), monday.isocalendar()
        if language == "zh":
            until = f"{sunday.day}日" if sunday.month == monday.month else f"{sunday.month}月{sunday.day}日"
            return f"{year}年第{number}周（{monday.month}月{monday.day}日至{until}）"
        return f"Week {number}, {format_interval(monday, sunday, 'yMMMd', locale=_LOCALES[language])}"

    def decimal(self, language: Language, number: float) -> str:
        """With at most two digits behind the point."""
        return str(format_decimal(number, format="#,##0.##", locale=_LOCALES[language]))

    def weekday_name(self, language: Language, day: date) -> str:
        """Such as "Mon" or "周一"."""
        return _date(day, "EEE", language)

    def dated(self, language: Language, day: date) -> str:
        """Such as "Mon, Nov 30, 2026" or "2026年11月30日周一"."""
        return _date(day, "EEE, MMM d, y" if language == "en" else "y年M月d日EEE", language)

    def weekday(self, language: Language, day: date) -> str:
        """Such as "Tuesday, Sep 8" or "9月8日星期二"."""
        return _date(day, "EEEE, MMM d" if language == "en" else "M月d日EEEE", language)

    def moment(self, language: Language, moment: datetime, zone: str) -> str:
        """Day, hour and minute in the zone."""
        return _moment(moment, "MMM d, HH:mm" if language == "en" else "M月d日 HH:mm", zone, language)

    def join(self, language: Language, parts: Iterable[str]) -> str:
        """A list in a sentence."""
        return ("、" if language == "zh" else ", ").join(parts)


def _filled(language: Language, text: str, values: Mapping[str, object]) -> str:
    try:
        return text % values
    except (KeyError, ValueError, TypeError) as error:
        raise RenderError(f"templates/locale/{language}.po: the placeholders of {text!r} are wrong: {error}") from error


@lru_cache(maxsize=4096)
def _date(day: date, pattern: str, language: Language) -> str:
    return str(format_date(day, format=pattern, locale=_LOCALES[language]))


@lru_cache(maxsize=4096)
def _moment(moment: datetime, pattern: str, zone: str, language: Language) -> str:
    return str(format_datetime(moment, format=pattern, tzinfo=ZoneInfo(zone), locale=_LOCALES[language]))


def _catalogue(folders: Iterable[Path], language: Language) -> Translations:
    path = next((found for folder in folders if (found := folder / "locale" / f"{language}.po").is_file()), None)
    if path is None:
        raise RenderError(f"templates/locale/{language}.po is missing; copy it from the shipped templates")
    try:
        return _translations(path.read_bytes(), language)
    except Exception as error:  # Babel's PoFileError and whatever broken bytes raise
        raise RenderError(f"{path} is not a readable catalogue: {error}") from error


@lru_cache(maxsize=8)
def _translations(catalogue: bytes, language: Language) -> Translations:
    compiled = io.BytesIO()
    write_mo(compiled, read_po(io.BytesIO(catalogue), locale=_LOCALES[language], abort_invalid=True))
    compiled.seek(0)
    return Translations(compiled)
