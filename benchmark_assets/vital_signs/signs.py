"""Vital signs of judges: what influences their verdicts about pairs of texts, besides quality.

Here: position, contradictions, refusals, ties and length, by judge and model. Not here: examinations of judges before
they judge (examination), their agreement with people (audit, literary.calibration).
"""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from benchmark_assets.adjudication.outputs import OUTPUT
from benchmark_assets.adjudication.outputs import texts as output_texts
from benchmark_assets.corpus.units import with_units
from benchmark_assets.literary.ensemble import HUMAN, MACHINE, UNSURE
from benchmark_assets.metrics.intervals import SIGNATURE, rate_interval
from benchmark_assets.metrics.logistic import slope
from benchmark_assets.metrics.measures import NONE, Estimate, numbered_units
from benchmark_assets.references.glossary import literary
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

TABLE = schema("vital_sign")

JUDGED = ["asset", "corpus", "judge", "aspect", "model"]
PAIR = [*JUDGED, "passage", "other"]

ALL, VERSION, RUN = "all", "version", "run"


def verdicts(warehouse: Warehouse, calls: pl.DataFrame) -> pl.DataFrame:
    """Verdicts of judges that compared an output with another text, one row for each order in which a judge saw them.

    Parameters
    ----------
    calls
        Columns `call`, `served_model` and `run` of the ledger's attempts.

    Returns
    -------
    The columns of `PAIR`, and: `shown`, the letter of the output; `won`, whether the judge preferred the output, null
    if the judge had no preference; `tie`; `lengths`, the log of the ratio of the output's length to the other text's
    length, null if a text is empty; `version` and `run` of the call. Verdicts without a call are left out, because no
    judge saw the pair.
    """
    parts = [_comparisons(warehouse), _votes(warehouse)]
    studies, key = pl.DataFrame({"study": ["comparison", "aspect_vote"]}), ["asset", "model", "passage", "item"]
    asked = warehouse.read("study_call", studies, ["study", *key[1:], "call"]).rename({"study": "asset"})
    last = calls.drop_nulls("served_model").unique("call", keep="last", maintain_order=True)
    rows = pl.concat(parts).join(asked, on=key).join(last, on="call", how="left", maintain_order="left")
    lengths = {output: len(text) for output, text in output_texts(warehouse, rows.select(OUTPUT).unique()).items()}
    own = pl.Series([lengths.get(output, 0) for output in rows.select(OUTPUT).iter_rows()], dtype=pl.Float64)
    ratio = (own / rows["length"]).log()
    return rows.select(
        *PAIR, "shown", "won", "tie", lengths=pl.when(ratio.is_finite()).then(ratio),
        version=pl.col("served_model").fill_null(""), run=pl.col("run").fill_null(""),
    )  # fmt: skip


def _comparisons(warehouse: Warehouse) -> pl.DataFrame:
    rows = warehouse.read("comparison")
    judges = warehouse.read("base_set", columns=["base_set", "judge"])
    anchors = warehouse.read(
        "anchor_output", rows.select("base_set").unique(), ["base_set", "anchor", "passage", "text"]
    )
    return rows.join(judges, on="base_set").join(anchors, on=["base_set", "anchor", "passage"]).select(
        pl.lit("comparison").alias("asset"), CORPUS, "judge", pl.lit("").alias("aspect"), "model", "passage", "shown",
        other=pl.format("{}|{}", "base_set", "anchor"), item=pl.format("{}|{}|{}", "base_set", "anchor", "shown"),
        won=pl.col("winner") == "output", tie=pl.lit(False), length=pl.col("text").str.len_chars(),
    )  # fmt: skip


