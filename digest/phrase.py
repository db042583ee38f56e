"""Words for people that are said later, in the language of whoever reads them."""

from __future__ import annotations


class Phrase(str):
    """A message of the catalogue with what fills its ``%(name)s``; as a string it is the English one. A tuple among the values holds ideas
    (``memory``, ``inference``), each said by its own message ``idea NAME`` where the catalogue has one; a phrase may hold phrases."""

    pattern: str
    values: dict[str, str | tuple[str, ...]]

    def __new__(cls, pattern: str, **values: str | tuple[str, ...]) -> Phrase:
        filled = pattern % {name: value if isinstance(value, str) else ", ".join(value) for name, value in values.items()} if values else pattern
        found = super().__new__(cls, filled)
        found.pattern, found.values = pattern, values
        return found
