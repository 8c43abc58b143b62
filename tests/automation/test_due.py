"""Ranges that cover the stale partitions and few others, and the order of assets."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise, product

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation.due import GAP, order, ranges
from benchmark_assets.definitions import build_definitions
from benchmark_assets.partitions import GRID, PASSAGE, dimensions

# Dagster's order is not that of the alphabet.
MODELS = ["m3", "m1", "m4", "m0", "m2"]
ITEMS = [f"i{number}" for number in reversed(range(5 * GAP // 2))]

Partition = tuple[str, ...]


def known(dims: Sequence[str]) -> dict[str, list[str]]:
    return {dim: MODELS if dim == "model" else ITEMS for dim in dims}


def frame(rows: Collection[Partition], dims: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict.fromkeys(dims, pl.String), orient="row")


def held(ends: tuple[str, str], dims: Sequence[str]) -> list[Partition]:
    """The partitions of a range: from its first to its last key in each dimension."""
    first, last = (end.split("|") for end in ends)
    sides = []
    for dim, begin, end in zip(dims, first, last, strict=True):
        keys = known(dims)[dim]
        sides.append(keys[keys.index(begin) : keys.index(end) + 1])
    return list(product(*sides))


def definition(sides: Mapping[str, Sequence[str]]) -> dg.PartitionsDefinition[str]:
    each = {dim: dg.StaticPartitionsDefinition(keys) for dim, keys in sides.items()}
    return dg.MultiPartitionsDefinition(each) if len(each) > 1 else next(iter(each.values()))


@st.composite
def grids(draw: st.DrawFn) -> tuple[list[str], list[Partition]]:
    """Dimensions, and some of their partitions in any order: a few blocks, so that neighbours may be alike."""
    dims = draw(st.sampled_from([["model", "passage"], ["item", "model"], ["passage"]]))
    rows: set[Partition] = set()
    for _ in range(draw(st.integers(1, 3))):
        block = {
            "model": draw(st.sets(st.sampled_from(MODELS), min_size=1)),
            "": {ITEMS[i] for i in draw(st.sets(st.integers(0, len(ITEMS) - 1), min_size=1, max_size=4))},
        }
        rows |= set(product(*(block.get(dim, block[""]) for dim in dims)))
    return dims, draw(st.permutations(sorted(rows)))


def along(rows: Collection[Partition], dims: Sequence[str]) -> dict[Partition, list[int]]:
    """Places of partitions on the dimension that is not the model's, ascending, by model."""
    inner = next(i for i, dim in enumerate(dims) if dim != "model")
    found: dict[Partition, list[int]] = {}
    for row in rows:
        found.setdefault(row[:inner] + row[inner + 1 :], []).append(ITEMS.index(row[inner]))
    return {model: sorted(places) for model, places in found.items()}


@given(grids())
def test_ranges_hold_all_that_is_due_once_and_else_only_short_stretches_between(
    grid: tuple[list[str], list[Partition]],
) -> None:
    dims, rows = grid
    found = [held(ends, dims) for ends in ranges(frame(rows, dims), dims, known(dims))]
    everything = [partition for each in found for partition in each]
    assert len(everything) == len(set(everything))
    assert set(rows) <= set(everything)
    due, taken = along(rows, dims), along(everything, dims)
    assert set(due) == set(taken)
    for model, places in due.items():
        assert (taken[model][0], taken[model][-1]) == (places[0], places[-1])
        besides = [place for place in taken[model] if place not in set(places)]
        for before, after in pairwise(places):
            between = [place for place in besides if before < place < after]
            assert not between or len(between) == after - before - 1 <= GAP  # all of a gap or nothing
            assert between or after == before + 1 or after - before >= GAP  # what is short is taken along


@pytest.mark.parametrize("dims", [["passage"], ["model", "passage"], ["item", "model"]])
@pytest.mark.parametrize(("between", "count"), [(0, 1), (1, 1), (GAP - 1, 1), (GAP + 1, 2)])
def test_a_gap_divides_only_where_it_is_long(dims: list[str], between: int, count: int) -> None:
    ends = {"model": {"m1"}, "": {ITEMS[7], ITEMS[8 + between]}}
    rows = list(product(*(ends.get(dim, ends[""]) for dim in dims)))
    assert len(ranges(frame(rows, dims), dims, known(dims))) == count


