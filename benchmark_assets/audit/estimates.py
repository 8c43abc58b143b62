"""Error rates of all outputs, above and below the threshold, estimated from people's labels by post-stratification.

Not here: counts of labeled outputs (outcomes).
"""

import polars as pl

from benchmark_assets.adjudication.labels import MAJOR, MINOR
from benchmark_assets.audit.rated import labeled_by_people, with_totals
from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.metrics.anchoring import design_effect, post_stratified
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

    For each corpus with labels: one row for each model ('' for all models) and region ('above' or 'below' the
    threshold, or 'all') that has outputs. A stratum is a model's outputs in a band. Rates refer to strata with labels.
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
    """Rate and interval of a region, from its labeled outputs.

    `covered` is the number of outputs in the strata that have labels.
    """
    if labeled.is_empty():
        return None, None, None
    columns = ["outputs", "labelled", name, f"{name}_band"]
    outputs, labelled, errors, rates = labeled.select(pl.col(columns).cast(pl.Float64)).to_numpy().T
    units = numbered_units(labeled["unit"])
    rate, low, high = post_stratified(
        outputs / labelled / covered, errors, rates, design_effect((errors - rates) * outputs / labelled, units)
    )
    return (rate, low, high) if units.max() + 1 >= FEWEST else (rate, None, None)
