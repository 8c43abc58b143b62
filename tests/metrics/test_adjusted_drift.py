"""Drift that does not depend on the number of references, and the published form, which does."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from benchmark_assets.metrics.drift import adjusted_drift, cosine_drift
from benchmark_assets.references.envelope import envelope
from tests.vectors import exchangeable_translations, passage_centers, unit_vectors

Vectors = NDArray[np.float64]


def distances(candidates: Vectors, own: Vectors) -> tuple[Vectors, Vectors]:
    """Mean similarity of each candidate to its references, and of these to each other."""
    pairs = list(combinations(range(own.shape[1]), 2))
    among = [np.einsum("pd,pd->p", own[:, one], own[:, other]) for one, other in pairs]
    return np.einsum("pd,pkd->pk", candidates, own).mean(axis=1), np.mean(among, axis=0)


def drifts(candidates: Vectors, own: Vectors) -> tuple[Vectors, Vectors]:
    """Published and adjusted drift of each candidate from its references."""
    centroid, spread, *_ = envelope(own)
    to_centroid = np.einsum("pd,pd->p", candidates, centroid) / np.linalg.norm(centroid, axis=1)
    return cosine_drift(to_centroid, spread), adjusted_drift(*distances(candidates, own))


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_as_far_from_the_references_as_they_are_from_each_other_is_one(similarity: float, agreement: float) -> None:
    drift = adjusted_drift(np.array([similarity]), np.array([agreement])).item()
    assert 0 < drift <= 101 * (1 + 1e-9)
    assert (drift > 1) == (1 - similarity + 0.02 > 1 - agreement + 0.02)
    assert adjusted_drift(np.array([similarity]), np.array([similarity])).item() == 1


@given(unit_vectors(3).filter(lambda drawn: bool(np.linalg.norm(drawn[2:].mean(axis=0)) > 0.05)), st.data())
def test_candidates_of_a_passage_have_the_same_order_in_both_forms(vectors: Vectors, data: st.DataObject) -> None:
    own = vectors[2:] if len(vectors) > 3 else vectors[[0, 2]]
    if np.linalg.norm(own.mean(axis=0)) < 0.05:
        return
    one, other = (np.array(pair) for pair in zip(*(drifts(each[None], own[None]) for each in vectors[:2]), strict=True))
    assert (one[0] - one[1]).item() * (other[0] - other[1]).item() >= -1e-9


@given(unit_vectors(3))
def test_translators_left_out_in_turn_are_as_far_as_they_are_apart_on_average(vectors: Vectors) -> None:
    """Exactly, for any vectors and any number of references: numerator and denominator have the same mean."""
    pairs = [distances(vector[None], np.delete(vectors, at, axis=0)[None]) for at, vector in enumerate(vectors)]
    similarity, agreement = np.array(pairs)[:, :, 0].T
    assert_allclose((adjusted_drift(similarity, agreement) * (1.02 - agreement)).mean(), (1.02 - agreement).mean())


@pytest.mark.proof
def test_an_exchangeable_translation_drifts_by_one_with_any_number_of_references(full: bool) -> None:
    """Also one that is nearer to the passage than people, or farther, drifts the same with two references or eight."""
    counts, passages, tolerance = (range(2, 9), 5000, 0.06) if full else ((2, 8), 1000, 0.1)
    texts = exchangeable_translations(1, passages, 9)
    center = passage_centers(1, passages)
    means = []
    for count in counts:
        own, candidate = texts[:, :count], texts[:, -1]
        near = candidate + center
        far = 2 * candidate - center
        scores = [drifts(each / np.linalg.norm(each, axis=1, keepdims=True), own) for each in (candidate, near, far)]
        means.append([float(drift.mean()) for pair in scores for drift in pair])
    table = pl.DataFrame(means, schema=["drift", "adjusted", "near", "near, adjusted", "far", "far, adjusted"],
                         orient="row").with_columns(references=pl.Series(list(counts)))  # fmt: skip
    print(f"\n{table}")
    assert_allclose(table["adjusted"], 1, atol=tolerance)
    assert table["drift"][0] > 2.2
    assert table["drift"][-1] < 1.2
    for name in ("near, adjusted", "far, adjusted"):
        assert_allclose(table[name], table[name][-1], rtol=tolerance)
