"""Materializing an asset: compute its stale partitions, store them, report them. Every asset calls `refresh`.

Here: the order of these steps, and the writes. Not here: which partitions are stale (standing), reporting to Dagster
(events), the computations of assets (their packages).
"""

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.lineage import shards
from benchmark_assets.lineage.computed import Card, Computed
from benchmark_assets.lineage.events import (
    RETRACTED,
    SOUND,
    Input,
    dagster_records,
    failures,
    in_backfill,
    report,
    reported,
    split,
    unsound,
)
from benchmark_assets.lineage.standing import INCOMPLETE, Cost, PartitionStates, Settings, assess
from benchmark_assets.lineage.survey import Inspection
from benchmark_assets.partitions import dimensions
from resources import catalogue
from resources.dagster_storage.event_log import CompactEventLog
from resources.exhibits import Exhibit, described
from resources.keys import KEYS
from resources.processes import PROCESS, process_tag
from resources.tables import markdown
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.lineage")

ATTEMPTS = 3
"""Maximum number of computations of a partition in one run. A partition is computed again if an input has changed
meanwhile."""

OWNER = "study"
"""Column with the name of the asset to which a row belongs, in tables that several assets fill."""

OF_UPDATE = "variorum/update"
"""Tag of the runs of an update, which include assets whose inputs are stale: it may be that none applies by then."""

NO_FAILURES = pl.DataFrame(schema={"error": pl.String})

Description = Mapping[str, str | dg.MetadataValue]
"""Metadata of an asset for Dagster's UI, by name; a string is Markdown."""

Plots = dg.ResourceParam[Callable[[Warehouse, str], Mapping[str, str]]]
"""The resource that draws an asset's plots. Given the asset's name, it returns a mapping from names of metadata
entries to Markdown with images."""


Cards = dg.ResourceParam[Callable[[Warehouse, str, pl.DataFrame], Mapping[str, Card]]]
"""The resource that describes single partitions. Given the asset's name and partitions, it returns a mapping from
partition keys to Markdown."""


def further_tables(definition: dg.AssetsDefinition, key: dg.AssetKey) -> list[str]:
    """Tables that an asset fills besides the one with its own name, as listed under `tables` in its metadata."""
    return list(definition.metadata_by_key[key].get("tables", []))


def owned(rows: pl.DataFrame, asset: str, partitions: pl.DataFrame | None = None) -> pl.DataFrame | None:
    """Keys that select an asset's rows in a table; None selects the whole table.

    The keys are the given partitions, if any, plus the column OWNER if several assets fill the table. `rows` is a frame
    with the table's columns; its content does not matter.
    """
    if OWNER not in rows.columns:
        return partitions
    owner = pl.lit(asset).alias(OWNER)
    return pl.select(owner) if partitions is None else partitions.with_columns(owner)


def free(_: pl.DataFrame) -> None:
    """The cost of an asset that calls no model."""


