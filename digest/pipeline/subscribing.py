"""Someone asks for the mail, confirms it, changes what they get, leaves. Only a confirmation makes a reader."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

from digest.errors import DigestError
from digest.model import Consent, SignUp, Subscriber
from digest.ports import Relay, RelayConnection, SignUps, Subscribers

_log = logging.getLogger(__name__)

PATIENCE = timedelta(hours=6)  # so long a passing refusal is tried again
LetterKind = Literal["confirm", "known"]


class Reception:
    """For one edition. ``letter`` makes (the envelope's sender, the message) that asks for the confirmation, or tells someone who is
    a reader already how to change what they get: which of the two happened only the mailbox's owner learns."""

    def __init__(
        self,
        edition: str,
        subscribers: Subscribers,
        signups: SignUps,
        relay: Relay,
        letter: Callable[[LetterKind, SignUp, int, datetime], tuple[str, bytes]],
    ) -> None:
        self._edition, self._subscribers, self._signups, self._relay, self._letter = edition, subscribers, signups, relay, letter

    def ask(self, wanted: SignUp) -> None:
        """Takes a sign-up, known or not, welcome or not: the same is done for all, so that not even the time tells. Whoever asks too often
        learns nothing of it."""
        if not self._signups.keep(wanted):
            _log.warning("sign-ups come too often; one was not taken")

    async def answer(self, now: datetime) -> int:
        """Sends the mails that sign-ups wait for; how many. What could not be sent goes on waiting."""
        waiting = await asyncio.to_thread(self._signups.waiting, self._edition, now)
        if not waiting:
            return 0
        try:
            connection = await self._relay.connect()
        except DigestError as error:
            _log.error("%d sign-ups wait for their mail: %s", len(waiting), error)
            return 0
        sent = 0
        try:
            for each in waiting:
                if not connection.is_open:
                    break
                sent += await self._answer_one(connection, each, now)
        finally:
            await connection.quit()
        return sent

    async def _answer_one(self, connection: RelayConnection, asked: SignUp, now: datetime) -> bool:
        """Claims the sign-up, then sends its mail; gives it back where nothing has left and it may go later."""
        if not await asyncio.to_thread(self._signups.mailed, asked.id, now):
            return False
        if not await asyncio.to_thread(self._subscribers.may_ask, self._edition, asked.address):
            return False  # nobody is written to who complained, or whose mailbox is dead
        known = await asyncio.to_thread(self._subscribers.find, self._edition, asked.address)
        kind: LetterKind = "known" if known and known.state == "active" else "confirm"
        try:
            sender, message = self._letter(kind, asked, known.id if known else 0, now)
            reply = await connection.send(sender, asked.address, message)
        except Exception:
            await asyncio.to_thread(self._signups.waits, asked.id)
            raise
        is_passing = 400 <= reply.code < 500 or (reply.code == 0 and reply.stage != "dot")
        if is_passing and now - asked.asked_at < PATIENCE:
            await asyncio.to_thread(self._signups.waits, asked.id)
        if not 200 <= reply.code < 300:
            _log.warning("the mail to a sign-up was not taken: %d at %s", reply.code, reply.stage)
        return 200 <= reply.code < 300

    def pending(self, id: str, now: datetime) -> SignUp | None:
        """The sign-up that a confirmation link stands for; None when it is too old or none."""
        found = self._signups.find(id, now)
        return found if found and found.edition == self._edition else None

    def confirm(self, id: str, client: str, now: datetime) -> Subscriber | None:
        """Makes the sign-up a reader, once: whoever left since is not brought back by the old link. None when there is no reader now."""
        asked = self.pending(id, now)
        if asked is None:
            return None
        if asked.confirmed_at:
            known = self._subscribers.find(self._edition, asked.address)
            return known if known and known.state == "active" else None
        proof = f"“{asked.words}” asked {asked.asked_at.isoformat(timespec='seconds')} from {asked.client}, confirmed from {client}"
        wanted = Subscriber(
            edition=self._edition,
            address=asked.address,
            languages=asked.languages,
            topics=asked.topics,
            rhythm=asked.rhythm,
            consent=Consent(how="double opt-in", at=now, evidence=proof),
        )
        found = self._subscribers.welcome(wanted)
        self._signups.confirmed(id, now)
        return found

    def reader(self, id: int) -> Subscriber | None:
        """The reader of this edition with that id, also one who left."""
        found = self._subscribers.get(id)
        return found if found and found.edition == self._edition else None

    def change(self, reader: Subscriber) -> None:
        """Saves what an active reader wants."""
        self._subscribers.change(reader)

    def leave(self, reader: Subscriber, now: datetime) -> None:
        """No more mail of this edition, at once."""
        self._subscribers.leave(reader, "unsubscribed", now)
