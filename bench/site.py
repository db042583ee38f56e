"""``python -m bench.site [--days 365] [--keep DIR]``: a whole year of issues from the archive to a site, one new day, and the same again.

The issues are invented, twelve articles a day; ``--keep`` leaves the site there to be looked at.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from digest import pipeline, wiring
from digest.model import Article, Claim, Desk, Entry, Identifiers, Issue, LabelledEntry, Language, Mention, Pick, Reason, Report, Section, Story, Wording
from digest.settings.load import Loaded, load
from digest.write.issue import compose
from tests.builders import a_label, a_source
from tests.conftest import ROOT

LAST = date(2026, 11, 24)
METHODS = "FlashAttention LoRA GaLore Muon ZeRO-3 DualPipe GRPO FP8 NVFP4 DiLoCo Adam-mini ring attention".split(" ")
HARDWARE = "H100 A100 H800 B200 RTX 4090 MI300X 昇腾 910B TPU v5p".split(" ")
NAMES = ("Tide", "Half", "Pool", "Loom", "Kite", "Reef", "Dune", "Moss", "Fern", "Gale")
METRICS = (
    ("training_speed", "x", "faster"),
    ("throughput", "%", "more"),
    ("memory", "%", "less"),
    ("training_time", "%", "less"),
    ("communication", "x", "less"),
)


def an_article(chance: random.Random, day: date, place: int, topics: list[str], titles: dict[str, dict[Language, str]], number: int) -> Article:
    name = f"{chance.choice(NAMES)}{chance.choice(NAMES)}"
    tags = tuple(chance.sample(topics, 2))
    kind, unit, direction = chance.choice(METRICS)
    value = round(chance.uniform(1.1, 6.0), 1) if unit == "x" else float(chance.randint(5, 80))
    bound = chance.choice(("up_to", "exact", "exact", "about", "average"))
    method, hardware = chance.choice(METHODS), chance.choice(HARDWARE)
    figure = f"{value:g}{'x' if unit == 'x' else '%'}"
    quote = f"{name} changes {kind.replace('_', ' ')} by {figure} on {hardware} over a tuned baseline with {method}."
    text = f"We present {name}, a system for {titles[tags[0]]['en'].lower()}. {quote} The code is public. " * 3
    entry = Entry(
        key=f"arXiv cs.LG|{number}",
        source_name=chance.choice(("arXiv cs.LG", "arXiv cs.DC", "Northwind Compute", "机器前沿")),
        url=f"https://arxiv.org/abs/{day:%y%m}.{number % 100_000:05d}",
        ids=Identifiers(arxiv=f"{day:%y%m}.{number % 100_000:05d}"),
        title=f"{name}: {titles[tags[0]]['en']} with {method} on {hardware}",
        text=text,
        authors=("A. Writer", "B. Reader"),
        seen_at=datetime(day.year, day.month, day.day, 4, tzinfo=UTC),
    )
    claims = (Claim(metric=kind, low=value, high=value, unit=unit, direction=direction, bound=bound, baseline="a tuned baseline", quote=quote),)
    mentions = tuple(
        Mention(kind=what, text=words, quote=quote)
        for what, words in (("method", method), ("hardware", hardware), ("model", f"{name}-{chance.randint(1, 70)}B"))
    )
    labelled = LabelledEntry(entry=entry, labels=(a_label(), *(a_label(topic=tag) for tag in tags)), kind="paper", claims=claims, mentions=mentions)
    story = Story(key=f"arxiv-{day:%y%m}.{number % 100_000:05d}", topic="training-acceleration", entries=(labelled,))
    heat = 80.0 - 4 * place + chance.uniform(-3, 3)
    zh, en = titles[tags[0]]["zh"], titles[tags[0]]["en"].lower()
    said = f"{name} 面向{zh}，在 {hardware} 上运行。代码已公开。"
    wordings = (
        Wording(language="zh", headline=f"{name}：{zh}的新做法", summary=said, blurb="做训练系统的团队可以看看。"),
        Wording(language="en", headline=f"{name}: a new way to do {en}", summary=f"{quote} The code is public.", blurb="One for teams that build systems."),
    )
    pick = Pick(story=story, reasons=(Reason(points=heat, why="on-topic"),), featured=place < 2)
    return Article(pick=pick, source=a_source(name=entry.source_name), claims=claims, mentions=mentions, tags=tags, wordings=wordings, written_by="patterns")


def an_issue(chance: random.Random, loaded: Loaded, day: date, number: int) -> Issue:
    name, edition = wiring.edition(loaded.settings, None)
    titles = wiring.topic_titles(loaded.settings)
    topics = [topic for topic in titles if topic != edition.topics[0]]
    articles = [an_article(chance, day, place, topics, titles, number * 100 + place) for place in range(12)]
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    issue = compose(wiring.frame(name, edition, loaded.settings), day, articles, (), (), 600, None, at - timedelta(days=1), at)
    assert issue.sections and isinstance(issue.sections[0], Section)
    return issue


async def measure(days: int, folder: Path) -> None:
    shutil.copy(ROOT / "feeds.yaml", folder / "feeds.yaml")
    loaded = load(folder / "feeds.yaml")
    name, edition = wiring.edition(loaded.settings, None)
    sources, _ = wiring.sources(loaded.settings, edition)
    chance = random.Random(1)
    now = datetime(2026, 11, 24, 23, tzinfo=UTC)
    async with wiring.open_parts(loaded, name, edition) as parts:
        first = LAST - timedelta(days=days - 1)
        for number in range(days - 1):
            parts.archive.save(an_issue(chance, loaded, first + timedelta(days=number), number), {}, (), (), [])

        index, parts = parts.search, replace(parts, search=None)

        def timed(what: str, work: Callable[[], object]) -> None:
            began = time.perf_counter()
            done = work()
            counts = done.counts if isinstance(done, Report) else ""
            print(f"{what:<42} {counts}  {time.perf_counter() - began:6.2f} s")

        timed(f"the site of {days - 1} days", lambda: pipeline.build(parts, name, now, lambda day: Desk(), sources))
        parts.archive.save(an_issue(chance, loaded, LAST, days), {}, (), (), [])
        timed("one new day", lambda: pipeline.deliver(parts, name, LAST, now, lambda day: Desk(), sources))
        if index is not None:
            timed("the search index", index.update)
        timed("the same site again", lambda: pipeline.build(parts, name, now, lambda day: Desk(), sources))
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB; the site lies in {folder / edition.folder}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--days", type=int, default=365)
    options.add_argument("--keep", type=Path)
    chosen = options.parse_args()
    if chosen.keep:
        chosen.keep.mkdir(parents=True, exist_ok=True)
        asyncio.run(measure(chosen.days, chosen.keep))
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(chosen.days, Path(folder)))


if __name__ == "__main__":
    main()
