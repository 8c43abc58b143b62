"""Reporting partitions to Dagster and querying its records: materializations with versions, failures, checks.

Here: every use of Dagster's internal names (batches of events, version tags, the storage's bulk queries);
tests/test_lineage.py fails if an upgrade of Dagster moves these names. Not here: which partitions are stale (standing).
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import dagster as dg
import polars as pl
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluation
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    DEFAULT_DATA_VERSION,
    NULL_EVENT_POINTER,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)
from dagster._core.definitions.source_asset import SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION
from dagster._core.events import DagsterEvent, DagsterEventBatchMetadata
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.tags import BACKFILL_ID_TAG, MULTIDIMENSIONAL_PARTITION_PREFIX

from benchmark_assets.lineage.computed import Card
from benchmark_assets.partitions import dimensions
from resources.dagster_storage.event_log import CompactEventLog
from resources.digest import digest
from resources.keys import KEYS

RETRACTED = "retracted"
"""Version reported for a partition without rows: they were removed, or a backfill covers a partition that does not
apply."""

SOUND = "sound"
"""Name of the blocking asset check: while it fails on an asset, nothing downstream of that asset is computed."""


FEW = 5000
"""Number of partitions up to which a query names them. Reading all is faster if a query would name many."""

MANY = 500
"""Number of partitions above which a comparison with Dagster's records is remembered (see `unreported`)."""


class Input(NamedTuple):
    """Versions of an upstream asset.

    `on` lists the dimensions that the upstream asset shares with the downstream one. `rows` has the columns `on` and
    `version`, one row per combination of keys. `ids` is the result of `pointers`, read before
    `rows`; None for a caller that reports nothing.
    """

    key: dg.AssetKey
    on: list[str]
    rows: pl.DataFrame
    ids: pl.DataFrame | None = None


def reported(output_name: str = "result") -> dg.Output[None]:
    """The output of an asset that has already reported its partitions. Dagster adds no event for this output, but runs
    the steps that depend on it."""
    return dg.Output(None, output_name=output_name, metadata={SYSTEM_METADATA_KEY_SOURCE_ASSET_OBSERVATION: True})


def in_backfill(context: dg.AssetExecutionContext) -> bool:
    """Whether a backfill of Dagster launched the run. It counts each of its partitions without a materialization as
    failed, and never starts what is downstream of all of them."""
    return BACKFILL_ID_TAG in context.run.tags


def report(
    context: dg.AssetExecutionContext | dg.OpExecutionContext,
    asset: dg.AssetKey,
    rows: pl.DataFrame,
    inputs: Sequence[Input],
    code_version: str,
    dims: list[str],
    metadata: Mapping[str, dg.MetadataValue] | None = None,
    last_metadata: Mapping[str, dg.MetadataValue] | None = None,
    cards: Mapping[str, Card] | None = None,
) -> None:
    """Store one AssetMaterialization per partition, in one batch, with the versions of the partition and of its inputs.

    Parameters
    ----------
    rows
        Partitions: columns of `KEYS` ('' for dimensions that the asset lacks), `version` and `row_count` (rows in the
        table with the asset's name).
    inputs
        Upstream assets with their versions and `ids`.
    metadata, last_metadata
        `metadata` is attached to every event. `last_metadata` is attached only to the last event, where it is listed
        before `metadata`.
    cards
        What the pages of partitions show first, by partition key.
    """
    for source in inputs:
        assert source.ids is not None  # a survey reports nothing
        name, on = source.key.to_user_string(), source.on
        versions = source.rows.rename({"version": f"version of {name}"})
        ids = source.ids.rename({"pointer": f"pointer of {name}"})
        if on:
            rows = rows.join(versions, on=on, how="left", maintain_order="left")
            rows = rows.join(ids, on=on, how="left", maintain_order="left")
        else:
            rows = rows.join(versions, how="cross").join(ids, how="cross")
    step, batch = context.get_step_execution_context(), str(uuid.uuid4())
    for position, row in enumerate(rows.iter_rows(named=True), start=1):
        tags = {DATA_VERSION_TAG: row["version"], CODE_VERSION_TAG: code_version}
        tags[DATA_VERSION_IS_USER_PROVIDED_TAG] = "true"
        for source in inputs:
            name = source.key.to_user_string()
            pointer = row[f"pointer of {name}"]
            absent = DEFAULT_DATA_VERSION.value if pointer is None else RETRACTED  # what Dagster says of the unmade
            tags[get_input_data_version_tag(source.key)] = row[f"version of {name}"] or absent
            tags[get_input_event_pointer_tag(source.key)] = NULL_EVENT_POINTER if pointer is None else str(pointer)
        if len(dims) > 1:
            tags |= {MULTIDIMENSIONAL_PARTITION_PREFIX + dim: row[dim] for dim in dims}
        partition = "|".join(row[dim] for dim in dims) or None
        entries = {**(last_metadata or {})} if position == len(rows) else {}
        if card := (cards or {}).get(partition or ""):
            entries |= {"reader": dg.MetadataValue.url(card.reader), "text": dg.MetadataValue.md(card.text)}
        entries |= metadata or {}
        entries["dagster/row_count"] = dg.MetadataValue.int(row["row_count"])
        materialization = dg.AssetMaterialization(asset, partition=partition, tags=tags, metadata=entries)
        metadata_of_batch = DagsterEventBatchMetadata(batch, position == len(rows))
        DagsterEvent.asset_materialization(step, materialization, metadata_of_batch)


