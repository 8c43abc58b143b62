"""Shards of large corpora: Dagster's partition keys that stand for many passages.

A corpus of more than LIMIT passages has one key in Dagster for up to SIZE passages, such as `corpus/~0003`; the table
`passage_shard` lists its passages. Rows, fingerprints and versions are kept by passage in every corpus. Here: the
division of corpora into shards, and the conversion between Dagster's keys and passages. Not here: which passages are
stale (standing), reporting (events).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.lineage.events import RETRACTED
from resources.digest import digest
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse

LIMIT = 5_000
"""Number of passages above which a corpus is divided. With ten models, this is half of the 100,000 partitions per asset
that Dagster's documentation gives as the limit, and the pages of a grid open within three seconds."""

SIZE = 1_000
"""Maximum number of passages in a shard."""

PIECE = 50
"""Maximum number of shards that are examined and computed at once. It bounds the memory of a run."""

COLUMNS = ["passage", "shard"]

_BEGINNING = "/~"  # no id of a passage contains ~ (resources.keys)
_IS_SHARD = pl.col("passage").str.contains(_BEGINNING, literal=True)


def is_shard(key: str) -> bool:
    """Whether a partition key of Dagster names a shard."""
    return _BEGINNING in key


def members(warehouse: Warehouse, keys: Iterable[str]) -> pl.DataFrame:
    """Passages of the shards among Dagster's keys: `passage` and `shard`. Without shards, nothing is read."""
    shards = pl.DataFrame({"passage": keys}, {"passage": pl.String}).filter(_IS_SHARD).unique()
    if shards.is_empty():
        return pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.String))
    return warehouse.read("passage_shard", shards.rename({"passage": "shard"}), COLUMNS)


def around(warehouse: Warehouse, passages: pl.DataFrame) -> pl.DataFrame:
    """All passages of the shards that contain some of `passages` (column `passage`): `passage` and `shard`."""
    every = warehouse.read("passage_shard", columns=COLUMNS)
    return every.join(every.join(passages, on="passage", how="semi"), on="shard", how="semi")


def passages(warehouse: Warehouse, keys: Iterable[str]) -> pl.DataFrame:
    """All passages of Dagster's keys: column `passage`."""
    frame = pl.DataFrame({"passage": keys}, {"passage": pl.String})
    return expanded(frame, members(warehouse, frame["passage"]))


def expanded(keys: pl.DataFrame, of: pl.DataFrame) -> pl.DataFrame:
    """Replace each key of a shard by one row for each of its passages; other rows come first.

    Parameters
    ----------
    keys
        Dagster's partitions: the column `passage` and others.
    of
        Passages of their shards (see `members`).
    """
    if of.is_empty():
        return keys
    named = keys.filter(_IS_SHARD).join(of, left_on="passage", right_on="shard", maintain_order="left")
    by_passage = named.with_columns(passage="passage_right").select(keys.columns)
    return pl.concat([keys.filter(~_IS_SHARD), by_passage])


class Piece(NamedTuple):
    """Partitions by passage, and their keys in Dagster; None if they are the same. Columns of `KEYS`."""

    partitions: pl.DataFrame
    keys: pl.DataFrame | None = None


def pieces(keys: pl.DataFrame, of: pl.DataFrame) -> Iterator[Piece]:
    """Partitions in pieces of up to PIECE shards. Keys of passages are one piece.

    Parameters
    ----------
    keys
        Dagster's partitions: columns of `KEYS`.
    of
        Passages of their shards (see `members`).
    """
    if of.is_empty():
        yield Piece(keys)
        return
    if len(single := keys.filter(~_IS_SHARD)):
        yield Piece(single)
    for piece in keys.filter(_IS_SHARD).iter_slices(PIECE):
        yield Piece(expanded(piece, of), piece)


def keyed(rows: pl.DataFrame, of: pl.DataFrame) -> pl.DataFrame:
    """Replace each passage of a shard by the shard's key."""
    if of.is_empty():
        return rows
    named = rows.join(of, on="passage", how="left", maintain_order="left")
    return named.with_columns(passage=pl.coalesce("shard", "passage")).drop("shard")


