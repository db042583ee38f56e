"""A writer that asks a language model at any OpenAI-compatible address.

A request per story and language, hottest stories first, within a budget. The answer is parsed, looked over, put before the judge, and asked
for once more with what was wrong; what still fails is missing from the draft. Feed text is data: fenced, and what comes back is plain text.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import stamina

from digest.figures import change
from digest.judge.orders import without_orders
from digest.model import Assignment, Draft, Language, Refusal, Spending, Wording
from digest.ports import AnswerCache
from digest.text import clean, one_line
from digest.write import grounding
from digest.write.prompts import PROMPT_VERSION, REPAIR, SYSTEM, USER
from digest.write.sentences import tidy

if TYPE_CHECKING:
    from openai import AsyncOpenAI

FORMATS = ("json_schema", "json_object", "plain")
_STEP_DOWN = (400, 422, 500)
_BUSY = (408, 409, 429, 500, 502, 503, 504, 529)
_PATIENCE_SECONDS = 120.0
_ATTEMPTS = 4
_ANSWER_TOKENS = 700
_SOURCE_LIMIT = 6000
_FIELDS = ("headline", "summary", "recommendation")
_LIMITS: Mapping[Language, Mapping[str, int]] = {
    "zh": {"headline": 60, "summary": 420, "recommendation": 140},
    "en": {"headline": 140, "summary": 900, "recommendation": 320},
}
_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in _FIELDS},
    "required": list(_FIELDS),
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an issue may take: requests side by side, seconds, tokens and money; prices are per million tokens."""

    side_by_side: int
    request_seconds: float
    issue_seconds: float
    tokens: int
    money: float | None
    price_in: float
    price_out: float