def dagster_records(
    instance: dg.DagsterInstance,
    asset: dg.AssetKey,
    partitions_def: dg.PartitionsDefinition[Any] | None,
    partitions: pl.DataFrame,
) -> pl.DataFrame:
    """Dagster's records of partitions: columns of `KEYS` and `reported_version`, the latest version, null if none was
    reported. With no partitions, no query is made."""
    dims = dimensions(partitions_def)
    if partitions.is_empty():
        return partitions.select(*KEYS, reported_version=pl.lit(None, pl.String))
    if partitions_def is None:
        event = instance.get_latest_materialization_event(asset)
        tags = (event.asset_materialization.tags if event and event.asset_materialization else None) or {}
        return partitions.select(*KEYS, reported_version=pl.lit(tags.get(DATA_VERSION_TAG), pl.String))
    keys = ["|".join(row) for row in partitions.select(dims).iter_rows()]
    versions = instance.event_log_storage.get_latest_tags_by_partition(
        asset, dg.DagsterEventType.ASSET_MATERIALIZATION, [DATA_VERSION_TAG], keys if len(keys) <= FEW else None
    )
    reported_versions = [versions.get(key, {}).get(DATA_VERSION_TAG) for key in keys]
    return partitions.select(KEYS).with_columns(pl.Series("reported_version", reported_versions, dtype=pl.String))


def unreported(
    instance: dg.DagsterInstance,
    asset: dg.AssetKey,
    partitions_def: dg.PartitionsDefinition[Any] | None,
    current: pl.DataFrame,
    pending: pl.DataFrame,
    failed: pl.DataFrame,
) -> pl.DataFrame:
    """Partitions that Dagster does not show as up to date: it has another version, or the last attempt failed.

    The versions of many partitions are compared only if they or Dagster's events have changed since a comparison that
    found no difference. Dagster's storage keeps a hash of what was compared.

    Parameters
    ----------
    current
        Partitions that are up to date: columns of `KEYS` and `version`.
    pending
        Other partitions with rows, in the same form: comparing them, too, makes the hash independent of what is stale.
    failed
        The result of `failures`.

    Returns
    -------
    The columns of `KEYS`, one row per partition of `current` to report again.
    """
    dims = dimensions(partitions_def)
    stored = pl.concat([current, pending])
    events, cursors = instance.event_log_storage, instance.daemon_cursor_storage
    name, compared = f"variorum: reported versions of {asset.to_user_string()}", ""
    if len(stored) > MANY and isinstance(events, CompactEventLog):
        compared = digest(events.last_materialization(asset), len(stored), stored.hash_rows().sum())
    if compared and cursors.get_cursor_values({name}).get(name) == compared:
        different = stored.clear()
    else:
        records = dagster_records(instance, asset, partitions_def, stored).rename({"reported_version": "version"})
        different = stored.join(records, on=[*KEYS, "version"], how="anti")
        if compared and different.is_empty():
            cursors.set_cursor_values({name: compared})
    again = [different, current.join(failed, on=dims, how="semi")] if dims else [different]
    return current.join(pl.concat(again), on=KEYS, how="semi").select(KEYS)


def failures(instance: dg.DagsterInstance, asset: dg.AssetKey, dims: Sequence[str]) -> pl.DataFrame:
    """Partitions of an asset whose last attempt ended in a failed run: its dimensions. None for one without dimensions.

    Dagster's own partition statuses show failed partitions, too, but computing the statuses takes time for every
    materialized partition as well.
    """
    attempts = instance.event_log_storage.get_latest_asset_partition_materialization_attempts_without_materializations(
        asset
    ) if dims else {}  # fmt: skip
    failed = _failed_runs(instance, {run for run, _ in attempts.values()})
    return pl.DataFrame(split([key for key, (run, _) in attempts.items() if run in failed], dims))


def failed_partitions(instance: dg.DagsterInstance) -> list[tuple[dg.AssetKey, str]]:
    """Partitions of all assets whose last attempt ended in a failed run."""
    events = instance.event_log_storage
    attempts = events.attempts() if isinstance(events, CompactEventLog) else {}
    failed = _failed_runs(instance, {*attempts.values()})
    return [key for key, run in attempts.items() if run in failed]