def refresh(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    compute: Callable[[pl.DataFrame], Computed],
    settings: Settings = "",
    describe: Callable[[], Description] | Sequence[Exhibit] = dict,
    cost: Cost = free,
    sparse: bool = False,
    partial: bool = False,
    draw: Plots = lambda *_: {},
    show: Cards = lambda *_: {},
) -> dg.Output[None]:
    """Materialize the partitions of this run: compute and store the stale ones, and report all of them.

    A partition that has rows but no longer applies, or lost an input, is retracted: its rows are removed, and it is
    reported with the version RETRACTED, so that downstream partitions become stale and are removed, too. If the context
    is an Inspection, `refresh` only lets it examine the partitions.

    In a backfill, partitions that do not apply are reported with the version RETRACTED, too (see `in_backfill`).

    Parameters
    ----------
    compute
        Called with the dimension columns of the stale partitions; not called if no partition is stale. If the result
        has neither rows nor a failure for a stale partition, the partition is stored as empty.
    settings
        Everything that determines the result, except the inputs and the code version.
    describe
        Returns metadata for Dagster's UI, attached to every reported partition. Called once, after the rows are stored.
        Alternatively, the exhibits of a room: Dagster then shows those that belong to this asset.
    cost
        Estimates the model calls that `compute` would make for stale partitions. Returns None if `compute` calls no
        model.
    sparse
        Whether it is normal that no partition of a run applies: most corpora have no labels, for example.
    partial
        Whether an unpartitioned input that was never materialized counts as empty (see `assess`).
    draw
        Returns plots for Dagster's UI. Called once, after the rows are stored. The plots are attached only to the last
        reported partition, which the asset's page shows, because a plot takes as much space as ten events.
    show
        Returns what the pages of single partitions show. Called once, after the rows are stored.

    Returns
    -------
    An output that keeps Dagster from reporting the asset again.

    Raises
    ------
    dagster.Failure
        Before computing, if the check `sound` of an input has failed. After storing and reporting the computed
        partitions, if others failed, or if rows are missing (`Computed.incomplete`). Unless `sparse` is true, also
        if no partition of the run both applies and has its inputs; in a backfill, only if an input was never
        materialized for any of them.
    """
    if isinstance(context, Inspection):
        context.examine(warehouse, settings, partial, cost)
        return reported()
    if PROCESS not in context.run.tags:
        context.instance.add_run_tags(context.run.run_id, {PROCESS: process_tag(context.run.run_id)})
    definition, name = context.assets_def, context.asset_key.to_user_string()
    dims = dimensions(definition.partitions_def)
    keys = _run_partitions(context, dims)
    of = shards.members(warehouse, keys["passage"])
    layer = context.job_def.asset_layer
    upstream = {key: layer.get(key).partitions_def for key in definition.keys_by_input_name.values()}
    if unsound_inputs := unsound(context.instance, list(upstream)):
        commands = ", ".join(f"`variorum update --anew {asset}`" for asset in unsound_inputs)
        raise dg.Failure(
            f"{name} depends on {', '.join(unsound_inputs)}, whose check {SOUND!r} has failed. See its problems in "
            f"Dagster; recompute with {commands}"
        )

    tables = [name, *further_tables(definition, context.asset_key)]

    def settled(piece: shards.Piece) -> _Done:
        def look() -> PartitionStates:
            with warehouse.consistently():
                return assess(
                    definition, upstream, warehouse, piece.partitions, settings, partial, context.instance, piece.keys
                )

        work = _Work(warehouse, look, compute, context.run.run_id, tables, dims, cost is free)
        return _without_obsolete(work, _materialize(work, len(piece.partitions)))

    done = _joined([_collapsed(settled(piece), of, dims) for piece in shards.pieces(keys, of)])
    current, failed = done.current, done.failures
    missing = [
        source
        for source in done.inputs
        if current.is_empty() and source.on and keys.join(source.rows, on=source.on, how="semi").is_empty()
    ]
    without_rows = current.clear()
    if in_backfill(context) and dims:
        # An input was reported if Dagster has a materialization for some of these keys, be it one without rows.
        missing = [
            source for source in missing
            if source.ids is None or keys.join(source.ids, on=source.on, how="semi").is_empty()
        ]  # fmt: skip
        if sparse or not missing:
            idle = keys.join(current, on=KEYS, how="anti").join(shards.keyed(failed, of), on=dims, how="anti")
            for key, partitions_def in upstream.items():
                if (on := dimensions(partitions_def)) and {*on} <= {*dims}:  # without partitions whose input failed
                    idle = idle.join(failures(context.instance, key, on), on=on, how="anti")
            without_rows = _retracted(idle)
            logger.info("%s: %d partitions do not apply", name, len(without_rows))
    code_version = definition.code_versions_by_key[context.asset_key] or ""
    events = context.instance.event_log_storage
    if OF_UPDATE in context.run.tags and isinstance(events, CompactEventLog):
        quiet = _as_reported(context, current.join(done.kept, on=KEYS, how="semi"))
        current = current.join(quiet, on=KEYS, how="anti")
        if dims:
            events.drop_plans(context.asset_key, context.run.run_id, _names(shards.keyed(failed, of), dims))
        if current.is_empty() and failed.is_empty():
            return reported()
    plots = _metadata(draw(warehouse, name)) if len(current) else None
    shown = show(warehouse, name, current)
    metadata = _metadata(describe() if callable(describe) else described(warehouse, describe, name))
    # The asset's page shows the last partition, so partitions without rows come first.
    rows = pl.concat([without_rows, current])
    report(context, context.asset_key, rows, done.inputs, code_version, dims, metadata, plots, shown)

    if len(failed):
        raise dg.Failure(
            f"{len(failed)} of {done.examined} partitions of {name} failed; the first: "
            f"{': '.join(map(str, failed.select(*dims, 'error').row(0)))}",
            metadata={"failed": dg.MetadataValue.md(markdown(failed)), "succeeded": len(current)},
        )
    if rows.is_empty() and len(keys) and not sparse and OF_UPDATE not in context.run.tags:
        names = ", ".join(source.key.to_user_string() for source in missing)
        reason = f"materialize {names} first" if missing else "the asset does not apply to them"
        raise dg.Failure(f"{name} cannot be computed for any of the {done.examined} partitions of this run: {reason}")
    return reported()


