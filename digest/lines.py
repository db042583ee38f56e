"""Issues and articles as lists show them."""

from __future__ import annotations

from digest.model import Article, ArticleLine, Issue, IssueLine, Language, MentionKind


def issue_line(issue: Issue) -> IssueLine:
    """The issue as a list of issues shows it."""
    headlines: dict[Language, str] = {wording.language: wording.headline for wording in issue.articles[0].wordings} if issue.articles else {}
    return IssueLine(day=issue.day, languages=issue.languages, articles=len(issue.articles), headlines=headlines)


def article_lines(issue: Issue) -> tuple[ArticleLine, ...]:
    """Its articles as lists show them, in their order."""
    return tuple(_article_line(issue, place, article) for place, article in enumerate(issue.articles))


def _article_line(issue: Issue, place: int, article: Article) -> ArticleLine:
    story = article.pick.story
    names: dict[MentionKind, tuple[str, ...]] = {}
    for mention in article.mentions:
        if mention.text not in (known := names.get(mention.kind, ())):
            names[mention.kind] = (*known, mention.text)
    return ArticleLine(
        day=issue.day,
        story=story.key,
        place=place,
        heat=article.pick.heat,
        featured=article.pick.featured,
        tags=article.tags,
        source_name=story.lead.entry.source_name,
        trust=article.source.trust,
        at=story.lead.entry.at,
        told_at=issue.until,
        url=story.lead.entry.url,
        title=story.lead.entry.title,
        headlines={wording.language: wording.headline for wording in article.wordings},
        summaries={wording.language: wording.summary for wording in article.wordings},
        blurbs={wording.language: wording.blurb for wording in article.wordings},
        also_in=tuple(dict.fromkeys(entry.source_name for entry in story.also_seen_in)),
        names=names,
        claims=article.claims,
    )
