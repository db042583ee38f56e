"""What long-running commands share: logs that people read on a terminal and JSON elsewhere, and an end that comes in time."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from threading import Timer

SECONDS_TO_END = 18


def last_resort() -> None:
    """Ends this process in eighteen seconds, whatever hangs: every act can be cut off, and goes on at the next start."""
    timer = Timer(SECONDS_TO_END, os._exit, (0,))
    timer.daemon = True
    timer.start()


def configure(level: int = logging.INFO) -> None:
    """To standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s", "%m-%d %H:%M:%S") if sys.stderr.isatty() else _Json())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("digest").setLevel(level)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
