"""The whole site over several days: what leads where, the JSON API against its description, and files for crawlers."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from digest import wiring
from digest.cli import main
from digest.lines import article_lines, issue_line
from digest.model import Desk, Document, IssueLine, Mention, Shelf
from digest.pipeline import Parts, deliver
from digest.render import places
from digest.render.api import ApiRenderer, IssueApiRenderer
from digest.render.environment import Templates
from digest.render.issue_files import IssueRenderer
from digest.render.periods import PeriodRenderer
from digest.render.site import SiteRenderer
from digest.render.subjects import SubjectRenderer
from digest.subjects import touched
from tests.builders import DAY, NOON, an_issue, issues_of_years
from tests.conftest import ROOT
from tests.fakes import FakeArchive, FakePublisher, subjects

DAYS = ("2026-11-23", "2026-11-24", "2026-11-25")
ADDRESS = "https://digest.example.org"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import shutil

    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "feeds.yaml", folder)
    for day in DAYS:
        main(["run", "--config", str(folder / "examples" / "feeds.yaml"), "--date", day, "--quiet"])
    return folder / "out" / "demo"


def page(site: Path, name: str) -> str:
    return (site / name).read_text(encoding="utf-8")


def test_every_link_of_every_page_leads_to_a_file_of_the_site(site: Path) -> None:
    broken = []
    for path in site.rglob("*.html"):
        if path.name == "404.html":
            continue
        for target in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', page(site, str(path.relative_to(site)))):
            if not (path.parent / target).resolve().is_file():
                broken.append(f"{path.relative_to(site)}: {target}")
    assert broken == []


def test_an_issue_leads_to_the_one_before_and_the_one_after(site: Path) -> None:
    middle = page(site, "2026/11/24/zh.html")
    assert 'rel="prev" href="../../../2026/11/23/zh.html"' in middle
    assert 'rel="next" href="../../../2026/11/25/zh.html"' in middle
    assert 'rel="prev"' not in page(site, "2026/11/23/en.html") and 'rel="next"' not in page(site, "2026/11/25/en.html")
    assert 'rel="next" href="../../../2026/11/24/index.html"' in page(site, "2026/11/23/index.html")


def test_a_month_shows_its_issues_as_a_calendar_in_each_language(site: Path) -> None:
    zh, en = page(site, "2026/11/zh.html"), page(site, "2026/11/en.html")
    assert "<h1>2026年11月</h1>" in zh and "<h1>November 2026</h1>" in en
    assert "周一" in zh and "Mon" in en
    for text, language in ((zh, "zh"), (en, "en")):
        assert re.findall(r'<td class="there"><a href="../../2026/11/(\d\d)/', text) == ["23", "24", "25"]
        assert f'href="{"en" if language == "zh" else "zh"}.html"' in text
    assert 'href="2026/11/zh.html"' in page(site, "index.html")


def test_months_lead_to_each_other_over_gaps_and_years() -> None:
    days = [date(2026, 1, 5), date(2025, 12, 31), date(2025, 10, 1)]
    shelf = Shelf(lines=tuple(IssueLine(day=day, languages=("zh", "en"), articles=0, headlines={}) for day in days), recent=(an_issue(day=days[0]),))
    documents = {document.name: document.body.decode() for document in PeriodRenderer(Templates([ROOT / "templates"])).render({days[1]}, shelf)}
    middle = documents["2025/12/en.html"]
    assert 'rel="prev" href="../../2025/10/en.html">← October 2025' in middle
    assert 'rel="next" href="../../2026/01/en.html">January 2026 →' in middle


def test_ten_years_of_issues_make_no_long_front_page() -> None:
    lines = tuple(
        IssueLine(day=date(2026, 11, 24) - timedelta(days=number), languages=("zh", "en"), articles=3, headlines={"zh": "甲", "en": "A"})
        for number in range(3650)
    )
    found: dict[str, Document] = {
        document.name: document for document in SiteRenderer(Templates([ROOT / "templates"])).render({DAY}, Shelf(lines=lines, recent=(an_issue(),)))
    }
    assert len(found["index.html"].body) < 60_000
    assert found["sitemap.xml"].body.count(b"<loc>") == 11 + 1
    assert [name for name in found if name.startswith("sitemap-")] == ["sitemap-2026.xml", "sitemap-pages.xml"]
    assert found["sitemap-2026.xml"].body.count(b"<loc>") == 2 * (31 + 28 + 31 + 30 + 31 + 30 + 31 + 31 + 30 + 31 + 24)
    days = {document.name for document in IssueRenderer(Templates([ROOT / "templates"])).render(an_issue(), Shelf(lines=lines, recent=(an_issue(),)))}
    assert {name.rsplit("/", 1)[0] for name in days} == {"2026/11/24"}


def test_crawlers_find_every_page_and_both_languages(site: Path) -> None:
    maps = [element.text for element in ET.fromstring(page(site, "sitemap.xml")).iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    parts = [ET.fromstring(page(site, str(name).removeprefix(f"{ADDRESS}/"))) for name in maps]
    urls = [element.text for part in parts for element in part.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    urls.remove(f"{ADDRESS}/")
    assert f"{ADDRESS}/2026/11/23/arxiv-2611.90001.zh.html" in urls and f"{ADDRESS}/2026/11/24/en.html" in urls and f"{ADDRESS}/2026/11/zh.html" in urls
    for url in urls:
        assert (site / str(url).removeprefix(f"{ADDRESS}/")).is_file(), url
    assert f"Sitemap: {ADDRESS}/sitemap.xml" in page(site, "robots.txt")
    zh = page(site, "2026/11/23/zh.html")
    assert f'<link rel="canonical" href="{ADDRESS}/2026/11/23/zh.html">' in zh
    assert f'hreflang="en" href="{ADDRESS}/2026/11/23/en.html"' in zh and f'hreflang="zh-Hans" href="{ADDRESS}/2026/11/23/zh.html"' in zh
    assert 'property="og:type" content="article"' in zh and 'property="og:locale" content="zh_CN"' in zh
    assert f'rel="canonical" href="{ADDRESS}/"' in page(site, "index.html")
    assert "noindex" in page(site, "404.html") and 'href="/zh.html"' in page(site, "404.html")
    assert f"{ADDRESS}/api/v1/latest.json" in page(site, "llms.txt")


def schema(site: Path, name: str) -> Draft202012Validator:
    described = json.loads(page(site, "api/v1/openapi.json"))
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": described["components"]})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("latest", "Issue"),
        ("issues", "Issues"),
        ("topics", "Topics"),
        ("sources", "Sources"),
        ("issues/2026-11-23", "Issue"),
        ("issues/2026-11-25", "Issue"),
        ("../../2026/11/23/arxiv-2611.90001", "Story"),
    ],
)
def test_the_api_is_what_its_description_says(site: Path, name: str, kind: str) -> None:
    content: Any = json.loads(page(site, f"api/v1/{name}.json"))
    assert [error.message for error in schema(site, kind).iter_errors(content)] == []


def test_the_description_would_notice_a_change(site: Path) -> None:
    content: Any = json.loads(page(site, "api/v1/issues/2026-11-23.json"))
    content["articles"][0]["claims"][0] |= {"bound": "perhaps", "extra": 1}
    assert len(list(schema(site, "Issue").iter_errors(content))) == 2


def test_every_figure_of_the_api_carries_its_quote(site: Path) -> None:
    content: Any = json.loads(page(site, "api/v1/issues/2026-11-23.json"))
    claims = [claim for article in content["articles"] for claim in article["claims"]]
    assert len(claims) > 3 and all(claim["quote"] for claim in claims)
    assert content["articles"][0]["pages"]["zh"] == f"{ADDRESS}/2026/11/23/arxiv-2611.90001.zh.html"


def test_nothing_in_the_api_is_a_script_address() -> None:
    from tests.integration.test_pages import hostile_issue

    issue: Any = hostile_issue()
    shelf, templates = Shelf(lines=(), recent=(issue,)), Templates([ROOT / "templates"])
    for document in [*ApiRenderer(templates).render({issue.day}, shelf), *IssueApiRenderer(templates).render(issue, shelf)]:
        assert '"javascript:' not in document.body.decode()


@pytest.mark.parametrize(("number", "step", "articles"), [(60, 25, (0, 1, 2, 5)), (45, 1, (0, 1, 2, 5)), (6, 200, (1, 2)), (95, 25, (0, 0, 0, 1))])
def test_a_list_knows_as_much_from_what_it_reaches_as_from_everything(number: int, step: int, articles: tuple[int, ...]) -> None:
    """So that a day is delivered in the same time after ten years as after one."""
    templates, archive = Templates([ROOT / "templates"]), FakeArchive()
    for issue in issues_of_years(number, step, articles):
        archive.save(issue, {}, (), (), [])
    lines = archive.lines("training")
    everything = Shelf(lines=lines, recent=archive.newest("training", 20), articles=archive.articles("training"))
    days = archive.days("training")
    lists = [wiring.SHELF_RENDERERS.create(name, templates=templates) for name in wiring.SHELF_RENDERERS.names()]
    for chosen in ({days[-1]}, {days[-2], days[-1]}, {days[number // 2]}, {days[0]}):
        asked = touched(everything.articles, chosen)
        whole = replace(everything, subjects=archive.subjects("training", asked))
        for renderer in lists:
            part = replace(whole, articles=archive.articles("training", renderer.reach(chosen, lines)))
            assert list(renderer.render(chosen, part)) == list(renderer.render(chosen, whole)), (type(renderer), chosen)


def test_a_name_of_any_length_has_one_address() -> None:
    name = "深度 " + "very long method name " * 20
    (issue,) = issues_of_years(1, 1, (1,))
    (section,) = issue.sections
    article = replace(section.articles[0], mentions=(Mention(kind="method", text=name, quote=name),))
    issue = replace(issue, sections=(replace(section, articles=(article,)),))
    lines = article_lines(issue)
    shelf = Shelf(lines=(issue_line(issue),), recent=(issue,), articles=lines, subjects=subjects(lines))
    templates = Templates([ROOT / "templates"])
    found = {document.name: document.body.decode() for document in SubjectRenderer(templates).render({DAY}, shelf)}
    (address,) = {target for target in re.findall(r'href="\.\./(entities/[^"]+\.zh\.html)"', found["entities/zh.html"]) if "very-long" in target}
    assert address in found and places.entity(name, "zh") == address


@pytest.mark.parametrize("day", [DAY - timedelta(days=40), DAY - timedelta(days=26)])
def test_many_days_that_wait_for_approval_hide_nothing_else(day: date) -> None:
    archive, templates = FakeArchive(), Templates([ROOT / "templates"])
    for issue in issues_of_years(60, 1):
        archive.save(issue, {}, (), (), [])
    lists = [wiring.SHELF_RENDERERS.create(name, templates=templates) for name in wiring.SHELF_RENDERERS.names()]
    fields: dict[str, Any] = {"store": None, "labellers": (), "names": None, "thresholds": {}, "scorers": (), "writer": None}
    publisher = FakePublisher()
    parts = Parts(archive=archive, renderers=(), shelf_renderers=lists, publishers=(publisher,), **fields)
    held = {DAY - timedelta(days=back) for back in range(25)}
    report = deliver(parts, "training", day, NOON, lambda each: Desk(), held=held)
    feed = next(document.body.decode() for document in publisher.documents if document.name == "feed.zh.xml")
    assert report.problems == () and feed.count("<entry>") == 20
    assert not any(f"/{each.isoformat()}/" in feed for each in held)
