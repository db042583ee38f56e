"""Sentences from English to Chinese on this machine, by Firefox's translation engine (optional package fxtranslate).

What comes back is taken only where it keeps every name and is Chinese; figures and meaning are for the judge.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from digest.errors import WriteError
from digest.judge.names import names
from digest.text import is_han, one_line
from digest.write.figures import spaced

if TYPE_CHECKING:
    from fxtranslate import Translator

Translate = Callable[[str], str]
TARGETS = ("zh-Hans", "zh")  # the tags under which the model is offered, the newer first


def load(folder: Path) -> Translate:
    """A function from an English sentence to a Chinese one, empty where the translation is not to be trusted.

    ``folder`` holds the model's files: model*.bin, lex*.bin (optional) and vocab*.spm, or srcvocab*.spm and trgvocab*.spm.
    Raises WriteError when the package or a file is missing or broken.
    """
    engine = _engine(folder)

    def translate(sentence: str) -> str:
        said = spaced(one_line(engine.translate_long(sentence)))
        is_whole = is_han(said) and all(name.text in said for name in names(sentence))
        return said if is_whole and said.endswith(("。", "！", "？", "…")) else ""

    return translate


def _engine(folder: Path) -> Translator:
    try:
        from fxtranslate import Translator
    except ImportError as error:
        raise WriteError("translation needs the fxtranslate package: pip install 'training-digest[translate]'") from error
    shared = _file(folder, "vocab*.spm", is_needed=False)
    try:
        return Translator(
            model=_file(folder, "model*.bin"),
            src_vocab=shared or _file(folder, "srcvocab*.spm"),
            trg_vocab=shared or _file(folder, "trgvocab*.spm"),
            shortlist=_file(folder, "lex*.bin", is_needed=False) or None,
        )
    except ValueError as error:
        raise WriteError(f"the translation model in {folder} is broken ({error}); get it again: digest models get en-zh") from error


def _file(folder: Path, pattern: str, *, is_needed: bool = True) -> bytes:
    path = next(iter(sorted(folder.glob(pattern))), None)
    if path is None and is_needed:
        raise WriteError(f"there is no {pattern} in {folder}; get the model with: digest models get en-zh")
    return path.read_bytes() if path else b""


def get(folder: Path) -> Path:
    """Fetches the model once (some 44 MB, checked by its hash) into ``folder``; the place of its files. Raises WriteError."""
    try:
        from fxtranslate import Cache, discovery
    except ImportError as error:
        raise WriteError("translation needs the fxtranslate package: pip install 'training-digest[translate]'") from error
    folder.mkdir(parents=True, exist_ok=True)
    reason = ""
    for target in TARGETS:
        try:
            discovery.add_models("en", target, str(folder), True)
        except ValueError as error:
            reason = str(error).splitlines()[0]
            continue
        pair = next(found for found in Cache(str(folder)).list_cached() if str(found["name"]).startswith("en-"))
        return folder / str(pair["name"])
    raise WriteError(f"the model could not be fetched: {reason}; it can also be put there by hand, see `digest models --help`")
