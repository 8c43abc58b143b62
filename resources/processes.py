"""Run tags that name the process executing the run, so that other processes can detect that it has ended.

On one machine, the tag has the id of the process; in a home that several machines share, the name of its lease. Not
here: the rows of leases (postgres.leases), handling dead runs (automation).
"""

from socket import gethostname

import psutil

from resources.home import database

LEASE = "lease:"
"""Beginning of a tag that names a lease."""

PROCESS = "variorum/process"
"""Run tag whose value names the process that executes the run. If Dagster may copy the tag to a retry of the run, the
value ends with the id of the tagged run."""


def process_tag(run_id: str = "") -> str:
    """Return a tag that names this process by host, pid and start time, so that a reused pid does not match.

    In a home that several machines share, the tag names the process's lease.

    Parameters
    ----------
    run_id
        Id of the tagged run; required if Dagster may copy the run's tags to a retry.
    """
    place = _process(psutil.Process().pid)
    if url := database():
        from resources.postgres import leases  # the home of one person has no driver of PostgreSQL

        place = LEASE + leases.own(url)
    return f"{place} {run_id}".strip()


def is_dead(tag: str, run_id: str) -> bool:
    """Whether the process named by a run's tag has ended. False if the tag names another run, or the process id of
    another machine."""
    place, _, rest = tag.partition(" ")
    if place.startswith(LEASE):
        from resources.postgres import leases

        url = database()
        return url is not None and rest in ("", run_id) and not leases.is_alive(url, place.removeprefix(LEASE))
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
