"""Settings to what sends the newsletter; ``wiring.py`` has the rest."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from html import escape
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from digest.audience.addresses import address_hash, network_of
from digest.audience.bounces import read_return
from digest.audience.limits import Limits, warm_up_limit
from digest.audience.links import Links
from digest.errors import ConfigError, PublishError
from digest.fetch import mailboxes
from digest.machine import here, is_gone
from digest.model import Consent, Issue, Language, Period, Problem, Reply, ReturnKind, SignUp, Subscriber
from digest.pipeline.mailing import MailParts, MailReport, audience, send
from digest.pipeline.returning import ReturnParts, alarm, take
from digest.pipeline.subscribing import LetterKind, Reception
from digest.ports import Relay
from digest.publish.message import Sender, letter
from digest.publish.personal import Personaliser
from digest.publish.relay import FolderRelay, RelayAddress, SmtpRelay
from digest.render.mail_body import PREFERENCES, UNSUBSCRIBE, LetterRenderer, MailRenderer
from digest.settings.load import Loaded
from digest.settings.schema import EditionSettings, MailSettings
from digest.store.archive import SqlArchive
from digest.store.database import Engine
from digest.store.ledger import SqlLedger
from digest.store.returns import SqlReturns
from digest.store.signups import SqlSignUps
from digest.store.subscribers import SqlSubscribers
from digest.wiring import desk, secret, sources_by_name, templates
from digest.write.desk import apply
from digest.write.period import best_of, last_period

LATE = timedelta(days=3)  # so late the best of a week or month may still go out


def mail_settings(chosen: EditionSettings) -> MailSettings:
    """The newsletter of the edition. Raises ConfigError where it has none."""
    if chosen.mail is None:
        raise ConfigError("this edition sends no mail; add a `mail:` part to it in feeds.yaml (README, The newsletter)")
    return chosen.mail


def links(mail: MailSettings) -> Links:
    """The signed links of the newsletter. Raises ConfigError where their key is missing or too short."""
    return Links(mail.links, [key.strip() for key in secret(mail.key, "the key that signs the links of the newsletter").split(",") if key.strip()])


def personaliser(loaded: Loaded, name: str, chosen: EditionSettings) -> Personaliser:
    """What makes the message of each subscriber."""
    mail, signed = mail_settings(chosen), links(mail_settings(chosen))
    return Personaliser(
        _sender(name, chosen),
        MailRenderer(templates(loaded)).render,
        signed.token,
        lambda token: (signed.unsubscribe(token), signed.preferences(token)),
        (UNSUBSCRIBE, PREFERENCES),
        mail.bounces,
        signature(mail),
    )


def _sender(name: str, chosen: EditionSettings) -> Sender:
    mail, address = mail_settings(chosen), chosen.address.rstrip("/")
    list_id = f"{name}.{urlsplit(address).hostname}"
    return Sender(address=mail.sender, list_id=list_id, archive=f"{address}/", reply_to=mail.reply_to, leave=mail.bounces)


def reception(loaded: Loaded, name: str, chosen: EditionSettings, engine: Engine, spool: Path | None) -> Reception:
    """What answers those who ask for the newsletter of the edition."""
    mail, signed, sender = mail_settings(chosen), links(mail_settings(chosen)), _sender(name, chosen)
    renderer, sign = LetterRenderer(templates(loaded)), signature(mail)

    def write(kind: LetterKind, asked: SignUp, reader: int, now: datetime) -> tuple[str, bytes]:
        title = chosen.title[asked.language]
        link = signed.preferences(signed.token(reader)) if kind == "known" else signed.confirm(asked.id)
        subject, text, html = renderer.render(kind, title, asked.language, link)
        message = letter(sender, title, asked.address, subject, (text, html), f"{kind}|{asked.id}", now)
        return sender.address, (sign(message) + message if sign else message)

    signups = SqlSignUps(engine, address_hash, network_of)
    return Reception(name, SqlSubscribers(engine, address_hash), signups, relay(loaded, mail, spool), write)


def relay(loaded: Loaded, mail: MailSettings, spool: Path | None) -> Relay:
    """Where mail is handed in: the relay of the settings, or a folder."""
    if spool is not None:
        return FolderRelay(spool, lambda address: re.sub(r"[^\w.@+-]", "_", address))
    if mail.password:
        password_of(mail)  # said before anything is sent
    certificates = str(loaded.folder / mail.certificates) if mail.certificates else ""
    address = RelayAddress(
        host=mail.host,
        port=mail.port,
        security=mail.security,
        user=mail.user,
        password=lambda: password_of(mail),
        login=mail.login,
        certificates=certificates,
    )
    return SmtpRelay(address)


def password_of(mail: MailSettings) -> str:
    """What the relay is logged in with. Raises ConfigError where it is not there."""
    return secret(mail.password, f"the {'access token' if mail.login == 'oauth2' else 'password'} of {mail.user} at {mail.host}") if mail.password else ""


def signature(mail: MailSettings) -> Callable[[bytes], bytes] | None:
    """What signs messages; None where the relay does. Raises ConfigError where the key or the library is missing."""
    if not mail.dkim_selector:
        return None
    if find_spec("dkim") is None:
        raise ConfigError("mail.dkim_selector needs more: pip install 'training-digest[dkim]'")
    from digest.publish.signature import DkimSignature

    return DkimSignature(mail.sender.rpartition("@")[2], mail.dkim_selector, secret(mail.dkim_key, "the private DKIM key")).header_for


def public_key(mail: MailSettings) -> str:
    """What the DKIM record must hold, where we sign ourselves with an RSA key; empty where that is not known here."""
    if not mail.dkim_selector or find_spec("dkim") is None:
        return ""
    from digest.publish.signature import public_part

    return public_part(secret(mail.dkim_key, "the private DKIM key"))


async def send_alert(loaded: Loaded, to: str, title: str, body: str, identity: str, now: datetime) -> None:
    """A mail to the owner through the relay of the first edition that has one. Raises ConfigError and PublishError."""
    found = next(((name, edition) for name, edition in loaded.settings.editions.items() if edition.mail is not None), None)
    if found is None:
        raise ConfigError("alerts.mail needs an edition with mail: its relay sends them")
    sender = _sender(*found)
    html = "".join(f"<p>{escape(part)}</p>" for part in body.split("\n\n"))
    message = letter(sender, title, to, title, (body, f"<!DOCTYPE html><html><body>{html}</body></html>"), f"{identity}|{now.isoformat()}", now)
    if (sign := signature(mail_settings(found[1]))) is not None:
        message = sign(message) + message
    connection = await relay(loaded, mail_settings(found[1]), None).connect()
    try:
        reply = await connection.send(sender.address, to, message)
    finally:
        await connection.quit()
    if not 200 <= reply.code < 300:
        raise PublishError(f"the alert was not taken: {reply.code} {reply.text}")


def read_returns(
    loaded: Loaded, chosen: EditionSettings, engine: Engine, clock: Callable[[], datetime], source: str = ""
) -> tuple[Counter[ReturnKind], list[Problem]]:
    """Reads the mails that came back and acts on them; what is not understood is copied to state/returns. (How many of each kind, why
    mailings were paused.) Raises ConfigError and FetchError."""
    mail = mail_settings(chosen)
    if not mail.bounces:
        raise ConfigError("mail.bounces is not set; without it nobody can tell whose mail came back (README, The newsletter)")
    parts = ReturnParts(
        subscribers=SqlSubscribers(engine, address_hash),
        returns=SqlReturns(engine),
        ledger=SqlLedger(engine),
        read=lambda raw: read_return(raw, mail.bounces),
        reader=links(mail).reader,
    )
    counts: Counter[ReturnKind] = Counter()
    for each in _mails(source or mail.returns, mail, loaded):
        kind, is_new = take(parts, each.raw, clock())
        if kind == "unknown":
            kept = loaded.folder / "state" / "returns"
            kept.mkdir(parents=True, exist_ok=True)
            (kept / f"{sha256(each.raw).hexdigest()[:16]}.eml").write_bytes(each.raw)
        each.done(is_understood=kind != "unknown")
        counts[kind] += is_new
    is_new_trouble = bool(counts["complaint"] or counts["hard"])  # a mailing that was resumed is not paused again for the old ones
    return counts, alarm(parts) if is_new_trouble else []


def _mails(source: str, mail: MailSettings, loaded: Loaded) -> Iterator[mailboxes.Mail]:
    if not source:
        raise ConfigError("say where mails come back to: mail.returns in feeds.yaml, or --from (digest bounces --help)")
    if source == "-":
        return mailboxes.from_stream(sys.stdin.buffer)
    if source.startswith(("imaps://", "imap://")):
        password = secret(mail.returns_password, "the password of the mailbox for returns") if mail.returns_password else ""
        return mailboxes.from_imap(source, password, str(loaded.folder / mail.certificates) if mail.certificates else "")
    path = loaded.folder / source
    return mailboxes.from_maildir(path) if path.is_dir() else mailboxes.from_mbox(path)


def mail_parts(loaded: Loaded, name: str, chosen: EditionSettings, engine: Engine, clock: Callable[[], datetime], spool: Path | None = None) -> MailParts:
    """What sending the newsletter of an edition needs."""
    mail, ledger = mail_settings(chosen), SqlLedger(engine)
    a_day = min(filter(None, (mail.a_day, warm_up_limit(ledger.fine_days(name, clock().date())) if mail.warm_up else 0)), default=0)
    return MailParts(
        ledger=ledger,
        subscribers=SqlSubscribers(engine, address_hash),
        returns=SqlReturns(engine),
        relay=relay(loaded, mail, spool),
        encode=personaliser(loaded, name, chosen),
        limits=Limits({}) if spool else Limits(mail.a_minute, a_day, f"relay {mail.user}@{mail.host}:{mail.port}"),
        keeps_limits=spool is None,
        clock=clock,
        worker=here(),
        connections=mail.connections,
        is_gone=is_gone,
    )


async def send_one(parts: MailParts, name: str, issue: Issue, address: str, languages: Sequence[Language]) -> Reply:
    """One mail of an issue to look at, of which the ledger does not know: as the reader with that address gets it, or in those languages.
    Raises PublishError when the relay cannot be used."""
    now = parts.clock()
    known = parts.subscribers.find(name, address)
    reader = known or Subscriber(edition=name, address=address, languages=tuple(languages), consent=Consent(how="test", at=now))
    encoded = parts.encode(issue, replace(reader, address=address, rhythm="daily"), now)
    assert encoded is not None  # daily readers get quiet days too
    connection = await parts.relay.connect()
    try:
        return await connection.send(encoded[0], address, encoded[1])
    finally:
        await connection.quit()


def edited_issue(loaded: Loaded, archive: SqlArchive, name: str, day: date) -> Issue | None:
    """The archived issue of the day as its editor wants it; None when there is none."""
    archived = archive.issue(name, day)
    return apply(archived, desk(loaded, day), sources_by_name(loaded.settings))[0] if archived else None


def period_issue(loaded: Loaded, archive: SqlArchive, name: str, chosen: EditionSettings, period: Period, day: date) -> Issue | None:
    """The best of the week or month that ended last before the day; None when it told nothing."""
    first, last = last_period(period, day)
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    if chosen.schedule.approval == "hold":
        days = [each for each in days if desk(loaded, each).approved]  # what was held back is no part of the best either
    return best_of([issue for each in days if (issue := edited_issue(loaded, archive, name, each))], period, last, chosen.articles)


def due_issues(loaded: Loaded, archive: SqlArchive, name: str, chosen: EditionSettings, day: date) -> list[Issue]:
    """What is to be mailed on a day: its issue, and the best of a week or month that ended in the three days before."""
    found = [edited_issue(loaded, archive, name, day)]
    for period in ("week", "month"):
        if day - last_period(period, day)[1] <= LATE:
            found.append(period_issue(loaded, archive, name, chosen, period, day))
    return [issue for issue in found if issue is not None]


async def send_due(
    loaded: Loaded,
    name: str,
    chosen: EditionSettings,
    engine: Engine,
    day: date,
    clock: Callable[[], datetime],
    step: Callable[[str], None],
    is_stopping: Callable[[], bool] = lambda: False,
    *,
    is_held: bool = False,
) -> list[MailReport]:
    """Mails what is due on the day, unless it is held, and goes on with every mailing of the edition that is under way, until it is to
    stop."""
    parts, archive = replace(mail_parts(loaded, name, chosen, engine, clock), is_stopping=is_stopping), SqlArchive(engine)
    issues = {} if is_held else {issue.key: issue for issue in due_issues(loaded, archive, name, chosen, day)}
    for key in parts.ledger.under_way():
        if key.startswith(f"{name}/") and (begun := parts.ledger.mailing(key)) is not None:
            issues[key] = begun.issue
    return [await send(parts, issue, audience(issue), step=step) for issue in issues.values()]
