"""``digest keywords``: see why, try before saving, replay, learn from what was kept, edit."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from digest import wiring
from digest.classify.explain import marked, strongest_first
from digest.classify.labels import KeywordLabeller
from digest.classify.suggestions import suggest
from digest.cli.arguments import a_day, add_config, add_edition, day_count, parser, rule_points
from digest.cli.rule_examples import complaints
from digest.errors import ConfigError, DigestError
from digest.model import Claim, Entry, Label
from digest.read.claims import extract
from digest.settings.edit import add_word, remove_word
from digest.settings.load import Loaded, load
from digest.settings.schema import RuleSettings, Settings, TopicSettings
from digest.store.archive import SqlArchive
from digest.store.database import open_database
from digest.store.entries import SqlEntryStore

LEARNT_FROM = 5000  # of the newest entries that were not told; more of them say the same
TRIED = 200  # of the newest entries that have the words
WIDE_SHARE = 0.2
_EPILOG = """examples:
  digest keywords explain https://arxiv.org/abs/2611.00001
  digest keywords try '{faster} ~6 (rollout | sampling)' --points 3 --days 30
  digest keywords replay                 the newest issue's decisions against today's rules
  digest keywords suggest                words that separate what was told from what was not
  digest keywords add training-acceleration 'gradient checkpoint*' --points 2
  digest keywords check                  runs the examples that rules carry
