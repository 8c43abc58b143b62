"""Error rates of all outputs, above and below the threshold, estimated from people's labels by post-stratification.

Not here: counts of labeled outputs (outcomes).
"""

import polars as pl

from benchmark_assets.adjudication.labels import MAJOR, MINOR
from benchmark_assets.audit.rated import labeled_by_people, with_totals
from benchmark_assets.metrics.intervals import wilson
from benchmark_assets.metrics.measures import Floats
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.tables import ENDS

RATES = ("minor", "major", "any")

ESTIMATE = schema("error_estimate")

SIGNATURE = (
    "rates: post-stratified by model and band; 95 % intervals: Wilson with the effective sample size (Korn and "
    "Graubard 1998), variances of strata from their band's rate over all models, half an error and half a sound output "
    "added"
)


def estimates(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `error_estimate`, from rows of `triage` and the substantive human labels in `rows`, a result of `rated`.

    Columns of `ESTIMATE`: for each corpus with labels, one row for each model ('' for all models) and region: 'above'
    or 'below' the threshold, or 'all'. A region without outputs has no row. A stratum is a model's outputs in a band.
    Rates refer to strata with labels and are null if there are none; `covered` is the share of outputs in these strata.
    """
    by = ["corpus", "model", "band"]
    labeled = labeled_by_people(rows)
    minor, major = pl.col("label") == MINOR, pl.col("label") == MAJOR
    labels = labeled.group_by(by).agg(
        labelled=pl.len(), minor=minor.sum(), major=major.sum(), any=(minor | major).sum()
    )
    region = pl.when("queued").then(pl.lit("above")).otherwise(pl.lit("below"))
    sizes = triage.group_by(CORPUS, "model", "band", region.alias("region")).agg(outputs=pl.len())
    strata = sizes.join(labeled, on="corpus", how="semi").join(labels, on=by, how="left").with_columns(
        pl.col("labelled", *RATES).fill_null(0)
    )  # fmt: skip
    banded = pl.col("labelled").sum().over("corpus", "band")
    strata = strata.with_columns(
        ((pl.col(name).sum().over("corpus", "band") + 0.5) / (banded + 1)).alias(f"{name}_band") for name in RATES
    )
    result: list[tuple[object, ...]] = []
    groups = with_totals(strata, model="", region="all").sort("corpus", "model", "region", "band")
    for key, part in groups.group_by(["corpus", "model", "region"], maintain_order=True):
        with_labels = part.filter(pl.col("labelled") > 0)
        numbers: list[float | None] = [None] * (len(RATES) * len(ENDS))
        if len(with_labels):
            size, count = with_labels["outputs"].to_numpy(), with_labels["labelled"].to_numpy()
            weights = size / size.sum()
            numbers = [
                number
                for name in RATES
                for number in post_stratified(
                    weights, count, with_labels[name].to_numpy(), with_labels[f"{name}_band"].to_numpy()
                )
            ]
        outputs, covered = int(part["outputs"].sum()), int(with_labels["outputs"].sum())
        result.append((*key, outputs, int(with_labels["labelled"].sum()), covered / outputs, *numbers, SIGNATURE))
    return pl.DataFrame(result, schema=ESTIMATE, orient="row")


def post_stratified(weights: Floats, labelled: Floats, errors: Floats, rates: Floats) -> tuple[float, float, float]:
    """Post-stratified error rate and its 95 % interval: (rate, low, high), in [0, 1].

    Parameters
    ----------
    weights
        Share of each stratum in all outputs, summing to 1; shape (strata,).
    labelled, errors
        Number of labeled outputs in each stratum, at least one, and number of errors among them; shape (strata,).
    rates
        Expected error rate of each stratum, strictly between 0 and 1, for its variance; shape (strata,).

    Notes
    -----
    The rate is the sum of weight * errors / labelled. Its variance gives the effective sample size: the number of
    independent outputs that would carry as much information. The interval is Wilson's for this size (Korn and Graubard
    1998). A stratum's variance is not computed from its observed rate, because a few labels without an error would give
    a variance of 0, as if the rate were certain. There is no finite population correction.
    """
    rate, expected = float(weights @ (errors / labelled)), float(weights @ rates)
    variance = float(weights**2 @ (rates * (1 - rates) / labelled))
    effective = expected * (1 - expected) / variance
    rate = min(rate, 1.0)  # weights may sum to a little more than 1
    return rate, *wilson(rate * effective, effective)
