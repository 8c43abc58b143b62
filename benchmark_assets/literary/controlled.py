"""Literary scores at equal length and without errors: points without the effect of text length on the judges, and
without what their errors about sentinels leave of a score's distance from parity.

If each pair was judged in one order only, the effect of position is removed as well; with both orders, it cancels out.
Here: how much an ensemble prefers longer texts, estimated from its verdicts on padded texts, and the score that a model
would have if its outputs were as long as the human translations. Not here: scores without control (scores), padded
texts (examination).
"""

import numpy as np
import polars as pl
import scipy  # type: ignore[import-untyped]

from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.adjudication.outputs import texts as output_texts
from benchmark_assets.corpus.description import Literary
from benchmark_assets.examination.sentinels import DAMAGING
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, SEAT, UNSURE, keys, seats_of, verdicts
from benchmark_assets.literary.scores import SCORE, centered, groups, interval, scores
from benchmark_assets.metrics.intervals import Floats, mean_interval, rate_interval
from benchmark_assets.metrics.logistic import fitted, penalized_slope
from benchmark_assets.metrics.measures import NONE, Estimate, numbered_units
from benchmark_assets.metrics.misclassification import spread
from benchmark_assets.metrics.missing import of_verdicts
from resources.warehouse import Warehouse

SIGNATURE = (
    "score at equal length: logistic regression of points on the log length ratio (and the position, with one order); "
    "coefficient of length from padded texts; score without errors: 50 + (score - 50) / (1 - 2 e), e from damaged "
    "texts; intervals combined by MOVER"
)

UNKNOWN = "a seat has no choices between padded and sound texts: it was not examined"
TEXTLESS = "a text is missing"
ONE_SIDED = "the points are all 0 or all 1, or position separates them"

LEAST = 0.15
"""Reliability of an ensemble below which its scores are not corrected: its points are hardly better than coins."""

_SENTINEL = pl.format("{} {}", "kind", "passage")

_BETTER = {"trial": MACHINE, "sound": HUMAN, "neither": UNSURE}


def bounded_scores(
    ensemble_verdicts: pl.DataFrame, votes: pl.DataFrame, works: pl.DataFrame, literary: Literary, contract: str,
    ratios: pl.DataFrame, sentinels: pl.DataFrame,
) -> pl.DataFrame:  # fmt: skip
    """Scores with and without control, with the bounds that votes without a preference leave.

    The parameters are those of `scores.scores` and `with_control`. The result has the columns of `literary_score`.
    """

    def rows_of(given: pl.DataFrame) -> pl.DataFrame:
        found = ensemble_verdicts if given is votes else verdicts(given, literary)
        inputs = found, given, works, literary
        return with_control(scores(*inputs, contract), *inputs, ratios, sentinels)

    ends = {"better": HUMAN}, {"better": MACHINE}
    return of_verdicts("literary_score", votes, *ends, rows_of, kept=["length_coefficient"])


def with_control(
    scored: pl.DataFrame, ensemble_verdicts: pl.DataFrame, votes: pl.DataFrame, works: pl.DataFrame,
    literary: Literary, ratios: pl.DataFrame, sentinels: pl.DataFrame,
) -> pl.DataFrame:  # fmt: skip
    """Add the columns of scores at equal length.

    Parameters
    ----------
    scored
        Rows of `scores.scores`.
    ensemble_verdicts, votes, works, literary
        The other arguments of `scores.scores`.
    ratios
        Columns `model`, `passage` and `log_ratio`, as `log_ratios` returns them.
    sentinels
        Rows of `sentinel` about the seats of ensembles, for the language direction of the corpus.

    Returns
    -------
    Columns of SCORE. `score_corrected` is null if nothing is known about the ensemble's errors, `score_controlled` if
    there is no coefficient of length, or if the points have no finite log-odds; `length_problem` then gives the reason.
    """
    sides = votes.group_by(*OUTPUT).agg(shown=pl.col("shown").first())
    coefficients, kept = dict[str, Estimate](), dict[str, Estimate]()
    rows = []
    for model, corpus, aspect, group in groups(ensemble_verdicts, votes, works, literary):
        if aspect not in coefficients:
            coefficients[aspect] = ensemble_coefficient(sentinels, literary, aspect)
            kept[aspect] = ensemble_reliability(sentinels, literary, aspect)
        chunks = group.join(ratios, on=OUTPUT, maintain_order="left").join(sides, on=OUTPUT, maintain_order="left")
        length, score, position = coefficients[aspect], NONE, None
        problem: str | None = UNKNOWN
        if chunks["log_ratio"].has_nulls():
            problem = TEXTLESS
        elif length.value is not None:
            score, position = controlled_score(chunks, length, literary.orders == "one")
            problem = ONE_SIDED if score.value is None else None
        rows.append({
            "model": model, "corpus": corpus, "aspect": aspect, **score.columns("score_controlled"),
            **corrected_score(group, kept[aspect]).columns("score_corrected"),
            **length.columns("length_coefficient"), "position_coefficient": position, "length_problem": problem,
        })  # fmt: skip
    key = ["model", "corpus", "aspect"]
    controlled = pl.DataFrame(rows, schema_overrides=SCORE)
    joined = scored.drop(set(controlled.columns) - set(key)).join(controlled, on=key, maintain_order="left")
    return joined.with_columns(signature=pl.format("{}; {}", "signature", pl.lit(SIGNATURE))).select(scored.columns)