def _failed_runs(instance: dg.DagsterInstance, runs: Collection[str]) -> set[str]:
    """Those of the runs that have failed."""
    if not runs:
        return set()
    failure = dg.RunsFilter(run_ids=sorted(runs), statuses=[dg.DagsterRunStatus.FAILURE])
    return {run.run_id for run in instance.get_runs(failure)}


def forgive(instance: dg.DagsterInstance, asset: dg.AssetKey, partitions: pl.DataFrame) -> None:
    """Have Dagster show partitions (the asset's dimensions) as they were before an attempt that failed: they do not
    apply, so that no update will attempt them again."""
    events, forgiven = instance.event_log_storage, {"|".join(row) for row in partitions.iter_rows()}
    if not isinstance(events, CompactEventLog) or not forgiven:
        return
    attempts = events.get_latest_asset_partition_materialization_attempts_without_materializations(asset)
    for run in {run for key, (run, _) in attempts.items() if key in forgiven}:
        events.drop_plans(asset, run, [key for key, (by, _) in attempts.items() if by == run and key not in forgiven])


def pointers(
    instance: dg.DagsterInstance,
    asset: dg.AssetKey,
    partitions_def: dg.PartitionsDefinition[Any] | None,
    on: Sequence[str],
    partitions: pl.DataFrame,
) -> pl.DataFrame:
    """Storage ids (`pointer`, Int64) of the latest materialization of an asset for each value of its dimensions `on`.

    The result covers the rows of `partitions` (columns `on`) and possibly others. If `on` is empty, it has one row,
    null before the first materialization. Removed partitions are included, because their removal is stored as a
    materialization, too.
    """
    if not on:
        records = instance.fetch_materializations(asset, limit=1).records
        pointer = pl.Series("pointer", [record.storage_id for record in records], dtype=pl.Int64)
        return pointer.extend_constant(None, 1 - len(pointer)).to_frame()
    dims = dimensions(partitions_def)
    events = instance.event_log_storage
    if list(on) == dims[:1] != dims and isinstance(events, CompactEventLog):
        last = events.last_materializations(asset, {f"{key}|" for key in partitions[on[0]]})
        values = {on[0]: [key.removesuffix("|") for key in last], "pointer": [*last.values()]}
        return pl.DataFrame(values, {on[0]: pl.String, "pointer": pl.Int64})
    keys = {"|".join(row) for row in partitions.select(dims).iter_rows()} if list(on) == dims else set()
    latest = instance.event_log_storage.get_latest_storage_id_by_partition(
        asset, dg.DagsterEventType.ASSET_MATERIALIZATION, keys if len(keys) <= FEW else None
    )
    parts = split(list(latest), dims)
    ids = pl.DataFrame({**parts, "pointer": pl.Series(list(latest.values()), dtype=pl.Int64)})
    return ids.group_by(on).agg(pl.col("pointer").max())


def split(keys: Sequence[str], dims: Sequence[str]) -> dict[str, pl.Series]:
    """Split partition keys such as `model|passage` into columns, one series of parts per dimension.

    Parts that a key lacks are null: Dagster accepts an event without a partition about an asset with partitions.
    """
    parts = pl.Series(keys, dtype=pl.String).str.split("|")
    return {dim: parts.list.get(i, null_on_oob=True) for i, dim in enumerate(dims)}


def unsound(instance: dg.DagsterInstance, assets: Sequence[dg.AssetKey], check_name: str = SOUND) -> list[str]:
    """Names of the assets whose check, by default the blocking one, failed in its last finished run."""
    checks = [dg.AssetCheckKey(asset, check_name) for asset in assets]
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key(checks)
    return [
        check.asset_key.to_user_string()
        for check in checks
        if check in latest and latest[check].status != AssetCheckExecutionRecordStatus.SUCCEEDED
        for evaluation in [_last(instance, check)]
        if evaluation and not evaluation.passed
    ]


def last_problems(instance: dg.DagsterInstance, check: dg.AssetCheckKey) -> list[str]:
    """Lines of the Markdown table of problems that a check's last finished run found; empty before the first run."""
    evaluation = _last(instance, check)
    value = evaluation.metadata.get("problems") if evaluation else None
    return (value.value or "").splitlines() if isinstance(value, dg.MarkdownMetadataValue) else []


def _last(instance: dg.DagsterInstance, check: dg.AssetCheckKey) -> AssetCheckEvaluation | None:
    """The evaluation of a check's last finished run; planned runs do not count. None before the first run."""
    ended = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}
    records = instance.event_log_storage.get_asset_check_execution_history(check, limit=1, status=ended)
    event = records[0].event.dagster_event if records and records[0].event else None
    evaluation = event.event_specific_data if event else None
    return evaluation if isinstance(evaluation, AssetCheckEvaluation) else None
