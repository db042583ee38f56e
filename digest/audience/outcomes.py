"""What a mail server's reply means for the reader, and for the run (RFC 5321 4.2, 6.1; providers' codes in the table)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from digest.model import Outcome, Reply

# Refusals that mean the sender and not the reader: authentication, DMARC alignment, PTR, TLS, spam rate.
_SENDER = re.compile(
    r"\b5\.7\.(?:2[3-9]|30|32|40|50|64|509|515|606|705|708|750)\b"
    r"|authenticat|\bdmarc\b|\bdkim\b|\bspf\b|not authorized to send|blocklist|blacklist|spamhaus"
    r"|relay(?:ing)?\b.{0,20}(?:denied|not (?:permitted|allowed))|unable to relay|not permitted to relay",
    re.IGNORECASE,
)
_SENDER_FOR_NOW = re.compile(r"\b4\.7\.32\b")  # no alignment; other 4xx words on authentication are a receiver's passing trouble
_FULL = re.compile(r"\b[45]\.2\.[0-9]\b|mailbox.{0,15}full|over.?quota|quota.{0,15}exceed|insufficient storage|邮箱.{0,6}满", re.IGNORECASE)
# QQ, NetEase and others answer 550 when a sender is merely too fast.
_TOO_FAST = re.compile(
    r"frequency limit|too frequent|rate limit|too many (?:mails|messages|connections|recipients)|\b4\.7\.\d|DT:SPM|RP:(?:QRC|TRC|CEL|FLC)", re.IGNORECASE
)
_MAILBOX = re.compile(
    r"\b5\.1\.[0136]\b|no such (?:user|mailbox)|user (?:unknown|not found)|does not exist|mailbox unavailable|unknown user|invalid recipient", re.IGNORECASE
)
LADDER = (5, 30, 60, 120)  # minutes between the first tries, friendly to greylists; 120 after that
GIVE_UP = timedelta(hours=20)  # yesterday's news

RunFault = Literal["", "sender", "auth", "relay", "slower"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """``outcome`` for the ledger; ``fault``: what the run does about it (stop: ``sender`` and ``auth``; try another connection:
    ``relay``; halve the rate: ``slower``); ``is_hard``: the mailbox is gone; ``is_soft``: it is there and takes nothing for now."""

    outcome: Outcome
    fault: RunFault = ""
    is_hard: bool = False
    is_soft: bool = False


def is_no_mailbox(words: str) -> bool:
    """Whether a server's words mean that there is no such mailbox."""
    return bool(_MAILBOX.search(words))


def meaning(subscriber: int, reply: Reply, attempt: int, began_at: datetime, now: datetime) -> Meaning:
    """What the reply to the given attempt means; deferred mails are given up 20 hours after the mailing began."""
    words = f"{reply.code} {reply.text}".strip()
    if reply.stage == "dot" and reply.code == 0:
        return Meaning(Outcome(subscriber=subscriber, state="uncertain", text="no answer after the message was sent"), "relay")
    if reply.stage == "dot" and 200 <= reply.code < 300:
        return Meaning(Outcome(subscriber=subscriber, state="accepted", code=reply.code, text=reply.text))
    again = Meaning(_later(subscriber, reply, attempt, began_at, now))
    if reply.stage == "auth":
        return Meaning(_untouched(subscriber, words), "auth")
    if reply.stage == "connect" or reply.code in (0, 503):  # 503: the verbs came in an order that this connection does not take
        return Meaning(_untouched(subscriber, words or "the connection broke"), "relay")
    if _SENDER.search(reply.text) if reply.code >= 500 else _SENDER_FOR_NOW.search(reply.text):
        return Meaning(_untouched(subscriber, words), "sender")
    if _TOO_FAST.search(reply.text) or reply.code == 421:
        return Meaning(again.outcome, "slower")
    if reply.stage == "mail" and reply.code >= 500:
        return Meaning(_untouched(subscriber, words), "sender")
    if reply.code < 500:
        return again
    is_hard = reply.stage == "rcpt" and (is_no_mailbox(reply.text) or reply.code in (551, 553))
    is_soft = reply.stage == "rcpt" and not is_hard and (reply.code == 552 or bool(_FULL.search(reply.text)))
    return Meaning(Outcome(subscriber=subscriber, state="failed", code=reply.code, text=reply.text), is_hard=is_hard, is_soft=is_soft)


def _untouched(subscriber: int, words: str) -> Outcome:
    """The attempt never reached the reader: it waits as before."""
    return Outcome(subscriber=subscriber, state="pending", text=words)


def _later(subscriber: int, reply: Reply, attempt: int, began_at: datetime, now: datetime) -> Outcome:
    next_at = now + timedelta(minutes=LADDER[min(attempt, len(LADDER)) - 1])
    if next_at - began_at > GIVE_UP:
        return Outcome(subscriber=subscriber, state="failed", code=reply.code, text=f"given up: {reply.text}")
    return Outcome(subscriber=subscriber, state="deferred", code=reply.code, text=reply.text, next_at=next_at)
