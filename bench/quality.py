"""``python -m bench.quality``: the shipped rules against hand-labelled items and whole labelled days.

Needs the gold folder (GOLD, beside the captured feeds when left out) with its own ``score.py``, which does all the scoring.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from digest import wiring
from digest.cli.tag import tagged
from digest.model import CacheStamp, Download, Entry, Source
from digest.parse import syndication
from digest.settings.load import load
from tests.builders import NOON, an_entry
from tests.conftest import ROOT

SETTINGS = load(ROOT / "feeds.yaml").settings
TOPIC = next(iter(SETTINGS.editions.values())).topics[0]
LABELLING, NAMES = wiring.labeller(SETTINGS), wiring.name_reader(SETTINGS)


def answer(entry: Entry, name: str) -> dict[str, Any]:
    return tagged(entry, name, TOPIC, LABELLING, NAMES)


def items(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        yield answer(an_entry(key=item["id"], url="", title=item["title"] or "", text=item["text"]), item["id"])


def day(feed: Path) -> Iterator[dict[str, Any]]:
    source = Source(name="arXiv", url="", kind="arxiv")
    download = Download(source=source, url="", body=feed.read_bytes(), media_type="", charset=None, stamp=CacheStamp(), fetched_at=NOON)
    for entry in syndication.parse(download).entries:
        yield {**answer(entry, entry.key), "link": entry.url}


def score(gold: Path, *arguments: str, predictions: Iterable[dict[str, Any]], as_json: bool = False) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(prediction, ensure_ascii=False) + "\n" for prediction in predictions)
        file.flush()
        command = [sys.executable, str(gold / "score.py"), *arguments, file.name, *(["--json"] if as_json else [])]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> int:
    gold = Path(os.environ.get("GOLD", ROOT.parent / "shared" / "gold"))
    feeds = Path(os.environ.get("CAPTURED_FEEDS", ROOT.parent / "shared" / "feeds"))
    if not gold.is_dir():
        print("the gold items are not here; set GOLD to their folder")
        return 0
    print(score(gold, str(gold / "items-dev.jsonl"), predictions=items(gold / "items-dev.jsonl")))
    right = wrong = missed = 0
    tops = []
    for path in sorted(gold.glob("day-*.jsonl")):
        name = re.fullmatch(r"day-(.+)-(\d{4}-\d\d-\d\d)", path.stem)
        assert name is not None
        feed = feeds / "rebuilt" / f"rss.arxiv.org-rss-{name[1]}-{name[2]}.rss.xml"
        result = json.loads(score(gold, "--day", str(path), predictions=day(feed), as_json=True))
        tag, top = result["tagging"], result["top"]
        right, wrong, missed = right + tag["tp"], wrong + tag["fp"], missed + tag["fn"]
        if top["best_possible"] >= 5:
            tops.append(top["precision"])
        print(f"{path.stem}: right {tag['tp']}, wrong {tag['fp']}, missed {tag['fn']}; top 5: {top['precision']:.2f} (possible: {top['best_possible']})")
    print(f"days pooled: precision {right / max(1, right + wrong):.2f}, recall {right / max(1, right + missed):.2f}")
    print(f"top 5 of days that have five: {sum(tops) / max(1, len(tops)):.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
