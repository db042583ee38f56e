"""The pages for readers of the newsletter: subscribe, confirm, choose, leave. GET shows, only POST changes.

No page tells whether an address is known; no answer, log line or page holds an address but the one that its owner typed.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import anyio
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from digest.audience.addresses import checked
from digest.audience.links import NOBODY, Links
from digest.errors import AudienceError, DigestError
from digest.model import Language, MailRhythm, SignUp, Subscriber
from digest.pipeline.subscribing import Reception
from digest.render.environment import Templates
from digest.serve.safety import ALWAYS, FORMS, BodyLimit, Headers

_log = logging.getLogger(__name__)

FASTEST, OLDEST = timedelta(seconds=2), timedelta(hours=12)
RHYTHMS: dict[MailRhythm, str] = {
    "daily": "Every day",
    "news": "Only when there is news",
    "weekly": "Once a week, the best of it",
    "monthly": "Once a month, the best of it",
}
CONSENT = "Yes, send me %(title)s by mail. I can leave with one click at any time."
STRANGE = "The form misses something, or names what there is not. Please choose again."
_OWN = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Content-Security-Policy": FORMS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Newsletter:
    """An edition's newsletter as its pages know it. ``home`` is the address of its archive, ``topics`` their titles by name."""

    edition: str
    title: Mapping[Language, str]
    languages: tuple[Language, ...]
    topics: Mapping[str, Mapping[Language, str]]
    home: str
    links: Links
    reception: Reception


