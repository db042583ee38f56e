"""The best of a week or a month as an issue of its own: every word was printed before in an issue of a day."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from digest.model import Article, Issue, Period, Section


def last_period(period: Period, day: date) -> tuple[date, date]:
    """(first day, last day) of the ISO week or month that ended last before the day."""
    if period == "week":
        first = day - timedelta(days=day.weekday() + 7)
        return first, first + timedelta(days=6)
    last = day.replace(day=1) - timedelta(days=1)
    return last.replace(day=1), last.replace(day=calendar.monthrange(last.year, last.month)[1])


def best_of(issues: Sequence[Issue], period: Period, last_day: date, most: int) -> Issue | None:
    """The hottest articles of the issues, at most so many, in the sections and the words of their issues; None without any."""
    if not any(issue.articles for issue in issues):
        return None
    newest = max(issues, key=lambda issue: issue.day)
    told: dict[str, tuple[Article, date]] = {}
    for issue in sorted(issues, key=lambda issue: issue.day):
        told |= {article.pick.story.key: (article, issue.day) for article in issue.articles if _is_in(article, newest)}
    ranked = sorted(told.values(), key=lambda pair: (-pair[0].pick.heat, pair[1], pair[0].pick.story.key))[:most]
    titles = {section.topic: section.title for issue in issues for section in issue.sections}
    sections = []
    for topic, title in titles.items():
        if own := tuple(article for article, _ in ranked if article.pick.story.topic == topic):
            sections.append(Section(topic=topic, title=title, articles=own))
    return replace(
        newest,
        period=period,
        day=last_day,
        days={article.pick.story.key: day for article, day in ranked},
        sections=tuple(sections),
        near_misses=(),
        coverage=(),
        entries_read=sum(issue.entries_read for issue in issues),
        arxiv_pause=None,
        tag_titles={tag: title for issue in issues for tag, title in issue.tag_titles.items()},
        letters={},
        since=min(issue.since for issue in issues),
    )


def _is_in(article: Article, newest: Issue) -> bool:
    """Whether it has words in every language of the newest issue; an edition may have gained one in between."""
    return {wording.language for wording in article.wordings} >= set(newest.languages)
