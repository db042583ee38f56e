r"""The small language in which rules are written.

    speedup              a word; a final s is free, case, width and script are folded, hyphen = space
    accelerat*           a word form: the rest of the word is free
    mixed precision      a phrase
    H100 | B200          alternatives
    {faster} ~ {train}   both in one sentence, either order; {name} is a group
    {faster} ~6 {train}  and at most six words between them
    less (memory | data) one right after the other, in this order
    (a | b) ~ c          brackets

Latin words match at word borders; Chinese matches anywhere. All literal words of all expressions are found in
one pass (Aho-Corasick); an expression only looks at the places that this pass found, in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import ahocorasick_rs

from digest.errors import ConfigError
from digest.phrase import Phrase
from digest.read.folding import fold
from digest.text import sentence_spans

Span = tuple[int, int]
_TOKEN = re.compile(r"\s*(?:(\{[a-z0-9-]+\})|(~\d*)|([|()])|([^\s|(){}~]+))")
_WORD = re.compile(r"[^\W\u3400-\u9fff]+|[\u3400-\u9fff]")
_WORDY = re.compile(r"\w")
_SPACE_RUN = re.compile(" {2,}")
_SPACES_AND_HYPHENS = frozenset(" \t\n-\u00a0\u2010\u2011\u2012\u2013\u2014/_")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A part of an expression. ``phrases`` are all that it may need: where none is found, it is not found."""

    phrases: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class Either(Node):
    """Any of the phrases in ``own``, or one of the ``parts``."""

    own: frozenset[int]
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Near(Node):
    left: Node
    right: Node
    words: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Then(Node):
    left: Node
    right: Node


def _either(nodes: Sequence[Node]) -> Either:
    """One alternative of all, those inside taken out, so that many words are one look-up."""
    own: set[int] = set()
    parts: list[Node] = []
    for node in nodes:
        if isinstance(node, Either):
            own |= node.own
            parts += node.parts
        else:
            parts.append(node)
    return Either(frozenset(own).union(*(part.phrases for part in parts)), frozenset(own), tuple(dict.fromkeys(parts)))


class Reading:
    """A text with the places of all known phrases; what expressions are matched on.

    ``title`` and ``text`` are joined by a line end: the title is the first sentence, and offsets at or beyond
    ``text_start`` are in the text.
    """

    def __init__(self, title: str, text: str, hits: Mapping[int, list[Span]], joined: str) -> None:
        self.joined = joined
        self.text_start = len(title) + 1
        self._hits = hits
        self._hit_phrases = frozenset(hits)
        self._sentence_starts: list[int] = []
        self._word_starts: list[int] = []
        self._found: dict[Node, list[Span]] = {}

    def spans(self, node: Node) -> list[Span]:
        """Where the expression is found, in order."""
        found = self._found.get(node)
        if found is None:
            found = self._look(node) if self.has_words_of(node) else []
            self._found[node] = found
        return found

    def has_words_of(self, node: Node) -> bool:
        """Whether any phrase of the expression was found at all: the quick no before ``spans``."""
        return not self._hit_phrases.isdisjoint(node.phrases)

    def _look(self, node: Node) -> list[Span]:
        if isinstance(node, Near):
            return self._near(node)
        if isinstance(node, Then):
            return self._then(node)
        assert isinstance(node, Either)
        found = [span for index in self._hit_phrases & node.own for span in self._hits[index]]
        for part in node.parts:
            if self.has_words_of(part):
                found += self.spans(part)
        return sorted(set(found)) if len(found) > 1 else found

    def _then(self, node: Then) -> list[Span]:
        ends: dict[int, list[int]] = {}
        for start, end in self.spans(node.right):
            ends.setdefault(start, []).append(end)
        found = {(start, right_end) for start, end in self.spans(node.left) for right_end in ends.get(end, []) or ends.get(self._after_spaces(end), [])}
        return sorted(found)

    def _after_spaces(self, place: int) -> int:
        while place < len(self.joined) and self.joined[place] in _SPACES_AND_HYPHENS:
            place += 1
        return place

    def _near(self, node: Near) -> list[Span]:
        """Each left with the nearest right on either side: what is not near to those is near to none."""
        lefts = self.spans(node.left)
        rights = self.spans(node.right) if lefts else []
        if not rights:
            return []
        by_end = sorted(rights, key=itemgetter(1)) if len(rights) > 1 else rights
        starts, ends = list(map(itemgetter(0), rights)), list(map(itemgetter(1), by_end))
        found = set()
        for left in lefts:
            after, before = bisect_left(starts, left[1]), bisect_right(ends, left[0])
            for right in rights[after : after + 1] + by_end[max(0, before - 1) : before]:
                if self._are_near(left, right, node.words):
                    found.add((min(left[0], right[0]), max(left[1], right[1])))
        return sorted(found)

    def _are_near(self, one: Span, other: Span, words: int | None) -> bool:
        first, second = (one, other) if one <= other else (other, one)
        if second[0] < first[1] or self.sentence(first[0]) != self.sentence(second[0]):
            return False
        return words is None or self._word(second[0]) - self._word(first[1] - 1) - 1 <= words

    def sentence(self, offset: int) -> int:
        """The number of the sentence that the offset lies in."""
        if not self._sentence_starts:
            self._sentence_starts = [start for start, _ in sentence_spans(self.joined)] or [0]
        return bisect_right(self._sentence_starts, offset) - 1

    def _word(self, offset: int) -> int:
        if not self._word_starts:
            self._word_starts = [match.start() for match in _WORD.finditer(self.joined)] or [0]
        return bisect_right(self._word_starts, offset) - 1


