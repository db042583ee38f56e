"""Bytes to entries: encodings, dates, documents, markup, identity. Feeds are written here; each says why it exists."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digest.errors import ParseError
from digest.parse import hf_papers, syndication
from digest.parse.arxiv import split_authors
from digest.parse.dates import resolve
from digest.parse.encoding import decode
from digest.parse.markup import plain, plain_title, readable_latex
from tests.builders import NOON, a_download, a_source


def rss(*items: str, head: str = "") -> str:
    return f'<?xml version="1.0"?>{head}<rss version="2.0"><channel><title>T</title><link>https://site.example/</link>{"".join(items)}</channel></rss>'


def item(title: str = "A", link: str = "https://site.example/a", extra: str = "") -> str:
    return f"<item><title>{title}</title><link>{link}</link>{extra}</item>"


@pytest.mark.parametrize(
    ("raw", "zone", "expected", "rule"),
    [
        ("Tue, 24 Nov 2026 00:00:00 -0500", "UTC", "2026-11-24T05:00", "rfc822"),
        ("Tue, 24 Nov 26 10:00 GMT", "UTC", "2026-11-24T10:00", "rfc822"),
        ("Seg, 21 Set 2026 19:42:40 -0300", "UTC", "2026-09-21T22:42", "rfc822"),
        ("24 Nov 2026 14:20:00 CST", "Asia/Shanghai", "2026-11-24T06:20", "rfc822"),
        ("24 Nov 2026 14:20:00 CST", "UTC", "2026-11-24T20:20", "rfc822"),
        ("Fri, 17 May 2019 06:00:00 BST", "Europe/London", "2019-05-17T05:00", "rfc822"),
        ("2026-11-24T01:31:00.123Z", "UTC", "2026-11-24T01:31", "iso"),
        ("2026-11-24 08:00:00 +0800", "UTC", "2026-11-24T00:00", "iso"),
        ("2020/1/10 14:33:00", "Asia/Shanghai", "2020-01-10T06:33", "slash"),
        ("2026年11月20日 08:00", "Asia/Shanghai", "2026-11-20T00:00", "chinese"),
        ("November 24, 2026 at 3:05 PM", "UTC", None, "seen"),
        ("November 24, 2026 3:05 PM", "UTC", "2026-11-24T15:05", "month-first"),
        ("2026-11-23T24:00:00Z", "UTC", "2026-11-24T00:00", "iso"),
        ("1479974400", "UTC", None, "seen"),
        ("Thu, 01 Jan 1970 08:00:00 +0800", "UTC", None, "seen"),
        ("2031-01-01", "UTC", None, "seen"),
        ("", "UTC", None, "seen"),
        (None, "UTC", None, "seen"),
    ],
)
def test_dates_are_read_by_the_rule_that_fits(raw: str | None, zone: str, expected: str | None, rule: str) -> None:
    moment, won = resolve(raw, zone, NOON)
    assert (moment and moment.strftime("%Y-%m-%dT%H:%M"), won) == (expected, rule)


@given(st.text(max_size=60))
def test_no_date_crashes_and_none_is_impossible(raw: str) -> None:
    moment, _ = resolve(raw, "Asia/Shanghai", NOON)
    assert moment is None or datetime(1990, 1, 1, tzinfo=UTC) <= moment


@pytest.mark.parametrize(
    ("body", "charset", "text", "name"),
    [
        ("训练加速".encode(), None, "训练加速", "utf-8"),
        ("\ufeff训练".encode("utf-16"), None, "\ufeff训练", "utf-16-le"),
        ('<?xml version="1.0" encoding="gb2312"?><t>镕基</t>'.encode("gb18030"), None, "镕基", "gb18030"),
        ("<t>训练</t>".encode("gbk"), "gb2312", "训练", "gb18030"),
        ('<?xml version="1.0" encoding="shift_jis"?><t>①髙</t>'.encode("cp932"), None, "①髙", "cp932"),
        ('<?xml version="1.0" encoding="iso-8859-1"?><t>“Ü”</t>'.encode("cp1252"), None, "“Ü”", "cp1252"),
        ('<?xml version="1.0" encoding="nonsense"?><t>é</t>'.encode(), None, "é", "utf-8"),
    ],
)
def test_encodings_are_decided_before_parsing(body: bytes, charset: str | None, text: str, name: str) -> None:
    decoded, encoding, _ = decode(body, charset)
    assert text in decoded
    assert encoding == name


def test_a_cut_character_does_not_turn_a_utf8_feed_into_mojibake() -> None:
    decoded, encoding, is_certain = decode("训练加速与推理".encode() * 10 + b"\xe8\xae", None)
    assert decoded.startswith("训练加速与推理")
    assert (encoding, is_certain) == ("utf-8", False)


@given(st.binary(max_size=300))
def test_any_bytes_decode(body: bytes) -> None:
    assert isinstance(decode(body)[0], str)


def test_html_becomes_lines_of_text_and_scripts_vanish() -> None:
    assert plain("<p>One &amp; two</p><p>three<br>four</p><script>alert(1)</script>") == "One & two\nthree\nfour"


def test_a_title_keeps_a_bare_less_than_sign() -> None:
    assert plain_title("p &lt; 0.05 and <b>x</b>") == "p < 0.05 and x"


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"up to 2.9$\times$ and 48-52\%", "up to 2.9× and 48-52%"),
        (r"Nikolas N\"usken, Poincar\'{e}, {\L}ukasz, Erd\H{o}s", "Nikolas Nüsken, Poincaré, Łukasz, Erdős"),
        (r"\textbf{Fast} and \emph{lean}", "Fast and lean"),
        (r"a rate of $O(1/\sqrt{T})$", r"a rate of $O(1/\sqrt{T})$"),
        (r"costs \$5", "costs $5"),
    ],
)
def test_latex_becomes_readable_and_mathematics_stays(latex: str, text: str) -> None:
    assert readable_latex(latex) == text


def test_arxiv_leads_types_and_authors_are_understood() -> None:
    # arXiv's own layout: the lead before the abstract, one string of authors, replace-cross.
    body = rss(
        item(
            r"On $\alpha$-Training",
            "https://arxiv.org/abs/2611.00001",
            "<description>arXiv:2611.00001v2 Announce Type: replace-cross \nAbstract: We train\nfaster.</description>"
            "<guid isPermaLink='false'>oai:arXiv.org:2611.00001v2</guid><dc:creator xmlns:dc='http://purl.org/dc/elements/1.1/'>A. One, B. Two, C. Three Jr.</dc:creator>",
        )
    )
    (entry,) = syndication.parse(a_download(body, source=a_source(kind="arxiv"))).entries
    assert (entry.ids.arxiv, entry.revision, entry.text, entry.title) == ("2611.00001", "replaced", "We train faster.", "On α-Training")
    assert entry.authors == ("A. One", "B. Two", "C. Three Jr.")


def test_escaped_anchors_in_old_author_strings_are_taken_off() -> None:
    assert split_authors(['<a href="http://x">Ann Lee</a>, <a href="http://y">Bo Li</a>']) == ("Ann Lee", "Bo Li")


def test_a_repeated_guid_does_not_swallow_entries_and_a_repeated_entry_does_not_double() -> None:
    # All items with one guid: told apart by address. The third repeats the second.
    guid = "<guid isPermaLink='false'>same</guid>"
    body = rss(item("A", "https://s.example/a", guid), item("B", "https://s.example/b", guid), item("B", "https://s.example/b", guid))
    entries = syndication.parse(a_download(body)).entries
    assert [entry.title for entry in entries] == ["A", "B"]
    assert len({entry.key for entry in entries}) == 2


def test_keys_do_not_depend_on_the_title_or_the_order() -> None:
    first = syndication.parse(a_download(rss(item("A"), item("B", "https://site.example/b")))).entries
    second = syndication.parse(a_download(rss(item("B!", "https://site.example/b"), item("A!")))).entries
    assert {entry.key for entry in first} == {entry.key for entry in second}


def test_relative_links_start_at_the_site_not_at_the_feed() -> None:
    (entry,) = syndication.parse(a_download(rss(item(link="/post/1")))).entries
    assert entry.url == "https://site.example/post/1"


def test_a_link_that_is_a_script_is_no_address() -> None:
    (entry,) = syndication.parse(a_download(rss(item(link="javascript:alert(1)")))).entries
    assert entry.url == ""


def test_a_document_cut_in_the_middle_keeps_its_whole_entries() -> None:
    body = rss(item("Whole"), item("Cut", "https://site.example/c"))[:-40]
    parsed = syndication.parse(a_download(body))
    assert [entry.title for entry in parsed.entries] == ["Whole"]
    assert "cut off" in parsed.warnings[0]


def test_declared_entities_are_written_out_and_outside_ones_never_opened() -> None:
    head = '<!DOCTYPE rss [<!ENTITY co "Example &#169; Co"><!ENTITY ok "Example Co"><!ENTITY file SYSTEM "file:///etc/passwd">]>'
    (entry,) = syndication.parse(a_download(rss(item("&ok; &file; &nbsp;x"), head=head))).entries
    assert entry.title == "Example Co &file; x"


def test_an_entity_bomb_stays_small() -> None:
    head = '<!DOCTYPE rss [<!ENTITY a "' + "x" * 500 + '">]>'
    with pytest.raises(ParseError, match="beyond bounds"):
        syndication.parse(a_download(rss(item("&a;" * 3000), head=head)))


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html><body>hello</body></html>", "web page"),
        (b"<OAI-PMH><ListRecords/></OAI-PMH>", "not a feed"),
        (b'{"a": 1}', "neither JSON Feed"),
        (b'{"version": "https://jsonfeed.org/version/1", "items": ', "not JSON"),
        (b"\x1f\x8b\x08rest", "compressed"),
    ],
)
def test_what_is_no_feed_is_said_to_be_none(body: bytes, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint):
        syndication.parse(a_download(body))


def test_an_empty_feed_is_not_an_error() -> None:
    assert syndication.parse(a_download(rss())).entries == ()


def test_a_json_feed_is_recognised_whatever_the_kind_says() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "J",
        "home_page_url": "https://j.example/",
        "authors": [{"name": "Feed Author"}],
        "items": [{"id": 7, "url": "/x", "content_html": "<p>Hi</p>", "author": {"name": "Old Style"}}, {"id": "8", "content_text": "Text"}],
    }
    first, second = syndication.parse(a_download(json.dumps(feed))).entries
    assert (first.url, first.text, first.authors) == ("https://j.example/x", "Hi", ("Old Style",))
    assert second.authors == ("Feed Author",)


def test_daily_papers_become_arxiv_entries() -> None:
    rows = [
        {"paper": {"id": "2611.00002", "title": "T", "summary": "S", "authors": [{"name": "A"}], "publishedAt": "2026-11-23T00:00:00.000Z"}},
        {"no": "paper"},
    ]
    parsed = hf_papers.parse(a_download(json.dumps(rows), source=a_source(kind="hf-papers")))
    assert parsed.entries[0].ids.arxiv == "2611.00002"
    assert parsed.warnings == ("1 rows without a paper",)


def test_the_language_is_that_of_the_words() -> None:
    entries = syndication.parse(a_download(rss(item("训练加速的新方法"), item("Plain English", "https://site.example/b")))).entries
    assert [entry.language for entry in entries] == ["zh", "en"]


@given(st.text(max_size=400))
def test_no_text_breaks_the_parser(text: str) -> None:
    with contextlib.suppress(ParseError):
        syndication.parse(a_download(rss(f"<item><title>{text}</title></item>")))


def test_a_document_that_the_feed_reader_stumbles_over_is_a_parse_error() -> None:
    with pytest.raises(ParseError, match="too broken to read"):
        syndication.parse(a_download("<item<rss<channel<link</item></link</item>"))


def test_arxiv_s_error_in_the_shape_of_a_feed_is_an_error() -> None:
    with pytest.raises(ParseError, match="did not understand"):
        syndication.parse(a_download("<rss version='2.0'><channel><title>Feed error for query &quot;cs.XX&quot;</title></channel></rss>"))


@pytest.mark.parametrize("unit", ["<!doctype [", "<![CDATA[", "<!--", "&", "<item", "<?xml "])
def test_no_repetition_makes_reading_slow(unit: str) -> None:
    """No clock is needed to see a quadratic search: it would take minutes over these."""
    body = "<rss>" + " " * 5000 + unit * (250_000 // len(unit))
    with contextlib.suppress(ParseError):
        assert len(syndication.parse(a_download(body)).entries) < len(body)


@pytest.mark.parametrize(
    "item",
    [
        '{"id": "\\ud800", "url": "https://a.example/1", "title": "T"}',
        '{"id": "1", "url": "http://[x/", "title": "T"}',
        '{"id": "1", "title": "T", "content_html": "<p>\\udfff x</p>"}',
    ],
)
def test_one_odd_item_costs_no_feed(item: str) -> None:
    body = '{"version": "https://jsonfeed.org/version/1.1", "title": "F", "items": [ITEM, {"id": "2", "title": "Fine"}]}'.replace("ITEM", item)
    parsed = syndication.parse(a_download(body))
    assert [entry.title for entry in parsed.entries][-1] == "Fine"
    for entry in parsed.entries:
        f"{entry.key}{entry.text}{entry.url}".encode()


def test_a_nul_in_an_address_is_left_out() -> None:
    parsed = syndication.parse(a_download("<rss><channel><item><title>T</title><link>https://a.example/x\x00y</link></item></channel></rss>"))
    assert "\x00" not in parsed.entries[0].url
    assert (
        syndication.parse(a_download('{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "https://a.example/\\u0000"}]}'))
        .entries[0]
        .url
        == "https://a.example/"
    )
