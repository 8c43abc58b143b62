"""Jobs that materialize stale partitions, started from Dagster's UI, by sensors or by the schedule.

Each is one op that drives runs (automation.runs). The jobs that scan and download files are in the corpus room. Not
here: when jobs run (sensors).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import dagster as dg

from benchmark_assets.automation import removal, runs
from benchmark_assets.automation.due import Scope
from benchmark_assets.lineage.removal import words
from benchmark_assets.translation.systems import Systems
from resources.errors import BadInput
from resources.notifications import Notifications
from resources.processes import PROCESS, process_tag
from resources.tables import markdown
from resources.warehouse import Warehouse

Location = Callable[[], dg.Definitions]
"""Returns the code location. Jobs are part of it, so they can get it only when they run."""

ONE_AT_A_TIME = {"variorum/driver": "yes"}
"""Run tag: dagster.yaml lets one run with this tag execute at a time."""


class Models(dg.Config):
    """Names of models. Without names, only assets that do not depend on a single model are updated."""

    models: list[str]


class Update(dg.Config):
    """`probe`: first ask each model for the version that it serves."""

    probe: bool = True


class Removal(dg.Config):
    """What to remove."""

    kind: Literal["model", "corpus", "task", "baseset"]
    name: str


def evaluate_job(location: Location) -> dg.JobDefinition:
    """The job `evaluate`."""

    @dg.op
    def evaluate_models(context: dg.OpExecutionContext, config: Models) -> None:
        """Materialize stale partitions of these models, from outputs to leaderboard."""
        with _driving(context):
            runs.evaluate(location(), context.instance, *config.models)

    return _job("evaluate", evaluate_models, "Materializes stale partitions of models, from outputs to leaderboard.")


def update_job(location: Location) -> dg.JobDefinition:
    """The job `update`."""

    @dg.op
    def update_everything(context: dg.OpExecutionContext, config: Update) -> None:
        """Materialize all stale partitions, after reporting the estimated cost."""
        with _driving(context):
            runs.update(location(), context.instance, probe=config.probe)

    return _job("update", update_everything, "Materializes all stale partitions, within budget.")


def remove_job(location: Location) -> dg.JobDefinition:
    """The job `remove`."""

    @dg.op
    def remove_rows(
        context: dg.OpExecutionContext, config: Removal, warehouse: dg.ResourceParam[Warehouse],
        systems: dg.ResourceParam[Systems], notifications: dg.ResourceParam[Notifications],
    ) -> None:  # fmt: skip
        """Remove a model, a corpus, a task or a base set, then update everything downstream."""
        removed = {
            "model": removal.model, "corpus": removal.corpus, "task": removal.task, "baseset": removal.base_set
        }[config.kind]  # fmt: skip
        with _driving(context):
            rows = removed(context, warehouse, systems, config.name)
            context.add_output_metadata({"removed": dg.MetadataValue.md(markdown(rows))})
            notifications.send(f"removed {config.kind} {config.name}: {words(rows) or 'it had no rows'}")
            runs.update(location(), context.instance, Scope(corpora=[]))

    return _job("remove", remove_rows, "Removes a model, a corpus, a task or a base set from every table.")


def _job(name: str, op: dg.OpDefinition, description: str) -> dg.JobDefinition:
    """A job of one op."""
    return dg.GraphDefinition(name, node_defs=[op], description=description).to_job(tags=ONE_AT_A_TIME)


@contextmanager
def _driving(context: dg.OpExecutionContext) -> Iterator[None]:
    """Tag the run with this process, and fail it with the first failure of the runs that it drives."""
    context.instance.add_run_tags(context.run_id, {PROCESS: process_tag(context.run_id)})
    try:
        yield
    except (runs.RunFailedError, BadInput) as failure:
        raise dg.Failure(str(failure), allow_retries=False) from failure
