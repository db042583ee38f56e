"""The folder of the site, its search index, what checks it, and the templates of one's own."""

from __future__ import annotations

import asyncio
import json
import random
import re
import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import time_machine

from bench.site import an_issue as bench_issue
from digest import pipeline, wiring
from digest.cli import main
from digest.errors import PublishError
from digest.model import Desk, Document, SiteChange
from digest.parse import opml
from digest.pipeline import processes
from digest.publish import search_index
from digest.publish.check import Finding, findings
from digest.publish.folder import FolderPublisher
from digest.publish.search_index import PagefindIndex
from digest.settings.load import load
from tests.builders import NOON, an_issue
from tests.conftest import DAY
from tests.fakes import FeedServer

ISSUE = an_issue()
_PLAIN = "    cards: false\n    search: false\n"


@pytest.fixture
def demo(demo: Path) -> Path:
    """Without what takes long and is tested elsewhere."""
    demo.write_text(demo.read_text(encoding="utf-8").replace("    folder: ", f"{_PLAIN}    folder: ", 1), encoding="utf-8")
    return demo


def a_document(name: str, body: bytes = b"x") -> Document:
    return Document(format="web", language="zh", name=name, media_type="text/html", body=body)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_what_an_issue_no_longer_has_is_removed_and_nothing_else(tmp_path: Path) -> None:
    publisher = FolderPublisher(tmp_path)
    (tmp_path / "CNAME").write_text("digest.example.org")
    publisher.publish(ISSUE, [a_document("2026/11/24/a.html"), a_document("2026/11/24/b.html"), a_document("topics/t.html")], NOON, [])
    publisher.publish(ISSUE, [a_document("2026/11/24/a.html")], NOON, [])
    assert names(tmp_path) == ["2026/11/24/a.html", "CNAME", "topics/t.html"]


def test_a_new_site_replaces_the_old_one_and_writes_only_what_differs(tmp_path: Path) -> None:
    publisher = FolderPublisher(tmp_path)
    (tmp_path / "favicon.ico").write_bytes(b"mine")
    assert publisher.replace([a_document("2026/a.html"), a_document("topics/t.html"), a_document("index.html")]) == SiteChange(written=3)
    before = (tmp_path / "index.html").stat()
    change = publisher.replace([a_document("2026/b.html"), a_document("topics/t.html", b"new"), a_document("index.html")])
    assert change == SiteChange(written=2, unchanged=1, removed=1)
    assert names(tmp_path) == ["2026/b.html", "favicon.ico", "index.html", "topics/t.html"]
    assert (tmp_path / "index.html").stat().st_mtime_ns == before.st_mtime_ns


def test_an_error_in_the_middle_leaves_the_old_site_whole(tmp_path: Path) -> None:
    publisher = FolderPublisher(tmp_path)
    publisher.replace([a_document("index.html", b"old")])

    def documents() -> Iterator[Document]:
        yield a_document("index.html", b"new")
        raise RuntimeError("a template is wrong")

    with pytest.raises(RuntimeError):
        publisher.replace(documents())
    assert names(tmp_path) == ["index.html"] and (tmp_path / "index.html").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["../x.html", "/etc/x", "a/../../x"])
def test_nothing_is_written_outside_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(PublishError, match="outside the folder"):
        FolderPublisher(tmp_path / "out").replace([a_document(name)])


def test_two_documents_of_one_name_are_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="same name"):
        FolderPublisher(tmp_path).replace([a_document("a"), a_document("a")])


def test_what_a_kill_left_behind_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".writing-old" / "2026").mkdir(parents=True)
    (tmp_path / ".writing-old" / "2026" / "x.html").write_bytes(b"x")
    FolderPublisher(tmp_path).replace([a_document("index.html")])
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def page(words: str) -> bytes:
    return f'<!DOCTYPE html><html lang="en"><head><title>t</title></head><body><main data-pagefind-body><h1>{words}</h1></main></body></html>'.encode()


def test_the_search_index_is_made_when_a_page_changed_and_only_then(tmp_path: Path) -> None:
    publisher, index = FolderPublisher(tmp_path), PagefindIndex(tmp_path)
    publisher.publish(ISSUE, [a_document("2026/11/24/a.en.html", page("expert parallelism"))], NOON, [])
    assert index.update() is True
    first = names(tmp_path / "pagefind")
    assert "pagefind-entry.json" in first and not [name for name in first if "ui" in name]
    assert index.update() is False
    publisher.publish(ISSUE, [a_document("2026/11/24/a.en.html", page("ring attention"))], NOON, [])
    assert index.update() is True
    second = names(tmp_path / "pagefind")
    assert second != first and len(second) == len(first)
    assert not list(tmp_path.glob(".writing-*"))


