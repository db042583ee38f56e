"""``digest subscribers``: who gets the mail."""

from __future__ import annotations

import csv
import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from digest import wiring
from digest.audience.addresses import address_hash, checked
from digest.cli.arguments import a_path, add_config, add_edition, parser, some_words
from digest.errors import AudienceError, ConfigError
from digest.model import Consent, MailRhythm, Subscriber
from digest.settings.load import load
from digest.settings.schema import EditionSettings, unknown
from digest.store.database import open_database
from digest.store.subscribers import SqlSubscribers

_EPILOG = """Only people who said yes may be added: --consent says how, and is kept as the proof.

examples:
  digest subscribers add reader@example.com --languages zh --consent "asked by mail on 2026-11-30"
  digest subscribers import list.csv --consent "moved from the old list, double opt-in of 2025"
  digest subscribers export > list.csv
  digest subscribers forget reader@example.com      erases everything but a hash that keeps the address from being written to

CSV columns: address, languages (zh, en or zh+en), topics (a;b), rhythm (daily, news, weekly, monthly), state (active, left), consent_how,
consent_at, consent
"""
_COLUMNS = "address languages topics rhythm state consent_how consent_at consent".split()


@dataclass(frozen=True, slots=True)
class _Readership:
    """What the sub-commands work with: the readers of an edition, and every topic that there is."""

    store: SqlSubscribers
    name: str
    edition: EditionSettings
    topics: frozenset[str]


def main(command: str, arguments: list[str]) -> int:
    """Runs one sub-command."""
    options = parser(command, "Adds, lists, moves and forgets the readers of the newsletter.", _EPILOG)
    kinds = options.add_subparsers(dest="what", required=True, metavar="WHAT")
    adding = _sub(kinds, "add", "adds a reader who said yes")
    adding.add_argument("address")
    _add_wishes(adding)
    importing = _sub(kinds, "import", "adds the readers of a CSV file; those who left or are there already stay as they are")
    importing.add_argument("file", type=a_path)
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
        return _ACTS[chosen.what](_Readership(SqlSubscribers(engine, address_hash), name, edition, frozenset(loaded.settings.topics)), chosen)
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
    options.add_argument("--consent", required=True, type=some_words, metavar="WORDS", help="how and when the reader said yes")


def _add(readers: _Readership, chosen: Namespace) -> int:
    wanted = _wanted(readers, chosen, {"address": chosen.address}, datetime.now(UTC))
    added, refused = readers.store.add([wanted])
    if refused:
        print(f"{wanted.address} left or must not be written to; nothing was added", file=sys.stderr)
        return 1
    print(f"{wanted.address} {'is added' if added else 'is there already; what they get stays as they chose it'}")
    return 0


def _import(readers: _Readership, chosen: Namespace) -> int:
    now, by_mailbox, wrong = datetime.now(UTC), dict[str, Subscriber](), 0
    for number, row in _rows_of(chosen.file):
        try:
            wanted = _wanted(readers, chosen, row, now)
            if address_hash(wanted.address) in by_mailbox:
                raise ConfigError(f"{wanted.address} stands in an earlier line, which counts")
            by_mailbox[address_hash(wanted.address)] = wanted
        except (AudienceError, ConfigError) as error:
            wrong += 1
            print(f"{chosen.file}:{number}: {error}", file=sys.stderr)
    found = list(by_mailbox.values())
    left = [each for each in found if each.state == "left"]
    added, refused = readers.store.add([each for each in found if each.state != "left"])
    for each in left:
        if (known := readers.store.find(readers.name, each.address)) is None:
            readers.store.suppress(each.address, "unsubscribed", now, readers.name)
        else:
            readers.store.leave(known, "unsubscribed", now)
    there = len(found) - len(left) - len(added) - len(refused)
    print(f"{len(added)} added, {there} there already, {len(left)} left, {len(refused)} must not be written to, {wrong} wrong")
    return 1 if wrong else 0


def _rows_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with the number of the line in which each ends. Raises ConfigError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if "address" not in (reader.fieldnames or ()):
                raise ConfigError(f"{path}: the first line must name the columns, address among them")
            for row in reader:
                yield reader.line_num, row
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8; save it as UTF-8") from error
    except (OSError, csv.Error) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error


