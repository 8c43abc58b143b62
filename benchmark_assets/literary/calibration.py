"""Agreement of ensembles, and of their judges by aspect, with decisive human verdicts (LiTERatE, Evaluation Approach).

Here: decisive verdicts, the choice of weights, and the accuracy of weights on held-out pairs. Not here: asking people
(pairs) or judges (ensemble).
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import gcd
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, balances, cast_by, seat_votes, winners
from benchmark_assets.literary.works import numbered
from benchmark_assets.metrics.intervals import SIGNATURE, Floats, Units, mean_interval, rate_interval
from resources.catalogue import schema
from resources.digest import digest

FOLDS = 5
WEIGHTS = (0, 1, 2)
MOST_SEATS = 6
"""Maximum number of seats for which all combinations of weights are tried. With more seats, the weights are optimized
one seat at a time."""

SEAT_KIND, EQUAL, BEST, IN_USE = "seat", "equal weights", "best weights", "weights in use"

CALIBRATION = schema("ensemble_calibration")


class CastVotes(NamedTuple):
    """Pairs on which people are decisive, and the votes of the seats on these pairs.

    `passages` has the passage of each pair. `truth`, shape (pairs,), is 1 if people prefer the machine's text, and -1
    if they prefer the human's. `cast`, shape (pairs, seats), has the votes in [-1, 1], NaN for an abstention. Each pair
    has at least one vote.
    """

    passages: tuple[str, ...]
    truth: Floats
    cast: Floats


def decisive(labels: pl.DataFrame) -> pl.DataFrame:
    """Pairs for which at least two annotators name the same winner and no annotator disagrees.

    Parameters
    ----------
    labels
        Columns `model`, `passage`, `annotator` and `better`. A pair that an annotator labels unsure is not decisive.

    Returns
    -------
    Columns `model`, `passage` and `better`, sorted by the first two.
    """
    better = pl.col("better")
    pairs = labels.group_by(OUTPUT).agg(better.n_unique().alias("kinds"), better.first(), people=pl.len())
    unanimous = pairs.filter(pl.col("kinds") == 1, pl.col("people") >= 2, better.is_in([MACHINE, HUMAN]))
    return unanimous.select(*OUTPUT, "better").sort(OUTPUT)


def calibration(
    corpus: str, literary: Literary, votes: pl.DataFrame, labels: pl.DataFrame, works: pl.DataFrame, contract: str
) -> pl.DataFrame:
    """Rows of `ensemble_calibration` for one corpus, with the columns of `CALIBRATION`.

    Parameters
    ----------
    votes
        Rows of `aspect_vote` of the corpus.
    labels
        Rows of `pair_label` for pairs whose texts have not changed.
    works
        Columns `passage`, `work`, `unit` and `unit_kind`, as `works.with_works` returns them.
    contract
        The contract of the ensemble, which begins the signature.

    Returns
    -------
    One row for each seat, computed from the pairs on which the seat voted. It also has the weight of the seat in the
    combination of weights that is best on all pairs. Three more rows are for the ensemble with equal weights, with the
    weights in use, and with the best weights. The row for the best weights is cross-validated: the verdict on a pair
    uses weights chosen on other passages. This row is missing if there are fewer than two passages. The corpus's margin
    applies to all verdicts, including the verdicts of single seats.
    """
    pairs = against_people(literary.ensemble, votes, labels)
    if not pairs.passages:
        return pl.DataFrame(schema=CALIBRATION)
    cast, margin, seats = pairs.cast, literary.margin, literary.ensemble
    best = best_weights(pairs, margin)
    units, unit_kind = numbered(
        pl.DataFrame({"passage": pairs.passages}).join(works, on="passage", maintain_order="left")
    )
    every_pair = np.ones(len(cast), dtype=bool)
    decisions: list[tuple[tuple[object, ...], Floats, NDArray[np.bool_]]] = []
    for number, seat in enumerate(seats):
        voted = np.isfinite(cast[:, number])
        verdicts = winners(np.nan_to_num(cast[:, number]), margin)
        decisions.append(((SEAT_KIND, seat.judge, seat.aspect, float(best[number])), verdicts, voted))
    for kind, weights in ((EQUAL, [1.0] * len(seats)), (IN_USE, [seat.weight for seat in seats])):
        verdicts = winners(balances(cast, np.array(weights)), margin)
        decisions.append(((kind, "", "", None), verdicts, every_pair))
    if (held_out := out_of_fold(pairs, margin)) is not None:
        decisions.append(((BEST, "", "", None), held_out, every_pair))
    signature = f"{contract}; weights of {WEIGHTS}, {len(set(folds(pairs.passages)))} folds by passage; {SIGNATURE}; "
    signature += f"units: {unit_kind}"
    rows = [
        (corpus, *key, *_accuracy(verdicts[mask], pairs.truth[mask], units[mask]), signature)
        for key, verdicts, mask in decisions if mask.any()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=CALIBRATION, orient="row").sort("corpus", "kind", "judge", "aspect")


def against_people(seats: Sequence[Seat], votes: pl.DataFrame, labels: pl.DataFrame) -> CastVotes:
    """Pairs on which people are decisive and at least one seat voted; `votes` and `labels` are as for `calibration`."""
    outputs, cast = cast_by(seats, seat_votes(votes))
    better = outputs.join(decisive(labels), on=OUTPUT, how="left", maintain_order="left")["better"]
    kept = better.is_not_null().to_numpy() & np.isfinite(cast).any(axis=1)
    machine = (better == MACHINE).fill_null(False).to_numpy()
    return CastVotes(tuple(outputs["passage"].filter(pl.Series(kept))), np.where(machine, 1.0, -1.0)[kept], cast[kept])


def best_weights(pairs: CastVotes, margin: float) -> Floats:
    """The weights, shape (seats,), whose verdicts agree with people on the most pairs; an undecided pair counts ½.

    Ties go to the weights nearest to equal weights, then to the first candidate.
    """
    seats = pairs.cast.shape[1]
    if seats <= MOST_SEATS:
        return _best(_combinations(seats), pairs, margin)
    weights = np.ones(seats)
    while True:
        previous = weights
        for seat in range(seats):
            candidates = np.tile(weights, (len(WEIGHTS), 1))
            candidates[:, seat] = WEIGHTS
            weights = _best(np.vstack([weights, candidates[candidates.any(axis=1)]]), pairs, margin)
        if (weights == previous).all():
            return weights


def out_of_fold(pairs: CastVotes, margin: float) -> Floats | None:
    """Cross-validated verdicts of the ensemble: each pair is decided with the weights that are best on the other folds.

    The result has values as in `winners`, shape (pairs,); it is None if there are fewer than two passages.
    """
    fold_of = np.array(folds(pairs.passages))
    if len(set(fold_of)) < 2:
        return None
    verdicts = np.zeros(len(fold_of))
    for fold in set(fold_of):
        out = fold_of == fold
        inside = CastVotes((), pairs.truth[~out], pairs.cast[~out])
        verdicts[out] = winners(balances(pairs.cast[out], best_weights(inside, margin)), margin)
    return verdicts


def folds(passages: Sequence[str]) -> list[int]:
    """The fold of each pair, given its passage. There are `FOLDS` folds of about equal size, or one for each passage if
    there are fewer passages. A hash assigns passages to folds, so that neighboring passages tend to be in different
    folds."""
    ordered = sorted(set(passages), key=digest)
    fold_of = {passage: number % FOLDS for number, passage in enumerate(ordered)}
    return [fold_of[passage] for passage in passages]


def _combinations(seats: int) -> Floats:
    """All combinations of weights without multiples, shape (n, seats): for example (1, 1) but not (2, 2)."""
    return np.array([row for row in product(WEIGHTS, repeat=seats) if gcd(*row) == 1], dtype=np.float64)


def _best(candidates: Floats, pairs: CastVotes, margin: float) -> Floats:
    """The row of `candidates`, shape (n, seats), that is best by the criterion of `best_weights`."""
    verdicts = winners(balances(pairs.cast, candidates), margin)
    agreement = (verdicts * pairs.truth).sum(axis=1)  # right minus wrong verdicts: integers, so that ties are exact
    shares = candidates / candidates.sum(axis=1, keepdims=True)
    inequality = np.round(((shares - 1 / candidates.shape[1]) ** 2).sum(axis=1), 12)
    best: Floats = candidates[np.lexsort((inequality, -agreement))[0]]
    return best


def _accuracy(verdicts: Floats, truth: Floats, units: Units) -> Iterator[int | float | None]:
    """Yield the numbers of pairs, decided pairs and correct verdicts; then coverage, accuracy and expected accuracy,
    each with its interval. The arrays have shape (pairs,)."""
    right, decides = verdicts == truth, verdicts != 0
    pairs, decided, hits = len(verdicts), int(decides.sum()), int(right.sum())
    yield from (pairs, decided, hits)
    yield from (decided / pairs, *rate_interval(decides, units))
    if decided:
        yield from (hits / decided, *rate_interval(right[decides], units[decides]))
    else:
        yield from (None, None, None)
    points = np.where(decides, right, 0.5)
    yield from (float(points.mean()), *mean_interval(points, units, 0, 1))
