"""Everything that can be checked from here: settings, secrets, clock, disk, fonts, database, feeds, relay, model, schedule."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from digest import mail_wiring, wiring
from digest.acts import opened
from digest.errors import DigestError
from digest.machine import is_gone
from digest.model import Diagnosis
from digest.overview import Overview
from digest.settings.load import Loaded
from digest.settings.schema import EditionSettings, MailSettings
from digest.store.office import SqlOffice

LEAST_MB = 500
_SECONDS = 5.0


def offline(loaded: Loaded, now: datetime) -> Iterator[Diagnosis]:
    """What can be seen without asking anybody. The settings themselves are right, or they would not be loaded."""
    yield Diagnosis("feeds.yaml", "fine", f"{len(loaded.settings.sources)} sources, {len(loaded.settings.editions)} editions")
    yield from _made("rules", lambda: wiring.rule_complaints(loaded), "every expression is understood")
    yield from _made("templates", lambda: _broken_template(loaded), "every template can be read")
    yield from _zones(loaded)
    yield from _room(loaded)
    yield from _extras(loaded)
    yield from _house_secrets(loaded)
    for name, edition in loaded.settings.editions.items():
        yield from _secrets(name, edition)
        fonts, problems = wiring.card_fonts(loaded, edition)
        if fonts:
            yield Diagnosis(f"{name}: fonts", "fine", "share cards have a font with Chinese letters")
        for problem in problems:
            yield Diagnosis(f"{name}: fonts", "look", "share cards have no font", problem.message)
    yield from _database(loaded, now)


def _made(subject: str, check: Callable[[], str], fine: str, remedy: str = "correct it; `digest config check` names every place") -> Iterator[Diagnosis]:
    try:
        complaint = check()
    except DigestError as error:
        complaint = str(error)
    yield (Diagnosis(subject, "wrong", complaint.splitlines()[0], remedy) if complaint else Diagnosis(subject, "fine", fine))


def _broken_template(loaded: Loaded) -> str:
    wiring.templates(loaded).check()
    return ""


def _zones(loaded: Loaded) -> Iterator[Diagnosis]:
    for name, edition in loaded.settings.editions.items():
        try:
            ZoneInfo(edition.timezone)
            yield Diagnosis(f"{name}: zone", "fine", f"{edition.timezone} is known")
        except ZoneInfoNotFoundError:
            yield Diagnosis(f"{name}: zone", "wrong", f"{edition.timezone} is not known here", "pip install tzdata")


def _room(loaded: Loaded) -> Iterator[Diagnosis]:
    folders = {(loaded.folder / edition.folder).resolve() for edition in loaded.settings.editions.values()}
    if "://" not in loaded.settings.database:
        folders.add((loaded.folder / loaded.settings.database).resolve().parent)
    for folder in sorted(folders):
        there = next(each for each in (folder, *folder.parents) if each.exists())
        free = shutil.disk_usage(there).free // 1_000_000
        if not os.access(there, os.W_OK):
            yield Diagnosis("disk", "wrong", f"{there} cannot be written", f"give this user the right to write to {there}")
        elif free < LEAST_MB:
            yield Diagnosis("disk", "wrong", f"{there} has {free} MB left", "make room; `digest prune --dry-run` says what may go")
        else:
            yield Diagnosis("disk", "fine", f"{folder} can be written, {free} MB are free")


def _extras(loaded: Loaded) -> Iterator[Diagnosis]:
    settings, editions = loaded.settings, loaded.settings.editions.values()
    wanted = {
        "search": ("pagefind", any(edition.search for edition in editions)),
        "chat": ("apprise", any(edition.chat for edition in editions) or bool(settings.alerts.chat)),
        "dkim": ("dkim", any(edition.mail is not None and edition.mail.dkim_selector for edition in editions)),
        "llm": ("openai", settings.writer.use == "llm"),
        "full-text": ("trafilatura", any(source.full_text and source.on for source in settings.sources)),
        "translate": ("fxtranslate", bool(settings.translation)),
        "postgresql": ("psycopg", settings.database.startswith("postgres")),
    }
    for extra, (module, is_wanted) in wanted.items():
        if is_wanted and find_spec(module) is None:
            yield Diagnosis("extras", "wrong", f"feeds.yaml needs {module}, which is not installed", f"pip install 'training-digest[{extra}]'")


def _house_secrets(loaded: Loaded) -> Iterator[Diagnosis]:
    settings = loaded.settings
    wanted = {settings.serve.key: "the key to the status page", settings.alerts.chat: "the address for alerts"}
    wanted |= {settings.writer.key: "the key of the language model"} if settings.writer.use == "llm" else {}
    for variable, what in wanted.items():
        if variable:
            yield from _secret(variable, variable, what)


def _secrets(name: str, edition: EditionSettings) -> Iterator[Diagnosis]:
    wanted = {channel.address: f"the address of the chat channel {channel.name}" for channel in edition.chat}
    if edition.mail is not None:
        mail = edition.mail
        wanted |= {mail.key: "the key that signs links"}
        wanted |= {variable: "a password" for variable in (mail.password, mail.returns_password) if variable}
        wanted |= {mail.dkim_key: "the DKIM key"} if mail.dkim_selector else {}
    for variable, what in wanted.items():
        yield from _secret(f"{name}: {variable}", variable, what)
    if edition.mail is not None:
        yield from _made(f"{name}: links", lambda: _bad_links(mail), "the key is long enough", f"export {mail.key}=$(openssl rand -base64 32), and keep it")


def _bad_links(mail: MailSettings) -> str:
    mail_wiring.links(mail)
    return ""


def _secret(subject: str, variable: str, what: str) -> Iterator[Diagnosis]:
    try:
        wiring.secret(variable, what)
    except DigestError as error:
        yield Diagnosis(subject, "wrong", str(error), f"export {variable}=…, or {variable}_FILE=/run/secrets/…")
        return
    file = os.environ.get(f"{variable}_FILE", "")
    if file and not os.environ.get(variable) and stat.S_IMODE(Path(file).stat().st_mode) & 0o077:
        yield Diagnosis(subject, "look", f"{file} can be read by others", f"chmod 600 {file}")
    else:
        yield Diagnosis(subject, "fine", f"{what} is there")


def _database(loaded: Loaded, now: datetime) -> Iterator[Diagnosis]:
    try:
        with opened(loaded) as engine:
            yield Diagnosis("database", "fine", f"{engine.dialect.name} answers, its schema is current")
            newest = SqlOffice(engine, is_gone).last_began_at()
        if newest is not None and newest > now + timedelta(minutes=5):
            saw = f"the clock shows {now:%Y-%m-%d %H:%M} UTC, but something was run at {newest:%Y-%m-%d %H:%M}"
            yield Diagnosis("clock", "wrong", saw, "set the clock (timedatectl)")
        else:
            yield Diagnosis("clock", "fine", f"{now:%Y-%m-%d %H:%M} UTC")
    except DigestError as error:
        yield Diagnosis("database", "wrong", str(error), "see `database` in feeds.yaml")


def standing(found: Overview) -> Iterator[Diagnosis]:
    """What is known of sources and schedule."""
    name = found.edition
    bad = [row.source.name for row in found.sources if row.needs_a_hand]
    asked = [row for row in found.sources if row.poll is not None]
    if not asked:
        yield Diagnosis(f"{name}: sources", "look", "no source was asked yet", "digest run")
    elif bad:
        yield Diagnosis(f"{name}: sources", "look", f"{', '.join(bad)} need a hand", "`digest status` says what, `digest feeds check` asks them now")
    else:
        yield Diagnosis(f"{name}: sources", "fine", f"{len(asked)} sources answer")
    if found.scheduled_by:
        yield Diagnosis(f"{name}: schedule", "fine", f"{found.scheduled_by} does the daily job")
    else:
        yield Diagnosis(f"{name}: schedule", "look", "nothing does the daily job by itself", "`digest schedule`, `digest serve`, or `digest run` from cron")
    for alert in found.alerts:
        yield Diagnosis(f"{name}: alert", "look", alert.message, "see the message")


async def online(loaded: Loaded) -> list[Diagnosis]:
    """What only others can tell: the relay and the language model."""
    found = []
    for name, edition in loaded.settings.editions.items():
        if edition.mail is None:
            continue
        try:
            connection = await mail_wiring.relay(loaded, edition.mail, None).connect()
            await connection.quit()
            found.append(Diagnosis(f"{name}: relay", "fine", f"{edition.mail.host} takes the login"))
        except DigestError as error:
            found.append(Diagnosis(f"{name}: relay", "wrong", str(error), "`digest mail doctor` looks at everything that mail needs"))
    if loaded.settings.writer.use == "llm":
        found.append(_reachable("model", loaded.settings.writer.address))
    return found


def _reachable(subject: str, address: str) -> Diagnosis:
    place = urlsplit(address)
    try:
        socket.create_connection((place.hostname or "", place.port or (443 if place.scheme == "https" else 80)), _SECONDS).close()
        return Diagnosis(subject, "fine", f"{place.hostname} takes connections")
    except OSError as error:
        return Diagnosis(subject, "wrong", f"{place.hostname} cannot be reached: {error}", "see writer.address; until then the patterns write")
