"""Short phrases carried into the other language when every word of them is known; else None, never half a phrase."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from digest.text import space_han

_NAME = re.compile(r"^(?:[A-Z][\w.+/]*[A-Z0-9][\w.+/-]*|[A-Z][a-z]+-(?:[A-Z]{2,}|\d)[\w.+/-]*|\d[\w.]*)$")
_TOKEN = re.compile(r"[A-Za-z0-9][\w.+/'-]*|[,;:]")
_DROPPED = frozenset("a an the our their its your this these those".split())
# English joints and how Chinese turns the parts around them; {0} stands before the joint in English.
_JOINTS = (
    ("based on", "基于{1}的{0}"),
    ("for", "用于{1}的{0}"),
    ("via", "通过{1}实现{0}"),
    ("through", "通过{1}实现{0}"),
    ("by", "通过{1}实现{0}"),
    ("with", "带{1}的{0}"),
    ("without", "不带{1}的{0}"),
    ("of", "{1}的{0}"),
    ("in", "{1}中的{0}"),
    ("on", "{1}上的{0}"),
    ("under", "{1}下的{0}"),
    ("from", "来自{1}的{0}"),
    ("and", "{0}与{1}"),
)
_VERBS = frozenset("accelerating speeding boosting improving enhancing scaling rethinking optimizing reducing".split())
_WORDS_OF_A_TERM = 5


class Glossary:
    """Knows terms in both languages, from lines such as ``mixture of experts = 混合专家``; # begins a comment."""

    def __init__(self, lines: Iterable[str]) -> None:
        pairs = [tuple(part.strip() for part in line.split("=", 1)) for line in lines if "=" in line and not line.lstrip().startswith("#")]
        self._chinese = {_form(english): chinese for english, chinese in pairs if english and chinese}
        self._english: dict[str, str] = {}
        for english, chinese in pairs:
            self._english.setdefault(chinese, english)

    def to_chinese(self, phrase: str) -> str | None:
        """The phrase in Chinese; None where a word is unknown. Names (AdamW, Megatron-LM) pass as they are, and a capital in a
        phrase of small letters makes a name (Adam)."""
        if re.search(r"[()（）\[\]{}\"“”$%\\]|\w\s[-–—]\s\w", phrase) or len(phrase) > 160:
            return None
        tokens = [token for token in _TOKEN.findall(phrase) if token.lower() not in _DROPPED]
        if sum(token[0].isupper() for token in tokens) <= len(tokens) / 2 or len(tokens) == 1:
            tokens = [token if not token[0].isupper() or _form(token) in self._chinese else f"{token}\0" for token in tokens]
        carried = self._part(tokens) if tokens else None
        return space_han(carried.replace("\0", "")) if carried else None

    def _part(self, tokens: Sequence[str]) -> str | None:
        """Split at the first joint that leaves something on both sides, the terms between them looked up."""
        if not tokens or tokens[0] in ",;:":
            return None
        whole = self._terms(tokens)
        if whole is not None:
            return whole
        lowered = [token.lower() for token in tokens]
        for place in range(1, len(tokens) - 1):
            for joint, order in _JOINTS:
                size = len(joint.split())
                if lowered[place : place + size] != joint.split():
                    continue
                before, after = self._terms(tokens[:place]), self._part(tokens[place + size :])
                if lowered[0] in _VERBS and joint in ("via", "through", "by", "with"):
                    order = "通过{1}{0}"
                return order.format(_apart(before), _apart(after)) if before and after else None
            if tokens[place] in ",;:":
                return None
        return None

    def _terms(self, tokens: Sequence[str]) -> str | None:
        found: list[str] = []
        place = 0
        while place < len(tokens):
            for size in range(min(_WORDS_OF_A_TERM, len(tokens) - place), 0, -1):
                chinese = self._chinese.get(_form(" ".join(tokens[place : place + size])))
                if chinese is not None:
                    found.append(chinese)
                    break
            else:
                size = 1
                if not (_NAME.match(tokens[place]) or tokens[place].endswith("\0")):
                    return None
                found.append(tokens[place])
            place += size
        return "".join(_apart(part) for part in found).strip()

    def terms_in(self, text: str, limit: int) -> list[str]:
        """The English terms of two words and more that stand in a text, longest first at each place, by place, each once."""
        tokens = [(match[0], match.start()) for match in re.finditer(r"[A-Za-z0-9][\w+/-]*", text)]
        found: list[str] = []
        place = 0
        while place < len(tokens) and len(found) < limit:
            for size in range(min(_WORDS_OF_A_TERM, len(tokens) - place), 0, -1):
                words = " ".join(token for token, _ in tokens[place : place + size])
                if (size > 1 or "-" in words) and (form := _form(words)) in self._chinese and form not in found:
                    found.append(form)
                    break
            else:
                size = 1
            place += size
        return found

    def chinese(self, form: str) -> str:
        """The Chinese of a term that ``terms_in`` gave."""
        return self._chinese[form]

    def to_english(self, phrase: str) -> str | None:
        """A short Chinese noun phrase in English; None where a part of it is unknown."""
        phrase = re.sub(r"^(?:一种|一个|一套|一项|一款|该|这[个种项])", "", phrase.strip())
        if not phrase or len(phrase) > 24:
            return None
        for pattern, order in ((r"(?:用于|面向|针对)(.+?)的(.+)", "{1} for {0}"), (r"基于(.+?)的(.+)", "{0}-based {1}")):
            if match := re.fullmatch(pattern, phrase):
                parts = [self._english_terms(part) for part in match.groups()]
                return order.format(*parts) if all(parts) else None
        return self._english_terms(phrase)

    def _english_terms(self, phrase: str) -> str | None:
        found: list[str] = []
        place = 0
        while place < len(phrase):
            if phrase[place] in " 的":
                place += 1
                continue
            if match := re.match(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", phrase[place:]):
                found.append(match[0])
                place += match.end()
                continue
            size = next((size for size in range(min(10, len(phrase) - place), 0, -1) if phrase[place : place + size] in self._english), 0)
            if not size:
                return None
            found.append(self._english[phrase[place : place + size]])
            place += size
        return " ".join(found) or None


def _apart(part: str | None) -> str:
    """A part with a space where Latin meets Latin or Chinese."""
    part = part or ""
    return (" " if re.match(r"[A-Za-z0-9]", part) else "") + part + (" " if re.search(r"[A-Za-z0-9]$", part) else "")


def _form(words: str) -> str:
    """The form in which terms are compared: lower case, hyphens as spaces, no plural s at the end."""
    form = re.sub(r"[-\s]+", " ", words.lower()).strip()
    return form[:-1] if len(form) > 4 and form.endswith("s") and not form.endswith("ss") else form
