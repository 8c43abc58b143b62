"""Assets of people's answers: labels of outputs, and the consistency of annotators.

Not here: people's agreement on errors, which includes judges (error_spans), pairs (literary).
"""

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.assets import triage
from benchmark_assets.adjudication.verdicts import KEY
from benchmark_assets.corpus.units import with_units
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.partitions import GRID, partitioned
from benchmark_assets.people.agreement import with_errors
from benchmark_assets.people.applicable import applicable, fingerprints
from benchmark_assets.people.consistency import consistency, preferences, steadiness
from benchmark_assets.people.exhibits import CONSISTENCY
from benchmark_assets.people.forms import PAIR_FORM
from benchmark_assets.people.second_pass import drawn_outputs, finals
from resources.digest import digest
from resources.warehouse import Warehouse

IMPORTED = ("imported_label", "imported_annotation")
"""Tables of answers about the sample: labels, and scores with errors."""


@dg.asset(
    **partitioned(GRID), group_name="adjudication", code_version="1", kinds={"duckdb"}, deps=[triage],
    metadata={"tables": ["final_label"]},
)  # fmt: skip
def human_label(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """People's labels of an output's current text, without those of people who failed their control items.

    Labels of an earlier text do not apply. Labels of a second pass are kept apart, with the final labels that follow.
    """

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        draws, second = drawn_outputs(warehouse, partitions)
        draws = draws.select(*KEY, annotator="stratum", fingerprint=pl.col("probability").cast(pl.String))
        labels = applicable(warehouse, "imported_label", partitions)
        return fingerprints(pl.concat(each.select(draws.columns) for each in (labels, draws, second)))

    def compute(stale: pl.DataFrame) -> Computed:
        labels = applicable(warehouse, "imported_label", stale)
        final = finals(labels, *reversed(drawn_outputs(warehouse, stale)))
        labels = labels.drop("item", "file", "place", "fingerprint", "run_id", "updated_at")
        return Computed({"human_label": labels, "final_label": final})

    return refresh(context, warehouse, compute, settings, sparse=True)


@dg.asset(group_name="adjudication", code_version="4", kinds={"duckdb"}, deps=[human_label])
def annotator_consistency(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Consistency of annotators: agreement on repeated items, checks passed, standing, and changes over time.

    Labels of outputs, preferences between the two texts of a pair, and errors are evaluated in separate rows.
    """

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        columns = ["item", "annotator", "place", "fingerprint"]
        labels, annotations = (warehouse.read(table, columns=columns).rows() for table in IMPORTED)
        compared = preferences(warehouse)[0].drop("updated_at").rows()
        applicable = partitions if labels or annotations or compared else partitions.clear()
        return applicable.with_columns(settings=pl.lit(digest(SIGNATURE, labels, compared, annotations)))

    def compute(_: pl.DataFrame) -> Computed:
        labels, annotations = (with_units(warehouse.read(table), warehouse) for table in IMPORTED)
        controls = warehouse.read("control_item")
        compared, controls_of_pairs = preferences(warehouse)
        rows = [
            consistency(labels, controls, SIGNATURE),
            consistency(with_units(compared, warehouse), controls_of_pairs, SIGNATURE, PAIR_FORM),
            steadiness(with_errors(annotations, warehouse.read("imported_span"), controls), SIGNATURE),
        ]
        return Computed({"annotator_consistency": pl.concat(rows)})

    return refresh(context, warehouse, compute, settings, [CONSISTENCY], sparse=True)