"""


@dataclass
class _Pool:
    """What the sub-commands work with."""

    loaded: Loaded
    edition: str
    topic: str
    sources: list[str]
    store: SqlEntryStore
    archive: SqlArchive
    console: Console


def main(command: str, arguments: list[str]) -> int:
    """Runs one sub-command."""
    options = parser(command, "Shows, tries and edits the rules of topics.", _EPILOG)
    kinds = options.add_subparsers(dest="what", required=True, metavar="WHAT")
    _sub(kinds, "explain", "the text of an entry with every hit marked, and why it is in or out").add_argument("name", metavar="URL-OR-ID")
    trying = _sub(kinds, "try", "what would come in and go out if the rule were added")
    trying.add_argument("rule", metavar="RULE")
    trying.add_argument("--points", type=rule_points, help="as a rule with so many points; left out, a word that is enough alone")
    trying.add_argument("--days", type=day_count, default=30)
    _sub(kinds, "replay", "the decisions of an issue against the rules of today").add_argument("day", nargs="?", type=a_day, metavar="DAY")
    suggesting = _sub(kinds, "suggest", "words that separate what was told from what was not")
    suggesting.add_argument("--days", type=day_count, default=90)
    adding = _sub(kinds, "add", "adds a word, or a rule with --points; keeps the comments of the file")
    removing = _sub(kinds, "remove", "removes a word or rule; keeps the comments of the file")
    for one in (adding, removing):
        one.add_argument("name", metavar="TOPIC")
        one.add_argument("rule", metavar="RULE")
    adding.add_argument("--points", type=rule_points)
    _sub(kinds, "list", "the words and rules of a topic").add_argument("name", metavar="TOPIC")
    _sub(kinds, "check", "runs the examples that rules carry")
    chosen = options.parse_args(arguments)
    return _WITHOUT_DATABASE[chosen.what](chosen) if chosen.what in _WITHOUT_DATABASE else _with_database(chosen)


def _sub(kinds: object, name: str, line: str) -> ArgumentParser:
    added: ArgumentParser = kinds.add_parser(name, help=line, description=line)  # type: ignore[attr-defined]  # argparse hides the type
    add_config(added)
    add_edition(added)
    return added


def _with_database(chosen: Namespace) -> int:
    loaded = load(chosen.config)
    name, edition = wiring.edition(loaded.settings, chosen.edition)
    sources, _ = wiring.sources(loaded.settings, edition)
    engine = open_database(wiring.database_address(loaded))
    try:
        names = [source.name for source in sources]
        pool = _Pool(loaded, name, edition.topics[0], names, SqlEntryStore(engine), SqlArchive(engine), Console(soft_wrap=True))
        return _WITH_DATABASE[chosen.what](pool, chosen)
    finally:
        engine.dispose()


def _explain(pool: _Pool, chosen: Namespace) -> int:
    entries = pool.store.find(chosen.name)
    if not entries:
        raise DigestError(f"nothing was collected under {chosen.name!r}; give an address, an arXiv id or an entry key")
    topic = pool.loaded.settings.topics[pool.topic]
    labelling, threshold = _labeller(pool, topic), topic.threshold
    for entry in entries:
        label = _label(labelling, entry, extract(entry), pool.topic)
        score = label.score if label else 0.0
        verdict = "in" if label and label.is_in else "out"
        marks = labelling.marks(entry.title, entry.text, pool.topic)
        pool.console.print(_words(entry.title, "title", marks, pool.console), style="bold")
        pool.console.print(f"{entry.source_name} · {entry.url}\n", style="dim", markup=False)
        pool.console.print(_words(entry.text, "text", marks, pool.console))
        pool.console.print(f"\n{pool.topic}: {score:g} of {threshold:g} points: [bold]{verdict}[/bold]")
        for hit in strongest_first(label.evidence if label else ()):
            pool.console.print(f"  {hit.points:+g}  {hit.field}: “{hit.words}”  by  {hit.rule}", markup=False, highlight=False)
    return 0


def _words(words: str, field: str, marks: Sequence[tuple[str, int, int, float]], console: Console) -> Text:
    """The words with every hit marked: in colour on a terminal, in ⟦brackets⟧ elsewhere."""
    text = Text()
    for piece, points in marked(words, [mark[1:] for mark in marks if mark[0] == field]):
        shown = f"⟦{piece}⟧" if points and not console.is_terminal else piece
        text.append(shown, "black on green" if points > 0 else "white on red" if points < 0 else "")
    return text


def _try(pool: _Pool, chosen: Namespace) -> int:
    topic = pool.loaded.settings.topics[pool.topic]
    own: dict[str, list[Any]] = {"words": [], "rules": []}
    if chosen.points is None:
        own["words"].append(chosen.rule)
    else:
        own["rules"].append(RuleSettings.model_validate({"find": chosen.rule, "points": chosen.points}))
    alone = _labeller(pool, topic.model_copy(update={**own, "never": []}))
    after = _labeller(pool, topic.model_copy(update={"words": [*topic.words, *own["words"]], "rules": [*topic.rules, *own["rules"]]}))
    now = datetime.now(UTC)
    entries = [entry for entry in pool.store.seen(pool.sources, now - timedelta(days=chosen.days), now) if entry.revision != "replaced"]
    heard = [entry for entry in entries if alone.marks(entry.title, entry.text, pool.topic)]  # nothing changes for the others
    tried = _read(heard[-TRIED:])
    shown = f"; the newest {len(tried)} of them" if len(tried) < len(heard) else ""
    pool.console.print(f"{len(heard)} of {len(entries)} entries of the last {chosen.days} days have it{shown}:")
    taken = _compare(pool, tried, _ins(_labeller(pool, topic), tried, pool.topic), _ins(after, tried, pool.topic))
    share = taken / len(tried) * len(heard) / len(entries) if tried else 0.0
    if share > WIDE_SHARE:
        pool.console.print(f"[yellow]This takes {share:.0%} of the pool: too wide to mean anything.[/yellow]")
    return 0


def _labeller(pool: _Pool, topic: TopicSettings) -> KeywordLabeller:
    """The rules of one topic alone."""
    return wiring.labeller(pool.loaded.settings.model_copy(update={"topics": {pool.topic: topic}}))


_Read = list[tuple[Entry, tuple[Claim, ...]]]


def _read(entries: Sequence[Entry]) -> _Read:
    return [(entry, extract(entry)) for entry in entries]


def _ins(labelling: KeywordLabeller, read: _Read, topic: str) -> set[str]:
    return {entry.key for entry, claims in read if (label := _label(labelling, entry, claims, topic)) and label.is_in}


def _label(labelling: KeywordLabeller, entry: Entry, claims: Sequence[Claim], topic: str) -> Label | None:
    return next((label for label in labelling.label(entry, claims) if label.topic == topic), None)


def _compare(pool: _Pool, read: _Read, before: set[str], after: set[str]) -> int:
    """Prints who comes in and who goes out; the number of those that come in."""
    by_key = {entry.key: entry for entry, _ in read}
    for sign, style, keys in (("+", "green", after - before), ("-", "red", before - after)):
        for key in sorted(keys):
            title = by_key[key].title if key in by_key else key
            pool.console.print(f"{sign} {title}", style=style, markup=False, highlight=False)
    pool.console.print(f"{len(after - before)} come in, {len(before - after)} go out, {len(before & after)} stay, of {len(read)} entries")
    return len(after - before)


def _replay(pool: _Pool, chosen: Namespace) -> int:
    issue = pool.archive.issue(pool.edition, chosen.day) if chosen.day else next(iter(pool.archive.newest(pool.edition, 1)), None)
    if issue is None:
        raise DigestError("there is no such issue to replay; `digest run` makes one")
    read = _read([entry for entry in pool.store.seen(pool.sources, issue.since, issue.until) if entry.revision != "replaced"])
    before = {decision.entry_key for decision in pool.archive.decisions(pool.edition, issue.day) if decision.is_in and decision.topic == pool.topic}
    pool.console.print(f"{issue.day.isoformat()}, then and with the rules of today:")
    _compare(pool, read, before, _ins(_labeller(pool, pool.loaded.settings.topics[pool.topic]), read, pool.topic))
    return 0


def _suggest(pool: _Pool, chosen: Namespace) -> int:
    now = datetime.now(UTC)
    texts = pool.store.texts(pool.sources, now - timedelta(days=chosen.days), now)
    told = pool.archive.told(pool.edition, now.date() + timedelta(days=2))
    kept = [words for key, words in texts if f"key:{key}" in told]
    dropped = [words for key, words in texts if f"key:{key}" not in told][-LEARNT_FROM:]
    found = suggest(kept, dropped, 15)
    if not found:
        pool.console.print(f"Nothing to learn from: {len(kept)} told and {len(dropped)} not told.")
    for suggestion in found:
        sign = "for" if suggestion.strength > 0 else "against"
        pool.console.print(f"{suggestion.strength:+6.1f}  {sign:<8} {suggestion.words:<32} told {suggestion.kept}, not told {suggestion.dropped}", markup=False)
    return 0


def _edit(chosen: Namespace) -> int:
    path: Path = chosen.config
    if chosen.what == "add":
        _refuse_wrong(load(path).settings, chosen.rule)
        add_word(path, chosen.name, chosen.rule, chosen.points)
    else:
        remove_word(path, chosen.name, chosen.rule)
    print(f"{path}: topic {chosen.name}: {chosen.rule!r} {'added' if chosen.what == 'add' else 'removed'}")
    return 0


def _refuse_wrong(settings: Settings, expression: str) -> None:
    from digest.classify.expressions import Lexicon

    Lexicon(settings.groups).compile(expression)


def _list(chosen: Namespace) -> int:
    settings = load(chosen.config).settings
    if chosen.name not in settings.topics:
        raise ConfigError(f"there is no topic {chosen.name!r}; known: {', '.join(settings.topics)}")
    topic = settings.topics[chosen.name]
    for word in topic.words:
        print(f"{topic.threshold:+g}  {word}")
    for rule in topic.rules:
        print(f"{rule.points:+g}  {rule.find}")
    return 0


def _check(chosen: Namespace) -> int:
    settings = load(chosen.config).settings
    found = complaints(settings)
    for complaint in found:
        print(complaint)
    examples = sum(len(rule.yes) + len(rule.no) for topic in settings.topics.values() for rule in topic.rules)
    print(f"{examples} examples, {len(found)} judged otherwise")
    return 1 if found else 0


_WITH_DATABASE: dict[str, Callable[[_Pool, Namespace], int]] = {"explain": _explain, "try": _try, "replay": _replay, "suggest": _suggest}
_WITHOUT_DATABASE: dict[str, Callable[[Namespace], int]] = {"add": _edit, "remove": _edit, "list": _list, "check": _check}
