"""An editor's hand on a composed issue: pinned, dropped, ordered, merged, reworded. The archived issue stays as it was composed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from digest.model import Article, Desk, Draft, Issue, Language, Problem, Section, Source
from digest.phrase import Phrase
from digest.write import grounding
from digest.write.issue import article, assign


def apply(issue: Issue, desk: Desk, sources: Mapping[str, Source]) -> tuple[Issue, list[Problem]]:
    """The issue as the editor wants it, and what is worth a look: keys that no article has, edits that undo each other, wordings that
    the judge would refuse.

    Pinned articles come first and are featured, then those named in ``order``, then the others by heat. An entry that is split off becomes
    an article in its own words, of a source of ``sources``. A merged story leaves its sources to the other one. Rewords are kept whatever
    the judge says.
    """
    articles = {article.pick.story.key: article for article in issue.articles}
    for split in desk.split:
        if split.story in articles:
            articles |= _split(articles[split.story], split.entries, sources, issue.languages)
    warnings = _unknown(desk, articles) + _idle(desk, articles)
    for merge in desk.merge:
        if merge.into in articles:
            for key in merge.stories:
                if key in articles and key != merge.into:
                    articles[merge.into] = _merged(articles[merge.into], articles.pop(key))
    for key in desk.drop:
        articles.pop(key, None)
    for key in {reworded.story for reworded in desk.reword} & set(articles):
        articles[key], found = _reworded(articles[key], desk)
        warnings += found
    for key in desk.pin:
        if key in articles:
            articles[key] = replace(articles[key], pick=replace(articles[key].pick, featured=True))
    wanted = [*desk.pin, *(key for key in desk.order if key not in desk.pin)]
    ranked = sorted(articles, key=lambda key: wanted.index(key) if key in wanted else len(wanted))
    sections = []
    for section in issue.sections:
        own = [articles[key] for key in ranked if articles[key].pick.story.topic == section.topic]
        if own:
            sections.append(Section(topic=section.topic, title=section.title, articles=tuple(own)))
    return replace(
        issue, sections=tuple(sections), letters={language: desk.letters[language] for language in issue.languages if language in desk.letters}
    ), warnings


def _split(kept: Article, keys: Collection[str], sources: Mapping[str, Source], languages: Sequence[Language]) -> dict[str, Article]:
    """The article without those entries, and one for each of them; its lead stays."""
    story = kept.pick.story
    leaving = [member for member in story.entries[1:] if member.entry.key in keys and member.entry.source_name in sources]
    staying = tuple(member for member in story.entries if member not in leaving)
    found = {story.key: replace(kept, pick=replace(kept.pick, story=replace(story, entries=staying)), is_edited=True)}
    for member in leaving:
        alone = replace(story, key=split_key(member.entry.key), entries=(member,))
        assignment = assign(replace(kept.pick, story=alone, featured=False), languages)
        found[alone.key] = replace(article(assignment, Draft(written_by="editor", wordings=()), sources), is_edited=True)
    return found


def split_key(entry_key: str) -> str:
    """The key of a story that an editor split off: like others it is safe in addresses, and the same every time."""
    return sha256(f"split:{entry_key}".encode()).hexdigest()[:12]


def _unknown(desk: Desk, articles: Mapping[str, Article]) -> list[Problem]:
    named = [
        *desk.pin,
        *desk.drop,
        *desk.order,
        *(split.story for split in desk.split),
        *(key for merge in desk.merge for key in (merge.into, *merge.stories)),
        *(reworded.story for reworded in desk.reword),
    ]
    return [
        Problem(step="edits", subject=key, message=Phrase("no article of the issue has this key; `digest show --keys` lists them"))
        for key in dict.fromkeys(named)
        if key not in articles
    ]


def _idle(desk: Desk, articles: Mapping[str, Article]) -> list[Problem]:
    """Edits that another edit undoes."""
    changed = {*desk.pin, *(merge.into for merge in desk.merge), *(reworded.story for reworded in desk.reword)}
    dropped = Phrase("it is dropped, so that pinning it, rewording it or merging others into it changes nothing")
    own = Phrase("a story cannot be merged into itself")
    found = [(key, dropped) for key in desk.drop if key in changed]
    found += [(merge.into, own) for merge in desk.merge if merge.into in merge.stories]
    return [Problem(step="edits", subject=key, message=message) for key, message in dict.fromkeys(found) if key in articles]


def _merged(kept: Article, other: Article) -> Article:
    story = replace(kept.pick.story, entries=(*kept.pick.story.entries, *other.pick.story.entries))
    return replace(kept, pick=replace(kept.pick, story=story))


def _reworded(article: Article, desk: Desk) -> tuple[Article, list[Problem]]:
    wordings = list(article.wordings)
    warnings: list[Problem] = []
    assignment = assign(article.pick, [wording.language for wording in wordings])
    for reworded in desk.reword:
        if reworded.story != article.pick.story.key:
            continue
        for place, wording in enumerate(wordings):
            if wording.language == reworded.language:
                changes = {part: text for part in ("headline", "summary", "blurb") if (text := getattr(reworded, part)) is not None}
                wordings[place] = replace(wording, **changes)
                warnings += [
                    Problem(
                        step="edits",
                        subject=f"{reworded.story} ({refusal.language})",
                        message=Phrase("“%(words)s”: %(why)s", words=refusal.words, why=refusal.reason),
                    )
                    for refusal in grounding.refusals(wordings[place], assignment, "editor")
                    if any(refusal.words in text for text in changes.values())
                ]
    warnings += [Problem(step="edits", subject=article.pick.story.key, message=why) for why in grounding.differing_figures(wordings)]
    return replace(article, wordings=tuple(wordings), is_edited=True), warnings
