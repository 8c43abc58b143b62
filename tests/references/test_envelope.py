import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from benchmark_assets.references.envelope import envelope
from tests.vectors import unit_vectors

ENVELOPES = unit_vectors(least=2).filter(lambda drawn: bool(np.linalg.norm(drawn.mean(axis=0)) > 0.05))


@given(ENVELOPES)
def test_spread_is_one_minus_the_length_of_the_mean(references: NDArray[np.float64]) -> None:
    length = math.dist(references.sum(axis=0) / len(references), np.zeros(references.shape[1]))
    assert_allclose(envelope(references).spread, 1 - length, atol=1e-9)


@given(ENVELOPES, st.data())
def test_similarity_to_the_centroid_is_the_mean_similarity_over_one_minus_spread(
    references: NDArray[np.float64], data: st.DataObject
) -> None:
    candidate = data.draw(unit_vectors(1, 1).filter(lambda drawn: drawn.shape[1] == references.shape[1]))[0]
    found = envelope(references)
    to_centroid = candidate @ found.centroid / np.linalg.norm(found.centroid)
    assert_allclose(to_centroid, (references @ candidate).mean() / (1 - found.spread), atol=1e-9)


@given(ENVELOPES, st.randoms(use_true_random=False))
def test_the_order_of_the_references_says_nothing(references: NDArray[np.float64], random: Random) -> None:
    order = list(range(len(references)))
    random.shuffle(order)
    found, shuffled = envelope(references), envelope(references[order])
    assert_allclose(shuffled.centroid, found.centroid, atol=1e-12)
    assert_allclose([shuffled.spread, shuffled.euclidean_spread], [found.spread, found.euclidean_spread], atol=1e-12)
    assert_allclose(shuffled.similarities, found.similarities[np.ix_(order, order)], atol=1e-12)


@given(ENVELOPES, st.integers(0, 2**32 - 1))
def test_turning_the_space_turns_the_centroid_and_nothing_else(references: NDArray[np.float64], seed: int) -> None:
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(references.shape[1],) * 2))
    found, turned = envelope(references), envelope(references @ turn)
    assert_allclose(turned.centroid, found.centroid @ turn, atol=1e-9)
    assert_allclose([turned.spread, turned.euclidean_spread], [found.spread, found.euclidean_spread], atol=1e-9)
    assert_allclose(turned.similarities, found.similarities, atol=1e-9)


@given(ENVELOPES)
def test_spreads_lie_between_nothing_and_one(references: NDArray[np.float64]) -> None:
    found = envelope(references)
    assert 0 <= found.spread < 1
    assert 0 <= found.euclidean_spread <= 1
    # distances from the mean have mean square 1 - m², and a mean is at most the root of a mean square
    assert found.euclidean_spread**2 <= 1 - (1 - found.spread) ** 2 + 1e-9


@given(unit_vectors(1, 1), st.integers(2, 12))
def test_identical_references_do_not_spread(reference: NDArray[np.float64], count: int) -> None:
    found = envelope(np.repeat(reference.astype(np.float32), count, axis=0))
    assert_allclose(found.spread, 0, atol=1e-6)
    assert found.euclidean_spread == 0
    assert_allclose(found.centroid, reference[0], atol=1e-6)
    assert_allclose(found.similarities, 1, atol=1e-6)


@pytest.mark.parametrize(
    ("count", "spread", "euclidean_spread"),
    [
        (2, 1 - 1 / math.sqrt(2), 1 / math.sqrt(2)),
        (3, 1 - 1 / math.sqrt(3), math.sqrt(2 / 3)),
        (16, 3 / 4, math.sqrt(15 / 16)),
    ],
)
def test_references_at_right_angles(count: int, spread: float, euclidean_spread: float) -> None:
    found = envelope(np.eye(count, dtype=np.float32))
    assert_allclose([found.spread, found.euclidean_spread], [spread, euclidean_spread], atol=1e-12)
    assert_allclose(found.centroid, 1 / count)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_references_have_no_envelope(count: int) -> None:
    with pytest.raises(ValueError, match=f"two references or more, got {count}"):
        envelope(np.ones((count, 4), dtype=np.float32) / 2)


@given(unit_vectors(1, 4))
def test_references_that_cancel_out_have_no_centroid(half: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match="cancel out"):
        envelope(np.concatenate([half, -half]).astype(np.float32))


@given(st.integers(2, 12), st.floats(0, math.tau))
def test_a_regular_star_cancels_out_in_single_precision_too(arms: int, turn: float) -> None:
    angles = turn + math.tau * np.arange(arms) / arms
    with pytest.raises(ValueError, match="cancel out"):
        envelope(np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))
