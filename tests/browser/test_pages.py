"""The site in a real browser: nothing overflows, nothing complains, anyone can read it, with any means."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from digest.lines import article_lines, issue_line
from digest.model import Shelf
from digest.render.environment import Templates
from digest.render.issue_files import IssueRenderer
from digest.render.site import SiteRenderer
from digest.render.subjects import SubjectRenderer
from tests.browser.conftest import serving
from tests.conftest import ROOT
from tests.fakes import subjects
from tests.integration.test_pages import hostile_issue

PAGES = (
    "index.html",
    "zh.html",
    "en.html",
    "2026/11/23/index.html",
    "2026/11/23/zh.html",
    "2026/11/24/en.html",
    "2026/11/23/arxiv-2611.90001.zh.html",
    "2026/11/23/arxiv-2611.90001.en.html",
    "2026/11/zh.html",
    "2026/w48.en.html",
    "topics/zh.html",
    "topics/en.html",
    "404.html",
    "topics/moe.en.html",
    "entities/zh.html",
    "sources/zh.html",
    "sources/en.html",
    "trends/zh.html",
    "trends/en.html",
    "search/zh.html",
)


def opened(browser: Any, url: str, width: int = 1200, **options: Any) -> tuple[Any, list[str]]:
    """The page in a window of its own, and everything that it complains of."""
    page = browser.new_context(viewport={"width": width, "height": 800}, **options).new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.goto(url)
    page.wait_for_load_state("networkidle")
    return page, complaints


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_any_screen_and_anyone_can_use_it(browser: Any, address: str, name: str) -> None:
    for width, scheme in ((320, "dark"), (1280, "light")):
        page, complaints = opened(browser, f"{address}/{name}", width, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"wider than {width}"
        found = Axe().run(page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
        assert complaints == []
        page.context.close()


def test_everything_is_read_without_a_script(browser: Any, address: str) -> None:
    page, _ = opened(browser, f"{address}/2026/11/23/zh.html", java_script_enabled=False)
    assert page.locator("article").count() == 6
    assert "最高 1.9\u00a0倍" in page.locator("article").first.inner_text()
    page.locator("article details summary").first.click()
    expect(page.locator("article details[open] blockquote").first).to_be_visible()
    page.goto(f"{address}/search/zh.html")
    assert "JavaScript" in page.locator("noscript").inner_text() and not page.locator("form.search").is_visible()
    page.context.close()


def test_the_keyboard_alone_is_enough(browser: Any, address: str) -> None:
    page, _ = opened(browser, f"{address}/2026/11/23/en.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").is_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**#content")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    expect(page.locator("details[open] blockquote").first).to_be_visible()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.context.close()


def test_the_switch_remembers(browser: Any, address: str) -> None:
    page, _ = opened(browser, f"{address}/index.html")
    assert page.url.endswith("/index.html")
    page.get_by_role("link", name="English").click()
    page.wait_for_url("**/en.html")
    page.goto(f"{address}/2026/11/24/index.html")
    page.wait_for_url("**/2026/11/24/en.html")
    page.get_by_role("link", name="Side by side").click()
    page.wait_for_url("**/2026/11/24/index.html")
    page.goto(f"{address}/index.html")
    assert page.locator('section[lang="zh-Hans"]').first.is_visible() and page.locator('section[lang="en"]').first.is_visible()
    page.context.close()


@pytest.mark.parametrize(
    ("language", "query", "headline"), [("zh", "混合专家", "TideFlow"), ("en", "mixture of experts", "TideFlow"), ("zh", "RolloutPool", "RolloutPool")]
)
def test_search_finds_both_languages(browser: Any, address: str, language: str, query: str, headline: str) -> None:
    page, complaints = opened(browser, f"{address}/search/{language}.html")
    page.get_by_role("searchbox").fill(query)
    page.locator("#hits li").first.wait_for()
    assert headline in page.locator("#hits h2").first.inner_text()
    assert page.locator("#hits mark").count() > 0
    assert [found["id"] for found in Axe().run(page).response["violations"]] == []
    page.locator("#hits a").first.click()
    page.wait_for_url(re.compile(r"/2026/11/2\d/[\w.-]+\.(zh|en)\.html"))
    assert complaints == []
    page.context.close()


def test_a_search_can_be_linked_and_finds_nothing_honestly(browser: Any, address: str) -> None:
    page, _ = opened(browser, f"{address}/search/en.html?q=zzyzx")
    page.get_by_text("Nothing was found.").wait_for()
    page.context.close()


def test_the_pages_open_from_the_disk(browser: Any, site: Path) -> None:
    page, complaints = opened(browser, (site / "2026/11/23/zh.html").as_uri())
    assert page.evaluate("getComputedStyle(document.querySelector('article')).borderRadius") != "0px"
    assert complaints == []
    page.goto((site / "search/en.html").as_uri())
    page.get_by_text("it needs a web server").wait_for()
    page.context.close()


def test_a_hostile_feed_bends_no_page(browser: Any, tmp_path: Path) -> None:
    """Markup, script addresses, a word of 10,000 letters, right-to-left overrides, emoji: all is text."""
    issue: Any = hostile_issue("\u202egnol " + "w" * 10_000 + " 🚀👩‍👩‍👧‍👦" * 20)
    templates = Templates([ROOT / "templates"])
    shelf = Shelf(lines=(issue_line(issue),), recent=(issue,), articles=article_lines(issue), subjects=subjects(article_lines(issue)))
    documents = [*IssueRenderer(templates).render(issue, shelf), *SiteRenderer(templates).render({issue.day}, shelf)]
    for document in [*documents, *SubjectRenderer(templates).render({issue.day}, shelf)]:
        (tmp_path / document.name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / document.name).write_bytes(document.body)
    with serving(tmp_path) as address:
        for path in ("2026/11/24/zh.html", "2026/11/24/index.html", "2026/11/24/story.en.html", "zh.html", "sources/en.html"):
            page, complaints = opened(browser, f"{address}/{path}", 320)
            assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
            assert page.evaluate("[...document.links].every(link => !link.href.startsWith('javascript:'))")
            assert page.locator("script:not([src])").count() == 0
            assert complaints == []
            page.context.close()
