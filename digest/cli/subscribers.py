"""``digest subscribers``: who gets the mail."""

from __future__ import annotations

import csv
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from digest import wiring
from digest.audience.addresses import address_hash, checked
from digest.cli.arguments import add_config, add_edition, parser
from digest.errors import AudienceError, ConfigError
from digest.model import Consent, MailRhythm, Subscriber
from digest.settings.load import load
from digest.settings.schema import EditionSettings
from digest.store.database import open_database
from digest.store.subscribers import SqlSubscribers

_EPILOG = """Only people who said yes may be added: --consent says how, and is kept as the proof.

examples:
  digest subscribers add reader@example.com --languages zh --consent "asked by mail on 2026-11-30"
  digest subscribers import list.csv --consent "moved from the old list, double opt-in of 2025"
  digest subscribers export > list.csv
  digest subscribers forget reader@example.com      erases everything but a hash that keeps the address from being written to

CSV columns: address, languages (zh, en or zh+en), topics (a;b), rhythm (daily, news), state, consent_how, consent_at, consent
"""
_COLUMNS = "address languages topics rhythm state consent_how consent_at consent".split()


def main(command: str, arguments: list[str]) -> int:
    """Runs one sub-command."""
    options = parser(command, "Adds, lists, moves and forgets the readers of the newsletter.", _EPILOG)
    kinds = options.add_subparsers(dest="what", required=True, metavar="WHAT")
    adding = _sub(kinds, "add", "adds a reader who said yes")
    adding.add_argument("address")
    _add_wishes(adding)
    importing = _sub(kinds, "import", "adds the readers of a CSV file; those who left or are there already stay as they are")
    importing.add_argument("file", type=Path)
    _add_wishes(importing)
    _sub(kinds, "export", "prints all readers as CSV, with the proof of their consent")
    listing = _sub(kinds, "list", "prints all readers")
    listing.add_argument("--json", action="store_true")
    for what, words in (("show", "what is known of a reader"), ("remove", "no more mail of this edition"), ("forget", "erases a person")):
        _sub(kinds, what, words).add_argument("address")
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    engine = open_database(wiring.database_address(loaded))
    try:
        return _ACTS[chosen.what](SqlSubscribers(engine, address_hash), name, edition, chosen)
    finally:
        engine.dispose()


def _sub(kinds: Any, what: str, words: str) -> ArgumentParser:
    options: ArgumentParser = kinds.add_parser(what, help=words)
    add_config(options)
    add_edition(options)
    return options


def _add_wishes(options: ArgumentParser) -> None:
    options.add_argument("--languages", default="", metavar="zh|en|zh+en", help="the main one first; all of the edition when left out")
    options.add_argument("--topics", default="", metavar="A,B", help="only these topics; all when left out")
    options.add_argument("--rhythm", choices=get_args(MailRhythm), default="daily")
    options.add_argument("--consent", required=True, metavar="WORDS", help="how and when the reader said yes")


