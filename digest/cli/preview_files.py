"""What the desk shows as files: ``digest preview --export`` for a review, and ``digest diff`` between two sets of templates."""

from __future__ import annotations

import difflib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from digest import wiring, workbench
from digest.acts import utc_now
from digest.cli.arguments import a_day, add_config, add_edition, parser
from digest.errors import ConfigError
from digest.serve.hand import Seen
from digest.serve.preview import Preview
from digest.settings.load import load
from digest.workbench import Table

_PICTURES = (("phone", 390, ""), ("phone-dark", 390, "dark"), ("desktop", 1280, ""), ("desktop-dark", 1280, "dark"))
_FILES = {"mail": "html", "mail-text": "txt", "mail-source": "eml", "feed": "html", "chat": "md", "markdown": "md"}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_HEIGHT = 2400


def export(preview: Preview, folder: Path) -> int:
    """Writes every view of the day; pictures where a Chromium is installed. 0, or 1 when there is something wrong to look at."""
    days = preview.days()
    day = preview.day or days[0]
    table = preview.table(day)
    folder.mkdir(parents=True, exist_ok=True)
    pages: list[tuple[str, Path]] = []
    for document in table.documents.values():
        path = folder / "site" / document.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(document.body)
    for languages in workbench.choices(table.issue.languages):
        seen, choice = Seen(day=day, languages=languages, ui="en"), "-".join(languages)
        for channel, ending in _FILES.items():
            path = folder / f"{channel}.{choice}.{ending}"
            path.write_text(_text(preview, table, channel, seen), encoding="utf-8", newline="")
            if channel == "mail":
                pages.append((f"mail.{choice}", path))
        pages.append((f"web.{choice}", folder / "site" / table.page(languages)))
    notes = table.notes()
    (folder / "notes.txt").write_text("".join(f"{note.level}: {note.kind} {note.language} {note.why} {note.words}\n" for note in notes), encoding="utf-8")
    number = _pictures(pages, folder / "pictures")
    print(f"{folder}: {day.isoformat()}, {len(notes)} to look at, {number} pictures" + ("" if number else " (no Chromium was found)"))
    return 1 if any(note.level == "wrong" for note in notes) else 0


def _text(preview: Preview, table: Table, channel: str, seen: Seen) -> str:
    if channel == "mail-source":
        return table.message(seen.languages).decode("ascii")
    if channel == "mail-text":
        return table.mail_part(seen.languages, "plain")
    if channel == "markdown":
        return table.markdown(seen.languages)
    if channel == "chat":
        return "\n\n".join(table.chat(seen.languages, "md"))
    return preview.picture(channel, seen)


def _pictures(pages: list[tuple[str, Path]], folder: Path) -> int:
    program = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="digest-browser-") as profile:
        for name, page in pages:
            for kind, width, scheme in _PICTURES:
                command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
                command += ["--blink-settings=preferredColorScheme=0"] if scheme else ["--blink-settings=preferredColorScheme=1"]
                command += [f"--window-size={width},{_HEIGHT}", f"--screenshot={(folder / f'{name}.{kind}.png').resolve()}", page.resolve().as_uri()]
                subprocess.run(command, capture_output=True, timeout=60, check=False)  # noqa: S603  # a browser that is installed, a file that we made
    return len(list(folder.glob("*.png")))


def main(command: str, arguments: list[str]) -> int:
    """``digest diff DAY --templates OTHER``."""
    options = parser(
        command,
        "Shows what other templates would make of a day: every file that differs, line by line.",
        "example:\n  digest diff 2026-11-30 --templates ../new/templates\n",
    )
    options.add_argument("day", type=a_day, metavar="DAY")
    options.add_argument("--templates", type=Path, required=True, metavar="DIR", help="the other templates; what is missing there comes with the program")
    options.add_argument("--names", action="store_true", help="only the names of the files")
    add_config(options)
    add_edition(options)
    chosen = options.parse_args(arguments)
    if not chosen.templates.is_dir():
        raise ConfigError(f"--templates: there is no folder {chosen.templates}")
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    old, new = (workbench.lay(each, name, edition, chosen.day, utc_now) for each in (loaded, replace(loaded, own_templates=chosen.templates.resolve())))
    differing = 0
    for file, one, other in _texts(old, new):
        if one == other:
            continue
        differing += 1
        print(file) if chosen.names else sys.stdout.writelines(
            difflib.unified_diff(one.splitlines(keepends=True), other.splitlines(keepends=True), f"a/{file}", f"b/{file}")
        )
    print(f"{differing} files differ", file=sys.stderr)
    return 1 if differing else 0


def _texts(old: Table, new: Table) -> list[tuple[str, str, str]]:
    """(name, text with one set, text with the other) of everything that is text: the site's files and the mails."""
    found = []
    for name in sorted({*old.documents, *new.documents}):
        one, other = (table.documents[name].body if name in table.documents else b"" for table in (old, new))
        if not name.endswith(".png"):
            found.append((name, one.decode(), other.decode()))
    for languages in workbench.choices(old.issue.languages):
        for kind in ("html", "plain"):
            found.append((f"mail.{'-'.join(languages)}.{kind}", old.mail_part(languages, kind), new.mail_part(languages, kind)))
    return found
