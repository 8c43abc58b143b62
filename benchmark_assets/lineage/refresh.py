"""Materializing an asset: compute its stale partitions, store them, report them. Every asset calls `refresh`.

Here: the order of these steps, and the writes. Not here: which partitions are stale (standing), reporting to Dagster
(events), computing.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.events import RETRACTED, SOUND, Input, report, reported, split, unsound
from benchmark_assets.lineage.standing import Settings, Standing, stand
from benchmark_assets.lineage.survey import Survey
from benchmark_assets.partitions import dimensions
from resources.keys import KEYS
from resources.processes import PROCESS, process_tag
from resources.provider.estimate import Estimate
from resources.tables import markdown
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.lineage")

ATTEMPTS = 3
"""Most computations of a partition in a run, since an input may change meanwhile."""

OWNER = "study"
"""Column of a table that several assets fill: the asset that a row belongs to."""

NO_FAILURES = pl.DataFrame(schema={"error": pl.String})


Description = Mapping[str, str | dg.MetadataValue]
"""Metadata of an asset for Dagster's UI, by name; a string is Markdown."""

Plots = dg.ResourceParam[Callable[[Warehouse, str], Mapping[str, str]]]
"""The resource that draws the plots of an asset, given its name: Markdown with images, by name of metadata."""


def further_tables(definition: dg.AssetsDefinition, key: dg.AssetKey) -> list[str]:
    """Tables that an asset fills in addition to the one of its name: `tables` in its metadata."""
    return list(definition.metadata_by_key[key].get("tables", []))


def owned(rows: pl.DataFrame, asset: str, partitions: pl.DataFrame | None = None) -> pl.DataFrame | None:
    """Keys of an asset's rows in a table with the columns of `rows`: the partitions and, if several assets fill the
    table, the asset; None for the whole table."""
    if OWNER not in rows.columns:
        return partitions
    owner = pl.lit(asset).alias(OWNER)
    return pl.select(owner) if partitions is None else partitions.with_columns(owner)


def refresh(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    compute: Callable[[pl.DataFrame], Computed],
    settings: Settings = "",
    describe: Callable[[], Description] = dict,
    cost: Callable[[pl.DataFrame], Estimate | None] = lambda _: None,
    sparse: bool = False,
    partial: bool = False,
    draw: Plots = lambda *_: {},
) -> dg.Output[None]:
    """Materialize the partitions of this run: compute and store the stale ones, report all current ones.

    A partition that has rows but no longer applies, or lost an input, is retracted: its rows are removed, and it is
    reported with the version RETRACTED, so that downstream partitions are stale and are removed, too. If the context is
    a Survey, only note the stale partitions.

    Parameters
    ----------
    compute
        Called with the dimension columns of the stale partitions, if there are any. A partition with neither rows nor a
        failure in its result is stored as empty.
    settings
        Everything that determines the result, except the inputs and the code version.
    describe
        Returns metadata for Dagster's UI. Called once after the rows are stored; every reported partition gets it.
    cost
        Estimates the calls of models by `compute` for these partitions; None if there are none.
    sparse
        Whether it is normal that no partition of a run applies: most corpora have no labels.
    partial
        Whether an input that was never materialized counts as empty (see `stand`).
    draw
        Returns plots for Dagster's UI. Called once after the rows are stored. Only the partition reported last gets
        them, which is the one on the asset's page: a plot takes as much space as ten events.

    Returns
    -------
    The output of the asset, which keeps Dagster from reporting it again.

    Raises
    ------
    dagster.Failure
        Before computing, if the check `sound` of an input has failed. After storing and reporting the good partitions,
        if others failed. Unless the asset is sparse, if no partition of the run applies and has its inputs.
    """
    if isinstance(context, Survey):
        context.note(context.stand(warehouse, settings, partial), cost)
        return reported()
    if PROCESS not in context.run.tags:
        context.instance.add_run_tags(context.run.run_id, {PROCESS: process_tag(context.run.run_id)})
    definition, name = context.assets_def, context.asset_key.to_user_string()
    dims = dimensions(definition.partitions_def)
    asked = _asked(context, dims)
    layer = context.job_def.asset_layer
    upstream = {key: layer.get(key).partitions_def for key in definition.keys_by_input_name.values()}
    if doubtful := unsound(context.instance, list(upstream)):
        commands = ", ".join(f"`variorum update --anew {each}`" for each in doubtful)
        raise dg.Failure(
            f"{name} depends on {', '.join(doubtful)}, whose check {SOUND!r} has failed. See its problems in Dagster; "
            f"recompute with {commands}"
        )

    def look() -> Standing:
        with warehouse.at_once():
            return stand(definition, upstream, context.instance, warehouse, asked, settings, partial)

    tables = [name, *further_tables(definition, context.asset_key)]
    done = _bring_up(Upkeep(warehouse, look, compute, context.run.run_id, tables, dims), len(asked))
    good = done.good
    if len(done.gone):
        with warehouse.at_once():  # some may apply again by now
            gone = done.gone.join(look().gone, on=KEYS, how="semi")
            warehouse.write(_removals(warehouse, tables, gone, dims), context.run.run_id)
        good = pl.concat([good, gone.select(*KEYS, version=pl.lit(RETRACTED), row_count=pl.lit(0, pl.Int32))])
    code_version = definition.code_versions_by_key[context.asset_key] or ""
    plots = _metadata(draw(warehouse, name)) if len(good) else None
    report(context, context.asset_key, good, done.inputs, code_version, dims, _metadata(describe()), plots)

    if len(done.failures):
        raise dg.Failure(
            f"{len(done.failures)} of {len(asked)} partitions of {name} failed, for instance {done.failures.row(0)}",
            metadata={"failed": dg.MetadataValue.md(markdown(done.failures)), "succeeded": len(good)},
        )
    if good.is_empty() and len(asked) and not sparse:
        missing = [
            i.key.to_user_string() for i in done.inputs if i.on and asked.join(i.rows, on=i.on, how="semi").is_empty()
        ]
        reason = f"materialize {', '.join(missing)} first" if missing else "nothing covers these partitions"
        raise dg.Failure(f"{name} has no inputs for {asked.row(0)} and {len(asked) - 1} others: {reason}")
    return reported()


