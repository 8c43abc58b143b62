"""Outputs worth reading, chosen by rule, to illustrate the numbers of an audit.

Here: the rules. Not here: the page that shows the texts (page).
"""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS, MAJOR, VALID
from benchmark_assets.adjudication.verdicts import KEY, verdicts
from resources.catalogue import schema
from resources.keys import CORPUS

EXAMPLE = schema("worked_example")

MOST = 5
"""Examples of each rule."""

SHARED, FAR, NEAR, SPLIT = "shared failure", "far but valid", "near but wrong", "split panel"


def with_people(triage: pl.DataFrame, panel: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Join `triage`, `verdict` and the consensus of `human_label`, in the form that `examples` takes.

    Labels of outputs that were not sampled are left out, as in every table.
    """
    drawn = labels.join(triage.filter("sampled"), on=KEY, how="semi")
    people = verdicts(drawn).select(*KEY, people="label", people_category="error_category")
    outputs = triage.select(CORPUS, *KEY, "drift", "queued")
    return outputs.join(panel, on=KEY, how="left").join(people, on=KEY, how="left")


def examples(outputs: pl.DataFrame) -> pl.DataFrame:
    """Choose examples of each corpus.

    Parameters
    ----------
    outputs
        One row per output with a drift: `corpus`, `model`, `passage`, `drift`, `queued`; `label`, `error_category`,
        `judges`, `valid` and `split` of the panel's verdict, null if the panel did not judge it; `people` and
        `people_category`, the consensus of people, null if there is no label.

    Returns
    -------
    Columns of `EXAMPLE`. In a shared failure, all models' outputs of the passage have the same place.

    Notes
    -----
    Shared failure: the panel finds a major error in the outputs of two or more models of a passage (audit, table E8);
    passages with most such models first, then with most errors. Far but valid: above the threshold, and valid by each
    judge and by people, if labelled; the farthest first (table 14). Near but wrong: a major error by people's labels
    below the threshold; the nearest first. Split panel: valid, minor and major each have votes and none has a majority;
    the farthest first.
    """
    parts = [pl.DataFrame(schema=EXAMPLE)]
    for (corpus,), corpus_outputs in outputs.sort("model", "passage").group_by("corpus", maintain_order=True):
        for rule, rows in _chosen(corpus_outputs):
            parts.append(
                rows.select(
                    pl.lit(corpus).alias("corpus"), pl.lit(rule).alias("rule"), pl.col("place").cast(pl.Int32), "model",
                    "passage", why=_why(),
                )
            )  # fmt: skip
    return pl.concat(parts)


def _chosen(outputs: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    panel_major, panel_error = pl.col("label") == MAJOR, pl.col("label").is_in(ERRORS)
    counts = outputs.filter("queued").group_by("passage").agg(major=panel_major.sum(), errors=panel_error.sum())
    shared = counts.filter(pl.col("major") > 1).sort("major", "errors", "passage", descending=[True, True, False])
    yield (
        SHARED,
        _placed(shared.head(MOST)).select("passage", "place").join(outputs, on="passage", maintain_order="left"),
    )
    unanimous = (pl.col("valid") == pl.col("judges")) & (pl.col("people").fill_null(VALID) == VALID)
    farthest = outputs.sort("drift", descending=True, maintain_order=True)
    yield FAR, _placed(farthest.filter("queued").filter(unanimous).head(MOST))
    near = outputs.filter(~pl.col("queued"), pl.col("people") == MAJOR).sort("drift", maintain_order=True)
    yield NEAR, _placed(near.head(MOST))
    yield SPLIT, _placed(farthest.filter("queued", "split").head(MOST))


def _placed(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_row_index("place", offset=1)


def _why() -> pl.Expr:
    """Drift and labels in words."""
    panel = pl.when(pl.col("label").is_null()).then(pl.lit("not judged by the panel")).otherwise(
        pl.format("panel {} ({})", "label", "error_category")
    )  # fmt: skip
    people = pl.when(pl.col("people").is_not_null()).then(pl.format("; people {} ({})", "people", "people_category"))
    return pl.format("drift {}; {}{}", pl.col("drift").round(2), panel, people.otherwise(pl.lit("")))