def _as_reported(context: dg.AssetExecutionContext, kept: pl.DataFrame) -> pl.DataFrame:
    """Those of the partitions of the run that were up to date, and that Dagster shows so: columns of `KEYS`."""
    key, partitions_def = context.asset_key, context.assets_def.partitions_def
    records = dagster_records(context.instance, key, partitions_def, kept)
    same = kept.join(records, left_on=[*KEYS, "version"], right_on=[*KEYS, "reported_version"], how="semi")
    events = context.instance.event_log_storage
    if (dims := dimensions(partitions_def)) and isinstance(events, CompactEventLog):
        attempted = pl.DataFrame(split(events.attempted_before(key, context.run.run_id), dims))
        same = same.join(attempted, on=dims, how="anti")
    return same.select(KEYS)


def _names(partitions: pl.DataFrame, dims: Sequence[str]) -> list[str]:
    """Keys of partitions in Dagster."""
    return ["|".join(row) for row in partitions.select(dims).iter_rows()] if len(partitions) else []


def _retracted(partitions: pl.DataFrame) -> pl.DataFrame:
    """Partitions as they are reported without rows: `KEYS`, `version` and `row_count`."""
    return partitions.select(*KEYS, version=pl.lit(RETRACTED), row_count=pl.lit(0, pl.Int32))


def _metadata(description: Description) -> dict[str, dg.MetadataValue]:
    return {
        name: dg.MetadataValue.md(value) if isinstance(value, str) else value for name, value in description.items()
    }


class _Work(NamedTuple):
    """The parts of a materialization: `look` finds the stale partitions; `tables` begins with the asset's own table;
    settings are `fixed` if computing does not change what they are read from, as models' replies do."""

    warehouse: Warehouse
    look: Callable[[], PartitionStates]
    compute: Callable[[pl.DataFrame], Computed]
    run_id: str
    tables: list[str]
    dims: list[str]
    fixed: bool

    @property
    def name(self) -> str:
        """Name of the asset."""
        return self.tables[0]


class _Done(NamedTuple):
    """Result of a materialization: `failures` has the asset's dimensions and `error`, `examined` is the number
    of partitions, and `kept` those that were up to date; other fields as in PartitionStates."""

    current: pl.DataFrame
    obsolete: pl.DataFrame
    failures: pl.DataFrame
    inputs: list[Input]
    examined: int
    kept: pl.DataFrame


def _materialize(work: _Work, partition_count: int) -> _Done:
    """Compute and store stale partitions. Repeat for partitions whose inputs changed meanwhile, unless another run
    wrote them first."""
    last = work.warehouse.last_change() if work.fixed else None
    standing, dims = work.look(), work.dims
    kept = standing.current.select(KEYS)
    current, obsolete, remaining, failures = standing.current, standing.obsolete, standing.stale, NO_FAILURES
    counts = partition_count, len(current), len(remaining), len(obsolete)
    logger.info("%s: %d partitions, %d up to date, %d stale, %d to remove", work.name, *counts)
    for _ in range(ATTEMPTS):
        if remaining.is_empty():
            break
        computed = work.compute(remaining.select(dims))
        if unknown := {*computed.tables, *computed.notes} - set(work.tables):
            raise KeyError(f"{work.name} fills {sorted(unknown)}: list them under `tables` in the asset's metadata")
        failed = computed.failures if computed.failures is not None else NO_FAILURES
        settle = functools.partial(_compare_and_store, work, computed, failed, remaining, standing, last)
        standing, outdated, written = work.warehouse.at_once(work.name, {*remaining["model"]}, settle)
        # A partition that another run has changed meanwhile is reported by that run.
        current = current.join(standing.current, on=[*KEYS, "version"], how="semi")
        current = pl.concat([current, written, standing.current.join(outdated, on=KEYS, how="semi")])
        obsolete = pl.concat([obsolete, standing.obsolete.join(outdated, on=KEYS, how="semi")])
        missing = [computed.incomplete] if computed.incomplete and len(written) else []
        lacking = pl.DataFrame({"error": missing}, schema=NO_FAILURES.schema)
        failures = pl.concat([failures, failed, lacking], how="diagonal")
        remaining = standing.stale.join(outdated, on=KEYS, how="semi")
        if dims and len(failed):
            remaining = remaining.join(failed, on=dims, how="anti")
    error = pl.lit("its inputs kept changing during the computation; run it again")
    unsettled = remaining.with_columns(error=error).select(*dims, "error")
    failures = pl.concat([failures, unsettled], how="diagonal")
    return _Done(current, obsolete, failures, standing.inputs, partition_count, kept)


