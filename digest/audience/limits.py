"""How fast mail may go: token buckets for the relay and for each receiving domain, whose memory outlives the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from digest.model import Bucket

RELAY = "relay"
FIRST_DAY, GROWTH = 50, 4 / 3


def warm_up_limit(fine_days: int) -> int:
    """How many mails a new sender may send on a day, after so many days of fine delivery."""
    return int(FIRST_DAY * GROWTH ** min(fine_days, 60))


@dataclass
class Limits:
    """``a_minute``: by name (``relay`` or a domain), with ``*`` for any other domain; 0 is no limit. ``a_day``: for the relay, warm-up.

    ``relay`` is the name under which the relay's own bucket is kept: each relay has one.

    A bucket holds what fits into ten seconds, at least one. It never gives more after a restart or when the clock goes back.
    """

    a_minute: Mapping[str, float]
    a_day: int = 0
    relay: str = RELAY
    buckets: dict[str, Bucket] = field(default_factory=dict)
    slowed: dict[str, float] = field(default_factory=dict)

    def wait(self, domain: str, now: datetime) -> float:
        """Seconds until a mail to the domain may go; 0 for now. Infinite when the day's number is used up."""
        if self.a_day and self._bucket(self.relay, now).sent >= self.a_day:
            return float("inf")
        return max(self._missing(name, now) for name in (self.relay, domain))

    def take(self, domain: str, now: datetime) -> None:
        """Counts a mail to the domain."""
        for name in (self.relay, domain):
            bucket = self._bucket(name, now)
            self.buckets[name] = Bucket(bucket.left - 1, bucket.at, bucket.day, bucket.sent + 1)

    def give_back(self, domain: str) -> None:
        """Takes the counting back: the mail did not go."""
        for name in (self.relay, domain):
            if bucket := self.buckets.get(name):
                self.buckets[name] = Bucket(bucket.left + 1, bucket.at, bucket.day, max(0, bucket.sent - 1))

    def slower(self, domain: str) -> None:
        """Halves the rate of the domain for the rest of the run; where none was set it becomes ten a minute."""
        self.slowed[domain] = max(0.5, (self._rate(domain) or 20.0) / 2)

    def _rate(self, name: str) -> float:
        """Mails a minute; 0 for no limit."""
        own = self.a_minute.get(RELAY, 0.0) if name == self.relay else self.a_minute.get(name, self.a_minute.get("*", 0.0))
        return self.slowed.get(name) or own

    def _missing(self, name: str, now: datetime) -> float:
        rate = self._rate(name)
        missing = 1 - self._bucket(name, now).left if rate else 0.0
        return missing * 60 / rate if missing > 1e-6 else 0.0

    def _bucket(self, name: str, now: datetime) -> Bucket:
        """The bucket as it is at that moment."""
        room = max(1.0, self._rate(name) / 6)
        bucket = self.buckets.get(name) or Bucket(room, now, now.date(), 0)
        passed = max(0.0, (now - bucket.at).total_seconds())
        left = min(room, bucket.left + passed * self._rate(name) / 60) if self._rate(name) else room
        is_new_day = now.date() > bucket.day  # a clock that goes back begins no day anew
        self.buckets[name] = Bucket(left, now, now.date() if is_new_day else bucket.day, 0 if is_new_day else bucket.sent)
        return self.buckets[name]
