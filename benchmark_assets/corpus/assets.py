"""Assets of the corpus: contents of the files, passage by passage, and the job that scans them."""

import logging
from collections.abc import Iterator, Sequence

import dagster as dg
import polars as pl

from benchmark_assets.corpus.registry import registered
from benchmark_assets.corpus.scan import Scan, scan
from benchmark_assets.lineage.events import heard, report, reported
from benchmark_assets.lineage.removal import remove, words
from benchmark_assets.partitions import PASSAGE, SINGLE_RUN
from resources.downloads.downloads import Downloads, Fetched
from resources.downloads.sources import wanted
from resources.errors import BadInput
from resources.keys import CORPUS, KEYS
from resources.processes import PROCESS, process_tag
from resources.tables import markdown
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.corpus")

CODE_VERSION = "1"
BY_SCAN = "variorum/by-scan"
"""Tag of assets that only a scan of the files fills: they are never stale."""

ASSETS = {"source_text": "source", "segmented_reference": "reference", "continuous_reference": "continuous"}
"""Assets with the frame of a Scan that each stores."""

PROSE = {"prose": "prose", "prose_aside": "aside"}
"""Tables by document, with the frame of a Scan that each stores."""

BY_DOCUMENT = ["corpus", "document", "translator"]


@dg.multi_asset(
    specs=[
        dg.AssetSpec(name, group_name="corpus", code_version=CODE_VERSION, kinds={"duckdb"}, tags={BY_SCAN: "yes"},
                     description=description)
        for name, description in {
            "source_text": "Source of each passage, in its segments, from the files of its corpus.",
            "segmented_reference": "Human translations in the segments of the source, from the files.",
            "continuous_reference": "Continuous translations of each passage's document, and manual corrections.",
        }.items()
    ],
    partitions_def=PASSAGE,
    backfill_policy=SINGLE_RUN,
    can_subset=False,
)  # fmt: skip
def corpus_text(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> Iterator[dg.Output[None]]:
    """Read the documents of the requested passages again and report these passages."""
    asked = pl.DataFrame({"passage": context.partition_keys})
    corpora = {passage.partition("/")[0] for passage in asked["passage"]}
    with warehouse.exclusively():
        seen = scan(registered(warehouse, corpora))
        requested = seen._replace(versions=seen.versions.join(asked, on="passage", how="semi"))
        _store(context, warehouse, requested, report_all=True)
    gone = asked.join(requested.versions, on="passage", how="anti")
    if len(gone):  # the job `scan` reports faults of other documents
        raise _failure(seen, gone["passage"].to_list())
    yield from (reported(name) for name in ASSETS)


@dg.op
def look_at_files(context: dg.OpExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> None:
    """Read every imported corpus; add new passages, store and report changed ones, remove missing ones."""
    context.instance.add_run_tags(context.run_id, {PROCESS: process_tag(context.run_id)})
    with warehouse.exclusively():  # of two concurrent scans, the second one sees the rows of the first one
        seen = scan(registered(warehouse))
        new = seen.versions["passage"].to_list()
        partitions = set(context.instance.get_dynamic_partitions("passage"))
        context.instance.add_dynamic_partitions("passage", [passage for passage in new if passage not in partitions])
        changed = _store(context, warehouse, seen, report_all=False)
        gone, rows = _retract(context, warehouse, seen)
    logger.info("%d passages in the files, %d changed, %d gone", len(new), changed, gone)
    if gone:
        logger.info("rows removed with them: %s", words(rows))
    context.add_output_metadata(
        {"passages": len(new), "changed": changed, "gone": gone, "removed": dg.MetadataValue.md(markdown(rows))}
    )
    if seen.faults:
        raise _failure(seen, [])


@dg.op
def fetch_files(
    context: dg.OpExecutionContext, warehouse: dg.ResourceParam[Warehouse], downloads: dg.ResourceParam[Downloads]
) -> None:
    """Download new and changed files of corpora from public sources; the job `scan` then reads them.

    Raises
    ------
    dagster.Failure
        For faults, after all other files were fetched.
    """
    context.instance.add_run_tags(context.run_id, {PROCESS: process_tag(context.run_id)})
    fetched: list[Fetched] = []
    faults: list[BadInput] = []
    for description in registered(warehouse):
        if isinstance(description, BadInput):
            faults.append(description)
        elif description.downloads:
            result = downloads.fetch(wanted(description.downloads, description.name), description.root)
            fetched += result.fetched
            faults += result.faults
    records = [(file.state, file.record.url, file.record.licence) for file in fetched]
    table = pl.DataFrame(records, schema=["state", "url", "licence"], orient="row")
    context.add_output_metadata({"files": len(fetched), "fetched": dg.MetadataValue.md(markdown(table, most=200))})
    if faults:
        raise dg.Failure(
            f"{len(fetched)} files are up to date, {len(faults)} faults. First: {faults[0]}",
            metadata={"faults": dg.MetadataValue.md(markdown(_table(faults), most=200))},
            allow_retries=False,
        )


@dg.job(name="download", description="Downloads new and changed files of corpora from public sources.")
def download_job() -> None:
    """Download files; files that are up to date are left alone."""
    fetch_files()


@dg.job(name="scan", description="Scans the files of all corpora: adds new passages, reports changed ones.")
def scan_job() -> None:
    """Scan the files; unchanged passages cost no event."""
    look_at_files()


def _store(
    context: dg.AssetExecutionContext | dg.OpExecutionContext, warehouse: Warehouse, seen: Scan, report_all: bool
) -> int:
    """Write and report passages that differ from the warehouse or from Dagster; return their number."""
    changed: set[str] = set()
    _store_prose(context, warehouse, seen)
    for asset, frame in ASSETS.items():
        versions = seen.versions.select(
            pl.lit("").alias("model"), "passage", pl.lit("").alias("task"), pl.col(asset).alias("version"),
            pl.concat_str(pl.lit(CODE_VERSION), asset, "place").alias("fingerprint"),
            pl.lit(f"code:{CODE_VERSION}").alias("made_from"),
        )  # fmt: skip
        asset_key = pl.DataFrame({"asset": [asset]})
        stored = warehouse.read("materialization", asset_key, [*KEYS, "version", "fingerprint"])
        counts = getattr(seen, frame).group_by("passage").agg(row_count=pl.len().cast(pl.Int32))
        counted = pl.col("row_count").fill_null(0)
        versions = versions.join(counts, on="passage", how="left", maintain_order="left").with_columns(counted)
        stale = versions.join(stored, on=stored.columns, how="anti")
        if len(stale):
            rows = getattr(seen, frame).join(stale.select("passage", "fingerprint"), on="passage")
            states = stale.with_columns(pl.lit(asset).alias("asset"))
            keys = states.select("asset", *KEYS)
            warehouse.write(
                [Replacement(asset, rows, stale.select("passage")), Replacement("materialization", states, keys)],
                context.run.run_id,
            )
        events = heard(context.instance, dg.AssetKey(asset), PASSAGE, versions)
        current = versions.join(events, left_on=[*KEYS, "version"], right_on=[*KEYS, "heard"], how="semi")
        unreported = versions if report_all else versions.join(current, on=KEYS, how="anti")
        report(context, dg.AssetKey(asset), unreported, [], CODE_VERSION, ["passage"])
        changed.update(stale["passage"], unreported["passage"] if not report_all else [])
    return len(changed)


def _store_prose(context: dg.AssetExecutionContext | dg.OpExecutionContext, warehouse: Warehouse, seen: Scan) -> None:
    """Write changed continuous translations; remove translations that left the files of a corpus without faults."""
    stored = warehouse.read("prose", columns=[*BY_DOCUMENT, "fingerprint"])
    changed = seen.prose.select(stored.columns).join(stored, on=stored.columns, how="anti")
    gone = stored.filter(pl.col("corpus").is_in(seen.sound)).join(seen.prose, on=BY_DOCUMENT, how="anti")
    keys = pl.concat([changed, gone]).select(BY_DOCUMENT)
    if len(keys):
        rows = {table: getattr(seen, frame).join(changed, on=BY_DOCUMENT, how="semi") for table, frame in PROSE.items()}
        warehouse.write([Replacement(table, frame, keys) for table, frame in rows.items()], context.run.run_id)


def _retract(context: dg.OpExecutionContext, warehouse: Warehouse, seen: Scan) -> tuple[int, pl.DataFrame]:
    """Remove passages that left the files from every table; return their number, and counts of the removed rows.

    Passages missing from a corpus with faults stay, because a fault may hide them.
    """
    passages = pl.DataFrame({"passage": context.instance.get_dynamic_partitions("passage")}, schema=["passage"])
    gone = passages.filter(CORPUS.is_in(seen.sound)).join(seen.versions, on="passage", how="anti")
    return len(gone), remove(context, warehouse, gone)


def _failure(seen: Scan, gone: Sequence[str]) -> dg.Failure:
    remedy = "correct the files, or scan all files: `variorum scan`"
    lost = [BadInput(passage, "", "cannot be read from the files", remedy) for passage in gone]
    faults = [*seen.faults, *lost]
    return dg.Failure(
        f"faults in the corpora: {len(faults)}. Documents with faults keep their earlier rows; all others are up to "
        f"date. First: {faults[0]}",
        metadata={"faults": dg.MetadataValue.md(markdown(_table(faults), most=200))},
        allow_retries=False,
    )


def _table(faults: Sequence[BadInput]) -> pl.DataFrame:
    rows = [(fault.where, fault.key, fault.problem, fault.remedy) for fault in faults]
    return pl.DataFrame(rows, schema=["file", "key", "problem", "remedy"], orient="row")
