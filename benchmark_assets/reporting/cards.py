"""What a partition's page in Dagster shows: the passage with its references, or an output with its scores.

Restricted texts, and outputs that copy one, are reduced to their length, because anybody who sees Dagster's pages may
not be licensed to read them. A link opens the passage in the reader, which the same server serves; Dagster shows it at
once, but a long text only after a click. Not here: plots of aggregates (plots), the reader's pages.
"""

import os
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

import polars as pl

from benchmark_assets.corpus.renderings import doubts_by_reference
from benchmark_assets.corpus.rights import Disclosure, disclosure
from benchmark_assets.lineage.computed import Card
from benchmark_assets.metrics.entries import MEASURES
from benchmark_assets.reporting.trace import calls_of, spoken
from resources import tables
from resources.catalogue import schema
from resources.harmless import in_markdown
from resources.keys import CORPUS
from resources.warehouse import Warehouse

READERS = "/readers"
"""Address of the readers on the web server."""

LONGEST = 1500
"""Characters of a text that are shown: each adds about half a byte to Dagster's storage."""

SCORES = ["closest_reference", *(metric.name for metric in MEASURES if metric.name in schema("drift_score"))]


def cards(warehouse: Warehouse, asset: str, partitions: pl.DataFrame) -> Mapping[str, Card]:
    """Cards by partition key, for the assets `alignment`, `reference` and `drift_score`.

    `partitions` has the columns `model` and `passage`. There are none if the environment variable VARIORUM_PLOTS is
    `off`: nobody looks at Dagster's pages then.
    """
    if os.environ.get("VARIORUM_PLOTS") == "off" or partitions.is_empty():
        return {}
    of_corpus = {"alignment": _alignments, "reference": _passages, "drift_score": _outputs}[asset]
    return {
        key: card
        for (corpus,), rows in partitions.with_columns(CORPUS).group_by("corpus")
        for key, card in of_corpus(warehouse, str(corpus), rows.select("model", "passage"))
    }


def _shown(warehouse: Warehouse, corpus: str, passages: pl.DataFrame) -> Disclosure:
    translators = warehouse.read("reference", passages, ["translator"])["translator"].unique()
    return disclosure(warehouse, corpus, translators, private=False)


def _passages(warehouse: Warehouse, corpus: str, rows: pl.DataFrame) -> Iterator[tuple[str, Card]]:
    """Cards of passages: source, references with what is doubted, and the asides of their segments."""
    keys = rows.select("passage").unique()
    shown = _shown(warehouse, corpus, keys)
    sources = warehouse.read("source_text", keys, ["passage", "text", "document", "segment_ids"])
    asides = warehouse.read("aside", sources.select("document", corpus=pl.lit(corpus)).unique())
    placed = sources.explode("segment_ids").rename({"segment_ids": "segment_id", "text": "source"})
    beside = placed.join(asides, on=["document", "segment_id"]).partition_by("passage", "translator", as_dict=True)
    references = warehouse.read("reference", keys, ["passage", "translator", "text", "complete"])
    doubts = warehouse.read("alignment", keys, ["passage", "translator", "doubt"]).drop_nulls("doubt")
    doubts = (
        pl.concat([doubts, doubts_by_reference(warehouse, keys)])
        .group_by("passage", "translator")
        .agg(pl.col("doubt").str.join("; "))
    )
    of_passage = references.join(doubts, on=["passage", "translator"], how="left").partition_by("passage", as_dict=True)
    for passage, text in sources.select("passage", "text").iter_rows():
        parts = [_quoted("source", text, "" in shown.hidden)]
        for row in of_passage.get((passage,), references.clear()).iter_rows(named=True):
            note = "" if row["complete"] else ", incomplete"
            note += f", in doubt: {row['doubt']}" if row.get("doubt") else ""
            parts.append(_quoted(f"{row['translator']}{note}", row["text"], row["translator"] in shown.hidden))
        for (of, translator), own in beside.items():
            if of == passage:
                words = "; ".join(f"{row['segment_id']} {row['kind']}: {row['text']}" for row in own.to_dicts())
                parts.append(_quoted(f"beside {translator or 'source'}", words, translator in shown.hidden))
        parts.append(f"origin: `variorum trace MODEL {passage}`")
        parts.append(f"[correct it where you read]({correcting(passage)})")
        yield passage, Card("\n\n".join(parts), _address(passage))


