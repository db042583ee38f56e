"""``digest site``: the web archive anew from what is archived, and what is wrong with it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from argparse import Namespace
from dataclasses import asdict
from datetime import UTC, datetime

from digest import pipeline, wiring
from digest.acts import Newsroom, at_work
from digest.cli import reports
from digest.cli.arguments import add_config, add_edition, parser
from digest.errors import ConfigError
from digest.model import Report
from digest.publish import check
from digest.settings.load import Loaded, load
from digest.settings.schema import EditionSettings

_EPILOG = """examples:
  digest site build         every page, feed and file from the archive; only what differs is written; nothing is sent
  digest site check         links, anchors, markup, doubled ids, missing languages, sizes

exit code: 0 fine, 1 something is wrong (each is named), 2 settings or arguments are wrong
"""
_SHOWN = 50


def main(command: str, arguments: list[str]) -> int:
    """Builds or checks the site of an edition."""
    options = parser(command, "Builds the web archive anew, or checks it.", _EPILOG)
    options.add_argument("what", choices=["build", "check"])
    add_config(options)
    add_edition(options)
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    return (_build if chosen.what == "build" else _check)(loaded, name, edition, chosen)


def _build(loaded: Loaded, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    began = time.perf_counter()
    report = asyncio.run(_built(loaded, name, edition, chosen))
    counts, seconds = report.counts, time.perf_counter() - began
    for warning in (*report.warnings, *report.problems):
        print(f"{warning.step} {warning.subject}: {warning.message}", file=sys.stderr)
    if chosen.json:
        print(json.dumps(counts | {"seconds": round(seconds, 1)}))
    else:
        print(
            f"{counts['issues']} issues in {seconds:.1f} s: {counts['written']} files written, {counts['unchanged']} as they were, {counts['removed']} removed"
        )
        print(f"Look here 请看：{(loaded.folder / edition.folder / 'index.html').resolve()}")
    return 1 if report.problems else 0


async def _built(loaded: Loaded, name: str, edition: EditionSettings, chosen: Namespace) -> Report:
    sources, _ = wiring.sources(loaded.settings, edition)
    newsroom = Newsroom(loaded=loaded, name=name, edition=edition)
    async with wiring.open_parts(loaded, name, edition) as parts:
        with at_work(loaded), reports.Progress(is_shown=not chosen.json) as progress:
            step = progress.act("build", len(parts.archive.days(name)) + len(parts.shelf_renderers) + 1)
            return pipeline.build(parts, name, datetime.now(UTC), lambda each: wiring.desk(loaded, each), sources, step, held=newsroom.held(parts.archive))


def _check(loaded: Loaded, name: str, edition: EditionSettings, chosen: Namespace) -> int:
    folder = (loaded.folder / edition.folder).resolve()
    if not (folder / "index.html").is_file():
        raise ConfigError(f"there is no site in {folder} yet; `digest site build` makes it")
    found = check.findings(folder, edition.address.rstrip("/"), tuple(edition.languages))
    if chosen.json:
        print(json.dumps([asdict(finding) for finding in found], ensure_ascii=False, indent=1))
        return 1 if found else 0
    for finding in found[:_SHOWN]:
        print(f"{finding.page}: {finding.kind}: {finding.words}")
    if len(found) > _SHOWN:
        print(f"… and {len(found) - _SHOWN} more (--json lists all)")
    print(f"{folder}: {len(found)} {'finding' if len(found) == 1 else 'findings'}" if found else f"{folder}: nothing is wrong")
    return 1 if found else 0
