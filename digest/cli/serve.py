"""``digest serve``: the pages for readers, and the job by itself beside them."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from digest import mail_wiring, wiring
from digest.acts import utc_now
from digest.cli.arguments import a_path, a_port, add_config, parser
from digest.cli.logs import configure, last_resort
from digest.errors import BusyError, ConfigError
from digest.overview import Overview, look
from digest.schedule import Schedule, plan_of
from digest.serve import health
from digest.serve.public import Newsletter, application
from digest.settings.load import Loaded, load
from digest.store.database import Engine, open_database

_EPILOG = """Put a reverse proxy with https before it, name its address as serve.proxies, and let `links` of the edition's mail lead to it.
/healthz and /readyz are for everybody; /status and /metrics ask for the key that serve.key names (Bearer KEY, or as password).

examples:
  digest serve
  digest serve --no-schedule                 the pages only
  digest serve --port 9000 --spool mails     the mails that ask for a confirmation go to a folder, to try it out
"""
SECONDS_TO_END = 15
_log = logging.getLogger("digest")


def main(command: str, arguments: list[str]) -> int:
    """Answers until it is stopped."""
    options = parser(command, "Answers readers (subscribe, confirm, choose, leave), serves the site, and does the daily job like `digest schedule`.", _EPILOG)
    add_config(options)
    options.add_argument("--host", help="instead of serve.host")
    options.add_argument("--port", type=a_port, help="instead of serve.port")
    options.add_argument("--spool", type=a_path, metavar="DIR", help="write the mails that ask for a confirmation there instead of sending them")
    options.add_argument("--no-schedule", action="store_true", help="the pages only")
    chosen = options.parse_args(arguments)
    configure()
    loaded = load(chosen.config)
    settings = loaded.settings.serve
    engine = open_database(wiring.database_address(loaded))
    try:
        app = _application(loaded, engine, chosen.spool, does_the_job=not chosen.no_schedule)
        host, port = chosen.host or settings.host, chosen.port or settings.port
        with _door(host, port) as door, _scheduled(chosen.config, is_wanted=not chosen.no_schedule) as background:
            print(f"http://{host}:{port}/  (Ctrl-C ends it)", flush=True)
            config = uvicorn.Config(
                app,
                host=host,
                port=port,
                proxy_headers=bool(settings.proxies),
                forwarded_allow_ips=settings.proxies,
                server_header=False,
                access_log=False,  # it would hold readers' tokens and addresses
                log_config=None,
                limit_concurrency=500,
                timeout_graceful_shutdown=10,
            )
            server = _Server(config, background)
            server.run([door])
            return 0 if server.started and not background.failure else 1
    finally:
        engine.dispose()


def _door(host: str, port: int) -> socket.socket:
    """Where readers come in, taken before any work is done. Raises ConfigError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ConfigError(
            f"{host}:{port} cannot be used: {os.strerror(error.errno) if error.errno else error}; choose another with --port (or --host)"
        ) from error


class _Background:
    """The schedule at work in a thread of its own, so that no page waits for it. Raises BusyError when another process has it."""

    def __init__(self, path: Path) -> None:
        self.failure = ""
        self._schedule, self._loop, self._stop = Schedule(path), asyncio.new_event_loop(), asyncio.Event()
        self._is_asked = False
        self._refusal: list[BusyError] = []
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()
        self._thread.join(1)  # long enough to learn that another has it
        if self._refusal:
            raise self._refusal[0]

    def _work(self) -> None:
        try:
            self._loop.run_until_complete(self._schedule.run(self._stop))
        except BusyError as error:
            self._refusal.append(error)
        except Exception as error:
            _log.exception("the schedule broke")
            self.failure = f"the schedule broke: {error}"
        if not self._is_asked and not self._refusal:
            self.failure = self.failure or "the schedule ended by itself"
            os.kill(os.getpid(), signal.SIGTERM)  # pages without the job behind them would look well: whoever watches starts all anew

    def stop(self) -> None:
        """No new work."""
        if not self._is_asked:
            self._is_asked = True
            self._loop.call_soon_threadsafe(self._stop.set)

    def join(self) -> None:
        self.stop()
        self._thread.join(SECONDS_TO_END)


class _Nothing:
    """No schedule."""

    failure = ""

    def stop(self) -> None:
        pass


class _Server(uvicorn.Server):
    """Ends with 0 when it is asked to end, within twenty seconds; uvicorn's own would send itself the signal again."""

    def __init__(self, config: uvicorn.Config, background: _Background | _Nothing) -> None:
        super().__init__(config)
        self._background = background

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        def end(number: int, frame: FrameType | None) -> None:
            self.should_exit = True
            self._background.stop()
            last_resort()

        before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


@contextmanager
def _scheduled(path: Path, *, is_wanted: bool) -> Iterator[_Background | _Nothing]:
    if not is_wanted:
        yield _Nothing()
        return
    background = _Background(path)
    try:
        yield background
    finally:
        background.join()


def _application(loaded: Loaded, engine: Engine, spool: Path | None, *, does_the_job: bool) -> Any:
    settings, editions = loaded.settings.serve, loaded.settings.editions
    found = newsletters(loaded, engine, spool)
    prefixes = {urlsplit(edition.mail.links).path.rstrip("/") for edition in editions.values() if edition.mail}
    if len(prefixes) > 1:
        raise ConfigError(f"mail.links of the editions must have one path, not {' and '.join(sorted(prefixes))}")
    sites = [(urlsplit(edition.address).path.rstrip("/") or "/", loaded.folder / edition.folder) for edition in editions.values()] if settings.site else []
    for _, folder in sites:
        folder.mkdir(parents=True, exist_ok=True)
    key = wiring.secret(settings.key, "the key to the status page") if settings.key else ""
    titles = {name: edition.title[edition.languages[0]] for name, edition in editions.items()}
    templates = wiring.templates(loaded)
    return application(
        found,
        templates,
        sorted(sites, reverse=True),
        prefixes.pop() if prefixes else "",
        health.routes(lambda: overviews(loaded), templates, titles, key, does_the_job=does_the_job),
    )


def overviews(loaded: Loaded) -> list[Overview]:
    """How every edition is."""
    return [look(loaded, name, edition, plan_of(edition), utc_now()) for name, edition in loaded.settings.editions.items()]


def newsletters(loaded: Loaded, engine: Engine, spool: Path | None) -> list[Newsletter]:
    """The editions that have a newsletter, as their pages know them. Raises ConfigError where a key is missing."""
    titles = wiring.topic_titles(loaded.settings)
    return [
        Newsletter(
            edition=name,
            title=edition.title,
            languages=tuple(edition.languages),
            topics={topic: titles[topic] for topic in edition.topics},
            home=f"{edition.address.rstrip('/')}/",
            links=mail_wiring.links(edition.mail),
            reception=mail_wiring.reception(loaded, name, edition, engine, spool),
        )
        for name, edition in loaded.settings.editions.items()
        if edition.mail is not None
    ]