def _alignments(warehouse: Warehouse, corpus: str, rows: pl.DataFrame) -> Iterator[tuple[str, Card]]:
    """Cards of aligned passages: segments with their texts, and what is doubted. The link leads to the page on which
    they are corrected."""
    keys = rows.select("passage").unique()
    aligned = warehouse.read("alignment", keys, ["passage", "translator", "segments", "doubt"]).sort("translator")
    rights = disclosure(warehouse, corpus, aligned["translator"].unique(), private=False)
    ids = dict(warehouse.read("source_text", keys, ["passage", "segment_ids"]).iter_rows())
    for (passage,), own in aligned.group_by(["passage"], maintain_order=True):
        parts = []
        for translator, segments, doubt in own.select("translator", "segments", "doubt").iter_rows():
            texts = zip(ids.get(passage, []), segments, strict=False)
            words = " ".join(f"[{id}] {'no text' if text is None else text}" for id, text in texts)
            note = f", in doubt: {doubt}" if doubt else ""
            parts.append(_quoted(f"{translator}{note}", words, translator in rights.hidden))
        parts.append(f"[correct it where you read]({correcting(str(passage))})")
        yield str(passage), Card("\n\n".join(parts), correcting(str(passage)))


def _outputs(warehouse: Warehouse, corpus: str, rows: pl.DataFrame) -> Iterator[tuple[str, Card]]:
    """Cards of outputs: the text, its scores, its last call, and the command that shows where they come from."""
    outputs = warehouse.read("model_output", rows, ["model", "passage", "text"])
    reasons = _shown(warehouse, corpus, rows.select("passage").unique()).withheld(outputs)
    calls = calls_of(warehouse, "model_output", rows)
    scores = warehouse.read("drift_score", rows).select("model", "passage", *tables.cells("drift_score", *SCORES))
    merged = outputs.with_columns(reasons).join(scores, on=["model", "passage"], how="left")
    for row in merged.iter_rows(named=True):
        model, passage, text, reason = (row.pop(name) for name in ("model", "passage", "text", "withheld"))
        numbers = ", ".join(f"{name} {value}" for name, value in row.items() if value is not None)
        parts = [_quoted("output", text or "", bool(reason)), numbers]
        parts += [f"call of {in_markdown(spoken(call))}" for call in calls.get((model, passage), [])[-1:]]
        parts.append(f"origin: `variorum trace {model} {passage}`")
        yield f"{model}|{passage}", Card("\n\n".join(parts), _address(passage, model))


def _address(passage: str, model: str = "") -> str:
    """The address of a passage, or of a model's output, in the reader of its corpus on the web server."""
    corpus, _, ids = passage.partition("/")
    fragment = urlencode({"passage": ids} | ({"model": model} if model else {}), safe="/:")
    return f"{READERS}/{quote(corpus)}/#{fragment}"


def correcting(passage: str) -> str:
    """The address at which a passage is corrected on the web server."""
    corpus, _, ids = passage.partition("/")
    return f"{READERS}/{quote(corpus)}/corrections/#{urlencode({'at': ids}, safe='/:')}"


def _quoted(name: str, text: str, hidden: bool) -> str:
    """A text under its name; of a hidden text, the length."""
    if hidden:
        return f"**{name}**: {len(text)} characters, which may not be shown here; read with `variorum ui --private`"
    shown = in_markdown(" ".join(text[:LONGEST].split()), LONGEST)
    return f"**{in_markdown(name)}**\n\n> {shown}{'…' if len(text) > LONGEST else ''}"
