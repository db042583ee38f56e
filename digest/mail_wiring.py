"""Settings to what sends the newsletter; ``wiring.py`` has the rest."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from digest.audience.links import Links
from digest.errors import ConfigError
from digest.ports import Relay
from digest.publish.message import Sender
from digest.publish.personal import Personaliser
from digest.publish.relay import FolderRelay, RelayAddress, SmtpRelay
from digest.render.mail_body import PREFERENCES, UNSUBSCRIBE, MailRenderer
from digest.settings.load import Loaded
from digest.settings.schema import EditionSettings, MailSettings
from digest.wiring import templates


def mail_settings(chosen: EditionSettings) -> MailSettings:
    """The newsletter of the edition. Raises ConfigError where it has none."""
    if chosen.mail is None:
        raise ConfigError("this edition sends no mail; add a `mail:` part to it in feeds.yaml (README, The newsletter)")
    return chosen.mail


def links(mail: MailSettings) -> Links:
    """The signed links of the newsletter. Raises ConfigError where their key is missing or too short."""
    return Links(mail.links, [key.strip() for key in secret(mail.key, "the key that signs the links of the newsletter").split(",") if key.strip()])


def secret(variable: str, what: str) -> str:
    """The value of an environment variable. Raises ConfigError that names it."""
    if not (value := os.environ.get(variable, "")):
        raise ConfigError(f"the environment variable {variable} is not set; it holds {what}")
    return value


def personaliser(loaded: Loaded, name: str, chosen: EditionSettings) -> Personaliser:
    """What makes the message of each subscriber."""
    mail, signed = mail_settings(chosen), links(mail_settings(chosen))
    address = chosen.address.rstrip("/")
    sender = Sender(
        address=mail.sender,
        list_id=f"{name}.{urlsplit(address).hostname}",
        archive=f"{address}/",
        reply_to=mail.reply_to,
        leave=mail.bounces,
    )
    return Personaliser(
        sender,
        MailRenderer(templates(loaded)).render,
        signed.token,
        lambda token: (signed.unsubscribe(token), signed.preferences(token)),
        (UNSUBSCRIBE, PREFERENCES),
        mail.bounces,
    )


def relay(loaded: Loaded, mail: MailSettings, spool: Path | None) -> Relay:
    """Where mail is handed in: the relay of the settings, or a folder."""
    if spool is not None:
        return FolderRelay(spool, lambda address: re.sub(r"[^\w.@+-]", "_", address))
    password = secret(mail.password, f"the password of {mail.user} at {mail.host}") if mail.password else ""
    certificates = str(loaded.folder / mail.certificates) if mail.certificates else ""
    return SmtpRelay(RelayAddress(host=mail.host, port=mail.port, security=mail.security, user=mail.user, password=password, certificates=certificates))
