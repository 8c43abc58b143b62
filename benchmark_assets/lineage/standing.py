"""How the partitions of an asset stand: which are due, which current, which have lost their right to be.

A partition has a fingerprint (hash of what goes in: versions of its inputs, settings, code version) and a version (hash
of what came out). A partition whose fingerprint is current is not computed again; one that comes out the same leaves
everything after it fresh.

Here: fingerprints and their comparison with the warehouse. Not here: computing (refresh), what Dagster knows (events).
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
"""What a partition was made from where somebody wants it made anew."""

Settings = str | Callable[[pl.DataFrame], pl.DataFrame]
"""What determines a result besides the inputs and the code: one string for all partitions, or a function from the
partitions asked for to a frame of its dimensions and `settings`. A partition missing from that frame does not
apply; where `settings` is null, what is stored stays."""


class Standing(NamedTuple):
    """Partitions in the columns of `KEYS`.

    `due` has `fingerprint` and `made_from` besides, and `before`, the `made_from` of the rows it has, null where it has
    none. `good` has `version` and `row_count`. A partition that has rows but no longer applies, or lost an input, is
    `gone`; one that cannot be computed and has no rows is nowhere.
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
    """Compare what the partitions asked for would be made from now with what they were made from.

    Parameters
    ----------
    partial
        Whether an input that was never made counts as empty, as far as it is read as a whole: what is made of whatever
        there is does not wait for all of it.
    """
    chosen = asked.select(*KEYS, settings=pl.lit(settings)) if isinstance(settings, str) else settings(asked)
    name = definition.key.to_user_string()
    dims = dimensions(definition.partitions_def)
    own = pl.DataFrame({"asset": [name]})
    if chosen.is_empty() and not len(
        warehouse.read("materialization", own, ["asset"], most=1)
    ):  # nothing applies and nothing is there: no need to look at the inputs
        nothing = asked.clear().select(KEYS)
        due = nothing.with_columns(
            pl.lit(None, pl.String).alias(each) for each in ("fingerprint", "made_from", "before")
        )
        return Standing(
            due, nothing.with_columns(version=pl.lit(None, pl.String), row_count=pl.lit(None, pl.Int32)), nothing, []
        )
    # Before the rows: a version newer than its pointer makes Dagster look again, the reverse would hide a change.
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
    """An upstream asset by the dimensions that it shares with the asset in hand; its other dimensions are summed up."""
    upstream = [name for name in pointers.columns if name != "pointer"]
    rows = states.filter(asset=key.to_user_string())
    if partial and not upstream and rows.is_empty():
        return Input(key, [], pointers.select(pl.lit("").alias("version"), "pointer"))
    rows = rows.join(pointers, on=upstream, how="left") if upstream else rows.join(pointers, how="cross")
    on = [dim for dim in upstream if dim in dims]
    if on == upstream:
        return Input(key, on, rows.select(*on, "version", "pointer"))
    # Of the pointers also those of partitions that were retracted: they have no state any more, but an event.
    whole, latest = pl.col("version").sort_by(KEYS).str.join(" "), pl.col("pointer").max()
    if on:
        summed = rows.group_by(on, maintain_order=True).agg(whole)
        summed = summed.join(pointers.group_by(on).agg(latest), on=on, how="left", maintain_order="left")
    else:  # one row, if of nothing
        summed = rows.select(whole).with_columns(pointers.select(latest).to_series())
    hashed = pl.col("version").map_elements(digest, return_dtype=pl.String)
    return Input(key, on, summed.with_columns(hashed).select(*on, "version", "pointer"))


def _made_from(asked: pl.DataFrame, inputs: list[Input], settings: pl.DataFrame, code: str) -> pl.DataFrame:
    """The partitions that apply and have all inputs: what goes into each, in words (`made_from`) and as a hash.

    `made_from` names each part with the head of its hash, so that a change can be told from another.
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
        known = row[0] is not None
        parts = (digest(code), digest(row[0]), *row[1:])
        fingerprints.append(digest(code, *row) if known else None)
        descriptions.append(" ".join(f"{n}:{p[:8]}" for n, p in zip(names, parts, strict=True)) if known else None)
    return asked.select(KEYS).with_columns(
        pl.Series("fingerprint", fingerprints, dtype=pl.String), pl.Series("made_from", descriptions, dtype=pl.String)
    )
