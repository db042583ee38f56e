"""A brief in English: headline, summary of two to four sentences, one line for whom and what."""

from __future__ import annotations

import re
from collections.abc import Sequence

from digest.model import Claim
from digest.text import is_han
from digest.write import figures
from digest.write.brief import Brief
from digest.write.phrases import KEPT, KINDS


def headline(brief: Brief) -> str:
    """The name of the work and its first figure, else what it is; empty when only the source's own title can say it."""
    subject = brief.subject or _short_title(brief)
    if brief.claims:
        phrase = figures.phrase(brief.claims[0], "en")
        return f"{subject}: {phrase}" if subject else _capital(phrase)
    if brief.subject and brief.what["en"]:
        return f"{brief.subject}: {brief.what['en']}"
    return ""


def _short_title(brief: Brief) -> str:
    name = re.split(r"[:：]", brief.entry.title)[0].strip()
    return name if 0 < len(name) <= 64 and not is_han(name) else ""


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def summary(brief: Brief, own: Sequence[str], untold: Sequence[int]) -> str:
    """What it is, what it claims, what that does not cost, whether there is code. ``own`` are the source's sentences in English, and
    ``untold`` the places of the claims that they do not tell."""
    if own:
        return " ".join([*own, *(_capital(part) + "." for part in results(brief, untold))])
    parts = [_opening(brief), *results(brief, untold)]
    if len(parts) < 3 and (names := [*brief.models, *brief.hardware]):
        parts.append(f"It mentions {figures.listed(names)}")
    if brief.code:
        parts.append("The code is public" if brief.code == "open" else "The code is promised")
    return " ".join(_capital(part) + "." for part in parts if part)


def _opening(brief: Brief) -> str:
    subject, what, topic = brief.subject, brief.what["en"], brief.topic["en"]
    source = brief.entry.source_name
    if subject and what:
        article = "an" if what[:1].lower() in "aeiou" else "a"
        return brief.choose(f"{subject} is {article} {what}", f"{source} reports on {subject}, {article} {what}")
    if subject:
        return brief.choose(f"{subject} is about {topic}", f"{source} writes about {subject}; the subject is {topic}", f"{subject} addresses {topic}")
    kind = KINDS["en"][brief.kind]
    if brief.trust == "aggregator" and brief.kind != "news":  # the work is not its own
        return f"{source} reports on {'an' if kind[:1] in 'aeiou' else 'a'} {kind}; the subject is {topic}"
    return brief.choose(f"this {kind} from {source} is about {topic}", f"{source} reports on {topic}")


def results(brief: Brief, places: Sequence[int]) -> list[str]:
    """The figures at those places, as sentences without their full stop."""
    told: list[str] = []
    for place in places:
        claim = brief.claims[place]
        against, where = brief.baselines["en"][place], brief.settings["en"][place]
        clause = figures.clause(claim)
        if earlier := figures.origin(claim, "en"):
            clause += f", from {earlier}"
        if where and where not in brief.settings["en"][:place]:
            clause += f" on {where}"
        if against and against not in brief.baselines["en"][:place]:
            clause = brief.choose(f"compared with {against}, {clause}", f"{clause}, measured against {against}", f"against {against}, {clause}")
        told.append(clause)
    if told and brief.kept:
        noun, way = brief.kept
        told[0] += ", " + KEPT["en"][noun][way]
    if not told:
        return []
    who = {"official": "by the maker's own figures, ", "aggregator": "as retold there, "}.get(brief.trust, "") if brief.kind != "paper" else ""
    first = (
        told[0]
        if brief.baselines["en"][places[0]]
        else (who or brief.choose("the source reports that ", "by its own account, ", "its figures say that ")) + told[0]
    )
    return [first, "; ".join(told[1:])] if told[1:] else [first]


def blurb(brief: Brief) -> str:
    """For whom, what they gain, and the caveat that matters, in one sentence."""
    audience = brief.audience["en"]
    if not brief.claims:
        tail = "; the code is public" if brief.code == "open" else ""
        subject = brief.subject or "this"
        return _capital(
            brief.choose(
                f"An idea for {audience}{tail}.",
                f"Worth a look for {audience}{tail}.",
                f"{audience} can see what {subject} does{tail}.",
                f"{subject} is one for {audience}{tail}.",
            )
        )
    claim = brief.claims[0]
    gain = figures.phrase(claim, "en") + _against(brief)
    caveat = _caveat(brief, claim)
    with_subject = f"{brief.subject} offers {gain}" if brief.subject and claim.unit in ("x", "%") else gain
    return _capital(
        brief.choose(
            f"For {audience}: {gain}{caveat}.",
            f"{with_subject}{caveat}, which {audience} can check on their own task."
            if not caveat.startswith(" (")
            else f"{with_subject}{caveat}; {audience} can check it on their own task.",
            f"Worth the time of {audience}: {gain}{caveat}.",
            f"{gain}{caveat}: one for {audience}.",
            f"{audience} may want to read this: {gain}{caveat}.",
            f"If you are among the {audience}: {gain}{caveat}."
            if audience.startswith(("teams", "engineers", "researchers"))
            else f"For {audience}, worth reading: {gain}{caveat}.",
        )
    )


def _against(brief: Brief) -> str:
    if earlier := figures.origin(brief.claims[0], "en"):
        return f" (from {earlier})"
    against = brief.baselines["en"][0]
    word = "than" if " faster" in figures.phrase(brief.claims[0], "en") else "against"
    return f" {word} {against}" if against else ""


def _caveat(brief: Brief, claim: Claim) -> str:
    """The first that holds: a best case, a place where it was measured, what is kept, code."""
    where = brief.settings["en"][0]
    if claim.bound == "up_to":
        return brief.choose(" (a maximum, not an average)", " (an upper bound)")
    if where:
        return f", on {where}"
    if brief.kept:
        noun, way = brief.kept
        return ", " + KEPT["en"][noun][way]
    return {"open": ", with public code", "promised": ", code still to come", "": ""}[brief.code]
