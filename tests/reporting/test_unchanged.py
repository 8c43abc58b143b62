from functools import cache

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from benchmark_assets.reporting.slices import sliced, slices
from benchmark_assets.reporting.unchanged import bases
from tests.metrics.scores import scores

PASSAGES = 12
SYSTEMS = ("one", "two", "three", "four")

CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("score"), st.sampled_from(SYSTEMS), st.integers(0, PASSAGES - 1)),
        st.tuples(st.just("remove"), st.sampled_from(SYSTEMS), st.just(0)),
        st.tuples(st.just("add"), st.sampled_from(SYSTEMS), st.just(0)),
        st.tuples(st.just("drop"), st.sampled_from(SYSTEMS), st.integers(0, PASSAGES - 1)),
        st.tuples(st.just("apart"), st.sampled_from(SYSTEMS), st.just(0)),
    ),
    min_size=1, max_size=6,
)  # fmt: skip


def system(name: str) -> pl.DataFrame:
    similarities = [0.5 + 0.03 * ((at * (1 + SYSTEMS.index(name))) % 7) for at in range(PASSAGES)]
    rows = scores([1.0 + similarity for similarity in similarities], similarities, system=name)
    references = pl.lit(3, pl.UInt32).alias("references")
    return rows.rename({"model": "system"}).with_columns(references, corpus=pl.lit("x"), apart=pl.lit(""))


def changed(rows: pl.DataFrame, change: tuple[str, str, int]) -> pl.DataFrame:
    what, name, at = change
    own, here = pl.col("system") == name, pl.col("passage") == f"x/{at}"
    if what == "score":
        return rows.with_columns(sim_best=pl.when(own & here).then(pl.col("sim_best") / 2).otherwise("sim_best"))
    if what == "drop":
        return rows.filter(~(own & here))
    if what == "apart":
        return rows.with_columns(apart=pl.when(own).then(pl.lit("another prompt")).otherwise("apart"))
    others = rows.filter(~own)
    return others if what == "remove" else pl.concat([others, system(name)])


@cache
def members() -> pl.DataFrame:
    return slices(
        pl.DataFrame({
            "corpus": "x", "passage": [f"x/{at}" for at in range(PASSAGES)],
            "document": [("an", "mn")[at % 2] + str(at) for at in range(PASSAGES)],
            "source_length": range(PASSAGES), "reference_length": range(PASSAGES), "human_spread": [0.1] * PASSAGES,
            "rarity": [1.0] * PASSAGES,
        })
    )  # fmt: skip


@given(CHANGES)
def test_updated_aggregates_are_those_computed_from_nothing(changes: list[tuple[str, str, int]]) -> None:
    rows = pl.concat(system(name) for name in SYSTEMS[:3])
    parts = sliced(rows, members())
    for change in changes:
        rows = changed(rows, change)
        parts = sliced(rows, members(), parts)
    assert_frame_equal(parts, sliced(rows, members()), rel_tol=1e-12, abs_tol=1e-12)


def test_only_changed_scores_are_computed_again() -> None:
    """Marks in stored rows stay where nothing has changed, also beside another system and in another order."""
    rows = pl.concat(system(name) for name in SYSTEMS[:3])
    edited = changed(pl.concat([rows.reverse(), system("four")]), ("score", "three", 4))
    stored = sliced(rows, members()).with_columns(sim_best=pl.lit(99.0))
    parts = sliced(edited, members(), stored).filter(sim_best=99.0).group_by("system").len().sort("system")
    every = len(stored) // 3
    assert parts.rows() == [
        ("one", every),
        ("three", every - 3),
        ("two", every),
    ]  # collection, and two thirds by length


@pytest.mark.parametrize("settings", ["", "other code"])
def test_other_settings_keep_nothing(settings: str) -> None:
    rows = pl.concat(system(name) for name in SYSTEMS[:3])
    marked = sliced(rows, members()).with_columns(sim_best=pl.lit(99.0))
    assert (sliced(rows, members(), marked, settings)["sim_best"] == 99.0).all() == (settings == "")


def test_a_basis_does_not_depend_on_order_or_time() -> None:
    rows = system("one").with_columns(run_id=pl.lit("first"), fingerprint=pl.lit("a"))
    later = rows.sample(fraction=1, shuffle=True, seed=3).with_columns(run_id=pl.lit("second"))
    assert bases(rows, ["system"], "").equals(bases(later, ["system"], ""))
    assert bases(rows, ["system"], "").height == 1
