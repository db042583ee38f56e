"""``digest show``: an issue in the terminal."""

from __future__ import annotations

from datetime import date

from rich.console import Console, Group
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from digest import wiring
from digest.cli.arguments import a_day, add_config, add_edition, parser
from digest.errors import DigestError
from digest.figures import change
from digest.model import Article, Issue, Language
from digest.render.environment import shown
from digest.render.words import Words
from digest.settings.load import Loaded, load
from digest.store.archive import SqlArchive
from digest.store.database import open_database
from digest.write.desk import apply


def main(command: str, arguments: list[str]) -> int:
    """Prints the newest issue, or the one of a day."""
    options = parser(command, "Prints an archived issue in the terminal.", "examples:\n  digest show\n  digest show 2026-11-30 --language en\n")
    options.add_argument("day", nargs="?", type=a_day, metavar="DAY", help="YYYY-MM-DD; the newest when left out")
    options.add_argument("--language", choices=("zh", "en"), help="the edition's main language when left out")
    options.add_argument("--keys", action="store_true", help="print only the key and headline of each article, for edits/DAY.yaml")
    add_config(options)
    add_edition(options)
    chosen = options.parse_args(arguments)
    loaded = load(chosen.config)
    issue = issue_of(loaded, chosen.edition, chosen.day)
    issue, _ = apply(issue, wiring.desk(loaded, issue.day), wiring.sources_by_name(loaded.settings))
    if chosen.keys:
        for article in issue.articles:
            print(f"{article.pick.story.key}  {article.wordings[0].headline}")
        return 0
    language: Language = chosen.language or issue.languages[0]
    if language not in issue.languages:
        raise DigestError(f"the issue is not written in {language!r}; it has: {', '.join(issue.languages)}")
    Console().print(_view(issue, language, wiring.templates(loaded).words))
    return 0


def issue_of(loaded: Loaded, edition: str | None, day: date | None) -> Issue:
    """The archived issue of a day, or the newest. Raises DigestError when there is none."""
    name, _ = wiring.edition(loaded.settings, edition)
    engine = open_database(wiring.database_address(loaded))
    try:
        return _issue(SqlArchive(engine), name, day)
    finally:
        engine.dispose()


def _issue(archive: SqlArchive, edition: str, day: date | None) -> Issue:
    if day is None:
        newest = archive.newest(edition, 1)
        if not newest:
            raise DigestError("there is no issue yet; `digest run` makes one")
        return newest[0]
    issue = archive.issue(edition, day)
    if issue is None:
        raise DigestError(f"there is no issue of {day.isoformat()}; `digest make --date {day.isoformat()}` makes it")
    return issue


def _view(issue: Issue, language: Language, words: Words) -> Group:
    say = words.say
    parts: list[object] = [Rule(f"{issue.title[language]} · {words.day(language, issue.day)}")]
    if language in issue.letters:
        parts.append(Padding(Markdown(issue.letters[language]), (0, 2)))
    if not issue.articles:
        parts.append(Padding(Text(say(language, "No pick today.")), (1, 2)))
    parts += [_article(issue, article, language, words) for article in issue.articles]
    if issue.near_misses:
        parts.append(Text(say(language, "Near misses"), style="bold"))
        parts += [Text(f"· {miss.title} — {say(language, miss.why)} {miss.detail}", style="dim") for miss in issue.near_misses]
    read = words.count(language, "%(number)s entry read", "%(number)s entries read", issue.entries_read)
    failed = [coverage.source_name for coverage in issue.coverage if coverage.state == "failed"]
    line = read + (f" · {say(language, 'failed')}: {words.join(language, failed)}" if failed else "")
    parts.append(Text(line, style="dim"))
    return Group(*parts)  # type: ignore[arg-type]


def _article(issue: Issue, article: Article, language: Language, words: Words) -> Panel:
    wording = article.wording(language)
    entry = article.pick.story.lead.entry
    body = Text()
    body.append(f"{words.moment(language, entry.at, issue.timezone)}  {words.say(language, article.source.trust)} {entry.source_name}\n", style="dim")
    body.append(wording.summary + "\n")
    for claim in shown(article):
        body.append(f"  {words.say(language, claim.metric)}  {change(claim, language)}  “{claim.quote}”\n", style="cyan")
    if wording.blurb:
        colon = "：" if language == "zh" else ": "
        body.append(f"{words.say(language, 'Why it matters')}{colon}{wording.blurb}\n", style="green")
    body.append(entry.url, style="blue underline")
    title = Text(f"{article.pick.heat}° {wording.headline}", style="bold")
    return Panel(body, title=title, title_align="left")
