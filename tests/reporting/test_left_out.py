import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from benchmark_assets.metrics.baseline import against_the_others
from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.references.rows import envelope_rows
from benchmark_assets.reporting.left_out import left_out_scores
from tests.reporting.similarities import outputs, pairs
from tests.support import examples
from tests.vectors import candidates, exchangeable_translations, references

NAMES = ["ann", "ben", "cleo", "dov", "eve"]
SCORES = ["sim_best", "drift_adjusted"]


@examples(10)
@given(st.integers(2, 5), st.integers(0, 1000))
def test_similarities_give_the_scores_that_vectors_give(count: int, seed: int) -> None:
    """Of a translator, those of the human baseline; of a model, those of an output with one reference fewer."""
    drawn, names = exchangeable_translations(seed, 2, count + 1), NAMES[:count]
    own, model = drawn[:, :count], drawn[:, count]
    rows = left_out_scores(outputs({"m": model}, own, names), pairs(own, names))
    assert rows["references"].unique().to_list() == [count - 1]
    assert len(rows) == 2 * count * 2

    human = references({f"x/{at}": dict(zip(names, each, strict=True)) for at, each in enumerate(own)})
    expected = against_the_others(human, human).sort("passage", "translator")
    people = rows.filter(kind="human").sort("passage", "left_out")
    assert people["system"].equals(people["left_out"], check_names=False)
    for name in SCORES:
        assert_allclose(people[name].cast(pl.Float64), expected[name].cast(pl.Float64), rtol=1e-4)

    tried = candidates({f"x/{at}": {"m": vector} for at, vector in enumerate(model)})
    for translator in names:
        others = human.filter(pl.col("translator") != translator)
        envelopes = envelope_rows(tried.select("passage"), others)["reference_envelope"]
        scores, _ = semantic_scores(tried, others, envelopes, on=["model", "passage"], within=["passage"])
        found = rows.filter(kind="model", left_out=translator).sort("passage")
        for name in SCORES:
            assert_allclose(found[name].cast(pl.Float64), scores[name].cast(pl.Float64), rtol=1e-4)


@pytest.mark.parametrize(("count", "drifts"), [(2, 0), (3, 6)])
def test_two_references_leave_one_and_so_no_drift(count: int, drifts: int) -> None:
    drawn = exchangeable_translations(1, 1, 4)
    names = NAMES[:count]
    rows = left_out_scores(outputs({"m": drawn[:, 3]}, drawn[:, :count], names), pairs(drawn[:, :count], names))
    assert rows["sim_best"].count() == 2 * count
    assert rows["drift_adjusted"].count() == drifts


def test_an_output_without_references_has_no_row() -> None:
    own = exchangeable_translations(1, 2, 3)
    rows = left_out_scores(outputs({"m": own[:, 0]}, own, NAMES[:3]), pairs(own[:1], NAMES[:3]))
    assert rows["passage"].unique().to_list() == ["x/0"]
    assert left_out_scores(outputs({}, own, NAMES[:3]), pairs(own, NAMES[:3]).clear()).is_empty()
