"""What a mail that came back means: delivery reports (RFC 3464), complaints (ARF, RFC 5965), requests to leave, the rest by its words.

Anybody can write such a mail, so it only counts for the reader whose token it carries: in the address that it was sent to (VERP),
in its subject, or in the headers of the mail that it returns.
"""

from __future__ import annotations

import email
import logging
import re
from collections.abc import Collection, Iterator
from datetime import date, timedelta
from email import policy
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import EmailMessage, Message
from typing import Literal

from flufl.bounce import all_failures

from digest.audience.outcomes import is_no_mailbox
from digest.model import Return

logging.getLogger("flufl.bounce").setLevel(logging.CRITICAL)  # a detector that stumbles over odd bytes has found nothing

LONGEST = 1_000_000
WINDOW, ENOUGH, QUIET = timedelta(days=14), 3, timedelta(days=3)
_HARD = re.compile(r"5\.(?:1\.[0-6]|1\.10|2\.1)$")  # no such mailbox, host or address, moved, disabled
_SIGNED = r"([A-Za-z0-9_.-]{10,200})"
_ARRIVED = ("Delivered-To", "X-Original-To", "Envelope-To", "To")
_AWAY = re.compile(r"out of (?:the )?office|auto(?:matic)?[- ]?repl|vacation|自动回复|休假", re.IGNORECASE)


def read_return(raw: bytes, bounces: str) -> Return:
    """What the mail means. ``bounces``: the address without the token, to which mails come back."""
    try:
        message = email.message_from_bytes(raw[:LONGEST], policy=policy.compat32)
        return _meaning(message, bounces)
    except (ValueError, LookupError, AttributeError, RecursionError, TypeError, HeaderParseError):  # what the parser makes of hostile mail
        return Return(kind="unknown")


def _meaning(message: Message, bounces: str) -> Return:
    token = _arrived_for(message, bounces) or _quoted_token(message, bounces)
    report = str(message.get_param("report-type", "")).lower() if message.get_content_type() == "multipart/report" else ""
    subject = _subject(message)
    if asked := re.match(rf"\s*unsubscribe-{_SIGNED}\s*$", subject, re.IGNORECASE):
        return Return(kind="leave", token=asked[1])
    if report == "feedback-report":
        kinds = [value.lower() for part in _parts(message, "message/feedback-report") for value in _fields(part, "Feedback-Type")]
        return Return(kind="complaint" if "abuse" in kinds or "fraud" in kinds else "unknown", token=token, words=", ".join(kinds))
    for part in _parts(message, "message/delivery-status"):
        if (found := _reported(part, token)) is not None:
            return found
    if str(message.get("Auto-Submitted", "no")).lower().startswith("auto-replied") or _AWAY.search(subject):
        return Return(kind="reply", token=token)
    temporary, permanent = all_failures(message)
    if permanent:
        return Return(kind="hard", token=token, words="by its words")
    return Return(kind="soft" if temporary else "unknown", token=token)


def _subject(message: Message) -> str:
    """As people read it: encoded words decoded, bare UTF-8 taken as such."""
    raw = dict(message.raw_items()).get("Subject", "")  # as it came; get() would hide bytes that are not ASCII
    text = str(raw).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return str(make_header(decode_header(text)))


def _reported(part: Message, token: str) -> Return | None:
    """What a delivery-status part says of the first recipient for whom it says anything."""
    for block in _blocks(part):
        action, status = _value(block, "Action").lower(), _value(block, "Status")
        words = " ".join(_value(block, "Diagnostic-Code").split())[:300]
        if action == "delayed":
            return Return(kind="delayed", token=token, status=status, words=words)
        if action == "failed":
            is_hard = bool(_HARD.match(status)) or (status.startswith("5") and is_no_mailbox(words))
            kind: Literal["hard", "soft"] = "hard" if is_hard else "soft"
            return Return(kind=kind, token=token, status=status[:20], words=words)
        if action in ("delivered", "relayed", "expanded"):
            return Return(kind="reply", token=token, status=status[:20])
    return None


def _blocks(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    for block in payload if isinstance(payload, list) else [email.message_from_string(text) for text in str(payload).split("\n\n")]:
        if isinstance(block, Message):
            yield block


def _value(block: Message, name: str) -> str:
    return str(block.get(name, "")).rpartition(";")[2].strip() if name != "Status" else (str(block.get(name, "")).split() or [""])[0]


def _fields(part: Message, name: str) -> Iterator[str]:
    for block in _blocks(part):
        yield from (str(value).strip() for value in block.get_all(name, []))


def _parts(message: Message, kind: str) -> Iterator[Message]:
    return (part for part in message.walk() if part.get_content_type() == kind)


def _arrived_for(message: Message, bounces: str) -> str:
    """The token in the address that the mail was sent to."""
    name, _, domain = bounces.rpartition("@")
    wanted = re.compile(rf"{re.escape(name)}\+{_SIGNED}@{re.escape(domain)}", re.IGNORECASE)
    for header in _ARRIVED:
        for value in message.get_all(header, []):
            if found := wanted.search(str(value)):
                return found[1]
    return ""


def _quoted_token(message: Message, bounces: str) -> str:
    """The token in the headers of the mail that it returns."""
    name, _, domain = bounces.rpartition("@")
    returned = rf"{re.escape(name)}\+{_SIGNED}@{re.escape(domain)}" if name else r"(?!)()"
    for part in message.walk():
        if part is message or part.get_content_type() not in ("message/rfc822", "text/rfc822-headers"):
            continue
        payload = part.get_payload()
        inner = payload[0] if isinstance(payload, list) and payload else email.message_from_string(str(payload))
        if not isinstance(inner, Message | EmailMessage):
            continue
        for header, pattern in (("List-Unsubscribe", rf"/u/{_SIGNED}>"), ("Return-Path", returned)):
            if found := re.search(pattern, str(inner.get(header, ""))):
                return found[1]
    return ""


def score(soft: Collection[date], accepted: Collection[date], today: date) -> int:
    """On how many days of the last two weeks mail to the reader came back for a passing reason, since the last that was accepted and
    of which nothing was heard for three days."""
    recent = sorted({day for day in soft if today - day <= WINDOW})
    fine = [day for day in accepted if day + QUIET < today and not any(day <= bad <= day + QUIET for bad in recent)]
    return sum(day > max(fine, default=date.min) for day in recent)
