"""Judges against people: which pairs are decisive, what the numbers are, and that best weights do not flatter."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.literary.calibration import (
    BEST,
    EQUAL,
    FOLDS,
    IN_USE,
    SEAT_KIND,
    CastVotes,
    best_weights,
    calibration,
    decisive,
    folds,
    out_of_fold,
)
from benchmark_assets.literary.ensemble import balances, winners
from benchmark_assets.metrics.intervals import PRIOR_EFFECT, Floats, rate_interval, wilson
from tests.support import slack

VOTE = dict.fromkeys(["model", "passage", "judge", "aspect", "shown", "better"], pl.String)
LABEL = dict.fromkeys(["model", "passage", "annotator", "better"], pl.String)
NOVELS = [f"novels/a:{number}" for number in range(60)]
WORKS = pl.DataFrame({"passage": NOVELS, "work": ["a"] * 60, "unit": NOVELS, "unit_kind": ["passages"] * 60})
SEATS = Seat(judge="good", aspect="meaning", weight=2), Seat(judge="poor", aspect="prose")


def labelled(said: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Labels of the people ann and ben on passages 0, 1, …; '' where one says nothing."""
    rows = [
        ("ours", f"novels/a:{number}", name, better)
        for number, both in enumerate(said) for name, better in zip(("ann", "ben"), both, strict=True) if better
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LABEL, orient="row")


def voted(said: Sequence[tuple[str | None, str | None]]) -> pl.DataFrame:
    """Votes of the two seats on the same passages, in one order."""
    rows = [
        ("ours", f"novels/a:{number}", seat.judge, seat.aspect, "A", better)
        for number, both in enumerate(said) for seat, better in zip(SEATS, both, strict=True)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=VOTE, orient="row")


def simulated(
    accuracies: Sequence[float], pairs: int, chance: np.random.Generator, unsure: float = 0.1, models: int = 1
) -> CastVotes:
    """Pairs whose truth is known, and votes of seats that are right so often where they are not unsure."""
    truth = chance.choice([-1.0, 1.0], size=pairs)
    right = chance.random((pairs, len(accuracies))) < np.array(accuracies)
    cast = np.where(right, truth[:, None], -truth[:, None])
    cast[chance.random(cast.shape) < unsure] = 0
    return CastVotes(tuple(f"novels/a:{number // models}" for number in range(pairs)), truth, cast)


def expected(said: Floats, judged: CastVotes) -> float:
    """Right ones of all pairs, an undecided one counting half."""
    return float((1 + said * judged.truth).mean() / 2)


# Decisive verdicts.


def test_two_people_who_agree_on_a_winner_are_decisive() -> None:
    said = [("machine", "machine"), ("human", "human"), ("machine", "human"), ("machine", ""), ("unsure", "unsure")]
    found = decisive(labelled([*said, ("machine", "unsure")]))
    assert found.select("passage", "better").rows() == [("novels/a:0", "machine"), ("novels/a:1", "human")]
    third = pl.DataFrame([("ours", "novels/a:0", "cleo", "human")], schema=LABEL, orient="row")
    assert decisive(pl.concat([labelled(said), third]))["passage"].to_list() == ["novels/a:1"]


# The numbers.


def test_seats_and_ensembles_are_counted_on_decisive_pairs_that_they_voted_on() -> None:
    people = [("machine", "machine"), ("human", "human"), ("human", "human"), ("machine", "machine"), ("human", "")]
    said = [("machine", "human"), ("human", "human"), ("unsure", "machine"), (None, "machine"), ("machine", "machine")]
    literary = Literary(human="morri", ensemble=SEATS)
    rows = calibration("novels", literary, voted(said), labelled(people), WORKS, "seats")
    found = {(row["kind"], row["judge"]): row for row in rows.to_dicts()}
    assert set(found) == {(SEAT_KIND, "good"), (SEAT_KIND, "poor"), (EQUAL, ""), (BEST, ""), (IN_USE, "")}
    counts = {key: (row["pairs"], row["decided"], row["right_ones"]) for key, row in found.items() if key[0] != BEST}
    assert counts == {
        (SEAT_KIND, "good"): (3, 2, 2), (SEAT_KIND, "poor"): (4, 4, 2), (EQUAL, ""): (4, 3, 2), (IN_USE, ""): (4, 4, 3),
    }  # fmt: skip
    seat = found[SEAT_KIND, "good"]
    assert (seat["coverage"], seat["accuracy"]) == (2 / 3, 1)
    assert seat["expected"] == pytest.approx(2.5 / 3)
    assert (seat["coverage_low"], seat["accuracy_low"], seat["expected_low"]) == (None, None, None)  # of three chunks
    assert (seat["aspect"], seat["weight"], found[SEAT_KIND, "poor"]["weight"]) == ("meaning", 2, 1)
    assert found[IN_USE, ""]["weight"] is None


