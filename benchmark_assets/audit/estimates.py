"""Error rates of all outputs, above and below the threshold, estimated from people's labels by post-stratification.

Not here: counts of labeled outputs (outcomes).
"""

import polars as pl
from scipy import special  # type: ignore[import-untyped]

from benchmark_assets.adjudication.labels import MAJOR, MINOR
from benchmark_assets.audit.rated import labeled_by_people, with_totals
from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.metrics.intervals import LEVEL, Floats, Units, Z, by_unit, wilson
from benchmark_assets.metrics.measures import numbered_units
from resources.catalogue import schema
from resources.keys import CORPUS

RATES = ("minor", "major", "any")

ESTIMATE = schema("error_estimate")

SIGNATURE = (
    "rates: post-stratified by model and band; 95 % intervals: Wilson with the effective sample size (Korn and "
    "Graubard 1998), variances of strata from their band's rate over all models, half an error and half a sound output "
    f"added, design effect and t of units, none with fewer than {FEWEST} units"
)


def estimates(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `error_estimate`, from rows of `triage` and the substantive human labels in `rows`, a result of `rated`.

    Columns of `ESTIMATE`: for each corpus with labels, one row for each model ('' for all models) and region: 'above'
    or 'below' the threshold, or 'all'. A region without outputs has no row. A stratum is a model's outputs in a band.
    Rates refer to strata with labels and are null if there are none; `covered` is the share of outputs in these strata.
    """
    by = ["corpus", "model", "band"]
    minor, major = pl.col("label") == MINOR, pl.col("label") == MAJOR
    labels = labeled_by_people(rows).select(*by, "unit", minor=minor, major=major, any=minor | major)
    labels = labels.with_columns(
        ((pl.col(name).sum() + 0.5) / (pl.len() + 1)).over("corpus", "band").alias(f"{name}_band") for name in RATES
    ).with_columns(labelled=pl.len().over(by))
    region = pl.when("queued").then(pl.lit("above")).otherwise(pl.lit("below"))
    strata = triage.group_by(CORPUS, "model", "band", region.alias("region")).agg(outputs=pl.len())
    strata = strata.join(labels, on="corpus", how="semi").join(labels, on=by, how="left")
    result: list[tuple[object, ...]] = []
    groups = with_totals(strata.with_columns(stratum=pl.struct("model", "band", "region")), model="", region="all")
    groups = groups.sort("corpus", "model", "region", "stratum", "unit")
    for key, part in groups.group_by(["corpus", "model", "region"], maintain_order=True):
        labeled = part.drop_nulls("unit")
        sizes, covered = (int(group.unique("stratum")["outputs"].sum()) for group in (part, labeled))
        numbers = [number for name in RATES for number in _estimate(labeled, name, covered)]
        result.append((*key, sizes, len(labeled), covered / sizes, *numbers, SIGNATURE))
    return pl.DataFrame(result, schema=ESTIMATE, orient="row")


def _estimate(labeled: pl.DataFrame, name: str, covered: int) -> tuple[float | None, float | None, float | None]:
    """A rate with its interval, from the labeled outputs of a region, whose strata have `covered` outputs."""
    if labeled.is_empty():
        return None, None, None
    columns = ["outputs", "labelled", name, f"{name}_band"]
    outputs, labelled, errors, rates = labeled.select(pl.col(columns).cast(pl.Float64)).to_numpy().T
    units = numbered_units(labeled["unit"])
    rate, low, high = post_stratified(
        outputs / labelled / covered, errors, rates, design_effect((errors - rates) * outputs / labelled, units)
    )
    return (rate, low, high) if units.max() + 1 >= FEWEST else (rate, None, None)


def post_stratified(weights: Floats, errors: Floats, rates: Floats, effect: float) -> tuple[float, float, float]:
    """Post-stratified error rate and its 95 % interval: (rate, low, high), in [0, 1].

    Parameters
    ----------
    weights
        Weight of each labeled output: the share of its stratum in all outputs, divided by the number of labeled outputs
        in the stratum, summing to 1; shape (labels,).
    errors
        1 for an error, else 0; shape (labels,).
    rates
        Expected error rate of the output's stratum, strictly between 0 and 1, for its variance; shape (labels,).
    effect
        Factor by which the variance exceeds that of independent labels; see `design_effect`.

    Notes
    -----
    The rate is the sum of weight * error. Its variance gives the effective sample size: the number of
    independent outputs that would carry as much information. The interval is Wilson's for this size (Korn and Graubard
    1998). A stratum's variance is not computed from its observed rate, because a few labels without an error would give
    a variance of 0, as if the rate were certain. There is no finite population correction.
    """
    rate, expected = float(weights @ errors), float(weights @ rates)
    variance = float(weights**2 @ (rates * (1 - rates))) * effect
    effective = expected * (1 - expected) / variance
    rate = min(rate, 1.0)  # weights may sum to a little more than 1
    return rate, *wilson(rate * effective, effective)


def design_effect(deviations: Floats, units: Units) -> float:
    """Factor by which the variance of a sum exceeds that of independent deviations, at least 1; Student's t included.

    Parameters
    ----------
    deviations
        Deviations of labeled outputs from what is expected, times their weights, shape (labels,).
    units
        Number of each output's unit, shape (labels,).

    Notes
    -----
    The sum over units of the squared sum of deviations, divided by the sum of squared deviations; times (t/z)², with
    one degree of freedom less than there are units (Korn and Graubard 1998). For labels that are all in different
    units, the ratio is 1; for units of n equal deviations it is n.
    """
    sums = by_unit(deviations, units)
    t = float(special.stdtrit(max(len(sums) - 1, 1), (1 + LEVEL) / 2))
    return max(1.0, float((sums**2).sum() / (deviations**2).sum())) * (t / Z) ** 2
