"""The mail as bytes: what every reader's program must be able to read, and what standards ask."""

from __future__ import annotations

import email
import re
import string
from datetime import UTC, datetime
from email import policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.audience.addresses import address_hash, checked, normal
from digest.audience.links import Links
from digest.errors import AudienceError, ConfigError
from digest.model import MAIL_BYTES, Article, Issue, MailBody, Pick, Reason, Section, Wording
from digest.publish.message import Message, Personal, Sender, encoded_words
from digest.render.environment import Templates
from digest.render.mail_body import PREFERENCES, UNSUBSCRIBE, MailRenderer
from tests.builders import NOON, a_claim, a_labelled, a_source, a_story, an_entry, an_issue
from tests.conftest import ROOT
from tests.integration.test_pages import hostile_issue

PLACES = (UNSUBSCRIBE, PREFERENCES)
READER = Personal(address="reader@example.com", token="TOKEN", unsubscribe="https://d.example/u/TOKEN", preferences="https://d.example/p/TOKEN")
KEY, OLD = "k" * 30, "o" * 30


def a_sender(**changes: Any) -> Sender:
    fields: dict[str, Any] = {
        "address": "digest@example.org",
        "list_id": "training.digest.example.org",
        "archive": "https://digest.example.org/",
        "leave": "leave@example.org",
    }
    return Sender(**fields | changes)


def a_body(**changes: Any) -> MailBody:
    fields: dict[str, Any] = {
        "languages": ("zh",),
        "title": "训练加速日报 Training Digest",
        "subject": "训练最高快 1.9 倍 · 训练加速日报 11月24日",
        "text": "正文\n",
        "text_foot": f"退订：{UNSUBSCRIBE}\n修改：{PREFERENCES}\n",
        "html": "<table><tr>",
        "html_foot": f'<td><a href="{UNSUBSCRIBE}">退订</a></td></tr></table>',
        "articles": 1,
    }
    return MailBody(**fields | changes)


def parsed(body: MailBody, sender: Sender | None = None, reader: Personal = READER) -> tuple[bytes, EmailMessage]:
    raw = Message(body, sender or a_sender(), "training/2026-11-24", PLACES).bytes_for(reader, NOON)
    found = email.message_from_bytes(raw, policy=policy.default)
    assert isinstance(found, EmailMessage) and not found.defects and not any(part.defects for part in found.walk())
    return raw, found


def part(message: EmailMessage, kind: str) -> str:
    body = message.get_body((kind,))
    assert body is not None
    return str(body.get_content())


def test_text_comes_first_and_both_parts_are_the_readers() -> None:
    _, message = parsed(a_body())
    assert message.get_content_type() == "multipart/alternative"
    assert [each.get_content_type() for each in message.iter_parts()] == ["text/plain", "text/html"]
    assert "正文" in part(message, "plain") and "https://d.example/u/TOKEN" in part(message, "plain") and "https://d.example/p/TOKEN" in part(message, "plain")
    assert '<a href="https://d.example/u/TOKEN">退订</a>' in part(message, "html")
    assert "invalid" not in part(message, "plain") + part(message, "html")


def test_there_is_one_of_each_header_and_every_one_that_lists_need() -> None:
    raw, message = parsed(a_body(), a_sender(reply_to="editor@example.org"))
    names = [name.lower() for name in message]
    assert len(names) == len(set(names))
    assert set("from to subject date message-id reply-to list-id list-unsubscribe list-unsubscribe-post list-archive auto-submitted".split()) <= set(names)
    assert message["List-Unsubscribe"] == "<https://d.example/u/TOKEN>, <mailto:leave@example.org?subject=unsubscribe-TOKEN>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert message["List-Id"] == "<training.digest.example.org>"
    assert message["Date"].datetime == datetime(2026, 11, 24, 12, tzinfo=UTC)
    assert str(message["From"]) == "训练加速日报 Training Digest <digest@example.org>"
    assert all(
        len(line) <= 78 for line in raw.split(b"\r\n") if not line.startswith((b"List-Unsubscribe:", b"List-A", b"List-H"))
    ) and b"\n" not in raw.replace(b"\r\n", b"")
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))