def test_who_decides_nothing_has_no_accuracy_and_without_decisive_pairs_there_are_no_rows() -> None:
    literary, people = Literary(human="morri", ensemble=SEATS), labelled([("machine", "machine")])
    rows = calibration("novels", literary, voted([("unsure", "human")]), people, WORKS, "")
    assert BEST not in rows["kind"]  # there is one passage, and nothing left to choose weights on
    (row,) = rows.filter(judge="good").to_dicts()
    assert (row["coverage"], row["accuracy"], row["expected"]) == (0, None, 0.5)
    assert calibration("novels", literary, voted([("unsure", "human")]), people.clear(), WORKS, "").is_empty()


def test_a_margin_leaves_narrow_balances_undecided() -> None:
    people = labelled([("machine", "machine")] * 3)
    said = voted([("machine", "human")] * 3)
    for margin, decided in ((0, 3), (0.5, 0)):
        rows = calibration("novels", Literary(human="morri", ensemble=SEATS, margin=margin), said, people, WORKS, "")
        assert rows.filter(kind=IN_USE)["decided"].to_list() == [decided]


def test_intervals_are_of_units() -> None:
    people = labelled([("machine", "machine")] * 30 + [("human", "human")] * 10)
    said = voted([("machine", "human")] * 28 + [("human", "unsure")] * 12)
    literary = Literary(human="morri", ensemble=SEATS)
    of_works = WORKS.with_columns(work=pl.Series([f"work {number % 8}" for number in range(60)]))
    for works, kind in ((WORKS, "passages"), (of_works, "works")):
        seat = calibration("novels", literary, said, people, works, "").filter(judge="good").row(0, named=True)
        assert seat["signature"].endswith(f"units: {kind}")
        pairs = 40 if works is WORKS else 40 / PRIOR_EFFECT
        assert (seat["coverage_low"], seat["coverage_high"]) == pytest.approx(wilson(pairs, pairs))
        assert seat["accuracy_low"] < seat["accuracy"] == 38 / 40 < seat["accuracy_high"]
        assert 0 <= seat["expected_low"] < seat["expected"] < seat["expected_high"] <= 1


def covered(passages: int, models: int, accuracy: float, spread: float, runs: int) -> tuple[float, float]:
    """In what share of simulations the interval holds the accuracy, where that of passages is drawn around it (Beta,
    with a sum of its parameters of `spread`); and for comparison, Wilson's interval of the pairs."""
    chance, held = np.random.default_rng(1), np.zeros(2)
    place = np.repeat(np.arange(passages), models)
    for _ in range(runs):
        own = chance.beta(spread * accuracy, spread * (1 - accuracy), passages)
        hits = (chance.random((passages, models)) < own[:, None]).ravel()
        both = rate_interval(hits, place), wilson(hits.sum(), len(hits))
        held += [low is not None and high is not None and low <= accuracy <= high for low, high in both]
    return float(held[0] / runs), float(held[1] / runs)


@pytest.mark.proof
@pytest.mark.parametrize("spread", [1.0, 2.0, 6.0, 1e6])
@pytest.mark.parametrize(("passages", "models", "accuracy"), [(40, 5, 0.7), (15, 3, 0.7), (8, 2, 0.8), (40, 5, 0.95)])
def test_coverage_of_rates(passages: int, models: int, accuracy: float, spread: float, full: bool) -> None:
    """docs/decisions/literary.md has the figures."""
    runs = 2000 if full else 60
    ours, of_pairs = covered(passages, models, accuracy, spread, runs)
    print(f"{passages} × {models}, {accuracy}, spread {spread:g}: {ours:.1%}, of pairs {of_pairs:.1%}")
    assert 0.9 - slack(full, runs) <= ours
    if passages >= 10:  # fewer units cannot be precise, and err on the safe side
        assert ours <= 0.99 + slack(full, runs)