def _without_obsolete(work: _Work, done: _Done) -> _Done:
    """Remove the rows of obsolete partitions, and add these partitions to `current` as retracted."""
    if done.obsolete.is_empty():
        return done

    def retract() -> pl.DataFrame:
        obsolete = done.obsolete.join(work.look().obsolete, on=KEYS, how="semi")  # a partition may apply again by now
        work.warehouse.write(_removals(work.warehouse, work.tables, obsolete, work.dims), work.run_id)
        return obsolete

    obsolete = work.warehouse.at_once(work.name, {*done.obsolete["model"]}, retract)
    return done._replace(current=pl.concat([done.current, _retracted(obsolete)]))


def _collapsed(done: _Done, of: pl.DataFrame, dims: list[str]) -> _Done:
    """The same result by Dagster's keys; `of` lists the passages of shards. A shard with failed passages is left out of
    `current`, so that Dagster shows it as failed."""
    if of.is_empty():
        return done
    current = shards.collapsed(done.current, of)
    if len(done.failures):
        current = current.join(shards.keyed(done.failures, of), on=dims, how="anti")
    inputs = [source._replace(rows=shards.collapsed(source.rows, of)) for source in done.inputs]
    made = shards.keyed(done.current.join(done.kept, on=KEYS, how="anti").select(KEYS), of)
    kept = shards.keyed(done.kept, of).unique().join(made, on=KEYS, how="anti")
    return done._replace(current=current, inputs=inputs, kept=kept)


def _joined(parts: Sequence[_Done]) -> _Done:
    """The result of a run from the results of its pieces. Of each input, the ids are those that were read first."""
    if len(parts) == 1:
        return parts[0]
    inputs: dict[dg.AssetKey, Input] = {}
    for source in (source for part in parts for source in part.inputs):
        first = inputs.setdefault(source.key, source)
        rows = pl.concat([first.rows, source.rows]).unique(source.on or None, keep="last", maintain_order=True)
        inputs[source.key] = first._replace(rows=rows if source.on else source.rows)
    return _Done(
        pl.concat([part.current for part in parts]),
        pl.concat([part.obsolete for part in parts]),
        pl.concat([part.failures for part in parts], how="diagonal"),
        list(inputs.values()),
        sum(part.examined for part in parts),
        pl.concat([part.kept for part in parts]),
    )


def _compare_and_store(
    work: _Work, computed: Computed, failed: pl.DataFrame, partitions: pl.DataFrame, standing: PartitionStates,
    last: int | None,
) -> tuple[PartitionStates, pl.DataFrame, pl.DataFrame]:  # fmt: skip
    """Write the computed partitions, except those that failed and those whose inputs changed meanwhile.

    `partitions` has the columns of `KEYS`, `fingerprint` and `made_from`. They are looked at again only if the last
    logged change is no longer `last`, the one before `standing`, or was not known. Returns the standing before the
    write, the partitions whose inputs have changed, and the written partitions (columns of `KEYS`, `version` and
    `row_count`). An
    input that another process changes between the comparison and the end of the write leaves a row whose fingerprint
    names the former version of the input: the next look finds it stale.
    """
    if last is None or not work.warehouse.is_last(last):
        standing = work.look()
    outdated = partitions.join(standing.stale, on=[*KEYS, "fingerprint"], how="anti")
    skipped = pl.concat(
        [failed, outdated.with_columns(error=pl.lit("outdated")).select(*work.dims, "error")], how="diagonal"
    )
    written = partitions.with_columns(made_from=pl.lit(INCOMPLETE)) if computed.incomplete else partitions
    if len(skipped):
        written = written.join(skipped, on=work.dims, how="anti") if work.dims else written.clear()
    if written.is_empty():
        return standing, outdated, _retracted(written)
    written = written.join(_versions(work, computed, written), on=KEYS, maintain_order="left")
    written = _with_row_counts(computed.tables.get(work.name, pl.DataFrame()), written, work.dims)
    tables = {**computed.tables, **computed.notes}
    work.warehouse.write(_replacements(tables, written, skipped, work.dims, work.name), work.run_id)
    return standing, outdated, written.select(*KEYS, "version", "row_count")