def ensemble_coefficient(sentinels: pl.DataFrame, literary: Literary, aspect: str) -> Estimate:
    """Coefficient of length, with a 95 % interval: how many logits an ensemble's points gain per unit of log length
    ratio.

    `NONE` if there are no padded texts about which all seats were asked. Padded texts are treated like outputs: the
    same rules derive votes, balances and points. The coefficient therefore applies to points, for any number of seats
    and orders. `aspect` is '' for the whole ensemble.
    """
    padded = sentinels.filter(trait="padding")
    ratios = padded.group_by(passage=_SENTINEL).agg(pl.col("trial_length").log().mean())
    points = trial_points(padded, literary, aspect).pivot("model", index="passage", values="points")
    points = points.drop_nulls().join(ratios, on="passage").sort("passage")
    chosen = points.drop("passage", "trial_length")
    if points.is_empty() or chosen.width < (2 if literary.orders == "one" else 1):
        return NONE
    return penalized_slope(points["trial_length"].to_numpy(), chosen.select(sorted(chosen.columns)).to_numpy())


def trial_points(sentinels: pl.DataFrame, literary: Literary, aspect: str) -> pl.DataFrame:
    """Points of an ensemble for sentinels about which all its seats were asked, by the rules for outputs.

    The result has the columns of `VERDICT`. `passage` is the kind of a sentinel and its passage; `model` is the side of
    the text on trial if pairs are judged in one order, else ''.
    """
    seats = seats_of(literary, aspect)
    better = pl.when(pl.col("abstention").is_null()).then(pl.col("choice").replace_strict(_BETTER))
    votes = sentinels.join(keys(seats), on=SEAT).select(
        *SEAT, "shown", better=better, passage=_SENTINEL,
        model=pl.col("shown") if literary.orders == "one" else pl.lit(""),
    )  # fmt: skip
    asked = pl.struct(SEAT).n_unique().over("passage")
    return verdicts(votes.filter(asked == len(seats)), literary, aspect)


def ensemble_reliability(sentinels: pl.DataFrame, literary: Literary, aspect: str) -> Estimate:
    """How far an ensemble's points are from those of coins, as a share of how far those without errors are.

    In [0, 1], from the points that damaged texts win beside sound ones: a share e of points leaves 1 - 2e. `NONE` if
    all seats were asked about too few of the same damaged texts, or if the lower end is below `LEAST`.
    """
    rows = trial_points(sentinels.filter(pl.col("trait").is_in(DAMAGING)), literary, aspect).sort("passage", "model")
    if rows.is_empty():
        return NONE
    lost, passages = rows["points"].to_numpy(), numbered_units(rows["passage"].str.split(" ").list.last())
    low, high = rate_interval(lost, passages)
    if low is None or high is None or 1 - 2 * high < LEAST:
        return NONE
    return Estimate(1 - 2 * float(lost.mean()), 1 - 2 * high, 1 - 2 * low)


