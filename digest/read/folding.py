"""Text as the rules see it: one case, one width, one script, hyphens as spaces, LaTeX signs as characters.

Folding never changes the length, so every place in the folded text is the same place in the original.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LATEX = re.compile(
    r"\\(times|sim|approx|ge|geq|le|leq|to|rightarrow|pm|%|,)(?![a-z])|(?<=\d)(times)(?![a-z])|(?<=\d)(\*)(?= (?:speed|faster|accel|less|fewer|reduc))",
    re.IGNORECASE,
)
_MATH = re.compile(r"\$((?:[\d.,\s×%~≈<>≤≥=+±→x-]|\\[a-z]+){1,60})\$")
_SIGNS = {"times": "×", "sim": "~", "approx": "~", "ge": "≥", "geq": "≥", "le": "≤", "leq": "≤", "to": "→", "rightarrow": "→", "pm": "±", "%": "%", ",": " ", "*": "×"}  # fmt: skip
_SPACES = {ord(character): " " for character in "\n\t\r_$\u00a0"}
_HYPHENS = {ord(character): " " for character in "-\u2010\u2011\u2012\u2013\u2014\u2212/"}


class _Table(dict[int, str]):
    """One character to one character; a character that folds to several stays."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        is_raised = unicodedata.decomposition(character).startswith(("<super>", "<sub>"))  # 1024² is not 10242
        folded = character if is_raised else unicodedata.normalize("NFKC", character).lower()
        if len(folded) != 1:
            folded = character
        if "\u3400" <= folded <= "\u9fff":
            folded = _simplified(folded)
        self[code] = folded
        return folded


_TABLE = _Table()


@lru_cache
def _converter():  # type: ignore[no-untyped-def]  # the library has no types
    from opencc import OpenCC

    return OpenCC("t2s")


def _simplified(character: str) -> str:
    simple = _converter().convert(character)
    return simple if len(simple) == 1 else character


def fold(text: str) -> str:
    """For keyword rules; the same length as ``text``."""
    return signs(text).translate(_HYPHENS).translate(_SPACES)


def signs(text: str) -> str:
    """For figures: as ``fold``, but hyphens, dashes and line ends stay. The same length as ``text``."""
    folded = text.lower() if text.isascii() else text.translate(_TABLE)
    if "\\" in folded or "times" in folded or "*" in folded:
        folded = _LATEX.sub(lambda match: _SIGNS[match[1] or match[2] or match[3]].ljust(len(match[0])), folded)
    return _MATH.sub(r" \1 ", folded) if "$" in folded else folded
