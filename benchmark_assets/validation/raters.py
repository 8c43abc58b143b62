"""Raters of a gold set: how far they agree, and how well one of them predicts another, the ceiling of any metric.

Texts are compared, not systems: several systems often give one text, which different raters rate. Not here: raters of
the project's own forms (people.agreement).
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import Floats, Units
from benchmark_assets.metrics.measures import ratio
from benchmark_assets.validation import figures
from benchmark_assets.validation.figures import Figure
from benchmark_assets.validation.gold import GoldSet, has_major
from benchmark_assets.validation.scoring import ON


def ceiling(gold: GoldSet, rows: pl.DataFrame, units: Units, weights: Floats) -> Iterator[tuple[Figure, str]]:
    """Figures of the raters.

    - `raters`: their number;
    - `ceiling_pooled`, `ceiling_within`: AUC of one rater's score as a predictor of another rater's major error in the
      same text, over all texts and within passages;
    - `kappa`: Cohen's kappa of major errors by two raters of one text, and (kind 'same rater') by one rater who saw a
      text twice.

    `rows` are the labeled outputs, `units` their units; see `figures` for `weights`.
    """
    keyed = rows.select(*ON, "text", "human", unit=pl.Series(units)).filter(~pl.col("human"))
    rated = keyed.join(gold.ratings.filter(pl.col("rater") != ""), on=ON).with_row_index("rating")
    if rated.is_empty():
        return
    yield Figure("raters", np.full(len(weights), float(rated["rater"].n_unique())), len(rated)), ""
    rated = rated.with_columns(major=has_major(gold.scale))
    both = rated.join(rated, on=["passage", "text"], suffix="_other", maintain_order="left_right")
    both = both.filter(pl.col("rating") != pl.col("rating_other"))
    same = pl.col("rater") == pl.col("rater_other")
    others = both.filter(~same)
    yield _kappa(others, weights), ""
    yield _kappa(both.filter(same), weights), "same rater"
    if others.is_empty():
        return
    suspicion, worse = -others["score"].to_numpy(), others["major_other"].to_numpy()
    unit = others["unit"].to_numpy()
    counts = figures.concordance(suspicion, worse, np.zeros(len(unit), np.int64), unit, weights.shape[1])
    yield figures.auc("ceiling_pooled", counts, weights)._replace(n=len(others)), ""
    passages = others["passage"].rank("dense").to_numpy().astype(np.int64)
    found = figures.pairs(passages, unit, -worse.astype(np.float64), worse)
    texts = others["text"].to_numpy()  # two raters of one text never disagree with themselves
    chosen = found.differ & (texts[found.first] != texts[found.second])
    yield figures.share_right("ceiling_within", suspicion, found, chosen, weights), ""


def _kappa(both: pl.DataFrame, weights: Floats) -> Figure:
    """Cohen's kappa (1960) of a major error in ordered pairs of ratings, with the marginals of both sides together."""
    one, other = both["major"].to_numpy(), both["major_other"].to_numpy()
    columns = [np.ones(len(one)), one == other, one * 1.0]
    sums = [np.bincount(both["unit"].to_numpy(), part, minlength=weights.shape[1]) for part in columns]
    count, equal, major = (weights @ part for part in sums)
    rate = ratio(major, count)
    expected = rate**2 + (1 - rate) ** 2
    return Figure("kappa", ratio(ratio(equal, count) - expected, 1 - expected), len(both) // 2)
