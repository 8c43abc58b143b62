"""Jobs that materialize stale partitions, back up the home, or remove a model, corpus, task or base set.

Dagster's UI, sensors and schedules start these jobs. Each job has a single op; if assets have to be materialized, the
op starts their runs (automation.runs). Not here: the jobs that scan and download files (corpus.assets), when jobs run
(sensors).
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import dagster as dg

from benchmark_assets.automation import removal, runs, safekeeping
from benchmark_assets.automation.due import Scope
from benchmark_assets.lineage.removal import words
from benchmark_assets.translation.systems import Systems
from resources import removals
from resources.errors import BadInput, RunFailedError
from resources.notifications import Notifications
from resources.processes import PROCESS, process_tag
from resources.provider.provider import Provider
from resources.tables import markdown
from resources.warehouse import Warehouse

Location = Callable[[], dg.Definitions]
"""Function that returns the code location. Jobs call it only when they run, since the location contains the jobs."""

ONE_AT_A_TIME = {"variorum/driver": "yes"}
"""Tags of these jobs' runs. dagster.yaml allows only one run with the first tag at a time."""


class Models(dg.Config):
    """Names of models to evaluate. With an empty list, only assets without partitions are updated."""

    models: list[str]


class Update(dg.Config):
    """`probe`: whether to begin by asking each model's endpoint which version it serves."""

    probe: bool = True


class RemovalConfig(dg.Config):
    """`kind` and `name` of the model, corpus, task or base set to remove. For the kind `kept`, `name` is a corpus."""

    kind: Literal["model", "corpus", "task", "baseset", "kept"]
    name: str


def evaluate_job(location: Location) -> dg.JobDefinition:
    """The job `evaluate`, which materializes stale partitions of a list of models."""

    @dg.op
    def evaluate_models(context: dg.OpExecutionContext, config: Models) -> None:
        """Materializes stale partitions of models, from outputs to leaderboard."""
        with _driving(context):
            runs.evaluate(location(), context.instance, *config.models)

    return _job("evaluate", evaluate_models)


def update_job(location: Location) -> dg.JobDefinition:
    """The job `update`, which materializes all stale partitions."""

    @dg.op
    def update_everything(context: dg.OpExecutionContext, config: Update) -> None:
        """Checks whole tables, then materializes all stale partitions within budget, after reporting their cost."""
        with _driving(context):
            runs.update(location(), context.instance, probe=config.probe, whole=True)

    return _job("update", update_everything)


def backup_job() -> dg.JobDefinition:
    """The job `backup`, which copies the home into the folder that `VARIORUM_BACKUPS` names."""

    @dg.op
    def back_up_home(
        context: dg.OpExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider]
    ) -> None:
        """Copies the home into the folder that `VARIORUM_BACKUPS` names, while other runs continue."""
        with _driving(context):
            folder = os.environ.get("VARIORUM_BACKUPS")
            if not folder:
                raise BadInput("VARIORUM_BACKUPS", "", "is not set", "set it to a folder for backups, on another disk")
            context.log.info(safekeeping.back_up(warehouse, provider, Path(folder)))

    return _job("backup", back_up_home, {})


def remove_job(location: Location) -> dg.JobDefinition:
    """The job `remove`, which removes a model, corpus, task or base set, or people's work that a scan kept."""

    @dg.op
    def remove_rows(
        context: dg.OpExecutionContext, config: RemovalConfig, warehouse: dg.ResourceParam[Warehouse],
        systems: dg.ResourceParam[Systems], notifications: dg.ResourceParam[Notifications],
    ) -> None:  # fmt: skip
        """Removes a model, corpus, task or base set, or a corpus's kept work; then updates everything downstream."""
        remove = {
            "model": removal.model, "corpus": removal.corpus, "task": removal.task, "baseset": removal.base_set,
            "kept": removal.kept,
        }[config.kind]  # fmt: skip
        with _driving(context):
            rows = remove(context, warehouse, systems, config.name)
            removals.write(warehouse.folder, removals.recorded(warehouse))
            context.add_output_metadata({"removed": dg.MetadataValue.md(markdown(rows))})
            notifications.send(f"removed {config.kind} {config.name}: {words(rows) or 'no rows'}")
            runs.update(location(), context.instance, Scope(corpora=[]))

    return _job("remove", remove_rows)


def _job(name: str, op: dg.OpDefinition, tags: Mapping[str, str] = ONE_AT_A_TIME) -> dg.JobDefinition:
    """A job of one op, with the op's description."""
    return dg.GraphDefinition(name, node_defs=[op], description=op.description).to_job(tags=tags)


@contextmanager
def _driving(context: dg.OpExecutionContext) -> Iterator[None]:
    """Tag the job's run with this process, and fail the job if a run that it starts fails."""
    context.instance.add_run_tags(context.run_id, {PROCESS: process_tag(context.run_id)})
    try:
        yield
    except (RunFailedError, BadInput) as failure:
        raise dg.Failure(str(failure), allow_retries=False) from failure
