"""``digest config check`` and ``digest config schema``."""

from __future__ import annotations

from digest.cli.arguments import add_config, parser

_EPILOG = """examples:
  digest config check                     every complaint at once, with file:line:column
  digest config schema > feeds.schema.json   for editors that complete and check YAML
"""


def main(command: str, arguments: list[str]) -> int:
    """Checks the settings, or prints their schema."""
    options = parser(command, "Checks feeds.yaml, or prints its JSON Schema.", _EPILOG)
    options.add_argument("what", choices=("check", "schema"))
    add_config(options)
    chosen = options.parse_args(arguments)
    from digest.settings.load import json_schema, load

    if chosen.what == "schema":
        print(json_schema(), end="")
        return 0
    from digest import wiring
    from digest.cli.rule_examples import complaints

    loaded = load(chosen.config)
    found = wiring.rule_complaints(loaded).splitlines() or complaints(loaded.settings)
    for complaint in found:
        print(complaint)
    if not found:
        settings = loaded.settings
        rules = sum(len(topic.rules) + len(topic.words) for topic in settings.topics.values())
        print(f"{chosen.config}: right ({len(settings.editions)} edition(s), {len(settings.sources)} sources, {len(settings.topics)} topics, {rules} rules)")
    return 2 if found else 0
