"""Five hundred feeds of two hundred hosts on loopback, five of them hostile: what two polls take.

    python -m bench.collecting

Each answer comes after 50 ms. Prints wall time, CPU time, memory and how the second poll was answered.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakes import Answer, FeedServer

ROOT = Path(__file__).parent.parent
FEEDS, HOSTS, ENTRIES, LATENCY_SECONDS = 500, 200, 30, 0.05
HOSTILE: dict[str, Callable[[], bytes]] = {
    "bomb": lambda: b"<!DOCTYPE x [<!ENTITY a '" + b"a" * 400 + b"'>]><rss><channel><item><title>" + b"&a;" * 20_000 + b"</title></item></channel></rss>",
    "many": lambda: b"<rss><channel>" + b"<item><title>x</title></item>" * 100_000 + b"</channel></rss>",
    "deep": lambda: b"<rss><channel><item><title>" + b"<b>" * 200_000,
    "page": lambda: b"<!DOCTYPE html><html>" + b"<p>" * 100_000,
    "noise": lambda: bytes(range(256)) * 4000,
}


def feed(number: int) -> bytes:
    """A feed of its own."""
    items = "".join(
        f"<item><guid>{number}-{place}</guid><title>Post {place} of blog {number}</title><link>https://blog{number}.example/{place}</link>"
        f"<description>{'Some words on training and other things. ' * 12}</description><pubDate>Mon, 30 Nov 2026 0{place % 9}:00:00 GMT</pubDate></item>"
        for place in range(ENTRIES)
    )
    return f"<rss version='2.0'><channel><title>Blog {number}</title>{items}</channel></rss>".encode()


def slow(body: bytes) -> Callable[[], Answer]:
    """The body after a while, as from far away."""

    def answer() -> Answer:
        time.sleep(LATENCY_SECONDS)
        return Answer(body, zipped=True)

    return answer


def settings(port: int) -> str:
    """A feeds.yaml over all of them: a host is an address of 127/8."""
    names = [*HOSTILE, *(str(number) for number in range(FEEDS - len(HOSTILE)))]
    rows = [f'  - {{name: "{name}", url: "http://127.0.0.{1 + place % HOSTS}:{port}/{name}"}}' for place, name in enumerate(names)]
    edition = "editions: {bench: {title: {zh: 测, en: Bench}, topics: [training-acceleration]}}"
    return f"extends: {ROOT / 'feeds.yaml'}\n{edition}\nfetch: {{allow: [127.0.0.0/8]}}\nsources:\n" + "\n".join(rows) + "\n"


def poll(path: Path) -> tuple[dict[str, Any], float, float, float]:
    """One collect in a process of its own: (report, seconds, seconds of CPU, mebibytes)."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "digest", "collect", "--config", str(path), "--json"], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read()
    process.stdout.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return json.loads(output), time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> int:
    """Runs both polls and prints what they took."""
    with tempfile.TemporaryDirectory() as folder, FeedServer("0.0.0.0") as server:  # every address of 127/8
        server.answers = {f"/{name}": slow(make()) for name, make in HOSTILE.items()}
        server.answers |= {f"/{number}": slow(feed(number)) for number in range(FEEDS - len(HOSTILE))}
        path = Path(folder) / "feeds.yaml"
        path.write_text(settings(int(server.address.rpartition(":")[2])), encoding="utf-8")
        for name in ("first", "second"):
            before = dict(server.statuses)
            report, wall, cpu, mebibytes = poll(path)
            states: dict[str, int] = {}
            for coverage in report["coverage"]:
                states[coverage["state"]] = states.get(coverage["state"], 0) + 1
            answered = {status: number - before.get(status, 0) for status, number in server.statuses.items()}
            print(f"{name} poll: {wall:.1f} s wall, {cpu:.1f} s of CPU, {mebibytes:.0f} MiB; answers {answered}; {states}; {report['counts']}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
