"""The code location: the only place where assets, jobs and resources meet. Assemble here; define nothing here."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from benchmark_assets.automation import jobs
from benchmark_assets.corpus import assets as corpus
from benchmark_assets.metrics import assets as metrics
from benchmark_assets.references import assets as references
from benchmark_assets.reporting import assets as reporting
from benchmark_assets.translation import assets as translation
from resources.embedders import SentenceTransformerEmbedder
from resources.home import home
from resources.systems import Systems
from resources.warehouse import Warehouse

OWNERS = ["team:variorum"]


def build_definitions(*, resource_overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """Assemble the code location anew.

    Parameters
    ----------
    resource_overrides
        Resources that take the place of those of the same key: `warehouse`, `embedder`, `systems`. An overridden
        warehouse also serves the default `systems`.
    """
    given = dict(resource_overrides or {})
    warehouse = given.get("warehouse", Warehouse(path=str(home() / "variorum.duckdb")))
    resources = {
        "warehouse": warehouse,
        "embedder": SentenceTransformerEmbedder(),
        "systems": Systems(warehouse=warehouse),
    }
    assets = [
        definition
        for definition in dg.load_assets_from_modules([corpus, references, translation, metrics, reporting])
        if isinstance(definition, dg.AssetsDefinition)
    ]
    return dg.Definitions(
        assets=dg.map_asset_specs(lambda spec: spec.replace_attributes(owners=OWNERS), assets),
        jobs=[
            corpus.scan_job,
            jobs.references_job,
            jobs.translate_job,
            jobs.score_job,
            jobs.summary_job,
            jobs.leaderboard_job,
        ],
        resources=resources | given,
        # One process a run: the embedder loads once, and one connection at a time asks for the warehouse.
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """What Dagster loads."""
    return build_definitions()
