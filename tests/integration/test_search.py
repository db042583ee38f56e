"""``digest search`` as a person uses it: hits marked, filters, programs, an old database made findable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from digest.cli import main
from digest.cli.search import spans
from digest.errors import StoreError
from digest.store.database import open_database
from digest.store.search import indexed, terms
from tests.conftest import DAY


@pytest.fixture
def run_demo(made_demo: Path) -> Path:
    return made_demo


def found(capsys: pytest.CaptureFixture[str], demo: Path, *arguments: str) -> tuple[int, list[str]]:
    code = main(["search", "--config", str(demo), "--json", *arguments])
    return code, [entry["title"] for entry in json.loads(capsys.readouterr().out)["entries"]]


def test_all_that_was_collected_is_found_not_only_the_picks(run_demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert found(capsys, run_demo, "athletes", "timing") == (1, [])
    code, titles = found(capsys, run_demo, "运动员")
    assert (code, titles) == (0, ["国家队训练基地引入加速跑新设备"])
    assert found(capsys, run_demo, "训练", "--source", "Northwind Compute") == (1, [])
    assert found(capsys, run_demo, "训练", "--until", "2026-11-23") == (1, [])
    assert len(found(capsys, run_demo, "训练", "--since", DAY)[1]) == 3


def test_hits_are_marked_in_their_text(run_demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--config", str(run_demo), "NVFP4", "recipes"]) == 0
    out = capsys.readouterr().out
    assert "An NVFP4 training recipe" in out and "Northwind Compute" in out and "1 found" in out
    assert main(["search", "--config", str(run_demo), "zebra"]) == 1
    assert main(["search", "--config", str(run_demo), "..."]) == 1


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("train", ["Training", "trains"]),
        ("trains fast", ["Training", "trains", "fast"]),
        ('"fast models"', ["fast models"]),
        ("训练加速", ["训练", "加速", "訓練", "加速"]),
        ('"训练加速"', ["训练加速"]),
        ("-training fast", ["fast"]),
    ],
)
def test_what_is_marked_is_what_was_looked_for(query: str, hits: list[str]) -> None:
    words = "Training trains fast models. 训练加速。訓練、加速"
    assert [words[start:end] for start, end in spans(words, terms(query))] == hits


@given(st.text(max_size=80), st.text(max_size=200))
def test_no_query_and_no_text_crashes(query: str, words: str) -> None:
    indexed(words)
    try:
        wanted = terms(query)
    except StoreError:
        return
    spans(words, wanted)


def test_a_database_from_before_the_search_is_made_findable(run_demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = open_database(f"sqlite:///{run_demo.parent.parent}/state/demo.sqlite3")
    with engine.begin() as connection:
        for command in (
            "DROP TABLE search",
            "DROP TABLE articles",
            "DROP TABLE subjects",
            "DROP INDEX issues_by_day",
            "DROP INDEX entries_by_arxiv",
            "ALTER TABLE answers DROP COLUMN kept_at",
            *(f"ALTER TABLE issues DROP COLUMN {name}" for name in ("changed_at", "listed", "languages")),
            *(
                f"DROP TABLE {name}"
                for name in ("subscribers", "suppressions", "mailings", "deliveries", "buckets", "signups", "returns", "runs", "locks", "alerts")
            ),
        ):
            connection.execute(text(command))
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    engine.dispose()
    assert found(capsys, run_demo, "运动员")[0] == 0


def test_a_word_that_must_not_be_there_is_no_option(run_demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def found_(*words: str) -> str:
        main(["search", *words, "--limit", "50", "--config", str(run_demo)])
        return capsys.readouterr().out

    assert "TideFlow" in found_("training") and "TideFlow" not in found_("training", "-TideFlow") and "found" in found_("training", "-TideFlow")