def _metadata(description: Description) -> dict[str, dg.MetadataValue]:
    return {
        name: dg.MetadataValue.md(value) if isinstance(value, str) else value for name, value in description.items()
    }


class Upkeep(NamedTuple):
    """Everything needed to materialize an asset: `look` finds its stale partitions; `tables` begins with its own."""

    warehouse: Warehouse
    look: Callable[[], Standing]
    compute: Callable[[pl.DataFrame], Computed]
    run_id: str
    tables: list[str]
    dims: list[str]

    @property
    def name(self) -> str:
        """The asset."""
        return self.tables[0]


class Done(NamedTuple):
    """The result of a materialization: partitions `good` (with `version`), `gone`, and `failures` (with `error`)."""

    good: pl.DataFrame
    gone: pl.DataFrame
    failures: pl.DataFrame
    inputs: list[Input]


def _bring_up(work: Upkeep, asked: int) -> Done:
    """Compute and store stale partitions. Repeat for partitions whose inputs changed meanwhile, unless another run
    wrote them first."""
    standing, dims = work.look(), work.dims
    good, gone, remaining, failures = standing.good, standing.gone, standing.due, NO_FAILURES
    counts = asked, len(good), len(remaining), len(gone)
    logger.info("%s: %d partitions, %d up to date, %d stale, %d to remove", work.name, *counts)
    for _ in range(ATTEMPTS):
        if remaining.is_empty():
            break
        computed = work.compute(remaining.select(dims))
        if unknown := {*computed.tables, *computed.notes} - set(work.tables):
            raise KeyError(f"{work.name} fills {sorted(unknown)}: list them under `tables` in the asset's metadata")
        failed = computed.failures if computed.failures is not None else NO_FAILURES
        with work.warehouse.at_once():  # so that no input changes between the comparison and the write
            standing = work.look()
            moved = remaining.join(standing.due, on=[*KEYS, "fingerprint"], how="anti")
            stored = _store(work, computed, failed, remaining, moved)
        good = good.join(standing.good, on=[*KEYS, "version"], how="semi")  # the run that changed the rest reports it
        good = pl.concat([good, stored, standing.good.join(moved, on=KEYS, how="semi")])
        gone = pl.concat([gone, standing.gone.join(moved, on=KEYS, how="semi")])
        failures = pl.concat([failures, failed], how="diagonal")
        remaining = standing.due.join(moved, on=KEYS, how="semi")
        if dims and len(failed):
            remaining = remaining.join(failed, on=dims, how="anti")
    error = pl.lit("its inputs kept changing during the computation; run it again")
    unsettled = remaining.with_columns(error=error).select(*dims, "error")
    return Done(good, gone, pl.concat([failures, unsettled], how="diagonal"), standing.inputs)