def _wanted(readers: _Readership, chosen: Namespace, row: dict[str, str], now: datetime) -> Subscriber:
    """The subscriber that a row and the command's options describe. Raises AudienceError and ConfigError."""
    languages = (row.get("languages") or chosen.languages or "+".join(readers.edition.languages)).replace(",", "+").split("+")
    if strange := [language for language in languages if language not in readers.edition.languages]:
        raise ConfigError(f"the edition has no {strange[0]!r}; it has {' and '.join(readers.edition.languages)}")
    rhythms: tuple[MailRhythm, ...] = get_args(MailRhythm)
    wish = row.get("rhythm") or chosen.rhythm
    rhythm = next((each for each in rhythms if each == wish), None)
    if rhythm is None:
        raise ConfigError(f"{wish!r} is no rhythm; choose from {', '.join(rhythms)}")
    try:
        at = datetime.fromisoformat(row["consent_at"]) if row.get("consent_at") else now
    except ValueError:
        raise ConfigError(f"consent_at is {row['consent_at']!r}; write it as 2026-11-30T08:00:00+00:00") from None
    if (state := row.get("state") or "active") not in ("active", "left"):
        raise ConfigError(f"{state!r} is no state; choose active or left")
    topics = tuple(topic for topic in (row.get("topics") or chosen.topics).replace(";", ",").split(",") if topic)
    if strange := [topic for topic in topics if topic not in readers.topics]:
        raise ConfigError(unknown(strange[0], set(readers.topics), "topic"))
    return Subscriber(
        edition=readers.name,
        address=checked(_unquoted(row["address"] or "")),
        languages=tuple(sorted((language for language in readers.edition.languages if language in languages), key=languages.index)),
        topics=topics,
        rhythm=rhythm,
        state="left" if state == "left" else "active",
        consent=Consent(
            how=row.get("consent_how") or chosen.what, at=at if at.tzinfo else at.replace(tzinfo=UTC), evidence=row.get("consent") or chosen.consent
        ),
    )


def _unquoted(cell: str) -> str:
    """Without the quote that an export puts before what a spreadsheet would take for a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def _export(readers: _Readership, chosen: Namespace) -> int:
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(_COLUMNS)
    for row in _rows(readers):
        table.writerow([f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in row])
    return 0


def _rows(readers: _Readership) -> Iterator[list[str]]:
    for each in readers.store.all(readers.name):
        consent = each.consent
        yield [each.address, "+".join(each.languages), ";".join(each.topics), each.rhythm, each.state, consent.how, consent.at.isoformat(), consent.evidence]


def _list(readers: _Readership, chosen: Namespace) -> int:
    rows = [dict(zip(_COLUMNS, row, strict=True)) for row in _rows(readers)]
    if chosen.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return 0
    for row in rows:
        print(f"{row['address']:<40} {row['state']:<8} {row['languages']:<6} {row['rhythm']:<7} {row['topics']}".rstrip())
    print(f"{sum(row['state'] == 'active' for row in rows)} of {len(rows)} get the mail")
    return 0


def _found(readers: _Readership, chosen: Namespace) -> Subscriber:
    found = readers.store.find(readers.name, checked(chosen.address))
    if found is None:
        raise AudienceError(f"{chosen.address} is no reader of {readers.name}")
    return found


def _show(readers: _Readership, chosen: Namespace) -> int:
    found = _found(readers, chosen)
    print(f"{found.address}: {found.state}, {'+'.join(found.languages)}, {found.rhythm}, {', '.join(found.topics) or 'all topics'}")
    print(f"said yes by {found.consent.how} at {found.consent.at.isoformat(timespec='seconds')}: {found.consent.evidence}")
    for reason, since in readers.store.refusals(readers.name, found.address):
        print(f"gets no mail since {since.isoformat(timespec='seconds')}: {reason}")
    return 0


def _remove(readers: _Readership, chosen: Namespace) -> int:
    readers.store.leave(_found(readers, chosen), "unsubscribed", datetime.now(UTC))
    print(f"{chosen.address} gets no more mail of {readers.name}")
    return 0


def _forget(readers: _Readership, chosen: Namespace) -> int:
    number = readers.store.forget(checked(chosen.address), datetime.now(UTC))
    print(f"{number} subscription(s) erased; the hash of the address keeps it from being written to")
    return 0


_ACTS = {"add": _add, "import": _import, "export": _export, "list": _list, "show": _show, "remove": _remove, "forget": _forget}
