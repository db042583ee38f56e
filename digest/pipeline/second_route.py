"""arXiv by a second route: its API says how many papers a batch should have, fills what the feed lacked, and makes up missed days.

The API is asked once per category and day of batch, and again only while it does not know that batch (info.arxiv.org/help/api/tou.html:
cache, one connection, three seconds apart; the fetcher keeps the pace). It may lag behind the announcement, so only what it has more
than the feed tells something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode, urlsplit

from digest.coverage import states
from digest.coverage.arxiv_calendar import batch_begins_at, batch_days, eastern_day, pause, submitted
from digest.coverage.rhythm import next_poll
from digest.errors import DigestError, FetchError
from digest.model import UNCHANGED, Batch, CacheStamp, Coverage, Entry, Memory, NotModified, Parsed, Problem, Rhythm, Source
from digest.pipeline.parts import Parts, Reading

PAGE = 1000
PATIENCE = timedelta(hours=3)  # so long after midnight in New York a feed without today's batch is called late
AGAIN = timedelta(hours=3)  # the API's index may lag behind the announcement
MISSED_DAYS = 7
API_NAME = "arXiv API"
FEW_SHARE = 0.9
_CATEGORY = re.compile(r"/(?:rss|atom)/([A-Za-z-]+(?:\.[A-Za-z-]+)?)/?$")
_ID = re.compile(r"\d{4}\.\d{5}")
_VERSION = re.compile(r"v\d+$")


def known_batches(parts: Parts, sources: Sequence[Source], now: datetime) -> dict[str, dict[date, Batch]]:
    """What is known of the lately announced batches of arXiv sources, by source name and day."""
    names = [source.name for source in sources if source.kind == "arxiv"]
    found: dict[str, dict[date, Batch]] = {}
    for (name, day), batch in parts.store.batches(names, eastern_day(now) - timedelta(days=MISSED_DAYS)).items() if names else ():
        found.setdefault(name, {})[day] = batch
    return found


def is_certain(parts: Parts, source: Source, batches: Mapping[date, Batch], today: date) -> bool:
    """Whether papers that nobody has seen before must be today's batch: the one before was read, the API confirms today's, or there
    is nobody to ask."""
    if not (parts.arxiv_api and category(source)):
        return True
    before = batch_days(today - timedelta(days=MISSED_DAYS), today - timedelta(days=1))
    is_before_here = bool(before) and before[-1] in batches and batches[before[-1]].is_here
    return is_before_here or (today in batches and batches[today].is_confirmed)


async def second_route(
    parts: Parts,
    reading: Reading,
    sources: Sequence[Source],
    coverage: dict[str, Coverage],
    known: Mapping[str, Mapping[date, Batch]],
    api: Memory,
    now: datetime,
) -> tuple[list[Problem], int]:
    """(what could not be asked, how many papers were taken in); ``coverage`` is changed to what the API makes of it. ``api`` is what
    earlier questions to it left."""
    warnings, taken_in = list[Problem](), 0
    for source in (source for source in sources if source.kind == "arxiv"):
        batches = _with_todays(parts, source, coverage.get(source.name), known.get(source.name, {}), now)
        if not (parts.arxiv_api and category(source)) or (api.not_before is not None and now < api.not_before):
            continue
        for day in _unchecked(batches, now):
            try:
                batch = await _checked(parts, reading, source, batches.get(day, Batch(source_name=source.name, day=day)), now)
            except DigestError as error:
                api = _left_alone(parts, api, error, now)
                warnings.append(Problem(step="collect", subject=source.name, message=f"arXiv's API on the batch of {day}: {error}"))
                break
            taken_in += batch.taken_in
            _settle(parts, source, coverage, batch, now)
    return warnings, taken_in


def _left_alone(parts: Parts, api: Memory, error: DigestError, now: datetime) -> Memory:
    """The API after a failure: left alone for growing times, as any source."""
    if isinstance(error, FetchError) and error.is_ours:
        return api
    failures = api.failures + 1
    until = states.not_before(failures, error.retry_after_seconds if isinstance(error, FetchError) else 0.0, now)
    source = Source(name=API_NAME, url=parts.arxiv_api, kind="arxiv")
    found = Coverage(source_name=API_NAME, state="failed", note=str(error), reason=error.reason)
    parts.store.pause(source, found, now, until, failures=failures, is_gone=False)
    return replace(api, failures=failures, not_before=until)


def _settle(parts: Parts, source: Source, coverage: dict[str, Coverage], batch: Batch, now: datetime) -> None:
    """Says what the API changed: the state of the source, and that a batch which it confirms need not be asked for again."""
    is_today = batch.day == eastern_day(now)
    found = coverage.get(source.name, Coverage(source_name=source.name, state="quiet", note=UNCHANGED))
    if batch.taken_in:
        found = coverage[source.name] = _told(found, batch, is_today=is_today)
    is_over = is_today and batch.is_confirmed and batch.in_feed is not None and not batch.taken_in
    plan = next_poll(source, Memory(), Rhythm(), 0, "complete", now) if is_over else None
    if batch.taken_in or plan:
        parts.store.record(source, found, now, next_poll=plan, added=batch.taken_in)


def category(source: Source) -> str:
    """The category that an arXiv feed on the web lists; empty for several, and for what is no such feed."""
    match = _CATEGORY.search(urlsplit(source.url).path)
    return match[1] if match and source.kind == "arxiv" and source.url.startswith(("http://", "https://")) else ""


def _with_todays(parts: Parts, source: Source, coverage: Coverage | None, batches: Mapping[date, Batch], now: datetime) -> Mapping[date, Batch]:
    """The batches with today's, once its feed was read; counted again until it is confirmed."""
    today = eastern_day(now)
    own = batches.get(today, Batch(source_name=source.name, day=today))
    if pause(today) or own.is_confirmed or coverage is None or coverage.state not in ("complete", "degraded"):
        return batches
    papers = _todays_papers(parts, source, now)
    if not papers or len(papers) == own.in_feed:
        return batches
    own = replace(own, in_feed=len(papers))
    parts.store.keep_batch(own)
    return {**batches, today: own}


