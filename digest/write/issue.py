"""Picks to articles, articles to an issue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from digest.model import Article, ArxivPause, Assignment, Coverage, Draft, Issue, Language, NearMiss, Pick, Section, Source, Wording
from digest.write import grounding
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


def assign(pick: Pick, languages: Sequence[Language]) -> Assignment:
    """What a writer needs to put the pick into words: the claims of its lead, the names of all its entries, each once."""
    members = pick.story.entries
    found = {(mention.kind, mention.text): mention for labelled in reversed(members) for mention in reversed(labelled.mentions)}
    return Assignment(pick=pick, languages=tuple(languages), claims=members[0].claims, mentions=tuple(reversed(found.values())))


def article(assignment: Assignment, draft: Draft, sources: Mapping[str, Source]) -> Article:
    """The draft as it may be printed: without every sentence that the judge refuses, and in the source's own words alone where a
    language is missing or the languages do not carry the same figures."""
    story = assignment.pick.story
    refused = list(draft.refusals)
    wordings: list[Wording] = []
    for language in assignment.languages:
        wording = next((wording for wording in draft.wordings if wording.language == language), None)
        found = grounding.refusals(wording, assignment, draft.written_by) if wording else ()
        refused += found
        wordings.append(grounding.settled(wording, assignment, found) if wording else _verbatim(assignment, language))
    if differing := grounding.differing_figures(wordings):
        refused += [grounding.refusal(draft.written_by, wordings[0].language, "languages", "", why) for why in differing]
        wordings = [_verbatim(assignment, language) for language in assignment.languages]
    return Article(
        pick=assignment.pick,
        source=sources[story.lead.entry.source_name],
        claims=assignment.claims,
        mentions=assignment.mentions,
        tags=tuple(label.topic for label in story.lead.labels if label.is_in and label.topic != story.topic),
        wordings=tuple(wordings),
        written_by=draft.written_by,
        refusals=tuple(refused),
    )


def _verbatim(assignment: Assignment, language: Language) -> Wording:
    entry = assignment.pick.story.lead.entry
    return Wording(language=language, headline=entry.title, summary="", blurb="", quotes=best(entry, assignment.claims, 2))


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