# Folds.


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60))
def test_pairs_of_a_passage_are_in_one_fold(numbers: list[int]) -> None:
    passages = [f"novels/a:{number}" for number in numbers]
    own = dict(zip(passages, folds(passages), strict=True))
    assert [own[passage] for passage in passages] == folds(passages)
    sizes = [list(own.values()).count(fold) for fold in set(own.values())]
    assert len(sizes) == min(FOLDS, len(own))
    assert max(sizes) - min(sizes) <= 1


# Weights.


def test_ties_go_to_weights_that_are_nearest_to_equal() -> None:
    truth = np.ones(4)
    alike = CastVotes(("p",) * 4, truth, np.ones((4, 3)))
    assert best_weights(alike, 0).tolist() == [1, 1, 1]
    one_wrong = CastVotes(("p",) * 4, truth, np.column_stack([np.ones(4), -np.ones(4)]))
    assert best_weights(one_wrong, 0).tolist() == [2, 1]


@given(st.integers(0, 1000))
def test_no_weights_of_two_seats_are_better(seed: int) -> None:
    judged = simulated([0.7, 0.55], 30, np.random.default_rng(seed))
    best = expected(winners(balances(judged.cast, best_weights(judged, 0)), 0), judged)
    others = ([1, 0], [0, 1], [1, 1], [2, 1], [1, 2], [5, 3])
    assert best >= max(expected(winners(balances(judged.cast, np.array(own)), 0), judged) for own in others) - 1e-12


def test_more_than_six_seats_are_searched_one_after_the_other() -> None:
    judged = simulated([0.9] + [0.5] * 7, 400, np.random.default_rng(1))
    found = best_weights(judged, 0)
    assert found[0] == 2
    assert found[1:].mean() < 0.6


def test_seats_that_guess_get_little_weight() -> None:
    chance = np.random.default_rng(1)
    weights = np.mean([best_weights(simulated([0.85, 0.8, 0.5, 0.5], 150, chance), 0) for _ in range(20)], axis=0)
    shares = weights / weights.sum()
    assert shares[:2].min() > 0.3
    assert shares[2:].max() < 0.2


def flattery(accuracies: Sequence[float], pairs: int, runs: int, models: int = 1) -> tuple[float, float, float]:
    """How far, on average, what is reported lies above what its weights are worth on pairs without end: held out
    (against weights chosen on as many pairs as a fold leaves), in the sample, and the standard error of the first."""
    chance, held_out, inside = np.random.default_rng(models), [], []
    others, known = simulated(accuracies, 200_000, np.random.default_rng(99)), dict[tuple[float, ...], float]()

    def worth(weights: Floats) -> float:
        own = tuple(weights)
        if own not in known:
            known[own] = expected(winners(balances(others.cast, weights), 0), others)
        return known[own]

    for _ in range(runs):
        judged = simulated(accuracies, pairs, chance, models=models)
        said, place = out_of_fold(judged, 0), np.array(folds(judged.passages))
        assert said is not None
        of_folds = [
            (worth(best_weights(CastVotes((), judged.truth[place != fold], judged.cast[place != fold]), 0)), own)
            for fold in set(place) for own in [(place == fold).sum()]
        ]  # fmt: skip
        held_out.append(expected(said, judged) - sum(value * own for value, own in of_folds) / pairs)
        weights = best_weights(judged, 0)
        inside.append(expected(winners(balances(judged.cast, weights), 0), judged) - worth(weights))
    return float(np.mean(held_out)), float(np.mean(inside)), float(np.std(held_out) / np.sqrt(runs))


def test_two_passages_are_enough_to_hold_one_out_and_one_is_not() -> None:
    cast = np.array([[1.0, -1.0], [-1.0, 1.0]])
    held_out = out_of_fold(CastVotes(("1", "2"), np.array([1.0, -1.0]), cast), 0)
    assert held_out is not None
    assert held_out.tolist() == [1.0, -1.0]  # of the first seat, which is right on the other passage
    assert out_of_fold(CastVotes(("1", "1"), np.array([1.0, -1.0]), cast), 0) is None


@pytest.mark.proof
@pytest.mark.parametrize("models", [1, 3])
@pytest.mark.parametrize("pairs", [60, 150])
def test_flattery(pairs: int, models: int, full: bool) -> None:
    """docs/decisions/literary.md has the figures."""
    held_out, inside, error = flattery([0.7, 0.65, 0.6, 0.55, 0.5], pairs, 400 if full else 20, models)
    print(f"{pairs} pairs, {models} models: held out {held_out:+.4f} (±{error:.4f}), in the sample {inside:+.4f}")
    assert abs(held_out) < 3 * error
    assert inside > 3 * error
