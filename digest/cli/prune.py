"""``digest prune``: what need not be kept is forgotten."""

from __future__ import annotations

import json

from digest import housekeeping
from digest.acts import opened, utc_now
from digest.cli.arguments import add_config, parser
from digest.settings.load import load
from digest.store.pruning import prune

_EPILOG = """`keep` in feeds.yaml says for how many days each kind is kept; the schedule does this by itself every night. Issues, receipts, readers and
who must not be written to stay for ever.

examples:
  digest prune --dry-run
  digest prune
"""


def main(command: str, arguments: list[str]) -> int:
    """Forgets, or says what would be forgotten."""
    options = parser(command, "Forgets what is older than feeds.yaml wishes.", _EPILOG)
    add_config(options)
    options.add_argument("--dry-run", action="store_true", help="only say how much it would be")
    options.add_argument("--json", action="store_true", help="for programs")
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    with opened(loaded) as engine:
        counts = prune(engine, housekeeping.limits(loaded, utc_now()), is_dry=chosen.dry_run)
    if chosen.json:
        print(json.dumps(counts))
    else:
        print(("would forget: " if chosen.dry_run else "forgotten: ") + (", ".join(f"{number} {name}" for name, number in counts.items()) or "nothing"))
    return 0
