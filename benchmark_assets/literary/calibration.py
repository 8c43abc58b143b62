"""How far seats and ensembles agree with decisive verdicts of people (LiTERatE, Evaluation Approach), and which weights
agree best.

Here: decisive verdicts, weights, and what they are worth on pairs that they were not chosen on. Not here: asking people
(pairs) or judges (ensemble).
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
"""Of which all combinations of weights are tried; of more, one seat after the other is given its best weight."""

SEAT_KIND, EQUAL, BEST, IN_USE = "seat", "equal weights", "best weights", "weights in use"

SIGNATURE = (
    "95 % intervals: coverage, accuracy: Wilson of the pairs that passages make up for; expected: "
    f"{RESAMPLES} bootstrap resamples of passages, percentiles, seed {SEED}"
)

_BOUNDS = ("", "_low", "_high")
CALIBRATION = schema("ensemble_calibration")


class CastVotes(NamedTuple):
    """Pairs on which people are decisive, and what the seats say of them.

    Attributes
    ----------
    passages
        Of each pair.
    truth
        1 where people prefer the machine, -1 where they prefer the human, shape (pairs,).
    cast
        Votes of the seats, shape (pairs, seats), NaN for an abstention; each pair has at least one vote.
    """

    passages: tuple[str, ...]
    truth: Floats
    cast: Floats


def decisive(labels: pl.DataFrame) -> pl.DataFrame:
    """Pairs on which two annotators or more agree on a winner, with nobody against: `model`, `passage`, `better`.

    Parameters
    ----------
    labels
        Columns `model`, `passage`, `annotator` and `better`. A pair that somebody holds for unsure is not decisive.
    """
    said = pl.col("better")
    pairs = labels.group_by(OUTPUT).agg(said.n_unique().alias("kinds"), said.first(), people=pl.len())
    agreed = pairs.filter(pl.col("kinds") == 1, pl.col("people") >= 2, said.is_in([MACHINE, HUMAN]))
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
        Rows of `pair_label` about the texts as they are now.
    contract
        What goes in front of the signature.

    Returns
    -------
    Each seat alone, on the pairs that it gave a vote on, with the weight that is best over all pairs; the ensemble with
    equal weights, with those in use, and with the best ones. What stands at the best weights was found on pairs whose
    passages had no part in their choice; with fewer than two passages there is no such row. A seat or an ensemble
    decides by the corpus's margin.
    """
    judged = against_people(literary.ensemble, votes, labels)
    if not judged.passages:
        return pl.DataFrame(schema=CALIBRATION)
    cast, margin, seats = judged.cast, literary.margin, literary.ensemble
    chosen = best_weights(judged, margin)
    passages, everywhere = np.array(judged.passages), np.ones(len(cast), dtype=bool)
    found: list[tuple[tuple[object, ...], Floats, NDArray[np.bool_]]] = []
    for number, seat in enumerate(seats):
        gave = np.isfinite(cast[:, number])
        said = winners(np.nan_to_num(cast[:, number]), margin)
        found.append(((SEAT_KIND, seat.judge, seat.aspect, float(chosen[number])), said, gave))
    for kind, weights in ((EQUAL, [1.0] * len(seats)), (IN_USE, [seat.weight for seat in seats])):
        said = winners(balances(cast, np.array(weights)), margin)
        found.append(((kind, "", "", None), said, everywhere))
    if (held_out := out_of_fold(judged, margin)) is not None:
        found.append(((BEST, "", "", None), held_out, everywhere))
    signature = f"{contract}; weights of {WEIGHTS}, {len(set(folds(judged.passages)))} folds by passage; {SIGNATURE}"
    rows = [
        (corpus, *names, *_numbers(said[own], judged.truth[own], passages[own]), signature)
        for names, said, own in found if own.any()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=CALIBRATION, orient="row").sort("corpus", "kind", "judge", "aspect")


