"""Bringing the partitions of an asset up to date: compute what is due, store it, report it. Every asset goes through
`refresh`.

Here: the order of these things, and what is written. Not here: which partitions are due (standing), how Dagster is told
(events), what is computed.
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
"""How often what was computed is computed again because an input changed meanwhile."""

OWNER = "study"
"""Column of a table that several assets fill: the asset that a row belongs to."""

NO_FAILURES = pl.DataFrame(schema={"error": pl.String})


Description = Mapping[str, str | dg.MetadataValue]
"""Metadata of an asset for Dagster's UI by name; a string is Markdown."""

Plots = dg.ResourceParam[Callable[[Warehouse, str], Mapping[str, str]]]
"""The resource that draws the plots of an asset, given its name: Markdown with pictures, by name of metadata."""


def further_tables(definition: dg.AssetsDefinition, key: dg.AssetKey) -> list[str]:
    """Tables that an asset fills besides the one of its name: `tables` in its metadata."""
    return list(definition.metadata_by_key[key].get("tables", []))


def owned(rows: pl.DataFrame, asset: str, partitions: pl.DataFrame | None = None) -> pl.DataFrame | None:
    """What identifies the rows of an asset in a table with the columns of `rows`: the partitions and, where several
    assets fill the table, the asset; None for the whole table."""
    if OWNER not in rows.columns:
        return partitions
    own = pl.lit(asset).alias(OWNER)
    return pl.select(own) if partitions is None else partitions.with_columns(own)


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
    """Bring the partitions of this run up to date: compute what is due, store it, report all that is good.

    A partition that has rows but no longer applies, or lost an input, is retracted: its rows go, and it is reported
    with a version of its own, so that what depends on it is stale and goes too. Where the context is a Survey, nothing
    happens but that it learns what is due.

    Parameters
    ----------
    compute
        Called once with the partition columns of what is due (its dimensions), unless nothing is. A
        partition for which it returns neither rows nor a failure is stored as empty.
    settings
        What determines the result besides the inputs and the code version.
    describe
        Metadata for Dagster's UI, called once after the rows are stored and attached to every partition reported.
    cost
        What `compute` would ask of models for these partitions; None where it asks none.
    sparse
        Whether it is usual that of the partitions asked for none applies: most corpora have no labels.
    partial
        Whether an input that was never made counts as empty (see `stand`).
    draw
        Plots of the asset of this name for Dagster's UI, called once after the rows are stored. Only the partition that
        is reported last gets them, which the asset's page shows: a plot takes as much room as ten events.

    Returns
    -------
    The output of the asset, which tells Dagster to report nothing itself.

    Raises
    ------
    dagster.Failure
        Before anything is computed, if the check `sound` of an input has failed. After the good partitions are stored
        and reported, if some failed; or, unless the asset is sparse, if of all partitions asked for none applies and
        has its inputs.
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
            f"{name} rests on {', '.join(doubtful)}, whose check {SOUND!r} has failed: see there what it found. "
            f"{commands} computes it anew"
        )

    def look() -> Standing:
        with warehouse.at_once():
            return stand(definition, upstream, context.instance, warehouse, asked, settings, partial)

    tables = [name, *further_tables(definition, context.asset_key)]
    done = _bring_up(Upkeep(warehouse, look, compute, context.run.run_id, tables, dims), len(asked))
    good = done.good
    if len(done.gone):
        with warehouse.at_once():  # some may have come back meanwhile
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
        raise dg.Failure(f"{name} has nothing to compute from for {asked.row(0)} and {len(asked) - 1} others: {reason}")
    return reported()


def _metadata(description: Description) -> dict[str, dg.MetadataValue]:
    return {
        name: dg.MetadataValue.md(value) if isinstance(value, str) else value for name, value in description.items()
    }


class Upkeep(NamedTuple):
    """What it takes to compute an asset's partitions: `look` says how they stand now, `tables` begins with its own."""

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
    """What came of it: partitions that are `good` (with `version`) or `gone`, and `failures` (with `error`)."""

    good: pl.DataFrame
    gone: pl.DataFrame
    failures: pl.DataFrame
    inputs: list[Input]


