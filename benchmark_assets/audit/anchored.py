"""Error rates of all outputs, estimated from people's labels with the panel's verdicts as predictions.

Not here: estimates from people's labels alone (estimates), the method (metrics.anchoring).
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from benchmark_assets.adjudication.verdicts import KEY
from benchmark_assets.audit import two_phase
from benchmark_assets.audit.rated import REGION, unlabeled, with_bounds, with_totals
from benchmark_assets.audit.two_phase import LEVELS, NO_FINALS, samples
from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.metrics.anchoring import FEWEST_IN_STRATA, FEWEST_LABELS, FOLDS, Rated, anchored
from benchmark_assets.metrics.intervals import SEED
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.metrics.missing import before
from resources.keys import CORPUS

ANCHORED = before("anchored_estimate", "missing_share", "problem")

SIGNATURE = (
    "prediction-powered (PPI++, stratified by model and band), predictions from the panel's verdicts by Bayes's rule, "
    f"slope and predictions cross-fitted in {FOLDS} folds of units, seed {SEED}; 95 % score intervals, design effect "
    f"and t of units, none with fewer than {FEWEST} labeled units; people alone where verdicts do not help, "
    f"and with fewer than {FEWEST_LABELS} labels ({FEWEST_IN_STRATA} in several strata)"
)


def anchored_estimates(
    triage: pl.DataFrame, rows: pl.DataFrame, panel: pl.DataFrame, finals: pl.DataFrame = NO_FINALS
) -> pl.DataFrame:
    """Rows of `anchored_estimate`. `triage`, `rows` and `finals` are as in `estimates`; `panel` has rows of `verdict`.

    For each corpus with labels: one row for each combination of model ('' for all models), region ('above' or 'below'
    the threshold, or 'all') and error level that has labels. All verdicts of the panel are used: on queued outputs, on
    sampled outputs, and on the random sample of outputs below the threshold. Missing labels are treated as in
    `estimates`.
    """
    verdicts = panel.select(*KEY, judged="label")
    drawn = samples(rows, finals)
    outputs = triage.select(CORPUS, *KEY, "band", "unit", REGION.alias("region"))
    outputs = outputs.join(verdicts, on=KEY, how="left").join(drawn[0].drop_nulls("label"), on="corpus", how="semi")
    values = [*KEY, "label", "reexamined", *(name + end for name in LEVELS for end in ("", "_shift", "_noise"))]
    rated = (outputs.join(labels.select(values), on=KEY, how="left").sort("corpus", *KEY) for labels in drawn)
    found = [_estimates(each) for each in rated]
    return with_bounds("anchored_estimate", (found * 3)[:3], unlabeled(triage, drawn[0]))


def _estimates(rated: pl.DataFrame) -> pl.DataFrame:
    result: list[tuple[object, ...]] = []
    for (corpus,), part in rated.group_by(["corpus"], maintain_order=True):
        signature = SIGNATURE + two_phase.SIGNATURE * bool(part["reexamined"].sum())
        result += [(corpus, *row, signature) for row in _of_corpus(part)]
    return pl.DataFrame(result, schema=ANCHORED, orient="row").sort("corpus", "model", "region", "level")


def _of_corpus(outputs: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    """Rows of one corpus.

    `outputs` has one row per output, with the columns `model`, `band`, `region`, `unit` and `judged`, and those of
    `two_phase.sample`, which are null outside the sample.
    """
    strata = outputs.group_by("model", "band", "region", maintain_order=True).agg(outputs=pl.len())
    strata = strata.with_row_index("stratum").with_columns(pool=pl.col("band").rank("dense") - 1)
    seen = outputs.join(strata, on=["model", "band", "region"], maintain_order="left")
    seen = seen.filter(pl.col("judged").is_not_null() | pl.col("label").is_not_null())
    stratum, pool = (column.to_numpy().astype(np.int64) for column in (seen["stratum"], strata["pool"]))
    unit = numbered_units(seen["unit"])
    domains = with_totals(strata, model="", region="all").group_by("model", "region", maintain_order=True)
    for key, domain in domains:
        inside = strata["stratum"].is_in(domain["stratum"].implode())
        sizes = (strata["outputs"] * inside).to_numpy().astype(np.float64)
        own = seen.filter(pl.col("stratum").is_in(domain["stratum"].implode()))
        labeled = own.drop_nulls("label")
        if labeled.is_empty():
            continue
        total = int(domain["outputs"].sum())
        covered = int(domain.filter(pl.col("stratum").is_in(labeled["stratum"].implode()))["outputs"].sum())
        shown = labeled["unit"].n_unique() >= FEWEST
        for level, errors in LEVELS.items():
            judge = seen["judged"].is_in(errors)
            people, shift, noise = (_values(seen[f"{level}{end}"]) for end in ("", "_shift", "_noise"))
            found = anchored(Rated(people, _values(judge), stratum, unit, pool, sizes, shift, noise))
            rate, low, high = found.mean
            width = found.people[2] - found.people[1]
            yield (
                *key, level, total, len(labeled), labeled["reexamined"].sum(), own["judged"].count(), covered / total,
                rate,
                *((low, high) if shown else (None, None)), found.tuning, 1 - (high - low) / width if shown else None,
            )  # fmt: skip


def _values(column: pl.Series) -> np.typing.NDArray[np.float64]:
    """The values of a column, 1 for true, NaN for null; shape (rows,)."""
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
