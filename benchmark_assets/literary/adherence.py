"""Adherence of outputs to the glossary: whether outputs contain the glossary's translations.

Here: counts and shares. Not here: the search for a term in a text (references.glossary).

Only terms that occur in the source count. The shares have known errors: a translation may refer to something else or be
part of a longer name; it counts as present if it occurs once, even where the source has the term five times; an
inflected form or a different spelling counts as absent. Empty outputs and refusals contain no term.
"""

import polars as pl

from benchmark_assets.adjudication.outputs import texts
from benchmark_assets.literary.works import numbered
from benchmark_assets.metrics import intervals
from benchmark_assets.metrics.intervals import rate_interval
from benchmark_assets.references.glossary import found
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

SIGNATURE = (
    "terms that stand in the source, looked for in the text exactly but for letter case, curled apostrophes and the "
    f"form of accents (NFC), not within words; none in a refusal; {intervals.SIGNATURE}"
)

ADHERENCE = schema("term_adherence")
SUMMARY = schema("adherence_summary")


def of_outputs(warehouse: Warehouse, keys: pl.DataFrame) -> pl.DataFrame:
    """Rows of `term_adherence` for the outputs in `keys` (columns `model` and `passage`). A refusal counts as an empty
    text."""
    rows = [(*output, text) for output, text in texts(warehouse, keys).items()]
    outputs = pl.DataFrame(rows, schema=dict.fromkeys(["model", "passage", "text"], pl.String), orient="row")
    return adherence(outputs, warehouse.read("glossary", keys.select("passage")))


def adherence(outputs: pl.DataFrame, terms: pl.DataFrame) -> pl.DataFrame:
    """Rows of `term_adherence` (columns of ADHERENCE): one for each output and each term in the source of its chunk.

    Parameters
    ----------
    outputs
        Columns `model`, `passage` and `text`.
    terms
        Rows of `glossary` for the passages of the outputs.
    """
    rows = outputs.join(terms.filter("in_source"), on="passage", maintain_order="left_right")
    present = [found(*pair) is not None for pair in rows.select("translation", "text").iter_rows()]
    return rows.with_columns(present=pl.Series(present, dtype=pl.Boolean)).select(ADHERENCE.names())


def summarize(rows: pl.DataFrame) -> pl.DataFrame:
    """Shares of the terms that occur in a model's outputs and in the human translation, by model and corpus.

    Parameters
    ----------
    rows
        Columns of ADHERENCE, and the columns that `works.with_works` adds. Rows of chunks without a human translation
        (`in_human` is null) are left out.

    Returns
    -------
    Columns of SUMMARY, one row for each model and corpus with terms. Shares are in [0, 1].
    """
    comparable = rows.drop_nulls("in_human").with_columns(CORPUS)
    summaries = []
    for (model, corpus), terms in comparable.group_by("model", "corpus", maintain_order=True):
        units, kind = numbered(terms)
        interval = rate_interval(terms["present"].to_numpy(), units)
        present, human = int(terms["present"].sum()), int(terms["in_human"].sum())
        summaries.append((
            model, corpus, len(terms), present, present / len(terms), *interval, human, human / len(terms),
            f"{SIGNATURE}; units: {kind}",
        ))  # fmt: skip
    return pl.DataFrame(summaries, schema=SUMMARY, orient="row").sort("model", "corpus")
