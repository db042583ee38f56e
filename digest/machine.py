"""This process among others: its name, and whether another one of this machine still runs."""

from __future__ import annotations

import os
import socket


def here() -> str:
    """The name of this process: machine and number."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}"


def is_gone(name: str) -> bool:
    """Whether a process of this machine surely runs no more; of another machine nobody knows."""
    host, _, process = name.rpartition(":")
    if host != socket.gethostname()[:60] or os.name == "nt":  # where the question below would end it
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        return False
    return False
