"""Vital signs of judges that are honest, that always answer A, that toss coins, and that like length."""

import numpy as np
import polars as pl
import pytest

from benchmark_assets.vital_signs.signs import JUDGED, PAIR, TABLE, signs, verdicts
from tests.pairwise.arena import OUTPUTS, Arena
from tests.pairwise.conftest import arena, opened_arena  # noqa: F401
from tests.provider.server import Server, dumps

ITEMS = 80


def judged(judge: str, seed: int = 1) -> pl.DataFrame:
    """Verdicts of a judge in both orders on outputs that are longer or shorter than the other text."""
    chance = np.random.default_rng(seed)
    rows = []
    for number in range(ITEMS):
        lengths = float(chance.normal())
        better = bool(chance.random() < 0.5)
        for shown in "AB":
            won = {
                "honest": better,
                "always A": shown == "A",
                "coin": bool(chance.random() < 0.5),
                "length": bool(chance.random() < 1 / (1 + np.exp(-2 * lengths))),
            }[judge]
            rows.append(("comparison", "x", judge, "", "m", f"x/{number}", "a", shown, won, False, lengths, "v1", "r"))
    schema = [*PAIR, "shown", "won", "tie", "lengths", "version", "run"]
    assert PAIR[: len(JUDGED)] == JUDGED
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(unit="passage", unit_kind=pl.lit("passages"))


def test_each_judge_has_its_own_signs() -> None:
    found = {}
    for judge in ("honest", "always A", "coin", "length"):
        rows = signs(judged(judge))
        assert rows.schema == TABLE
        found[judge] = rows.row(0, named=True)
    assert (found["honest"]["first_rate"], found["honest"]["contradiction_rate"]) == (0.5, 0)
    assert (found["always A"]["first_rate"], found["always A"]["contradiction_rate"]) == (1, 1)
    assert found["coin"]["contradiction_rate_low"] < 0.5 < found["coin"]["contradiction_rate_high"]
    assert found["length"]["length_effect_low"] > 1
    assert found["honest"]["length_effect_low"] < 0 < found["honest"]["length_effect_high"]
    assert {row["pairs"] for row in found.values()} == {ITEMS}


def test_refused_orders_and_ties_are_counted_apart() -> None:
    refused = (pl.col("passage") == "x/0") & (pl.col("shown") == "A")
    unsure = pl.col("passage") == "x/1"
    both = pl.col("passage") == "x/2"
    rows = judged("honest").with_columns(
        won=pl.when(~(refused | unsure | both)).then("won"), tie=pl.when(unsure).then(True).otherwise("tie")
    )
    found = signs(rows).row(0, named=True)
    assert (found["pairs"], found["incomplete"], found["refused_a"], found["refused_b"]) == (ITEMS, 1, 2, 1)
    assert found["tie_rate"] == pytest.approx(2 / (2 * ITEMS - 3))
    assert found["contradiction_rate"] == 0


def test_versions_and_runs_have_rows_of_their_own_if_there_are_several() -> None:
    early = pl.int_range(pl.len()) < ITEMS
    rows = judged("coin").with_columns(version=pl.when(early).then(pl.lit("v1")).otherwise(pl.lit("v2")))
    found = signs(rows)
    assert found.select("part_of", "part").rows() == [("all", ""), ("version", "v1"), ("version", "v2")]
    assert found["verdicts"].to_list() == [2 * ITEMS, ITEMS, ITEMS]


def test_verdicts_are_those_of_pairs_that_the_judge_saw(arena: Arena, server: Server) -> None:  # noqa: F811
    arena.base_set()
    always = [dumps({"analysis": "", "summary": "", "answer": "A"})]
    server.configure(answer="judge", judgements={"comparer": always})
    arena.row("comparison")
    calls = arena.provider.ledger.attempts().select("served_model", "run", call="key")
    found = verdicts(arena.warehouse, calls)
    asked = arena.warehouse.read("comparison").filter(pl.col("asked") > 0)
    assert len(found) == len(asked) == len(OUTPUTS) * 3 * 2
    assert set(found["judge"]) == {"comparer"}
    assert found["lengths"].null_count() == 0
    arena.materialize(["vital_sign"], "", "")
    (row,) = arena.warehouse.read("vital_sign").to_dicts()
    assert (row["first_rate"], row["contradiction_rate"], row["verdicts"]) == (1, 1, len(found))
