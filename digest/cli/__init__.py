"""Arguments in, exit code out: 0 done, 1 done with problems, 2 not done because settings or arguments are wrong.

argparse and one module per command group, imported when its command is called: typer alone takes five times the start
of bare Python, before it has read an argument.
"""

from __future__ import annotations

import gc
import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from threading import current_thread, main_thread

COMMANDS = {
    "run": ("digest.cli.acts", "collect, make and deliver: the whole job for one day"),
    "collect": ("digest.cli.acts", "read the feeds and remember what is new"),
    "make": ("digest.cli.acts", "choose and write the issue of a day, and archive it"),
    "deliver": ("digest.cli.acts", "render the archived issue and publish it"),
    "schedule": ("digest.cli.schedule", "the daily job by itself, for years; --show: the coming days"),
    "backup": ("digest.cli.data", "a copy of the database while everything goes on"),
    "restore": ("digest.cli.data", "put a copy in the place of the database"),
    "export": ("digest.cli.data", "everything as JSON Lines"),
    "import": ("digest.cli.data", "an export into an empty database, SQLite or PostgreSQL"),
    "doctor": ("digest.cli.doctor", "everything that can be checked, and what to do"),
    "prune": ("digest.cli.prune", "forget what is older than feeds.yaml wishes"),
    "status": ("digest.cli.status", "how every source does, the last issues, what needs a hand"),
    "show": ("digest.cli.show", "print an issue in the terminal"),
    "search": ("digest.cli.search", "search all entries ever collected, in Chinese and English"),
    "site": ("digest.cli.site", "build the whole web archive anew, or check it"),
    "templates": ("digest.cli.templates", "list the templates, or copy some to change them"),
    "subscribers": ("digest.cli.subscribers", "add, list, move and forget the readers of the newsletter"),
    "send": ("digest.cli.send", "the mail of an issue to its readers"),
    "mail": ("digest.cli.mail", "why mail may not arrive, and the line that is missing"),
    "bounces": ("digest.cli.bounces", "read the mails that came back, and act on them"),
    "preview": ("digest.cli.preview", "the editor's desk in the browser: look, correct, approve"),
    "diff": ("digest.cli.preview_files", "what other templates would make of a day"),
    "serve": ("digest.cli.serve", "the pages where readers subscribe, choose and leave, and the site"),
    "judge": ("digest.cli.judge", "check an issue, or any sentences, against their sources"),
    "tag": ("digest.cli.tag", "tag texts from a file: topics, claims, names (for scripts)"),
    "keywords": ("digest.cli.keywords", "see why, try, replay, suggest and edit the rules"),
    "feeds": ("digest.cli.feeds", "list, add, remove, test, import and export the feeds"),
    "models": ("digest.cli.models", "fetch or check the optional translation model"),
    "config": ("digest.cli.config", "check feeds.yaml, or print its JSON Schema"),
    "init": ("digest.cli.init", "lay out a working folder of your own"),
}
_HEAD = """usage: digest COMMAND [options]

A daily bilingual digest: reads feeds, finds what is about your topic, writes it in Chinese and
English, and publishes pages, Markdown, text and feeds.

commands:
"""
_TAIL = """
Start with:
  digest init my-digest      a folder with feeds.yaml, which you edit
  cd my-digest && digest run
  digest show                today's issue, here in the terminal

`digest COMMAND --help` explains a command; `digest --version` prints the version.
"""


_LONG = ("serve", "schedule", "preview")


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_HEAD + "".join(f"  {name:<11} {line}\n" for name, (_, line) in COMMANDS.items()) + _TAIL, end="")
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        from digest import __version__

        print(f"digest {__version__}")
        return 0
    if arguments[0] not in COMMANDS:
        return _unknown(arguments[0])
    return _run(arguments[0], arguments[1:])


def _unknown(command: str) -> int:
    from difflib import get_close_matches

    near = get_close_matches(command, COMMANDS, n=1)
    hint = f"did you mean `digest {near[0]}`?" if near else f"known: {', '.join(COMMANDS)}"
    print(f"digest: there is no command {command!r}; {hint}", file=sys.stderr)
    return 2


def _run(command: str, arguments: list[str]) -> int:
    from digest.errors import ConfigError, DigestError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Chinese still shows everything else
    if command not in _LONG:
        if current_thread() is main_thread():
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the same command goes on from here
        gc.set_threshold(100_000)  # a command allocates much and throws little away: looking for garbage seldom saves a tenth of its time
    try:
        code = int(import_module(COMMANDS[command][0]).main(command, arguments))
        sys.stdout.flush()
        return code
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except DigestError as error:
        print(f"digest {command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\ndigest {command}: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:  # a full disk, a name that no file can have
        print(f"digest {command}: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        return 1