def test_a_message_id_is_the_same_for_the_same_issue_and_reader_only() -> None:
    message = Message(a_body(), a_sender(), "training/2026-11-24", PLACES)
    other = Message(a_body(), a_sender(), "training/2026-11-25", PLACES)
    another = Personal(address="x@example.com", token="OTHER", unsubscribe="https://d.example/u/OTHER", preferences="https://d.example/p/OTHER")
    assert len({message.message_id(READER), other.message_id(READER), message.message_id(another)}) == 3
    assert message.message_id(READER) == Message(a_body(subject="x"), a_sender(), "training/2026-11-24", PLACES).message_id(READER)
    assert message.message_id(READER).endswith("@example.org>")


_MIXED = st.text(
    alphabet=st.sampled_from("训练加速日报，。：·—“”🚀é×–…" + string.printable.replace("\n", "").replace("\r", "").replace("\x0b", "").replace("\x0c", "")),
    max_size=300,
)


@given(_MIXED)
def test_any_subject_survives(subject: str) -> None:
    value = encoded_words(subject, "Subject")
    assert str(make_header(decode_header(value.replace("\r\n", "")))) == " ".join(subject.split())
    assert "?==?" not in value and not re.search(r"=\?utf-8\?[bq]\?\?=", value)
    assert all(len(line) <= 78 for line in value.split("\r\n"))
    for word in re.findall(r"=\?utf-8\?b\?([^?]*)\?=", value):
        import base64

        base64.b64decode(word).decode("utf-8")  # no character is cut


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_body_survives_the_splicing(text: str, html: str) -> None:
    text, html = (each.replace("\r", "").encode("utf-8", "ignore").decode() for each in (text, html))
    _, message = parsed(a_body(text=text, html=html))
    plain = part(message, "plain").replace("\r\n", "\n")
    assert plain.startswith(text.rstrip()) and plain.endswith("修改：https://d.example/p/TOKEN\n")
    assert part(message, "html").replace("\r\n", "\n").startswith(html.rstrip())


@pytest.mark.parametrize("name", ["address", "list_id", "archive", "reply_to", "leave"])
def test_no_setting_can_add_a_header(name: str) -> None:
    with pytest.raises(ConfigError, match="line break"):
        a_sender(**{name: "a@b\r\nBcc: everyone@example.com"})


def an_issue_of(number: int, words: int = 40) -> Issue:
    articles = []
    for place in range(number):
        said = f"训练加速 faster {place} " * words
        story = a_story(key=f"story{place}", entries=(a_labelled(entry=an_entry(key=f"Blog|{place}", text=said), claims=(a_claim(),)),))
        wordings = tuple(Wording(language=language, headline=f"标题 headline {place}", summary=said, blurb="值得一读 worth it") for language in ("zh", "en"))
        pick = Pick(story=story, reasons=(Reason(points=80 - place, why="on-topic"),))
        tags = ("moe",) if place % 2 else ("memory",)
        articles.append(Article(pick=pick, source=a_source(), claims=(a_claim(),), mentions=(), tags=tags, wordings=wordings, written_by="patterns"))
    sections = (Section(topic="training-acceleration", title={"zh": "训", "en": "T"}, articles=tuple(articles)),) if articles else ()
    return an_issue(sections=sections)


@pytest.fixture(scope="module")
def renderer() -> MailRenderer:
    return MailRenderer(Templates([ROOT / "templates"]))


