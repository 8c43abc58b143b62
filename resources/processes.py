"""Which process executes a run, so that a later one can see that it is dead. Not here: what becomes of such runs."""

from socket import gethostname

import psutil

PROCESS = "variorum/process"
"""Tag of a run: the process that executes it, and the run itself where a copy of the tag would be wrong."""


def process_tag(run_id: str = "") -> str:
    """This process, told from all others, also from later ones of its number.

    Parameters
    ----------
    run_id
        Of the run that gets the tag, where Dagster copies tags to a run that takes its place.
    """
    return f"{_process(psutil.Process().pid)} {run_id}".strip()


def is_dead(tag: str, run_id: str) -> bool:
    """Whether the process that a run's tag names was one of this machine and is gone."""
    place, _, rest = tag.partition(" ")
    host, _, pid = place.rpartition(":")
    started, _, own = rest.partition(" ")
    if host != gethostname() or own not in ("", run_id):
        return False
    return _process(int(pid)) != f"{place} {started}"


def _process(pid: int) -> str:
    try:
        return f"{gethostname()}:{pid} {psutil.Process(pid).create_time():.2f}"
    except psutil.NoSuchProcess:
        return ""
