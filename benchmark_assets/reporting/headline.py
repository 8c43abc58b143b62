"""By which number the models of a board are ordered, and what the board's measures are worth.

Models are ordered by the share of outputs with major errors if people labeled outputs of at least two of them; else by
the first metric of the board whose certificate permits ranks; else by nothing, and the board is a table of distances.
Translators are not ordered among models: similarity ranks people last whom professionals rank first.

Here: the order, and certificates as a table. Not here: the rule of certificates (validation.certificates), the board.
"""

import polars as pl

from benchmark_assets.metrics.entries import on
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.validation.certificates import Certificate, certificate

LABELED = "major_rate"
"""The column of `error_estimate` that orders a board."""

ORDER = {"corpus": pl.String(), "system": pl.String(), "ordered_by": pl.String(), "goodness": pl.Float64()}


def ordering(models: pl.DataFrame, errors: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """By what the models of each corpus are ordered.

    Parameters
    ----------
    models
        Rows of `model_summary`.
    errors
        Rows of `error_estimate`.
    facts
        As `certificates.known` returns them.

    Returns
    -------
    Columns of `ORDER`, one row for each model; `goodness` is higher for better models. Corpora whose models nothing
    orders have no rows.
    """
    rates = errors.filter(region="all").select("corpus", "model", LABELED)
    parts = [pl.DataFrame(schema=ORDER)]
    for (corpus,), rows in models.join(rates, on=["corpus", "model"], how="left").group_by("corpus"):
        name, better = LABELED, -1
        if rows[LABELED].count() < 2:
            permitted = [each for each in on("headline") if _certified(each, rows, facts, str(corpus)).ranks]
            if not permitted:
                continue
            name, better = permitted[0].name, permitted[0].better
        order = rows.select("corpus", system="model", ordered_by=pl.lit(name), goodness=better * pl.col(name))
        parts.append(order.cast(ORDER))  # type: ignore[arg-type]
    return pl.concat(parts)


def worth(board: pl.DataFrame, facts: pl.DataFrame, planted: pl.DataFrame) -> list[tuple[str, str, Certificate]]:
    """Certificates of the metrics on a board, by corpus and name of the metric.

    `board` has rows of the leaderboard, `facts` is as in `ordering`, and `planted` has rows of `sensitivity`.
    """
    return [
        (str(corpus), each.name, _certified(each, rows, facts, str(corpus), planted.filter(corpus=corpus)))
        for (corpus,), rows in board.group_by("corpus", maintain_order=True)
        for each in on("headline")
        if each.better and each.name in rows.columns and rows[each.name].count()
    ]


def _certified(
    metric: Metric, rows: pl.DataFrame, facts: pl.DataFrame, corpus: str, planted: pl.DataFrame | None = None
) -> Certificate:
    embedder = rows["embedder"].drop_nulls().first() if metric.cost == "embedder" else ""
    return certificate(facts, metric.name, str(embedder), corpus, planted)
