"""How rows report themselves to Dagster: one materialization a partition, versioned by content.

Here: which partitions are due, what they were made from, the events that tell Dagster. Every asset goes through
`refresh`. Not here: what is computed. This is the one module of the code location that uses Dagster's internal names
(batches of events, version tags, the storage's bulk queries); tests/test_lineage.py fails where an upgrade moves them.

A partition has a fingerprint (hash of what went in: versions of its inputs, parameters, code version) and a version
(hash of what came out). A partition whose fingerprint is current is not computed again; one that comes out the same
leaves everything after it fresh.
"""

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

import dagster as dg
import polars as pl
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    NULL_EVENT_POINTER,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)
from dagster._core.definitions.source_asset import SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION
from dagster._core.events import DagsterEvent, DagsterEventBatchMetadata
from dagster._core.storage.tags import MULTIDIMENSIONAL_PARTITION_PREFIX

from benchmark_assets.partitions import dimensions
from benchmark_assets.reporting.tables import markdown
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.lineage")

KEYS = ["model", "passage"]

RETRACTED = "retracted"
"""The version of a partition that has lost its rows."""

NO_FAILURES = pl.DataFrame(schema={"error": pl.String})


class Computed(NamedTuple):
    """What an asset computed for the partitions that were due.

    `tables` holds rows by table name, with the asset's partition columns and without provenance. `failures` has the
    partition columns and `error`, one row a partition that could not be computed; None where none failed. `notes` holds
    rows that say how the partitions came about: stored like `tables`, without a part in the version of the content.
    """

    tables: Mapping[str, pl.DataFrame]
    failures: pl.DataFrame | None = None
    notes: Mapping[str, pl.DataFrame] = MappingProxyType({})


class Input(NamedTuple):
    """An upstream asset as one partition of the asset in hand sees it: its version and the event that reported it."""

    key: dg.AssetKey
    on: list[str]  # the dimensions that both assets have
    rows: pl.DataFrame  # columns: on, version, pointer; one row for each value of `on`


def digest(*parts: object) -> str:
    """Hash of values by their `repr`: equal for equal values in every process, 32 hexadecimal digits."""
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def refresh(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    compute: Callable[[pl.DataFrame], Computed],
    parameters: str | pl.DataFrame = "",
    describe: Callable[[], Mapping[str, dg.MetadataValue]] = dict,
    also: Sequence[str] = (),
) -> dg.Output[None]:
    """Bring the partitions of this run up to date: compute what is due, store it, report all that is good.

    A partition that has rows but no longer applies, or lost an input, is retracted: its rows go, and it is reported
    with a version of its own, so that what depends on it is stale and goes too.

    Parameters
    ----------
    compute
        Called once with the partition columns of what is due (`model`, `passage` or both), unless nothing is. A
        partition for which it returns neither rows nor a failure is stored as empty.
    parameters
        What determines the result besides the inputs and the code version: one string for all partitions, or a frame
        of the partition columns and `parameters`. A partition missing from that frame does not apply.
    describe
        Metadata for Dagster's UI, called once after the rows are stored and attached to every partition reported.
    also
        Tables that `compute` fills besides the one that is named like the asset.

    Returns
    -------
    The output of the asset, which tells Dagster to report nothing itself.

    Raises
    ------
    dagster.Failure
        After the good partitions are stored and reported, if some failed; or if of all partitions asked for none
        applies and has its inputs.
    """
    asset = context.asset_key
    name = asset.to_user_string()
    dims = dimensions(context.assets_def.partitions_def)
    asked = _asked(context, dims)
    upstream = sorted(context.assets_def.keys_by_input_name.values())
    code_version = context.assets_def.code_versions_by_key[asset] or ""

    def look() -> tuple[pl.DataFrame, list[Input], pl.DataFrame]:
        pointers = {key: _pointers(context, key) for key in upstream}
        names = [name, *(key.to_user_string() for key in upstream)]
        states = warehouse.read("materialization", pl.DataFrame({"asset": names}))
        inputs = [_input(key, pointers[key], states, dims) for key in upstream]
        stored = states.filter(asset=name).select(*KEYS, "fingerprint", "version")
        return stored, inputs, _fingerprint(asked, inputs, parameters, f"{name} {code_version}")

    stored, inputs, ready = look()
    gone = stored.join(asked, on=KEYS, how="semi").join(ready, on=KEYS, how="anti")
    ready = ready.join(stored, on=KEYS, how="left", suffix="_stored", maintain_order="left")
    current = pl.col("fingerprint") == pl.col("fingerprint_stored").fill_null("")
    due = ready.filter(~current)
    good = ready.filter(current).select(*KEYS, "version")
    logger.info("%s: %d asked for, %d can be computed, %d are due", name, len(asked), len(ready), len(due))

    computed = compute(due.select(dims)) if len(due) else Computed({})
    failures = computed.failures if computed.failures is not None else NO_FAILURES
    if len(due):
        moved = due.join(look()[2], on=[*KEYS, "fingerprint"], how="anti")
        changed = moved.with_columns(error=pl.lit("an input changed meanwhile; run it again")).select(*dims, "error")
        failures = pl.concat([failures, changed], how="diagonal")
        done = due if failures.is_empty() else due.join(failures, on=dims, how="anti") if dims else due.clear()
        done = done.drop("version").join(_versions(computed.tables, done, dims), on=KEYS, maintain_order="left")
        if len(done):
            tables = {**computed.tables, **computed.notes}
            warehouse.write(_replacements(tables, done, failures, dims, name), context.run.run_id)
        good = pl.concat([good, done.select(good.columns)])
    if len(gone):
        logger.info("%s: %d no longer apply or lost an input; their rows are removed", name, len(gone))
        warehouse.write(removals(warehouse, [name, *also], [name], gone, dims), context.run.run_id)
        good = pl.concat([good, gone.select(*KEYS, version=pl.lit(RETRACTED))])
    report(context, asset, good, inputs, code_version, dims, describe())

    if len(failures):
        raise dg.Failure(
            f"{len(failures)} of {len(asked)} partitions of {name} failed, for instance {failures.row(0)}",
            metadata={"failed": dg.MetadataValue.md(markdown(failures)), "succeeded": len(good)},
        )
    if ready.is_empty() and gone.is_empty() and len(asked):
        missing = [
            i.key.to_user_string() for i in inputs if i.on and asked.join(i.rows, on=i.on, how="semi").is_empty()
        ]
        reason = f"materialize {', '.join(missing)} first" if missing else "nothing covers these partitions"
        raise dg.Failure(f"{name} has nothing to compute from for {asked.row(0)} and {len(asked) - 1} others: {reason}")
    return reported()


