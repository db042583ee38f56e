"""The editor's desk in the browser: every channel of a day as its readers will see it, what to look at, why, and the hand on it."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import replace
from datetime import date
from pathlib import Path
from threading import RLock
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from digest import workbench
from digest.acts import Clock
from digest.editing import Editing
from digest.errors import DigestError
from digest.in_force import InForce
from digest.model import Issue, Language, Wording
from digest.render.environment import Templates
from digest.serve.guarded import Guarded
from digest.serve.hand import ACTS, PANELS, Seen, rule
from digest.serve.safety import ALWAYS, BodyLimit, Headers
from digest.workbench import Languages, Table
from digest.write import grounding
from digest.write.issue import assign

CHANNELS = ("web", "article", "mail", "mail-text", "mail-source", "feed", "chat", "markdown", "card")
WIDTHS = {"phone": 390, "tablet": 820, "desktop": 1280}
LOOK_SECONDS = 0.15
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".png": "image/png", ".svg": "image/svg+xml"}
_SCRIPTS = re.compile(r"<script [^>]*></script>\n?")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'"
)
_PICTURE = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src {images}; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
SendTest = Callable[[Issue, Languages, str], Awaitable[str]]


class Preview:
    """The desk of one edition. ``templates`` are the desk's own pages, whatever the owner's templates are; ``send_test`` mails an issue to
    one address and says how it went."""

    def __init__(self, in_force: InForce, name: str, templates: Templates, clock: Clock, send_test: SendTest, day: date | None = None) -> None:
        self.in_force: InForce = in_force
        self.name, self.clock = name, clock
        self.editing: Editing = Editing(in_force.loaded.folder)
        self._templates, self._send_test, self.day = templates, send_test, day
        self._tables: dict[date, Table] = {}
        self._lock = RLock()  # requests run side by side: one edit at a time, one reading of a day
        self.revision = 0
        self._files = self._own_files()

    @property
    def edition(self) -> Any:
        return self.in_force.loaded.settings.editions[self.name]

    def table(self, day: date) -> Table:
        """The day as the files are now."""
        with self._lock:
            if day not in self._tables:
                self._tables[day] = workbench.lay(self.in_force.loaded, self.name, self.edition, day, self.clock)
            return self._tables[day]

    def days(self) -> list[date]:
        """The days that can be opened, newest first."""
        return workbench.days(self.in_force.loaded, self.name, self.edition, self.clock())

    def changed(self) -> None:
        """Everything is read anew, and every open page hears of it."""
        self._tables.clear()
        self.revision += 1

    def look(self, *, was_edited: bool = False) -> None:
        """Notices files that were saved by anybody: a few dozen are looked at, alike on every file system."""
        with self._lock:
            files = self._own_files()
            if self.in_force.refresh() or was_edited or files != self._files:
                self._files = files
                self.changed()

    def edit(self, name: str, seen: Seen, form: FormData) -> str:
        """One act of the editor's; what to say of it. Raises ConfigError and KeyError (a field of the form is missing)."""
        with self._lock:
            message = ACTS[name](self, seen, form) or ""
            self.look(was_edited=True)  # an edit and its undo leave the files as they were, and the page in between
            return message

    def _own_files(self) -> list[tuple[Path, int]]:
        folder = self.in_force.loaded.folder
        return sorted((path, path.stat().st_mtime_ns) for name in ("edits", "notes") for path in (folder / name).glob("*") if path.is_file())

    # The pages.

    async def shell(self, request: Request) -> Response:
        days = await run_in_threadpool(self.days)
        day = self.day if self.day in days else days[0]
        values = {"title": self.edition.title, "days": days, "day": day, "channels": CHANNELS, "widths": WIDTHS, "choices": self._choices()}
        return HTMLResponse(self._templates.render("preview/desk.html", ui=_ui(request), **values), headers={"Content-Security-Policy": _POLICY})

    def _choices(self) -> list[Languages]:
        return workbench.choices(self.edition.languages)

    async def panel(self, request: Request) -> Response:
        name, seen = request.path_params["name"], self._seen(request)
        if name not in PANELS:
            raise HTTPException(404)
        values = await run_in_threadpool(PANELS[name], self, seen, request)
        return HTMLResponse(self._templates.render(f"preview/{name}.html", ui=seen.ui, seen=seen, **values), headers={"Content-Security-Policy": _POLICY})

    async def view(self, request: Request) -> Response:
        channel, seen = request.path_params["channel"], self._seen(request)
        if channel not in CHANNELS:
            raise HTTPException(404)
        if channel in ("web", "article"):
            table = await run_in_threadpool(self.table, seen.day)
            await run_in_threadpool(lambda: table.documents)  # what is wrong is said here, not in a page that is half there
            address = self._address(table, channel, seen, request.query_params.get("story", ""))
            return RedirectResponse(f"{address}?images={request.query_params.get('images', 'on')}", 303)
        html = await run_in_threadpool(self.picture, channel, seen)
        return HTMLResponse(in_scheme(html, seen.scheme), headers=_picture(request))

    def picture(self, channel: str, seen: Seen) -> str:
        """A channel of the day, other than the site, as a page. Raises DigestError."""
        table = self.table(seen.day)
        if channel == "mail":
            return table.mail_part(seen.languages, "html")
        if channel == "feed":
            return self._plain("preview/feed.html", seen, html=table.feed_entry(seen.languages))
        if channel == "chat":
            title, body = table.chat(seen.languages, "md")
            return self._plain("preview/chat.html", seen, title=title, body=body)
        if channel == "card":
            names = [name for name, document in table.documents.items() if document.media_type == "image/png" and f".{seen.languages[0]}.png" in name]
            return self._plain("preview/cards.html", seen, names=names)
        text = {
            "mail-text": lambda: table.mail_part(seen.languages, "plain"),
            "mail-source": lambda: table.message(seen.languages).decode("ascii"),
            "markdown": lambda: table.markdown(seen.languages),
        }[channel]()
        return self._plain("preview/text.html", seen, text=text)

    def _address(self, table: Table, channel: str, seen: Seen, story: str) -> str:
        """Where the page of the issue, or of one of its articles, is."""
        name = table.page(seen.languages)
        keys = [article.pick.story.key for article in table.issue.articles]
        if channel == "article" and keys:
            name = f"{table.issue.folder}/{story if story in keys else keys[0]}.{seen.languages[0]}.html"
        return f"/site/{seen.day.isoformat()}/{seen.scheme}/{name}"

    def _plain(self, template: str, seen: Seen, **values: Any) -> str:
        return self._templates.render(template, ui=seen.ui, seen=seen, day=seen.day, **values)

    async def site(self, request: Request) -> Response:
        """A file of the day, as it will be published."""
        day, path = request.path_params["day"], request.path_params["path"]
        table = await run_in_threadpool(self.table, _day_of(day))
        document = (await run_in_threadpool(lambda: table.documents)).get(path)
        if document is None:
            published = (table.loaded.folder / table.edition.folder / path).resolve()
            if not published.is_file() or not published.is_relative_to((table.loaded.folder / table.edition.folder).resolve()):
                raise HTTPException(404)
            return PlainTextResponse(published.read_bytes(), media_type=_TYPES.get(published.suffix, "text/plain"))
        body = document.body
        if document.media_type in ("text/html", "text/css"):  # a picture runs nothing, and is light or dark whatever the editor's machine is
            body = in_scheme(_SCRIPTS.sub("", body.decode()), request.path_params["scheme"]).encode()
        return Response(body, media_type=document.media_type, headers=_picture(request))

    async def style(self, request: Request) -> Response:
        name = request.path_params["name"]
        kinds = {"desk.css": "text/css", "desk.js": "text/javascript"}
        if name not in kinds:
            raise HTTPException(404)
        text, scheme = self._templates.text(f"preview/{name}"), request.query_params.get("scheme", "")
        return Response(in_scheme(text, scheme) if scheme else text, media_type=kinds[name], headers={"Cache-Control": "no-store"})

    async def live(self, request: Request) -> Response:
        """Tells the page of every change, and of what is wrong with it."""

        async def changes() -> AsyncIterator[str]:
            told = -1  # what stands is told at once: something may have changed while the page was away
            yield "retry: 500\n\n"
            while not await request.is_disconnected():
                await run_in_threadpool(self.look)
                if told != self.revision:
                    told = self.revision
                    yield f"data: {json.dumps({'revision': told, 'complaint': self.in_force.complaint}, ensure_ascii=False)}\n\n"
                await asyncio.sleep(LOOK_SECONDS)

        return StreamingResponse(changes(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    # The hand.

    async def act(self, request: Request) -> Response:
        """An edit; what came of it."""
        form, seen = await request.form(max_files=0), self._seen(request)
        name = request.path_params["name"]
        if name == "test":
            message = await self._test(form, seen)
        else:
            if name not in ACTS:
                raise HTTPException(404)
            try:
                message = await run_in_threadpool(self.edit, name, seen, form)
            except KeyError as error:  # a field of the form
                raise HTTPException(400, f"{error} is missing") from error
        return JSONResponse({"message": message, "revision": self.revision})

    async def _test(self, form: FormData, seen: Seen) -> str:
        table = await run_in_threadpool(self.table, seen.day)
        return await self._send_test(table.issue, seen.languages, str(form.get("address", "")))

    async def judge(self, request: Request) -> Response:
        """What the judge says of words while they are typed."""
        form, seen = await request.form(max_files=0), self._seen(request)
        table = await run_in_threadpool(self.table, seen.day)
        article = next((each for each in table.issue.articles if each.pick.story.key == form.get("story")), None)
        language = next((each for each in table.issue.languages if each == form.get("language")), None)
        if article is None or language is None:
            raise HTTPException(404)
        headline, summary, blurb = (str(form.get(part, "")) for part in ("headline", "summary", "blurb"))
        wording = replace(article.wording(language), headline=headline, summary=summary, blurb=blurb)
        found = await run_in_threadpool(grounding.refusals, wording, assign(article.pick, table.issue.languages), "editor")
        others: list[Wording] = [wording if each.language == language else each for each in article.wordings]
        phrase = self._templates.words.phrase
        said = [{"kind": self._say(seen, f"note judge {refusal.kind}"), "words": refusal.words, "why": phrase(seen.ui, refusal.reason)} for refusal in found]
        for why in grounding.differing_figures(others):
            said.append({"kind": self._say(seen, "note languages differ"), "words": "", "why": phrase(seen.ui, why)})
        return JSONResponse(said)

    async def what_if(self, request: Request) -> Response:
        """What a change of the rules would do, without saving it."""
        form, seen = await request.form(max_files=0), self._seen(request)
        expression, points, threshold = rule(form)
        table = await run_in_threadpool(self.table, seen.day)
        found = await run_in_threadpool(table.what_if, expression, points, threshold)
        return HTMLResponse(self._templates.render("preview/difference.html", ui=seen.ui, found=found))

    async def failed(self, request: Request, error: Exception) -> Response:
        """What is wrong, to be shown over the last good picture."""
        complaint = self._templates.words.phrase(_ui(request), error.args[0])
        return JSONResponse({"complaint": complaint}, 409, {"Cache-Control": "no-store"})

    def _seen(self, request: Request) -> Seen:
        languages = tuple(language for wish in request.query_params.get("lang", "").split("+") for language in self.edition.languages if wish == language)
        scheme = "dark" if request.query_params.get("scheme") == "dark" else "light"
        day = _day_of(request.query_params.get("day", ""))
        return Seen(day=day, languages=languages or (self.edition.languages[0],), ui=_ui(request), scheme=scheme)

    def _say(self, seen: Seen, words: str) -> str:
        return self._templates.words.say(seen.ui, words)


def application(preview: Preview, hosts: Collection[str], token: str, password: str = "") -> Starlette:
    """The desk, guarded."""
    routes = [
        Route("/", preview.shell),
        Route("/panel/{name}", preview.panel),
        Route("/view/{channel}", preview.view),
        Route("/site/{day}/{scheme}/{path:path}", preview.site),
        Route("/files/{name}", preview.style),
        Route("/live", preview.live),
        Route("/do/{name}", preview.act, methods=["POST"]),
        Route("/judge", preview.judge, methods=["POST"]),
        Route("/what-if", preview.what_if, methods=["POST"]),
    ]
    around = [Middleware(Headers, headers=ALWAYS), Middleware(Guarded, hosts=hosts, token=token, password=password), Middleware(BodyLimit, limit=300_000)]
    return Starlette(routes=routes, middleware=around, exception_handlers={DigestError: preview.failed})


def _picture(request: Request) -> dict[str, str]:
    """Headers of what is looked at: it may show and style, and do nothing."""
    images = "'none'" if request.query_params.get("images") == "off" else "'self' data:"
    return {"Content-Security-Policy": _PICTURE.format(images=images), "Cache-Control": "no-store"}


def in_scheme(text: str, scheme: str) -> str:
    """HTML or CSS that shows itself light or dark, whatever the machine prefers."""
    return text.replace("(prefers-color-scheme: dark)", "all" if scheme == "dark" else "not all")


def new_token() -> str:
    """What the address of the desk carries once."""
    return secrets.token_urlsafe(24)


def _ui(request: Request) -> Language:
    return "en" if request.query_params.get("ui") == "en" else "zh"


def _day_of(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise HTTPException(404) from None
