import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from polars.testing import assert_frame_equal

from benchmark_assets.references.rows import envelope_rows
from tests.vectors import embedded, references

PASSAGES = pl.DataFrame({"passage": ["x/3", "x/1", "x/2", "x/0"]})
THREE = {"ann": [1.0, 0.0], "ben": [0.0, 1.0], "cleo": [0.6, 0.8]}
GIVEN = {"x/1": THREE, "x/2": {"ann": [1.0, 0.0]}, "x/3": {"ben": [1.0, 0.0], "ann": [0.8, 0.6]}}


def test_every_passage_has_a_row_in_the_order_asked_for() -> None:
    rows = envelope_rows(PASSAGES, references(GIVEN))["reference_envelope"]
    assert rows.select("passage", "reference_count").rows() == [("x/3", 2), ("x/1", 3), ("x/2", 1), ("x/0", 0)]


def test_a_passage_with_fewer_than_two_references_has_a_count_and_nothing_else() -> None:
    rows = envelope_rows(PASSAGES, references(GIVEN))["reference_envelope"]
    lacking = rows.filter(pl.col("reference_count") < 2).drop("passage", "reference_count")
    assert len(lacking) == 2
    assert lacking.null_count().row(0) == (2,) * lacking.width


def test_every_pair_of_references_stands_once_in_alphabetical_order() -> None:
    pairs = envelope_rows(PASSAGES, references(GIVEN))["reference_similarity"]
    assert [row[:3] for row in pairs.rows()] == [
        ("x/3", "ann", "ben"), ("x/1", "ann", "ben"), ("x/1", "ann", "cleo"), ("x/1", "ben", "cleo"),
    ]  # fmt: skip
    assert_allclose(pairs["similarity"], [0.8, 0.0, 0.6, 0.8], atol=1e-6)


def test_mean_and_least_similarity_are_over_the_pairs() -> None:
    row = envelope_rows(PASSAGES, references(GIVEN))["reference_envelope"].row(1, named=True)
    assert_allclose([row["mean_similarity"], row["least_similarity"]], [(0 + 0.6 + 0.8) / 3, 0], atol=1e-6)
    assert_allclose(row["centroid"], [1.6 / 3, 0.6], atol=1e-6)


def test_the_order_of_the_rows_says_nothing() -> None:
    for table, rows in envelope_rows(PASSAGES, references(GIVEN).reverse()).items():
        assert_frame_equal(rows, envelope_rows(PASSAGES, references(GIVEN))[table])


@pytest.mark.parametrize("count", [2, 3, 8])
def test_the_bits_of_a_passage_do_not_depend_on_the_passages_beside_it(count: int) -> None:
    vectors = np.random.default_rng(count).normal(1, 1, (20, count, 384))
    own = {f"x/{i:02}": {f"t{j}": vector.tolist() for j, vector in enumerate(part)} for i, part in enumerate(vectors)}
    passages = pl.DataFrame({"passage": [*own]})
    whole = envelope_rows(passages, references(own))
    for part in (passages[:1], passages[3:10], passages[10:].reverse()):
        for table, rows in envelope_rows(part, references(own)).items():
            expected = whole[table].join(part, on="passage", how="semi")
            assert rows.sort(rows.columns[:3]).equals(expected.sort(rows.columns[:3]))


@pytest.mark.parametrize(
    ("cuts", "counted"), [((False, False, False), 0), ((True, False, True), 2), ((True, None, True), None)]
)
def test_cut_references_are_counted_where_the_embedder_can_tell(
    cuts: tuple[bool | None, ...], counted: int | None
) -> None:
    own = [(name, "x/1", vector, cut) for (name, vector), cut in zip(THREE.items(), cuts, strict=True)]
    rows = envelope_rows(pl.DataFrame({"passage": ["x/1"]}), embedded("translator", own))["reference_envelope"]
    assert rows["cut_references"].to_list() == [counted]


def test_without_any_reference_there_are_rows_and_no_pairs() -> None:
    found = envelope_rows(PASSAGES, references(GIVEN).clear())
    assert found["reference_envelope"]["reference_count"].to_list() == [0, 0, 0, 0]
    assert found["reference_similarity"].is_empty()
