"""Runs that ended badly: finding those whose process has ended, and the reasons why steps failed.

Not here: starting runs (runs, planning).
"""

import logging
from collections.abc import Iterable, Iterator

import dagster as dg
from dagster._core.errors import DagsterAssetCheckFailedError

from resources.processes import PROCESS, is_dead

logger = logging.getLogger("variorum.runs")

EXECUTING = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
"""Statuses of runs that a process has begun to execute."""

CHECKED = DagsterAssetCheckFailedError.__name__


def settle_the_dead(instance: dg.DagsterInstance) -> None:
    """Report unfinished runs as failed if their process has ended, because of a kill or a reboot."""
    for run in instance.get_runs(dg.RunsFilter(statuses=EXECUTING)):
        if PROCESS in run.tags and is_dead(run.tags[PROCESS], run.run_id):
            instance.report_run_failed(
                run, f"The run's process ended before the run was finished ({run.tags[PROCESS]})."
            )
            logger.warning("run %s failed: its process has ended", run.run_id)


def reasons(events: Iterable[dg.DagsterEvent]) -> Iterator[str]:
    """Reasons why steps failed. Steps stopped by a blocking check are left out, since the check has its own message."""
    for event in events:
        if event.is_step_failure:
            failure = event.step_failure_data
            if failure.user_failure_data and failure.user_failure_data.description:
                yield failure.user_failure_data.description
            elif failure.error and failure.error.cls_name != CHECKED:
                yield (failure.error.cause or failure.error).message.strip()
