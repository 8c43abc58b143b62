"""Models among the human translators, from sums by unit: differences, verdicts, thresholds and shares of outliers.

Here: which scores are read and summed. Not here: keeping sums (unit_sums), arithmetic (left_out, people, outliers).
"""

from collections.abc import Mapping
from functools import partial

import polars as pl

from benchmark_assets.corpus.units import scoring
from benchmark_assets.metrics.further import named_in
from benchmark_assets.reporting import outliers, people
from benchmark_assets.reporting.left_out import comparable, left_out_scores, named_scores, reference_pairs
from benchmark_assets.reporting.unit_sums import UnitSums
from resources.warehouse import Warehouse

TABLES = (
    "drift_score", "output_similarity", "reference_envelope", "reference_similarity", "segment_metric", "human_metric",
)  # fmt: skip
"""Tables from which the sums are made."""


def among_people(warehouse: Warehouse, sums: UnitSums, former: pl.DataFrame, code: str) -> Mapping[str, pl.DataFrame]:
    """Rows of `human_range`, `human_difference`, `outlier_threshold` and `calibrated_outliers`.

    `former` has the former rows of `outlier_threshold`. `code` is the version of the code.
    """
    named = [metric for metric in named_in(warehouse) if metric.needs == ("source",)]
    thresholds = _thresholds(warehouse, sums, former, code)

    def made(passages: pl.DataFrame) -> pl.DataFrame:
        scores = left_out_scores(*comparable(warehouse, passages))
        if named:
            scores = scores.join(named_scores(warehouse, passages), on=["kind", "system", "passage"], how="left")
        above = outliers.above(scores, thresholds, passages)
        return pl.concat([people.paired(scores, passages, named), above], how="diagonal_relaxed")

    names = [metric.name for metric in named]
    limits = thresholds.select("corpus", "embedder", "references", "threshold")
    settings = {corpus: [names, rows.rows()] for (corpus,), rows in limits.group_by("corpus", maintain_order=True)}
    found = sums.of("left out", people.SUMS, made, settings, code)
    texts = found.filter(item="")
    signed = people.signatures(texts, sums.kinds, people.SIGNATURE)
    differences = people.differences(found.filter(pl.col("item") != ""), signed)
    return {
        "human_range": people.verdicts(differences, named), "human_difference": differences,
        "outlier_threshold": thresholds,
        "calibrated_outliers": outliers.rates(texts, people.signatures(texts, sums.kinds, outliers.SIGNATURE)),
    }  # fmt: skip


def _thresholds(warehouse: Warehouse, sums: UnitSums, former: pl.DataFrame, code: str) -> pl.DataFrame:
    """Rows of `outlier_threshold`. The drifts of all translations are read only if sums show that a former threshold no
    longer holds."""
    shares = {corpus: settings.false_alarms for corpus, settings in scoring(warehouse).items()}
    read = [pl.DataFrame(schema={"passage": pl.String}), pl.DataFrame(schema=outliers.DRIFTS)]

    def drifts(passages: pl.DataFrame) -> pl.DataFrame:
        if len(passages.join(read[0], on="passage", how="anti")):
            read[:] = [passages, outliers.human_drifts(reference_pairs(warehouse, passages))]
        return read[1].join(passages, on="passage", how="semi")

    def found(cuts: pl.DataFrame) -> pl.DataFrame | None:
        settings = {corpus: rows.rows() for (corpus,), rows in cuts.group_by("corpus", maintain_order=True)}
        made = partial(outliers.counted, cuts=cuts)
        counts = sums.of("human drift", outliers.SUMS, lambda own: made(drifts(own), own), settings, code)
        return outliers.thresholds(counts, cuts, shares, sums.kinds)

    kept = found(former.select(outliers.QUANTILES.names()))
    if kept is None:
        passages = sums.passages()
        kept = found(outliers.quantiles(drifts(passages), passages, shares))
    if kept is None:
        raise RuntimeError("quantiles of drifts do not agree with sums of the same drifts")
    return kept
