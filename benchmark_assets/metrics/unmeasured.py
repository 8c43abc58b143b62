"""Outputs without a measure: passages with fewer than two complete references have no envelope, and outputs no drift.

Here: which outputs these are, with counts and findings by model, and the comparison of an output with its source. Not
here: their sample for judges and people (adjudication.triage), their error rate (audit.outcomes), faults that show in
the text alone (diagnostics).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.corpus.languages import plain
from benchmark_assets.metrics.fidelity import NOTHING, UNKNOWN, UNREAD, Finding
from benchmark_assets.metrics.meaning import signature, vector
from benchmark_assets.metrics.texts import MeasuredText
from resources.catalogue import label, schema
from resources.digest import digest
from resources.keys import CORPUS
from resources.warehouse import Warehouse

BAND = "no measure"
"""Band of these outputs in `triage`: a stratum of its own."""

ELSEWHERE = 0.08
"""An output with a lower likeness to its source (see `likeness`) is the text of another passage. Chosen on the
Daodejing, where 2 % of translations have a lower one."""

BACKGROUND, FEWEST = 24, 12
"""Largest and smallest number of passages with whose texts a likeness is centered."""

LANGUAGES = {"la": "Latin", "lzh": "Classical Chinese", "ja": "Japanese"}
"""Languages of sources for which the comparison was measured."""

WORTH = (
    "Without a translator, an output is compared with its source by sentence vectors, and only in "
    f"{', '.join(LANGUAGES.values())}: 84 % of texts of another passage were found in three Latin works, and 0.1 % of "
    "translations were flagged. The comparison finds no inverted sense and no missing part. In Pali it is not used, "
    "because it flagged three in four translations."
)
"""What the comparison finds and misses."""

FINDINGS = ("empty", "copied", "other_passage")
"""Diagnoses that need no reference, or the source in place of one."""


class Background(NamedTuple):
    """Sources of passages of a corpus without a complete reference, and a model's outputs for them."""

    sources: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


def likeness(text: str, source: str, background: Background) -> float:
    """Cosine of two texts after the means of the background's texts and sources are subtracted, in [-1, 1].

    Multilingual vectors keep languages apart, and all texts of a work are alike: without the means, the cosine of a
    text with another passage's source is nearly that with its own.
    """
    sides = ((text, background.texts), (source, background.sources))
    one, other = (vector(each) - np.mean([vector(known) for known in others], axis=0) for each, others in sides)
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def unlike_source(text: MeasuredText, source: str, background: Background) -> Finding:
    """Whether the text translates another passage, by its likeness in meaning to the source; unknown with too small a
    background."""
    if len(background.texts) < FEWEST or not text.stems:
        return UNKNOWN
    if not signature():
        return UNREAD
    meaning = likeness(text.text, source, background)
    if meaning >= ELSEWHERE:
        return NOTHING
    return True, f"its meaning is unlike that of the source (likeness {meaning:.2f}): the text of another passage"


def backgrounds(warehouse: Warehouse, outputs: pl.DataFrame) -> pl.DataFrame:
    """The backgrounds of outputs without a complete reference whose source is in one of `LANGUAGES`.

    `outputs` has the columns `model` and `passage`. The result has the columns `model`, `corpus`, `sources` and
    `texts`: up to `BACKGROUND` passages of each model and corpus, in the order of a hash, so that further outputs
    seldom change them.
    """
    languages = warehouse.read("corpus", columns=["corpus", "source_language"])
    measured = [corpus for corpus, tag in languages.iter_rows() if plain(tag) in LANGUAGES]
    corpora = outputs.filter(CORPUS.is_in(measured)).select(CORPUS).unique()
    sources = warehouse.read("source_text", corpora, ["passage", "text"]).rename({"text": "source"})
    whole = warehouse.read("reference", sources.select("passage"), ["passage", "complete"]).filter("complete")
    sources = sources.join(whole, on="passage", how="anti")
    keys = outputs.select("model").unique().join(sources.select("passage"), how="cross")
    texts = warehouse.read("model_output", keys, ["model", "passage", "text"]).join(sources, on="passage")
    order = pl.col("passage").map_elements(digest, return_dtype=pl.String)
    texts = texts.filter(pl.col("text").str.strip_chars() != "").with_columns(CORPUS, order=order).sort("order")
    columns = {"sources": pl.col("source").head(BACKGROUND), "texts": pl.col("text").head(BACKGROUND)}
    return texts.group_by("model", "corpus", maintain_order=True).agg(**columns)


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
        one, none, drawn = (int(rows[each].sum()) for each in ("one_translator", "no_translator", "drawn"))
        found = ", ".join(f"{label(each)} {rows[each].sum()}" for each in FINDINGS)
        yield (
            f"{name}: {one + none} outputs have no measure, because their passages have one translator ({one}) or none "
            f"({none}): no number says how good they are. Found without one: {found}. {drawn} are in the sample for "
            "judges and people; `variorum report FILE` names the passages"
        )
