"""Days in seconds: a schedule with a clock of its own, which a test may kill at any moment and start again.

``command`` starts one in a process of its own; the time stands in clock.txt beside the database, so that a new process goes on where
the old one was.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime, timedelta
from pathlib import Path

from digest.acts import at_work
from digest.errors import BusyError
from digest.schedule import LOCK, Schedule


class Clock:
    """Shows the time that it is set to."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def command(path: Path, first: datetime, last: datetime, step: timedelta) -> list[str]:
    """Given as code, since the workers of a process import its main module again."""
    code = "from tests.clockwork import main; main()"
    return [sys.executable, "-c", code, str(path), first.isoformat(), last.isoformat(), str(step.total_seconds())]


async def play(path: Path, first: datetime, last: datetime, step: timedelta) -> None:
    """Looks at everything from first to last."""
    kept = path.parent / "clock.txt"
    clock = Clock(datetime.fromisoformat(kept.read_text()) if kept.is_file() else first)
    schedule = Schedule(path, clock)
    try:
        with at_work(schedule.in_force.loaded, LOCK):
            while clock.now <= last:
                await schedule.tick()
                clock.now += step
                beside = kept.with_suffix(".new")
                beside.write_text(clock.now.isoformat())
                beside.replace(kept)
    except BusyError as error:
        sys.exit(str(error))


def main() -> None:
    path, first, last, seconds = sys.argv[1:]
    asyncio.run(play(Path(path), datetime.fromisoformat(first), datetime.fromisoformat(last), timedelta(seconds=float(seconds))))
