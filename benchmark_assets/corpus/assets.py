"""Assets of the corpus: the texts in its files, by passage, and the jobs that download and scan the files."""

import logging
from collections.abc import Iterator, Sequence

import dagster as dg
import polars as pl

from benchmark_assets.corpus.human_work import BY_PEOPLE, notices, recorded_labels
from benchmark_assets.corpus.registry import registered
from benchmark_assets.corpus.scan import Scan, covered, scan
from benchmark_assets.lineage import shards
from benchmark_assets.lineage.events import dagster_records, report, reported
from benchmark_assets.lineage.removal import KEPT, remove, words
from benchmark_assets.partitions import PASSAGE, partitioned
from resources.downloads.downloads import Downloads, Fetched
from resources.downloads.sources import wanted
from resources.errors import BadInput, collecting
from resources.keys import CORPUS, KEYS
from resources.notifications import Notifications
from resources.processes import PROCESS, process_tag
from resources.tables import markdown
from resources.warehouse import Replacement, Warehouse

logger = logging.getLogger("variorum.corpus")

CODE_VERSION = "1"
BY_SCAN = "variorum/by-scan"
"""Tag of the assets that are filled only by a scan of the files, and are therefore never stale."""

ASSETS = {"source_text": "source", "segmented_reference": "reference", "continuous_reference": "continuous"}
"""Maps each asset to the frame of a Scan that the asset stores."""

BESIDE = ("prose", "aside", "pair_doubt")
"""Tables whose rows are replaced by document and translator if the fingerprint changes, and frames of a Scan."""

MOST = 200
"""Maximum number of faults that a message lists."""

BY_DOCUMENT = ["corpus", "document", "translator"]


