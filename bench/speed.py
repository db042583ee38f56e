"""``python -m bench.speed``: entries a second of the steps, on invented abstracts, one core."""

from __future__ import annotations

import time
from collections.abc import Callable

from digest import wiring
from digest.cluster.stories import group
from digest.model import LabelledEntry
from digest.read.claims import extract
from digest.settings.load import load
from tests.builders import a_source, an_entry
from tests.conftest import ROOT

NUMBER = 2000
FILLER = "We study how models behave when the data changes and describe the effect of each choice on the result. "
SENTENCE = "Our system speeds up distributed training by up to {factor}x over a strong baseline on 64 GPUs and reduces memory by {percent}%. "


def rate(name: str, work: Callable[[], object]) -> None:
    started = time.process_time()
    work()
    print(f"{name:<12}{NUMBER / (time.process_time() - started):>10,.0f} entries a second")


def main() -> int:
    settings = load(ROOT / "feeds.yaml").settings
    labelling = wiring.labeller(settings)
    labelling.label_words("", "warm up")
    entries = []
    for number in range(NUMBER):
        text = FILLER * 10 + (SENTENCE.format(factor=1 + number % 9, percent=number % 60) if number % 10 == 0 else FILLER)
        entries.append(
            an_entry(key=f"Blog|{number}", url=f"https://b.example/{number}", title=f"Paper {number} on a subject of its own kind {number * 31}", text=text)
        )
    rate("tags", lambda: [labelling.label(entry, ()) for entry in entries])
    rate("claims", lambda: [extract(entry) for entry in entries])
    labelled = [LabelledEntry(entry=entry, labels=labelling.label(entry, ())) for entry in entries]
    rate("stories", lambda: group(labelled, ["training-acceleration"], {"Blog": a_source()}, {}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
