"""What a mail server's answer means, and how fast mail may go."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.audience.limits import RELAY, Limits
from digest.audience.outcomes import meaning
from digest.model import Reply
from tests.builders import NOON

SOON = NOON + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("stage", "code", "text", "state", "fault", "is_hard"),
    [
        ("dot", 250, "2.0.0 queued", "accepted", "", False),
        ("dot", 0, "", "uncertain", "relay", False),
        ("dot", 451, "4.3.0 try later", "deferred", "", False),
        ("dot", 554, "5.6.0 message refused", "failed", "", False),
        ("dot", 421, "4.7.28 rate", "deferred", "slower", False),
        ("data", 0, "", "pending", "relay", False),
        ("rcpt", 450, "4.2.1 greylisted", "deferred", "", False),
        ("rcpt", 452, "4.2.2 mailbox full", "deferred", "", False),
        ("rcpt", 550, "5.1.1 no such user", "failed", "", True),
        ("rcpt", 550, "Mailbox unavailable", "failed", "", True),
        ("rcpt", 552, "5.2.2 over quota", "failed", "", False),
        ("rcpt", 550, "Domain frequency limited", "deferred", "slower", False),
        ("rcpt", 550, "Sender frequency limited", "deferred", "slower", False),
        ("mail", 550, "Connection frequency limited", "deferred", "slower", False),
        ("rcpt", 550, "5.7.26 unauthenticated mail is not accepted", "pending", "sender", False),
        ("dot", 550, "5.7.515 Access denied, sending domain does not meet the required authentication level", "pending", "sender", False),
        ("dot", 421, "4.7.32 no alignment", "pending", "sender", False),
        ("mail", 553, "sender rejected", "pending", "sender", False),
        ("mail", 451, "later", "deferred", "", False),
        ("auth", 535, "5.7.8 wrong", "pending", "auth", False),
        ("connect", 0, "refused", "pending", "relay", False),
        ("rcpt", 421, "closing", "deferred", "slower", False),
    ],
)
def test_a_reply_means(stage: str, code: int, text: str, state: str, fault: str, is_hard: bool) -> None:
    found = meaning(7, Reply(stage=stage, code=code, text=text), 1, NOON, SOON)  # type: ignore[arg-type]
    assert (found.outcome.state, found.fault, found.is_hard) == (state, fault, is_hard)
    assert found.outcome.subscriber == 7


def test_it_is_tried_again_ever_later_and_given_up_after_a_day() -> None:
    reply = Reply(stage="rcpt", code=450, text="later")
    waits = [meaning(1, reply, attempt, NOON, SOON).outcome.next_at for attempt in (1, 2, 3, 4, 5, 9)]
    assert [(at - SOON).total_seconds() / 60 for at in waits if at] == [5, 30, 60, 120, 120, 120]
    last = meaning(1, reply, 5, NOON, NOON + timedelta(hours=19)).outcome
    assert (last.state, last.text) == ("failed", "given up: later")


def test_a_domain_has_its_own_pace_and_the_relay_one_for_all() -> None:
    limits = Limits({RELAY: 60, "qq.com": 6})
    for _ in range(10):
        limits.take("example.com", NOON)
    assert limits.wait("example.com", NOON) == pytest.approx(1.0)
    limits = Limits({"qq.com": 6})
    limits.take("qq.com", NOON)
    assert limits.wait("qq.com", NOON) == pytest.approx(10.0)
    assert limits.wait("example.com", NOON) == 0.0
    assert Limits({"*": 6}).wait("anything.org", NOON) == 0.0


def test_a_restart_and_a_clock_that_goes_back_give_nothing_more() -> None:
    limits = Limits({"qq.com": 6})
    limits.take("qq.com", NOON)
    again = Limits({"qq.com": 6}, buckets=dict(limits.buckets))
    assert again.wait("qq.com", NOON) == pytest.approx(10.0)
    assert again.wait("qq.com", NOON - timedelta(hours=3)) == pytest.approx(10.0)
    assert again.wait("qq.com", NOON + timedelta(seconds=10)) == 0.0


def test_a_day_has_its_number_and_a_new_day_a_new_one() -> None:
    limits = Limits({}, a_day=2)
    for _ in range(2):
        limits.take("a.example", NOON)
    assert limits.wait("b.example", NOON) == float("inf")
    assert limits.wait("b.example", NOON + timedelta(days=1)) == 0.0


def test_slower_is_half_as_fast() -> None:
    limits = Limits({"qq.com": 20})
    limits.slower("qq.com")
    limits.take("qq.com", NOON)
    limits.take("qq.com", NOON)
    assert limits.wait("qq.com", NOON) > 5.0
    limits.slower("new.example")
    limits.take("new.example", NOON)
    assert limits.wait("new.example", NOON) > 0


@given(st.lists(st.floats(-30, 60), max_size=80), st.floats(1, 240))
def test_never_more_than_the_rate_in_any_minute(steps: list[float], rate: float) -> None:
    limits, now, passed, sent = Limits({"x.example": rate}), NOON, 0.0, 0
    for seconds in steps:
        now += timedelta(seconds=seconds)
        passed += max(0.0, seconds)  # a clock that goes back and forth claims more time than there was
        if limits.wait("x.example", now) <= 0:
            limits.take("x.example", now)
            sent += 1
        assert sent <= max(1.0, rate / 6) + rate * passed / 60 + 1e-3
