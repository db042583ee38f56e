"""The day as a chat message, cut to what a channel takes: first the recommendations go, then the last articles, never half a one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from digest.model import Issue, Language
from digest.render.environment import Templates
from digest.text import clean, shorten

ChatForm = Literal["md", "html", "txt"]


class ChatRenderer:
    """Renders ``chat/issue.md``, ``.html`` or ``.txt``."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def title(self, issue: Issue, language: Language) -> str:
        """What stands above the message."""
        return f"{issue.title[language]} · {self._templates.dated(language, issue)}"

    def render(self, issue: Issue, languages: Sequence[Language], form: ChatForm, limit_bytes: int) -> str:
        """The message in at most so many bytes of UTF-8: some services count bytes, and none counts less. Raises RenderError."""
        number = len(issue.articles)
        while True:
            for is_long in (True, False):
                values = {"issue": issue, "languages": languages, "articles": issue.articles[:number], "is_long": is_long}
                found = clean(self._templates.render(f"chat/issue.{form}", **values)).strip()
                if len(found.encode()) <= limit_bytes:
                    return found
            if number <= 1:
                return shorten(found, limit_bytes // 4, languages[0]) if form == "txt" else f"{issue.address}/"
            number -= 1
