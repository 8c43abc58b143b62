"""Assets of adjudication: triage of outputs, judges' votes, the panel's verdicts, people's labels."""

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.consistency import consistency, preferences
from benchmark_assets.adjudication.panel import JudgeVotes, counted
from benchmark_assets.adjudication.triage import audits, banded, item_key
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.corpus.units import with_units
from benchmark_assets.examination.assets import judge_report
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.metrics.assets import REFERENCE, SOURCE, drift_score
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.partitions import GRID, SINGLE_RUN
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from resources.digest import digest
from resources.tables import shown
from resources.warehouse import Warehouse


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="adjudication", code_version="1", kinds={"duckdb"},
    deps=[model_output, drift_score],
)  # fmt: skip
def triage(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Drift band of each output, whether the output is queued for the panel, and whether it is sampled for people.

    A model's sample is drawn from all its outputs. When an output moves into a band, it may displace another output
    from the sample.
    """

    def rows(partitions: pl.DataFrame) -> pl.DataFrame:
        drifts = warehouse.read("drift_score", partitions.select("model").unique(), ["model", "passage", "drift"])
        return banded(drifts, audits(warehouse)).join(partitions, on=["model", "passage"], how="semi")

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        screened = pl.when("screened").then(pl.lit(" screened")).otherwise(pl.lit(""))
        words = pl.format("{} {} {}{}", "band", "queued", "sampled", screened)
        return rows(partitions).select("model", "passage", settings=words)

    def compute(stale: pl.DataFrame) -> Computed:
        texts = warehouse.read("model_output", stale, ["model", "passage", "text"])
        item = pl.struct("model", "passage", "text").map_elements(lambda row: item_key(**row), return_dtype=pl.String)
        items = texts.select("model", "passage", item=item)
        return Computed({"triage": rows(stale).join(items, on=["model", "passage"])})

    return refresh(context, warehouse, compute, settings)


judge_vote = study_asset(JudgeVotes, GRID, "adjudication", [triage, model_output, REFERENCE, SOURCE])


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="adjudication", code_version="1", kinds={"duckdb"},
    deps=[judge_vote, judge_report],
)  # fmt: skip
def verdict(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """The panel's verdict on an output, by majority of its judges. Votes of judges that failed their examination do not
    count."""

    def compute(stale: pl.DataFrame) -> Computed:
        return Computed({"verdict": verdicts(counted(warehouse.read("judge_vote", stale), warehouse))})

    return refresh(context, warehouse, compute, sparse=True, partial=True)


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="adjudication", code_version="1", kinds={"duckdb"},
    deps=[triage],
)  # fmt: skip
def human_label(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """People's labels of an output's current text. Labels of an earlier text do not apply."""

    def labels(partitions: pl.DataFrame) -> pl.DataFrame:
        items = warehouse.read("triage", partitions.select("model", "passage"), ["model", "passage", "item"])
        imported = warehouse.read("imported_label", items.select("item"))
        imported = imported.drop("file", "passage", "place", "run_id", "updated_at")
        return items.join(imported, on="item").drop("item").sort("model", "passage", "annotator")

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        fingerprints = pl.format("{} {}", "annotator", "fingerprint").str.join("\n")
        return labels(partitions).group_by("model", "passage", maintain_order=True).agg(settings=fingerprints)

    def compute(stale: pl.DataFrame) -> Computed:
        return Computed({"human_label": labels(stale).drop("fingerprint")})

    return refresh(context, warehouse, compute, settings, sparse=True)


@dg.asset(group_name="adjudication", code_version="2", kinds={"duckdb"}, deps=[human_label])
def annotator_consistency(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Consistency of annotators: agreement on repeated items, attention checks passed, and changes over time.

    Labels of outputs, and preferences between the two texts of a pair, are evaluated in separate rows.
    """

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        labels = warehouse.read("imported_label", columns=["item", "annotator", "place", "fingerprint"])
        labels = labels.select(pl.concat_str(pl.all().cast(pl.String), separator=" ", ignore_nulls=True))
        compared, _ = preferences(warehouse)
        applicable = partitions if len(labels) or len(compared) else partitions.clear()
        return applicable.with_columns(settings=pl.lit(digest(SIGNATURE, *labels.to_series(), compared.rows())))

    def compute(_: pl.DataFrame) -> Computed:
        labels = with_units(warehouse.read("imported_label"), warehouse)
        compared, controls = preferences(warehouse)
        rows = [
            consistency(labels, warehouse.read("control_item"), SIGNATURE),
            consistency(with_units(compared, warehouse), controls, SIGNATURE, "pairs"),
        ]
        return Computed({"annotator_consistency": pl.concat(rows)})

    def describe() -> dict[str, str]:
        return {"consistency": shown(warehouse.read("annotator_consistency"), "annotator_consistency")}

    return refresh(context, warehouse, compute, settings, describe, sparse=True)