def test_an_index_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher, index = FolderPublisher(tmp_path), PagefindIndex(tmp_path)
    publisher.publish(ISSUE, [a_document("2026/11/24/a.en.html", page("one"))], NOON, [])
    index.update()
    before = names(tmp_path)
    publisher.publish(ISSUE, [a_document("2026/11/24/a.en.html", page("two"))], NOON, [])
    monkeypatch.setattr(search_index.sys, "executable", "/bin/false")
    with pytest.raises(PublishError, match="the old one stays"):
        index.update()
    assert names(tmp_path) == before


def a_site(folder: Path) -> Path:
    whole = '<!DOCTYPE html><html lang="zh-Hans"><head><title>t</title></head><body><main><h1 id="a">甲</h1>{}</main></body></html>'
    for language in ("zh", "en"):
        (folder / f"{language}.html").write_text(whole.format(f'<a href="{language}.html#a">x</a>'), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ('<a href="gone.html">x</a>', "link", "gone.html leads to no file"),
        ('<a href="en.html#gone">x</a>', "anchor", "en.html#gone leads to no such place"),
        ('<a href="https://digest.example.org/gone.html">x</a>', "link", "leads to no file"),
        ('<p id="a">x</p>', "id", "'a' stands twice"),
        ("<p><b>x</p>", "html", "</p> closes <b>"),
        ("<section>", "html", "</main> closes <section>"),
        ('<img src="zh.html">', "html", "no alt text"),
        ('<p class="a" class="b">x</p>', "html", "an attribute twice"),
        ("<div/>", "html", "does not close itself"),
    ],
)
def test_the_check_names_what_is_wrong(tmp_path: Path, body: str, kind: str, words: str) -> None:
    path = a_site(tmp_path) / "zh.html"
    path.write_text(path.read_text(encoding="utf-8").replace("</main>", f"{body}</main>"), encoding="utf-8")
    found = findings(tmp_path, "https://digest.example.org", ("zh", "en"))
    assert any(each.page == "zh.html" and each.kind == kind and words in each.words for each in found), found


def test_the_check_finds_missing_languages_large_pages_and_broken_feeds(tmp_path: Path) -> None:
    (tmp_path / ".writing-1-x").mkdir()
    (tmp_path / ".writing-1-x" / "half.html").write_text("<p>")
    assert findings(a_site(tmp_path), "https://digest.example.org", ("zh", "en")) == []
    (tmp_path / "moe.zh.html").write_bytes((tmp_path / "zh.html").read_bytes())
    (tmp_path / "feed.xml").write_text("<feed>")
    (tmp_path / "latest.json").write_text("{")
    import random

    noise = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=150_000))
    (tmp_path / "en.html").write_text((tmp_path / "en.html").read_text(encoding="utf-8").replace("甲", noise), encoding="utf-8")
    found = findings(tmp_path, "https://digest.example.org", ("zh", "en"))
    assert [(each.page, each.kind) for each in found] == [("en.html", "size"), ("feed.xml", "data"), ("latest.json", "data"), ("moe.zh.html", "language")]
    assert isinstance(found[0], Finding)


def digest(demo: Path, *words: str) -> int:
    return main([*words, "--config", str(demo)])


