import math
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from polars.testing import assert_frame_equal

from benchmark_assets.metrics.drift import cosine_drift, semantic_scores
from benchmark_assets.references.rows import envelope_rows
from tests.support import examples
from tests.vectors import Vector, candidates, embedded, references, unit_vectors

DIAGONAL = [math.sqrt(0.5), math.sqrt(0.5)]
AXES = {"ann": [1.0, 0.0], "ben": [0.0, 1.0]}


def score(tried: pl.DataFrame, given_references: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores of candidates with the envelopes that belong to their references."""
    envelopes = envelope_rows(tried.select("passage").unique(), given_references)["reference_envelope"]
    return semantic_scores(tried, given_references, envelopes, on=["model", "passage"], within=["passage"])


def score_one(candidate: Vector, own: Mapping[str, Vector]) -> dict[str, Any]:
    """Scores of one candidate against the references of its passage."""
    scores, _ = score(candidates({"x/1": {"m": candidate}}), references({"x/1": own}))
    return scores.row(0, named=True)


@pytest.mark.parametrize(
    ("candidate", "own", "sim_centroid", "drift", "drift_euclidean"),
    [
        # two references at a right angle: m = √½, spread 1 - √½, each √½ from the mean
        ([1.0, 0.0], AXES, math.sqrt(0.5), (1 - math.sqrt(0.5)) / (1.01 - math.sqrt(0.5)), 1.0),
        (DIAGONAL, AXES, 1.0, 0.0, math.sqrt(2) - 1),
        ([-1.0, 0.0], AXES, -math.sqrt(0.5), (1 + math.sqrt(0.5)) / (1.01 - math.sqrt(0.5)), math.sqrt(5)),
        # references 3-4-5: the mean is (0.9, 0.3), m² = 0.9
        ([0.0, 1.0], {"ann": [1.0, 0.0], "ben": [0.8, 0.6]},
         math.sqrt(0.1), (1 - math.sqrt(0.1)) / (1.01 - math.sqrt(0.9)), math.sqrt(1.3 / 0.1)),
        ([0.0, 0.0, 1.0], {"ann": [1.0, 0.0, 0.0], "ben": [0.0, 1.0, 0.0], "cleo": [0.0, 0.0, 1.0]},
         math.sqrt(1 / 3), (1 - math.sqrt(1 / 3)) / (1.01 - math.sqrt(1 / 3)), 1.0),
    ],
)  # fmt: skip
def test_drift_worked_by_hand(
    candidate: Vector, own: Mapping[str, Vector], sim_centroid: float, drift: float, drift_euclidean: float
) -> None:
    found = score_one(candidate, own)
    assert_allclose(
        [found["sim_centroid"], found["drift"], found["drift_euclidean"]],
        [sim_centroid, drift, drift_euclidean],
        atol=1e-6,
    )


@st.composite
def crowds(draw: st.DrawFn) -> NDArray[np.float64]:
    """One to nine references, some of them equal or opposite to the first; their mean has a direction."""
    drawn = draw(unit_vectors(1, 9))
    turns = draw(
        st.lists(st.sampled_from(["own", "own", "equal", "opposite"]), min_size=len(drawn), max_size=len(drawn))
    )
    for i, turn in enumerate(turns[1:], 1):
        drawn[i] = {"own": drawn[i], "equal": drawn[0], "opposite": -drawn[0]}[turn]
    assume(np.linalg.norm(drawn.mean(axis=0)) > 0.05)
    return drawn


@given(crowds(), st.data())
def test_everything_follows_from_the_similarities_and_the_length_of_the_mean(
    own: NDArray[np.float64], data: st.DataObject
) -> None:
    """With m the length of the mean reference and s the mean similarity: spread 1 - m, to the centroid s / m, to the
    mean √(1 - 2s + m²). Vectors are kept in single precision, so that small differences of large numbers are not."""
    candidate = data.draw(unit_vectors(1, 1).filter(lambda drawn: drawn.shape[1] == own.shape[1]))[0]
    tried, human = candidates({"x/1": {"m": candidate}}), references({"x/1": dict(zip("abcdefghi", own, strict=False))})
    scores, similarities = score(tried, human)
    found, s = scores.row(0, named=True), similarities["similarity"].to_numpy().mean()
    assert_allclose(similarities["similarity"], own @ candidate, atol=1e-6)
    assert_allclose(found["sim_best"], (own @ candidate).max(), atol=1e-6)
    if len(own) == 1:
        assert (found["sim_centroid"], found["drift"], found["drift_euclidean"]) == (None, None, None)
        assert found["drift_adjusted"] is None
        return
    m = np.linalg.norm(own.mean(axis=0))
    assert_allclose(found["sim_centroid"], s / m, atol=1e-5)
    assert_allclose(found["drift"], (1 - s / m) / (1 - m + 0.01), atol=1e-2)
    among = len(own) * (1 - m * m) / (len(own) - 1)
    assert_allclose(found["drift_adjusted"], (1.02 - m * found["sim_centroid"]) / (among + 0.02), rtol=1e-3, atol=1e-3)
    apart = np.linalg.norm(own - own.mean(axis=0), axis=1).mean()
    assume(apart < 1e-9 or apart > 1e-3)
    if apart < 1e-9:
        assert found["drift_euclidean"] is None
    else:
        assert_allclose(found["drift_euclidean"] * apart, math.sqrt(max(0, 1 - 2 * s + m * m)), atol=2e-3)


@examples(25)
@given(st.lists(crowds(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_grid_scored_at_once_is_its_items_scored_one_by_one(
    passages: list[NDArray[np.float64]], random: Random
) -> None:
    width = max(own.shape[1] for own in passages)
    wide = {f"x/{i}": np.pad(own, ((0, 0), (0, width - own.shape[1]))) for i, own in enumerate(passages)}
    human = references({name: dict(zip("abcdefghi", own, strict=False)) for name, own in wide.items()})
    turned = {name: {"m": own[-1], "k": np.roll(own[0], 1)} for name, own in wide.items()}
    tried = candidates(turned).sample(fraction=1, shuffle=True, seed=random.randrange(1000))
    at_once = score(tried, human.sample(fraction=1, shuffle=True, seed=random.randrange(1000)))
    one_by_one = [score(each, human) for each in tried.iter_slices(1)]
    for found, parts in zip(at_once, zip(*one_by_one, strict=True), strict=True):
        keys = [name for name in ("model", "passage", "translator") if name in found.columns]
        assert_frame_equal(found.sort(keys), pl.concat(parts).sort(keys), rel_tol=1e-12, abs_tol=1e-12)
    assert at_once[0].select("model", "passage").equals(tried.select("model", "passage"))


def test_long_vectors_of_many_pairs() -> None:
    drawn = np.random.default_rng(1).normal(size=(3, 150, 4096))
    tried, ann, ben = drawn / np.linalg.norm(drawn, axis=2, keepdims=True)
    names = [f"x/{i}" for i in range(150)]
    human = references({name: {"ann": one, "ben": two} for name, one, two in zip(names, ann, ben, strict=True)})
    scores, _ = score(candidates({name: {"m": own} for name, own in zip(names, tried, strict=True)}), human)
    mean = (ann + ben) / 2
    assert_allclose(scores["sim_best"], np.maximum((tried * ann).sum(axis=1), (tried * ben).sum(axis=1)), atol=1e-7)
    assert_allclose(scores["sim_centroid"], (tried * mean).sum(axis=1) / np.linalg.norm(mean, axis=1), atol=1e-7)
    ratio = np.linalg.norm(tried - mean, axis=1) / (np.linalg.norm(ann - ben, axis=1) / 2)
    assert_allclose(scores["drift_euclidean"], ratio, atol=1e-6)


@given(unit_vectors(2).filter(lambda drawn: bool(np.linalg.norm(drawn.mean(axis=0)) > 0.05)))
def test_the_references_themselves_drift_by_one_on_average(vectors: NDArray[np.float64]) -> None:
    own = {f"t{i}": vector for i, vector in enumerate(vectors)}
    scores, _ = score(candidates({"x/1": own}), references({"x/1": own}))
    found = envelope_rows(pl.DataFrame({"passage": ["x/1"]}), references({"x/1": own}))["reference_envelope"]
    spread = found["human_spread"].item()
    assert_allclose(scores["drift"].to_numpy().mean(), spread / (spread + 0.01), atol=1e-3)
    assume(found["euclidean_spread"].item() > 1e-3)
    assert_allclose(scores["drift_euclidean"].to_numpy().mean(), 1, atol=1e-3)


@given(unit_vectors(3).filter(lambda drawn: bool(np.linalg.norm(drawn[1:].mean(axis=0)) > 0.05)))
def test_no_candidate_drifts_less_than_one_at_the_centroid(vectors: NDArray[np.float64]) -> None:
    own = {f"t{i}": vector for i, vector in enumerate(vectors[1:])}
    centroid = vectors[1:].mean(axis=0)
    tried = {"at the centroid": centroid / np.linalg.norm(centroid), "elsewhere": vectors[0]}
    scores, _ = score(candidates({"x/1": tried}), references({"x/1": own}))
    at_centroid, elsewhere = scores["drift"]
    assert_allclose(at_centroid, 0, atol=1e-4)
    assert elsewhere >= at_centroid - 1e-4


@given(st.floats(-1, 1), st.floats(0, 0.999))
def test_smoothing_bounds_the_drift_where_references_agree(sim_centroid: float, spread: float) -> None:
    drift = cosine_drift(np.array([sim_centroid]), np.array([spread])).item()
    assert 0 <= drift <= 200
    assert drift * spread <= 1 - sim_centroid + 1e-12


@pytest.mark.parametrize("own", [{"ann": [1.0, 0.0]}, {"ann": [0.6, 0.8]}])
def test_one_reference_gives_a_similarity_and_no_drift(own: Mapping[str, Vector]) -> None:
    found = score_one([1.0, 0.0], own)
    assert_allclose(found["sim_best"], own["ann"][0], atol=1e-6)
    assert found["closest_reference"] == "ann"
    assert (found["sim_centroid"], found["drift"], found["drift_euclidean"]) == (None, None, None)


def test_without_references_a_candidate_keeps_its_row_without_scores() -> None:
    tried = embedded("model", [("m", "x/1", [1.0, 0.0], True), ("m", "x/2", [1.0, 0.0], None)])
    scores, similarities = score(tried, references({"x/1": AXES}))
    assert scores.row(1) == ("m", "x/2", None, None, None, None, None, None, None)
    assert scores["cut"].to_list() == [True, None]
    assert similarities["passage"].unique().to_list() == ["x/1"]


def test_nothing_scored_against_nothing_is_nothing() -> None:
    scores, similarities = score(candidates({"x/1": AXES}).clear(), references({"x/1": AXES}).clear())
    assert scores.is_empty()
    assert similarities.is_empty()


# An embedder gives equal beginnings slightly different vectors in batches of different shape.
@pytest.mark.parametrize("noise", [0.0, 2e-7])
def test_where_references_coincide_there_is_no_euclidean_drift(noise: float) -> None:
    found = score_one([0.0, 1.0], {"ann": [1.0, 0.0], "ben": [1.0, noise]})
    assert found["drift_euclidean"] is None
    assert_allclose(found["drift"], 100, rtol=1e-4)


@given(unit_vectors(2).filter(lambda drawn: bool(np.linalg.norm(drawn.mean(axis=0)) > 0.05)))
def test_a_candidate_equal_to_a_reference_is_as_near_as_can_be(vectors: NDArray[np.float64]) -> None:
    own = {f"t{i}": vector for i, vector in enumerate(vectors)}
    scores, _ = score(candidates({"x/1": own}), references({"x/1": own}))
    assert_allclose(scores["sim_best"], 1, atol=1e-6)


@pytest.mark.parametrize(
    ("own", "closest"),
    [
        ({"ann": [1.0, 0.0], "ben": [0.6, 0.8]}, "ann"),
        ({"ann": [0.6, 0.8], "ben": [1.0, 0.0]}, "ben"),
        ({"cleo": [1.0, 0.0], "ben": [1.0, 0.0], "ann": [0.0, 1.0]}, "ben"),
        ({"ben": [0.6, -0.8], "ann": [0.6, 0.8]}, "ann"),
    ],
)
def test_the_closest_reference_is_the_most_similar_and_of_equals_the_first_by_name(
    own: Mapping[str, Vector], closest: str
) -> None:
    found = score_one([1.0, 0.0], own)
    assert found["closest_reference"] == closest
    assert_allclose(found["sim_best"], np.asarray(own[closest])[0], atol=1e-6)


def test_candidates_meet_only_the_references_of_their_own_passage() -> None:
    tried = candidates({"x/2": {"m": [1.0, 0.0], "k": [0.0, 1.0]}, "x/1": {"m": [1.0, 0.0]}})
    scores, similarities = score(tried, references({"x/1": {"ann": [1.0, 0.0]}, "x/2": {"ben": [0.0, 1.0]}}))
    assert scores.select("model", "passage").rows() == [("m", "x/2"), ("k", "x/2"), ("m", "x/1")]
    assert_allclose(scores["sim_best"], [0, 1, 1], atol=1e-6)
    assert similarities.select("model", "passage", "translator").rows() == [
        ("m", "x/2", "ben"), ("k", "x/2", "ben"), ("m", "x/1", "ann"),
    ]  # fmt: skip


def test_the_bits_of_a_score_do_not_depend_on_the_outputs_beside_it() -> None:
    chance = np.random.default_rng(1)
    passages = [f"x/{i:02}" for i in range(12)]
    own = references({p: {f"t{j}": chance.normal(1, 1, 384).tolist() for j in range(5)} for p in passages})
    tried = candidates({p: {f"m{j}": chance.normal(1, 1, 384).tolist() for j in range(3)} for p in passages})
    envelopes = envelope_rows(pl.DataFrame({"passage": passages}), own)["reference_envelope"]

    def scored(some: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        return semantic_scores(some, own, envelopes, on=["model", "passage"], within=["passage"])

    whole = scored(tried)
    for part in (tried[:1], tried[5:20], tried.reverse()):
        for rows, all_rows in zip(scored(part), whole, strict=True):
            keys = [name for name in ("model", "passage", "translator") if name in rows.columns]
            assert rows.sort(keys).equals(all_rows.join(part, on=["model", "passage"], how="semi").sort(keys))