def removals(
    warehouse: Warehouse, tables: Sequence[str], assets: Sequence[str], gone: pl.DataFrame, dims: list[str]
) -> list[Replacement]:
    """What to write so that partitions, one a row of `gone`, leave these tables and the states of these assets."""
    states = pl.DataFrame({"asset": assets}).join(gone.select(KEYS), how="cross")
    return [
        *(Replacement(table, warehouse.empty(table), gone.select(dims)) for table in tables),
        Replacement("materialization", warehouse.empty("materialization"), states),
    ]


def reported(output_name: str = "result") -> dg.Output[None]:
    """The output of an asset whose partitions are reported already: Dagster adds no event, and steps after it run."""
    return dg.Output(None, output_name=output_name, metadata={SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION: True})


def report(
    context: dg.AssetExecutionContext | dg.OpExecutionContext,
    asset: dg.AssetKey,
    rows: pl.DataFrame,
    inputs: list[Input],
    code_version: str,
    dims: list[str],
    metadata: Mapping[str, dg.MetadataValue] | None = None,
) -> None:
    """Store one AssetMaterialization a row, in batches, with the version of its content and of its inputs.

    Parameters
    ----------
    rows
        Columns `model`, `passage` ('' where the asset lacks the dimension) and `version`.
    """
    for each in inputs:
        name = each.key.to_user_string()
        seen = each.rows.rename({"version": f"version of {name}", "pointer": f"pointer of {name}"})
        rows = (
            rows.join(seen, on=each.on, how="left", maintain_order="left") if each.on else rows.join(seen, how="cross")
        )
    step, batch = context.get_step_execution_context(), str(uuid.uuid4())
    for position, row in enumerate(rows.iter_rows(named=True), start=1):
        tags = {
            DATA_VERSION_TAG: row["version"],
            CODE_VERSION_TAG: code_version,
            DATA_VERSION_IS_USER_PROVIDED_TAG: "true",
        }
        for each in inputs:
            name = each.key.to_user_string()
            pointer = row[f"pointer of {name}"]
            tags[get_input_data_version_tag(each.key)] = row[f"version of {name}"] or RETRACTED
            tags[get_input_event_pointer_tag(each.key)] = NULL_EVENT_POINTER if pointer is None else str(pointer)
        if len(dims) > 1:
            tags |= {MULTIDIMENSIONAL_PARTITION_PREFIX + dim: row[dim] for dim in dims}
        partition = "|".join(row[dim] for dim in dims) or None
        materialization = dg.AssetMaterialization(asset, partition=partition, tags=tags, metadata=metadata)
        DagsterEvent.asset_materialization(
            step, materialization, DagsterEventBatchMetadata(batch, position == len(rows))
        )


def reported_versions(instance: dg.DagsterInstance, asset: dg.AssetKey) -> pl.DataFrame:
    """Columns `passage` and `version`: what Dagster last heard of each partition of an asset over passages."""
    tags = instance.event_log_storage.get_latest_tags_by_partition(
        asset, dg.DagsterEventType.ASSET_MATERIALIZATION, [DATA_VERSION_TAG]
    )
    pairs = [(passage, tag[DATA_VERSION_TAG]) for passage, tag in tags.items()]
    return pl.DataFrame(pairs, schema={"passage": pl.String, "version": pl.String}, orient="row")