def test_the_site_of_the_command_line_is_what_the_days_made(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo.write_text(demo.read_text(encoding="utf-8").replace(_PLAIN, ""), encoding="utf-8")
    out = demo.parent.parent / "out" / "demo"
    assert digest(demo, "site", "check") == 2
    assert digest(demo, "site", "build") == 1
    assert "there is no issue yet" in capsys.readouterr().err
    for day in ("2026-11-23", DAY):
        main(["run", "--config", str(demo), "--date", day, "--quiet"])
    before = {name: (out / name).read_bytes() for name in names(out)}
    assert digest(demo, "site", "build", "--json") == 0
    counts = json.loads(capsys.readouterr().out)
    assert (counts["issues"], counts["removed"]) == (2, 0)
    changed = {name for name in names(out) if before.get(name) != (out / name).read_bytes()}
    assert {name.split("/")[0] for name in changed} <= {"sources", "api"}  # how the sources do by now
    assert digest(demo, "site", "build", "--json") == 0
    assert json.loads(capsys.readouterr().out)["written"] == 0
    shutil.rmtree(out)
    assert digest(demo, "site", "build") == 0
    assert set(names(out)) == set(before)
    assert digest(demo, "site", "check") == 0
    assert "nothing is wrong" in capsys.readouterr().out
    (out / "zh.html").unlink()
    assert digest(demo, "site", "check", "--json") == 1
    assert json.loads(capsys.readouterr().out)[0]["kind"] == "link"


def test_a_correction_updates_its_feed_entry_lists_and_pages(demo: Path) -> None:
    out = demo.parent.parent / "out" / "demo"
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    feed = json.loads((out / "articles.en.json").read_text(encoding="utf-8"))
    edits = demo.parent / "edits"
    edits.mkdir()
    (edits / f"{DAY}.yaml").write_text("drop: [arxiv-2611.90002]\nreword: {arxiv-2611.90001: {en: {headline: A corrected headline}}}\n", encoding="utf-8")
    main(["deliver", "--config", str(demo), "--date", DAY, "--quiet"])
    after = json.loads((out / "articles.en.json").read_text(encoding="utf-8"))
    items = {item["id"].split("/")[-2]: item for item in after["items"]}
    was = {item["id"].split("/")[-2]: item for item in feed["items"]}
    assert "arxiv-2611.90002" in was and "arxiv-2611.90002" not in items
    assert items["arxiv-2611.90001"]["date_modified"] > was["arxiv-2611.90001"]["date_modified"]
    assert items["arxiv-2611.90001"]["date_published"] == was["arxiv-2611.90001"]["date_published"]
    others = set(items) - {"arxiv-2611.90001"}
    assert {key: items[key]["date_modified"] for key in others} == {key: was[key]["date_modified"] for key in others}
    assert "A corrected headline" in (out / "2026/11/en.html").read_text(encoding="utf-8")
    assert "A corrected headline" in (out / "topics/moe.en.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in out.glob("2026/11/24/arxiv-2611.90002*")) == ["arxiv-2611.90002.en.html", "arxiv-2611.90002.zh.html"]
    gone = (out / "2026/11/24/arxiv-2611.90002.en.html").read_text(encoding="utf-8")
    assert "Taken out by the editor" in gone and "Curvature" not in gone and "noindex" in gone
    told = [path for path in out.rglob("*") if path.suffix in (".html", ".xml", ".rss", ".json", ".csv", ".md", ".txt") and "pagefind" not in path.parts]
    assert [path.name for path in told if "arxiv-2611.90002" in path.read_text(encoding="utf-8") and "90002" not in path.name] == []
    assert main(["site", "check", "--config", str(demo)]) == 0


def test_a_template_of_ones_own_hides_the_shipped_one_and_an_error_changes_nothing(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    out, own = demo.parent.parent / "out" / "demo", demo.parent / "templates"
    assert digest(demo, "templates", "copy", "web/article.html", "web/style.css") == 0
    assert digest(demo, "templates", "copy", "web/style.css") == 2
    assert digest(demo, "templates", "copy", "web/stile.css") == 2
    assert "did you mean 'web/style.css'" in capsys.readouterr().err
    assert digest(demo, "templates", "list") == 0
    listed = capsys.readouterr().out
    assert "web/style.css  (yours)\n" in listed and "web/base.html\n" in listed
    (own / "web" / "style.css").write_text("body { color: red }", encoding="utf-8")
    assert digest(demo, "site", "build") == 0
    assert (out / "style.css").read_text(encoding="utf-8") == "body { color: red }"
    before = {name: (out / name).read_bytes() for name in names(out)}
    (own / "web" / "style.css").write_text("body { color: blue }", encoding="utf-8")
    template = own / "web" / "article.html"
    template.write_text(template.read_text(encoding="utf-8") + "\n{% block width %}\n{{ nobody }}{% endblock %}\n", encoding="utf-8")
    capsys.readouterr()
    assert digest(demo, "site", "build") == 1
    line = len(template.read_text(encoding="utf-8").splitlines())
    assert f"article.html:{line}" in capsys.readouterr().err
    assert {name: (out / name).read_bytes() for name in names(out)} == before


@pytest.mark.slow
def test_many_issues_are_rendered_side_by_side_with_the_same_result(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, chance, days = load(demo), random.Random(1), 22  # more than the feeds have
    name, edition = wiring.edition(loaded.settings, None)

    async def build(fewest: int) -> None:
        monkeypatch.setattr(processes, "FEWEST", fewest)
        async with wiring.open_parts(loaded, name, edition) as parts:
            for number in range(0 if parts.archive.days(name) else days):
                parts.archive.save(bench_issue(chance, loaded, date(2026, 11, 1) + timedelta(days=number), number), {}, (), (), [])
            pipeline.build(parts, name, NOON, lambda day: Desk())

    asyncio.run(build(days + 1))
    one, two = tmp_path / "one", demo.parent.parent / "out" / "demo"
    two.rename(one)
    asyncio.run(build(days))
    assert names(one) == names(two) and len(names(one)) > days * 24
    assert findings(one, "https://digest.example.org", ("zh", "en")) == []
    assert [name for name in names(one) if (one / name).read_bytes() != (two / name).read_bytes()] == []


def test_a_hub_is_told_once_of_every_issue_and_named_in_every_feed(demo: Path, server: FeedServer, capsys: pytest.CaptureFixture[str]) -> None:
    text = demo.read_text(encoding="utf-8")
    demo.write_text(text.replace("    folder: ", f"    hub: {server.address}/hub\n    folder: ", 1), encoding="utf-8")
    said: list[bytes] = []
    server.posted = lambda body: said.append(body) or 503
    command = ["run", "--config", str(demo), "--date", DAY, "--quiet"]
    main(command)
    assert "the hub" in capsys.readouterr().err and len(said) == 1
    server.posted = said.append
    main(command)
    main(command)
    assert len(said) == 2
    fields = parse_qs(said[1].decode())
    assert fields["hub.mode"] == ["publish"] and "https://digest.example.org/feed.zh.xml" in fields["hub.url"]
    out = demo.parent.parent / "out" / "demo"
    assert f'href="{server.address}/hub" rel="hub"' in (out / "feed.zh.xml").read_text(encoding="utf-8")
    assert json.loads((out / "articles.en.json").read_text(encoding="utf-8"))["hubs"] == [{"type": "WebSub", "url": f"{server.address}/hub"}]


def test_the_sources_go_out_as_opml_without_keys(demo: Path) -> None:
    text = demo.read_text(encoding="utf-8")
    extra = "sources:\n  - {name: Secret, url: 'https://me:pw@hub.example.com/x?key=abc&n=1', on: true}\n"
    demo.write_text(text.replace("sources:\n", extra, 1), encoding="utf-8")
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    out = demo.parent.parent / "out" / "demo"
    (feed,) = opml.read((out / "sources.opml").read_bytes())
    assert (feed["name"], feed["url"]) == ("Secret", "https://hub.example.com/x?n=1")
    whole = "".join(path.read_text(encoding="utf-8") for path in out.rglob("*") if path.suffix in (".html", ".json", ".opml", ".xml", ".txt"))
    assert "abc&" not in whole and "me:pw" not in whole


def edit(demo: Path, day: str, text: str) -> None:
    (demo.parent / "edits").mkdir(exist_ok=True)
    (demo.parent / "edits" / f"{day}.yaml").write_text(text, encoding="utf-8")


def holding(out: Path, words: str) -> list[str]:
    """The files of the site that hold the words, but for the search index and the pages of names."""
    return [name for name in names(out) if not name.startswith(("pagefind/", "entities/")) and words.encode() in (out / name).read_bytes()]


def test_an_edit_of_a_recent_day_goes_out_whole_with_the_next_one_and_can_be_taken_back(demo: Path) -> None:
    out = demo.parent.parent / "out" / "demo"
    main(["run", "--config", str(demo), "--date", "2026-11-23", "--quiet"])
    before = holding(out, "RolloutPool")
    edit(demo, "2026-11-23", "drop: [arxiv-2611.90003]\n")
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    assert holding(out, "RolloutPool") == []
    assert json.loads((out / "topics/rl-post-training.en.json").read_text(encoding="utf-8"))["items"] == []
    (demo.parent / "edits" / "2026-11-23.yaml").unlink()
    main(["run", "--config", str(demo), "--date", "2026-11-25", "--quiet"])
    own = {name for name in before if name.startswith(("2026/", "topics/", "articles", "trends/"))}
    assert len(own) > 30 and own <= set(holding(out, "RolloutPool"))
    assert main(["site", "check", "--config", str(demo)]) == 0


def test_all_articles_of_a_day_can_be_taken_out(demo: Path) -> None:
    demo.write_text(demo.read_text(encoding="utf-8").replace(_PLAIN, ""), encoding="utf-8")
    out = demo.parent.parent / "out" / "demo"
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    keys = [article["key"] for article in json.loads((out / "api/v1/latest.json").read_text(encoding="utf-8"))["articles"]]
    edit(demo, DAY, f"drop: [{', '.join(keys)}]\n")
    main(["deliver", "--config", str(demo), "--date", DAY, "--quiet"])
    assert holding(out, "TideFlow") == [] and (out / "trends/claims-2026.csv").read_text(encoding="utf-8").count("\n") == 1
    assert main(["site", "check", "--config", str(demo)]) == 0


def test_words_of_a_summary_or_letter_are_a_correction_too(demo: Path) -> None:
    out = demo.parent.parent / "out" / "demo"

    def modified(name: str) -> str:
        return str(json.loads((out / f"{name}.en.json").read_text(encoding="utf-8"))["items"][0]["date_modified"])

    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    article, issue = modified("articles"), modified("feed")
    edit(demo, DAY, "reword: {arxiv-2611.90001: {en: {summary: TideFlow is a scheduler.}}}\n")
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    assert modified("articles") > article and (second := modified("feed")) > issue
    (demo.parent / "notes").mkdir()
    (demo.parent / "notes" / f"{DAY}.en.md").write_text("Good morning.", encoding="utf-8")
    with time_machine.travel("2030-01-01T00:00:00Z"):
        main(["deliver", "--config", str(demo), "--date", DAY, "--quiet"])
    assert modified("feed") > second


@pytest.mark.parametrize(("first", "then"), [("[en]", "[zh, en]"), ("[zh, en]", "[en]"), ("[en]", "[en]"), ("[en, zh]", "[zh, en]")])
def test_an_edition_may_gain_and_lose_a_language(demo: Path, first: str, then: str) -> None:
    text = demo.read_text(encoding="utf-8")
    for day, languages in (("2026-11-23", first), (DAY, then)):
        kept = re.sub(r"    (?:languages|address): .*\n", "", text)
        demo.write_text(kept.replace("    folder: ", f"    languages: {languages}\n    address: https://example.org/digest\n    folder: ", 1), encoding="utf-8")
        main(["run", "--config", str(demo), "--date", day, "--quiet"])
        assert main(["site", "build", "--config", str(demo)]) == 0
    out = demo.parent.parent / "out" / "demo"
    found = [finding for finding in findings(out, "https://example.org/digest", ()) if finding.kind != "language"]
    assert found == []


def test_what_only_this_network_knows_is_not_published(demo: Path) -> None:
    text = demo.read_text(encoding="utf-8")
    extra = "rsshub: {address: 'http://hub.example.net:1200', on: true}\nsources:\n  - {name: Hub, url: 'rsshub:/twitter/user/example'}\n"
    extra += "  - {name: Inside, url: 'http://10.1.2.3/feed'}\n  - {name: Wiki, url: 'http://wiki/feed'}\n"
    extra += "  - {name: Papers, url: 'https://papers.example.com/api', kind: hf-papers}\n"
    demo.write_text(text.replace("sources:\n", extra, 1), encoding="utf-8")
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    out = demo.parent.parent / "out" / "demo"
    assert [holding(out, words) for words in ("hub.example.net", "10.1.2.3", "http://wiki")] == [[], [], []]
    assert "papers.example.com" not in (out / "sources.opml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("web/line.html", "{% set", "{{ 1 / 0 }}{% set", "line.html:1: division by zero"),
        ("web/style.css", "body", "\udcff", "style.css cannot be read as UTF-8"),
        ("api/openapi.json", '"openapi"', "oops", "openapi.json: not JSON"),
        ("locale/zh.po", "%(number)s 篇", "%(nmber)s 篇", "zh.po: the placeholders of '%(nmber)s 篇' are wrong"),
        ("web/subject.html", "{% block body %}", "{% block body %}{{ words.month(main, 5) }}", "subject.html:"),
    ],
)
def test_whatever_is_wrong_with_a_template_is_said_with_its_name(
    demo: Path, capsys: pytest.CaptureFixture[str], name: str, old: str, new: str, said: str
) -> None:
    main(["run", "--config", str(demo), "--date", DAY, "--quiet"])
    digest(demo, "templates", "copy", name)
    path = demo.parent / "templates" / name
    path.write_bytes(path.read_text(encoding="utf-8").replace(old, new).encode("utf-8", "surrogateescape"))
    capsys.readouterr()
    assert digest(demo, "site", "build") in (1, 2)
    assert said in capsys.readouterr().err
