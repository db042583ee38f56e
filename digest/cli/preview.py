"""``digest preview``: the editor's desk."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import webbrowser
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import uvicorn

from digest import mail_wiring, wiring
from digest.acts import Newsroom, opened, utc_now
from digest.audience.addresses import checked
from digest.cli.arguments import a_day, a_path, a_port, add_config, add_edition, parser
from digest.cli.preview_files import export
from digest.errors import ConfigError, DigestError
from digest.in_force import InForce
from digest.model import Issue, Language
from digest.phrase import Phrase
from digest.plan import end_of
from digest.render.environment import Templates
from digest.serve.preview import Preview, SendTest, application, new_token
from digest.shipped import SHIPPED
from digest.store.archive import SqlArchive

DEMO_DAY = "2026-11-24"
_EPILOG = """Nothing leaves this machine and no key is needed. Edits go to edits/DAY.yaml and notes/DAY.zh.md beside feeds.yaml.

examples:
  digest preview                            the newest day, in the browser
  digest preview --demo                     a small invented day, to look around
  digest preview --date 2026-11-30
  digest preview --export pictures          every view as a file and a picture, for a review
  digest preview --host 0.0.0.0 --password DESK_PASSWORD     for others; the variable holds the password
"""


def main(command: str, arguments: list[str]) -> int:
    """Opens the desk, or writes what it shows."""
    options = parser(command, "The editor's desk: every channel as readers will see it, what to look at, why, and your hand on it.", _EPILOG)
    add_config(options)
    add_edition(options)
    options.add_argument("--date", type=a_day, metavar="DAY", help="the day to open; the newest when left out")
    options.add_argument("--demo", action="store_true", help="the shipped demo day, in a folder of its own")
    options.add_argument("--host", default="127.0.0.1", help="where to listen; anything but this machine needs --password")
    options.add_argument("--port", type=a_port, default=8322)
    options.add_argument("--password", metavar="VARIABLE", default="", help="the environment variable with a password, for others than you")
    options.add_argument("--no-browser", action="store_true", help="only print the address")
    options.add_argument("--spool", type=a_path, metavar="DIR", help="write test mails there instead of sending them")
    options.add_argument("--export", type=a_path, metavar="DIR", help="write all views of the day as files and pictures, and end")
    chosen = options.parse_args(arguments)
    is_local = chosen.host in ("127.0.0.1", "localhost", "::1")
    if not is_local and not chosen.password:
        raise ConfigError("--host: a desk that others reach needs --password VARIABLE")
    with _settings(chosen) as path:
        in_force = InForce(path)
        name, _ = wiring.edition(in_force.loaded.settings, chosen.edition)
        day = chosen.date or _newest(in_force, name)
        preview = Preview(in_force, name, Templates([SHIPPED / "templates"]), utc_now, _test(in_force, name, chosen.spool), day)
        if chosen.export:
            return export(preview, chosen.export)
        return _serve(preview, chosen, is_local=is_local)


@contextmanager
def _settings(chosen: Namespace) -> Iterator[Path]:
    """The feeds.yaml to work with; for the demo one in a folder that is gone afterwards."""
    if not chosen.demo:
        yield chosen.config
        return
    with tempfile.TemporaryDirectory(prefix="digest-demo-") as place:
        shutil.copytree(SHIPPED / "examples", Path(place) / "examples")
        shutil.copy(SHIPPED / "feeds.yaml", place)
        path = Path(place) / "examples" / "feeds.yaml"
        asyncio.run(_demo(path))
        chosen.date = a_day(DEMO_DAY)
        yield path


async def _demo(path: Path) -> None:
    loaded = InForce(path).loaded
    name, edition = wiring.edition(loaded.settings, None)
    newsroom = Newsroom(loaded=loaded, name=name, edition=edition)
    now = end_of(a_day(DEMO_DAY), edition.timezone)
    await newsroom.collect(now)
    await newsroom.make(a_day(DEMO_DAY), now)


def _newest(in_force: InForce, name: str) -> date | None:
    with opened(in_force.loaded) as engine:
        days = SqlArchive(engine).days(name)
    return days[-1] if days else None


def _test(in_force: InForce, name: str, spool: Path | None) -> SendTest:
    async def send(issue: Issue, languages: tuple[Language, ...], address: str) -> str:
        edition = in_force.loaded.settings.editions[name]
        with opened(in_force.loaded) as engine:
            parts = mail_wiring.mail_parts(in_force.loaded, name, edition, engine, utc_now, spool)
            reply = await mail_wiring.send_one(parts, name, issue, checked(address), languages)
        if not 200 <= reply.code < 300:
            raise DigestError(Phrase("the test was not taken: %(reply)s", reply=f"{reply.code} {reply.text}"))
        return f"{address}: {reply.code} {reply.text}"

    return send


def _serve(preview: Preview, chosen: Namespace, *, is_local: bool) -> int:
    token, password = new_token(), wiring.secret(chosen.password, "the password of the desk") if chosen.password else ""
    hosts = [f"{name}:{chosen.port}" for name in ("127.0.0.1", "localhost", "[::1]")] if is_local else []
    address = f"http://{'127.0.0.1' if is_local else chosen.host}:{chosen.port}/"
    print(f"{address}?token={token}" if not password else address, flush=True)
    app = application(preview, hosts, token, password)
    server = uvicorn.Server(uvicorn.Config(app, host=chosen.host, port=chosen.port, log_level="warning", access_log=False, timeout_graceful_shutdown=1))
    if not chosen.no_browser and is_local and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("darwin", "win32")):
        webbrowser.open(f"{address}?token={token}")
    server.run()
    return 0 if server.started else 1