@dataclass
class Lexicon:
    """Compiles expressions and reads texts. Compile everything first, then read."""

    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _index_by_phrase: dict[str, int] = field(default_factory=dict)
    _compiled_groups: dict[str, Node] = field(default_factory=dict)
    _open_groups: list[str] = field(default_factory=list)
    _automaton: ahocorasick_rs.AhoCorasick | None = None
    _checks: list[list[_Check]] = field(default_factory=list)

    def compile(self, expression: str) -> Node:
        """The expression ready for matching. Raises ConfigError that quotes it and says what is wrong."""
        self._automaton = None
        tokens = _tokens(expression)
        node, rest = self._alternatives(tokens, expression)
        if rest:
            raise ConfigError(Phrase("in “%(where)s”: “%(what)s” stands where nothing is expected", where=expression, what=rest[0]))
        return node

    def any_of(self, expressions: Sequence[str]) -> Node:
        """The alternatives as one expression."""
        return _either([self.compile(expression) for expression in expressions])

    def _alternatives(self, tokens: list[str], expression: str) -> tuple[Node, list[str]]:
        node, tokens = self._nears(tokens, expression)
        parts = [node]
        while tokens and tokens[0] == "|":
            node, tokens = self._nears(tokens[1:], expression)
            parts.append(node)
        return (parts[0] if len(parts) == 1 else _either(parts)), tokens

    def _nears(self, tokens: list[str], expression: str) -> tuple[Node, list[str]]:
        node, tokens = self._thens(tokens, expression)
        while tokens and tokens[0].startswith("~"):
            words = int(tokens[0][1:]) if tokens[0][1:] else None
            right, tokens = self._thens(tokens[1:], expression)
            node = Near(node.phrases | right.phrases, node, right, words)
        return node, tokens

    def _thens(self, tokens: list[str], expression: str) -> tuple[Node, list[str]]:
        node, tokens = self._one(tokens, expression)
        while tokens and tokens[0] not in ("|", ")") and not tokens[0].startswith("~"):
            right, tokens = self._one(tokens, expression)
            node = Then(node.phrases | right.phrases, node, right)
        return node, tokens

    def _one(self, tokens: list[str], expression: str) -> tuple[Node, list[str]]:
        if not tokens or tokens[0] in ("|", ")") or tokens[0].startswith("~"):
            if tokens:
                raise ConfigError(Phrase("in “%(where)s”: a word is missing before “%(what)s”", where=expression, what=tokens[0]))
            raise ConfigError(Phrase("in “%(where)s”: a word is missing at the end", where=expression))
        if tokens[0] == "(":
            node, rest = self._alternatives(tokens[1:], expression)
            if not rest or rest[0] != ")":
                raise ConfigError(Phrase("in “%(where)s”: a closing bracket is missing", where=expression))
            return node, rest[1:]
        if tokens[0].startswith("{"):
            return self._group(tokens[0][1:-1], expression), tokens[1:]
        words = []
        while tokens and not tokens[0].startswith(("{", "~", "|", "(", ")")):
            words.append(tokens[0])
            tokens = tokens[1:]
        return self._phrase(" ".join(words)), tokens

    def _group(self, name: str, expression: str) -> Node:
        if name not in self.groups:
            raise ConfigError(
                Phrase(
                    "in “%(where)s”: there is no group {%(what)s}; known: %(known)s", where=expression, what=name, known=", ".join(sorted(self.groups)) or "–"
                )
            )
        if name in self._open_groups:
            raise ConfigError(Phrase("the group {%(what)s} contains itself", what=name))
        if name not in self._compiled_groups:
            self._open_groups.append(name)
            self._compiled_groups[name] = self.any_of(self.groups[name])
            self._open_groups.pop()
        return self._compiled_groups[name]

    def _phrase(self, words: str) -> Either:
        folded = " ".join(fold(words).split())
        if not _WORDY.search(folded.replace("*", "")):
            raise ConfigError(Phrase("in “%(where)s”: no letter or digit to look for", where=words))
        if folded.startswith("*"):
            raise ConfigError(Phrase("in “%(where)s”: a word form needs its beginning, the star stands at the end", where=words))
        index = frozenset((self._index_by_phrase.setdefault(folded, len(self._index_by_phrase)),))
        return Either(index, index)

    def read(self, title: str, text: str) -> Reading:
        """The places of all phrases in the two fields."""
        if self._automaton is None:
            self._build()
        assert self._automaton is not None
        folded, places = _squeezed(f"{fold(title)}\n{fold(text)}")  # no phrase holds a line end: none crosses the fields
        hits: dict[int, list[Span]] = {}
        for literal, start, literal_end in self._automaton.find_matches_as_indexes(folded, overlapping=True):
            for check in self._checks[literal]:
                if (end := check.end(folded, start, literal_end)) is not None:
                    span = (start, end) if places is None else (places[start], places[end - 1] + 1)
                    hits.setdefault(check.index, []).append(span)
        return Reading(title, text, hits, f"{title}\n{text}")

    def _build(self) -> None:
        by_literal: dict[str, list[_Check]] = {}
        for phrase, index in self._index_by_phrase.items():
            literal, star, rest = phrase.partition("*")
            by_literal.setdefault(literal, []).append(_Check(index, bool(star), _free(rest) if rest else None))
        self._checks = list(by_literal.values())
        self._automaton = ahocorasick_rs.AhoCorasick(list(by_literal))  # last: whoever sees it may read


