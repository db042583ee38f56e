"""``digest judge``: what the judge says of an issue, sentence by sentence, or of sentences from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from digest import wiring
from digest.cli.arguments import a_day, add_config, add_edition, parser
from digest.cli.lines import objects
from digest.cli.show import issue_of
from digest.errors import ConfigError
from digest.judge.verdicts import judge
from digest.model import Article, Issue
from digest.settings.load import load
from digest.write import grounding
from digest.write.desk import apply
from digest.write.issue import assign

_EPILOG = """in, one object a line:   {"id": "1", "source": "…", "language": "en", "sentence": "…"}
out, one object a line:  {"id": "1", "verdict": "distorted", "kind": "bound", "why": "the source says up to 2.4x"}

The verdict is ok or distorted; kind and why are null for ok. Kinds: number, bound, metric, baseline, name, negation, superlative,
scope, range, language (the way a figure moves), languages (the two do not carry the same figures).

exit code: 0 judged; 1 a sentence of the issue is distorted; 2 settings or input are wrong

examples:
  digest judge                       the newest issue, with the editor's rewords
  digest judge 2026-11-30 --all      also the sentences that are fine
  digest judge --jsonl sentences.jsonl
"""


def main(command: str, arguments: list[str]) -> int:
    """Judges an issue, or every line of a file."""
    options = parser(command, "Judges sentences against their sources: figures, bounds, metrics, baselines, names, negations, superlatives.", _EPILOG)
    options.add_argument("day", nargs="?", type=a_day, metavar="DAY", help="YYYY-MM-DD; the newest issue when left out")
    options.add_argument("--jsonl", metavar="FILE", help="judge the lines of a file instead; - for standard input")
    options.add_argument("--all", action="store_true", help="show the sentences that are fine as well")
    add_config(options)
    add_edition(options)
    chosen = options.parse_args(arguments)
    if chosen.jsonl:
        for number, item in objects(chosen.jsonl):
            print(json.dumps(_verdict(item, number), ensure_ascii=False))
        return 0
    loaded = load(chosen.config)
    issue = issue_of(loaded, chosen.edition, chosen.day)
    edited, _ = apply(issue, wiring.desk(loaded, issue.day), wiring.sources_by_name(loaded.settings))
    return _print(edited, is_all=chosen.all)


def _verdict(item: dict[str, Any], number: int) -> dict[str, Any]:
    sentence, source = item.get("sentence"), item.get("source")
    if not isinstance(sentence, str) or not isinstance(source, str):
        raise ConfigError(f"line {number}: sentence and source must be text")
    name = item.get("id")
    complaint = next(iter(judge(sentence, source)), None)
    return {
        "id": str(number if name is None else name),
        "verdict": "distorted" if complaint else "ok",
        "kind": complaint.kind if complaint else None,
        "why": complaint.why if complaint else None,
    }


def _print(issue: Issue, *, is_all: bool) -> int:
    console = Console(soft_wrap=True)
    judged = refused = 0
    for article in issue.articles:
        console.print(Text(f"{article.pick.story.key}  {article.wordings[0].headline}", style="bold"))
        for is_fine, line in _lines(article):
            judged += 1
            refused += not is_fine
            if is_all or not is_fine:
                console.print(Text(f"  {'✓' if is_fine else '✗'} {line}", style="" if is_fine else "red"))
        for refusal in article.refusals:
            console.print(Text(f"  – not printed ({refusal.writer}, {refusal.language}, {refusal.kind}): {refusal.words} — {refusal.why}", style="dim"))
    console.print(f"{issue.day.isoformat()}: {judged} sentences judged, {refused} distorted")
    return 1 if refused else 0


def _lines(article: Article) -> Iterator[tuple[bool, str]]:
    assignment = assign(article.pick, [wording.language for wording in article.wordings])
    for wording in article.wordings:
        found = {refusal.words: f"{refusal.kind}: {refusal.why}" for refusal in grounding.refusals(wording, assignment, article.written_by)}
        for sentence in grounding.told(wording):
            yield sentence not in found, f"{wording.language}  {sentence}" + (f"\n      {found[sentence]}" if sentence in found else "")
    for why in grounding.differing_figures(article.wordings):
        yield False, f"languages: {why}"
