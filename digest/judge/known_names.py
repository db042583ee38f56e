"""The names of a sentence that its source does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from digest.judge.complaints import Complaint
from digest.judge.facts import Reading
from digest.judge.names import COMMON, is_known_as, key, key_text, names
from digest.phrase import Phrase


def unknown_names(told: Reading, held: Reading) -> Iterator[Complaint]:
    held_text = held.text.lower()
    squeezed = key_text(held.text)
    for name in names(told.text):
        if re.fullmatch(r"v\d[\d.]*", name.key) and name.key[1:] in squeezed:
            continue
        if (
            name.key in squeezed
            or name.text.lower() in held_text
            or is_known_as(name.key, held.text)
            or _is_held_in_parts(name.text, squeezed)
            or _is_spoken(name.text, held.text)
        ):
            continue
        yield Complaint("name", name.text, Phrase("the name %(name)s is not in the source", name=name.text))


def _is_held_in_parts(name: str, squeezed: str) -> bool:
    """ "Muon-optimized", "A100s": the parts with a capital or digit are in the source."""
    parts = [part for part in re.split(r"[-/_]", name) if re.search(r"[A-Z0-9]", part)]
    return "-" in name + "/" and all(key(part) in COMMON or (len(key(part)) >= 2 and key(part) in squeezed) for part in parts)


def _is_spoken(name: str, source: str) -> bool:
    """Whether a name in Latin letters is how Chinese characters of the source are spoken (观澜-32B: Guanlan-32B)."""
    from digest.judge.pinyin import spoken

    letters = re.sub(r"[^a-z]", "", re.split(r"[-\d'’]", name.lower())[0])
    return len(letters) >= 4 and letters in spoken(source)
