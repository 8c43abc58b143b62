"""The state of an asset's partitions: stale, up to date, or no longer applicable.

A partition has a fingerprint (hash of its inputs' versions, settings and code version) and a version (hash of its
rows). A partition with a current fingerprint is not computed again. If a computation gives the same version, everything
downstream stays up to date.

Here: fingerprints and their comparison with the warehouse. Not here: computing (refresh), Dagster's records (events).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.lineage.events import Input, pointers
from benchmark_assets.partitions import dimensions
from resources.digest import digest
from resources.keys import KEYS
from resources.warehouse import Warehouse

UNKNOWN = ""
"""`made_from` of a partition that a user marked for recomputation."""

Settings = str | Callable[[pl.DataFrame], pl.DataFrame]
"""Everything that determines a result, except the inputs and the code: one string for all partitions, or a function
from partitions to a frame of their dimensions and `settings`. A partition missing from that frame does not apply. If
its `settings` is null, its stored rows stay."""


class Standing(NamedTuple):
    """Partitions in the columns of `KEYS`.

    `due` are stale partitions, with `fingerprint`, `made_from`, and `before`, the `made_from` of the stored rows, null
    if there are none. `good` are up to date, with `version` and `row_count`. `gone` have rows, but no longer apply or
    lost an input. A partition without rows that cannot be computed is in none of the three.
    """

    due: pl.DataFrame
    good: pl.DataFrame
    gone: pl.DataFrame
    inputs: list[Input]


def stand(
    definition: dg.AssetsDefinition,
    upstream: dict[dg.AssetKey, dg.PartitionsDefinition[Any] | None],
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    asked: pl.DataFrame,
    settings: Settings,
    partial: bool = False,
) -> Standing:
    """Compare the current fingerprints of the partitions in `asked` with the stored ones.

    Parameters
    ----------
    partial
        Whether an input that is read as a whole counts as empty if it was never materialized. Use it for assets that
        need not wait for all inputs.
    """
    chosen = asked.select(*KEYS, settings=pl.lit(settings)) if isinstance(settings, str) else settings(asked)
    name = definition.key.to_user_string()
    dims = dimensions(definition.partitions_def)
    key = pl.DataFrame({"asset": [name]})
    if chosen.is_empty() and not len(
        warehouse.read("materialization", key, ["asset"], most=1)
    ):  # no partition applies and none is stored, so the inputs do not matter
        nothing = asked.clear().select(KEYS)
        due = nothing.with_columns(
            pl.lit(None, pl.String).alias(each) for each in ("fingerprint", "made_from", "before")
        )
        return Standing(
            due, nothing.with_columns(version=pl.lit(None, pl.String), row_count=pl.lit(None, pl.Int32)), nothing, []
        )
    # Read before the rows: a version newer than its pointer only makes Dagster check again; the reverse hides a change.
    latest = {key: pointers(instance, key, partitions_def) for key, partitions_def in upstream.items()}
    names = [name, *(key.to_user_string() for key in upstream)]
    states = warehouse.read("materialization", pl.DataFrame({"asset": names}))
    inputs = [_input(key, latest[key], states, dims, partial) for key in sorted(latest)]
    stored = states.filter(asset=name).select(*KEYS, "fingerprint", "version", "row_count", before="made_from")
    ready = _made_from(asked, inputs, chosen, definition.code_versions_by_key[definition.key] or "")
    ready = ready.join(stored, on=KEYS, how="left", suffix="_stored", maintain_order="left")
    same = (pl.col("fingerprint") == pl.col("fingerprint_stored")) & (pl.col("before") != UNKNOWN)
    current = pl.when(pl.col("fingerprint").is_null()).then(pl.col("before").is_not_null()).otherwise(same)
    current = current.fill_null(False)
    return Standing(
        ready.filter(~current & pl.col("fingerprint").is_not_null()).select(
            *KEYS, "fingerprint", "made_from", "before"
        ),
        ready.filter(current).select(*KEYS, "version", "row_count"),
        asked.join(stored, on=KEYS, how="semi").join(ready, on=KEYS, how="anti"),
        inputs,
    )


def _input(key: dg.AssetKey, pointers: pl.DataFrame, states: pl.DataFrame, dims: list[str], partial: bool) -> Input:
    """An upstream asset by the dimensions `dims`; its other dimensions are aggregated."""
    upstream = [name for name in pointers.columns if name != "pointer"]
    rows = states.filter(asset=key.to_user_string())
    if partial and not upstream and rows.is_empty():
        return Input(key, [], pointers.select(pl.lit("").alias("version"), "pointer"))
    rows = rows.join(pointers, on=upstream, how="left") if upstream else rows.join(pointers, how="cross")
    on = [dim for dim in upstream if dim in dims]
    if on == upstream:
        return Input(key, on, rows.select(*on, "version", "pointer"))
    # Includes pointers of retracted partitions, which have an event but no state.
    whole, latest = pl.col("version").sort_by(KEYS).str.join(" "), pl.col("pointer").max()
    if on:
        summed = rows.group_by(on, maintain_order=True).agg(whole)
        summed = summed.join(pointers.group_by(on).agg(latest), on=on, how="left", maintain_order="left")
    else:  # one row, even for an empty table
        summed = rows.select(whole).with_columns(pointers.select(latest).to_series())
    hashed = pl.col("version").map_elements(digest, return_dtype=pl.String)
    return Input(key, on, summed.with_columns(hashed).select(*on, "version", "pointer"))


def _made_from(asked: pl.DataFrame, inputs: list[Input], settings: pl.DataFrame, code: str) -> pl.DataFrame:
    """Partitions that apply and have all inputs, with their inputs as text (`made_from`) and as a hash (`fingerprint`).

    `made_from` lists each part with the first 8 digits of its hash, so that one can see which part changed.
    """
    for i, each in enumerate(inputs):
        versions = each.rows.select(*each.on, pl.col("version").alias(f"input{i}"))
        asked = (
            asked.join(versions, on=each.on, maintain_order="left") if each.on else asked.join(versions, how="cross")
        )
    asked = asked.join(settings, on=[key for key in KEYS if key in settings.columns], maintain_order="left")
    names = ["code", "settings", *(each.key.to_user_string() for each in inputs)]
    columns = ["settings", *(f"input{i}" for i in range(len(inputs)))]
    fingerprints: list[str | None] = []
    descriptions: list[str | None] = []
    for row in asked.select(columns).iter_rows():
        has_settings = row[0] is not None
        parts = (digest(code), digest(row[0]), *row[1:])
        fingerprints.append(digest(code, *row) if has_settings else None)
        words = " ".join(f"{name}:{part[:8]}" for name, part in zip(names, parts, strict=True))
        descriptions.append(words if has_settings else None)
    return asked.select(KEYS).with_columns(
        pl.Series("fingerprint", fingerprints, dtype=pl.String), pl.Series("made_from", descriptions, dtype=pl.String)
    )