class _Refused(Exception):
    """An answer that is no wording: its kind and why."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class _Job(NamedTuple):
    place: int
    assignment: Assignment
    language: Language
    key: str


@dataclass(slots=True)
class _Purse:
    """What may still be spent; an estimate is set aside before a request and replaced by what it took."""

    limits: Limits
    spent: Spending = field(default_factory=Spending)
    aside: int = 0

    def set_aside(self, tokens: int) -> None:
        """Raises _Refused when the budget does not allow so many tokens."""
        used = self.spent.tokens_in + self.spent.tokens_out + self.aside
        money = self.spent.money + (self.aside + tokens) * max(self.limits.price_in, self.limits.price_out) / 1e6
        if used + tokens > self.limits.tokens or (self.limits.money is not None and money > self.limits.money):
            raise _Refused("budget", "the budget of the issue is used up; raise writer.tokens or writer.money")
        self.aside += tokens

    def pay(self, aside: int, tokens_in: int, tokens_out: int) -> None:
        self.aside -= aside
        money = (tokens_in * self.limits.price_in + tokens_out * self.limits.price_out) / 1e6
        self.spent = replace(
            self.spent,
            answers=self.spent.answers + (1 if tokens_in or tokens_out else 0),
            tokens_in=self.spent.tokens_in + tokens_in,
            tokens_out=self.spent.tokens_out + tokens_out,
            money=self.spent.money + money,
        )


class LlmWriter:
    """Asks ``model`` at ``address``; ``key`` is the secret itself, empty where none is needed."""

    name = "llm"

    def __init__(self, *, address: str, model: str, key: str, limits: Limits, cache: AnswerCache) -> None:
        self._address = address
        self._model = model
        self._key = key
        self._limits = limits
        self._cache = cache
        self._format = FORMATS[0]

    async def write(self, assignments: Sequence[Assignment]) -> tuple[list[Draft], Spending]:
        """A draft for each assignment; wordings that could not be had are missing from it, with the reason."""
        from openai import AsyncOpenAI

        jobs = [
            _Job(place, assignment, language, self._key_of(assignment, language))
            for place, assignment in enumerate(assignments)
            for language in assignment.languages
        ]
        jobs.sort(key=lambda job: (-job.assignment.pick.heat, job.place))
        known = self._cache.find([job.key for job in jobs])
        purse, turn = _Purse(self._limits), asyncio.Semaphore(self._limits.side_by_side)
        found: dict[tuple[int, Language], Wording | tuple[Refusal, ...]] = {}
        async with AsyncOpenAI(base_url=self._address, api_key=self._key or "none", max_retries=0, timeout=self._limits.request_seconds) as client:
            tasks = {asyncio.create_task(self._one(client, job, known.get(job.key), purse, turn)): job for job in jobs}
            done, late = await asyncio.wait(tasks, timeout=self._limits.issue_seconds) if tasks else (set(), set())
            for task in late:
                task.cancel()
                job = tasks[task]
                found[job.place, job.language] = (self._refusal(job, "time", "", f"no answer within the issue's {self._limits.issue_seconds:g} seconds"),)
            await asyncio.gather(*late, return_exceptions=True)
            found |= {(tasks[task].place, tasks[task].language): task.result() for task in done}
        spent = replace(purse.spent, cached=len(known))
        return [self._draft(place, assignment, found) for place, assignment in enumerate(assignments)], spent

    def _draft(self, place: int, assignment: Assignment, found: Mapping[tuple[int, Language], Wording | tuple[Refusal, ...]]) -> Draft:
        results = [found[place, language] for language in assignment.languages]
        wordings = tuple(result for result in results if isinstance(result, Wording))
        refusals = tuple(refusal for result in results if not isinstance(result, Wording) for refusal in result)
        if len(wordings) > 1 and (differing := grounding.differing_figures(wordings)):
            refusals += tuple(grounding.refusal(self.name, wordings[0].language, "languages", "", why) for why in differing)
            wordings = ()
        return Draft(wordings=wordings, written_by=f"{self.name} ({self._model})", refusals=refusals)

    def _key_of(self, assignment: Assignment, language: Language) -> str:
        """Text, prompt, model and language: when none has changed, the answer has not either."""
        return sha256("\x00".join((PROMPT_VERSION, self._model, language, grounding.held(assignment))).encode()).hexdigest()

    async def _one(self, client: AsyncOpenAI, job: _Job, known: str | None, purse: _Purse, turn: asyncio.Semaphore) -> Wording | tuple[Refusal, ...]:
        """The wording, or why there is none."""
        import openai

        messages = _messages(job.assignment, job.language)
        refused: tuple[Refusal, ...] = ()
        async with turn:
            for attempt in ("first", "repair"):
                try:
                    answer = known if known is not None else await self._ask(client, messages, purse)
                except _Refused as error:
                    return (*refused, self._refusal(job, error.kind, "", str(error)))
                except openai.OpenAIError as error:
                    return (*refused, self._refusal(job, "unreachable", "", f"{self._address}: {_reason(error)}; check writer.address, model and key"))
                result = self._looked_over(job, answer)
                if known is None and (isinstance(result, Wording) or attempt == "repair"):
                    self._cache.keep(job.key, answer, self._model)
                if isinstance(result, Wording) or known is not None:
                    return result
                refused = result
                complaints = "\n".join(f"- {refusal.words or refusal.kind}: {refusal.why}" for refusal in refused[:8])
                messages = [
                    *messages,
                    {"role": "assistant", "content": answer[:2000]},
                    {"role": "user", "content": REPAIR[job.language].format(complaints=complaints)},
                ]
        return refused

    def _looked_over(self, job: _Job, answer: str) -> Wording | tuple[Refusal, ...]:
        try:
            wording = _wording(answer, job.language)
        except _Refused as error:
            return (self._refusal(job, error.kind, "", str(error)),)
        return grounding.refusals(wording, job.assignment, self.name) or wording

    def _refusal(self, job: _Job, kind: str, words: str, why: str) -> Refusal:
        return Refusal(writer=self.name, language=job.language, kind=kind, words=words, why=why)

    async def _ask(self, client: AsyncOpenAI, messages: Sequence[Mapping[str, str]], purse: _Purse) -> str:
        """The text of an answer. Steps down to a simpler answer format, for good, where the server does not know the finer one."""
        import openai

        while True:
            chosen = self._format
            try:
                return await self._request(client, messages, purse, chosen)
            except openai.APIStatusError as error:
                if error.status_code not in _STEP_DOWN or chosen == FORMATS[-1]:
                    raise
                if self._format == chosen:
                    self._format = FORMATS[FORMATS.index(chosen) + 1]

    async def _request(self, client: AsyncOpenAI, messages: Sequence[Mapping[str, str]], purse: _Purse, chosen: str) -> str:
        aside = sum(len(message["content"]) for message in messages) // 2 + _ANSWER_TOKENS
        purse.set_aside(aside)
        tokens_in = tokens_out = 0
        try:
            async for attempt in stamina.retry_context(
                on=lambda error: _pause(error, chosen), attempts=_ATTEMPTS, timeout=None, wait_initial=0.5, wait_max=20.0
            ):
                with attempt:
                    completion: Any = await client.chat.completions.create(**_body(self._model, messages, chosen))
            usage = completion.usage
            tokens_in, tokens_out = (usage.prompt_tokens, usage.completion_tokens) if usage else (aside - _ANSWER_TOKENS, _ANSWER_TOKENS)
        finally:
            purse.pay(aside, tokens_in, tokens_out)
        choice = completion.choices[0] if completion.choices else None
        if choice is None or not choice.message.content:
            return ""
        return str(choice.message.content) + ("\x00" if choice.finish_reason == "length" else "")


def _body(model: str, messages: Sequence[Mapping[str, str]], chosen: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": list(messages), "temperature": 0, "max_tokens": _ANSWER_TOKENS}
    if chosen == "json_schema":
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "wording", "strict": True, "schema": _SCHEMA}}
    elif chosen == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def _pause(error: Exception, chosen: str) -> bool | float:
    """Whether to ask again: not at all, after the usual pause, or after as many seconds as the server wants."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if error.status_code not in _BUSY or (error.status_code in _STEP_DOWN and chosen != FORMATS[-1]):
            return False
        wanted = error.response.headers.get("retry-after", "")
        return min(float(wanted), _PATIENCE_SECONDS) if re.fullmatch(r"\d+(?:\.\d+)?", wanted) else True
    return isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError)


