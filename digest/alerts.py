"""What an owner must know is told once, by mail or chat, with the remedy; and again only after it was well in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from digest import mail_wiring, wiring
from digest.acts import Newsroom, opened
from digest.coverage.rhythm import is_too_quiet
from digest.errors import DigestError
from digest.machine import is_gone
from digest.model import Alert, Language, Memory, Problem, Report
from digest.phrase import Phrase
from digest.plan import DayPlan, due_days, moment
from digest.render.words import Words
from digest.store.archive import SqlArchive
from digest.store.database import Engine
from digest.store.entries import SqlEntryStore
from digest.store.ledger import SqlLedger
from digest.store.office import SqlOffice

DEAD_AFTER = timedelta(hours=24)
FAILURES = 3
Wrong = tuple[str, Phrase]  # what stands wrong: its key within the edition, and its words


async def tell(newsroom: Newsroom, complaint: str, now: datetime, plan: DayPlan) -> Report:
    """Looks what stands wrong with the edition and tells its owner what is new of it. ``complaint``: why feeds.yaml was not applied."""
    settings = newsroom.loaded.settings.alerts
    words = wiring.templates(newsroom.loaded).words
    with opened(newsroom.loaded) as engine:
        found = {key: words.phrase(settings.language, said) for key, said in _found(newsroom, engine, complaint, now, plan).items()}
        office = SqlOffice(engine, is_gone)
        new = office.stand(found, now, within=(f"{newsroom.name}:", "settings:"))
        if not new or not (settings.mail or settings.chat):
            return Report()
        problems = await _send(newsroom, new, words, settings.language)
        is_told = len(problems) < bool(settings.mail) + bool(settings.chat)
        if is_told:  # by one of them at least; nobody hears it twice because the other is away
            office.told([alert.key for alert in new], now)
        return Report(problems=tuple(problems), counts={"alerts": len(new) if is_told else 0})


def _found(newsroom: Newsroom, engine: Engine, complaint: str, now: datetime, plan: DayPlan) -> dict[str, Phrase]:
    """Everything that stands wrong, by key, in words."""
    made = SqlArchive(engine).days(newsroom.name)
    found = {
        f"{newsroom.name}:{key}": words
        for key, words in (
            *_of_days(newsroom, made, now, plan),
            *_of_sources(newsroom, engine, now),
            *_of_mailings(newsroom, engine),
            *_of_runs(newsroom, engine, now),
        )
    }
    if complaint:
        found["settings:refused"] = Phrase("feeds.yaml or a template was changed and is wrong; the last good one stays in force. %(why)s", why=complaint)
    return found


def _of_days(newsroom: Newsroom, made: Sequence[date], now: datetime, plan: DayPlan) -> Iterator[Wrong]:
    """Issues that are late, ahead of the clock, or wait for their editor."""
    today = now.astimezone(ZoneInfo(plan.zone)).date()
    if ahead := [day for day in made if day > today + timedelta(days=1)]:
        what = "There is an issue of %(day)s, which has not come: the clock was wrong. Set it, and see `digest doctor`."
        yield "ahead", Phrase(what, day=ahead[-1].isoformat())
    for day in due_days(plan, made, now):
        if now > plan.latest_at(day) + timedelta(minutes=10):
            what = "The issue of %(day)s has been due since %(time)s and has not been made. `digest status` says what stands in its way."
            at = f"{plan.latest_at(day).astimezone(ZoneInfo(plan.zone)):%H:%M}"
            yield f"day:{day}", Phrase(what, day=day.isoformat(), time=at)
    for day in [day for day in made if day <= today][-1:]:
        try:
            if what := _unapproved(newsroom, day, now):
                yield f"approval:{day}", Phrase(what, day=day.isoformat())
        except DigestError as error:
            yield f"edits:{day}", Phrase("The edits of %(day)s are wrong, so it is not delivered: %(why)s", day=day.isoformat(), why=str(error))


def _of_sources(newsroom: Newsroom, engine: Engine, now: datetime) -> Iterator[Wrong]:
    sources, _ = wiring.sources(newsroom.loaded.settings, newsroom.edition)
    memories = SqlEntryStore(engine).memories(now)
    for source in sources:
        if what := _trouble(memories.get(source.name, Memory()), now):
            yield f"source:{source.name}", Phrase(what, name=source.name)


def _of_mailings(newsroom: Newsroom, engine: Engine) -> Iterator[Wrong]:
    for key, why in SqlLedger(engine).paused():
        if key.startswith(f"{newsroom.name}/"):
            yield f"mail:{key}", Phrase("The mailing of %(key)s is paused: %(why)s", key=key, why=why)


def _of_runs(newsroom: Newsroom, engine: Engine, now: datetime) -> Iterator[Wrong]:
    """Acts that met trouble, but for single sources, which have alerts of their own."""
    for run in SqlOffice(engine, is_gone).last_of_each(newsroom.name).values():
        listed = run.report.get("problems")
        own = [problem for problem in listed if problem["step"] != "collect"] if isinstance(listed, list) else []
        if run.act in ("make", "deliver", "mail") and own and now - run.began_at < DEAD_AFTER:
            day, why = str(run.day or ""), str(own[0]["message"])
            yield f"run:{run.act}:{run.day}", Phrase("%(act)s of %(day)s ran into trouble: %(why)s", act=Phrase(f"act {run.act}"), day=day, why=why)


def _unapproved(newsroom: Newsroom, day: date, now: datetime) -> str:
    """What became of an issue that nobody approved in time, as a phrase of the catalogue."""
    plan = newsroom.edition.schedule
    until = moment(day, time.fromisoformat(plan.approve_until), newsroom.edition.timezone)
    if plan.approval == "none" or now < until or now - until > DEAD_AFTER or wiring.desk(newsroom.loaded, day).approved:
        return ""
    if plan.approval == "send":
        return "The issue of %(day)s went out without approval: the time allowed had run out."
    return "The issue of %(day)s is held back: nobody approved it. `digest preview` shows it."


def _trouble(memory: Memory, now: datetime) -> str:
    """What is wrong with a source, as a phrase of the catalogue."""
    if memory.is_gone:
        return "%(name)s is gone for good, its server says (410). Remove it: `digest feeds remove`."
    if memory.failures >= FAILURES and memory.last_well_at is None:
        return "%(name)s could not be read so far. `digest feeds check` says why."
    if memory.failures >= FAILURES and memory.last_well_at and now - memory.last_well_at > DEAD_AFTER:
        return "%(name)s could not be read for a day. `digest feeds check` says why."
    if is_too_quiet(memory, now):
        return "%(name)s is much quieter than usual. See whether its address still is the right one."
    return ""


async def _send(newsroom: Newsroom, alerts: Sequence[Alert], words: Words, language: Language) -> list[Problem]:
    """By mail and chat, as the settings say; what went wrong."""
    settings = newsroom.loaded.settings.alerts
    count = words.count(language, "%(number)s thing needs a hand", "%(number)s things need a hand", len(alerts))
    title, body = f"{newsroom.edition.title[newsroom.edition.languages[0]]} · {count}", "\n\n".join(alert.message for alert in alerts)
    problems = []
    if settings.mail:
        try:
            await mail_wiring.send_alert(newsroom.loaded, settings.mail, title, body, "|".join(alert.key for alert in alerts), newsroom.clock())
        except DigestError as error:
            problems.append(Problem(step="alerts", subject="mail", message=str(error)))
    if settings.chat:
        try:
            wiring.send_chat(settings.chat, title, body)
        except DigestError as error:
            problems.append(Problem(step="alerts", subject="chat", message=str(error)))
    return problems
