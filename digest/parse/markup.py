"""HTML and LaTeX to plain text. Blocks become lines; mathematics stays readable."""

from __future__ import annotations

import html
import re
import unicodedata

import nh3

from digest.text import clean

TEXT_LIMIT = 256 * 1024
_BLOCK = re.compile(r"(?i)<\s*(?:br|/p|/div|/li|/h[1-6]|/tr|/blockquote|/pre|/section|/article|/ul|/ol|hr)\b[^>]{0,200}>")
_HAS_TAG = re.compile(r"<[A-Za-z/!][^<]{0,2000}>|<!--")
_TITLE_TAG = re.compile(r"(?i)</?(?:b|i|u|em|strong|su[bp]|a|span|p|br|code|font|div|img|wbr|small|tt|h[1-6])(?:\s[^<>]{0,500})?/?>")
_HALVES = re.compile("[\ud800-\udfff]")  # halves of characters, which JSON can escape and nothing can write
_LINES = re.compile(r"[ \t\u00a0]*\n[\s\u00a0]*")
_BLANKS = re.compile(r"[ \t\u00a0]+")
_NOTHING: set[str] = set()
_SILENT = {"script", "style", "template", "iframe", "noscript"}


def plain(markup: str) -> str:
    """The words of a piece of HTML, one block a line; at most ``TEXT_LIMIT`` characters are read."""
    markup = _HALVES.sub("", markup[:TEXT_LIMIT])
    if _HAS_TAG.search(markup):
        markup = nh3.clean(_BLOCK.sub("\n", markup), tags=_NOTHING, clean_content_tags=_SILENT)
    return tidy(html.unescape(markup))


def plain_title(markup: str) -> str:
    """One line without tags; a bare ``<`` stays, entities are resolved even when escaped twice."""
    text = html.unescape(html.unescape(markup[:TEXT_LIMIT]))
    return " ".join(clean(_TITLE_TAG.sub(" " if "<br" in text else "", text)).split())


def tidy(text: str) -> str:
    """White space normalised, line ends kept."""
    return clean(_BLANKS.sub(" ", _LINES.sub("\n", text)))


_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a",
}  # fmt: skip
_ACCENT = re.compile(r"\{?\\(?:([`'^~\"=.])\s*(?:\{\s*\\?([A-Za-z])\s*\}|\\?([A-Za-z]))|([uvHckr])(?:\{\s*\\?([A-Za-z])\s*\}|\s+([A-Za-z])))\}?")
_LETTERS = {"ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "i": "i"}
_LETTER = re.compile(r"\{\\(ss|ae|AE|oe|OE|aa|AA|[oOlLi])\}|\\(ss|ae|AE|oe|OE|aa|AA|[oOlL])(?:\{\}|\s+(?=[a-z])|(?=[^A-Za-z]|$))")
_SYMBOLS = {
    "times": "×", "sim": "~", "approx": "≈", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "pm": "±", "cdot": "·", "to": "→",
    "rightarrow": "→", "leftarrow": "←", "infty": "∞", "neq": "≠", "in": "∈", "ldots": "…", "dots": "…", "log": "log",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "textendash": "–", "textemdash": "—",
    "eg": "e.g.", "ie": "i.e.", "etal": "et al.", "quad": " ", "star": "*", "gg": "≫", "ll": "≪", "propto": "∝",
}  # fmt: skip
_SYMBOL = re.compile(r"\\(" + "|".join(sorted(_SYMBOLS, key=len, reverse=True)) + r")(?![A-Za-z])[ ]?")
_STYLE = re.compile(r"\\(?:text(?:bf|it|tt|sc|rm|sf|up)?|emph|math(?:rm|bf|it|tt|sf|cal|bb)|underline|url|href|mbox|operatorname)\s?\{([^{}]*)\}")
_MATH = re.compile(r"\$([^$]{1,300})\$")


def readable_latex(text: str) -> str:
    r"""Accents, ``\%``, ``$\times$`` and text styles as characters; other mathematics is left as written."""
    if "\\" not in text and "$" not in text:
        return text
    text = _LETTER.sub(lambda match: _LETTERS[match[1] or match[2]], text)
    text = _ACCENT.sub(_accent, text)
    for _ in range(3):
        text = _STYLE.sub(r"\1", text)
    text = _SYMBOL.sub(_symbol, text)
    text = re.sub(r"\\([%&#_$ ,;])", lambda match: " " if match[1] in " ,;" else match[1] if match[1] != "$" else "＄", text)
    text = text.replace("~\\", " \\").replace("``", "“").replace("''", "”")
    return _MATH.sub(_math, text).replace("＄", "$")


def _accent(match: re.Match[str]) -> str:
    mark = match[1] or match[4]
    letter = match[2] or match[3] or match[5] or match[6]
    return unicodedata.normalize("NFC", letter + _ACCENTS[mark])


def _symbol(match: re.Match[str]) -> str:
    return _SYMBOLS[match[1]]


def _math(match: re.Match[str]) -> str:
    inner = match[1].strip()
    return match[0] if re.search(r"[\\^_{}]", inner) else inner
