"""The writer with a real small model: structure and the judge's figures, never the exact text. ``make test-llm``; one thread, a few minutes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from digest.judge.verdicts import judge
from digest.model import Article, Assignment, Spending
from digest.read.claims import extract
from digest.write import grounding
from digest.write.fallback import Fallback
from digest.write.issue import article
from digest.write.llm import Limits, LlmWriter
from tests.builders import a_source, an_entry
from tests.fakes import FakeCache
from tests.real.model import NotToBeHad, get, served
from tests.unit.test_write import an_assignment, patterns

pytestmark = pytest.mark.real_model
LIMITS = Limits(side_by_side=1, request_seconds=240, issue_seconds=1500, tokens=200_000, money=None, price_in=0, price_out=0)
TEXTS = {
    "TideFlow: Overlapping Dispatch": "We present TideFlow, a scheduler for mixture-of-experts training. On 64 H100 GPUs TideFlow trains a 30B model up to 1.9x faster than Megatron-LM and cuts communication time by 43%, without loss of accuracy.",
    "SlimState: Optimizer States in Four Bits": "We introduce SlimState, which keeps optimizer states in 4 bits. It reduces optimizer memory by 71% on average compared with AdamW while training is only 3% slower. Code is available.",
    "Data First": "This paper studies how to choose training data. Our selection needs 40% of the tokens to reach the same loss as random sampling. We did not test models above 3B parameters.",
    "QuickSnap: Checkpoints in Peer Memory": "QuickSnap keeps checkpoints in the memory of a peer node. On 512 H100 GPUs a save falls from 48 seconds to 1.6 seconds.",
    "A Study of Schedules": "We compare six learning rate schedules for language models. No schedule wins everywhere; cosine and linear decay perform alike.",
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    try:
        with served(get()) as found:
            yield found
    except NotToBeHad as error:
        pytest.skip(f"no real model here: {error}")


def assignments() -> list[Assignment]:
    found = []
    for number, (title, text) in enumerate(TEXTS.items()):
        entry = an_entry(key=f"Blog|{number}", title=title, text=text)
        found.append(an_assignment(key=str(number), entry=entry, claims=extract(entry), mentions=()))
    return found


def test_a_small_model_writes_what_the_judge_lets_pass(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = assignments()
    cache = FakeCache()
    writer = Fallback(LlmWriter(address=address, model="local", key="test", limits=LIMITS, cache=cache), patterns())
    drafts, spent = asyncio.run(writer.write(given))
    articles: list[Article] = [article(each, draft, {"Blog": a_source()}) for each, draft in zip(given, drafts, strict=True)]
    with capsys.disabled():
        for found in articles:
            print(f"\n{found.written_by}")
            for refusal in found.refusals:
                print(f"  ✗ {refusal.language} {refusal.kind}: {refusal.words} — {refusal.why}")
            for wording in found.wordings:
                print(f"  {wording.language}  {wording.headline}\n      {wording.summary}\n      → {wording.blurb}")
        print(spent)
    assert spent.answers >= 10 and spent.tokens_in > 0
    for each, found in zip(given, articles, strict=True):
        source = grounding.held(each)
        assert all(wording.headline and wording.summary and wording.blurb for wording in found.wordings)
        assert all(judge(sentence, source) == () for wording in found.wordings for sentence in grounding.told(wording))
        assert grounding.differing_figures(found.wordings) == ()
        assert not re.search(r"[<>*#`]", found.wordings[0].summary)
    again, nothing = asyncio.run(writer.write(given))
    assert [draft.wordings for draft in again] == [draft.wordings for draft in drafts]
    assert nothing == Spending(cached=nothing.cached) and nothing.cached == 10


def test_a_wrong_key_costs_the_model_only(address: str) -> None:
    writer = LlmWriter(address=address, model="local", key="wrong", limits=LIMITS, cache=FakeCache())
    drafts, _ = asyncio.run(writer.write([replace(assignments()[0], languages=("en",))]))
    assert [refusal.kind for refusal in drafts[0].refusals] == ["unreachable"]