def _with_row_counts(rows: pl.DataFrame, partitions: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Add to each partition the number of its rows (`row_count`); `rows` has the rows of the asset's own table."""
    if not dims:
        return partitions.with_columns(row_count=pl.lit(len(rows), pl.Int32))
    keyed = rows if rows.width else partitions.select(dims).clear()
    counts = keyed.group_by(dims).agg(row_count=pl.len().cast(pl.Int32))
    counted = partitions.join(counts, on=dims, how="left", maintain_order="left")
    return counted.with_columns(pl.col("row_count").fill_null(0))


def _removals(
    warehouse: Warehouse, tables: Sequence[str], obsolete: pl.DataFrame, dims: list[str]
) -> list[Replacement]:
    """Replacements that remove an asset's obsolete partitions from all of its tables and from `materialization`.
    The first of `tables` is the asset's own table."""
    states = obsolete.select(pl.lit(tables[0]).alias("asset"), *KEYS)
    partitions = obsolete.select(dims) if dims else None
    empty = {table: warehouse.empty(table) for table in tables}
    return [
        *(Replacement(table, rows, owned(rows, tables[0], partitions)) for table, rows in empty.items()),
        Replacement("materialization", warehouse.empty("materialization"), states),
    ]


def _run_partitions(context: dg.AssetExecutionContext, dims: list[str]) -> pl.DataFrame:
    """Dagster's partitions of the run: columns of `KEYS`, '' for dimensions that the asset lacks."""
    keys = [str(key) for key in context.partition_keys] if dims else [""]
    empty = pl.Series([""] * len(keys), dtype=pl.String)
    return pl.DataFrame(dict.fromkeys(KEYS, empty) | split(keys, dims))


def _versions(work: _Work, computed: Computed, partitions: pl.DataFrame) -> pl.DataFrame:
    """Columns of `KEYS` and `version`: a hash of each partition's rows in all tables, independent of row order.

    If the catalogue says that versions follow from the inputs, the fingerprint stands for the rows, if there are any
    and none is missing.
    """
    dims, fingerprints = work.dims, partitions["fingerprint"]
    keys = list(partitions.select(dims).iter_rows()) if dims else [()]
    fingerprint_of = dict(zip(keys, fingerprints, strict=True))
    hashes = {key: blake2b(digest_size=16) for key in keys}
    by_inputs = catalogue.table(work.name).versions == "inputs" and not computed.incomplete
    for table, rows in sorted(computed.tables.items()):
        if by_inputs:
            for key in rows.select(dims).unique().iter_rows() if dims else [()] * min(len(rows), 1):
                if key in hashes:
                    hashes[key].update(repr((table, fingerprint_of[key])).encode())
            continue
        unversioned = {column.name for column in catalogue.table(table).columns.values() if not column.versioned}
        columns = [*dims, *sorted({*rows.columns} - {*dims} - unversioned)]
        order = [name for name in columns if not rows.schema[name].is_nested()]
        for row in rows.select(columns).sort(order).iter_rows():
            if row[: len(dims)] in hashes:
                hashes[row[: len(dims)]].update(repr((table, row[len(dims) :])).encode())
    versions = pl.Series("version", [content.hexdigest() for content in hashes.values()], dtype=pl.String)
    return partitions.select(KEYS).with_columns(versions)


def _replacements(
    tables: Mapping[str, pl.DataFrame], written: pl.DataFrame, skipped: pl.DataFrame, dims: list[str], name: str
) -> list[Replacement]:
    """Replacements for the partitions in `written`. Rows of partitions in `skipped` are left out; the warehouse refuses
    rows of partitions that are in neither frame."""
    if not dims:
        fingerprint = pl.lit(written["fingerprint"][0]).alias("fingerprint")
        replacements = [
            Replacement(table, rows.with_columns(fingerprint), owned(rows, name)) for table, rows in tables.items()
        ]
    else:
        stamps, partitions = written.select(*dims, "fingerprint"), written.select(dims)
        kept = {t: rows.join(skipped, on=dims, how="anti") if len(skipped) else rows for t, rows in tables.items()}
        replacements = [
            Replacement(table, rows.join(stamps, on=dims, how="left"), owned(rows, name, partitions))
            for table, rows in kept.items()
        ]
    states = written.select(pl.lit(name).alias("asset"), *KEYS, "version", "fingerprint", "made_from", "row_count")
    return [*replacements, Replacement("materialization", states, states.select("asset", *KEYS))]
