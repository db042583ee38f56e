"""The mail as a picture: light and dark, wide and narrow, with images off; anyone can read it."""

from __future__ import annotations

import email
from email import policy
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from digest.render.environment import Templates
from digest.render.mail_body import LetterRenderer
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "golden"
MAILS = sorted(path.name for path in GOLDEN.glob("mail-*.eml"))


def html_of(path: Path) -> str:
    message = email.message_from_bytes(path.read_bytes(), policy=policy.default)
    return str(message.get_body(("html",)).get_content())  # type: ignore[union-attr]


def letter(kind: Any) -> str:
    link = "https://mail.example.org/c/" + "abcdefghijklmnopqrstuvwxyz0123456789" * 2
    return LetterRenderer(Templates([ROOT / "templates"])).render(kind, "训练加速日报", "zh", link)[2]


@pytest.mark.parametrize("name", [*MAILS, "confirm", "known"])
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (360, "light"), (360, "dark"), (320, "dark")])
def test_a_mail_fits_and_anyone_can_read_it(browser: Any, name: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=True)
    context.route("**/*", lambda route: route.abort())  # images are off, and nothing else is fetched either
    page = context.new_page()
    page.set_content(html_of(GOLDEN / name) if name.endswith(".eml") else letter(name))
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "it is wider than the screen"
    found = Axe().run(
        page, options={"rules": {name: {"enabled": False} for name in ("region", "landmark-one-main")}}
    )  # mails have no landmarks; clients strip them
    assert not found.response["violations"], found.generate_report()
    smallest = page.evaluate(
        "Math.min(...[...document.querySelectorAll('p, a, td, h1, h2')].filter(e => e.innerText.trim()).map(e => parseFloat(getComputedStyle(e).fontSize)))"
    )
    assert smallest >= 14
    context.close()