def _add(store: SqlSubscribers, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    wanted = _wanted(name, edition, chosen, {"address": chosen.address}, datetime.now(UTC))
    added, refused = store.add([wanted])
    if refused:
        print(f"{wanted.address} left or must not be written to; nothing was added", file=sys.stderr)
        return 1
    print(f"{wanted.address} {'is added' if added else 'is there already'}")
    return 0


def _import(store: SqlSubscribers, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    now, found, wrong = datetime.now(UTC), [], 0
    try:
        rows = list(csv.DictReader(chosen.file.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"cannot read {chosen.file}: {error}") from error
    if rows and "address" not in rows[0]:
        raise ConfigError(f"{chosen.file}: the first line must name the columns, address among them")
    for number, row in enumerate(rows, start=2):
        try:
            found.append(_wanted(name, edition, chosen, row, now))
        except (AudienceError, ConfigError) as error:
            wrong += 1
            print(f"{chosen.file}:{number}: {error}", file=sys.stderr)
    added, refused = store.add([each for each in found if each.state != "left"])
    for each in found:
        if each.state == "left" and (known := store.find(name, each.address)) is None:
            store.suppress(each.address, "unsubscribed", now)
        elif each.state == "left" and known is not None:
            store.leave(known, "unsubscribed", now)
    print(f"{len(added)} added, {len(found) - len(added) - len(refused)} there already, {len(refused)} must not be written to, {wrong} wrong")
    return 1 if wrong else 0


def _wanted(name: str, edition: EditionSettings, chosen: Namespace, row: dict[str, str], now: datetime) -> Subscriber:
    """The subscriber that a row and the command's options describe. Raises AudienceError and ConfigError."""
    languages = (row.get("languages") or chosen.languages or "+".join(edition.languages)).split("+")
    if unknown := [language for language in languages if language not in edition.languages]:
        raise ConfigError(f"the edition has no {unknown[0]!r}; it has {' and '.join(edition.languages)}")
    rhythms: tuple[MailRhythm, ...] = get_args(MailRhythm)
    wish = row.get("rhythm") or chosen.rhythm
    rhythm = next((each for each in rhythms if each == wish), None)
    if rhythm is None:
        raise ConfigError(f"{wish!r} is no rhythm; choose from {', '.join(rhythms)}")
    at = datetime.fromisoformat(row["consent_at"]) if row.get("consent_at") else now
    return Subscriber(
        edition=name,
        address=checked(row["address"] or ""),
        languages=tuple(sorted((language for language in edition.languages if language in languages), key=languages.index)),
        topics=tuple(topic for topic in (row.get("topics") or chosen.topics).replace(";", ",").split(",") if topic),
        rhythm=rhythm,
        state="left" if row.get("state") == "left" else "active",
        consent=Consent(
            how=row.get("consent_how") or chosen.what, at=at if at.tzinfo else at.replace(tzinfo=UTC), evidence=row.get("consent") or chosen.consent
        ),
    )


def _export(store: SqlSubscribers, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(_COLUMNS)
    for row in _rows(store, name):
        table.writerow([f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in row])
    return 0


def _rows(store: SqlSubscribers, name: str) -> Iterator[list[str]]:
    for each in store.all(name):
        consent = each.consent
        yield [each.address, "+".join(each.languages), ";".join(each.topics), each.rhythm, each.state, consent.how, consent.at.isoformat(), consent.evidence]


def _list(store: SqlSubscribers, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    rows = [dict(zip(_COLUMNS, row, strict=True)) for row in _rows(store, name)]
    if chosen.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return 0
    for row in rows:
        print(f"{row['address']:<40} {row['state']:<8} {row['languages']:<6} {row['rhythm']:<7} {row['topics']}".rstrip())
    print(f"{sum(row['state'] == 'active' for row in rows)} of {len(rows)} get the mail")
    return 0


def _found(store: SqlSubscribers, name: str, chosen: Namespace) -> Subscriber:
    found = store.find(name, checked(chosen.address))
    if found is None:
        raise AudienceError(f"{chosen.address} is no reader of {name}")
    return found


def _show(store: SqlSubscribers, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    found = _found(store, name, chosen)
    print(f"{found.address}: {found.state}, {'+'.join(found.languages)}, {found.rhythm}, {', '.join(found.topics) or 'all topics'}")
    print(f"said yes by {found.consent.how} at {found.consent.at.isoformat(timespec='seconds')}: {found.consent.evidence}")
    return 0


def _remove(store: SqlSubscribers, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    store.leave(_found(store, name, chosen), "unsubscribed", datetime.now(UTC))
    print(f"{chosen.address} gets no more mail of {name}")
    return 0


def _forget(store: SqlSubscribers, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    number = store.forget(checked(chosen.address), datetime.now(UTC))
    print(f"{number} subscription(s) erased; the hash of the address keeps it from being written to")
    return 0


_ACTS = {"add": _add, "import": _import, "export": _export, "list": _list, "show": _show, "remove": _remove, "forget": _forget}
