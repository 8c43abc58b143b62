"""Workers: Celery's application, whose tasks execute Dagster's runs, and the launcher that sends runs to it.

`variorum worker` starts a worker of this application. The server and its workers share the database
(`VARIORUM_DATABASE`) and the broker (`VARIORUM_BROKER`). Here: the task and the launcher. Not here: which runs there
are (planning).
"""

import os

import dagster as dg
from celery import Celery
from dagster._cli.api import _execute_run_command_body
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus
from dagster._grpc.types import ExecuteRunArgs
from dagster._serdes import unpack_value
from dagster_celery.config import DEFAULT_CONFIG, TASK_EXECUTE_JOB_NAME
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.make_app import make_app
from dagster_shared.serdes.serdes import JsonSerializableValue

from benchmark_assets.automation.settling import EXECUTING
from resources.postgres.outages import outlast
from resources.processes import PROCESS, is_dead, process_tag

_BROKER = os.environ.get("VARIORUM_BROKER")

app: Celery = make_app({"broker": _BROKER, "backend": _BROKER, "config_source": DEFAULT_CONFIG})  # type: ignore[no-untyped-call]


@app.task(name=TASK_EXECUTE_JOB_NAME, track_started=True)  # type: ignore[untyped-decorator]
def execute(execute_job_args_packed: JsonSerializableValue) -> int:
    """Execute a run; return its exit code. The run is tagged with this process before it starts, so that others see
    when the process has ended."""
    run_id = unpack_value(execute_job_args_packed, as_type=ExecuteRunArgs).run_id
    with dg.DagsterInstance.get() as instance:
        try:
            instance.add_run_tags(run_id, {PROCESS: process_tag(run_id)})
            return _execute_run_command_body(run_id, instance, _ignore, set_exit_code_on_failure=True)
        finally:
            settle(instance, run_id)


def settle(instance: dg.DagsterInstance, run_id: str) -> None:
    """Report the run `run_id`, which this process has ended, and the runs that it started as failed if unfinished.

    They are if the database could not be reached when they ended. The lease of the process, which goes on to execute
    other runs, would let them look alive.
    """

    def report() -> None:
        for filters in ({"run_ids": [run_id]}, {"tags": {PROCESS: process_tag()}}):
            for run in instance.get_runs(dg.RunsFilter(statuses=EXECUTING, **filters)):
                instance.report_run_failed(run, "The run's process could not store how the run ended.")

    outlast(os.environ["VARIORUM_DATABASE"], report)


def _ignore(_: dg.DagsterEvent) -> None:
    """Events are in the storage; nobody listens to them."""


class WorkerRunLauncher(CeleryRunLauncher):
    """`CeleryRunLauncher` that asks for a run's lease whether its worker lives.

    Celery itself never notices that a worker was killed: the state of its task remains STARTED.
    """

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the process that executes a run lives. Dagster's run monitoring reports the run as failed if not."""
        tag = run.tags.get(PROCESS)
        if tag and is_dead(tag, run.run_id):
            return CheckRunHealthResult(WorkerStatus.FAILED, f"the lease of the run's process has expired ({tag})")
        return CheckRunHealthResult(WorkerStatus.RUNNING)
