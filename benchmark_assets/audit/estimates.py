"""Error rates of all outputs, also of those below the threshold, estimated from the sample that people labelled.

Here: reweighting of the strata. Not here: counts of what was labelled (outcomes).
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
        As `rated` returns them; those by people are looked at, as far as they come to a substantive label.

    Returns
    -------
    Columns of `ESTIMATE`: for each corpus with labels, every model and all together (''), every region that has outputs
    and 'all'. The rates speak of the outputs in strata with labels, `covered` of all; they are null without any.
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
    found: list[tuple[object, ...]] = []
    groups = with_totals(strata, model="", region="all").sort("corpus", "model", "region", "band")
    for key, part in groups.group_by(["corpus", "model", "region"], maintain_order=True):
        own = part.filter(pl.col("labelled") > 0)
        numbers: list[float | None] = [None] * (len(RATES) * len(BOUNDS))
        if len(own):
            size, count = own["outputs"].to_numpy(), own["labelled"].to_numpy()
            weights = size / size.sum()
            numbers = [
                number
                for name in RATES
                for number in post_stratified(weights, count, own[name].to_numpy(), own[f"{name}_band"].to_numpy())
            ]
        outputs, covered = int(part["outputs"].sum()), int(own["outputs"].sum())
        found.append((*key, outputs, int(own["labelled"].sum()), covered / outputs, *numbers, SIGNATURE))
    return pl.DataFrame(found, schema=ESTIMATE, orient="row")


def post_stratified(weights: Floats, labelled: Floats, errors: Floats, rates: Floats) -> tuple[float, float, float]:
    """Rate of errors over strata, and its 95 % interval.

    Parameters
    ----------
    weights
        Share of each stratum of the outputs, summing to 1; shape (strata,).
    labelled, errors
        How many outputs of a stratum have a label, at least one, and how many of these are errors.
    rates
        What a stratum's variance is reckoned with, strictly between 0 and 1.

    Notes
    -----
    The rate is the sum of weight times errors / labelled. Its variance gives an effective sample size, the number of
    independent outputs that would tell as much, to which Wilson's interval is applied (Korn and Graubard 1998). A
    stratum's own rate cannot give its variance: it would be 0 where a handful of labels has no error, as if nothing
    were unknown there. The strata count as drawn from more outputs than there are, however many of them are labelled.
    """
    rate, expected = float(weights @ (errors / labelled)), float(weights @ rates)
    variance = float(weights**2 @ (rates * (1 - rates) / labelled))
    effective = expected * (1 - expected) / variance
    rate = min(rate, 1.0)  # weights may sum to a little more than 1
    return rate, *wilson(rate * effective, effective)
