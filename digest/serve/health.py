"""Whether it lives (``/healthz``), whether it can do its job (``/readyz``), how everything is (``/status``, ``/metrics``, with a key)."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from digest.errors import DigestError
from digest.overview import Overview
from digest.render.environment import Templates
from digest.serve.safety import FORMS

Look = Callable[[], Sequence[Overview]]
_PRIVATE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Content-Security-Policy": FORMS}


def routes(look: Look, templates: Templates, titles: Mapping[str, str], key: str, *, does_the_job: bool = True) -> list[BaseRoute]:
    """``look`` gives the overview of every edition; without a ``key`` there is no status page and there are no metrics. An issue that is
    late makes nobody unready who does not make issues."""
    pages = _Health(look, templates, titles, key, does_the_job)
    found: list[BaseRoute] = [Route("/healthz", pages.alive), Route("/readyz", pages.ready)]
    return [*found, Route("/status", pages.status), Route("/metrics", pages.metrics)] if key else found


class _Health:
    def __init__(self, look: Look, templates: Templates, titles: Mapping[str, str], key: str, does_the_job: bool) -> None:
        self._look, self._templates, self._titles, self._key, self._does_the_job = look, templates, titles, key, does_the_job

    async def alive(self, request: Request) -> Response:
        return PlainTextResponse("ok\n", headers=_PRIVATE)

    async def ready(self, request: Request) -> Response:
        """503 while the database cannot be read or a promise is broken; it tells nothing more to strangers."""
        try:
            found = await run_in_threadpool(self._look)
        except DigestError:
            return PlainTextResponse("the database cannot be read\n", 503, _PRIVATE)
        is_late = self._does_the_job and any(each.is_late for each in found)
        return PlainTextResponse("an issue is late\n" if is_late else "ok\n", 503 if is_late else 200, _PRIVATE)

    async def status(self, request: Request) -> Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        found = await run_in_threadpool(self._look)
        main = "zh" if request.query_params.get("lang", "zh") == "zh" else "en"
        html = self._templates.render("serve/status.html", found=found, titles=self._titles, main=main)
        return Response(html, headers=_PRIVATE, media_type="text/html")

    async def metrics(self, request: Request) -> Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        registry = CollectorRegistry()
        registry.register(_Gauges(await run_in_threadpool(self._look)))
        return Response(generate_latest(registry), headers=_PRIVATE, media_type="text/plain; version=0.0.4")

    def _refusal(self, request: Request) -> Response | None:
        """Bearer KEY for programs, any user with the key as password for browsers."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            try:
                given = base64.b64decode(given).decode().partition(":")[2]
            except ValueError:
                given = ""
        if hmac.compare_digest(given.encode(), self._key.encode()):
            return None
        return PlainTextResponse("401\n", 401, {**_PRIVATE, "WWW-Authenticate": 'Basic realm="digest", charset="UTF-8"'})


class _Gauges(Collector):
    """The overview as gauges: every number is read anew, none is counted here, so a restart changes none."""

    def __init__(self, found: Sequence[Overview]) -> None:
        self._found = found

    def collect(self) -> Iterator[GaugeMetricFamily]:
        sources = GaugeMetricFamily("digest_sources", "Sources by the state of their last poll", labels=["edition", "state"])
        new = GaugeMetricFamily("digest_source_news_per_week", "New entries a week", labels=["edition", "source"])
        success = GaugeMetricFamily("digest_source_last_success_timestamp_seconds", "When a source was last read", labels=["edition", "source"])
        issue = GaugeMetricFamily("digest_last_issue_timestamp_seconds", "The day of the newest issue", labels=["edition"])
        articles = GaugeMetricFamily("digest_last_issue_articles", "Articles of the newest issue", labels=["edition"])
        mails = GaugeMetricFamily("digest_mails", "Mails of the newest mailing by state", labels=["edition", "state"])
        alerts = GaugeMetricFamily("digest_alerts", "Alerts that stand", labels=["edition"])
        size = GaugeMetricFamily("digest_bytes", "Bytes on the disk", labels=["edition", "what"])
        runs = GaugeMetricFamily("digest_last_run_timestamp_seconds", "When an act last ended", labels=["edition", "act"])
        for each in self._found:
            states = [row.state for row in each.sources]
            for state in sorted(set(states)):
                sources.add_metric([each.edition, state], states.count(state))
            for row in each.sources:
                new.add_metric([each.edition, row.source.name], row.memory.new_a_week)
                if row.memory.last_well_at:
                    success.add_metric([each.edition, row.source.name], row.memory.last_well_at.timestamp())
            for line in each.issues[:1]:
                issue.add_metric([each.edition], (line.day.toordinal() - 719163) * 86400)
                articles.add_metric([each.edition], line.articles)
            for _, _, _, counts in each.mailings[:1]:
                for mail_state, number in sorted(counts.items()):
                    mails.add_metric([each.edition, mail_state], number)
            alerts.add_metric([each.edition], len(each.alerts))
            for what, number in each.sizes.items():
                size.add_metric([each.edition, what], number)
            for run in {run.act: run for run in reversed(each.runs)}.values():
                runs.add_metric([each.edition, run.act], run.ended_at.timestamp())
        yield from (sources, new, success, issue, articles, mails, alerts, size, runs)
