"""How Chinese characters are spoken, in Latin letters without tones: names are carried into English so."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=16)
def spoken(text: str) -> str:
    """The pinyin of all Chinese characters of a text in one word of lower-case letters."""
    from pypinyin import lazy_pinyin

    han = "".join(character for character in text if "\u3400" <= character <= "\u9fff")
    return "".join(lazy_pinyin(han))
