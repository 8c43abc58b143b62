"""The code location: assembles assets, jobs and resources, and defines nothing itself."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg

from benchmark_assets.accounts import assets as accounts
from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.alignment import assets as alignment
from benchmark_assets.audit import assets as audit
from benchmark_assets.automation import checks, jobs, sensors
from benchmark_assets.benchmarks import assets as benchmarks
from benchmark_assets.contamination import assets as contamination
from benchmark_assets.corpus import assets as corpus
from benchmark_assets.error_spans import assets as error_spans
from benchmark_assets.examination import assets as examination
from benchmark_assets.literary import assets as literary
from benchmark_assets.metrics import assets as metrics
from benchmark_assets.metrics.further import named
from benchmark_assets.pairwise import assets as pairwise
from benchmark_assets.people import assets as people
from benchmark_assets.references import assets as references
from benchmark_assets.reporting import assets as reporting
from benchmark_assets.reporting.cards import cards
from benchmark_assets.reporting.graph import numbered
from benchmark_assets.reporting.plots import plots
from benchmark_assets.selection import assets as selection
from benchmark_assets.sensitivity import assets as sensitivity
from benchmark_assets.translation import assets as translation
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding import assets as understanding
from benchmark_assets.validation import assets as validation
from benchmark_assets.vital_signs import assets as vital_signs
from resources import catalogue, stores
from resources.downloads.downloads import Downloads
from resources.modes import keep_private
from resources.notifications import Notifications

ROOMS = [
    corpus, alignment, selection, references, translation, accounts, metrics, contamination, sensitivity, reporting,
    adjudication, people, audit, examination, pairwise, error_spans, literary, understanding, validation, vital_signs,
    benchmarks,
]  # fmt: skip
OWNERS = ["team:variorum"]


def build_definitions(
    *, rooms: Sequence[ModuleType] = ROOMS, resource_overrides: Mapping[str, Any] | None = None
) -> dg.Definitions:
    """Assemble a fresh code location.

    Parameters
    ----------
    rooms
        Modules whose assets are included. They must include all rooms on which they depend. With fewer rooms, an update
        is faster.
    resource_overrides
        Resources that replace the defaults, by key: `warehouse`, `provider`, `embedder`, `comet`, `metrics`,
        `systems`, `notifications`, `downloads`, `plots`, `cards`. The default `systems` use the overridden warehouse
        and provider, if any. The provider's registry determines the default embedder, the checkpoints of metrics and
        the schedule of updates.

    Raises
    ------
    BadInput
        If the registry is invalid.
    """
    overrides = dict(resource_overrides or {})
    warehouse = overrides.get("warehouse") or stores.warehouse()
    provider = overrides.get("provider") or stores.provider()
    registry = provider.registry()
    resources = {
        "warehouse": warehouse,
        "provider": provider,
        "notifications": Notifications(),
        "downloads": Downloads(),
        "embedder": registry.chosen_embedder(),
        "comet": registry.chosen_comet(),
        "metrics": named(registry.metrics),
        "systems": Systems(warehouse=warehouse, provider=provider),
        "plots": plots,
        "cards": cards,
    }
    assets = [
        definition for definition in dg.load_assets_from_modules(rooms) if isinstance(definition, dg.AssetsDefinition)
    ]
    evaluate, update, remove = (
        make(lambda: location) for make in (jobs.evaluate_job, jobs.update_job, jobs.remove_job)
    )
    backup = jobs.backup_job()
    location = dg.Definitions(
        assets=dg.map_asset_specs(_described, assets),
        asset_checks=checks.checks(assets),
        jobs=[corpus.download_job, corpus.scan_job, evaluate, update, remove, backup],
        sensors=[
            sensors.new_models_sensor(evaluate),
            sensors.files_sensor(corpus.scan_job),
            sensors.dead_runs_sensor,
            sensors.failures_sensor,
        ],
        schedules=[
            sensors.reevaluation_schedule(update, registry.schedule, Path(provider.registry_path)),
            sensors.backup_schedule(backup),
        ],
        resources=resources | overrides,
        # One process per run: the embedder is loaded once, and the warehouse is opened by one process at a time.
        executor=dg.in_process_executor,
    )
    return location


def _described(spec: dg.AssetSpec) -> dg.AssetSpec:
    """Add owners to an asset, and the columns of its table as declared in the catalogue; number its group by stage."""
    schema = _column_schemas().get(spec.key.to_user_string())
    group = numbered(spec.group_name or "")
    return spec.replace_attributes(owners=OWNERS, group_name=group).merge_attributes(
        metadata={"dagster/column_schema": schema} if schema else {}
    )


@cache
def _column_schemas() -> Mapping[str, dg.TableSchema]:
    """Columns of every table in the catalogue, as Dagster's table schemas."""
    return {name: dg.TableSchema([*map(_column, table.columns.values())]) for name, table in catalogue.tables().items()}


def _column(column: catalogue.Column) -> dg.TableColumn:
    constraints = dg.TableColumnConstraints(nullable=column.nullable)
    return dg.TableColumn(column.name, column.type, column.meaning, constraints)


@dg.definitions
def defs() -> dg.Definitions:
    """The entry point that Dagster loads."""
    keep_private()
    return build_definitions()