def controlled_score(chunks: pl.DataFrame, length: Estimate, by_position: bool) -> tuple[Estimate, float | None]:
    """The score at equal length with its interval, in [0, 100]; and the coefficient of position.

    Parameters
    ----------
    chunks
        Columns `points`, `log_ratio` and `shown`, and the columns that `scores.centered` needs.
    length
        The coefficient of length, with its interval.
    by_position
        Whether each pair was judged in one order only. Position then has a coefficient, which is estimated from these
        chunks, because their sides were drawn at random.

    Returns
    -------
    The score, `NONE` if the points have no finite log-odds; and the coefficient of position, None if `by_position` is
    false.

    Notes
    -----
    The log-odds of a point are a + g z + b x. Here x is the log length ratio, z is ½ if the output is shown as A and -½
    if as B, g is the coefficient of position, and b is the given coefficient of length. The score is 100 times the mean
    of σ(a + g / 2) and σ(a - g / 2). If b = 0 and both orders are used, the score is 100 times the mean of the points.
    On the scale of log-odds, the interval of the score combines two intervals: the interval of the regression, computed
    from the influences of chunks, and the interval of b (MOVER; Zou and Donner 2008).
    """
    ratios, points = chunks["log_ratio"].to_numpy(), chunks["points"].to_numpy()
    middle = ratios.mean()
    sides = np.where(chunks["shown"] == "A", 0.5, -0.5)[:, None]
    design = np.hstack([np.ones((len(points), 1)), sides])[:, : 1 + by_position]
    both_sides = np.array([[1.0, 0.5], [1.0, -0.5]])[:, : 1 + by_position]

    def regression(coefficient: float) -> tuple[Floats | None, Floats]:
        """Coefficients (intercept, position), and the log-odds of points at equal length, shown as A and as B."""
        offset = coefficient * (ratios - middle)  # centered, so that the fit starts near the solution
        odds = None if points.min() == points.max() else fitted(design, points, offset)
        return odds, np.full(2, np.nan) if odds is None else both_sides @ odds - coefficient * middle

    value, *ends = (float(each) for each in length if each is not None)
    odds, logits = regression(value)
    if odds is None:
        return NONE, None
    chances = scipy.special.expit(design @ odds + value * (ratios - middle))
    curvature = design.T @ (design * (chances * (1 - chances))[:, None])
    score = float(scipy.special.expit(logits).mean())
    gradient = (scipy.special.expit(logits) * scipy.special.expit(-logits)) @ both_sides / 2 / (score * (1 - score))
    influences = design @ np.linalg.solve(curvature, gradient) * (points - chances)
    level, position = float(scipy.special.logit(score)), float(odds[1]) if by_position else None
    values, units, _ = centered(chunks.with_columns(points=level + len(points) * pl.Series(influences)))
    low, high = mean_interval(values, units)
    if low is None or high is None:
        return Estimate(100 * score, None, None), position
    moved = [float(scipy.special.logit(scipy.special.expit(regression(end)[1]).mean())) - level for end in ends]
    if np.isnan(moved).any():  # a bound of b separates the points
        return Estimate(100 * score, 0.0, 100.0), position
    below, above = np.hypot(level - low, min(*moved, 0)), np.hypot(high - level, max(*moved, 0))
    return Estimate(
        *(float(100 * scipy.special.expit(each)) for each in (level, level - below, level + above))
    ), position


def corrected_score(chunks: pl.DataFrame, kept: Estimate) -> Estimate:
    """The score that an ensemble without errors would give, in [0, 100]; `NONE` if nothing is known about its errors.

    `chunks` is as for `scores.centered`, `kept` as `ensemble_reliability` returns it.
    """
    if kept.value is None:
        return NONE
    ends = (None if end is None else end / 100 for end in interval(chunks)[0])
    rate = Estimate(float(chunks["points"].to_numpy().mean()), *ends)
    return Estimate(*(None if each is None else 100 * each for each in spread(rate, kept)))


def log_ratios(warehouse: Warehouse, outputs: pl.DataFrame, human: str) -> pl.DataFrame:
    """Log of the ratio of an output's length to the human translation's; 0 for a blank output.

    `outputs` has the columns `model` and `passage`; `human` is the name of the reference. The result has the columns
    `model`, `passage` and `log_ratio`.
    """
    keys = outputs.select(OUTPUT).unique()
    key = keys.select("passage", translator=pl.lit(human)).unique()
    humans = dict(warehouse.read("reference", key, ["passage", "text"]).iter_rows())
    rows = [
        (model, passage, float(np.log(len(text) / len(humans[passage]))) if text.strip() else 0.0)
        for (model, passage), text in output_texts(warehouse, keys).items()
        if passage in humans
    ]
    kinds = {"model": pl.String(), "passage": pl.String(), "log_ratio": pl.Float64()}
    return pl.DataFrame(rows, schema=kinds, orient="row")