def application(
    newsletters: Sequence[Newsletter], templates: Templates, sites: Sequence[tuple[str, Path]], prefix: str = "", more: Sequence[BaseRoute] = ()
) -> Starlette:
    """The pages under ``prefix``, ``more`` of them at the top, and the published ``sites``: folders of files by the path that they answer
    to. While it runs, sign-ups whose mail could not go are tried again every minute."""
    pages = _Pages(newsletters, templates, f"{prefix}/forms.css")
    own: list[BaseRoute] = [
        Route("/", pages.front),
        Route("/subscribe", pages.front),
        Route("/subscribe/{edition}", pages.subscribe, methods=["GET", "POST"]),
        Route("/c/{id}", pages.confirm, methods=["GET", "POST"]),
        Route("/p/{token}", pages.preferences, methods=["GET", "POST"]),
        Route("/u/{token}", pages.unsubscribe, methods=["GET", "POST"]),
    ]
    if not newsletters:
        own = []
    elif not prefix and sites:
        own = own[1:]  # the front page of the archive is the front page
    files: list[BaseRoute] = [Mount(path, StaticFiles(directory=folder, html=True, check_dir=False)) for path, folder in sites]
    style = Route(f"{prefix}/forms.css", pages.style)
    top = [Route("/forms.css", pages.style)] if prefix else []
    routes = [*more, style, *top, *([Mount(prefix, routes=own)] if prefix else own), *files]
    around = [Middleware(Headers, headers=ALWAYS), Middleware(BodyLimit)]

    @asynccontextmanager
    async def answering(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(_answer_all, newsletters)
            yield
            group.cancel_scope.cancel()

    return Starlette(routes=routes, middleware=around, exception_handlers={HTTPException: pages.refused, DigestError: _failed}, lifespan=answering)


async def _failed(request: Request, error: Exception) -> Response:
    """What was asked for was not done: the database or a template failed."""
    _log.error("%s: %s", type(error).__name__, error)
    words = "暂时无法处理，请几分钟后再试。\nThis did not work. Please try again in some minutes.\n"
    return PlainTextResponse(words, 503, {"Retry-After": "120", "Cache-Control": "no-store"})


async def _answer_all(newsletters: Sequence[Newsletter]) -> None:
    while True:
        for each in newsletters:
            try:
                await each.reception.answer(datetime.now(UTC))
            except DigestError as error:  # tried again in a minute
                _log.error("sign-ups wait for their mail: %s", error)
            except Exception as error:  # a bug costs this minute; its words may hold an address
                _log.error("sign-ups wait for their mail: a bug (%s)", type(error).__name__)
        await anyio.sleep(60)


class _Pages:
    def __init__(self, newsletters: Sequence[Newsletter], templates: Templates, style: str) -> None:
        self._style_path = style
        self._newsletters = {each.edition: each for each in newsletters}
        self._templates = templates
        self._style = "\n".join(templates.text(name) for name in ("web/style.css", "serve/forms.css"))

    def style(self, request: Request) -> Response:
        return Response(self._style, media_type="text/css", headers={"Cache-Control": "max-age=3600"})

    def front(self, request: Request) -> Response:
        """The only newsletter, or a list of them."""
        if len(self._newsletters) == 1:
            (only,) = self._newsletters.values()
            return RedirectResponse(only.links.subscribe(only.edition), 303)
        first = next(iter(self._newsletters.values()))
        return self._page(request, first, _language(request, first.languages), "front", newsletters=list(self._newsletters.values()))

    async def subscribe(self, request: Request) -> Response:
        letter = self._newsletters.get(request.path_params["edition"])
        if letter is None:
            raise HTTPException(404)
        language, now = _language(request, letter.languages), datetime.now(UTC)
        if request.method != "POST":
            return self._form(request, letter, language, {})
        form = await request.form(max_files=0, max_fields=200)
        age = letter.links.form_age(str(form.get("form", "")), now)
        if form.get("website"):  # people do not see this field
            return self._note(request, letter, language, "asked")
        try:
            address = checked(str(form.get("address", ""))[:320])
        except AudienceError:
            return self._form(request, letter, language, dict(form), "This is not an email address.")
        if age is None or not FASTEST <= age <= OLDEST:
            return self._form(request, letter, language, dict(form), "The page was open too long, or was sent too fast. Please send it once more.")
        wishes = _wishes(letter, form)
        if wishes is None:
            return self._form(request, letter, language, dict(form), STRANGE)
        if form.get("consent") != "yes":
            return self._form(request, letter, language, dict(form), "Please tick the box: without your yes no mail may be sent.")
        wanted = SignUp(
            id=secrets.token_urlsafe(24),
            edition=letter.edition,
            address=address,
            client=_client(request),
            language=language,
            words=self._templates.words.say(language, CONSENT, title=letter.title[language]),
            asked_at=now,
            **wishes,
        )
        await run_in_threadpool(letter.reception.ask, wanted)
        return self._note(request, letter, language, "asked", task=BackgroundTask(letter.reception.answer, now))

    async def confirm(self, request: Request) -> Response:
        id, now = request.path_params["id"], datetime.now(UTC)
        for letter in self._newsletters.values():
            asked = await run_in_threadpool(letter.reception.pending, id, now)
            if asked is None:
                continue
            if request.method != "POST":
                return self._note(request, letter, asked.language, "confirm", languages=asked.languages)
            reader = await run_in_threadpool(letter.reception.confirm, id, _client(request), now)
            if reader is not None:
                return self._note(request, letter, asked.language, "confirmed", preferences=letter.links.preferences(letter.links.token(reader.id)))
        first = next(iter(self._newsletters.values()))
        return self._note(request, first, _language(request, first.languages), "too-old", status=404)

    async def preferences(self, request: Request) -> Response:
        letter, reader = await self._reader(request)
        language = reader.languages[0]
        if reader.state != "active":
            return self._note(request, letter, language, "gone")
        if request.method != "POST":
            return self._wishes(request, letter, language, reader)
        form = await request.form(max_files=0, max_fields=200)
        wishes = _wishes(letter, form)
        if wishes is None:
            return self._wishes(request, letter, language, reader, complaint=STRANGE)
        changed = replace(reader, **wishes)
        await run_in_threadpool(letter.reception.change, changed)
        return self._wishes(request, letter, changed.languages[0], changed, is_saved=True)

    async def unsubscribe(self, request: Request) -> Response:
        """Also what a mail program's own button posts (RFC 8058): any body, no cookie, answered with 200 and without a redirect."""
        if self._is_probe(request.path_params["token"]):
            return PlainTextResponse("one-click works\n")
        letter, reader = await self._reader(request)
        language = reader.languages[0]
        if request.method == "POST":
            await run_in_threadpool(letter.reception.leave, reader, datetime.now(UTC))
            return self._note(request, letter, language, "left")
        return self._note(request, letter, language, "left" if reader.state != "active" else "leave")

    async def refused(self, request: Request, error: Exception) -> Response:
        """There is no such page, or the link is not whole."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 405 or not self._newsletters:
            return Response(f"{status}\n", status, media_type="text/plain")
        first = next(iter(self._newsletters.values()))
        return self._note(request, first, _language(request, first.languages), "no-page", status=status)

    def _is_probe(self, token: str) -> bool:
        """Whether `digest mail doctor` asks if this address answers."""
        for letter in self._newsletters.values():
            with suppress(AudienceError):
                return letter.links.reader(token) == NOBODY
        return False

    async def _reader(self, request: Request) -> tuple[Newsletter, Subscriber]:
        for letter in self._newsletters.values():
            try:
                id = letter.links.reader(request.path_params["token"])
            except AudienceError:
                continue
            if (found := await run_in_threadpool(letter.reception.reader, id)) is not None:
                return letter, found
        raise HTTPException(404)

    def _form(self, request: Request, letter: Newsletter, language: Language, filled: Mapping[str, Any], complaint: str = "") -> Response:
        filled = {name: str(filled.get(name, "")) for name in ("address", "languages", "rhythm")}
        values: dict[str, Any] = {"filled": filled, "complaint": complaint, "form": letter.links.form(datetime.now(UTC)), "consent": CONSENT}
        return self._page(request, letter, language, "subscribe", status=422 if complaint else 200, rhythms=RHYTHMS, **values)

    def _wishes(self, request: Request, letter: Newsletter, language: Language, reader: Subscriber, *, is_saved: bool = False, complaint: str = "") -> Response:
        unsubscribe = letter.links.unsubscribe(request.path_params["token"])
        values: dict[str, Any] = {"reader": reader, "is_saved": is_saved, "complaint": complaint, "unsubscribe": unsubscribe, "rhythms": RHYTHMS}
        return self._page(request, letter, language, "preferences", status=422 if complaint else 200, **values)

    def _note(
        self, request: Request, letter: Newsletter, language: Language, kind: str, *, status: int = 200, task: BackgroundTask | None = None, **values: Any
    ) -> Response:
        return self._page(request, letter, language, "note", status=status, task=task, kind=kind, values=values)

    def _page(
        self, request: Request, letter: Newsletter, language: Language, name: str, *, status: int = 200, task: BackgroundTask | None = None, **values: Any
    ) -> Response:
        html = self._templates.render(f"serve/{name}.html", letter=letter, main=language, style=self._style_path, path=request.url.path, **values)
        return Response(html, status, _OWN, "text/html", task)


def _language(request: Request, languages: Sequence[Language]) -> Language:
    """The language asked for, by the address or by the browser; the main one of the edition otherwise."""
    wanted = [request.query_params.get("lang", ""), *(part.partition(";")[0].strip()[:2] for part in request.headers.get("accept-language", "").split(","))]
    return next((language for wish in wanted for language in languages if wish == language), languages[0])


def _wishes(letter: Newsletter, form: FormData) -> dict[str, Any] | None:
    """Languages, topics and rhythm of a form; None where it misses one, or names what there is not."""
    languages = tuple(language for wish in str(form.get("languages", "")).split("+") for language in letter.languages if wish == language)
    if len(letter.languages) == 1:  # there is no choice
        languages = letter.languages
    topics = tuple(topic for topic in letter.topics if topic in form.getlist("topics"))
    rhythms: tuple[MailRhythm, ...] = get_args(MailRhythm)
    rhythm = next((rhythm for rhythm in rhythms if rhythm == form.get("rhythm")), None)
    if not languages or rhythm is None:
        return None
    return {
        "languages": tuple(dict.fromkeys(languages)),
        "topics": topics if len(topics) < len(letter.topics) else (),
        "rhythm": rhythm,
    }


def _client(request: Request) -> str:
    return request.client.host if request.client else ""
