"""Rules for tables: functions from rows to findings, which asset checks report (automation.checks).

Here: the rules, without Dagster. Not here: ranges and sets of values, which the catalogue declares.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from resources import catalogue
from resources.keys import CORPUS

FINDINGS = pl.Schema({"where": pl.String(), "problem": pl.String(), "rows": pl.Int64(), "example": pl.String()})

ROUNDING = 1e-4
"""Tolerance for values outside their range by rounding: errors reach 1e-6 in a similarity, and a hundred times that in
a drift."""

TOGETHER = [
    ("sim_centroid", "drift"),
    ("human_spread", "euclidean_spread", "mean_similarity", "least_similarity", "centroid"),
    ("bleu", "chrf", "length_ratio"),
    ("comet_avg", "comet_best"),
]
"""Columns that must be null in the same rows, because they depend on the same inputs. (The Euclidean drift is not among
them: it is also null where references coincide, since its divisor is 0.)"""

SIGNIFICANT = 3.0
"""Standard errors of a difference of means above which a distribution counts as shifted."""

REFUSED = 0.05
"""Share of refusals above which a model's averages are biased to the passages that it did not refuse."""


def out_of_range(rows: pl.DataFrame, table: catalogue.Table) -> pl.DataFrame:
    """Values outside their column's declaration, inverted intervals, and nulls in only some columns of TOGETHER.

    Parameters
    ----------
    rows
        Rows of the table.
    """
    keys, found = list(table.key), []
    for column in table.columns.values():
        value = rows.with_columns(value=column.name)
        while isinstance(value.schema["value"], pl.List):
            value = value.explode("value", empty_as_null=False, keep_nulls=False)
        if column.numeric:
            least, most = (
                bound if bound is not None else end
                for bound, end in ((column.least, float("-inf")), (column.most, float("inf")))
            )
            outside = ~pl.col("value").is_finite() | ~pl.col("value").is_between(least - ROUNDING, most + ROUNDING)
            found.append(_finding(value.filter(outside), keys, column.name, f"is no number from {least:g} to {most:g}"))
        elif column.values:
            unknown = value.filter(~pl.col("value").is_in(column.values))
            found.append(_finding(unknown, keys, column.name, f"is none of {', '.join(map(repr, column.values))}"))
        if column.interval:
            crossed = rows.filter(pl.col(f"{column.name}_low") > pl.col(f"{column.name}_high"))
            found.append(_finding(crossed, keys, column.name, "its interval ends before it begins"))
    for group in TOGETHER:
        if present := [name for name in group if name in rows.columns]:
            nulls = pl.sum_horizontal(pl.col(name).is_null() for name in present)
            partial = rows.filter((nulls > 0) & (nulls < len(present)))
            found.append(_finding(partial, keys, ", ".join(present), "some are null and some are not"))
    return _all(found)


