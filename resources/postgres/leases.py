"""Leases: how the machines of a group see that a process has ended, although they cannot see the process.

Each process that executes runs has one row in the database, whose expiry it renews while it lives. A process that is
killed or cut off from the network renews nothing, so its lease expires. Here: the rows, and the thread that renews the
lease of this process. Not here: what follows from an expired lease (processes, automation).
"""

import atexit
import logging
import os
from contextlib import suppress
from threading import Event, Thread
from typing import NamedTuple
from uuid import uuid4

import psycopg

from resources.postgres.connections import connected

logger = logging.getLogger("variorum.leases")

LASTS = 60
"""Seconds for which a lease is valid after each renewal. A process that is cut off for a shorter time keeps it."""

RENEWED = 10
"""Seconds between two renewals. No connection is kept between them: a network that was cut would leave it hanging."""

CREATE = """
SELECT pg_advisory_xact_lock(hashtext('variorum.lease'));
CREATE SCHEMA IF NOT EXISTS work;
CREATE TABLE IF NOT EXISTS work.lease (name text PRIMARY KEY, expires timestamptz NOT NULL);
DELETE FROM work.lease WHERE expires < now() - interval '1 day';
"""
"""Creates the table of leases. It is in a schema of its own, because warehouse, ledger and Dagster create theirs
independently of each other."""

# By the clock of the server, because the clocks of the machines may differ.
_RENEW = f"""
INSERT INTO work.lease VALUES (%s, now() + interval '{LASTS} seconds')
ON CONFLICT (name) DO UPDATE SET expires = excluded.expires
"""


class _HeldLease(NamedTuple):
    """The lease of this process, and the thread that renews it until `ended` is set."""

    name: str
    ended: Event
    thread: Thread


# By URL and process id, because a forked process lacks its parent's threads and obtains a lease of its own.
_HELD: dict[tuple[str, int], _HeldLease] = {}


def own(url: str) -> str:
    """Name of the lease of this process in the database at a URL. The first call obtains the lease.

    Raises
    ------
    psycopg.OperationalError
        If the database cannot be reached.
    """
    key = url, os.getpid()
    if key not in _HELD:
        name, ended = uuid4().hex, Event()
        with connected(url) as connection:
            connection.execute(CREATE)
        renew(url, name)
        _HELD[key] = _HeldLease(name, ended, Thread(target=_keep, args=(url, name, ended), name="lease", daemon=True))
        _HELD[key].thread.start()
        atexit.register(give_up, url)
    return _HELD[key].name


def give_up(url: str) -> None:
    """Give up the lease of this process, if it has one."""
    held = _HELD.pop((url, os.getpid()), None)
    if held:
        held.ended.set()
        held.thread.join()
        with suppress(psycopg.Error), connected(url) as connection:  # it expires by itself
            connection.execute("DELETE FROM work.lease WHERE name = %s", [held.name])


def is_alive(url: str, name: str) -> bool:
    """Whether a lease is still valid."""
    with connected(url) as connection:
        return bool(
            connection.execute("SELECT 1 FROM work.lease WHERE name = %s AND expires > now()", [name]).fetchone()
        )


def renew(url: str, name: str) -> None:
    """Let a lease last `LASTS` seconds from now; obtain it anew if it was removed."""
    with connected(url) as connection:
        connection.execute(_RENEW, [name])


def _keep(url: str, name: str, ended: Event) -> None:
    while not ended.wait(RENEWED):
        try:
            renew(url, name)
        except psycopg.Error as error:
            logger.warning("the lease of this process could not be renewed; trying again: %s", error)
