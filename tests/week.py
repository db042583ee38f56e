"""Five real days in a row, served from loopback: used by a test, and by people as ``make week``.

The captured listings of other weeks are moved to these days: their dates are shifted, nothing else.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import date, datetime, timedelta
from pathlib import Path

from tests.fakes import Answer, FeedServer

ROOT = Path(__file__).parent.parent
DAYS = [date(2026, 8, 17) + timedelta(days=number) for number in range(5)]
LISTINGS = {  # name -> (file, its first day, language)
    "Cursor": ("daily/olshansk-cursor-{day}.rss.xml", date(2026, 8, 13), "en"),
    "Anthropic": ("daily/olshansk-anthropic-engineering-{day}.rss.xml", date(2026, 8, 13), "en"),
    "Hugging Face": ("daily/mibuhand-hf-daily-papers-{day}.atom.xml", date(2026, 4, 24), "en"),
    "机器之心": ("daily/jiqizhixin-{day}.rss.xml", date(2026, 5, 4), "zh"),
    "Aibase": ("daily/mibuhand-aibase-zh-{day}.atom.xml", date(2026, 4, 24), "zh"),
}
REAL = (
    "bair-blog-2026-04.rss.xml",
    "engineering-at-meta-ai-research-2026-02-25.rss.xml",
    "github-releases-astral-ty.atom.xml",
    "heise.atom.xml",
    "huggingface-blog-2026-04-27.rss.xml",
    "kc0011-gb2312-zh.rss.xml",
    "openai-news-2026-04-27.rss.xml",
    "slashdot-rdf.xml",
    "daringfireball.jsonfeed.json",
    "wechat-qbitai-zh-2021-06-19.rss.xml",
)
_ISO = re.compile(rb"(20\d\d-\d\d-\d\d)(?=T|\s\d\d:)")
_RFC = re.compile(rb"\b(\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) 20\d\d)\b")


def shifted(body: bytes, days: int) -> bytes:
    """The feed with its dates moved by so many days."""
    delta = timedelta(days=days)
    body = _ISO.sub(lambda match: (date.fromisoformat(match[1].decode()) + delta).isoformat().encode(), body)
    return _RFC.sub(lambda match: (datetime.strptime(match[1].decode(), "%d %b %Y") + delta).strftime("%d %b %Y").encode(), body)


def settings(server: FeedServer) -> str:
    """A feeds.yaml that reads everything from the server, with the shipped rules."""
    names = {name: language for name, (_, _, language) in LISTINGS.items()}
    rows = [f'  - {{name: arXiv cs.LG, url: "{server.address}/arxiv", kind: arxiv, trust: official}}']
    rows += [f'  - {{name: {name}, url: "{server.address}/{number}", language: {language}}}' for number, (name, language) in enumerate(names.items())]
    rows += [f'  - {{name: {name}, url: "{server.address}/{name}"}}' for name in REAL]
    edition = "editions: {week: {title: {zh: 一周, en: A week}, timezone: Asia/Shanghai, topics: [training-acceleration]}}"
    return f"extends: {ROOT / 'feeds.yaml'}\n{edition}\nfetch: {{allow: [127.0.0.1]}}\nsources:\n" + "\n".join(rows) + "\n"


def serve_day(server: FeedServer, captured: Path, number: int) -> None:
    """Puts the feeds of one day on the server."""
    day = DAYS[number]
    server.answers["/arxiv"] = Answer((captured / f"rebuilt/rss.arxiv.org-rss-cs.LG-{day.isoformat()}.rss.xml").read_bytes(), zipped=True)
    for place, (pattern, first, _) in enumerate(LISTINGS.values()):
        own = first + timedelta(days=number)
        body = (captured / pattern.format(day=own.isoformat())).read_bytes()
        server.answers[f"/{place}"] = Answer(shifted(body, (day - own).days))
    for name in REAL:
        server.answers[f"/{name}"] = Answer((captured / "real" / name).read_bytes())


def run_day(folder: Path, number: int) -> tuple[dict[str, object], float, float]:
    """Runs one day in a process of its own: (report, seconds of CPU, mebibytes)."""
    command = [sys.executable, "-m", "digest", "run", "--config", str(folder / "feeds.yaml"), "--date", DAYS[number].isoformat(), "--json"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read()
    process.stdout.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return json.loads(output), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> int:
    """Runs the week below ``week/`` and prints what each day cost and picked."""
    captured = Path(os.environ.get("CAPTURED_FEEDS", ROOT.parent / "shared" / "feeds"))
    if not captured.is_dir():
        print("the captured feeds are not here; set CAPTURED_FEEDS to their folder")
        return 1
    folder = ROOT / "week"
    folder.mkdir(exist_ok=True)
    with FeedServer() as server:
        (folder / "feeds.yaml").write_text(settings(server), encoding="utf-8")
        for number, day in enumerate(DAYS):
            serve_day(server, captured, number)
            report, seconds, mebibytes = run_day(folder, number)
            counts = report["counts"]
            print(f"\n{day}: {counts}  {seconds:.2f} s of CPU, {mebibytes:.0f} MiB")
            for article in report["articles"]:  # type: ignore[attr-defined]
                print(f"  {article['heat']:>3}° {article['headlines']['zh']}\n       {article['headlines']['en']}")
        print(f"\nanswers: {dict(server.statuses)}\nLook here: {folder / 'out' / 'index.html'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
