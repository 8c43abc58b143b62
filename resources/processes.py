"""Run tags that name the process executing the run, so that other processes can detect that it has ended.

Not here: handling dead runs (automation).
"""

from socket import gethostname

import psutil

PROCESS = "variorum/process"
"""Run tag whose value names the process that executes the run. If Dagster may copy the tag to a retry of the run, the
value ends with the id of the tagged run."""


def process_tag(run_id: str = "") -> str:
    """Return a tag that names this process by host, pid and start time, so that a reused pid does not match.

    Parameters
    ----------
    run_id
        Id of the tagged run; required if Dagster may copy the run's tags to a retry.
    """
    return f"{_process(psutil.Process().pid)} {run_id}".strip()


def is_dead(tag: str, run_id: str) -> bool:
    """Whether the process named by a run's tag has ended. False if the tag names another machine or another run."""
    place, _, rest = tag.partition(" ")
    host, _, pid = place.rpartition(":")
    started, _, tagged_run = rest.partition(" ")
    if host != gethostname() or tagged_run not in ("", run_id):
        return False
    return _process(int(pid)) != f"{place} {started}"


def _process(pid: int) -> str:
    try:
        return f"{gethostname()}:{pid} {psutil.Process(pid).create_time():.2f}"
    except psutil.NoSuchProcess:
        return ""
