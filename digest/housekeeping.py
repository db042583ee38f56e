"""What need not be kept is forgotten, by kind and age; and what the house holds."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from digest.acts import opened
from digest.machine import is_gone
from digest.model import Report, Run
from digest.settings.load import Loaded
from digest.store.office import SqlOffice
from digest.store.pruning import prune

_HOUR = 3  # of the night, UTC


def limits(loaded: Loaded, now: datetime) -> dict[str, datetime]:
    """From when on each kind is kept; a kind that is kept for ever is missing."""
    keep = loaded.settings.keep
    return {kind: now - timedelta(days=days) for kind, days in keep.model_dump().items() if days}


def daily(loaded: Loaded, edition: str, now: datetime) -> Report:
    """Prunes in the small hours, once a day for the whole database."""
    with opened(loaded) as engine:
        last = SqlOffice(engine, is_gone).last_of_each(edition).get("prune")
        if now.hour < _HOUR or (last is not None and now - last.began_at < timedelta(hours=20)):
            return Report()
        return Report(counts={"pruned": sum(prune(engine, limits(loaded, now)).values())})


def last_delivery(loaded: Loaded, edition: str, day: date) -> Run | None:
    """The newest delivery of the issue of a day."""
    with opened(loaded) as engine:
        return SqlOffice(engine, is_gone).last_of_day(edition, ("deliver", "run"), day)
