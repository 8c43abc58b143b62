"""Sensors and the schedule, which start jobs automatically. Not here: the jobs (jobs).

A sensor or schedule that may cost money is off until it is turned on in Dagster's UI.
"""

import json
import os
from hashlib import blake2b
from pathlib import Path

import dagster as dg

from benchmark_assets.automation import runs, settling
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.readers.files import visible
from benchmark_assets.corpus.registry import registered
from benchmark_assets.translation.systems import Systems
from resources.errors import BadInput
from resources.home import home
from resources.notifications import Notifications
from resources.warehouse import Warehouse

SECONDS = 30
"""Shortest time between two evaluations of a sensor that starts runs."""

WATCHING = 60
"""Shortest time between two evaluations of a sensor that is on by default: each takes 60 ms of a core."""


def new_models_sensor(job: dg.JobDefinition) -> dg.SensorDefinition:
    """The sensor `new_models`, which starts the job `evaluate`.

    Models that already have outputs when the sensor is turned on do not count as new.
    """

    @dg.sensor(
        name="new_models", job=job, minimum_interval_seconds=SECONDS,
        description="Evaluates models that are newly registered or imported, and marks models that were removed.",
    )  # fmt: skip
    def new_models(
        context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Systems]
    ) -> dg.SensorResult | dg.SkipReason:
        try:
            models = systems.applicable()
        except BadInput as fault:  # the registry is being edited
            return dg.SkipReason(str(fault))
        evaluated = set(warehouse.read("model_output", columns=["model"])["model"].unique())
        before = set(json.loads(context.cursor)) if context.cursor else evaluated
        additions = [model for model in models if model not in before]
        removals = evaluated & before - set(models)
        if not additions and not removals:
            return dg.SkipReason(f"no new model among {len(models)}")
        # One run per model, so that the failure of one does not stop the others.
        groups = [[model] for model in additions] or [[]]
        configs = [{"ops": {"evaluate_models": {"config": {"models": group}}}} for group in groups]
        return dg.SensorResult(
            run_requests=[dg.RunRequest(run_config=config) for config in configs],
            dynamic_partitions_requests=[dg.AddDynamicPartitionsRequest("model", additions)] if additions else [],
            cursor=json.dumps(models),
        )

    return new_models


def files_sensor(job: dg.JobDefinition) -> dg.SensorDefinition:
    """The sensor `changed_files`, which starts the job `scan`."""

    @dg.sensor(
        name="changed_files", job=job, minimum_interval_seconds=SECONDS,
        description="Scans the files of all corpora after a file was written, added or removed.",
    )  # fmt: skip
    def changed_files(
        context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]
    ) -> dg.SensorResult | dg.SkipReason:
        state = _state([corpus for corpus in registered(warehouse) if isinstance(corpus, Description)])
        if state == context.cursor:
            return dg.SkipReason("no file changed")
        return dg.SensorResult(run_requests=[dg.RunRequest()], cursor=state)

    return changed_files


@dg.sensor(
    name="dead_runs", minimum_interval_seconds=WATCHING, default_status=dg.DefaultSensorStatus.RUNNING,
    description="Reports runs as failed if their process was killed, so that they do not block other runs.",
)  # fmt: skip
def dead_runs_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Report unfinished runs without a process as failed. On by default: a killed run would block the next run."""
    settling.settle_the_dead(context.instance)
    return dg.SkipReason("this sensor starts no runs")


@dg.run_failure_sensor(
    name="failures", minimum_interval_seconds=WATCHING, default_status=dg.DefaultSensorStatus.RUNNING,
    description="Sends a message when a run fails, except for runs whose failure is reported by a job or a command.",
)  # fmt: skip
def failures_sensor(context: dg.RunFailureSensorContext, notifications: dg.ResourceParam[Notifications]) -> None:
    """Send the name of the failed job and the reason why its first failed step failed."""
    if runs.NOT_AGAIN in context.dagster_run.tags:
        return
    reason = next(settling.reasons(context.get_step_failure_events()), context.failure_event.message)
    notifications.send(f"{context.dagster_run.job_name} failed: {reason}")


def backup_schedule(job: dg.JobDefinition) -> dg.ScheduleDefinition:
    """The schedule `backups`, which starts the job `backup` every night. On by default if `VARIORUM_BACKUPS` is set."""
    is_set = "VARIORUM_BACKUPS" in os.environ
    return dg.ScheduleDefinition(
        name="backups", job=job, cron_schedule="0 2 * * *", execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING if is_set else dg.DefaultScheduleStatus.STOPPED,
        description="Copies the home into the folder that VARIORUM_BACKUPS names, and keeps the last backup of "
        "each of 7 days, 5 weeks and 12 months.",
    )  # fmt: skip


def reevaluation_schedule(job: dg.JobDefinition, cron: str, where: Path) -> dg.ScheduleDefinition:
    """The schedule `reevaluation`, which starts the job `update`.

    Raises
    ------
    BadInput
        If `cron`, the registry's `schedule`, is not a cron expression.
    """
    try:
        return dg.ScheduleDefinition(
            name="reevaluation", job=job, cron_schedule=cron, execution_timezone="UTC",
            description="Checks whole tables, asks endpoints which version they serve, reports the estimated cost, and "
            "materializes stale partitions within the budget. Partitions are stale if they failed, or if their "
            "prompts, models, settings or texts changed.",
        )  # fmt: skip
    except dg.DagsterInvalidDefinitionError as error:
        raise BadInput(
            where, "schedule", f"{cron!r} is not a cron expression", "write one, such as 0 3 * * 1"
        ) from error


def _state(descriptions: list[Description]) -> str:
    """Digest of the descriptions, and of the path, size and last write time of each file under their `root`.

    Hidden files and the home folder are ignored.
    """
    digest = blake2b(digest_size=16)
    for description in descriptions:
        digest.update(repr(description).encode())
        for path in visible(description.root):
            if not path.is_relative_to(home()):  # runs change the warehouse in the home
                digest.update(repr(_written(path)).encode())
    return digest.hexdigest()


def _written(path: Path) -> tuple[str, int, int]:
    """Path, size in bytes, and time of the last write in ns; 0 and 0 for a file that was just removed."""
    try:
        state = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), state.st_size, state.st_mtime_ns