@pytest.mark.parametrize("languages", [("zh",), ("en",), ("zh", "en")])
def test_html_is_inlined_and_says_its_language_everywhere(renderer: MailRenderer, languages: Any) -> None:
    body = renderer.render(an_issue_of(3), languages)
    html = body.html + body.html_foot
    assert html.count("<style") == 1 and "@media (prefers-color-scheme: dark)" in html and "@import" not in html
    assert len(re.findall(r"<style[^>]*>(.*?)</style>", html, re.DOTALL)[0]) < 8_000
    assert 'style="' in html and html.count("<h1") == 1 and "<title>" in html
    assert html.count("<table") == html.count('role="presentation"') == 2
    tongues = {"zh": "zh-CN", "en": "en"}
    assert f'<html lang="{tongues[languages[0]]}" dir="ltr"' in html
    for child in re.findall(r"<body[^>]*>\s*(<\w+[^>]*>)", html) + re.findall(r"</div>\s*(<table[^>]*>)", html)[:1]:
        assert "lang=" in child and "dir=" in child
    for language in languages:
        assert f'lang="{tongues[language]}"' in html and "headline 0" in html
    sizes = [float(size) for size in re.findall(r"font-size:\s*([\d.]+)px", html)]
    assert min(size for size in sizes if size > 1) >= 14
    assert "<script" not in html and "<form" not in html and "<svg" not in html and "<img" not in html


def test_the_sender_has_the_name_of_the_readers_own_language(renderer: MailRenderer) -> None:
    assert [renderer.render(an_issue_of(1), languages).title for languages in (("zh",), ("en",), ("en", "zh"))] == [
        "训练加速日报",
        "Training Digest",
        "Training Digest",
    ]


def test_the_tail_of_a_long_issue_moves_to_the_web(renderer: MailRenderer) -> None:
    body = renderer.render(an_issue_of(90, 60), ("zh", "en"))
    assert 60_000 < len((body.html + body.html_foot).encode()) <= MAIL_BYTES + 500
    assert "more on the web" in body.html and "网页上还有" in body.text
    assert "headline 89" in body.html and "story89.zh.html" in body.html
    headlines = [int(number) for number in re.findall(r"标题 headline (\d+)", body.text)]
    assert sorted(set(headlines)) == list(range(90))


def test_topics_choose_the_articles_and_a_quiet_day_says_so(renderer: MailRenderer) -> None:
    body = renderer.render(an_issue_of(4), ("en",), ("moe",))
    assert body.articles == 2 and "headline 1" in body.html and "headline 0" not in body.html
    assert body.subject.startswith("标题 headline 1 · Training Digest Nov 24")
    quiet = renderer.render(an_issue_of(0), ("zh",))
    assert quiet.articles == 0 and quiet.subject.startswith("今天没有入选内容 · ") and "今天没有入选内容。" in quiet.html and "今天没有入选内容。" in quiet.text


def test_nothing_of_a_feed_is_markup_in_a_mail(renderer: MailRenderer) -> None:
    issue: Any = hostile_issue("\x85\u202e")
    body = renderer.render(issue, ("zh", "en"))
    assert "<script" not in body.html and 'href="javascript' not in body.html
    assert not re.search("[\x80-\x9f\u202e]", body.html + body.text)


def test_a_link_stands_for_one_reader_and_outlives_its_key() -> None:
    token = Links("https://d.example/m/", [OLD]).token(17)
    links = Links("https://d.example/m/", [KEY, OLD])
    assert links.reader(token) == 17 and links.reader(links.token(17)) == 17
    assert links.unsubscribe(token) == f"https://d.example/m/u/{token}"
    for bad in (token[:-1], token + "x", "", "MTc.x", Links("https://d.example", ["z" * 30]).token(17)):
        with pytest.raises(AudienceError):
            links.reader(bad)
    with pytest.raises(ConfigError, match="openssl"):
        Links("https://d.example", ["short"])


@pytest.mark.parametrize(
    ("one", "other"), [("A.B+news@Gmail.com", "ab@googlemail.com"), ("Reader@EXAMPLE.com", "reader@example.com"), ("x+1@example.com", "x@example.com")]
)
def test_two_spellings_of_a_mailbox_are_one(one: str, other: str) -> None:
    assert normal(one) == normal(other) and address_hash(one) == address_hash(other)


@pytest.mark.parametrize(
    "text", ["", "x", "a@b@c.com", "a b@example.com", "a@example.com\r\nBcc: b@example.com", "a@-x.com", "甲@example.com", "a" * 70 + "@example.com"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(AudienceError):
        checked(text)


def test_an_address_is_written_as_mail_wants_it() -> None:
    assert checked("  Reader@Example.COM ") == "Reader@example.com"
    assert checked("a@例子.com") == "a@xn--fsqu00a.com"
