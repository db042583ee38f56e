"""``digest tag``: texts in, topics and claims out, one JSON object a line. The way for scripts."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from digest import wiring
from digest.classify.labels import KeywordLabeller
from digest.classify.mentions import NameReader
from digest.cli.arguments import add_config, add_edition, parser
from digest.cli.lines import objects
from digest.errors import ConfigError
from digest.model import Claim, Entry, Label
from digest.read.claims import extract
from digest.settings.load import load
from digest.shipped import SHIPPED

_EPILOG = """in, one object a line:   {"id": "1", "title": "… or null", "text": "…"}
out, one object a line:  {"id": "1", "training_acceleration": true, "score": 9.0, "topics": ["moe"], "kind": "paper",
                          "facts": [{"value_min": 2, "value_max": 2, "unit": "x", "metric": "training_speed",
                          "direction": "faster", "qualifier": "up_to", "baseline": "FSDP", "setting": null, "quote": "…"}],
                          "mentions": […], "evidence": […]}

The second key is the edition's main topic. Without a feeds.yaml in this folder the shipped rules are used.

example:
  echo '{"id": "1", "title": null, "text": "It makes training 2x faster."}' | digest tag -
"""


def main(command: str, arguments: list[str]) -> int:
    """Tags every line; a line that is no such object is an error that names its number."""
    options = parser(command, "Tags texts: topic, score, sub-topics, kind, claims, names and the evidence for them.", _EPILOG)
    options.add_argument("file", nargs="?", default="-", metavar="FILE", help="JSON Lines; - for standard input")
    add_config(options)
    add_edition(options)
    chosen = options.parse_args(arguments)
    path = chosen.config if chosen.config.exists() or chosen.config != Path("feeds.yaml") else SHIPPED / "feeds.yaml"
    settings = load(path).settings
    _, edition = wiring.edition(settings, chosen.edition)
    labelling, names = wiring.labeller(settings), wiring.name_reader(settings)
    for number, item in objects(chosen.file):
        entry = _entry(item, number)
        name = item.get("id")
        print(json.dumps(tagged(entry, str(number if name is None else name), edition.topics[0], labelling, names), ensure_ascii=False))
    return 0


def _entry(item: dict[str, Any], number: int) -> Entry:
    title, text = item.get("title") or "", item.get("text") or ""
    if not isinstance(title, str) or not isinstance(text, str):
        raise ConfigError(f"line {number}: title and text must be text")
    url = str(item.get("url") or item.get("link") or "")
    return Entry(key=str(number), source_name="", url=url, title=_whole(title), text=_whole(text), seen_at=datetime.now(UTC))


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which JSON can name and no output can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def tagged(entry: Entry, name: str, topic: str, labelling: KeywordLabeller, names: NameReader) -> dict[str, Any]:
    """What ``digest tag`` answers for one entry."""
    claims = extract(entry)
    labels = {label.topic: label for label in labelling.label(entry, claims)}
    main_label = labels.get(topic)
    return {
        "id": name,
        topic.replace("-", "_"): bool(main_label and main_label.is_in),
        "score": main_label.score if main_label else 0.0,
        "topics": _topics(labels, topic),
        "kind": names.kind(entry, "feed"),
        "facts": [_fact(claim) for claim in claims],
        "mentions": [{"kind": mention.kind, "text": mention.text, "quote": mention.quote} for mention in names.mentions(entry)],
        "evidence": [asdict(hit) for hit in main_label.evidence] if main_label else [],
    }


def _topics(labels: dict[str, Label], topic: str) -> list[str]:
    """The sub-topics; "other" when there is none, or when the item is about neither the main topic nor inference."""
    tags = sorted(name for name, label in labels.items() if label.is_in and name != topic)
    is_ours = (topic in labels and labels[topic].is_in) or "inference" in tags
    return tags if tags and is_ours else [*tags, "other"]


def _fact(claim: Claim) -> dict[str, Any]:
    return {
        "value_min": claim.low,
        "value_max": claim.high,
        "unit": claim.unit,
        "metric": claim.metric,
        "direction": claim.direction,
        "qualifier": claim.bound,
        "baseline": claim.baseline,
        "setting": claim.setting,
        "quote": claim.quote,
    }