def collapsed(rows: pl.DataFrame, of: pl.DataFrame) -> pl.DataFrame:
    """Replace the passages of each shard by one row with the shard's key.

    Its `version` is a hash of the versions of the shard's passages, in the order of the passages; RETRACTED if no
    passage has rows. Its `row_count` is their sum.

    Parameters
    ----------
    rows
        Partitions with `version` and, optionally, `row_count`. A frame without the column `passage` is returned as is.
    of
        Passages of the shards (see `members`).
    """
    if of.is_empty() or "passage" not in rows.columns:
        return rows
    is_member = pl.col("shard").is_not_null()
    named = rows.join(of, on="passage", how="left", maintain_order="left")
    counts = [pl.col(name).sum().cast(kind) for name, kind in rows.schema.items() if name == "row_count"]
    lines = pl.concat_str("passage", "version", separator=" ").filter(pl.col("version") != RETRACTED)
    by = [name for name in rows.columns if name not in ("passage", "version", "row_count")]
    whole = named.filter(is_member).sort("passage").group_by(*by, "shard", maintain_order=True)
    versions = whole.agg(lines.str.join("\n").alias("version"), *counts).rename({"shard": "passage"})
    hashed = pl.col("version").map_elements(digest, return_dtype=pl.String)
    versions = versions.with_columns(version=pl.when(pl.col("version") == "").then(pl.lit(RETRACTED)).otherwise(hashed))
    return pl.concat([named.filter(~is_member).select(rows.columns), versions.select(rows.columns)])


def divide(
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    found: pl.DataFrame,
    run_id: str,
    limit: int = LIMIT,
    size: int = SIZE,
) -> None:
    """Give Dagster the keys of the passages in the files. Passages of large corpora get a shard first.

    A corpus is divided when it has more than `limit` passages, and stays divided. A passage keeps its shard while it is
    in the files. New passages fill the last shard, then further ones. Dagster's keys of single passages are removed
    when the passages get a shard.

    Parameters
    ----------
    found
        Passages in the files, in their order: column `passage`.
    """
    known = warehouse.read("passage_shard", columns=COLUMNS)
    of = pl.concat([known, _assigned(known, found, limit, size)])
    if len(of) > len(known):
        rows = of.slice(len(known)).with_columns(fingerprint=pl.lit(digest(size)))
        warehouse.write([Replacement("passage_shard", rows, rows.select("passage"))], run_id)
    present = set(instance.get_dynamic_partitions("passage"))
    keys = keyed(found, of)["passage"].unique(maintain_order=True)
    instance.add_dynamic_partitions("passage", [key for key in keys if key not in present])
    for key in of["passage"]:
        if key in present:
            instance.delete_dynamic_partition("passage", key)


def _assigned(known: pl.DataFrame, found: pl.DataFrame, limit: int, size: int) -> pl.DataFrame:
    """Shards of passages that have none yet: `passage` and `shard`. `known` lists the passages that have one."""
    divided = set(known.select(CORPUS.unique())["corpus"])
    assigned = [known.clear()]
    for (corpus,), rows in found.select("passage", CORPUS).group_by("corpus", maintain_order=True):
        if corpus not in divided and len(rows) <= limit:
            continue
        number = pl.col("shard").str.extract(r"~(\d+)$").cast(pl.Int64)
        last = known.filter(corpus == CORPUS).select(number=number).filter(pl.col("number") == pl.col("number").max())
        filled = (last["number"][0] - 1) * size + len(last) if len(last) else 0
        new = rows.join(known, on="passage", how="anti", maintain_order="left").select("passage")
        numbers = pl.int_range(filled, filled + len(new), eager=True) // size + 1
        names = numbers.cast(pl.String).str.zfill(4)
        assigned.append(new.with_columns(shard=pl.lit(f"{corpus}{_BEGINNING}") + names))
    return pl.concat(assigned)
