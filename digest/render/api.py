"""The archive for programs: static JSON below ``api/v1``, described by ``api/v1/openapi.json``."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Any

from digest import __version__
from digest.errors import RenderError
from digest.model import Article, Claim, Document, Entry, Issue, IssueLine, Shelf, SourceLine
from digest.render import places
from digest.render.environment import Templates, public_url, safe_url
from digest.render.pages import newest_of


class IssueApiRenderer:
    """Renders ``api/v1/issues/DAY.json``, and each article as ``YYYY/MM/DD/STORY.json`` beside its pages."""

    def __init__(self, templates: Templates) -> None:
        pass

    def render(self, issue: Issue, shelf: Shelf) -> Iterator[Document]:
        record = issue_record(issue)
        yield _json(f"api/v1/issues/{issue.day.isoformat()}", record)
        for article in record["articles"]:
            yield _json(f"{issue.folder}/{article['key']}", {"day": record["day"], "issue": record["key"], "article": article})


class ApiRenderer:
    """Renders ``latest``, ``issues``, ``topics``, ``sources`` and ``openapi`` below ``api/v1``, each as ``.json``."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def reach(self, days: Collection[date], lines: Sequence[IssueLine]) -> date:
        return lines[0].day

    def render(self, days: Collection[date], shelf: Shelf) -> tuple[Document, ...]:
        newest = newest_of(shelf)
        lines = [
            {"day": line.day.isoformat(), "articles": line.articles, "headlines": line.headlines, "issue": f"{newest.address}/api/v1/issues/{line.day}.json"}
            for line in shelf.lines
        ]
        topics = [
            {
                "name": subject.name,
                "title": {language: self._templates.topic_title(subject.name, language, newest) for language in newest.languages},
                "articles": subject.articles,
                "feeds": {language: f"{newest.address}/topics/{subject.key}.{language}.json" for language in newest.languages},
            }
            for subject in shelf.subjects
            if subject.folder == "topics"
        ]
        openapi = self._templates.render("api/openapi.json", issue=newest, version=__version__)
        return (
            _json("api/v1/latest", issue_record(shelf.recent[0])),
            _json("api/v1/issues", {"title": newest.title, "issues": lines}),
            _json("api/v1/topics", {"topics": topics}),
            _json("api/v1/sources", {"day": newest.day.isoformat(), "sources": [_source(line) for line in shelf.sources]}),
            _json("api/v1/openapi", _read(openapi)),
        )


def _read(openapi: str) -> Any:
    try:
        return json.loads(openapi)
    except ValueError as error:
        raise RenderError(f"templates/api/openapi.json: not JSON: {error}") from error


def _json(name: str, content: Any) -> Document:
    body = json.dumps(content, ensure_ascii=False, sort_keys=True) + "\n"
    return Document(format="json", language="zh+en", name=f"{name}.json", media_type="application/json", body=body.encode("utf-8"))


def _source(line: SourceLine) -> dict[str, Any]:
    source = line.source
    return {
        "name": source.name,
        "url": public_url(source),
        "kind": source.kind,
        "language": source.language,
        "trust": source.trust,
        "state": line.state,
        "reason": line.reason,
        "new_a_week": round(line.new_a_week, 1),
        "last_new_at": line.last_new_at.isoformat() if line.last_new_at else None,
    }


def issue_record(issue: Issue) -> dict[str, Any]:
    """An issue as ``openapi.json`` describes it (``Issue``)."""
    return {
        "key": issue.key,
        "day": issue.day.isoformat(),
        "title": issue.title,
        "languages": list(issue.languages),
        "timezone": issue.timezone,
        "pages": {language: f"{issue.address}/{places.issue(issue.day, language)}" for language in issue.languages},
        "read": {"since": issue.since.isoformat(), "until": issue.until.isoformat(), "entries": issue.entries_read},
        "articles": [_article(issue, article) for article in issue.articles],
        "near_misses": [
            {"title": miss.title, "url": safe_url(miss.url), "source": miss.source_name, "why": miss.why, "detail": miss.detail} for miss in issue.near_misses
        ],
        "coverage": [{"source": each.source_name, "state": each.state, "seen": each.seen, "kept": each.kept, "reason": each.reason} for each in issue.coverage],
        "arxiv_pause": {"why": issue.arxiv_pause.why, "next_day": issue.arxiv_pause.next_day.isoformat()} if issue.arxiv_pause else None,
    }


def _article(issue: Issue, article: Article) -> dict[str, Any]:
    story = article.pick.story
    return {
        "key": story.key,
        "pages": {language: f"{issue.address}/{places.article(issue.day, story.key, language)}" for language in issue.languages},
        "topic": story.topic,
        "tags": list(article.tags),
        "kind": story.lead.kind,
        "heat": article.pick.heat,
        "featured": article.pick.featured,
        "reasons": [{"why": reason.why, "points": reason.points} for reason in article.pick.reasons],
        "source": {"name": story.lead.entry.source_name, "trust": article.source.trust},
        "entry": _entry(story.lead.entry),
        "also_in": [{"source": entry.source_name, "url": safe_url(entry.url)} for entry in story.also_seen_in],
        "wordings": {
            wording.language: {"headline": wording.headline, "summary": wording.summary, "blurb": wording.blurb, "quotes": list(wording.quotes)}
            for wording in article.wordings
        },
        "claims": [_claim(claim) for claim in article.claims],
        "mentions": [{"kind": mention.kind, "text": mention.text} for mention in article.mentions],
        "written_by": article.written_by,
        "edited": article.is_edited,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "title": entry.title,
        "url": safe_url(entry.url),
        "authors": list(entry.authors),
        "language": entry.language,
        "published_at": entry.published_at.isoformat() if entry.published_at else None,
        "arxiv": entry.ids.arxiv,
        "doi": entry.ids.doi,
        "repository": entry.ids.repository,
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "metric": claim.metric,
        "low": claim.low,
        "high": claim.high,
        "unit": claim.unit,
        "direction": claim.direction,
        "bound": claim.bound,
        "baseline": claim.baseline,
        "setting": claim.setting,
        "quote": claim.quote,
    }
