"""The state of an asset's partitions: stale, up to date, or no longer applicable.

A partition has a fingerprint (hash of the versions of its inputs, its settings and the asset's code version) and a
version (hash of its rows). A partition whose stored fingerprint is current is not computed again. If a new computation
yields the same version, downstream partitions stay up to date.

Here: fingerprints and their comparison with the warehouse. Not here: computing (refresh), Dagster's records (events).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.lineage.events import Input, pointers
from benchmark_assets.partitions import dimensions
from resources import catalogue
from resources.digest import digest
from resources.keys import KEYS
from resources.provider.estimate import CostEstimate
from resources.state_sums import SUMS
from resources.warehouse import STATES, Warehouse, noting

UNKNOWN = ""
"""Stored `made_from` of a partition that a user marked for recomputation."""

REREAD = "reread"
"""In `PartitionStates.stale`, `before` of a partition that is stale only because its stored replies are to be read
again."""

INCOMPLETE = "incomplete"
"""Stored `made_from` of an asset that was stored although some of its rows are missing (see `Computed`)."""

Settings = str | Callable[[pl.DataFrame], pl.DataFrame]
"""Everything that determines a result, except the inputs and the code: one string for all partitions, or a function
from a frame of partitions to a frame with their dimensions and `settings`. A partition that the function leaves out
does not apply. A partition with null `settings` keeps its stored rows. The frame may have the column `reread`, which is
true for partitions whose stored replies are to be read again."""


FEW = 500
"""Number of partitions up to which their states are read, and no others. Of a corpus in shards, a piece is read."""

Cost = Callable[[pl.DataFrame], CostEstimate | None]
"""Estimates the model calls that the computation of stale partitions would make; None if it calls no model."""


class PartitionStates(NamedTuple):
    """Partitions of an asset by state, and the versions of its inputs.

    All frames have the columns of `KEYS`. A partition that has no rows and cannot be computed is in no frame.

    - `stale`: partitions to compute, with `fingerprint`, `made_from` (their inputs now) and `before` (`made_from` of
      the stored rows, null if there are none).
    - `current`: partitions that are up to date, with `version` and `row_count`.
    - `obsolete`: partitions that have rows, but no longer apply or lost an input.
    - `pending`: the stale and obsolete partitions that have rows, with the `version` of these rows.
    - `inputs`: upstream assets with their versions.
    """

    stale: pl.DataFrame
    current: pl.DataFrame
    obsolete: pl.DataFrame
    pending: pl.DataFrame
    inputs: list[Input]


def assess(
    definition: dg.AssetsDefinition,
    upstream: dict[dg.AssetKey, dg.PartitionsDefinition[Any] | None],
    warehouse: Warehouse,
    partitions: pl.DataFrame,
    settings: Settings,
    partial: bool = False,
    instance: dg.DagsterInstance | None = None,
    keys: pl.DataFrame | None = None,
) -> PartitionStates:
    """Classify partitions by comparing their current fingerprints with the stored ones.

    Parameters
    ----------
    upstream
        Partitions definition of each upstream asset.
    partitions
        Partitions to classify: columns of `KEYS`, '' for dimensions that the asset lacks.
    partial
        Whether an unpartitioned input that was never materialized counts as empty; for assets that need not wait for
        all inputs.
    instance
        Where the ids of the inputs' events are read (`Input.ids`); None for a caller that reports nothing.
    keys
        Dagster's keys of `partitions`, if these are passages of shards (columns of `KEYS`).
    """
    if isinstance(settings, str):
        applicable = partitions.select(*KEYS, settings=pl.lit(settings))
    else:
        applicable = settings(partitions)
    name = definition.key.to_user_string()
    dims = dimensions(definition.partitions_def)
    near = partitions if keys is not None or len(partitions) <= FEW else None
    columns = ["fingerprint", "version", "row_count", "made_from"]
    stored = _states(warehouse, name, columns, near).rename({"made_from": "before"})
    if applicable.is_empty() and stored.is_empty():
        # No partition applies and none is stored, so the inputs do not matter.
        empty, text = partitions.clear().select(KEYS), pl.lit(None, pl.String)
        stale = empty.with_columns(fingerprint=text, made_from=text, before=text)
        none = empty.with_columns(version=text)
        return PartitionStates(stale, none.with_columns(row_count=pl.lit(None, pl.Int32)), empty, none, [])

    def input_of(key: dg.AssetKey) -> Input:
        """Versions of an upstream asset by the dimensions that it shares, aggregated over its other dimensions.

        A sum stands for the versions of all passages. An asset that shares no dimension has one version, even if its
        table is empty.
        """
        upstream_dims = dimensions(upstream[key])
        on = [dim for dim in upstream_dims if dim in dims]
        # Read before the rows: a version newer than its pointer only makes Dagster check again; the reverse hides a
        # change.
        ids = pointers(instance, key, upstream[key], on, partitions if keys is None else keys) if instance else None
        wide = "passage" in upstream_dims and "passage" not in on
        table, versioned = (SUMS, [dim for dim in upstream_dims if dim == "model"]) if wide else (STATES, upstream_dims)
        rows = _states(warehouse, key.to_user_string(), ["version"], near, on, table)
        if on == versioned:
            if not on and rows.is_empty() and (partial or wide):
                rows = pl.DataFrame({"version": [digest("") if wide else ""]})
            return Input(key, on, rows.select(*on, "version"), ids)
        whole = pl.col("version").sort_by([key for key in KEYS if key in rows.columns]).str.join(" ")
        aggregate = rows.group_by(on, maintain_order=True).agg(whole) if on else rows.select(whole)
        version = pl.col("version").map_elements(digest, return_dtype=pl.String)
        return Input(key, on, aggregate.with_columns(version).select(*on, "version"), ids)

    inputs = [input_of(key) for key in sorted(upstream)]
    code = definition.code_versions_by_key[definition.key] or ""
    ready = _with_versions(partitions, inputs, applicable, code)
    ready = ready.join(stored, on=KEYS, how="left", suffix="_stored", maintain_order="left")
    same = (pl.col("fingerprint") == pl.col("fingerprint_stored")) & ~pl.col("before").is_in([UNKNOWN, INCOMPLETE])
    is_current = pl.when(pl.col("fingerprint").is_null()).then(pl.col("before").is_not_null()).otherwise(same)
    is_current = is_current.fill_null(False)
    if "reread" in ready.columns:
        again = is_current & pl.col("reread").fill_null(False) & pl.col("fingerprint").is_not_null()
        ready = ready.with_columns(before=pl.when(again).then(pl.lit(REREAD)).otherwise("before"))
        is_current &= pl.col("before").fill_null("") != REREAD
    stale = ready.filter(~is_current & pl.col("fingerprint").is_not_null())
    obsolete = partitions.join(stored, on=KEYS, how="semi").join(ready, on=KEYS, how="anti")
    pending = pl.concat([stale.select(KEYS), obsolete.select(KEYS)]).join(stored, on=KEYS)
    return PartitionStates(
        _with_origins(stale, inputs, code).select(*KEYS, "fingerprint", "made_from", "before"),
        ready.filter(is_current).select(*KEYS, "version", "row_count"),
        obsolete,
        pending.select(*KEYS, "version"),
        inputs,
    )


def _states(
    warehouse: Warehouse, asset: str, columns: Sequence[str], near: pl.DataFrame | None, on: Sequence[str] = KEYS,
    table: str = STATES,
) -> pl.DataFrame:  # fmt: skip
    """The stored states of an asset's partitions, or their sums: those columns of `KEYS` that the table has, and the
    given ones.

    If `near` is not None, only partitions that agree with one of its rows in the columns `on`.
    """
    keys = pl.DataFrame({"asset": [asset]})
    if near is not None:
        keys = keys.join(near.select(on).unique(), how="cross") if on else keys
    named = [key for key in KEYS if key in catalogue.table(table).columns]
    with noting():  # a list that nobody reads: what is compared here is no setting
        return warehouse.read(table, keys, [*named, *columns])


def _with_versions(partitions: pl.DataFrame, inputs: list[Input], settings: pl.DataFrame, code: str) -> pl.DataFrame:
    """The partitions that apply and have all inputs.

    The columns are `KEYS`, `settings`, one column with the version of each input (`_ingredients`), and `fingerprint`,
    which is null if `settings` is null.
    """
    columns = _ingredients(inputs)
    for source, column in zip(inputs, columns[1:], strict=True):
        versions = source.rows.select(*source.on, pl.col("version").alias(column))
        if source.on:
            partitions = partitions.join(versions, on=source.on, maintain_order="left")
        else:
            partitions = partitions.join(versions, how="cross")
    partitions = partitions.join(settings, on=[key for key in KEYS if key in settings.columns], maintain_order="left")
    rows = partitions.select(columns).iter_rows()
    fingerprints = [None if row[0] is None else digest(code, *row) for row in rows]
    return partitions.with_columns(pl.Series("fingerprint", fingerprints, dtype=pl.String))


def _ingredients(inputs: Sequence[Input]) -> list[str]:
    """Names of the columns that enter a fingerprint: `settings`, then `input0`, `input1` and so on."""
    return ["settings", *(f"input{i}" for i in range(len(inputs)))]


def _with_origins(stale: pl.DataFrame, inputs: list[Input], code: str) -> pl.DataFrame:
    """Add `made_from` to rows of `_with_versions`. It names the code, the settings and each input, each with the first
    8 digits of a hash. A comparison with an earlier `made_from` shows what has changed."""
    names = ["code", "settings", *(source.key.to_user_string() for source in inputs)]
    origins = [
        " ".join(
            f"{name}:{part[:8]}"
            for name, part in zip(names, (digest(code), digest(settings), *versions), strict=True)
        )
        for settings, *versions in stale.select(_ingredients(inputs)).iter_rows()
    ]  # fmt: skip
    return stale.with_columns(pl.Series("made_from", origins, dtype=pl.String))