def _squeezed(folded: str) -> tuple[str, list[int] | None]:
    """The text with each run of spaces as one, and where each of its characters stood; None when nothing moved."""
    if "  " not in folded:
        return folded, None
    places: list[int] = []
    end = 0
    for run in _SPACE_RUN.finditer(folded):
        places.extend(range(end, run.start() + 1))
        end = run.end()
    places.extend(range(end, len(folded)))
    return _SPACE_RUN.sub(" ", folded), places


def _tokens(expression: str) -> list[str]:
    tokens, place = [], 0
    while place < len(expression.rstrip()):
        match = _TOKEN.match(expression, place)
        if match is None:
            raise ConfigError(Phrase("in “%(where)s”: “%(what)s” is not understood", where=expression, what=expression[place:].strip()[:10]))
        tokens.append(next(group for group in match.groups() if group))
        place = match.end()
    return tokens


def _free(rest: str) -> re.Pattern[str]:
    """What follows the first star of a phrase; free parts are bounded, so matching is linear."""
    return re.compile("[a-z0-9]{0,30}" + re.escape(rest).replace(r"\*", "[a-z0-9]{0,30}"))


@dataclass(frozen=True, slots=True)
class _Check:
    """Whether a literal that was found is the phrase: its borders, and what follows its first star."""

    index: int
    has_star: bool
    rest: re.Pattern[str] | None

    def end(self, folded: str, start: int, end: int) -> int | None:
        """Where the phrase ends, or None when this is another word."""
        if start and _is_latin(folded[start]) and _is_latin(folded[start - 1]):
            return None
        if self.rest is not None:
            match = self.rest.match(folded, end)
            if match is None:
                return None
            end = match.end()
        elif self.has_star:
            while end < len(folded) and _is_latin(folded[end]):
                end += 1
            return end
        if not _is_latin(folded[end - 1]):
            return end
        if folded[end : end + 1] == "s":
            end += 1
        return None if end < len(folded) and _is_latin(folded[end]) else end


def _is_latin(character: str) -> bool:
    """A letter or digit that words are made of; ideographs are words by themselves."""
    return character.isalnum() and not "\u3400" <= character <= "\u9fff"
