"""Hugging Face daily papers: the JSON of ``https://huggingface.co/api/daily_papers``."""

from __future__ import annotations

import json
from typing import Any

from digest.errors import ParseError
from digest.model import Download, Parsed
from digest.parse.assemble import Raw, assemble
from digest.parse.encoding import decode
from digest.parse.markup import readable_latex
from digest.text import one_line

ENTRY_LIMIT = 500


def parse(download: Download) -> Parsed:
    """One entry a paper, linked to its arXiv page. Raises ParseError for another answer."""
    text, encoding, _ = decode(download.body, download.charset)
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"not JSON: {str(error)[:120]}") from error
    if not isinstance(rows, list):
        raise ParseError("not the daily papers of Hugging Face: a list of papers is expected")
    papers = [row for row in rows[:ENTRY_LIMIT] if isinstance(row, dict) and isinstance(row.get("paper"), dict)]
    unread = min(len(rows), ENTRY_LIMIT) - len(papers)
    return Parsed(
        entries=assemble([_raw(row) for row in papers if _word(row["paper"], "id")], download),
        format="hf-papers",
        encoding=encoding,
        title="Hugging Face Daily Papers",
        warnings=(f"{unread} rows without a paper",) if unread else (),
    )


def _raw(row: dict[str, Any]) -> Raw:
    paper = row["paper"]
    authors = paper.get("authors") if isinstance(paper.get("authors"), list) else []
    return Raw(
        guid=f"hf:{_word(paper, 'id')}",
        link=f"https://arxiv.org/abs/{_word(paper, 'id')}",
        title=one_line(readable_latex(_word(paper, "title") or _word(row, "title"))),
        text=one_line(readable_latex(_word(paper, "summary") or _word(row, "summary"))),
        authors=tuple(one_line(_word(author, "name")) for author in authors if isinstance(author, dict) and _word(author, "name")),
        date=_word(paper, "submittedOnDailyAt") or _word(row, "publishedAt") or _word(paper, "publishedAt"),
    )


def _word(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""