def _votes(warehouse: Warehouse) -> pl.DataFrame:
    rows = warehouse.read("aspect_vote").with_columns(CORPUS)
    human = {corpus: section.human for corpus, section in literary(warehouse).items()}
    rows = rows.with_columns(translator=pl.col("corpus").replace_strict(human, default=None, return_dtype=pl.String))
    references = warehouse.read("reference", rows.select("passage").unique(), ["passage", "translator", "text"])
    better = pl.when(pl.col("better") != UNSURE).then("better")
    return rows.join(references, on=["passage", "translator"]).select(
        pl.lit("aspect_vote").alias("asset"), "corpus", "judge", "aspect", "model", "passage", "shown",
        other="translator", item=pl.format("{}|{}|{}", "judge", "aspect", "shown"),
        won=better.replace_strict({MACHINE: True, HUMAN: False}, default=None, return_dtype=pl.Boolean),
        tie=(pl.col("better") == UNSURE).fill_null(False), length=pl.col("text").str.len_chars(),
    )  # fmt: skip


def signs(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `vital_sign`, from verdicts with their units.

    Parameters
    ----------
    rows
        As `verdicts` returns them, with the columns `unit` and `unit_kind`.

    Returns
    -------
    For each combination of asset, corpus, judge, aspect and model: one row over all verdicts (`part_of` 'all'). If the
    verdicts are from several served versions of the judge, there is also one row per version; if they are from several
    runs, one row per run.
    """
    found = [
        {**dict(zip(JUDGED, key, strict=True)), "part_of": kind, "part": part, **_signs(group)}
        for key, judged in rows.group_by(JUDGED, maintain_order=True) for kind, part, group in _parts(judged)
    ]  # fmt: skip
    return pl.DataFrame(found, schema=TABLE).sort(*JUDGED, "part_of", "part")


def _parts(judged: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    yield ALL, "", judged
    for kind in (VERSION, RUN):
        if judged[kind].n_unique() > 1:
            yield from ((kind, str(part), group) for (part,), group in judged.group_by([kind], maintain_order=True))


def _signs(judged: pl.DataFrame) -> Mapping[str, object]:
    pairs = judged.group_by(PAIR, maintain_order=True).agg(
        pl.col("unit").first(), orders=pl.len(), missing=(pl.col("won").is_null() & ~pl.col("tie")).sum(),
        contradicted=(pl.col("won").n_unique() == 2) & (pl.col("won").count() == 2), preferred=pl.col("won").count(),
    )  # fmt: skip
    decided = judged.drop_nulls("won")
    replies = judged.filter(pl.col("won").is_not_null() | pl.col("tie"))
    refused = judged.filter(pl.col("won").is_null() & ~pl.col("tie"))["shown"]
    measured = decided.drop_nulls("lengths")
    kinds = ", ".join(judged["unit_kind"].unique().sort())
    estimates = {
        "first_rate": _rate(decided, pl.col("won") == (pl.col("shown") == "A")),
        "contradiction_rate": _rate(pairs.filter(preferred=2), pl.col("contradicted")),
        "tie_rate": _rate(replies, pl.col("tie")),
        "length_effect": slope(
            measured["lengths"].to_numpy(), measured["won"].to_numpy(), numbered_units(measured["unit"])
        ),
    }
    return {
        "pairs": len(pairs), "incomplete": int(((pairs["missing"] > 0) & (pairs["missing"] < pairs["orders"])).sum()),
        "verdicts": len(judged), "refused_a": int((refused == "A").sum()), "refused_b": int((refused == "B").sum()),
        **{name + end: value for name, of in estimates.items() for end, value in zip(ENDS, of, strict=True)},
        "signature": f"length_effect: logistic regression on log length ratio; {SIGNATURE}; units: {kinds}",
    }  # fmt: skip


ENDS = ("", "_low", "_high")


def _rate(rows: pl.DataFrame, hit: pl.Expr) -> Estimate:
    """Share of hits among the rows, with an interval over units; None if there are no rows."""
    if rows.is_empty():
        return NONE
    hits = rows.select(hit).to_series().to_numpy()
    return Estimate(float(np.mean(hits)), *rate_interval(hits, numbered_units(rows["unit"])))


def of_judges(warehouse: Warehouse, calls: pl.DataFrame) -> pl.DataFrame:
    """Rows of `vital_sign`. `calls` has the columns that `verdicts` requires."""
    return signs(with_units(verdicts(warehouse, calls), warehouse))
