"""Error rates of all outputs, above and below the threshold, estimated from people's labels by post-stratification.

Not here: counts of labeled outputs (outcomes).
"""

import polars as pl

from benchmark_assets.audit import two_phase
from benchmark_assets.audit.rated import REGION, unlabeled, with_bounds, with_totals
from benchmark_assets.audit.two_phase import LEVELS, NO_FINALS, samples
from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.metrics.anchoring import design_effect, post_stratified, second_phase
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.metrics.missing import before
from resources.keys import CORPUS

BY = ["corpus", "model", "band"]

ESTIMATE = before("error_estimate", "missing_share", "problem")

SIGNATURE = (
    "rates: post-stratified by model and band; 95 % intervals: Wilson with the effective sample size (Korn and "
    "Graubard 1998), variances of strata from their band's rate over all models, half an error and half a sound output "
    f"added, design effect and t of units, none with fewer than {FEWEST} units"
)


def estimates(triage: pl.DataFrame, rows: pl.DataFrame, finals: pl.DataFrame = NO_FINALS) -> pl.DataFrame:
    """Rows of `error_estimate`, from rows of `triage`, the substantive human labels in `rows`, a result of `rated`, and
    rows of `final_label`.

    For each corpus with labels: one row for each model ('' for all models) and region ('above' or 'below' the
    threshold, or 'all') that has outputs. A stratum is a model's outputs in a band. Rates refer to strata with labels;
    intervals and bounds to all outputs, whatever the missing labels are. Rates from labels on one side of the threshold
    are null.
    """
    drawn = samples(rows, finals)
    labels = (each.drop_nulls("label").join(drawn[0].drop_nulls("label"), on="corpus", how="semi") for each in drawn)
    found = [_estimates(triage, each) for each in labels]
    return with_bounds("error_estimate", (found * 3)[:3], unlabeled(triage, drawn[0]))


def _estimates(triage: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Estimates from `labels`, a result of `two_phase.sample` without missing labels."""
    least = 0.5 / (pl.len() + 1)
    labels = labels.with_columns(
        ((pl.col(name).sum() + pl.col(f"{name}_shift").sum() + 0.5) / (pl.len() + 1)).clip(least, 1 - least)
        .over("corpus", "band").alias(f"{name}_band") for name in LEVELS
    ).with_columns(labelled=pl.len().over(BY))  # fmt: skip
    strata = triage.group_by(CORPUS, "model", "band", REGION.alias("region")).agg(outputs=pl.len())
    strata = strata.join(labels, on="corpus", how="semi").join(labels, on=BY, how="left")
    result: list[tuple[object, ...]] = []
    groups = with_totals(strata.with_columns(stratum=pl.struct("model", "band", "region")), model="", region="all")
    groups = groups.sort("corpus", "model", "region", "stratum", "unit")
    for key, part in groups.group_by(["corpus", "model", "region"], maintain_order=True):
        labeled = part.drop_nulls("unit")
        sizes, covered = (int(group.unique("stratum")["outputs"].sum()) for group in (part, labeled))
        numbers = [number for name in LEVELS for number in _estimate(labeled, name, covered)]
        again = int(labeled["reexamined"].sum())
        signature = SIGNATURE + two_phase.SIGNATURE * bool(again)
        result.append((*key, sizes, len(labeled), again, covered / sizes, *numbers, signature))
    return pl.DataFrame(result, schema=ESTIMATE, orient="row")


def _estimate(labeled: pl.DataFrame, name: str, covered: int) -> tuple[float | None, float | None, float | None]:
    """Rate and interval of a region, from its labeled outputs.

    `covered` is the number of outputs in the strata that have labels.
    """
    if labeled.is_empty():
        return None, None, None
    columns = ["outputs", "labelled", name, f"{name}_band", f"{name}_shift", f"{name}_noise"]
    outputs, labelled, errors, rates, shift, noise = labeled.select(pl.col(columns).cast(pl.Float64)).to_numpy().T
    units, weights = numbered_units(labeled["unit"]), outputs / labelled / covered
    effect = design_effect((errors - rates) * weights, units) + second_phase(weights, rates, noise)
    rate, low, high = post_stratified(weights, errors + shift, rates, effect)
    return (rate, low, high) if units.max() + 1 >= FEWEST else (rate, None, None)
