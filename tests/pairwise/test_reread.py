"""A home of an earlier version, which could not read some replies of a judge: they are read again, and only they."""

import asyncio
from pathlib import Path

import dagster as dg
import polars as pl

from benchmark_assets.automation.due import due
from benchmark_assets.pairwise.rubric import RubricVotes
from benchmark_assets.studies.study import CALLS, Item
from resources.provider.asking import TRIES
from resources.warehouse import Replacement
from tests.pairwise.arena import FIRST, SECOND, Arena
from tests.pairwise.test_rubric import MINE, mark
from tests.provider.server import Server
from tests.support import PASSAGES

STAMPS = ["run_id", "updated_at"]
NOW_READABLE, NEVER_READABLE, USED = PASSAGES


def stale(arena: Arena) -> dict[str, str]:
    """The passages of stale votes, with reasons."""
    with dg.DagsterInstance.get() as instance:
        rows = due(arena.definitions, instance, dg.AssetKey("rubric_vote")).rows
    return dict(rows.filter(model="ours").select("passage", "reason").iter_rows())


def of_an_earlier_version(arena: Arena, server: Server) -> None:
    """Judge all outputs, and make the votes of `marker` on two of them what an earlier version stored: it asked six
    times, read nothing, and abstained."""
    thinking = f"<think>A 3? {mark(3)}</think>{mark(4)}"
    server.configure(
        answer="judge",
        judgements={
            "comparer": [mark(5)],
            f"marker|{FIRST}": [thinking],
            f"marker|{SECOND}": ["?"],
            "marker": [mark(2)],
        },
    )
    arena.describe(["comparer", "marker"])
    arena.row("rubric_vote")
    lost = [item for item in RubricVotes(arena.warehouse, arena.systems).plan(MINE).items if _is_lost(item)]
    assert len(lost) == 2

    async def ask() -> list[str]:
        async with arena.provider.opened("earlier") as client:
            return [
                (await client.ask(item.template.question(item.content, number))).key
                for item in lost if item.template for number in range(TRIES)
            ]  # fmt: skip

    last = asyncio.run(ask())[TRIES - 1 :: TRIES]
    of_marker = pl.col("passage").is_in(PASSAGES[:2]) & (pl.col("judge") == "marker")
    nothing = {name: pl.when(~of_marker).then(name) for name in ("mark", "perfect", "justification")}
    votes = (
        arena.warehouse.read("rubric_vote")
        .drop(STAMPS)
        .with_columns(**nothing, abstention=pl.when(of_marker).then(pl.lit("no JSON")))
    )
    calls = arena.warehouse.read(CALLS).drop(STAMPS)
    chains = dict(zip(PASSAGES[:2], last, strict=True))
    of_call = pl.col("passage").is_in(list(chains)) & (pl.col("item") == "marker")
    key = pl.when(of_call).then(pl.col("passage").replace_strict(chains, default="")).otherwise("call")
    calls = calls.with_columns(call=key, parsing=pl.when(~of_call).then("parsing"))
    arena.warehouse.write([Replacement("rubric_vote", votes, None), Replacement(CALLS, calls, None)], run_id="earlier")


def _is_lost(item: Item) -> bool:
    return item.key["judge"] == "marker" and item.partition[1] in PASSAGES[:2]


def test_lost_replies_are_read_again_and_no_judge_is_asked(arena: Arena, server: Server) -> None:
    of_an_earlier_version(arena, server)
    before = arena.warehouse.read("rubric_vote")
    asked = len(server.log())
    assert stale(arena) == dict.fromkeys(PASSAGES[:2], "stored replies can be read again")

    arena.row("rubric_vote")
    votes = arena.warehouse.read("rubric_vote")
    assert len(server.log()) == asked
    assert stale(arena) == {}
    changed = votes.filter((votes["mark"] != before["mark"]).fill_null(votes["mark"].is_not_null()))
    assert changed.select("passage", "judge", "mark").rows() == [(NOW_READABLE, "marker", 4)]
    assert votes.filter(pl.col("mark").is_null()).select("passage", "judge").rows() == [(NEVER_READABLE, "marker")]
    ways = arena.warehouse.read(CALLS).filter(item="marker").select("passage", "parsing").rows()
    assert ways == [(NOW_READABLE, "tolerant"), (NEVER_READABLE, "unread"), (USED, "strict")]


def test_without_the_replies_an_abstention_stays_one(arena: Arena, server: Server) -> None:
    of_an_earlier_version(arena, server)
    Path(arena.provider.ledger_path).unlink()
    assert stale(arena) == {}
