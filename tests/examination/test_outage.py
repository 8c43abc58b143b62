"""An outage of one judge leaves the examinations of the others alone, and is asked about again."""

import re

import dagster as dg
import polars as pl

from benchmark_assets.automation import settling
from benchmark_assets.automation.due import due
from benchmark_assets.examination.flags import of_judges
from benchmark_assets.studies.study import CALLS, Item
from benchmark_assets.vital_signs.assets import Sentinels
from resources.keys import KEYS
from tests.examination.test_texts import fair
from tests.pairwise.arena import Arena
from tests.pairwise.test_examining import other
from tests.provider.server import Server, dumps

WHOLE = pl.DataFrame({key: [""] for key in KEYS})
JUDGES = ("comparer", "marker")
DOWN = {"by_key": {"marker": "overloaded"}, "retry_after": {"seconds": 700}}
"""503 for every question to one judge, with a wait that is too long for a run."""


def describe(arena: Arena, seed: int = 0) -> None:
    """Import the corpus with two judges of its rubric, and an examination with sentinels of this seed."""
    arena.examinable(seed=seed, rubric={"judges": list(JUDGES)})


def replies(arena: Arena, flatterer: str = "") -> dict[str, list[str]]:
    """Replies of fair judges to all sentinels; the `flatterer` gives every text the best mark of the rubric."""

    def mark(item: Item) -> int:
        return 5 if fair(item) or item.key["judge"] == flatterer else 1

    answers = {}
    for item in Sentinels(arena.warehouse, arena.systems).plan(WHOLE).items:
        if item.key["purpose"] == "rubric_vote":
            about = f"{item.key['judge']}|{item.content['source']}|{item.content['candidate']}"
            answers[about] = [dumps({"justification": "", "mark": mark(item), "perfect": False})]
        else:
            about = f"{item.content['translation_a']}|{item.content['translation_b']}"
            answers[about] = [dumps({"analysis": "", "summary": "", "answer": other(item)})]
    return answers


def update(arena: Arena) -> str:
    """Examine the judges and make their report cards, in a run each, as an update does; return why the runs failed."""
    job = arena.definitions.resolve_implicit_global_asset_job_def()
    reasons: list[str] = []
    for asset in ("sentinel", "judge_report", "judge_verdict"):
        with dg.DagsterInstance.get() as instance:
            part = job.get_subset(asset_selection={dg.AssetKey(asset)})
            reasons += settling.reasons(part.execute_in_process(instance=instance, raise_on_error=False).all_events)
    return "; ".join(reasons)


def stale(arena: Arena) -> list[str]:
    """Reasons why the examination is stale."""
    with dg.DagsterInstance.get() as instance:
        return due(arena.definitions, instance, dg.AssetKey("sentinel")).rows["reason"].to_list()


def verdicts(arena: Arena) -> dict[str, str]:
    """The verdict on each judge, as scores carry it."""
    standings = of_judges(arena.warehouse, "rubric_vote", [("tiny", judge) for judge in JUDGES])
    return {judge: standing.verdict for (_, judge), standing in standings.items()}


def asked(server: Server) -> set[str]:
    return {seen.model for seen in server.log()}


def test_the_judge_that_replies_gets_its_card_and_the_other_one_is_asked_again(arena: Arena, server: Server) -> None:
    describe(arena)
    server.configure(answer="judge", judgements=replies(arena), **DOWN)
    reason = update(arena)
    assert "marker is not examined in la-en: " in reason
    assert "asks to wait 700 s" in reason
    assert "comparer" not in reason
    assert verdicts(arena) == {"comparer": "passed", "marker": "not examined"}
    assert stale(arena) == ["incomplete"]
    first = arena.warehouse.read("sentinel").drop("fingerprint")

    server.configure(answer="judge", judgements=replies(arena))
    server.clear()
    assert update(arena) == ""
    assert asked(server) == {"marker"}
    assert verdicts(arena) == {"comparer": "passed", "marker": "passed"}
    assert stale(arena) == []
    assert arena.warehouse.read("sentinel").drop("fingerprint").filter(judge="comparer").equals(first)

    server.clear()
    assert update(arena) == ""
    assert server.log() == []


def test_a_judge_that_is_down_keeps_the_verdict_of_its_last_examination(arena: Arena, server: Server) -> None:
    describe(arena)
    server.configure(answer="judge", judgements=replies(arena, flatterer="marker"))
    assert update(arena) == ""
    assert verdicts(arena) == {"comparer": "passed", "marker": "failed"}
    kept = {table: rows_of_marker(arena, table) for table in ("sentinel", CALLS)}

    describe(arena, seed=1)
    server.configure(answer="judge", judgements=replies(arena), **DOWN)
    server.clear()
    assert "marker is not examined in la-en" in update(arena)
    assert asked(server) == {"comparer", "marker"}
    assert verdicts(arena) == {"comparer": "passed", "marker": "failed"}
    assert all(rows_of_marker(arena, table).equals(rows) for table, rows in kept.items())
    assert not kept[CALLS].is_empty()


def rows_of_marker(arena: Arena, table: str) -> pl.DataFrame:
    of_marker = pl.col("item").str.contains("|marker|", literal=True) if table == CALLS else pl.col("judge") == "marker"
    return arena.warehouse.read(table).drop("fingerprint", "run_id", "updated_at").filter(of_marker)


def test_if_no_judge_replies_nothing_is_stored(arena: Arena, server: Server) -> None:
    describe(arena)
    server.configure(answer="judge", by_key=dict.fromkeys(JUDGES, "overloaded"), retry_after={"seconds": 700})
    assert re.search(r"comparer is not examined in la-en: .*; marker is not examined in la-en: ", update(arena))
    assert arena.warehouse.read("materialization").filter(asset="sentinel").is_empty()
    assert stale(arena) == ["missing"]
