"""``digest models``: the translation model that may be fetched once."""

from __future__ import annotations

from pathlib import Path

from digest.cli.arguments import parser
from digest.errors import ConfigError
from digest.write import translation

_EPILOG = """The model (en-zh, some 44 MB) lets Chinese readers read the source's own sentences in Chinese; every one is judged like everything else.
It needs the extra package: pip install 'training-digest[translate]'.

  digest models get en-zh            fetches it into state/models and prints the line for feeds.yaml
  digest models check FOLDER         loads the files of a folder and translates a sentence

Without a network, put model*.bin, srcvocab*.spm, trgvocab*.spm and lex*.bin into a folder by hand (Firefox's models, https://mozilla.github.io/translations/).
"""


def main(command: str, arguments: list[str]) -> int:
    """Fetches or checks a model."""
    options = parser(command, "Gets and checks the translation model.", _EPILOG)
    kinds = options.add_subparsers(dest="kind", required=True, metavar="get|check")
    getting = kinds.add_parser("get", help="fetch a model once")
    getting.add_argument("pair", choices=["en-zh"], help="which languages")
    getting.add_argument("--to", type=Path, default=Path("state/models"), metavar="DIR", help="where to keep it")
    checking = kinds.add_parser("check", help="load a model from files")
    checking.add_argument("folder", type=Path, metavar="FOLDER")
    chosen = options.parse_args(arguments)
    if chosen.kind == "get":
        print(f"translation: {translation.get(chosen.to)}")
        return 0
    if not chosen.folder.is_dir():
        raise ConfigError(f"{chosen.folder} is not a folder")
    said = translation.load(chosen.folder)("Training is twice as fast on eight H100 GPUs.")
    print(said or "the model loads, but it does not translate into Chinese")
    return 0 if said else 1