def _bring_up(work: Upkeep, asked: int) -> Done:
    """Compute and store what is due; again what an input was changed of meanwhile, or another run was faster with."""
    standing, dims = work.look(), work.dims
    good, gone, remaining, failures = standing.good, standing.gone, standing.due, NO_FAILURES
    counts = asked, len(good), len(remaining), len(gone)
    logger.info("%s: %d asked for, %d current, %d due, %d to go", work.name, *counts)
    for _ in range(ATTEMPTS):
        if remaining.is_empty():
            break
        computed = work.compute(remaining.select(dims))
        if unknown := {*computed.tables, *computed.notes} - set(work.tables):
            raise KeyError(f"{work.name} fills {sorted(unknown)}: name them as `tables` in the asset's metadata")
        failed = computed.failures if computed.failures is not None else NO_FAILURES
        with work.warehouse.at_once():  # no input changes between this look and the write
            standing = work.look()
            moved = remaining.join(standing.due, on=[*KEYS, "fingerprint"], how="anti")
            stored = _store(work, computed, failed, remaining, moved)
        good = good.join(standing.good, on=[*KEYS, "version"], how="semi")  # others are reported by who changed them
        good = pl.concat([good, stored, standing.good.join(moved, on=KEYS, how="semi")])
        gone = pl.concat([gone, standing.gone.join(moved, on=KEYS, how="semi")])
        failures = pl.concat([failures, failed], how="diagonal")
        remaining = standing.due.join(moved, on=KEYS, how="semi")
        if dims and len(failed):
            remaining = remaining.join(failed, on=dims, how="anti")
    words = pl.lit("its inputs change faster than it is computed; run it again")
    restless = remaining.with_columns(error=words).select(*dims, "error")
    return Done(good, gone, pl.concat([failures, restless], how="diagonal"), standing.inputs)


def _store(
    work: Upkeep, computed: Computed, failed: pl.DataFrame, asked: pl.DataFrame, moved: pl.DataFrame
) -> pl.DataFrame:
    """Write what was computed, except what failed or moved; return those partitions with their versions."""
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
    """Partitions with the number of their rows in the table that is named like the asset."""
    if not dims:
        return done.with_columns(row_count=pl.lit(len(rows), pl.Int32))
    counts = (rows if rows.width else done.select(dims).clear()).group_by(dims).agg(row_count=pl.len().cast(pl.Int32))
    return done.join(counts, on=dims, how="left", maintain_order="left").with_columns(pl.col("row_count").fill_null(0))


def _removals(warehouse: Warehouse, tables: Sequence[str], gone: pl.DataFrame, dims: list[str]) -> list[Replacement]:
    """What to write so that partitions, one a row of `gone`, leave an asset's tables, its own first, and states."""
    states = gone.select(pl.lit(tables[0]).alias("asset"), *KEYS)
    partitions = gone.select(dims) if dims else None
    empty = {table: warehouse.empty(table) for table in tables}
    return [
        *(Replacement(table, rows, owned(rows, tables[0], partitions)) for table, rows in empty.items()),
        Replacement("materialization", warehouse.empty("materialization"), states),
    ]


def _asked(context: dg.AssetExecutionContext, dims: list[str]) -> pl.DataFrame:
    """Partitions of the run, one a row; a dimension that the asset lacks is ''."""
    keys = [str(key) for key in context.partition_keys] if dims else [""]
    columns = dict.fromkeys(KEYS, [""] * len(keys)) | split(keys, dims)
    return pl.DataFrame(columns, schema=dict.fromkeys(KEYS, pl.String))


def _versions(tables: Mapping[str, pl.DataFrame], done: pl.DataFrame, dims: list[str]) -> pl.DataFrame:
    """Hash of the rows of each partition over all tables, whatever their order."""
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
    """What to write for `done`: rows of the partitions in `without` are left out, those of any other are refused."""
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
