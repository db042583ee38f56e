"""Runs the examples that rules carry (``yes:`` and ``no:``) against the rule itself."""

from __future__ import annotations

from digest import wiring
from digest.classify.labels import KeywordLabeller
from digest.settings.schema import RuleSettings, Settings, TopicSettings


def complaints(settings: Settings) -> list[str]:
    """A line for each example that its rule judges otherwise. Raises ConfigError when an expression is wrong."""
    wiring.labeller(settings)
    return [
        f"topics.{name}: the rule {rule.find!r} {'does not take' if wanted else 'takes'} its example {example!r}"
        for name, topic in settings.topics.items()
        for rule in topic.rules
        for wanted, examples in ((True, rule.yes), (False, rule.no))
        for example in examples
        if _takes(settings, topic, rule, example) != wanted
    ]


def _takes(settings: Settings, topic: TopicSettings, rule: RuleSettings, example: str) -> bool:
    alone = topic.model_copy(update={"rules": [rule], "words": [], "claims": {}})
    labelling = KeywordLabeller([wiring.topic("topic", alone)], settings.groups)
    title, text = (example, "") if rule.where == "title" else ("", example)
    return bool(labelling.label_words(title, text))
