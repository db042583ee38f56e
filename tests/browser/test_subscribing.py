"""The pages for readers as a person meets them: with the keyboard, without JavaScript, on a small screen, in both languages."""

from __future__ import annotations

import email
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from email import policy
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.integration.test_serve import SETTINGS


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """(the address of a running `digest serve`, the folder of its mails)."""
    folder = tmp_path_factory.mktemp("serve")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    settings = SETTINGS.replace("https://mail.example.org", address).replace("https://digest.example.org", address)
    (folder / "feeds.yaml").write_text(f"{settings}serve: {{key: STATUS_KEY}}\n", encoding="utf-8")
    command = [sys.executable, "-m", "digest", "serve", "--config", str(folder / "feeds.yaml"), "--port", str(port), "--spool", str(folder / "mails")]
    with subprocess.Popen(command, env=os.environ | {"MAIL_KEY": "k" * 30, "STATUS_KEY": "open sesame"}) as running:
        for _ in range(600):
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield address, folder / "mails"
        running.terminate()
        assert running.wait(20) in (0, -15)


def link_in(mails: Path, address: str) -> str:
    for _ in range(300):
        if (path := mails / f"{address}.eml").is_file():
            message = email.message_from_bytes(path.read_bytes(), policy=policy.default)
            found = re.search(r"http://\S+/[cp]/\S+", message.get_body(("plain",)).get_content())  # type: ignore[union-attr]
            assert found
            return found[0]
        time.sleep(0.1)
    raise AssertionError("no mail came")


def is_usable(page: Any) -> None:
    found = Axe().run(page)
    assert not found.response["violations"], found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "it is wider than the screen"


@pytest.mark.parametrize(("language", "width", "scheme"), [("zh", 320, "dark"), ("en", 1280, "light")])
def test_a_person_subscribes_changes_and_leaves_with_the_keyboard(browser: Any, hall: tuple[str, Path], language: str, width: int, scheme: str) -> None:
    address, mails = hall
    locale = "zh-CN" if language == "zh" else "en-GB"
    context = browser.new_context(viewport={"width": width, "height": 800}, locale=locale, color_scheme=scheme, java_script_enabled=False)
    reader = f"{language}@example.com"
    page = context.new_page()
    page.goto(f"{address}/subscribe/training")
    page.focus("#address")
    page.keyboard.type(reader)
    for _ in range(3):
        page.keyboard.press("Tab")  # the languages, the rhythm, the box; what people do not see is passed over
    page.keyboard.press("Space")
    page.wait_for_timeout(2500)  # nobody fills a form in two seconds
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text({"zh": "请查看邮箱", "en": "Please look into your mailbox"}[language])
    page.goto(link_in(mails, reader))
    page.get_by_role("button").click()
    expect(page.locator("h1")).to_have_text({"zh": "订阅成功", "en": "You are subscribed"}[language])
    page.get_by_role("link", name={"zh": "修改订阅", "en": "Change what you get"}[language]).click()
    page.check('input[value="weekly"]')
    page.get_by_role("button", name={"zh": "保存", "en": "Save"}[language]).click()
    expect(page.get_by_role("status")).to_be_visible()
    expect(page.locator('input[value="weekly"]')).to_be_checked()
    page.get_by_role("button", name={"zh": "退订", "en": "Unsubscribe"}[language]).click()
    expect(page.locator("h1")).to_have_text({"zh": "已退订", "en": "You are unsubscribed"}[language])
    context.close()


def test_every_page_fits_and_anyone_can_use_it(browser: Any, hall: tuple[str, Path]) -> None:
    for width, scheme in ((320, "dark"), (1280, "light")):
        page = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True).new_page()
        for path in ("/subscribe/training", "/subscribe/training?lang=en", "/c/none", "/u/none"):
            page.goto(f"{hall[0]}{path}")
            is_usable(page)


def test_the_status_page_asks_for_its_key_and_anyone_can_use_it(browser: Any, hall: tuple[str, Path]) -> None:
    for width, scheme, language in ((320, "dark", "zh"), (1280, "light", "en")):
        options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme, "bypass_csp": True}
        assert browser.new_context(**options).request.get(f"{hall[0]}/status").status == 401
        page = browser.new_context(http_credentials={"username": "me", "password": "open sesame"}, **options).new_page()
        page.goto(f"{hall[0]}/status?lang={language}")
        assert page.locator("h1").inner_text() == "训练加速日报" and page.get_by_text({"zh": "接下来", "en": "Coming"}[language]).is_visible()
        is_usable(page)


def test_a_wrong_address_is_said_beside_what_was_typed(browser: Any, hall: tuple[str, Path]) -> None:
    page = browser.new_context(locale="zh-CN").new_page()
    page.goto(f"{hall[0]}/subscribe/training")
    page.fill("#address", "someone@invalid")
    page.check("input[name=consent]")
    page.wait_for_timeout(2200)
    page.get_by_role("button", name="订阅").click()
    expect(page.get_by_role("alert")).to_contain_text("这不像是一个邮箱地址")
    expect(page.locator("#address")).to_have_value("someone@invalid")
