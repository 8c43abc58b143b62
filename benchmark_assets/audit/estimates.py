"""Error rates of all outputs, above and below the threshold, estimated from the sample that people labelled.

Here: post-stratification. Not here: counts of labelled outputs (outcomes).
"""

import polars as pl

from benchmark_assets.adjudication.labels import MAJOR, MINOR, SUBSTANTIVE
from benchmark_assets.audit.rated import BOUNDS, PEOPLE, with_totals
from benchmark_assets.metrics.intervals import wilson
from benchmark_assets.metrics.measures import Floats
from resources.catalogue import schema
from resources.keys import CORPUS

RATES = ("minor", "major", "any")

ESTIMATE = schema("error_estimate")

SIGNATURE = (
    "rates: post-stratified by model and band; 95 % intervals: Wilson with the effective sample size (Korn and "
    "Graubard 1998), variances of strata from their band's rate over all models, half an error and half a sound output "
    "added"
)


def estimates(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `error_estimate`.

    Parameters
    ----------
    triage
        Rows of `triage`.
    rows
        As `rated` returns them; only rows by people with a substantive label are used.

    Returns
    -------
    Columns of `ESTIMATE`: for each corpus with labels, every model and all together (''), every region that has outputs
    and 'all'. The rates refer to the outputs in strata with labels, a fraction `covered` of all outputs. Without
    labels they are null.
    """
    by = ["corpus", "model", "band"]
    settled = rows.filter((pl.col("raters") == PEOPLE) & pl.col("label").is_in(SUBSTANTIVE))
    minor, major = pl.col("label") == MINOR, pl.col("label") == MAJOR
    labels = settled.group_by(by).agg(
        labelled=pl.len(), minor=minor.sum(), major=major.sum(), any=(minor | major).sum()
    )
    region = pl.when("queued").then(pl.lit("above")).otherwise(pl.lit("below"))
    sizes = triage.group_by(CORPUS, "model", "band", region.alias("region")).agg(outputs=pl.len())
    strata = sizes.join(settled, on="corpus", how="semi").join(labels, on=by, how="left").with_columns(
        pl.col("labelled", *RATES).fill_null(0)
    )  # fmt: skip
    banded = pl.col("labelled").sum().over("corpus", "band")
    strata = strata.with_columns(
        ((pl.col(name).sum().over("corpus", "band") + 0.5) / (banded + 1)).alias(f"{name}_band") for name in RATES
    )
    result: list[tuple[object, ...]] = []
    groups = with_totals(strata, model="", region="all").sort("corpus", "model", "region", "band")
    for key, part in groups.group_by(["corpus", "model", "region"], maintain_order=True):
        labelled = part.filter(pl.col("labelled") > 0)
        numbers: list[float | None] = [None] * (len(RATES) * len(BOUNDS))
        if len(labelled):
            size, count = labelled["outputs"].to_numpy(), labelled["labelled"].to_numpy()
            weights = size / size.sum()
            numbers = [
                number
                for name in RATES
                for number in post_stratified(
                    weights, count, labelled[name].to_numpy(), labelled[f"{name}_band"].to_numpy()
                )
            ]
        outputs, covered = int(part["outputs"].sum()), int(labelled["outputs"].sum())
        result.append((*key, outputs, int(labelled["labelled"].sum()), covered / outputs, *numbers, SIGNATURE))
    return pl.DataFrame(result, schema=ESTIMATE, orient="row")


def post_stratified(weights: Floats, labelled: Floats, errors: Floats, rates: Floats) -> tuple[float, float, float]:
    """Rate of errors over strata, and its 95 % interval.

    Parameters
    ----------
    weights
        Share of each stratum in the outputs, summing to 1; shape (strata,).
    labelled, errors
        Number of labelled outputs of each stratum, at least one, and number of errors among them; shape (strata,).
    rates
        Error rate from which each stratum's variance is computed, strictly between 0 and 1; shape (strata,).

    Notes
    -----
    The rate is the sum of weight times errors / labelled. Its variance gives an effective sample size, the number of
    independent outputs that carry as much information, and Wilson's interval is computed for this size (Korn and
    Graubard 1998). A stratum's observed rate is unsuitable for its variance: a few labels without an error would give
    variance 0, as if the rate were certain. No finite population correction is applied.
    """
    rate, expected = float(weights @ (errors / labelled)), float(weights @ rates)
    variance = float(weights**2 @ (rates * (1 - rates) / labelled))
    effective = expected * (1 - expected) / variance
    rate = min(rate, 1.0)  # weights may sum to a little more than 1
    return rate, *wilson(rate * effective, effective)