def _reason(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    return f"HTTP {status}" if status else type(error).__name__


def _messages(assignment: Assignment, language: Language) -> list[dict[str, str]]:
    """The prompt: the rules, then the source between marks that do not stand in it."""
    entry = assignment.pick.story.lead.entry
    text = without_orders(f"{tidy(entry.title)}\n{tidy(entry.text[:_SOURCE_LIMIT])}")
    mark = sha256(text.encode()).hexdigest()[:8]
    claims = "\n".join(
        f"- {claim.metric}: {change(claim, language)}{f' ({claim.baseline})' if claim.baseline else ''} — {one_line(claim.quote)}"
        for claim in assignment.claims[:5]
    )
    return [
        {"role": "system", "content": SYSTEM[language]},
        {"role": "user", "content": USER[language].format(mark=mark, text=text.replace(mark, ""), claims=claims or "-")},
    ]


def _wording(answer: str, language: Language) -> Wording:
    """The answer as a wording in plain text. Raises _Refused with what is wrong with it."""
    if answer.endswith("\x00"):
        raise _Refused("answer", "the answer was cut off")
    start, end = answer.find("{"), answer.rfind("}")
    try:
        values = json.loads(answer[start : end + 1], strict=False) if 0 <= start < end else None
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise _Refused("answer", "the answer is not the JSON that was asked for")
    parts = {name: _plain(values.get(name)) for name in _FIELDS}
    for name, part in parts.items():
        if not part:
            raise _Refused("answer", f"{name} is empty")
        if len(part) > _LIMITS[language][name]:
            raise _Refused("answer", f"{name} is longer than {_LIMITS[language][name]} characters")
        if name != "headline" and not re.search(r"[。！？.!?…][”’」』\"')）]*$", part):
            raise _Refused("answer", f"{name} ends in the middle of a sentence")
    share = _han_share("".join(parts.values()))
    if (language == "zh" and share < 0.4) or (language == "en" and share > 0.1):
        raise _Refused("answer", f"the answer is not in {'Chinese' if language == 'zh' else 'English'}")
    return Wording(language=language, headline=parts["headline"].rstrip("。."), summary=parts["summary"], blurb=parts["recommendation"])


def _plain(value: object) -> str:
    """Text without markup."""
    if not isinstance(value, str):
        return ""
    text = re.sub(r"<[^>]{1,200}>|!?\[([^\]]*)\]\([^)]*\)|[`*_#]{1,3}(?=\S)|(?<=\S)[`*]{1,3}", lambda match: match[1] or "", clean(value))
    return one_line(text)


def _han_share(text: str) -> float:
    """The share of Chinese characters among all letters."""
    han = sum("\u3400" <= character <= "\u9fff" for character in text)
    return han / max(1, sum(character.isalpha() for character in text))
