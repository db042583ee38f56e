"""``python -m bench.years [--entries 1500000] [--issues 3650]``: ten years of what is remembered, and how long every command then takes.

Entries and issues are invented; a day's run reads the demo's feeds from disk: on a new database, after a year, and after all. Each act
is timed on three days, and the best is shown.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import text

from bench.site import an_issue
from digest.acts import opened
from digest.settings.load import load
from digest.store.archive import SqlArchive
from digest.store.search import index
from digest.store.tables import entries, polls
from tests.conftest import ROOT

LAST = datetime(2026, 11, 23, 12, tzinfo=UTC)
SOURCES = ("arXiv cs.LG", "Quiet Notes", "Northwind Compute", "机器前沿", "Rao on Systems")
WORDS = (
    "training model data batch memory gradient parallel expert kernel attention token cluster "
    "loss speed throughput schedule optimizer sparse precision pipeline"
).split()
AT_ONCE = 5000
DAYS = ("2026-11-24", "2026-11-25", "2026-11-26")
COMMANDS = (
    ("status",),
    ("show", "2026-11-24"),
    ("search", "training speed"),
    ("search", "attention kernel -sparse"),
    ("send", "--dry-run", "--date", "2026-11-24"),
    ("subscribers", "list"),
    ("prune", "--dry-run"),
    ("doctor", "--offline"),
    ("judge", "2026-11-24"),
    ("feeds", "list"),
    ("keywords", "suggest"),
    ("keywords", "try", "kernel"),
    ("keywords", "explain", "https://example.com/1499960"),
    ("schedule", "--show"),
)


def fill(path: Path, number: int, days: int) -> None:
    loaded, chance = load(path), random.Random(1)
    with opened(loaded) as engine:
        archive = SqlArchive(engine)
        for start in range(0, number, AT_ONCE):
            rows = []
            for each in range(start, min(start + AT_ONCE, number)):
                at = LAST - timedelta(days=days * (number - each) / number)
                title = f"Paper {each}: {' '.join(chance.sample(WORDS, 6))}"
                rows.append(
                    {
                        "key": f"{SOURCES[each % 5]}|{each}",
                        "source_name": SOURCES[each % 5],
                        "url": f"https://example.com/{each}",
                        "arxiv": "" if each % 5 else f"{at:%y%m}.{each % 100_000:05d}",
                        "doi": "",
                        "repository": "",
                        "title": title,
                        "text": f"{title}. {' '.join(chance.choices(WORDS, k=40))}.",
                        "language": "en",
                        "authors": [],
                        "published_at": at,
                        "published_by": "feed",
                        "seen_at": at,
                        "revision": "new",
                        "is_backlog": False,
                        "text_from": "feed",
                    }
                )
            with engine.begin() as connection:
                connection.execute(entries.insert(), rows)
                index(connection, rows)
        for day in range(days):
            on = (LAST - timedelta(days=days - day)).date()
            archive.save(an_issue(chance, loaded, on, day), {}, (), (), [])
        with engine.begin() as connection:
            hours = [LAST - timedelta(hours=each) for each in range(400 * 24)]
            connection.execute(
                polls.insert(),
                [
                    {"source_name": name, "polled_at": at, "state": "quiet", "seen": 20, "added": 0, "note": "unchanged", "reason": ""}
                    for name in SOURCES
                    for at in hours
                ],
            )
            connection.execute(text("ANALYZE"))


def seconds(*arguments: str) -> float:
    """What a command takes as its user waits for it, with its byte code at hand as an installed program has it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"MAIL_KEY": "k" * 40}
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "digest", *arguments], cwd=ROOT, capture_output=True, text=True, env=environment, check=False)
    if done.returncode == 2:
        raise SystemExit(f"digest {' '.join(arguments)}: {done.stderr}")
    return time.perf_counter() - began


def house(folder: Path) -> Path:
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "feeds.yaml", folder)
    path = folder / "examples" / "feeds.yaml"
    words = re.sub(r"    mail: ", "    cards: false\n    search: false\n    mail: ", path.read_text(encoding="utf-8"))
    path.write_text(words, encoding="utf-8")
    return path


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    options.add_argument("--entries", type=int, default=1_500_000)
    options.add_argument("--issues", type=int, default=3650)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        new, young, old = (house(Path(place) / name) for name in ("new", "young", "old"))
        fill(young, chosen.entries * 365 // chosen.issues, 365)
        began = time.perf_counter()
        fill(old, chosen.entries, chosen.issues)
        size = sum(path.stat().st_size for path in (Path(place) / "old" / "state").glob("*"))
        print(f"{chosen.entries:,} entries and {chosen.issues:,} issues: {size / 1e9:.1f} GB, filled in {time.perf_counter() - began:.0f} s")
        for name, path in (("the first days", new), ("after a year", young), (f"after {chosen.issues / 365:g} years", old)):
            taken = {act: [seconds(act, "--config", str(path), "--date", day, "--quiet") for day in DAYS] for act in ("collect", "make", "deliver")}
            print(f"a day's run, {name:<31} {sum(map(min, taken.values())):6.2f} s: " + ", ".join(f"{act} {min(all_):.2f}" for act, all_ in taken.items()))
        for words in COMMANDS:
            print(f"digest {' '.join(words):<37} {seconds(*words, '--config', str(old)):6.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
