"""Assets of the corpus: what the files say, passage by passage, and the job that looks at them."""

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
"""Tag of assets that a look at the files fills, and nothing else: they are never due."""

ASSETS = {"source_text": "source", "segmented_reference": "reference", "continuous_reference": "continuous"}
"""The frame of a Scan that each asset holds."""

PROSE = {"prose": "prose", "prose_aside": "aside"}
"""Tables by document, and the frames that they hold."""

BY_DOCUMENT = ["corpus", "document", "translator"]


@dg.multi_asset(
    specs=[
        dg.AssetSpec(name, group_name="corpus", code_version=CODE_VERSION, kinds={"duckdb"}, tags={BY_SCAN: "yes"},
                     description=description)
        for name, description in {
            "source_text": "Source of each passage, in its segments, as the files of its corpus have it.",
            "segmented_reference": "Human translations in the segments of the source, as the files have them.",
            "continuous_reference": "Continuous translations in which a passage is to be found, and hand corrections.",
        }.items()
    ],
    partitions_def=PASSAGE,
    backfill_policy=SINGLE_RUN,
    can_subset=False,
)  # fmt: skip
def corpus_text(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> Iterator[dg.Output[None]]:
    """Read the documents of the passages asked for again and report those passages."""
    asked = pl.DataFrame({"passage": context.partition_keys})
    corpora = {passage.partition("/")[0] for passage in asked["passage"]}
    with warehouse.exclusively():
        seen = scan(registered(warehouse, corpora))
        found = seen._replace(versions=seen.versions.join(asked, on="passage", how="semi"))
        _store(context, warehouse, found, report_all=True)
    gone = asked.join(found.versions, on="passage", how="anti")
    if len(gone):  # faults of documents that were not asked for are the scan's business
        raise _failure(seen, gone["passage"].to_list())
    yield from (reported(name) for name in ASSETS)


@dg.op
def look_at_files(context: dg.OpExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> None:
    """Read every imported corpus; add the passages that are new, store and report those that changed."""
    context.instance.add_run_tags(context.run_id, {PROCESS: process_tag(context.run_id)})
    with warehouse.exclusively():  # of two looks at once, the second one sees what the first one stored
        seen = scan(registered(warehouse))
        new = seen.versions["passage"].to_list()
        known = set(context.instance.get_dynamic_partitions("passage"))
        context.instance.add_dynamic_partitions("passage", [passage for passage in new if passage not in known])
        changed = _store(context, warehouse, seen, report_all=False)
        gone, rows = _retract(context, warehouse, seen)
    logger.info("%d passages in the files, %d changed, %d gone", len(new), changed, gone)
    if gone:
        logger.info("gone with them: %s", words(rows))
    context.add_output_metadata(
        {"passages": len(new), "changed": changed, "gone": gone, "removed": dg.MetadataValue.md(markdown(rows))}
    )
    if seen.faults:
        raise _failure(seen, [])


@dg.op
def fetch_files(
    context: dg.OpExecutionContext, warehouse: dg.ResourceParam[Warehouse], downloads: dg.ResourceParam[Downloads]
) -> None:
    """Bring the files of corpora that lie at a public source up to date; the look at the files is what takes them in.

    Raises
    ------
    dagster.Failure
        For faults, after everything that could be fetched is here.
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
    records = [(each.state, each.record.url, each.record.licence) for each in fetched]
    table = pl.DataFrame(records, schema=["state", "url", "licence"], orient="row")
    context.add_output_metadata({"files": len(fetched), "fetched": dg.MetadataValue.md(markdown(table, most=200))})
    if faults:
        raise dg.Failure(
            f"{len(fetched)} files are here, {len(faults)} faults. First: {faults[0]}",
            metadata={"faults": dg.MetadataValue.md(markdown(_table(faults), most=200))},
            allow_retries=False,
        )


@dg.job(name="download", description="Fetches the files of corpora that lie at a public source; asks only for changes.")
def download_job() -> None:
    """Files that are up to date are left alone."""
    fetch_files()


@dg.job(name="scan", description="Looks at the files of all corpora: new passages appear, changed ones are reported.")
def scan_job() -> None:
    """One look at the files; unchanged passages cost no event."""
    look_at_files()


def _store(
    context: dg.AssetExecutionContext | dg.OpExecutionContext, warehouse: Warehouse, seen: Scan, report_all: bool
) -> int:
    """Write and report what differs from the warehouse and from Dagster; return how many passages did."""
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
        known = heard(context.instance, dg.AssetKey(asset), PASSAGE, versions)
        told = versions.join(known, left_on=[*KEYS, "version"], right_on=[*KEYS, "heard"], how="semi")
        due = versions if report_all else versions.join(told, on=KEYS, how="anti")
        report(context, dg.AssetKey(asset), due, [], CODE_VERSION, ["passage"])
        changed.update(stale["passage"], due["passage"] if not report_all else [])
    return len(changed)


def _store_prose(context: dg.AssetExecutionContext | dg.OpExecutionContext, warehouse: Warehouse, seen: Scan) -> None:
    """Write continuous translations that changed; remove those that have left the files of a sound corpus."""
    stored = warehouse.read("prose", columns=[*BY_DOCUMENT, "fingerprint"])
    changed = seen.prose.select(stored.columns).join(stored, on=stored.columns, how="anti")
    gone = stored.filter(pl.col("corpus").is_in(seen.sound)).join(seen.prose, on=BY_DOCUMENT, how="anti")
    keys = pl.concat([changed, gone]).select(BY_DOCUMENT)
    if len(keys):
        rows = {table: getattr(seen, frame).join(changed, on=BY_DOCUMENT, how="semi") for table, frame in PROSE.items()}
        warehouse.write([Replacement(table, own, keys) for table, own in rows.items()], context.run.run_id)


def _retract(context: dg.OpExecutionContext, warehouse: Warehouse, seen: Scan) -> tuple[int, pl.DataFrame]:
    """Remove passages that are in no file any more from every table; return how many, and the rows that went.

    Where a corpus has a fault, its missing passages may only be hidden by it, and stay.
    """
    passages = pl.DataFrame({"passage": context.instance.get_dynamic_partitions("passage")}, schema=["passage"])
    gone = passages.filter(CORPUS.is_in(seen.sound)).join(seen.versions, on="passage", how="anti")
    return len(gone), remove(context, warehouse, gone)


def _failure(seen: Scan, gone: Sequence[str]) -> dg.Failure:
    lost = [
        BadInput(passage, "", "cannot be read from the files", "mend them, or look at all files") for passage in gone
    ]
    faults = [*seen.faults, *lost]
    return dg.Failure(
        f"faults in the corpora: {len(faults)}. Their documents were left as they were, all others are up to date. "
        f"First: {faults[0]}",
        metadata={"faults": dg.MetadataValue.md(markdown(_table(faults), most=200))},
        allow_retries=False,
    )


def _table(faults: Sequence[BadInput]) -> pl.DataFrame:
    rows = [(fault.where, fault.key, fault.problem, fault.remedy) for fault in faults]
    return pl.DataFrame(rows, schema=["file", "key", "problem", "remedy"], orient="row")
