"""Five real days in a row: no story twice, no mojibake, times in the edition's zone, second polls unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fakes import FeedServer
from tests.week import DAYS, run_day, serve_day, settings


@pytest.mark.slow
def test_five_real_days_in_a_row(captured: Path, server: FeedServer, tmp_path: Path) -> None:
    (tmp_path / "feeds.yaml").write_text(settings(server), encoding="utf-8")
    told: list[str] = []
    for number, day in enumerate(DAYS):
        serve_day(server, captured, number)
        report, _, _ = run_day(tmp_path, number)
        assert report["problems"] == []
        told += [article["key"] for article in report["articles"]]  # type: ignore[attr-defined]
        for language in ("zh", "en"):
            page = (tmp_path / "out" / f"{day:%Y/%m/%d}" / f"{language}.html").read_text(encoding="utf-8")
            assert "\ufffd" not in page
            assert not re.search("Ã.|â€|锟斤拷", page)
    assert len(told) >= 10
    assert len(told) == len(set(told))
    page = (tmp_path / "out/2026/08/18/zh.html").read_text(encoding="utf-8")
    assert "8月18日 12:00" in page  # arXiv's midnight of the US east coast, in Shanghai

    before, whole = dict(server.statuses), {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    run_day(tmp_path, len(DAYS) - 1)
    assert server.statuses[200] == before[200]
    assert server.statuses[304] - before.get(304, 0) == 14  # arXiv's batch of the day is read, and one feed has a ttl
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == whole
