"""Rules that select outputs worth reading, to illustrate an audit. Not here: the page (reporting.report.examples)."""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS, MAJOR, NO_CATEGORY, VALID, WORDS
from benchmark_assets.adjudication.verdicts import KEY, verdicts
from resources.catalogue import schema
from resources.keys import CORPUS

EXAMPLE = schema("worked_example")

MOST = 5
"""Maximum number of examples that a rule selects; a shared failure counts as one example."""

SHARED, FAR, NEAR, SPLIT = "shared failure", "far but valid", "near but wrong", "split panel"


def with_people(triage: pl.DataFrame, panel: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Join the tables `triage`, `verdict` and `human_label` into the argument of `examples`.

    People's labels of an output are combined by `verdicts`. Labels of outputs outside the sample are ignored.
    """
    labels_of_sample = labels.join(triage.filter("sampled"), on=KEY, how="semi")
    people = verdicts(labels_of_sample).select(*KEY, people="label", people_category="error_category")
    outputs = triage.select(CORPUS, *KEY, "drift", "queued")
    return outputs.join(panel, on=KEY, how="left").join(people, on=KEY, how="left")


def examples(outputs: pl.DataFrame) -> pl.DataFrame:
    """Select examples from each corpus.

    Parameters
    ----------
    outputs
        One row per output with a drift. The columns are `corpus`, `model`, `passage`, `drift` and `queued`; for the
        panel's verdict, `label`, `error_category`, `judges`, `valid` and `split`, null without a verdict; and for
        people's verdict, `people` (label) and `people_category`, null without a label.

    Returns
    -------
    Columns of `EXAMPLE`. `place` is the rank among the rule's examples; all outputs of one shared failure have the same
    place.

    Notes
    -----
    - Shared failure: a passage where the panel finds major errors by two or more models (audit paper, table E8), ranked
      by the number of these models, then by the number of errors.
    - Far but valid: an output above the threshold that all judges and, if there are labels, people find valid; largest
      drift first (table 14).
    - Near but wrong: an output below the threshold that people label as a major error; smallest drift first.
    - Split panel: valid, minor and major each have a vote, and none has a majority; largest drift first.
    """
    parts = [pl.DataFrame(schema=EXAMPLE)]
    for (corpus,), corpus_outputs in outputs.sort("model", "passage").group_by("corpus", maintain_order=True):
        for rule, rows in _by_rule(corpus_outputs):
            parts.append(
                rows.select(
                    pl.lit(corpus).alias("corpus"), pl.lit(rule).alias("rule"), pl.col("place").cast(pl.Int32), "model",
                    "passage", why=_why(),
                )
            )  # fmt: skip
    return pl.concat(parts)


def _by_rule(outputs: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each rule and its examples from one corpus."""
    panel_major, panel_error = pl.col("label") == MAJOR, pl.col("label").is_in(ERRORS)
    counts = outputs.filter("queued").group_by("passage").agg(major=panel_major.sum(), errors=panel_error.sum())
    shared = counts.filter(pl.col("major") > 1).sort("major", "errors", "passage", descending=[True, True, False])
    places = _placed(shared.head(MOST)).select("passage", "place")
    yield SHARED, places.join(outputs, on="passage", maintain_order="left")
    unanimous = (pl.col("valid") == pl.col("judges")) & (pl.col("people").fill_null(VALID) == VALID)
    farthest = outputs.sort("drift", descending=True, maintain_order=True)
    yield FAR, _placed(farthest.filter("queued").filter(unanimous).head(MOST))
    near = outputs.filter(~pl.col("queued"), pl.col("people") == MAJOR).sort("drift", maintain_order=True)
    yield NEAR, _placed(near.head(MOST))
    yield SPLIT, _placed(farthest.filter("queued", "split").head(MOST))


def _placed(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_row_index("place", offset=1)


def _why() -> pl.Expr:
    """Drift and labels of an output in words."""
    panel = pl.when(pl.col("label").is_null()).then(pl.lit("not judged by the panel")).otherwise(
        pl.format("panel: {}", _judgement("label", "error_category"))
    )  # fmt: skip
    people = pl.when(pl.col("people").is_not_null()).then(
        pl.format("; people: {}", _judgement("people", "people_category"))
    )  # fmt: skip
    return pl.format("drift {}; {}{}", pl.col("drift").round(2), panel, people.otherwise(pl.lit("")))


def _judgement(label: str, category: str) -> pl.Expr:
    """A label in words, followed by its category if it has one."""
    words = [pl.col(name).replace(WORDS) for name in (label, category)]
    return pl.when(pl.col(category) == NO_CATEGORY).then(words[0]).otherwise(pl.format("{} ({})", *words))
