import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.corpus.units import UNITS
from benchmark_assets.references.rows import envelope_rows
from benchmark_assets.reporting.agreement import agreement

TRANSLATORS = ["ann", "ben", "cleo"]


def vectors(passages: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Unit vectors, shape (passages, translators, dimensions)."""
    raw = np.random.default_rng(6).normal(1, 1, size=(passages, len(TRANSLATORS), 8))
    raw /= np.linalg.norm(raw, axis=-1, keepdims=True)
    return raw


def agreed(texts: np.ndarray[tuple[int, ...], np.dtype[np.float64]], missing: set[tuple[int, str]]) -> pl.DataFrame:
    rows = [
        (f"x/{at}", name, texts[at, place].tolist(), False)
        for at in range(len(texts))
        for place, name in enumerate(TRANSLATORS)
        if (at, name) not in missing
    ]
    schema = pl.Schema(
        {"passage": pl.String(), "translator": pl.String(), "vector": pl.Array(pl.Float64, 8), "cut": pl.Boolean()}
    )
    references = pl.DataFrame(rows, schema=schema, orient="row")
    tables = envelope_rows(pl.DataFrame({"passage": [f"x/{at}" for at in range(len(texts))]}), references)
    units = pl.DataFrame([(f"x/{at}", str(at), "passages") for at in range(len(texts))], list(UNITS), orient="row")
    return agreement(tables["reference_similarity"], tables["reference_envelope"], units)


def test_it_says_of_the_vectors_what_one_would_compute_from_them() -> None:
    texts = vectors(30)
    found = agreed(texts, set())
    centroid = texts.mean(axis=1)
    centroid /= np.linalg.norm(centroid, axis=-1, keepdims=True)
    near = np.einsum("ptd,pd->pt", texts, centroid)
    for place, name in enumerate(TRANSLATORS):
        for measure, values in (("sim_centroid", near[:, place]), ("centroid_distance", 1 - near[:, place])):
            row = found.row(by_predicate=(pl.col("measure") == measure) & (pl.col("translator") == name), named=True)
            assert_allclose([row["value"], row["sd"]], [values.mean(), values.std()], atol=1e-9)
            assert row["value_low"] < row["value"] < row["value_high"]
    pair = found.row(by_predicate=(pl.col("translator") == "ann") & (pl.col("other") == "cleo"), named=True)
    assert_allclose(pair["value"], np.einsum("pd,pd->p", texts[:, 0], texts[:, 2]).mean(), atol=1e-9)
    spread = found.row(by_predicate=pl.col("measure") == "human_spread", named=True)
    assert_allclose([spread["value"], spread["sd"]], [(1 - near).mean(), (1 - near).mean(axis=1).std()], atol=1e-9)


def test_a_translator_counts_where_it_is_compared_with_another() -> None:
    found = agreed(vectors(5), missing={(0, "ann"), (1, "ann"), (1, "ben"), (2, "cleo")})
    counts = {(measure, a, b): n for _, measure, a, b, n, *_ in found.rows()}
    assert counts["human_spread", "", ""] == 4  # one passage has a single reference
    assert (counts["sim_centroid", "ann", ""], counts["sim_centroid", "ben", ""]) == (3, 4)
    assert counts["similarity", "ann", "cleo"] == 2


def test_the_mean_distance_of_all_is_the_spread() -> None:
    found = agreed(vectors(12), set())
    distances = found.filter(measure="centroid_distance")["value"]
    assert found.filter(measure="human_spread")["value"].item() == pytest.approx(distances.mean())


def test_a_corpus_with_one_translator_has_no_rows() -> None:
    assert agreed(vectors(4), {(at, name) for at in range(4) for name in ("ben", "cleo")}).is_empty()