def against_people(seats: Sequence[Seat], votes: pl.DataFrame, labels: pl.DataFrame) -> CastVotes:
    """Pairs on which people are decisive and at least one seat gave a vote; parameters as for `calibration`."""
    outputs, cast = cast_by(seats, seat_votes(votes))
    truth = outputs.join(decisive(labels), on=OUTPUT, how="left", maintain_order="left")["better"]
    kept = truth.is_not_null().to_numpy() & np.isfinite(cast).any(axis=1)
    sides = (truth == MACHINE).fill_null(False).to_numpy()
    return CastVotes(tuple(outputs["passage"].filter(pl.Series(kept))), np.where(sides, 1.0, -1.0)[kept], cast[kept])


def best_weights(judged: CastVotes, margin: float) -> Floats:
    """The weights, shape (seats,), of which most pairs come out as people have them, an undecided one counting half.

    Of equally good ones, those that are nearest to equal weights; of equally near ones, the first in the order of
    `product`.
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
    """What the ensemble says of each pair by the weights that are best on other passages: 1, -1 or 0, shape (pairs,);
    None where there is one passage only."""
    place = folds(judged.passages)
    if len(set(place)) < 2:
        return None
    said = np.zeros(len(place))
    for fold in set(place):
        out = np.array([each == fold for each in place])
        inside = CastVotes((), judged.truth[~out], judged.cast[~out])
        said[out] = winners(balances(judged.cast[out], best_weights(inside, margin)), margin)
    return said


def folds(passages: Iterable[str]) -> list[int]:
    """The fold of each pair, by its passage: `FOLDS` of about as many passages each, or one for each passage where
    there are fewer; by a hash, so that neighbours in a work are apart."""
    named = list(passages)
    ordered = sorted(set(named), key=digest)
    place = {passage: number % FOLDS for number, passage in enumerate(ordered)}
    return [place[passage] for passage in named]


def _combinations(seats: int) -> Floats:
    """All weights that say different things, shape (n, seats): of 1, 1 and 2, 2 the first only."""
    return np.array([each for each in product(WEIGHTS, repeat=seats) if gcd(*each) == 1], dtype=np.float64)


def _best(tried: Floats, judged: CastVotes, margin: float) -> Floats:
    said = winners(balances(judged.cast, tried), margin)
    good = (said * judged.truth).sum(axis=1)  # right ones less wrong ones: whole numbers, so that ties are ties
    shares = tried / tried.sum(axis=1, keepdims=True)
    uneven = np.round(((shares - 1 / tried.shape[1]) ** 2).sum(axis=1), 12)
    found: Floats = tried[np.lexsort((uneven, -good))[0]]
    return found


def _numbers(said: Floats, truth: Floats, passages: NDArray[np.str_]) -> Iterator[int | float | None]:
    """Pairs, decided and right ones, and the three shares with their intervals."""
    right, decides = (said == truth).astype(np.float64), said != 0
    pairs, decided, hits = len(said), int(decides.sum()), int(right.sum())
    yield from (pairs, decided, hits)
    yield from (decided / pairs, *rate_interval(decides.astype(np.float64), passages))
    accuracy = (hits / decided, *rate_interval(right[decides], passages[decides])) if decided else (None, None, None)
    yield from accuracy
    points, (different, place) = np.where(said == 0, 0.5, right), np.unique(passages, return_inverse=True)
    yield from (float(points.mean()), *mean_interval(points, resampling_weights(len(different))[:, place]))


def rate_interval(hits: Floats, passages: NDArray[np.str_]) -> tuple[float, float]:
    """The 95 % interval of the share of hits among pairs, of which those of one passage are not independent.

    Parameters
    ----------
    hits
        1 or 0, shape (pairs,), of one pair or more.
    passages
        Of each pair.

    Notes
    -----
    The variance between passages gives the number of independent pairs that would tell as much, at most that of pairs;
    to it Wilson's interval is applied (Korn and Graubard 1998). Where all pairs are hits, or none, they say nothing of
    that variance, and count as many as there are passages. With a pair a passage it is Wilson's interval as it is.
    """
    different, place = np.unique(passages, return_inverse=True)
    pairs, groups, rate = len(hits), len(different), float(hits.mean())
    independent = float(groups)
    if groups > 1 and 0 < rate < 1:
        between = float((np.bincount(place, hits - rate) ** 2).sum()) * groups / (groups - 1) / pairs**2
        independent = pairs / max(1.0, between * (pairs - 1) / (rate * (1 - rate)))
    return wilson(rate * independent, independent)
