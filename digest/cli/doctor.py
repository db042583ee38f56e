"""``digest doctor``: everything that can be checked, and what to do."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict

from digest import checks
from digest.acts import utc_now
from digest.cli.arguments import add_config, parser
from digest.cli.mail import show
from digest.errors import DigestError
from digest.model import Diagnosis
from digest.overview import look
from digest.schedule import plan_of
from digest.settings.load import load

_EPILOG = """exit code: 0 when nothing is wrong, 1 when something is

examples:
  digest doctor
  digest doctor --offline          asks nobody
"""


def main(command: str, arguments: list[str]) -> int:
    """Looks at everything and ends in a list of remedies."""
    options = parser(command, "Checks settings, secrets, zones, clock, disk, fonts, database, sources, relay, model and schedule.", _EPILOG)
    add_config(options)
    options.add_argument("--offline", action="store_true", help="ask no relay and no model")
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    loaded, now = load(chosen.config), utc_now()
    found = list(checks.offline(loaded, now))
    for name, edition in loaded.settings.editions.items():
        try:
            found += checks.standing(look(loaded, name, edition, plan_of(edition), now))
        except DigestError as error:
            found.append(Diagnosis(f"{name}: sources", "wrong", str(error), "see `database` in feeds.yaml"))
    if not chosen.offline:
        found += asyncio.run(checks.online(loaded))
    if chosen.json:
        print(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=1))
    else:
        show(found)
    return 1 if any(each.state == "wrong" for each in found) else 0
