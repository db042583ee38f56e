"""Bounded fuzzing, for people and machines with a few minutes: ``make fuzz``. Not part of ``make test``.

Everything from outside is fed with bytes that libFuzzer (by way of atheris) grows from the examples, and from the captured feeds
where they are at hand: no surprise, no hang (ten seconds), no growth (one gibibyte).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
SECONDS = 20


def targets() -> dict[str, Callable[[bytes], object]]:
    """What is fed, by name. Our own errors are the right answer to wrong bytes; anything else is a find."""
    from digest.errors import ConfigError, ParseError
    from digest.parse import hf_papers, opml, syndication
    from digest.parse.article import article
    from digest.parse.dates import resolve
    from digest.parse.encoding import decode
    from digest.settings.load import load
    from tests.builders import NOON, a_download

    def settings(body: bytes) -> None:
        with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
            file.write(body)
            file.flush()
            with contextlib.suppress(ConfigError):
                load(Path(file.name))

    def quietly(read: Callable[[bytes], object]) -> Callable[[bytes], object]:
        def run(body: bytes) -> None:
            with contextlib.suppress(ParseError, ConfigError):
                read(body)

        return run

    return {
        "feeds": quietly(lambda body: syndication.parse(a_download(body))),
        "papers": quietly(lambda body: hf_papers.parse(a_download(body))),
        "pages": quietly(lambda body: article(a_download(body))),
        "opml": quietly(opml.read),
        "encodings": lambda body: decode(body[1:], ("gbk", "utf-8", "shift_jis", "nonsense", None)[body[0] % 5] if body else None),
        "dates": lambda body: resolve(body.decode("utf-8", "replace"), "Asia/Shanghai", NOON),
        "settings": settings,
    }


def seeds(folder: Path) -> None:
    """Files to grow from."""
    captured = Path(os.environ.get("CAPTURED_FEEDS", ROOT.parent / "shared" / "feeds"))
    found = [*sorted((ROOT / "examples").iterdir()), *sorted((captured / "hostile").glob("*"))]
    for number, path in enumerate(found):
        if path.is_file() and path.stat().st_size < 20_000:
            (folder / f"seed-{number}").write_bytes(path.read_bytes())
    for number, text in enumerate(("Mon, 30 Nov 2026 08:00:00 +0800", "2026年11月30日 08:00", "30. novembre 2026", "20261130T080000Z")):
        (folder / f"date-{number}").write_text(text, encoding="utf-8")


def fuzz(name: str) -> None:
    """Feeds one target until its time is over; ends the process."""
    import atheris

    with atheris.instrument_imports(include=["digest.parse", "digest.settings"]):
        feed = targets()[name]
    with tempfile.TemporaryDirectory() as folder:
        seeds(Path(folder))
        seconds = os.environ.get("FUZZ_SECONDS", str(SECONDS))
        options = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024", "-max_len=20000", "-verbosity=0", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={tempfile.gettempdir()}/fuzz-{name}-", folder], feed)
        atheris.Fuzz()


def main() -> int:
    """Every target in a process of its own; 1 when one found something."""
    if len(sys.argv) > 1:
        fuzz(sys.argv[1])
        return 0
    failed = []
    for name in targets():
        print(f"{name} …", flush=True)
        ended = subprocess.run([sys.executable, "-m", "tests.fuzz", name], cwd=ROOT, capture_output=True, text=True, errors="replace")
        lines = [line for line in ended.stderr.splitlines() if "number_of_executed_units" in line or "peak_rss_mb" in line]
        print("\n".join(f"  {line}" for line in lines))
        if ended.returncode:
            failed.append(name)
            print(ended.stdout[-2000:], ended.stderr[-4000:], sep="\n")
    print(f"found something: {', '.join(failed)}" if failed else "nothing found")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
