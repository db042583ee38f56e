"""An end that is asked for, by Ctrl-C or SIGTERM: what is under way is brought to its end first; asked twice, it is now."""

from __future__ import annotations

import signal
import sys
from threading import current_thread, main_thread
from types import FrameType, TracebackType

STOPPED = 130  # the exit code of a command that was stopped
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Ending:
    """While it is entered, the first signal is only noted, and the second one ends the command."""

    def __init__(self) -> None:
        self._is_asked = False

    def is_asked(self) -> bool:
        return self._is_asked

    def __enter__(self) -> Ending:
        own = _SIGNALS if current_thread() is main_thread() else ()
        self._before = {each: signal.signal(each, self._ask) for each in own}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._is_asked:
            raise KeyboardInterrupt
        self._is_asked = True
        print("\nstopping when the mails under way are answered; once more ends at once", file=sys.stderr)
