"""The fixed words in each language: gettext catalogues under ``templates/locale``, dates and numbers by Babel."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from babel.dates import format_date, format_datetime
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations

from digest.errors import RenderError
from digest.model import Language

_LOCALES: dict[Language, str] = {"zh": "zh_Hans_CN", "en": "en_US"}
HTML_LANGUAGES: dict[Language, str] = {"zh": "zh-Hans", "en": "en"}


class Words:
    """Says fixed words, dates and counts in the language asked for. Raises RenderError when a catalogue is broken."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._catalogues = {language: _catalogue(folders, language) for language in _LOCALES}

    def say(self, language: Language, message: str, **values: object) -> str:
        """The message in that language, its ``%(name)s`` filled."""
        text = self._catalogues[language].gettext(message)
        return text % values if values else text

    def count(self, language: Language, one: str, many: str, number: int, **values: object) -> str:
        """The message in the plural form of that number, which is ``%(number)s``."""
        return self._catalogues[language].ngettext(one, many, number) % {"number": f"{number:,}", **values}

    def day(self, language: Language, day: date) -> str:
        """Such as "Monday, November 30, 2026" or "2026年11月30日星期一"."""
        return str(format_date(day, format="full", locale=_LOCALES[language]))

    def month(self, language: Language, day: date) -> str:
        """Such as "November 2026" or "2026年11月"."""
        return str(format_date(day, format="MMMM y" if language == "en" else "y年M月", locale=_LOCALES[language]))

    def weekday_name(self, language: Language, day: date) -> str:
        """Such as "Mon" or "周一"."""
        return str(format_date(day, format="EEE", locale=_LOCALES[language]))

    def weekday(self, language: Language, day: date) -> str:
        """Such as "Tuesday, Sep 8" or "9月8日星期二"."""
        return str(format_date(day, format="EEEE, MMM d" if language == "en" else "M月d日EEEE", locale=_LOCALES[language]))

    def moment(self, language: Language, moment: datetime, zone: str) -> str:
        """Day, hour and minute in the zone."""
        pattern = "MMM d, HH:mm" if language == "en" else "M月d日 HH:mm"
        return str(format_datetime(moment, format=pattern, tzinfo=ZoneInfo(zone), locale=_LOCALES[language]))

    def join(self, language: Language, parts: Iterable[str]) -> str:
        """A list in a sentence."""
        return ("、" if language == "zh" else ", ").join(parts)


def _catalogue(folders: Iterable[Path], language: Language) -> Translations:
    path = next((found for folder in folders if (found := folder / "locale" / f"{language}.po").is_file()), None)
    if path is None:
        raise RenderError(f"templates/locale/{language}.po is missing; copy it from the shipped templates")
    try:
        with path.open("rb") as file:
            catalogue = read_po(file, locale=_LOCALES[language], abort_invalid=True)
    except Exception as error:  # Babel's PoFileError and whatever broken bytes raise
        raise RenderError(f"{path} is not a readable catalogue: {error}") from error
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled)
