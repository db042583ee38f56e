"""Days in seconds: a schedule with a clock of its own, which a test may kill at any moment and start again.

python -m tests.clockwork FEEDS_YAML FROM UNTIL MINUTES: looks every so many simulated minutes; the time stands in clock.txt beside the
database, so that a new process goes on where the old one was.
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


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2]), datetime.fromisoformat(sys.argv[3]), timedelta(minutes=float(sys.argv[4]))))
