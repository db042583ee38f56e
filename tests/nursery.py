"""Starts commands at once: a process that has imported everything forks one for each, which a test may kill at any moment.

A new Python takes a second to begin; two hundred kills would spend minutes before anything happens that can be cut off.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from types import TracebackType

from tests.conftest import ROOT


class Nursery:
    """Runs one command at a time; ``start`` gives its process, ``wait`` says how it ended (128 and the signal where one ended it)."""

    def __enter__(self) -> Nursery:
        self._mother = subprocess.Popen([sys.executable, "-m", "tests.nursery"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._mother.stdin and self._mother.stdout
        self._mother.stdin.close()
        self._mother.wait(30)
        self._mother.stdout.close()

    def start(self, command: list[str]) -> int:
        assert self._mother.stdin
        self._mother.stdin.write(f"{json.dumps(command)}\n")
        self._mother.stdin.flush()
        return self._read()

    def wait(self) -> int:
        return self._read()

    def _read(self) -> int:
        assert self._mother.stdout
        return int(self._mother.stdout.readline())


def is_alive(process: int) -> bool:
    """Whether it has not ended by itself."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def kill(process: int) -> None:
    """Ends it without warning; nothing when it has ended by itself."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def main() -> None:
    from digest.cli import main as digest
    from digest.cli import send

    assert send  # imported for all children
    for line in sys.stdin:
        child = os.fork()
        if not child:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            os._exit(digest(json.loads(line)))
        print(child, flush=True)
        status = os.waitpid(child, 0)[1]
        print(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), flush=True)


if __name__ == "__main__":
    main()