@pytest.mark.parametrize("dims", [["model", "passage"], ["item", "model"]])
def test_a_range_is_to_dagster_the_rectangle_that_is_due(dims: list[str]) -> None:
    sides = {dim: MODELS if dim == "model" else ITEMS[:9] for dim in dims}
    due = {dim: keys[1:4] for dim, keys in sides.items()}
    rows = list(product(*due.values()))
    ((first, last),) = ranges(frame(rows, dims), dims, sides)
    keys = definition(sides).get_partition_keys_in_range(dg.PartitionKeyRange(first, last))
    assert sorted(keys) == sorted("|".join(row) for row in rows)


@pytest.mark.parametrize("dim", ["model", "passage"])
def test_a_range_over_one_dimension_is_to_dagster_what_is_due(dim: str) -> None:
    keys = known([dim])[dim][1:4]
    ((first, last),) = ranges(frame([(key,) for key in reversed(keys)], [dim]), [dim], known([dim]))
    found = definition(known([dim])).get_partition_keys_in_range(dg.PartitionKeyRange(first, last))
    assert list(found) == keys


def test_all_of_a_grid_is_one_range() -> None:
    dims = ["model", "passage"]
    rows = list(product(MODELS, ITEMS))
    assert ranges(frame(rows, dims), dims, known(dims)) == [(f"m3|{ITEMS[0]}", f"m2|{ITEMS[-1]}")]


def test_models_of_which_different_passages_are_due_are_not_joined() -> None:
    dims = ["model", "passage"]
    rows = [("m3", ITEMS[0]), ("m1", ITEMS[0]), ("m4", ITEMS[0]), ("m4", ITEMS[1]), ("m0", ITEMS[1]), ("m2", ITEMS[1])]
    found = [set(held(ends, dims)) for ends in ranges(frame(rows, dims), dims, known(dims))]
    assert found == [set(rows[:2]), set(rows[2:4]), set(rows[4:])]


def test_models_with_another_between_them_are_not_joined() -> None:
    dims = ["model", "passage"]
    rows = [("m3", ITEMS[5]), ("m4", ITEMS[5])]
    assert len(ranges(frame(rows, dims), dims, known(dims))) == 2


# The order of assets


@pytest.fixture(scope="module")
def specs() -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in build_definitions().resolve_all_asset_specs()}


@pytest.fixture(scope="module")
def sequence() -> list[str]:
    return [key.to_user_string() for key in order(build_definitions())]


def test_every_asset_comes_once_and_after_its_inputs(specs: dict[str, dg.AssetSpec], sequence: list[str]) -> None:
    done = {
        "source_text",
        "segmented_reference",
        "continuous_reference",
    }  # a look at the files fills these, and nothing else
    assert sorted(sequence) == sorted(set(specs) - done - {"report"})
    for name in sequence:
        assert {dep.asset_key.to_user_string() for dep in specs[name].deps} <= done, name
        done.add(name)


def test_what_needs_no_model_comes_before_models_are_paid(specs: dict[str, dg.AssetSpec], sequence: list[str]) -> None:
    free = [name for name in sequence if dimensions(specs[name].partitions_def) in (["passage"], ["task"])]
    assert {"reference", "reference_envelope", "human_baseline"} <= set(free)
    paid = next(place for place, name in enumerate(sequence) if "model" in dimensions(specs[name].partitions_def))
    assert set(sequence[:paid]) == {*free, "near_duplicate"}


def test_what_is_made_on_demand_is_never_due(sequence: list[str]) -> None:
    assert "report" not in sequence


def test_what_has_no_partitions_comes_last(specs: dict[str, dg.AssetSpec], sequence: list[str]) -> None:
    needed = {
        "near_duplicate",
        "sentinel",
        "judge_report",
        "judge_verdict",
    }  # by assets with partitions
    single = [name for name in sequence if specs[name].partitions_def is None and name not in needed]
    assert {"leaderboard", "model_call", "human_range"} <= set(single)
    assert sequence[-len(single) :] == single


def test_an_input_comes_first_even_if_it_needs_models_or_has_no_partitions() -> None:
    single, grid, passage, free = (
        dg.asset(name=name, partitions_def=partitions, deps=deps)(lambda: None)
        for name, partitions, deps in [
            ("single", None, []), ("grid", GRID, ["single"]), ("passage", PASSAGE, ["grid"]), ("free", PASSAGE, []),
        ]
    )  # fmt: skip
    found = order(dg.Definitions(assets=[passage, grid, single, free]))
    assert [key.to_user_string() for key in found] == ["free", "single", "grid", "passage"]
