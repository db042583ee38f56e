"""Mails that came back: standard reports first, words second, and what can't be understood is said to be so."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.audience.bounces import ENOUGH, read_return, score

TOKEN = "MTIz.c2lnbmVkLWJ5LXVz"
BOUNCES = "bounces@example.org"
TO = f"bounces+{TOKEN}@example.org"


def report(action: str, status: str, diagnostic: str = "smtp; 550 no", *, to: str = TO, returned: str = "") -> bytes:
    """A delivery report as RFC 3464 has it."""
    return f"""From: MAILER-DAEMON@mx.example.com
To: {to}
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

Sorry.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.com

Final-Recipient: rfc822; reader@example.com
Action: {action}
Status: {status}
Diagnostic-Code: {diagnostic}

--b
Content-Type: text/rfc822-headers

Subject: Digest
{returned}
--b--
""".encode()


COMPLAINT = f"""From: fbl@provider.example
To: abuse@example.org
Subject: FW: Digest
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary=b

--b
Content-Type: text/plain

A user marked this as spam.
--b
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Provider/1
Version: 1

--b
Content-Type: message/rfc822

From: digest@example.org
List-Unsubscribe: <https://mail.example.org/u/{TOKEN}>, <mailto:x@example.org>
Subject: Digest

Hello
--b--
""".encode()


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (report("failed", "5.1.1"), "hard"),
        (report("failed", "5.1.10"), "hard"),
        (report("failed", "5.0.0", "smtp; 550 5.0.0 User unknown"), "hard"),
        (report("failed", "5.2.2", "smtp; 552 5.2.2 mailbox full"), "soft"),
        (report("failed", "4.4.7", "delivery time expired"), "soft"),
        (report("failed", "5.7.1", "smtp; 550 5.7.1 message looks like spam"), "soft"),
        (report("delayed", "4.4.1"), "delayed"),
        (report("delivered", "2.0.0"), "reply"),
        (COMPLAINT, "complaint"),
        (f"To: {TO}\nSubject: unsubscribe-{TOKEN}\n\n".encode(), "leave"),
        (f"To: {TO}\nSubject: Out of office\nAuto-Submitted: auto-replied\n\nI am away.\n".encode(), "reply"),
        (f"To: {TO}\nSubject: 自动回复：您的邮件\n\n休假中\n".encode(), "reply"),
        (f"To: {TO}\nSubject: hello\n\nAre you there?\n".encode(), "unknown"),
        (b"", "unknown"),
        (b"\x00\xff" * 300, "unknown"),
    ],
)
def test_every_kind_of_mail_that_comes_back_is_told_apart(raw: bytes, kind: str) -> None:
    assert read_return(raw, BOUNCES).kind == kind


def test_a_report_in_the_words_of_a_server_without_standards_is_understood() -> None:
    """qmail's own format, which many servers still send."""
    raw = f"""Return-Path: <>
Delivered-To: {TO}
From: MAILER-DAEMON@mx.example.com
To: {TO}
Subject: failure notice

Hi. This is the qmail-send program at mx.example.com.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<reader@example.com>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.
""".encode()
    found = read_return(raw, BOUNCES)
    assert (found.kind, found.token) == ("hard", TOKEN)


def test_the_reader_is_known_by_the_envelope_or_by_the_mail_that_is_returned() -> None:
    assert read_return(report("failed", "5.1.1"), BOUNCES).token == TOKEN
    returned = f"List-Unsubscribe: <https://mail.example.org/u/{TOKEN}>"
    assert read_return(report("failed", "5.1.1", to="postmaster@example.org", returned=returned), BOUNCES).token == TOKEN
    assert read_return(report("failed", "5.1.1", to="postmaster@example.org"), BOUNCES).token == ""
    assert read_return(COMPLAINT, BOUNCES).token == TOKEN


def test_the_reports_status_and_words_are_kept() -> None:
    found = read_return(report("failed", "5.1.1", "smtp; 550 5.1.1 <reader@example.com>: no such user"), BOUNCES)
    assert (found.status, found.words) == ("5.1.1", "550 5.1.1 <reader@example.com>: no such user")


@given(st.binary(max_size=3000))
def test_no_bytes_break_it(raw: bytes) -> None:
    read_return(raw, BOUNCES)


@given(st.lists(st.sampled_from(report("failed", "5.1.1").decode().splitlines() + COMPLAINT.decode().splitlines()), max_size=60))
def test_no_jumble_of_reports_breaks_it(lines: list[str]) -> None:
    read_return("\n".join(lines).encode(), BOUNCES)


DAY = date(2026, 11, 24)


def days(*ago: int) -> list[date]:
    return [DAY - timedelta(days=number) for number in ago]


@pytest.mark.parametrize(
    ("soft", "accepted", "expected"),
    [
        (days(0, 1, 2), [], ENOUGH),
        (days(0, 0, 0), [], 1),  # three reports of one day count once
        (days(0, 1, 20), [], 2),  # two weeks
        (days(0, 8, 9), days(5), 1),  # a mail that arrived, with three days of silence after it, makes up for what was before
        (days(0, 4, 9), days(5), 3),  # it had come back after all
        (days(0, 1, 2), days(0, 1, 2), 3),  # taken by the server and returned by the next one
        ([], days(1), 0),
    ],
)
def test_passing_troubles_add_up_and_are_forgiven(soft: list[date], accepted: list[date], expected: int) -> None:
    assert score(soft, accepted, DAY) == expected
