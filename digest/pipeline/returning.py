"""Mails that came back, and what follows from them: hard ones and complaints end a subscription at once, passing ones by a score."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from digest.audience.bounces import ENOUGH, WINDOW, score
from digest.errors import AudienceError
from digest.model import Problem, Return, ReturnKind, Suppression
from digest.ports import Ledger, Returns, Subscribers

COMPLAINTS, COMPLAINT_SHARE = 3, 0.003  # mailbox providers block a sender at 0.3 %
HARD, HARD_SHARE = 20, 0.05
_ENDS: dict[ReturnKind, Suppression] = {"hard": "hard-bounce", "complaint": "complaint", "leave": "unsubscribed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnParts:
    """``read`` tells what a mail means, ``reader`` the subscriber's id of a token (AudienceError for one that was not made here)."""

    subscribers: Subscribers
    returns: Returns
    ledger: Ledger
    read: Callable[[bytes], Return]
    reader: Callable[[str], int]


def take(parts: ReturnParts, raw: bytes, now: datetime) -> tuple[ReturnKind, bool]:
    """(what the mail means, whether it is new). A mail that names no reader of ours is ``unknown``. Taking one again changes nothing."""
    fingerprint = sha256(raw).hexdigest()
    found = parts.read(raw)
    try:
        subscriber = parts.subscribers.get(parts.reader(found.token)) if found.token else None
    except AudienceError:
        subscriber = None
    if subscriber is None and found.kind != "reply":
        return "unknown", True
    if parts.returns.is_known(fingerprint):
        return found.kind, False
    if subscriber is not None and found.kind in _ENDS:
        parts.subscribers.leave(subscriber, _ENDS[found.kind], now)
    parts.returns.note(fingerprint, subscriber.id if subscriber else 0, found.kind, found.status, now)
    if subscriber is not None and found.kind == "soft":
        drop_unreachable(parts.subscribers, parts.returns, [subscriber.id], now)
    return found.kind, True


def drop_unreachable(subscribers: Subscribers, returns: Returns, ids: Collection[int], now: datetime) -> int:
    """Ends the subscriptions of those whose mail came back for a passing reason on three days of two weeks; how many."""
    dropped = 0
    for id, (soft, accepted) in returns.days(ids, now - WINDOW).items():
        if score(soft, accepted, now.date()) >= ENOUGH and (found := subscribers.get(id)) is not None and found.state == "active":
            subscribers.leave(found, "soft-bounce", now)
            dropped += 1
    return dropped


def alarm(parts: ReturnParts) -> list[Problem]:
    """Pauses every mailing under way of which more readers complain, or more addresses are dead, than mailbox providers forgive."""
    problems = []
    for key in parts.ledger.under_way():
        counts, accepted = parts.returns.of_mailing(key), parts.ledger.counts(key).get("accepted", 0)
        complaints, dead = counts.get("complaint", 0), counts.get("hard", 0)
        if complaints >= COMPLAINTS and complaints > COMPLAINT_SHARE * accepted:
            why = f"{complaints} readers complained of spam; find out why before `digest send resume`"
        elif dead >= HARD and dead > HARD_SHARE * accepted:
            why = f"{dead} mails came back because their addresses do not exist; look at the list, then `digest send resume`"
        else:
            continue
        parts.ledger.set_state(key, "paused", why)
        problems.append(Problem(step="bounces", subject=key, message=why))
    return problems
