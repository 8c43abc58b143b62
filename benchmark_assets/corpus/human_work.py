"""Human work on passages, which cannot be recomputed: imported outputs, labels and preferences.

Here: work that is kept although its passages are no longer in the files, and outputs that translate an earlier
source text. Not here: imports (translation, adjudication, literary), removal (lineage.removal, automation.removal).
"""

from collections.abc import Sequence

import polars as pl

from resources.digest import text_hash
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse

BY_PEOPLE = (
    "imported_annotation", "imported_label", "imported_output", "imported_span", "match_label", "pair_control",
    "pair_label",
)  # fmt: skip
"""Tables of human work on passages."""

MOST_NAMED = 5
"""Maximum number of passages that a notice names."""


def kept(warehouse: Warehouse) -> pl.DataFrame:
    """Human work on passages that are no longer in the files: `corpus`, `table` and `passage` of each row in
    BY_PEOPLE."""
    current = warehouse.read("source_text", columns=["passage"])
    tables = {table: warehouse.read(table, columns=["passage"]).drop_nulls() for table in BY_PEOPLE}
    rows = [
        passages.join(current, on="passage", how="anti").select(CORPUS, pl.lit(table).alias("table"), "passage")
        for table, passages in tables.items()
    ]
    return pl.concat(rows)


def recorded_labels(warehouse: Warehouse, passages: pl.DataFrame) -> list[Replacement]:
    """Replacements that add the passage to labels that were imported without a passage.

    Only labels of outputs for `passages` (column `passage`) are replaced.
    """
    items = warehouse.read("triage", passages, ["item", "passage"])
    labels = warehouse.read("imported_label", items.select("item")).filter(pl.col("passage").is_null())
    recorded = labels.drop("passage", "run_id", "updated_at").join(items, on="item")
    return [Replacement("imported_label", recorded, recorded.select("item", "annotator"))] if len(recorded) else []


def imported_outputs(warehouse: Warehouse, keys: pl.DataFrame | None = None) -> pl.DataFrame:
    """Imported outputs of passages that are in the files.

    Parameters
    ----------
    keys
        Read only outputs that match a row of this frame in all of its columns.

    Returns
    -------
    Columns `model`, `passage`, `text`, `fingerprint` and `outdated`: whether the source has changed since the import.
    An output that was imported before sources were recorded is never outdated.
    """
    columns = ["model", "passage", "text", "source_hash", "fingerprint"]
    rows = warehouse.read("imported_output", keys, columns)
    sources = warehouse.read("source_text", rows.select("passage"), ["passage", "text"])
    hashes = pl.Series("current_hash", list(map(text_hash, sources["text"])), dtype=pl.String)
    rows = rows.join(sources.select("passage", hashes), on="passage", maintain_order="left")
    outdated = (pl.col("source_hash") != pl.col("current_hash")).fill_null(False)
    return rows.select("model", "passage", "text", "fingerprint", outdated=outdated)


def outdated_counts(warehouse: Warehouse) -> pl.DataFrame:
    """Count imported outputs that translate an earlier source text.

    Columns `model`, `corpus` and `passages` (the number of such outputs).
    """
    rows = imported_outputs(warehouse).filter("outdated").with_columns(CORPUS)
    return rows.group_by("model", "corpus").agg(passages=pl.len().cast(pl.Int32)).sort("model", "corpus")


def notices(warehouse: Warehouse) -> list[str]:
    """Messages about kept work, one for each corpus, and about outdated outputs, one for each model and corpus."""
    messages = []
    for (corpus,), rows in kept(warehouse).group_by("corpus", maintain_order=True):
        passages = rows["passage"].unique().sort()
        counts = rows.group_by("table", maintain_order=True).len().iter_rows()
        listed = ", ".join(f"{count} rows of {table}" for table, count in counts)
        messages.append(
            f"{corpus}: {len(passages)} passages are no longer in the files ({_named(passages)}), but human work on "
            f"them is kept: {listed}. Put the passages back, import the work again for their new ids, or delete it "
            f"with `variorum remove kept {corpus}`"
        )
    outdated = imported_outputs(warehouse).filter("outdated").with_columns(CORPUS)
    for (model, corpus), rows in outdated.group_by("model", "corpus", maintain_order=True):
        messages.append(
            f"{model}: {len(rows)} imported outputs translate an earlier source ({_named(rows['passage'])}) and are "
            "not scored. Once they match the source, import them again: "
            f"`variorum import outputs FILE --corpus {corpus} --model {model}`"
        )
    return messages


def _named(passages: Sequence[str] | pl.Series) -> str:
    further = len(passages) - MOST_NAMED
    return ", ".join([*passages[:MOST_NAMED], *([f"{further} more"] if further > 0 else [])])
