"""Picks to articles, articles to an issue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from digest.model import Article, ArxivPause, Claim, Coverage, Issue, Language, Mention, NearMiss, Pick, Section, Source, Story, Wording
from digest.ports import Writer
from digest.write.grounding import complaints
from digest.write.sentences import best


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionFrame:
    """What every issue of an edition has in common."""

    name: str
    title: Mapping[Language, str]
    timezone: str
    languages: tuple[Language, ...]
    address: str
    topics: tuple[str, ...]
    topic_titles: Mapping[str, Mapping[Language, str]]


def write_article(pick: Pick, languages: Sequence[Language], writer: Writer, sources: Mapping[str, Source]) -> Article:
    """The pick in words. A wording that the judge refuses is replaced by the source's own title and sentences."""
    story = pick.story
    claims = story.lead.claims
    mentions = _mentions(story)
    names = [labelled.entry.source_name for labelled in story.entries]
    wordings = []
    written_by = writer.name
    for wording in writer.write(pick, languages, claims, mentions):
        if complaints(wording, story, claims, mentions, names):
            wording = _verbatim(story, wording.language, claims)
            written_by = f"{writer.name}, in part the source"
        wordings.append(wording)
    return Article(
        pick=pick,
        source=sources[story.lead.entry.source_name],
        claims=claims,
        mentions=mentions,
        tags=tuple(label.topic for label in story.lead.labels if label.is_in and label.topic != story.topic),
        wordings=tuple(wordings),
        written_by=written_by,
    )


def _mentions(story: Story) -> tuple[Mention, ...]:
    """The names of all entries of the story, each once, those of the lead first."""
    found = {(mention.kind, mention.text): mention for labelled in reversed(story.entries) for mention in reversed(labelled.mentions)}
    return tuple(reversed(found.values()))


def _verbatim(story: Story, language: Language, claims: Sequence[Claim]) -> Wording:
    entry = story.lead.entry
    quotes = best(entry, claims, 2)
    return Wording(language=language, headline=entry.title, summary="", blurb="", quotes=quotes)


def compose(
    frame: EditionFrame,
    day: date,
    articles: Sequence[Article],
    near_misses: Sequence[NearMiss],
    coverage: Sequence[Coverage],
    entries_read: int,
    arxiv_pause: ArxivPause | None,
    since: datetime,
    until: datetime,
) -> Issue:
    """The issue: a section for each topic that has articles, in the order of the edition, articles hottest first."""
    sections = []
    for topic in frame.topics:
        own = [article for article in articles if article.pick.story.topic == topic]
        if own:
            sections.append(Section(topic=topic, title=dict(frame.topic_titles[topic]), articles=tuple(own)))
    return Issue(
        edition=frame.name,
        day=day,
        title=dict(frame.title),
        languages=frame.languages,
        timezone=frame.timezone,
        address=frame.address.rstrip("/"),
        sections=tuple(sections),
        near_misses=tuple(near_misses),
        coverage=tuple(coverage),
        entries_read=entries_read,
        arxiv_pause=arxiv_pause,
        tag_titles={tag: dict(frame.topic_titles[tag]) for article in articles for tag in article.tags},
        since=since,
        until=until,
    )
