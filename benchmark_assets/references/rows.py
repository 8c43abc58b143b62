"""Rows of the tables `reference_envelope` and `reference_similarity`. Not here: the geometry (envelope), storage."""

import numpy as np
import polars as pl

from benchmark_assets.references.envelope import envelope
from resources.catalogue import schema

ENVELOPE = schema("reference_envelope", "embedder")
_AT_ONCE = 256  # passages per step, because all references of a corpus in double precision would exhaust memory
SIMILARITY = schema("reference_similarity")


def envelope_rows(passages: pl.DataFrame, references: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of `reference_envelope` for every passage, and of `reference_similarity` for every pair of references.

    Parameters
    ----------
    passages
        Column `passage`, without duplicates.
    references
        Complete references: columns `passage`, `translator`, `vector` (float32 array of unit length) and `cut` (whether
        the embedder truncated the text, null if unknown).

    Returns
    -------
    Rows by table, in the order of `passages`. The columns of the envelope are null for passages with fewer than two
    references.
    """
    ordered = references.join(passages, on="passage", how="semi").sort("passage", "translator")
    ordered = ordered.with_row_index("row")
    grouped = ordered.group_by("passage", maintain_order=True).agg("row", "translator", "cut")
    grouped = passages.select("passage").join(grouped, on="passage", how="left", maintain_order="left")
    grouped = grouped.with_columns(reference_count=pl.col("row").list.len().fill_null(0).cast(pl.Int32))
    vectors = ordered["vector"].to_numpy()
    no_envelope = grouped.filter(pl.col("reference_count") < 2).select("passage", "reference_count")
    envelopes = [pl.DataFrame(schema=ENVELOPE), no_envelope]
    pairs = [pl.DataFrame(schema=SIMILARITY)]
    for group in grouped.filter(pl.col("reference_count") >= 2).partition_by("reference_count"):
        for part in group.iter_slices(_AT_ONCE):
            geometry = envelope(vectors[np.array(part["row"].to_list())])
            one, other = np.triu_indices(part["reference_count"][0], 1)
            # Contiguous, because the order of a sum depends on the layout, and the layout on the number of passages.
            similarities = np.ascontiguousarray(geometry.similarities[:, one, other])
            names = np.array(part["translator"].to_list())
            columns = np.repeat(part["passage"].to_numpy(), len(one)), names[:, one].ravel(), names[:, other].ravel()
            values = dict(zip(SIMILARITY, (*columns, similarities.ravel()), strict=True))
            pairs.append(pl.DataFrame(values, schema=SIMILARITY))
            cut = pl.col("cut").list
            envelopes.append(
                part.select(
                    "passage",
                    "reference_count",
                    human_spread=pl.Series(geometry.spread),
                    euclidean_spread=pl.Series(geometry.euclidean_spread),
                    mean_similarity=pl.Series(similarities.mean(axis=1)),
                    least_similarity=pl.Series(similarities.min(axis=1)),
                    centroid=pl.Series(geometry.centroid.astype(np.float32)).arr.to_list(),
                    cut_references=pl.when(~cut.contains(None)).then(cut.sum().cast(pl.Int32)),
                )
            )
    order = passages.select("passage")
    return {
        "reference_envelope": order.join(pl.concat(envelopes, how="diagonal"), on="passage", maintain_order="left"),
        "reference_similarity": order.join(pl.concat(pairs), on="passage", maintain_order="left_right"),
    }


def both_ways(pairs: pl.DataFrame) -> pl.DataFrame:
    """Rows of pairs of references (columns `translator` and `other`), then the same rows with the columns exchanged."""
    return pl.concat([pairs, pairs.rename({"translator": "other", "other": "translator"}).select(pairs.columns)])
