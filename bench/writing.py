"""``python -m bench.writing [--print]``: what the pattern writer makes of the gold items and of whole real arXiv days.

Needs the gold folder and the captured feeds (GOLD, CAPTURED_FEEDS). With --print, every wording is printed to be read aloud.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from digest import wiring
from digest.judge.facts import read
from digest.judge.verdicts import judge
from digest.model import Article, CacheStamp, Download, Entry, LabelledEntry, Pick, Source, Story
from digest.parse import syndication
from digest.read.claims import extract
from digest.settings.load import load
from digest.write import grounding
from digest.write.issue import article, assign
from tests.builders import NOON, an_entry
from tests.conftest import ROOT

LOADED = load(ROOT / "feeds.yaml")
LABELLING, NAMES, WRITER = wiring.labeller(LOADED.settings), wiring.name_reader(LOADED.settings), wiring.patterns(LOADED)
TOPIC = next(iter(LOADED.settings.editions.values())).topics[0]


def items(path: Path) -> Iterator[Entry]:
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if item["training_acceleration"] == "yes":
            name = "机器前沿" if item["lang"] == "zh" else "arXiv cs.LG"
            yield an_entry(key=f"{name}|{item['id']}", source_name=name, title=item["title"] or "", text=item["text"], language=item["lang"])


def day(path: Path) -> Iterator[Entry]:
    source = Source(name="arXiv cs.LG", url="", kind="arxiv")
    download = Download(source=source, url="", body=path.read_bytes(), media_type="", charset=None, stamp=CacheStamp(), fetched_at=NOON)
    yield from syndication.parse(download).entries


def told(entries: Iterator[Entry]) -> list[Article]:
    """The articles of those entries that the rules take."""
    found = []
    for entry in entries:
        claims = extract(entry)
        labels = LABELLING.label(entry, claims)
        if not any(label.topic == TOPIC and label.is_in for label in labels):
            continue
        labelled = LabelledEntry(entry=entry, labels=labels, kind=NAMES.kind(entry, "arxiv"), claims=claims, mentions=NAMES.mentions(entry))
        assignment = assign(Pick(story=Story(key=entry.key, topic=TOPIC, entries=(labelled,)), reasons=()), ("zh", "en"))
        found.append(article(assignment, WRITER.draft(assignment), {entry.source_name: Source(name=entry.source_name, url="")}))
    return found


def report(name: str, articles: list[Article], seconds: float) -> None:
    whole = sum(all(wording.headline and wording.summary and wording.blurb for wording in found.wordings) for found in articles)
    unsupported = overstated = differing = 0
    openings: Counter[str] = Counter()
    lengths: dict[str, list[int]] = {"zh": [], "en": []}
    for found in articles:
        assignment = assign(found.pick, ("zh", "en"))
        source = grounding.held(assignment)
        differing += bool(grounding.differing_figures(found.wordings))
        for wording in found.wordings:
            complaints = [complaint for sentence in grounding.told(wording) for complaint in judge(sentence, source)]
            unsupported += any(complaint.kind == "number" for complaint in complaints)
            overstated += bool(judge(wording.blurb, source)) if wording.blurb else 0
            openings[wording.summary[:6] if wording.language == "zh" else " ".join(wording.summary.split()[:3])] += 1
            lengths[wording.language].append(len(wording.summary))
    refused = sum(len(found.refusals) for found in articles)
    figures = sum(any(fact.numeral.sort in ("times", "percent") for fact in read(found.wordings[0].blurb).facts) for found in articles)
    print(f"{name}: {len(articles)} articles in {seconds:.1f} s of CPU")
    print(f"  whole in both languages       {whole / max(1, len(articles)):.0%}")
    print(f"  wordings with a figure that has no support  {unsupported}")
    print(f"  articles whose figures differ  {differing}")
    print(f"  recommendations that say more  {overstated}")
    print(f"  recommendations with a figure  {figures}")
    print(f"  sentences refused on the way   {refused}")
    for language, own in lengths.items():
        print(f"  summary, {language}: median {median(own or [0]):.0f} characters, {min(own or [0])}–{max(own or [0])}")
    print(f"  most repeated openings: {', '.join(f'{words!r} {number}' for words, number in openings.most_common(4))}")


def main() -> int:
    gold = Path(os.environ.get("GOLD", ROOT.parent / "shared" / "gold"))
    feeds = Path(os.environ.get("CAPTURED_FEEDS", ROOT.parent / "shared" / "feeds"))
    if not gold.is_dir() or not feeds.is_dir():
        print("the gold items and captured feeds are not here; set GOLD and CAPTURED_FEEDS")
        return 0
    runs = {"gold items": items(gold / "items-dev.jsonl")}
    runs |= {path.name: day(path) for path in sorted((feeds / "rebuilt").glob("*cs.LG-2026-08-*.rss.xml"))}
    for name, entries in runs.items():
        started = time.process_time()
        articles = told(entries)
        report(name, articles, time.process_time() - started)
        if "--print" in sys.argv:
            for found in articles:
                for wording in found.wordings:
                    print(f"\n{wording.language}  {wording.headline}\n    {wording.summary}\n    → {wording.blurb}")
                for refusal in found.refusals:
                    print(f"    ✗ {refusal.language} {refusal.kind}: {refusal.words} — {refusal.why}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
