"""Rules of the asset checks: functions from rows of tables to findings.

Here: the rules, without Dagster. Not here: which tables are read, and how findings are reported (automation.checks),
allowed ranges and values (resources.catalogue).
"""

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from benchmark_assets.metrics.entries import MEASURES
from resources import catalogue
from resources.errors import beginning
from resources.keys import CORPUS
from resources.tables import markdown

FINDINGS = pl.Schema({"where": pl.String(), "problem": pl.String(), "rows": pl.Int64(), "example": pl.String()})

ROUNDING = 1e-4
"""Tolerance for rounding at the bounds of a range: rounding errors reach 1e-6 in a similarity and 1e-4 in a drift."""

Rule = tuple[str, str, pl.Expr]
"""The name of one or more columns, a problem in words, and an expression that is true for rows with the problem."""

SPREADS = ("human_spread", "euclidean_spread", "mean_similarity", "least_similarity", "centroid")

TOGETHER = [SPREADS] + [
    tuple(each.name for each in MEASURES if (each.family, each.references) == inputs)
    for inputs in dict.fromkeys((each.family, each.references) for each in MEASURES if each.references is not None)
]
"""Groups of columns that must be null in the same rows, because they depend on the same inputs."""

REFUSED = 0.05
"""Highest acceptable share of refusals. Above it, a model's averages come from a biased selection of passages."""


def unknown(problems: pl.DataFrame, known: Sequence[str]) -> list[int]:
    """Find the rows of `problems` that are not among the lines of an earlier Markdown table of problems.

    The table shows the first hundred rows and the number of the others. If that number has changed, the first row that
    is not shown counts as unknown.
    """
    if not known:
        return list(range(len(problems)))
    lines = [line for line in markdown(problems).splitlines()[2:] if line]
    return [at for at, line in enumerate(lines) if line not in known]


def out_of_range(rows: pl.DataFrame, table: catalogue.Table) -> pl.DataFrame:
    """Find values that their column does not allow, inverted intervals, and groups in which only some columns are null.

    Returns
    -------
    One row of FINDINGS per kind of fault in a column or in a group of TOGETHER; `example` is the key of the first
    faulty row.
    """
    rules = [rule for column in table.columns.values() for rule in _rules(column, rows.schema[column.name])]
    for group in TOGETHER:
        if present := [name for name in group if name in rows.columns]:
            nulls = pl.sum_horizontal(pl.col(name).is_null() for name in present)
            partial = (nulls > 0) & (nulls < len(present))
            rules.append((", ".join(present), "some, but not all, of these columns are null", partial))
    # Evaluate all rules in one query: a table has up to eighty columns and hardly ever a fault.
    broken = rows.select(faulty.any().alias(str(i)) for i, (_, _, faulty) in enumerate(rules)).row(0) if rules else ()
    return _all(
        _finding(rows.filter(faulty), list(table.key), where, problem)
        for is_broken, (where, problem, faulty) in zip(broken, rules, strict=True) if is_broken
    )  # fmt: skip


def _rules(column: catalogue.Column, kind: pl.DataType) -> list[Rule]:
    """The rules for a column; `kind` is its polars type."""
    value, rules = pl.col(column.name), []
    if column.numeric:
        least, most = (
            bound if bound is not None else end
            for bound, end in ((column.least, float("-inf")), (column.most, float("inf")))
        )

        def outside(value: pl.Expr) -> pl.Expr:
            return ~value.is_finite() | ~value.is_between(least - ROUNDING, most + ROUNDING)

        rules.append((column.name, f"not a number between {least:g} and {most:g}", _anywhere(value, kind, outside)))
    elif allowed := column.values:
        unknown = _anywhere(value, kind, lambda value: ~value.is_in(allowed))
        rules.append((column.name, f"not one of {', '.join(map(repr, allowed))}", unknown))
    if column.interval:
        crossed = pl.col(f"{column.name}_low") > pl.col(f"{column.name}_high")
        rules.append((column.name, "the interval's lower limit is above its upper limit", crossed))
    return rules