def _asked(context: dg.AssetExecutionContext, dims: list[str]) -> pl.DataFrame:
    """Partitions of the run, one a row; a dimension that the asset lacks is ''."""
    if not dims:
        return pl.DataFrame({name: [""] for name in KEYS})
    parts = [str(key).split("|") for key in context.partition_keys]
    columns = {dim: [part[i] for part in parts] for i, dim in enumerate(dims)}
    return pl.DataFrame(
        {name: columns.get(name, [""] * len(parts)) for name in KEYS}, schema=dict.fromkeys(KEYS, pl.String)
    )


def _pointers(context: dg.AssetExecutionContext, key: dg.AssetKey) -> pl.DataFrame:
    """Storage id of the latest materialization of each partition of an upstream asset, by its dimensions."""
    # Asked for before the rows are read: a version newer than its pointer makes Dagster look again, the reverse would
    # hide a change.
    dims = dimensions(context.job_def.asset_layer.get(key).partitions_def)
    storage = context.instance.event_log_storage
    latest = storage.get_latest_storage_id_by_partition(key, dg.DagsterEventType.ASSET_MATERIALIZATION)
    parts = [partition.split("|") for partition in latest]
    columns = {dim: [part[i] for part in parts] for i, dim in enumerate(dims)}
    schema = dict.fromkeys(dims, pl.String()) | {"pointer": pl.Int64()}
    return pl.DataFrame(columns | {"pointer": list(latest.values())}, schema=schema)


def _input(key: dg.AssetKey, pointers: pl.DataFrame, states: pl.DataFrame, dims: list[str]) -> Input:
    """An upstream asset by the dimensions that it shares with the asset in hand; its other dimensions are summed up."""
    upstream = [name for name in pointers.columns if name != "pointer"]
    rows = states.filter(asset=key.to_user_string()).join(pointers, on=upstream, how="left")
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


def _fingerprint(asked: pl.DataFrame, inputs: list[Input], parameters: str | pl.DataFrame, code: str) -> pl.DataFrame:
    """The partitions that apply and have all inputs, with the hash of what goes into each."""
    parts = []
    for i, each in enumerate(inputs):
        versions = each.rows.select(*each.on, pl.col("version").alias(f"input{i}"))
        asked = (
            asked.join(versions, on=each.on, maintain_order="left") if each.on else asked.join(versions, how="cross")
        )
        parts.append(f"input{i}")
    if isinstance(parameters, str):
        asked = asked.with_columns(parameters=pl.lit(parameters))
    else:
        on = [name for name in KEYS if name in parameters.columns]
        asked = asked.join(parameters, on=on, maintain_order="left")
    rows = asked.select("parameters", *parts).iter_rows()
    fingerprints = pl.Series("fingerprint", [digest(code, *row) for row in rows], dtype=pl.String)
    return asked.select(KEYS).with_columns(fingerprints)


def _versions(tables: Mapping[str, pl.DataFrame], done: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Hash of the rows of each partition over all tables, whatever their order."""
    partitions = list(done.select(dims).iter_rows()) if dims else [()]
    hashes = {partition: blake2b(digest_size=16) for partition in partitions}
    for table, rows in sorted(tables.items()):
        columns = [*dims, *sorted(set(rows.columns) - set(dims))]
        texts = [name for name in columns if rows.schema[name] == pl.String]
        for row in rows.select(columns).sort(texts).iter_rows():
            if row[: len(dims)] in hashes:
                hashes[row[: len(dims)]].update(repr((table, row[len(dims) :])).encode())
    versions = pl.Series("version", [each.hexdigest() for each in hashes.values()], dtype=pl.String)
    return done.select(KEYS).with_columns(versions)


def _replacements(
    tables: Mapping[str, pl.DataFrame], done: pl.DataFrame, failures: pl.DataFrame, dims: list[str], name: str
) -> list[Replacement]:
    """What to write for the partitions that were computed; a row of any other partition is refused by the warehouse."""
    if not dims:
        fingerprint = pl.lit(done["fingerprint"][0]).alias("fingerprint")
        replacements = [Replacement(table, rows.with_columns(fingerprint), None) for table, rows in tables.items()]
    else:
        stamps, partitions = done.select(*dims, "fingerprint"), done.select(dims)
        sound = {t: rows.join(failures, on=dims, how="anti") if len(failures) else rows for t, rows in tables.items()}
        replacements = [
            Replacement(table, rows.join(stamps, on=dims, how="left"), partitions) for table, rows in sound.items()
        ]
    states = done.select(pl.lit(name).alias("asset"), *KEYS, "version", "fingerprint")
    return [*replacements, Replacement("materialization", states, states.select("asset", *KEYS))]