def _store(
    work: Upkeep, computed: Computed, failed: pl.DataFrame, asked: pl.DataFrame, moved: pl.DataFrame
) -> pl.DataFrame:
    """Write computed partitions, except failed and moved ones; return the written partitions with their versions."""
    without = pl.concat([failed, moved.with_columns(error=pl.lit("moved")).select(*work.dims, "error")], how="diagonal")
    done = asked
    if len(without):
        done = asked.join(without, on=work.dims, how="anti") if work.dims else asked.clear()
    if len(done):
        done = done.join(_versions(computed.tables, done, work.dims), on=KEYS, maintain_order="left")
        done = _counted(computed.tables.get(work.name, pl.DataFrame()), done, work.dims)
        tables = {**computed.tables, **computed.notes}
        work.warehouse.write(_replacements(tables, done, without, work.dims, work.name), work.run_id)
        return done.select(*KEYS, "version", "row_count")
    return asked.clear().select(*KEYS, version=pl.lit(""), row_count=pl.lit(0, pl.Int32))


def _counted(rows: pl.DataFrame, done: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Partitions with the number of their rows in the table of the asset's name."""
    if not dims:
        return done.with_columns(row_count=pl.lit(len(rows), pl.Int32))
    counts = (rows if rows.width else done.select(dims).clear()).group_by(dims).agg(row_count=pl.len().cast(pl.Int32))
    return done.join(counts, on=dims, how="left", maintain_order="left").with_columns(pl.col("row_count").fill_null(0))


def _removals(warehouse: Warehouse, tables: Sequence[str], gone: pl.DataFrame, dims: list[str]) -> list[Replacement]:
    """Replacements that remove the partitions in `gone` from an asset's tables, its own first, and from its states."""
    states = gone.select(pl.lit(tables[0]).alias("asset"), *KEYS)
    partitions = gone.select(dims) if dims else None
    empty = {table: warehouse.empty(table) for table in tables}
    return [
        *(Replacement(table, rows, owned(rows, tables[0], partitions)) for table, rows in empty.items()),
        Replacement("materialization", warehouse.empty("materialization"), states),
    ]


def _asked(context: dg.AssetExecutionContext, dims: list[str]) -> pl.DataFrame:
    """Partitions of the run, one per row; '' for dimensions that the asset lacks."""
    keys = [str(key) for key in context.partition_keys] if dims else [""]
    columns = dict.fromkeys(KEYS, [""] * len(keys)) | split(keys, dims)
    return pl.DataFrame(columns, schema=dict.fromkeys(KEYS, pl.String))


def _versions(tables: Mapping[str, pl.DataFrame], done: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Hash of each partition's rows over all tables, independent of their order."""
    partitions = list(done.select(dims).iter_rows()) if dims else [()]
    hashes = {partition: blake2b(digest_size=16) for partition in partitions}
    for table, rows in sorted(tables.items()):
        columns = [*dims, *sorted(set(rows.columns) - set(dims))]
        order = [name for name in columns if not rows.schema[name].is_nested()]
        for row in rows.select(columns).sort(order).iter_rows():
            if row[: len(dims)] in hashes:
                hashes[row[: len(dims)]].update(repr((table, row[len(dims) :])).encode())
    versions = pl.Series("version", [each.hexdigest() for each in hashes.values()], dtype=pl.String)
    return done.select(KEYS).with_columns(versions)


def _replacements(
    tables: Mapping[str, pl.DataFrame], done: pl.DataFrame, without: pl.DataFrame, dims: list[str], name: str
) -> list[Replacement]:
    """Replacements for the partitions in `done`. Rows of partitions in `without` are left out; the warehouse refuses
    rows of any other partition."""
    if not dims:
        fingerprint = pl.lit(done["fingerprint"][0]).alias("fingerprint")
        replacements = [
            Replacement(table, rows.with_columns(fingerprint), owned(rows, name)) for table, rows in tables.items()
        ]
    else:
        stamps, partitions = done.select(*dims, "fingerprint"), done.select(dims)
        kept = {t: rows.join(without, on=dims, how="anti") if len(without) else rows for t, rows in tables.items()}
        replacements = [
            Replacement(table, rows.join(stamps, on=dims, how="left"), owned(rows, name, partitions))
            for table, rows in kept.items()
        ]
    states = done.select(pl.lit(name).alias("asset"), *KEYS, "version", "fingerprint", "made_from", "row_count")
    return [*replacements, Replacement("materialization", states, states.select("asset", *KEYS))]
