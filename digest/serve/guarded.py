"""Keeps a desk on this machine from everybody else: other sites in the same browser, other machines, a rebound name."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "digest-desk"


class Guarded:
    """Lets a request pass that names one of ``hosts``, comes from no other origin, and carries the token (in the address once, then in a
    cookie that other sites' requests do not carry) or, where there is one, the password."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], token: str, password: str = "") -> None:
        self._app, self._hosts, self._token, self._password = app, frozenset(hosts), token, password

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response = self._refusal(scope)
        await (response or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if self._hosts and headers.get("host", "") not in self._hosts:
            return PlainTextResponse("421 这个编辑台只用自己的名字应答 · this desk answers only under its own name\n", 421)
        origin = headers.get("origin")
        is_foreign = (origin is not None and urlsplit(origin).netloc != headers.get("host")) or headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if is_foreign and (scope["method"] not in ("GET", "HEAD") or headers.get("sec-fetch-dest") not in (None, "document")):
            return PlainTextResponse("403 其他网站不能使用这个编辑台 · another site may not use this desk\n", 403)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if given and hmac.compare_digest(given.encode(), self._token.encode()):
            response = RedirectResponse(scope["path"], 303)
            response.set_cookie(COOKIE, self._token, httponly=True, samesite="strict", path="/")
            return response
        if hmac.compare_digest(_cookie(headers).encode(), self._token.encode()) or (self._password and self._is_password(headers)):
            return None
        if self._password:
            return PlainTextResponse("401 需要密码 · a password is needed\n", 401, {"WWW-Authenticate": 'Basic realm="digest", charset="UTF-8"'})
        return PlainTextResponse(
            "403 请打开 `digest preview` 给出的地址，其中带有密钥 · open the address that `digest preview` printed; it carries the key\n", 403
        )

    def _is_password(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        try:
            found = base64.b64decode(given).decode().partition(":")[2] if scheme.lower() == "basic" else ""
        except ValueError:
            return False
        return hmac.compare_digest(found.encode(), self._password.encode())


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""
