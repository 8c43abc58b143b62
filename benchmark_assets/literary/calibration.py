"""Agreement of seats and ensembles with decisive human verdicts (LiTERatE, Evaluation Approach), and the best weights.

Here: decisive verdicts, weights, and their accuracy on held-out pairs. Not here: asking people (pairs) or judges
(ensemble).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import gcd
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, balances, cast_by, seat_votes, winners
from benchmark_assets.metrics.intervals import RESAMPLES, SEED, mean_interval, resampling_weights, wilson
from benchmark_assets.metrics.measures import Floats
from resources.catalogue import schema
from resources.digest import digest

FOLDS = 5
WEIGHTS = (0, 1, 2)
MOST_SEATS = 6
"""Most seats for which all combinations of weights are tried. With more, seats get their best weights in turn."""

SEAT_KIND, EQUAL, BEST, IN_USE = "seat", "equal weights", "best weights", "weights in use"

SIGNATURE = (
    "95 % intervals: coverage, accuracy: Wilson of the pairs that passages make up for; expected: "
    f"{RESAMPLES} bootstrap resamples of passages, percentiles, seed {SEED}"
)

_BOUNDS = ("", "_low", "_high")
CALIBRATION = schema("ensemble_calibration")


class CastVotes(NamedTuple):
    """Pairs on which people are decisive, and the votes of the seats on them.

    Attributes
    ----------
    passages
        Passage of each pair.
    truth
        1 where people prefer the machine, -1 where they prefer the human, shape (pairs,).
    cast
        Votes of the seats, shape (pairs, seats), NaN for an abstention; each pair has at least one vote.
    """

    passages: tuple[str, ...]
    truth: Floats
    cast: Floats


def decisive(labels: pl.DataFrame) -> pl.DataFrame:
    """Pairs on which two annotators or more name the same winner, without dissent: `model`, `passage`, `better`.

    Parameters
    ----------
    labels
        Columns `model`, `passage`, `annotator` and `better`. A pair that an annotator labels unsure is not decisive.
    """
    better = pl.col("better")
    pairs = labels.group_by(OUTPUT).agg(better.n_unique().alias("kinds"), better.first(), people=pl.len())
    agreed = pairs.filter(pl.col("kinds") == 1, pl.col("people") >= 2, better.is_in([MACHINE, HUMAN]))
    return agreed.select(*OUTPUT, "better").sort(OUTPUT)


def calibration(
    corpus: str, literary: Literary, votes: pl.DataFrame, labels: pl.DataFrame, contract: str
) -> pl.DataFrame:
    """Rows of `ensemble_calibration` of one corpus: columns of `CALIBRATION`.

    Parameters
    ----------
    votes
        Rows of `aspect_vote` of the corpus.
    labels
        Rows of `pair_label` about the current texts.
    contract
        First part of the signature.

    Returns
    -------
    Rows for each seat alone, on the pairs that it voted on, with its best weight over all pairs; and for the ensemble
    with equal weights, with the weights in use, and with the best weights. The row of the best weights is
    cross-validated: weights are chosen on other passages; there is none with fewer than two passages. Seats and
    ensembles decide by the corpus's margin.
    """
    judged = against_people(literary.ensemble, votes, labels)
    if not judged.passages:
        return pl.DataFrame(schema=CALIBRATION)
    cast, margin, seats = judged.cast, literary.margin, literary.ensemble
    chosen = best_weights(judged, margin)
    passages, everywhere = np.array(judged.passages), np.ones(len(cast), dtype=bool)
    decisions: list[tuple[tuple[object, ...], Floats, NDArray[np.bool_]]] = []
    for number, seat in enumerate(seats):
        voted = np.isfinite(cast[:, number])
        decided = winners(np.nan_to_num(cast[:, number]), margin)
        decisions.append(((SEAT_KIND, seat.judge, seat.aspect, float(chosen[number])), decided, voted))
    for kind, weights in ((EQUAL, [1.0] * len(seats)), (IN_USE, [seat.weight for seat in seats])):
        decided = winners(balances(cast, np.array(weights)), margin)
        decisions.append(((kind, "", "", None), decided, everywhere))
    if (held_out := out_of_fold(judged, margin)) is not None:
        decisions.append(((BEST, "", "", None), held_out, everywhere))
    signature = f"{contract}; weights of {WEIGHTS}, {len(set(folds(judged.passages)))} folds by passage; {SIGNATURE}"
    rows = [
        (corpus, *names, *_numbers(decided[among], judged.truth[among], passages[among]), signature)
        for names, decided, among in decisions if among.any()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=CALIBRATION, orient="row").sort("corpus", "kind", "judge", "aspect")


def against_people(seats: Sequence[Seat], votes: pl.DataFrame, labels: pl.DataFrame) -> CastVotes:
    """Pairs on which people are decisive and at least one seat voted; parameters as for `calibration`."""
    outputs, cast = cast_by(seats, seat_votes(votes))
    truth = outputs.join(decisive(labels), on=OUTPUT, how="left", maintain_order="left")["better"]
    kept = truth.is_not_null().to_numpy() & np.isfinite(cast).any(axis=1)
    sides = (truth == MACHINE).fill_null(False).to_numpy()
    return CastVotes(tuple(outputs["passage"].filter(pl.Series(kept))), np.where(sides, 1.0, -1.0)[kept], cast[kept])


def best_weights(judged: CastVotes, margin: float) -> Floats:
    """The weights, shape (seats,), that agree with people on most pairs; an undecided pair counts half.

    Ties go to the weights nearest to equal ones, then to the first in the order of `product`.
    """
    seats = judged.cast.shape[1]
    if seats <= MOST_SEATS:
        return _best(_combinations(seats), judged, margin)
    weights = np.ones(seats)
    while True:
        before = weights
        for seat in range(seats):
            tried = np.tile(weights, (len(WEIGHTS), 1))
            tried[:, seat] = WEIGHTS
            weights = _best(np.vstack([weights, tried[tried.any(axis=1)]]), judged, margin)
        if (weights == before).all():
            return weights


def out_of_fold(judged: CastVotes, margin: float) -> Floats | None:
    """Verdicts of the ensemble with the weights that are best on other passages: 1, -1 or 0, shape (pairs,); None with
    fewer than two passages."""
    place = folds(judged.passages)
    if len(set(place)) < 2:
        return None
    verdicts = np.zeros(len(place))
    for fold in set(place):
        out = np.array([number == fold for number in place])
        inside = CastVotes((), judged.truth[~out], judged.cast[~out])
        verdicts[out] = winners(balances(judged.cast[out], best_weights(inside, margin)), margin)
    return verdicts


def folds(passages: Iterable[str]) -> list[int]:
    """The fold of each pair, by its passage: `FOLDS` folds of about equal size, or one for each passage if there are
    fewer. Assigned by a hash, so that neighbors in a work are separated."""
    named = list(passages)
    ordered = sorted(set(named), key=digest)
    place = {passage: number % FOLDS for number, passage in enumerate(ordered)}
    return [place[passage] for passage in named]


def _combinations(seats: int) -> Floats:
    """All weights with different shares, shape (n, seats): (1, 1), but not (2, 2)."""
    return np.array([row for row in product(WEIGHTS, repeat=seats) if gcd(*row) == 1], dtype=np.float64)


def _best(tried: Floats, judged: CastVotes, margin: float) -> Floats:
    verdicts = winners(balances(judged.cast, tried), margin)
    good = (verdicts * judged.truth).sum(axis=1)  # right minus wrong verdicts: integers, so that ties are exact
    shares = tried / tried.sum(axis=1, keepdims=True)
    uneven = np.round(((shares - 1 / tried.shape[1]) ** 2).sum(axis=1), 12)
    best: Floats = tried[np.lexsort((uneven, -good))[0]]
    return best


def _numbers(verdicts: Floats, truth: Floats, passages: NDArray[np.str_]) -> Iterator[int | float | None]:
    """Numbers of pairs, decided pairs and right verdicts, and the three shares with their intervals."""
    right, decides = (verdicts == truth).astype(np.float64), verdicts != 0
    pairs, decided, hits = len(verdicts), int(decides.sum()), int(right.sum())
    yield from (pairs, decided, hits)
    yield from (decided / pairs, *rate_interval(decides.astype(np.float64), passages))
    accuracy = (hits / decided, *rate_interval(right[decides], passages[decides])) if decided else (None, None, None)
    yield from accuracy
    points, (different, place) = np.where(verdicts == 0, 0.5, right), np.unique(passages, return_inverse=True)
    yield from (float(points.mean()), *mean_interval(points, resampling_weights(len(different))[:, place]))


def rate_interval(hits: Floats, passages: NDArray[np.str_]) -> tuple[float, float]:
    """The 95 % interval of the share of hits among pairs; pairs of the same passage are not independent.

    Parameters
    ----------
    hits
        1 or 0, shape (pairs,), one pair or more.
    passages
        Passage of each pair.

    Notes
    -----
    Wilson's interval with the effective number of pairs, from the variance between passages and at most the number of
    pairs (Korn and Graubard 1998). If all pairs are hits, or none, the variance is unknown, and the effective number is
    the number of passages. With one pair per passage this is Wilson's interval itself.
    """
    different, place = np.unique(passages, return_inverse=True)
    pairs, groups, rate = len(hits), len(different), float(hits.mean())
    independent = float(groups)
    if groups > 1 and 0 < rate < 1:
        between = float((np.bincount(place, hits - rate) ** 2).sum()) * groups / (groups - 1) / pairs**2
        independent = pairs / max(1.0, between * (pairs - 1) / (rate * (1 - rate)))
    return wilson(rate * independent, independent)