@dg.multi_asset(
    specs=[
        dg.AssetSpec(name, group_name="corpus", code_version=CODE_VERSION, kinds={"duckdb"}, tags={BY_SCAN: "yes"},
                     description=description)
        for name, description in {
            "source_text": "Source text of each passage, by segment, read from the files of its corpus.",
            "segmented_reference": "Human translations of each passage, divided into the segments of the source.",
            "continuous_reference": "Continuous translations of each passage's document, and their manual alignments.",
        }.items()
    ],
    **partitioned(PASSAGE),
    can_subset=False,
)  # fmt: skip
def corpus_text(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> Iterator[dg.Output[None]]:
    """Read the corpora of the requested passages again, store these passages, and report them to Dagster."""
    requested = shards.passages(warehouse, context.partition_keys)
    corpora = {passage.partition("/")[0] for passage in requested["passage"]}
    with warehouse.exclusively():
        contents = scan(registered(warehouse, corpora))
        contents = contents._replace(versions=contents.versions.join(requested, on="passage", how="semi"))
        _store(context, warehouse, contents, report_all=True)
    missing = requested.join(contents.versions, on="passage", how="anti")
    if len(missing):  # the job `scan` reports faults of other documents
        raise _scan_failure(contents, missing["passage"].to_list())
    yield from (reported(name) for name in ASSETS)


class Corpora(dg.Config):
    """Names of the corpora whose files are read or downloaded; null selects all imported corpora."""

    corpora: list[str] | None = None


@dg.op
def look_at_files(
    context: dg.OpExecutionContext, config: Corpora, warehouse: dg.ResourceParam[Warehouse],
    notifications: dg.ResourceParam[Notifications],
) -> None:  # fmt: skip
    """Read the imported corpora; add new passages, store and report changed ones, remove missing ones.

    Human work on missing passages is kept. A notification lists this work. It also lists imported outputs that
    translate an earlier version of their source.

    Raises
    ------
    dagster.Failure
        For faults in the files, after everything else is stored.
    """
    context.instance.add_run_tags(context.run_id, {PROCESS: process_tag(context.run_id)})
    with warehouse.exclusively():  # so that the second of two concurrent scans sees the rows of the first
        before = notices(warehouse)
        contents = scan(registered(warehouse, config.corpora))
        passages = contents.versions.select("passage")
        shards.divide(context.instance, warehouse, passages, context.run_id)
        removed, rows = _retract(context, warehouse, contents)
        changed = _store(context, warehouse, contents, report_all=False)  # last: reports shards that lost passages
        news = [notice for notice in notices(warehouse) if notice not in before]
    logger.info("%d passages in the files, %d changed, %d removed", len(passages), changed, removed)
    if removed:
        logger.info("rows removed with the passages: %s", words(rows))
    for notice in news:
        notifications.send(notice)
    counts = {"passages": len(passages), "changed": changed, "gone": removed}
    coverage = markdown(covered(contents.coverage).with_columns(pl.col("share").round(4)), most=MOST)
    tables = {"removed": markdown(rows), "notices": "\n\n".join(news), "coverage": coverage}
    context.add_output_metadata(counts | {name: dg.MetadataValue.md(text) for name, text in tables.items()})
    if contents.faults:
        raise _scan_failure(contents, [])


@dg.op
def fetch_files(
    context: dg.OpExecutionContext, config: Corpora, warehouse: dg.ResourceParam[Warehouse],
    downloads: dg.ResourceParam[Downloads],
) -> None:  # fmt: skip
    """Download new and changed files of the corpora from their public sources.

    Raises
    ------
    dagster.Failure
        If a file cannot be fetched, or a corpus has a fault: an unusable description, an unknown source or text, an
        unusable folder or manifest. All other files are fetched first.
    """
    context.instance.add_run_tags(context.run_id, {PROCESS: process_tag(context.run_id)})
    fetched: list[Fetched] = []
    faults: list[BadInput] = []
    for description in registered(warehouse, config.corpora):
        if isinstance(description, BadInput):
            faults += description.faults
        elif description.downloads:
            with collecting(faults):
                result = downloads.fetch(wanted(description.downloads, description.name), description.root)
                fetched += result.fetched
                faults += result.faults
    records = [(file.state, file.record.url, file.record.licence) for file in fetched]
    table = pl.DataFrame(records, schema=["state", "url", "licence"], orient="row")
    context.add_output_metadata({"files": len(fetched), "fetched": dg.MetadataValue.md(markdown(table, most=200))})
    if faults:
        raise _failure(f"{len(fetched)} files are up to date, but there are {len(faults)} faults.", faults)


@dg.job(name="download", description="Downloads new and changed files of the corpora from their public sources.")
def download_job() -> None:
    """Download files of the corpora. The job `scan` then reads the files."""
    fetch_files()


@dg.job(
    name="scan", description="Reads the files of all corpora; stores new and changed passages, removes missing ones."
)
def scan_job() -> None:
    """Scan the files of all corpora. Unchanged passages are not reported to Dagster again."""
    look_at_files()


def _store(
    context: dg.AssetExecutionContext | dg.OpExecutionContext, warehouse: Warehouse, contents: Scan, report_all: bool
) -> int:
    """Write the changed passages and report them, or report all passages if `report_all`; return how many changed.

    A passage counts as changed if its rows differ from the warehouse or, unless it belongs to a shard, its version
    differs from Dagster's record.
    """
    changed: set[str] = set()
    for table in BESIDE:
        _store_beside(warehouse, contents, table, context.run.run_id)
    for asset, frame in ASSETS.items():
        versions = contents.versions.select(
            pl.lit("").alias("model"), "passage", pl.lit("").alias("task"), pl.col(asset).alias("version"),
            pl.concat_str(pl.lit(CODE_VERSION), asset, "place").alias("fingerprint"),
            pl.lit(f"code:{CODE_VERSION}").alias("made_from"),
        )  # fmt: skip
        asset_key = pl.DataFrame({"asset": [asset]})
        stored = warehouse.read("materialization", asset_key, [*KEYS, "version", "fingerprint"])
        counts = getattr(contents, frame).group_by("passage").agg(row_count=pl.len().cast(pl.Int32))
        counted = pl.col("row_count").fill_null(0)
        versions = versions.join(counts, on="passage", how="left", maintain_order="left").with_columns(counted)
        stale = versions.join(stored, on=stored.columns, how="anti")
        if len(stale):
            rows = getattr(contents, frame).join(stale.select("passage", "fingerprint"), on="passage")
            states = stale.with_columns(pl.lit(asset).alias("asset"))
            keys = states.select("asset", *KEYS)
            warehouse.write(
                [Replacement(asset, rows, stale.select("passage")), Replacement("materialization", states, keys)],
                context.run.run_id,
            )
        keyed = _by_key(warehouse, asset, versions.select(*KEYS, "version", "row_count"))
        records = dagster_records(context.instance, dg.AssetKey(asset), PASSAGE, keyed)
        current = keyed.join(records, left_on=[*KEYS, "version"], right_on=[*KEYS, "reported_version"], how="semi")
        unreported = keyed.join(current, on=KEYS, how="anti")
        report(context, dg.AssetKey(asset), keyed if report_all else unreported, [], CODE_VERSION, ["passage"])
        changed.update(stale["passage"], unreported.join(versions, on="passage", how="semi")["passage"])
    return len(changed)


def _by_key(warehouse: Warehouse, asset: str, versions: pl.DataFrame) -> pl.DataFrame:
    """Versions by Dagster's keys. The version of a shard covers all its stored passages, also those that are not in
    `versions` because their document has a fault."""
    of = shards.around(warehouse, versions.select("passage"))
    if of.is_empty():
        return versions
    stored = warehouse.read("materialization", of.select("passage", asset=pl.lit(asset)), versions.columns)
    single = versions.join(of, on="passage", how="anti")
    return pl.concat([single, shards.collapsed(stored, of)])


def _store_beside(warehouse: Warehouse, contents: Scan, table: str, run_id: str) -> None:
    """Write changed rows of `table`, one of BESIDE. Remove rows that are no longer in the files of their corpus.

    Nothing is removed from a corpus with faults, because a fault may hide a translation or an aside; only doubts about
    documents that were read.
    """
    stored = warehouse.read(table, columns=[*BY_DOCUMENT, "fingerprint"]).unique()
    read = getattr(contents, table).select(stored.columns).unique()
    changed = read.join(stored, on=stored.columns, how="anti")
    known = pl.col("corpus").is_in(contents.sound)
    if table == "pair_doubt":
        documents = contents.source.select(pl.struct("corpus", "document"))
        known |= pl.struct("corpus", "document").is_in(documents.to_series().implode())
    obsolete = stored.filter(known).join(read, on=BY_DOCUMENT, how="anti")
    keys = pl.concat([changed, obsolete]).select(BY_DOCUMENT).unique()
    if len(keys):
        rows = getattr(contents, table).join(changed, on=BY_DOCUMENT, how="semi")
        warehouse.write([Replacement(table, rows, keys)], run_id)


def _retract(context: dg.OpExecutionContext, warehouse: Warehouse, contents: Scan) -> tuple[int, pl.DataFrame]:
    """Remove passages that are no longer in the files from all tables except those in BY_PEOPLE.

    Returns the number of these passages, and the number of rows removed from each table.

    Passages of a corpus with faults are kept, because a fault may hide them. Also removed are rows of a passage whose
    partition a person deleted on Dagster's pages.
    """
    keys = shards.passages(warehouse, context.instance.get_dynamic_partitions("passage")).select("passage")
    passages = pl.concat([keys, warehouse.read("source_text", columns=["passage"])]).unique(maintain_order=True)
    obsolete = passages.filter(CORPUS.is_in(contents.sound)).join(contents.versions, on="passage", how="anti")
    labels = recorded_labels(warehouse, obsolete)
    return len(obsolete), remove(context, warehouse, obsolete, labels, keep=KEPT.union(BY_PEOPLE))


def _scan_failure(contents: Scan, missing: Sequence[str]) -> dg.Failure:
    """Return a failure that reports the faults in the files, and the requested passages that the files do not
    contain."""
    remedy = "correct the files, or scan all files with `variorum scan`"
    unreadable = [BadInput(passage, "", "cannot be read from the files", remedy) for passage in missing]
    faults = [*contents.faults, *unreadable]
    count = f"faults in the corpora: {len(faults)}."
    return _failure(f"{count} Documents with faults keep their earlier rows; all others are up to date.", faults)


def _failure(summary: str, faults: Sequence[BadInput]) -> dg.Failure:
    """Return a failure without retries. Its metadata has a table of all faults."""
    rows = [(fault.where, fault.key, fault.problem, fault.remedy) for fault in faults]
    table = pl.DataFrame(rows, schema=["file", "key", "problem", "remedy"], orient="row")
    metadata = {"faults": dg.MetadataValue.md(markdown(table, most=MOST))}
    lines = [*map(str, faults[:MOST]), *([f"and {len(faults) - MOST} more faults"] if len(faults) > MOST else [])]
    return dg.Failure(
        (" " if len(lines) == 1 else "\n").join([summary, *lines]), metadata=metadata, allow_retries=False
    )