def _todays_papers(parts: Parts, source: Source, now: datetime) -> list[Entry]:
    begin = batch_begins_at(eastern_day(now)).astimezone(UTC) - timedelta(microseconds=1)
    return [entry for entry in parts.store.seen([source.name], begin, now) if entry.revision != "replaced"]


def _unchecked(batches: Mapping[date, Batch], now: datetime) -> list[date]:
    """The days of batches of the last week to ask about, the earliest first, until the API confirms them: today's when it was read
    or is late, and again after a while, an earlier one once a day."""
    if not batches:
        return []
    today = eastern_day(now)
    is_late = now - batch_begins_at(today) > PATIENCE
    first = max(min(batches), today - timedelta(days=MISSED_DAYS))
    days = []
    for day in batch_days(first - timedelta(days=1), today):
        batch = batches.get(day, Batch(source_name="", day=day))
        checked_at = batch.checked_at
        is_open = checked_at is None or (not batch.is_confirmed and (now - checked_at >= AGAIN if day == today else eastern_day(checked_at) < today))
        if is_open and (day < today or batch.in_feed is not None or is_late):
            days.append(day)
    return days


async def _checked(parts: Parts, reading: Reading, source: Source, batch: Batch, now: datetime) -> Batch:
    """The batch after asking the API: by a count and the first id where the feed was read, else by the whole listing."""
    is_read = batch.in_feed is not None
    page = await _listing(parts.arxiv_api, reading, source, batch.day, now, start=0, limit=1 if is_read else PAGE)
    total = page.total or 0
    is_whole = is_read and total <= (batch.in_feed or 0) and not (batch.day == eastern_day(now) and _is_older(_todays_papers(parts, source, now), page))
    listed = [] if is_read else list(page.entries)
    while not is_whole and len(listed) < total:
        page = await _listing(parts.arxiv_api, reading, source, batch.day, now, start=len(listed), limit=PAGE)
        if not page.entries:
            break
        listed += page.entries
    papers = [_paper(source, entry, batch.day, now) for entry in listed if entry.ids.arxiv]
    known = parts.store.known_papers(source.name, [paper.ids.arxiv for paper in papers])
    missing = {paper.key: paper for paper in papers if paper.ids.arxiv not in known}
    checked = replace(batch, listed=total, taken_in=parts.store.take_in(list(missing.values()), now), checked_at=now)
    parts.store.keep_batch(checked)
    return checked


def _is_older(papers: Sequence[Entry], page: Parsed) -> bool:
    """Whether a feed held the batch of an earlier day: most of its new papers have ids from before the first one of this batch.

    Ids are given in the order of submission (info.arxiv.org/help/arxiv_identifier.html); the dates of a feed say only when it was
    rendered.
    """
    first = next((entry.ids.arxiv for entry in page.entries if _ID.fullmatch(entry.ids.arxiv)), "")
    ids = sorted(entry.ids.arxiv for entry in papers if entry.revision == "new" and _ID.fullmatch(entry.ids.arxiv))
    return bool(first and ids) and ids[len(ids) // 2] < first


async def _listing(api: str, reading: Reading, source: Source, day: date, now: datetime, *, start: int, limit: int) -> Parsed:
    begin, end = (moment.astimezone(UTC).strftime("%Y%m%d%H%M") for moment in submitted(day))
    query = {
        "search_query": f"cat:{category(source)} AND submittedDate:[{begin} TO {end}]",
        "start": start,
        "max_results": limit,
        "sortBy": "submittedDate",
        "sortOrder": "ascending",
    }
    asked = replace(source, url=f"{api}?{urlencode(query)}")
    answer = await reading.fetchers[urlsplit(api).scheme].fetch(asked, CacheStamp(), now)
    if isinstance(answer, NotModified):
        return Parsed(entries=(), format="", encoding="")
    return await reading.parser.parse(answer)


def _paper(source: Source, entry: Entry, day: date, now: datetime) -> Entry:
    """A paper of the API as the feed would have had it: under the same key, dated by its announcement."""
    version = _VERSION.search(entry.key)
    key = f"{source.name}|oai:arXiv.org:{entry.ids.arxiv}{version[0] if version else 'v1'}"
    return replace(entry, key=key, published_at=min(batch_begins_at(day).astimezone(UTC), now), published_by="announced", seen_at=now)


def _told(coverage: Coverage, batch: Batch, *, is_today: bool) -> Coverage:
    """The coverage of a source with papers from the API: degraded where its feed lacked more than a few of today's."""
    seen = coverage.seen + batch.taken_in
    if batch.in_feed is None:
        note = f"the feed did not bring the batch of {batch.day}; {batch.taken_in} papers were taken from arXiv's API"
    elif batch.in_feed < FEW_SHARE * (batch.listed or 0):
        note = f"on {batch.day} the feed had {batch.in_feed} papers, arXiv's API knows {batch.listed}; {batch.taken_in} were taken from there"
    else:
        return replace(coverage, seen=seen)
    notes = "; ".join(part for part in (coverage.note if coverage.note != UNCHANGED else "", note) if part)
    return replace(coverage, state="degraded" if is_today else coverage.state, seen=seen, note=notes, reason="second-route" if is_today else coverage.reason)
