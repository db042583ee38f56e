"""The desk without a browser: who may reach it, what it shows, what an edit writes, what is worth a look; and approval."""

from __future__ import annotations

import asyncio
import base64
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from starlette.datastructures import FormData
from starlette.testclient import TestClient

from digest import workbench
from digest.acts import opened
from digest.cli import main, preview_files
from digest.editing import Editing
from digest.errors import ConfigError, DigestError
from digest.in_force import InForce
from digest.model import Article, Issue, Pick, Reason, Section, Wording
from digest.pipeline import findings
from digest.render.environment import Templates
from digest.render.mail_body import MailRenderer
from digest.schedule import Schedule
from digest.serve.hand import Seen
from digest.serve.preview import Preview, application, in_scheme
from digest.settings.edit import set_threshold
from digest.settings.load import load
from digest.store.archive import SqlArchive
from digest.workbench import Table
from tests.builders import NOON, a_labelled, a_source, a_story, an_entry, an_issue
from tests.clockwork import Clock
from tests.conftest import DAY, ROOT
from tests.integration.test_schedule import House, a_house
from tests.mail_server import MailServer

ON = date.fromisoformat(DAY)
TOKEN = "a-token-that-nobody-guesses"
HOST = "127.0.0.1:8322"


@pytest.fixture
def demo_day(made_demo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo with its day made; its settings."""
    monkeypatch.setenv("MAIL_KEY", "k" * 40)
    return made_demo


def a_desk(path: Path, clock: Clock | None = None) -> Preview:
    async def send(issue: Issue, languages: Any, address: str) -> str:
        return f"{address}: 250 taken"

    return Preview(InForce(path), "demo", Templates([ROOT / "templates"]), clock or Clock(datetime(2026, 11, 24, 15, tzinfo=UTC)), send, ON)


@pytest.fixture
def client(demo_day: Path) -> Iterator[TestClient]:
    with TestClient(application(a_desk(demo_day), [HOST], TOKEN), base_url=f"http://{HOST}", follow_redirects=False) as found:
        yield found


# Who may reach it.


def test_only_who_has_the_printed_address_gets_in(client: TestClient) -> None:
    assert client.get("/").status_code == 403
    assert client.get("/?token=wrong").status_code == 403
    opened_ = client.get(f"/?token={TOKEN}")
    assert opened_.status_code == 303 and "token" not in opened_.headers["location"]
    cookie = opened_.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),  # a name that was made to lead here (DNS rebinding)
        ({"host": "127.0.0.1:9999"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": f"http://{HOST}"}, 200),
        ({}, 200),
    ],
)
def test_another_site_cannot_use_it_even_with_the_cookie(client: TestClient, demo_day: Path, headers: dict[str, str], status: int) -> None:
    client.get(f"/?token={TOKEN}")
    answer = client.post(f"/do/pin?day={DAY}", data={"story": "x", "on": "yes"}, headers=headers)
    assert answer.status_code == status
    assert (demo_day.parent / "edits" / f"{DAY}.yaml").exists() == (status == 200)


def test_another_site_cannot_frame_or_read_it(client: TestClient) -> None:
    client.get(f"/?token={TOKEN}")
    assert client.get("/view/mail", params={"day": DAY}, headers={"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"}).status_code == 403
    shell = client.get("/")
    assert "default-src 'none'" in shell.headers["content-security-policy"] and shell.headers["cross-origin-opener-policy"] == "same-origin"


def test_elsewhere_it_asks_for_a_password(demo_day: Path) -> None:
    app = application(a_desk(demo_day), [], TOKEN, "open sesame")
    with TestClient(app, base_url="http://desk.example") as found:
        assert found.get("/").status_code == 401
        wrong, right = (f"Basic {base64.b64encode(f'me:{word}'.encode()).decode()}" for word in ("wrong", "open sesame"))
        assert found.get("/", headers={"authorization": wrong}).status_code == 401
        assert found.get("/", headers={"authorization": "Basic ???"}).status_code == 401
        assert found.get("/", headers={"authorization": right}).status_code == 200


def test_no_desk_for_others_without_a_password(demo_day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "--host", "0.0.0.0", "--config", str(demo_day)]) == 2 and "--password" in capsys.readouterr().err


# What it shows.


@pytest.mark.parametrize("path", ["/panel/stories", "/panel/entries", "/panel/letter", "/panel/rules", "/panel/notes"])
@pytest.mark.parametrize("ui", ["zh", "en"])
def test_every_panel_speaks_both_languages(client: TestClient, path: str, ui: str) -> None:
    client.get(f"/?token={TOKEN}")
    answer = client.get(path, params={"day": DAY, "ui": ui})
    assert answer.status_code == 200 and not any(f">{key}" in answer.text for key in ("note ", "tab ", "channel "))


@pytest.mark.parametrize(
    ("ui", "kind", "why"),
    [
        ("zh", "数字没有原文支持", "原文里没有 3 倍，也不能由原文的某个数字推出"),
        ("en", "figure", "3 倍 is not in the source and does not follow from one figure of it"),
    ],
)
def test_the_judge_says_why_in_the_language_of_the_desk(client: TestClient, ui: str, kind: str, why: str) -> None:
    client.get(f"/?token={TOKEN}")
    form = {"story": "arxiv-2611.90001", "language": "zh", "headline": "TideFlow：训练快 3 倍", "summary": "", "blurb": ""}
    said = client.post("/judge", params={"day": DAY, "ui": ui}, data=form, headers={"Origin": f"http://{HOST}"}).json()
    assert why in {each["why"] for each in said} and any(kind in each["kind"].lower() for each in said)
    missing = {each["why"] for each in said if not each["words"]}
    assert missing and all(("缺少" if ui == "zh" else "is missing in") in each for each in missing)


@pytest.mark.parametrize(
    "path",
    ["/panel/nothing", "/view/nothing", "/site/2026-11-24/light/../../feeds.yaml", "/site/2026-11-24/light/%2e%2e/feeds.yaml", "/files/x", "/do/nothing"],
)
def test_what_is_not_there_is_not_there(client: TestClient, path: str) -> None:
    client.get(f"/?token={TOKEN}")
    answer = client.post(path, params={"day": DAY}) if path.startswith("/do") else client.get(path, params={"day": DAY})
    assert answer.status_code == 404


def test_a_picture_is_light_or_dark_whatever_the_machine_is(client: TestClient) -> None:
    client.get(f"/?token={TOKEN}")
    for scheme in ("light", "dark"):
        style = client.get(f"/site/{DAY}/{scheme}/style.css").text
        assert "prefers-color-scheme" not in style and in_scheme("@media (prefers-color-scheme: dark)", scheme).split("@media ")[1] in style
    page = client.get(f"/view/web?day={DAY}&lang=zh&scheme=dark", follow_redirects=True)
    assert "<script" not in page.text and f"/site/{DAY}/dark/" in str(page.url)
    assert "img-src 'none'" in client.get(f"/view/mail?day={DAY}&images=off").headers["content-security-policy"]


def test_a_day_that_cannot_be_made_is_told_in_words(client: TestClient) -> None:
    client.get(f"/?token={TOKEN}")
    answer = client.get("/panel/stories", params={"day": "2020-01-01"})
    assert answer.status_code == 409 and "digest make" in answer.json()["complaint"]


def lay(path: Path, day: date = ON, now: datetime = datetime(2026, 11, 24, 15, tzinfo=UTC)) -> Table:
    loaded = load(path)
    return workbench.lay(loaded, "demo", loaded.settings.editions["demo"], day, Clock(now))


def test_the_day_in_the_making_is_shown_and_kept_by_nobody(demo_day: Path) -> None:
    tomorrow = date(2026, 11, 25)
    table = lay(demo_day, tomorrow, datetime(2026, 11, 25, 1, tzinfo=UTC))
    assert table.archived is None and table.issue.day == tomorrow
    with opened(load(demo_day)) as engine:
        assert SqlArchive(engine).days("demo") == [ON]
    with pytest.raises(DigestError, match="no issue of 2026-11-20"):
        lay(demo_day, date(2026, 11, 20))


def test_every_entry_of_the_day_is_there_with_its_reasons(demo_day: Path) -> None:
    table = lay(demo_day)
    told = [each for each in table.considered if each.is_lead]
    assert len(table.considered) == table.issue.entries_read and len(told) == len(table.issue.articles)
    assert all(each.hits for each in told) and any(each.story and not each.is_lead for each in table.considered)  # one was merged
    pieces = table.words(told[0].entry, "text")
    assert "".join(piece for piece, _ in pieces) == told[0].entry.text and any(points > 0 for _, points in pieces)


def test_what_if_tells_who_would_come_and_go_and_saves_nothing(demo_day: Path) -> None:
    table, before = lay(demo_day), demo_day.read_bytes()
    wide, strict, same = table.what_if("", None, 0.5), table.what_if("", None, 100.0), table.what_if("", None, None)
    assert wide.come and not wide.go and strict.go and not strict.come and not same.come and not same.go
    assert same.stay == wide.stay == len(strict.go) + strict.stay
    with pytest.raises(ConfigError):
        table.what_if("((", None, None)
    assert demo_day.read_bytes() == before


def test_a_threshold_is_saved_beside_its_comment(tmp_path: Path) -> None:
    path = tmp_path / "feeds.yaml"
    path.write_text(
        "extends: shipped\neditions: {a: {title: {zh: 一, en: A}, topics: [t]}}\nsources: [{name: x, url: x.xml}]\ntopics:\n  t:\n    title: {zh: 题, en: T}\n    threshold: 2  # low\n    words: [x]\n",
        encoding="utf-8",
    )
    set_threshold(path, "t", 3.5)
    assert "threshold: 3.5  # low\n" in path.read_text(encoding="utf-8")
    with pytest.raises(ConfigError):
        set_threshold(path, "t", -1)
    with pytest.raises(ConfigError, match="no topic moe"):
        set_threshold(path, "moe", 1)


# The hand.


def test_edits_are_plain_files_that_keep_comments_and_can_be_taken_back(demo_day: Path) -> None:
    folder = demo_day.parent
    file = folder / "edits" / f"{DAY}.yaml"
    file.parent.mkdir()
    file.write_text("# from the morning round\ndrop: [a]\n", encoding="utf-8")
    hand = Editing(folder)
    hand.pin(ON, "b", is_on=True)
    hand.drop(ON, "a", is_on=False)
    hand.merge(ON, "b", "c")
    hand.reword(ON, "b", "zh", {"headline": "新标题", "summary": None})
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# from the morning round\n") and "pin:" in text and "drop" not in text and "新标题" in text
    hand.reword(ON, "b", "zh", {"headline": None})
    hand.unmerge(ON, "c")
    assert "reword" not in file.read_text(encoding="utf-8") and "merge" not in file.read_text(encoding="utf-8")
    left = file.read_text(encoding="utf-8")
    file.write_text(f"{left}# by hand\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="changed elsewhere"):
        hand.undo()
    file.write_text(left, encoding="utf-8")
    for _ in range(6):
        assert hand.undo()
    assert file.read_text(encoding="utf-8") == "# from the morning round\ndrop: [a]\n" and not hand.undo()


def test_open_pages_hear_of_an_edit_whose_undo_left_the_files_as_they_were(demo_day: Path) -> None:
    desk, seen = a_desk(demo_day), Seen(day=ON, languages=("zh",), ui="zh", scheme="light")
    desk.edit("order", seen, FormData({"stories": "b a"}))
    desk.edit("undo", seen, FormData())  # before anybody looked
    assert desk.revision == 2 and not list(demo_day.parent.glob("edits/*.yaml"))


def test_an_edit_that_would_be_wrong_is_not_saved(demo_day: Path) -> None:
    hand = Editing(demo_day.parent)
    with pytest.raises(ConfigError, match="nothing was saved"):
        hand.reword(ON, "b", "zh", {"headline": "x" * 400})
    with pytest.raises(ConfigError, match="itself"):
        hand.merge(ON, "b", "b")
    assert not (demo_day.parent / "edits").exists() and not hand.can_undo


def test_an_edit_survives_a_new_run_and_goes_out(demo_day: Path) -> None:
    table = lay(demo_day)
    key = table.issue.articles[0].pick.story.key
    Editing(demo_day.parent).drop(ON, key, is_on=True)
    main(["run", "--config", str(demo_day), "--date", DAY, "--quiet"])
    assert key not in [article.pick.story.key for article in lay(demo_day).issue.articles]
    loaded = load(demo_day)
    assert "编辑已撤下" in (loaded.folder / loaded.settings.editions["demo"].folder / "2026/11/24" / f"{key}.zh.html").read_text(encoding="utf-8")


def test_a_split_entry_becomes_an_article_in_its_sources_own_words(demo_day: Path) -> None:
    table = lay(demo_day)
    article = next(each for each in table.issue.articles if each.pick.story.also_seen_in)
    entry = article.pick.story.also_seen_in[0]
    Editing(demo_day.parent).split(ON, article.pick.story.key, entry.key)
    issue = lay(demo_day).issue
    alone = next(each for each in issue.articles if each.pick.story.lead.entry.key == entry.key)
    assert alone.source.name == entry.source_name and alone.wordings[0].headline == entry.title and alone.is_edited
    assert len(issue.articles) == len(table.issue.articles) + 1


def test_a_test_mail_goes_through_the_relay_and_the_ledger_knows_nothing_of_it(demo_day: Path) -> None:
    from digest.cli.preview import _test

    with MailServer() as server:
        demo_day.write_text(
            demo_day.read_text(encoding="utf-8").replace("mail: {", f"mail: {{host: 127.0.0.1, port: {server.port}, security: none, "), encoding="utf-8"
        )
        send = _test(InForce(demo_day), "demo", None)
        assert asyncio.run(send(lay(demo_day).issue, ("en",), "me@example.com")) == "me@example.com: 250 taken"
        assert list(server.times) == ["me@example.com"]


# What is worth a look.


def told(zh: str, en: str, text: str = "We train up to 2x faster than Megatron-LM.") -> Issue:
    entry = an_entry(title="A title", text=text)
    story = a_story(entries=(a_labelled(entry=entry),))
    words = (Wording(language="zh", headline=zh, summary="摘要。", blurb=""), Wording(language="en", headline=en, summary="", blurb=""))
    pick = Pick(story=story, reasons=(Reason(points=50, why="on-topic"),))
    article = Article(pick=pick, source=a_source(), claims=(), mentions=(), wordings=words, written_by="patterns")
    return an_issue(sections=(Section(topic="training-acceleration", title={"zh": "训", "en": "T"}, articles=(article,)),))


def kinds(notes: Any) -> set[tuple[str, str]]:
    return {(note.level, note.kind) for note in notes}


@pytest.mark.parametrize(
    ("zh", "en", "expected"),
    [
        ("训练最高快 2 倍", "Training up to 2x faster", {("look", "no words")}),
        ("训练快 2 倍", "Training up to 2x faster", {("wrong", "judge bound"), ("look", "no words")}),
        ("训练最高快 3 倍", "Training up to 2x faster", {("wrong", "judge number"), ("wrong", "languages differ"), ("look", "no words")}),
        ("A title", "A title", {("look", "not translated"), ("look", "no words")}),
    ],
)
def test_sentences_that_the_source_does_not_carry_are_named(zh: str, en: str, expected: set[tuple[str, str]]) -> None:
    assert kinds(findings.of_words(told(zh, en))) == expected


def test_a_missing_language_is_named() -> None:
    issue = told("训练最高快 2 倍", "Up to 2x")
    article = issue.articles[0]
    alone = replace(issue, sections=(replace(issue.sections[0], articles=(replace(article, wordings=article.wordings[:1]),)),))
    assert ("wrong", "missing language") in kinds(findings.of_words(alone))


def test_mails_too_long_subjects_and_words_of_spam_are_named() -> None:
    body = MailRenderer(Templates([ROOT / "templates"])).render(told("点击这里领取，训练最高快 2 倍！！", "Act now"), ("zh", "en"))
    assert kinds(findings.of_mail(body, 1)) == {("look", "spam words")}
    big = replace(body, html="x" * 100_000, subject="长" * 60, rest=3)
    assert {("wrong", "mail too long"), ("look", "mail shortened"), ("look", "subject too long")} <= kinds(findings.of_mail(big, 5))


def test_pages_with_broken_links_markup_and_double_escapes_are_named() -> None:
    html = "<html lang='zh'><img src='x.png'><a href='gone.html'>x</a> &amp;lt;b&amp;gt; <a href='there.html'>y</a></html>"
    found = list(findings.of_page("2026/a.html", html, {"2026/there.html", "2026/x.png"}, "https://d.example"))
    assert {(note.kind, note.why.partition(" ")[0]) for note in found} >= {("broken link", "gone.html"), ("markup", "a"), ("escaped twice", "&amp;lt;")}


def test_the_shipped_style_has_contrast_and_a_pale_one_is_named() -> None:
    css = (ROOT / "templates" / "web" / "style.css").read_text(encoding="utf-8")
    assert list(findings.of_style(css)) == []
    assert findings.contrast("#000000", "#ffffff") == pytest.approx(21) and findings.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert [note.kind for note in findings.of_style(css.replace("--soft: #5a6370", "--soft: #bbbbbb"))] == ["contrast", "contrast"]


def test_the_demo_has_nothing_wrong(demo_day: Path) -> None:
    assert [note for note in lay(demo_day).notes() if note.level == "wrong"] == []


# Files for a review.


def test_all_views_are_written_as_files(demo_day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["preview", "--export", str(tmp_path / "views"), "--config", str(demo_day), "--date", DAY]) == 0
    names = {path.relative_to(tmp_path / "views").as_posix() for path in (tmp_path / "views").rglob("*") if path.is_file()}
    assert {
        f"{channel}.{choice}.{ending}"
        for channel, ending in (("mail", "html"), ("mail-text", "txt"), ("mail-source", "eml"), ("feed", "html"), ("chat", "md"), ("markdown", "md"))
        for choice in ("zh", "en", "zh-en")
    } <= names
    assert {"site/2026/11/24/zh.html", "site/style.css", "notes.txt"} <= names


@pytest.mark.slow
def test_pictures_are_taken_where_a_browser_is(demo_day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("there is no Chromium here")
    kinds = [kind for kind in preview_files._PICTURES if kind[0].startswith("phone")]
    monkeypatch.setattr(preview_files, "_PICTURES", kinds)
    assert main(["preview", "--export", str(tmp_path / "views"), "--config", str(demo_day), "--date", DAY]) == 0
    pictures = sorted(path.name for path in (tmp_path / "views" / "pictures").glob("*.png"))
    assert f"{len(pictures)} pictures" in capsys.readouterr().out and len(pictures) == 12
    light, dark = ((tmp_path / "views" / "pictures" / f"mail.zh.phone{each}.png").read_bytes() for each in ("", "-dark"))
    assert light != dark


def test_two_sets_of_templates_are_compared(demo_day: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    (other / "markdown").mkdir(parents=True)
    assert main(["diff", DAY, "--templates", str(other), "--config", str(demo_day)]) == 0
    text = (ROOT / "templates" / "markdown" / "issue.md").read_text(encoding="utf-8")
    (other / "markdown" / "issue.md").write_text(text + "\nTHE END\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["diff", DAY, "--templates", str(other), "--config", str(demo_day)]) == 1
    said = capsys.readouterr()
    assert "+THE END" in said.out and "b/2026/11/24/zh.md" in said.out and "2 files differ" in said.err
    assert main(["diff", DAY, "--templates", str(tmp_path / "nothing"), "--config", str(demo_day)]) == 2


# Approval.


@pytest.mark.parametrize(("approval", "goes"), [("send", True), ("hold", False)])
def test_a_day_waits_for_its_approval_and_then_goes_or_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approval: str, goes: bool) -> None:
    house: House = a_house(tmp_path / "house", monkeypatch)
    house.set("    cards: false\n", f"    schedule: {{approval: {approval}, approve_until: '12:00'}}\n    cards: false\n")
    schedule = Schedule(house.path, house.clock)
    page = house.folder / "out/demo/2026/11/24/zh.html"
    house.tick(schedule, minutes=31)
    assert house.days() == [24] and not page.exists()
    house.tick(schedule, hours=4)
    assert page.exists() == goes
    with opened(load(house.path)) as engine:
        from digest.machine import is_gone
        from digest.store.office import SqlOffice

        standing = [alert.key for alert in SqlOffice(engine, is_gone).standing()]
    assert "demo:approval:2026-11-24" in standing
    Editing(house.path.parent).approve(ON, is_on=True)
    house.tick(schedule, minutes=5)
    assert page.exists()


def test_a_day_that_is_held_shows_in_nothing_that_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house: House = a_house(tmp_path / "house", monkeypatch)
    schedule = Schedule(house.path, house.clock)
    house.tick(schedule, minutes=31)
    house.set("    cards: false\n", "    schedule: {approval: hold}\n    cards: false\n")
    house.tick(schedule, days=1, hours=6)
    assert house.days() == [24, 25]
    Editing(house.path.parent).letter(ON, "zh", "大家好")
    assert main(["deliver", "--config", str(house.path), "--date", DAY]) == 0
    assert main(["site", "build", "--config", str(house.path)]) == 0
    assert not [
        name
        for name, body in house.site().items()
        if "2026/11/25" in name or b"2026/11/25/" in body or (b"2026-11-25" in body and name.endswith((".xml", ".rss", ".json")))
    ]
    Editing(house.path.parent).approve(date(2026, 11, 25), is_on=True)
    house.tick(schedule, minutes=5)
    assert "2026/11/25/zh.html" in house.site()


def test_an_approved_day_goes_out_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house: House = a_house(tmp_path / "house", monkeypatch)
    house.set("    cards: false\n", "    schedule: {approval: hold}\n    cards: false\n")
    schedule = Schedule(house.path, house.clock)
    house.tick(schedule, minutes=31)
    Editing(house.path.parent).approve(ON, is_on=True)
    house.tick(schedule, minutes=1)
    assert (house.folder / "out/demo/2026/11/24/zh.html").exists()


def test_digest_run_waits_for_approval_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    house: House = a_house(tmp_path / "house", monkeypatch)
    with MailServer() as server, time_machine.travel(NOON + timedelta(hours=3)):
        mail = f"    mail: {{sender: d@example.org, links: 'https://m.example.org', host: 127.0.0.1, port: {server.port}, security: none}}\n"
        house.set("    cards: false\n", f"    schedule: {{approval: hold}}\n{mail}    cards: false\n")
        main(["subscribers", "add", "r@example.com", "--consent", "x", "--config", str(house.path)])
        main(["run", "--config", str(house.path)])
        assert server.taken == []
        assert "waits for its editor's approval" in capsys.readouterr().err and not (house.folder / "out/demo/2026/11/24").exists()
        Editing(house.path.parent).approve(ON, is_on=True)
        main(["deliver", "--config", str(house.path)])
        assert list(server.times) == ["r@example.com"]
        assert (house.folder / "out/demo/2026/11/24/zh.html").exists()
