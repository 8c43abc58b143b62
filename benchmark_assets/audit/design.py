"""The design of an audit: how wide intervals will be, before verdicts and labels are paid for.

Not here: estimates (estimates, anchored), the cost of a verdict (accounts).
"""

import math
from itertools import product

import numpy as np
import polars as pl

from benchmark_assets.metrics.anchoring import fewest_labels, gain
from benchmark_assets.metrics.intervals import Floats, Z

BELOW = (0.0, 0.1, 0.25, 0.5, 1.0)
SAMPLES = (1, 2, 4)
ACCURACIES = (0.7, 0.8, 0.9, 0.95)

DESIGN = pl.Schema(
    {"below": pl.Float64(), "verdicts": pl.Int64(), "labels": pl.Int64(), "people": pl.Float64()}
    | {f"judges_{100 * accuracy:.0f}": pl.Float64() for accuracy in ACCURACIES}
)


def designs(triage: pl.DataFrame, rate: float) -> pl.DataFrame:
    """Widths of the 95 % interval of the error rate of all outputs, for several designs.

    Parameters
    ----------
    triage
        Rows of `triage` of one corpus: columns `model`, `band`, `queued` and `sampled`.
    rate
        Expected error rate, the same in all bands, in (0, 1).

    Returns
    -------
    Columns of `DESIGN`, one row for each combination of a share in `BELOW` and a multiple of the sample in `SAMPLES`. A
    row has the number of outputs that the panel judges, the number of outputs that people label, and widths as
    differences of rates: the width with people's labels alone, and the widths with panels whose accuracy, the same
    on errors as on sound outputs, is 70, 80, 90 and 95 %.

    Notes
    -----
    Applies `metrics.anchoring.gain` to each stratum, as if outputs were independent. If the outputs of a document are
    alike, their labels carry less information, and true widths are larger.
    """
    counts = {"outputs": pl.len(), "drawn": pl.col("sampled").sum()}
    strata = triage.group_by("model", "band", "queued", maintain_order=True).agg(**counts)
    sizes, drawn = (strata[name].to_numpy().astype(np.float64) for name in ("outputs", "drawn"))
    rows: list[tuple[float | None, ...]] = []
    for below, times in product(BELOW, SAMPLES):
        labels = np.minimum(drawn * times, sizes)
        judged = np.maximum(np.where(strata["queued"].to_numpy(), sizes, np.ceil(below * sizes)), labels)
        widths = [width(sizes, labels, judged, rate, accuracy) for accuracy in (0.5, *ACCURACIES)]
        rows.append((below, int(judged.sum()), int(labels.sum()), *widths))
    return pl.DataFrame(rows, schema=DESIGN, orient="row")


def width(outputs: Floats, labels: Floats, judged: Floats, rate: float, accuracy: float) -> float | None:
    """Width of the interval of a rate, from numbers of outputs, labels and verdicts by stratum, shape (strata,).

    Every labeled output is judged. Strata without labels are left out; without any label, the width is None. With an
    accuracy of 0.5, verdicts carry no information, and the width is the same as with people's labels alone. The same
    holds with fewer labels than `fewest_labels`.
    """
    covered = labels > 0
    if not covered.any():
        return None
    called = accuracy * rate + (1 - accuracy) * (1 - rate)
    correlation = (2 * accuracy - 1) * math.sqrt(rate * (1 - rate) / (called * (1 - called)))
    if labels.sum() < fewest_labels(int(covered.sum())):
        correlation = 0.0
    variance = sum(
        size**2 * rate * (1 - rate) / n * (1 - gain(correlation, n, both - n)) ** 2
        for size, n, both in zip(outputs[covered], labels[covered], judged[covered], strict=True)
    )
    return float(2 * Z * math.sqrt(variance) / outputs[covered].sum())
