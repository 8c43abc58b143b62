"""Jobs that bring things up to date: buttons in Dagster's UI, and what sensors and the schedule start.

Each is one op that drives runs (automation.runs). The look at the files is a job of the corpus. Not here: when they run
(sensors).
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
"""The code location; jobs are a part of it, so they can ask for it only when they run."""

ONE_AT_A_TIME = {"variorum/driver": "yes"}
"""Tag of the jobs of which dagster.yaml lets one run at a time."""


class Models(dg.Config):
    """Names of models; with none, only what depends on no single model."""

    models: list[str]


class Update(dg.Config):
    """`probe`: ask each model which version of it answers, first."""

    probe: bool = True


class Removal(dg.Config):
    """What is to go."""

    kind: Literal["model", "corpus", "task", "baseset"]
    name: str


def evaluate_job(location: Location) -> dg.JobDefinition:
    """The job `evaluate`."""

    @dg.op
    def evaluate_models(context: dg.OpExecutionContext, config: Models) -> None:
        """Bring these models up to date, from their outputs to the leaderboard."""
        with _driving(context):
            runs.evaluate(location(), context.instance, *config.models)

    return _job("evaluate", evaluate_models, "Brings models up to date, up to the leaderboard.")


def update_job(location: Location) -> dg.JobDefinition:
    """The job `update`."""

    @dg.op
    def update_everything(context: dg.OpExecutionContext, config: Update) -> None:
        """Bring everything that is due up to date; say first what it will cost."""
        with _driving(context):
            runs.update(location(), context.instance, probe=config.probe)

    return _job("update", update_everything, "Brings everything that is due up to date, within budget.")


def remove_job(location: Location) -> dg.JobDefinition:
    """The job `remove`."""

    @dg.op
    def remove_rows(
        context: dg.OpExecutionContext, config: Removal, warehouse: dg.ResourceParam[Warehouse],
        systems: dg.ResourceParam[Systems], notifications: dg.ResourceParam[Notifications],
    ) -> None:  # fmt: skip
        """Remove a model, a corpus, a task or a base set, then bring up to date what was computed from it."""
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
    """Mark the run as this process's, and end it with the first failure of the runs that it drove."""
    context.instance.add_run_tags(context.run_id, {PROCESS: process_tag(context.run_id)})
    try:
        yield
    except (runs.RunFailedError, BadInput) as failure:
        raise dg.Failure(str(failure), allow_retries=False) from failure
