"""What every answer needs, whatever it is: headers that keep browsers careful, and bodies of a size that can be read."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_BYTES = 16_384
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
FORMS = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"


class Headers:
    """Adds ``headers`` to every answer that does not carry them, and HSTS where the reader came by https."""

    def __init__(self, app: ASGIApp, headers: dict[str, str]) -> None:
        self._app, self._headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if scope["scheme"] == "https":
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
            await send(message)

        await self._app(scope, receive, with_headers)


class BodyLimit:
    """Refuses a request whose body is longer than any form of ours."""

    def __init__(self, app: ASGIApp, limit: int = BODY_BYTES) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            if len(body) > self._limit:
                await PlainTextResponse("413 超过了表单能容纳的大小 · this is more than a form holds\n", 413)(scope, receive, send)
                return
            if not message.get("more_body"):
                break
        is_read = False

        async def whole() -> Message:
            nonlocal is_read
            if is_read:
                return {"type": "http.disconnect"}
            is_read = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app(scope, whole, send)
