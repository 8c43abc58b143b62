"""Outages of the database that the machines of a group share: what they raise, and waiting until they are over.

Not here: a server that cannot be reached from the beginning (connections).
"""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

import psycopg
from dagster_postgres.utils import DagsterPostgresException
from sqlalchemy.exc import SQLAlchemyError

from resources.errors import UnreachableError
from resources.postgres.connections import connected

logger = logging.getLogger("variorum.outages")

OUTAGE = (psycopg.Error, SQLAlchemyError, DagsterPostgresException, UnreachableError)
"""What ledger, Dagster's storages and warehouse raise if the database cannot be reached."""

PATIENCE = 600.0
"""Seconds for which an outage is waited for."""

PAUSE = 1.0
"""Seconds between two attempts to reach the database."""

MOST = 10
"""Maximum number of outages of a piece of work: an error that comes back each time is none."""

Result = TypeVar("Result")


def outlast(url: str, act: Callable[[], Result]) -> Result:
    """Return what `act` returns. If the database at a URL goes away meanwhile, wait for it and call `act` again.

    Raises
    ------
    Exception
        One of OUTAGE, if the database stays away for PATIENCE seconds, or after the outage number MOST.
    """
    for _ in range(MOST - 1):
        try:
            return act()
        except OUTAGE as error:
            logger.warning("the database was away; the work begins again: %s", error)
        _wait(url)
    return act()


def _wait(url: str) -> None:
    """Wait until the database accepts connections."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connected(url).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)
