"""feeds.yaml: what is right loads; what is wrong is said all at once, with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from digest import wiring
from digest.cli.rule_examples import complaints
from digest.errors import ConfigError
from digest.settings.load import json_schema, load
from tests.conftest import ROOT

RIGHT = """\
editions:
  mine:
    title: {zh: 我的日报, en: Mine}
    topics: [speed]
sources:
  - {name: Blog, url: feed.xml}
topics:
  speed:
    title: {zh: 速度, en: Speed}
    words: [faster, 更快]
"""


def written(folder: Path, text: str, name: str = "feeds.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as error:
        load(written(folder, text))
    return str(error.value)


def test_a_short_file_with_plain_words_is_enough(tmp_path: Path) -> None:
    settings = load(written(tmp_path, RIGHT)).settings
    (label,) = wiring.labeller(settings).label_words("", "It gets FASTER.")
    assert (label.topic, label.is_in) == ("speed", True)


def test_all_complaints_come_at_once_with_place_and_nearest_name(tmp_path: Path) -> None:
    text = RIGHT.replace("timezone", "").replace("    topics: [speed]", "    topics: [sped]\n    timezone: Asia/Shangai\n    langages: [zh]")
    text = text.replace("{name: Blog, url: feed.xml}", "{name: Blog, url: feed.xml, trust: oficial}")
    lines = refused(tmp_path, text).splitlines()
    path = tmp_path / "feeds.yaml"
    assert any(line.startswith(f"{path}:5:5: editions.mine.timezone: not a time zone: 'Asia/Shangai'") for line in lines)
    assert any(line.startswith(f"{path}:6:5: editions.mine.langages: is not a known key; did you mean 'languages'?") for line in lines)
    assert any(line.startswith(f"{path}:8:") and "trust" in line and "'official'" in line for line in lines)
    assert any("there is no topic 'sped'; did you mean 'speed'?" in line and line.startswith(f"{path}:4:14") for line in lines)
    assert len(lines) == 4


def test_names_that_nobody_knows_are_complaints_with_the_nearest_one(tmp_path: Path) -> None:
    assert "there is no topic 'sped'; did you mean 'speed'?" in refused(tmp_path, RIGHT.replace("topics: [speed]", "topics: [sped]"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "keys with values"),
        ("a: [", ":1:"),
        ("a: 1\na: 2\n", ":2:1: not valid YAML"),
        (RIGHT.replace("sources:\n  - {name: Blog, url: feed.xml}\n", ""), "sources: is missing"),
        (RIGHT.replace("words: [faster, 更快]", "words: faster"), "topics.speed.words: must be a list"),
        (RIGHT.replace("en: Mine", "fr: Mien"), "title"),
        (RIGHT + "  - nonsense\n", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_said_in_words(tmp_path: Path, text: str, words: str) -> None:
    assert words in refused(tmp_path, text)


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="digest init"):
        load(tmp_path / "none.yaml")


def test_a_file_may_take_over_the_topics_of_another(tmp_path: Path) -> None:
    written(tmp_path, RIGHT, "parent.yaml")
    child = "extends: parent.yaml\neditions: {e: {title: {zh: 甲, en: E}, topics: [speed]}}\nsources: [{name: S, url: x}]\n"
    settings = load(written(tmp_path, child)).settings
    assert list(settings.topics) == ["speed"]
    assert list(settings.editions) == ["e"]


def test_wrong_expressions_are_found_before_anything_is_done(tmp_path: Path) -> None:
    settings = load(written(tmp_path, RIGHT.replace("faster, ", "'{gone} ~ x', "))).settings
    with pytest.raises(ConfigError, match="no group"):
        wiring.labeller(settings)


def test_examples_in_rules_are_run(tmp_path: Path) -> None:
    rules = '    rules:\n      - {find: faster, yes: [slower], no: ["faster"]}\n'
    assert len(complaints(load(written(tmp_path, RIGHT + rules)).settings)) == 2


def test_sources_through_rsshub_are_off_until_it_is_on(tmp_path: Path) -> None:
    text = RIGHT.replace("url: feed.xml", 'url: "rsshub:/twitter/user/x"')
    settings = load(written(tmp_path, text)).settings
    assert wiring.sources(settings, settings.editions["mine"]) == ([], ["Blog"])
    settings = load(written(tmp_path, text + 'rsshub: {address: "https://hub.example/", on: true}\n')).settings
    (source,), off = wiring.sources(settings, settings.editions["mine"])
    assert (source.url, off) == ("https://hub.example/twitter/user/x", [])


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("htp://x", "htp: is nothing that can be asked"),
        ("https://", "is not a whole address"),
        ("https://exa mple/f", "is not a whole address"),
        ("https://x.org:99999/f", "is not a whole address"),
        ("blog.example.org/feed.xml", "write https://blog.example.org/feed.xml"),
    ],
)
def test_an_address_that_nobody_can_ask_is_a_complaint(tmp_path: Path, url: str, words: str) -> None:
    assert words in refused(tmp_path, RIGHT.replace("url: feed.xml", f'url: "{url}"'))


@pytest.mark.parametrize("url", ["feeds/my.feed.xml", "https://[2001:db8::1]:8080/f", "file:///srv/x.xml", "rsshub:/github/trending", "notes.org"])
def test_every_other_address_is_taken(tmp_path: Path, url: str) -> None:
    assert load(written(tmp_path, RIGHT.replace("url: feed.xml", f'url: "{url}"'))).settings.sources[0].url == url


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("sources:\n", "database: mysql://x\nsources:\n", "database: is no database that is known"),
        ("    topics: [speed]", "    topics: [speed]\n    schedule: {wait_for: [Blok]}", "there is no source 'Blok'; did you mean 'Blog'?"),
        ("    topics: [speed]", '    topics: [speed]\n    schedule: {make_at: "25:00"}', "the hour at which it is made. For instance 08:30"),
    ],
)
def test_what_does_not_fit_is_said_in_words(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in refused(tmp_path, RIGHT.replace(old, new, 1))


@pytest.mark.parametrize("name", ["feeds.yaml", "examples/feeds.yaml"])
def test_the_shipped_files_are_right(name: str) -> None:
    settings = load(ROOT / name).settings
    assert complaints(settings) == []
    wiring.name_reader(settings)


def test_the_shipped_file_is_worth_using_from_day_one() -> None:
    settings = load(ROOT / "feeds.yaml").settings
    urls = [source.url for source in settings.sources]
    for category in ("cs.LG", "cs.CL", "cs.AI", "cs.CV", "cs.DC", "stat.ML"):
        assert f"https://rss.arxiv.org/rss/{category}" in urls
    assert sum(source.kind == "feed" and not source.url.startswith("rsshub:") for source in settings.sources) >= 25
    assert not settings.rsshub.on


@pytest.mark.parametrize("text", ['{ n: {["",ios: [[]]\n}\n}\n', "? {a: b}\n: c\n", "{{a: 1}: 2}", "a: !!int x"])
def test_odd_yaml_is_a_complaint(tmp_path: Path, text: str) -> None:
    (tmp_path / "feeds.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError):
        load(tmp_path / "feeds.yaml")


def test_the_schema_in_the_tree_is_current_and_named_in_the_first_line() -> None:
    assert (ROOT / "feeds.schema.json").read_text(encoding="utf-8") == json_schema()
    assert "$schema=feeds.schema.json" in (ROOT / "feeds.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(json_schema())["additionalProperties"] is False


def test_extends_is_followed_as_far_as_it_leads_and_never_in_a_circle(tmp_path: Path) -> None:
    frame = "editions: {e: {title: {zh: 甲, en: E}, topics: [speed]}}\nsources: [{name: S, url: x}]\n"
    written(tmp_path, RIGHT, "a.yaml")
    written(tmp_path, "extends: a.yaml\n" + frame, "b.yaml")
    assert list(load(written(tmp_path, "extends: b.yaml\n" + frame)).settings.topics) == ["speed"]
    written(tmp_path, "extends: feeds.yaml\n" + frame, "b.yaml")
    with pytest.raises(ConfigError, match="leads back"):
        load(tmp_path / "feeds.yaml")


def test_two_spellings_of_one_folder_are_one_folder(tmp_path: Path) -> None:
    second = "  other:\n    title: {zh: 乙, en: O}\n    topics: [speed]\n    folder: ./out\n"
    assert "same folder" in refused(tmp_path, RIGHT.replace("sources:", second + "sources:"))


def test_every_wrong_expression_is_named_with_its_place(tmp_path: Path) -> None:
    text = RIGHT.replace("words: [faster, 更快]", "words: ['(((', '{a}']\n    rules:\n      - {find: fine, unless: 'a ~'}") + "groups:\n  unused: ['b |']\n"
    loaded = load(written(tmp_path, text))
    lines = wiring.rule_complaints(loaded).splitlines()
    path = tmp_path / "feeds.yaml"
    assert [line.split(": ")[:2] for line in lines] == [
        [f"{path}:10:13", "topics.speed.words.0"],
        [f"{path}:10:20", "topics.speed.words.1"],
        [f"{path}:12:22", "topics.speed.rules.0.unless"],
        [f"{path}:14:12", "groups.unused.0"],
    ]


def test_a_key_is_guessed_by_its_beginning(tmp_path: Path) -> None:
    assert "did you mean 'window_days'?" in refused(tmp_path, RIGHT.replace("url: feed.xml}", "url: feed.xml, windw: 3}"))
