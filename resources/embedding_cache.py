"""Cache of embeddings in the warehouse, by text hash: each text is embedded once.

The stored vector of a text and a signature is its value: machines with other CPUs get other last digits, and use what
was stored first. Not here: the models (embedders).
"""

from collections.abc import Iterable
from functools import partial
from hashlib import blake2b

import numpy as np
import polars as pl

from resources.embedders import Embedder, OtherModel, UnusableVector
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

_STORED_AT_ONCE = 256  # texts; the most that a kill or an unusable vector can lose


def embed_unique(
    texts: Iterable[str], embedder: Embedder, warehouse: Warehouse, run_id: str, names: Iterable[str] = ()
) -> pl.DataFrame:
    """Return the vectors of the distinct texts, read from the warehouse or computed by the embedder.

    Parameters
    ----------
    names
        Name of each text, for error messages.

    Returns
    -------
    Columns `text`, `vector` (array of float32, unit length) and `cut` (whether the text was truncated; null if
    unknown), one row for each distinct text.

    Raises
    ------
    BadInput
        If the embedder returns unusable vectors, or vectors of another dimension than the vectors stored under its
        signature.
    """
    texts = list(texts)
    name_of = dict(zip(texts, names, strict=False))
    distinct = pl.DataFrame({"text": list(dict.fromkeys(texts))}, schema={"text": pl.String})
    hashes = [blake2b(text.encode(), digest_size=16).hexdigest() for text in distinct["text"]]
    distinct = distinct.with_columns(pl.Series("text_hash", hashes, dtype=pl.String))
    keys = distinct.select(pl.lit(embedder.signature).alias("embedder"), "text_hash")
    if embedder.former:
        _rename(embedder, keys, warehouse, run_id)
    stored = warehouse.read("embedding", keys, ["text_hash", "vector", "cut"])
    missing = distinct.join(stored, on="text_hash", how="anti").sort(pl.col("text").str.len_bytes())
    frames = [stored]
    dimension = None if missing.is_empty() else _stored_dimension(embedder, warehouse)
    served: str | None = None
    for part in missing.iter_slices(_STORED_AT_ONCE):
        try:
            vectors, cut = embedder.embed(part["text"].to_list())
        except UnusableVector as fault:
            raise BadInput(fault.where, name_of.get(fault.text, fault.key), fault.problem, fault.remedy) from None
        if vectors.shape[1] != (dimension or vectors.shape[1]):
            raise BadInput(
                embedder.signature, "", f"the embedder returned {vectors.shape[1]} dimensions instead of {dimension}",
                "delete this embedder's rows from the table `embedding`, or give this model another name",
            )  # fmt: skip
        if embedder.answered:
            served = _stored_model(embedder, warehouse) if served is None else served
            if served and embedder.answered != served:
                raise OtherModel(embedder.signature, "", embedder.answered, served)
        dimension = vectors.shape[1]
        fresh = part.select("text_hash").with_columns(
            pl.Series("vector", vectors.astype(np.float32), dtype=pl.Array(pl.Float32, vectors.shape[1])).cast(
                pl.List(pl.Float32)
            ),
            pl.Series("cut", cut, dtype=pl.Boolean),
        )
        rows = fresh.with_columns(
            embedder=pl.lit(embedder.signature),
            fingerprint=pl.col("text_hash"),
            served_model=pl.lit(embedder.answered or None, pl.String),
        )
        store = partial(_store, rows, warehouse, run_id)
        frames.append(warehouse.at_once("embedding", None, store).select(stored.columns))
    vectors_by_hash = pl.concat(frames)
    width = max(vectors_by_hash["vector"].list.len().to_list(), default=0)
    joined = distinct.join(vectors_by_hash, on="text_hash", maintain_order="left")
    return joined.select("text", pl.col("vector").list.to_array(width), "cut")


def _store(rows: pl.DataFrame, warehouse: Warehouse, run_id: str) -> pl.DataFrame:
    """Store vectors of texts that have none, and return the stored vectors of all these texts."""
    keys = rows.select("embedder", "text_hash")
    earlier = warehouse.read("embedding", keys).drop("run_id", "updated_at")
    new = rows.join(earlier, on="text_hash", how="anti")
    if len(new):
        warehouse.write([Replacement("embedding", new, new.select("embedder", "text_hash"))], run_id)
    return pl.concat([earlier, new.select(earlier.columns)])


def _stored_dimension(embedder: Embedder, warehouse: Warehouse) -> int | None:
    """Dimension of the vectors stored under the embedder's signature; None if there are none."""
    first = warehouse.read("embedding", pl.DataFrame({"embedder": [embedder.signature]}), ["vector"], most=1)
    return None if first.is_empty() else len(first["vector"][0])


def _stored_model(embedder: Embedder, warehouse: Warehouse) -> str:
    """The model that served the vectors stored under the embedder's signature; '' if it is unknown."""
    stored = warehouse.read("embedding", pl.DataFrame({"embedder": [embedder.signature]}), ["served_model"])
    served = stored["served_model"].drop_nulls()
    return "" if served.is_empty() else str(served[0])


def _rename(embedder: Embedder, keys: pl.DataFrame, warehouse: Warehouse, run_id: str) -> None:
    """Move the vectors stored under the embedder's former signature to its present one."""
    former = keys.with_columns(embedder=pl.lit(embedder.former))
    rows = warehouse.read("embedding", former).drop("run_id", "updated_at")
    if len(rows):
        renamed = rows.with_columns(embedder=pl.lit(embedder.signature))
        both = pl.concat([rows.select("embedder", "text_hash"), renamed.select("embedder", "text_hash")])
        warehouse.write([Replacement("embedding", renamed, both)], run_id)