def _anywhere(value: pl.Expr, kind: pl.DataType, faulty: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """Apply `faulty` to a value, or to all elements of a list: a list is faulty if any element is.

    `kind` is the polars type of the value.
    """
    if isinstance(kind, pl.List):
        inner = kind.inner() if isinstance(kind.inner, type) else kind.inner
        return value.list.eval(_anywhere(pl.element(), inner, faulty).any()).list.first()
    return faulty(value)


def unexplained_nulls(rows: pl.DataFrame, references: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Find scores that are null although their passage has enough references. The result has the columns of FINDINGS.

    Parameters
    ----------
    rows
        Columns `passage`, `keys`, and any scores.
    references
        Columns `passage` and `count`, the number of complete references.
    """
    counted = rows.join(references, on="passage", how="left").with_columns(pl.col("count").fill_null(0))
    needed = {each.name: each.references for each in MEASURES if each.references} | {SPREADS[0]: 2}
    return _all(
        _finding(
            counted.filter(pl.col(name).is_null() & (pl.col("count") >= least)), keys, name,
            f"null although the passage has at least {least} complete references",
        )
        for name, least in needed.items()
        if name in rows.columns
    )  # fmt: skip


def unaccounted(rows: pl.DataFrame, states: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Find partitions whose rows differ from the partition's record in fingerprint or in number of rows.

    Parameters
    ----------
    rows
        The asset's table: columns `dims` and `fingerprint`.
    states
        The asset's records: columns `dims`, `fingerprint` and `row_count`.
    """
    keys = [*dims, "fingerprint"]
    counts = rows.group_by(keys).agg(stored=pl.len())
    compared = states.filter(pl.col("row_count") > 0).join(counts, on=keys, how="full", coalesce=True)
    differing = compared.filter(pl.col("stored").ne_missing(pl.col("row_count"))).sort(keys)
    partitions = differing.unique(dims, maintain_order=True) if dims else differing.head(1)
    return _finding(partitions, dims, "rows", "differ from their partition's record")


def stray(rows: pl.DataFrame, states: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Find rows of a secondary table for which the asset has no record with the same partition and fingerprint.

    Parameters
    ----------
    rows
        The secondary table: columns `dims` and `fingerprint`.
    states
        The asset's records: columns `dims` and `fingerprint`.
    """
    unrecorded = rows.join(states, on=[*dims, "fingerprint"], how="anti")
    return _finding(unrecorded, dims, "rows", "have no record with the same partition and fingerprint")


def uncovered(expected: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """Count missing passages by model and corpus: `model`, `corpus`, `expected`, `missing` and `example`.

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


def refusals(outputs: pl.DataFrame, refused: pl.DataFrame) -> pl.DataFrame:
    """Models that refused more than the share REFUSED of their passages: columns `model`, `passages`, `refused`."""
    answers = pl.concat([
        outputs.select("model", refused=pl.lit(0, pl.Int64)), refused.select("model", refused=pl.lit(1, pl.Int64))
    ])  # fmt: skip
    counts = answers.group_by("model").agg(passages=pl.len(), refused=pl.col("refused").sum()).sort("model")
    return counts.filter(pl.col("refused") > REFUSED * pl.col("passages"))


def mixed_versions(outputs: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Models with outputs from more than one served version: columns `model`, `served_model`, `outputs`.

    Parameters
    ----------
    outputs
        Columns `model` and `call`, one row per output.
    calls
        Columns `call` and `served_model`.
    """
    served = outputs.join(calls.drop_nulls().filter(pl.col("served_model") != "").unique("call"), on="call")
    counts = served.group_by("model", "served_model").agg(outputs=pl.len()).sort("model", "served_model")
    return counts.filter(pl.len().over("model") > 1)


def not_passed(reports: pl.DataFrame) -> pl.DataFrame:
    """Judges that did not pass their examination. Judges with the verdict 'failed' come first.

    Both `reports` and the result have the columns `judge`, `purpose`, `aspect`, `direction`, `verdict` and `problem`.
    """
    is_passed = pl.col("verdict") == "passed"
    return reports.filter(~is_passed).sort("verdict", "judge", "purpose", "aspect", "direction")


def doubts(rows: pl.DataFrame) -> pl.DataFrame:
    """Count passages left without a text because their alignment is doubtful, by corpus, translator and reason.

    Parameters
    ----------
    rows
        Columns `passage`, `translator` and `doubt` (the reason why the alignment is doubtful, or null).

    Returns
    -------
    Columns `corpus`, `translator`, `doubt`, `passages` and `example`; the most frequent reasons come first.
    """
    doubted = rows.drop_nulls("doubt").with_columns(CORPUS)
    groups = doubted.group_by("corpus", "translator", "doubt").agg(passages=pl.len(), example=pl.col("passage").min())
    return groups.sort("passages", "example", descending=[True, False])


def left_over(totals: pl.DataFrame, prose: pl.DataFrame) -> pl.DataFrame:
    """Share of the continuous translations' text that belongs to no segment, by corpus and translator, highest first.

    Parameters
    ----------
    totals
        Columns `corpus`, `translator`, `stretches` and `characters`. The last two count the stretches and characters of
        text that belongs to no segment.
    prose
        Columns `corpus`, `translator` and `text`, one row for each document.

    Returns
    -------
    The columns of `totals`; `of`, the number of characters in all documents of the translator; and `percent`.
    """
    keys = ["corpus", "translator"]
    lengths = prose.group_by(keys).agg(of=pl.col("text").str.len_chars().sum())
    rows = totals.join(lengths, on=keys).with_columns(percent=(100 * pl.col("characters") / pl.col("of")).round(1))
    return rows.sort("percent", *keys, descending=[True, False, False])


def not_found(rows: pl.DataFrame) -> pl.DataFrame:
    """Count suspicious segments by translator; a translator without suspicious segments has no row.

    Parameters
    ----------
    rows
        Columns `passage`, `translator`, `segment_id`, `stage` and `in_order`.

    Returns
    -------
    Columns `corpus`, `translator`, `suspicious` (number of suspicious segments), `out_of_order` (number of suspicious
    segments that are out of order), `of` (number of all segments of the translator) and `example`.
    """
    is_suspicious = pl.col("stage") == "suspicious"
    counts = rows.group_by(CORPUS, "translator").agg(
        suspicious=is_suspicious.sum(),
        out_of_order=(is_suspicious & ~pl.col("in_order")).sum(),
        of=pl.len(),
        example=pl.col("segment_id").filter(is_suspicious).first(),
    )
    return counts.drop_nulls("example").sort("corpus", "translator")


def pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Count doubted pairs by corpus, translator and kind: `segments`, and an `example` with its `evidence`.

    `rows` has columns of the table `pair_doubt`.
    """
    groups = rows.sort("passage", "segment_id").group_by(CORPUS, "translator", "kind", maintain_order=True)
    return groups.agg(segments=pl.len(), example=pl.first("segment_id"), evidence=pl.first("evidence"))


def unlicensed(texts: pl.DataFrame, licences: pl.DataFrame) -> pl.DataFrame:
    """Translators and sources without a licence: columns `corpus`, `translator` and `example`.

    Parameters
    ----------
    texts
        Columns `passage` and `translator`; the translator is '' for the source.
    licences
        Columns `corpus` and `translator`.
    """
    groups = texts.with_columns(CORPUS).group_by("corpus", "translator").agg(example=pl.col("passage").min())
    return groups.join(licences, on=["corpus", "translator"], how="anti").sort("corpus", "translator")


def emptied(selected: pl.DataFrame) -> pl.DataFrame:
    """Corpora without a selected passage: columns `corpus` and `passages`, the number of all passages."""
    counts = selected.group_by(CORPUS).agg(passages=pl.len(), kept=pl.col("selected").sum())
    return counts.filter(pl.col("kept") == 0).drop("kept").sort("corpus")


def _finding(rows: pl.DataFrame, keys: list[str], where: str, problem: str) -> pl.DataFrame:
    """One row of FINDINGS about `rows`, with the key of the first row as example; no row if `rows` is empty."""
    if rows.is_empty():
        return pl.DataFrame(schema=FINDINGS)
    example = "|".join(beginning(str(value)) for value in rows.select(keys).row(0)) if keys else ""
    return pl.DataFrame([(where, problem, len(rows), example)], schema=FINDINGS, orient="row")


def _all(findings: Iterable[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=FINDINGS), *findings])
