"""Outputs without a measure: passages with fewer than two complete references have no envelope, and outputs no drift.

Here: which outputs these are, with counts and findings by model, and the comparison of an output with its source. Not
here: their sample for judges and people (adjudication.triage), their error rate (audit.outcomes), faults that show in
the text alone (diagnostics).
"""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.corpus.languages import plain
from benchmark_assets.metrics.fidelity import NOTHING, UNKNOWN, UNREAD, Finding
from benchmark_assets.metrics.meaning import likeness, signature
from benchmark_assets.metrics.texts import MeasuredText
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

BAND = "no measure"
"""Band of these outputs in `triage`: a stratum of its own."""

ELSEWHERE = 0.8
"""An output whose cosine with its source is lower is the text of another passage."""

LANGUAGES = {"la": "Latin"}
"""Languages of sources for which the comparison was measured."""

WORTH = "Without a translator, an output is compared with its source by sentence vectors: PLACEHOLDER"
"""What the comparison finds and misses."""

FINDINGS = ("empty", "copied", "other_passage")
"""Diagnoses that need no reference, or the source in place of one."""


def unlike_source(text: MeasuredText, source: str, language: str) -> Finding:
    """Whether the text translates another passage, by its likeness in meaning to the source. `language` is the
    source's; the finding is unknown for languages that are not among `LANGUAGES`."""
    if plain(language) not in LANGUAGES or not text.stems:
        return UNKNOWN
    if not signature():
        return UNREAD
    meaning = likeness(text.text, [source])
    if meaning >= ELSEWHERE:
        return NOTHING
    return True, f"its meaning is unlike that of the source (cosine {meaning:.2f}): the text of another passage"


def unmeasured(warehouse: Warehouse, corpus: str = "") -> pl.DataFrame:
    """Rows of `unmeasured_output`: for each corpus and model with such outputs, their number, by the number of complete
    references of their passages; how many are drawn for judges and people; and how many have each of `FINDINGS`."""
    passages = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage"]) if corpus else None
    scores = warehouse.read("drift_score", passages, ["model", "passage", "drift"]).filter(pl.col("drift").is_null())
    keys = scores.select("model", "passage")
    complete = warehouse.read("reference", keys.select("passage").unique(), ["passage", "complete"]).filter("complete")
    counts = complete.group_by("passage").agg(references=pl.len())
    drawn = warehouse.read("triage", keys, ["model", "passage", "sampled"])
    found = warehouse.read("output_diagnostic", keys, ["model", "passage", *FINDINGS])
    rows = keys.join(counts, on="passage", how="left").join(drawn, on=["model", "passage"], how="left")
    rows = rows.join(found, on=["model", "passage"], how="left").with_columns(CORPUS).sort("passage")
    grouped = rows.group_by("corpus", "model").agg(
        outputs=pl.len(),
        one_translator=(pl.col("references") == 1).sum(),
        no_translator=pl.col("references").is_null().sum(),
        drawn=pl.col("sampled").fill_null(False).sum(),
        **{name: pl.col(name).fill_null(False).sum() for name in FINDINGS},
        passages=pl.col("passage").str.split("/").list.slice(1).list.join("/"),
    )
    listed = pl.col("passages").list.head(SHOWN).list.join(", ")
    more = pl.when(pl.col("passages").list.len() > SHOWN).then(pl.lit(", …")).otherwise(pl.lit(""))
    named = grouped.with_columns(passages=listed + more)
    return named.select(pl.col(name).cast(kind) for name, kind in UNMEASURED.items()).sort("corpus", "model")


SHOWN = 5
"""Passages that are named for each model."""

UNMEASURED = schema("unmeasured_output")


def words(warehouse: Warehouse, corpus: str = "") -> Iterator[str]:
    """A line for each corpus with such outputs: how many, why, and what is known of them."""
    for (name,), rows in unmeasured(warehouse, corpus).group_by("corpus", maintain_order=True):
        count, one, none, drawn = (rows[each].sum() for each in ("outputs", "one_translator", "no_translator", "drawn"))
        yield (
            f"{name}: {count} outputs have no measure, as their passages have one translator ({one}) or none ({none}): "
            f"no number says how good they are. {drawn} of them are in the sample for judges and people; "
            f"`variorum report` lists the passages"
        )