def unexplained_nulls(rows: pl.DataFrame, references: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Scores that are null although their passage has the references that they need.

    Parameters
    ----------
    rows
        Columns `passage` and scores.
    references
        Columns `passage` and `count`, the number of complete references.
    """
    counted = rows.join(references, on="passage", how="left").with_columns(pl.col("count").fill_null(0))
    needed = {"sim_best": 1, "length_ratio": 1, "chrf": 1, "drift": 2, "human_spread": 2}
    return _all(
        _finding(
            counted.filter(pl.col(name).is_null() & (pl.col("count") >= least)), keys, name,
            f"is null although the passage has {least} complete references or more",
        )
        for name, least in needed.items()
        if name in rows.columns
    )  # fmt: skip


def unaccounted(rows: pl.DataFrame, states: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Partitions whose rows differ from the record, in fingerprint or number.

    Parameters
    ----------
    rows
        The asset's table: `dims` and `fingerprint`.
    states
        The asset's records: `dims`, `fingerprint` and `row_count`.
    """
    keys = [*dims, "fingerprint"]
    found = rows.group_by(keys).agg(there=pl.len())
    both = states.filter(pl.col("row_count") > 0).join(found, on=keys, how="full", coalesce=True)
    other = both.filter(pl.col("there").ne_missing(pl.col("row_count"))).sort(keys)
    partitions = other.unique(dims, maintain_order=True) if dims else other.head(1)
    return _finding(partitions, dims, "rows", "are not those that were recorded when they were stored")


def stray(rows: pl.DataFrame, states: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Rows of an asset's further table whose partition or fingerprint is not on record.

    Parameters
    ----------
    rows
        The table: `dims` and `fingerprint`.
    states
        The asset's records: `dims` and `fingerprint`.
    """
    return _finding(
        rows.join(states, on=[*dims, "fingerprint"], how="anti"), dims, "rows", "are not those that were stored"
    )


def uncovered(expected: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """Corpora with missing passages of a model: columns `model`, `corpus`, `expected`, `missing` and `example`.

    Parameters
    ----------
    expected, present
        Columns `model` and `passage`.
    """
    missing = expected.join(present, on=["model", "passage"], how="anti").group_by("model", CORPUS)
    counts = missing.agg(missing=pl.len(), example=pl.col("passage").min())
    totals = expected.group_by("model", CORPUS).agg(expected=pl.len())
    return (
        counts.join(totals, on=["model", "corpus"])
        .select("model", "corpus", "expected", "missing", "example")
        .sort("model", "corpus")
    )


def means(summaries: pl.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Mean and half width of its 95 % interval, by model and corpus, then by score."""
    names = [name for name in summaries.columns if f"{name}_low" in summaries.columns]
    return {
        f"{row['model']} {row['corpus']}": {
            name: [row[name], (row[f"{name}_high"] - row[f"{name}_low"]) / 2] for name in names if row[name] is not None
        }
        for row in summaries.iter_rows(named=True)
    }


def shifted(before: Mapping[str, Any], now: Mapping[str, Any]) -> pl.DataFrame:
    """Means that changed by more than SIGNIFICANT standard errors between two results of `means`."""
    rows = []
    for key, scores in now.items():
        for name, (mean, half) in scores.items():
            if name not in before.get(key, {}):
                continue
            old, old_half = before[key][name]
            error = (half**2 + old_half**2) ** 0.5 / 1.96
            if abs(mean - old) > SIGNIFICANT * error:
                rows.append((key, name, old, mean))
    return pl.DataFrame(rows, schema=["model and corpus", "score", "before", "now"], orient="row")


def refusals(outputs: pl.DataFrame, refused: pl.DataFrame) -> pl.DataFrame:
    """Models that refused more than REFUSED of their passages: `model`, `passages`, `refused`."""
    both = pl.concat([
        outputs.select("model", refused=pl.lit(0, pl.Int64)), refused.select("model", refused=pl.lit(1, pl.Int64))
    ])  # fmt: skip
    counts = both.group_by("model").agg(passages=pl.len(), refused=pl.col("refused").sum()).sort("model")
    return counts.filter(pl.col("refused") > REFUSED * pl.col("passages"))


def mixed_versions(asked: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Models whose outputs come from several served versions: columns `model`, `served_model`, `outputs`.

    Parameters
    ----------
    asked
        Columns `model` and `call`, one row per output.
    calls
        Columns `call` and `served_model`.
    """
    served = asked.join(calls.drop_nulls().filter(pl.col("served_model") != "").unique("call"), on="call")
    counts = served.group_by("model", "served_model").agg(outputs=pl.len()).sort("model", "served_model")
    return counts.filter(pl.len().over("model") > 1)


def doubts(rows: pl.DataFrame) -> pl.DataFrame:
    """Passages without an aligned text because of a doubt: `corpus`, `translator`, `doubt`, `passages`, `example`.

    Parameters
    ----------
    rows
        Columns `passage`, `translator` and `doubt`.
    """
    doubted = rows.drop_nulls("doubt").with_columns(CORPUS)
    groups = doubted.group_by("corpus", "translator", "doubt").agg(passages=pl.len(), example=pl.col("passage").min())
    return groups.sort("passages", "example", descending=[True, False])


def not_found(rows: pl.DataFrame) -> pl.DataFrame:
    """Translators with segments that are suspicious or out of order: their numbers, `of` all segments, an `example`.

    Parameters
    ----------
    rows
        Columns `passage`, `translator`, `segment_id`, `stage` and `in_order`.
    """
    wrong = (pl.col("stage") == "suspicious") | ~pl.col("in_order")
    counts = rows.group_by(CORPUS, "translator").agg(
        suspicious=(pl.col("stage") == "suspicious").sum(),
        out_of_order=((pl.col("stage") != "suspicious") & ~pl.col("in_order")).sum(),
        of=pl.len(),
        example=pl.col("segment_id").filter(wrong).first(),
    )
    return counts.drop_nulls("example").sort("corpus", "translator")


def unlicensed(texts: pl.DataFrame, licences: pl.DataFrame) -> pl.DataFrame:
    """Texts without a licence: `corpus`, `translator` and an `example`.

    Parameters
    ----------
    texts
        Columns `passage` and `translator`, '' for the source.
    licences
        Columns `corpus` and `translator`.
    """
    groups = texts.with_columns(CORPUS).group_by("corpus", "translator").agg(example=pl.col("passage").min())
    return groups.join(licences, on=["corpus", "translator"], how="anti").sort("corpus", "translator")


def emptied(selected: pl.DataFrame) -> pl.DataFrame:
    """Corpora without a selected passage: `corpus` and `passages`."""
    counts = selected.group_by(CORPUS).agg(passages=pl.len(), left=pl.col("selected").sum())
    return counts.filter(pl.col("left") == 0).drop("left").sort("corpus")


def chained(pairs: pl.DataFrame) -> pl.DataFrame:
    """Near-duplicates of a passage that is a near-duplicate itself, or comes later: `passage` and `kept`."""
    partner = pl.col("kept").is_in(pairs["passage"].to_list()) | (pl.col("kept") >= pl.col("passage"))
    return pairs.filter(partner).sort("passage")


def unmeasured(passages: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Passages without a row: `corpus`, `passages` and an `example`."""
    missing = passages.join(rows, on="passage", how="anti")
    return missing.group_by("corpus").agg(passages=pl.len(), example=pl.col("passage").min()).sort("corpus")


def _finding(rows: pl.DataFrame, keys: list[str], where: str, problem: str) -> pl.DataFrame:
    if rows.is_empty():
        return pl.DataFrame(schema=FINDINGS)
    example = "|".join(str(value) for value in rows.select(keys).row(0)) if keys else ""
    return pl.DataFrame([(where, problem, len(rows), example)], schema=FINDINGS, orient="row")


def _all(findings: Iterable[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=FINDINGS), *findings])
