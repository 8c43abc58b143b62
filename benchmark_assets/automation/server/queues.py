"""The queue of a group: parts of updates that wait for a worker, in the database that all machines share.

A worker that takes a part writes the name of its lease into the row. Once the lease has expired, the next worker takes
the part. Here: rows, and waiting for changes of rows. Not here: what a part is (planning), carrying it out (workers).
"""

from collections.abc import Collection, Sequence
from socket import gethostname
from typing import Any, LiteralString, NamedTuple
from uuid import uuid4

import psycopg

from resources.postgres import leases
from resources.postgres.connections import connected

PATIENCE = 10.0
"""Seconds after which the queue is examined without a message: an expired lease sends none."""

MOST = 3
"""Maximum number of workers that take a part, because it may be what ends them."""

_TURN = "SELECT pg_advisory_xact_lock(hashtext('variorum.part'))"

_CREATE = f"""
{_TURN};
CREATE TABLE IF NOT EXISTS work.part (
    name text PRIMARY KEY, kind text NOT NULL, units text[] NOT NULL, content text NOT NULL,
    number bigserial, taken integer NOT NULL DEFAULT 0, worker text, outcome text, ended timestamptz
);
CREATE TABLE IF NOT EXISTS work.worker (name text PRIMARY KEY, host text NOT NULL);
DELETE FROM work.part WHERE ended < now() - interval '1 day';
DELETE FROM work.worker WHERE name NOT IN (SELECT name FROM work.lease);
LISTEN parts
"""

_SUBMIT = """
INSERT INTO work.part (name, kind, units, content)
SELECT %(name)s, %(kind)s, %(units)s, %(content)s
WHERE NOT EXISTS (SELECT 1 FROM work.part WHERE kind = %(kind)s AND units && %(units)s AND ended IS NULL)
RETURNING name
"""

_BUSY = "SELECT DISTINCT unnest(units) FROM work.part WHERE kind = %s AND ended IS NULL"

_TAKE = """
UPDATE work.part SET worker = %s, taken = taken + 1 WHERE name = (
    SELECT name FROM work.part WHERE ended IS NULL
    AND NOT EXISTS (SELECT 1 FROM work.lease WHERE lease.name = part.worker AND expires > now())
    ORDER BY number LIMIT 1
) RETURNING name, kind, units, content, taken
"""

_FINISH = "UPDATE work.part SET outcome = %s, ended = now() WHERE name = %s AND worker = %s AND ended IS NULL"

_COLLECT = "DELETE FROM work.part WHERE name = ANY(%s) AND ended IS NOT NULL RETURNING name, outcome"

_GIVE_BACK = "UPDATE work.part SET worker = NULL, taken = taken - 1 WHERE name = %s AND worker = %s AND ended IS NULL"

_ENTER = "INSERT INTO work.worker VALUES (%s, %s) ON CONFLICT DO NOTHING"

_TELL = "NOTIFY parts"

_WORKERS = "SELECT host FROM work.worker JOIN work.lease USING (name) WHERE expires > now()"


class TakenPart(NamedTuple):
    """A part as the planner submitted it, and the number of workers that have taken it."""

    name: str
    kind: str
    units: list[str]
    content: str
    taken: int


class PartQueue:
    """The queue in the database at a URL, by a connection that is kept open.

    After an error of the connection (`outages.OUTAGE`), the next call opens another one.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection | None = None

    def workers(self) -> list[str]:
        """The host of each living worker."""
        return [host for (host,) in self._execute(_WORKERS)]

    def enter(self) -> None:
        """Register this process as a worker."""
        self._execute(_ENTER, leases.own(self._url), gethostname())

    def leave(self) -> None:
        """Register that this process is no worker any more."""
        self._execute("DELETE FROM work.worker WHERE name = %s", leases.own(self._url))

    def submit(self, kind: str, units: Sequence[str], content: str) -> str | None:
        """Add a part; return its name. None if a part of the same kind has some of the units and has not ended."""
        name = uuid4().hex
        values = {"name": name, "kind": kind, "units": list(units), "content": content}
        connection = self._open()
        with connection.transaction():
            connection.execute(_TURN)
            added = connection.execute(_SUBMIT, values).fetchone()
            connection.execute(_TELL)
        return name if added else None

    def busy(self, kind: str) -> set[str]:
        """The units of all parts of a kind that have not ended."""
        return {unit for (unit,) in self._execute(_BUSY, kind)}

    def take(self) -> TakenPart | None:
        """Take the first part that no living worker has taken; None if there is none.

        Workers take turns: a worker that waits for another one's row, or skips it, would decide by leases as they were
        before, and take a part that another one has just taken.
        """
        own, connection = leases.own(self._url), self._open()
        with connection.transaction():
            connection.execute(_TURN)
            taken = connection.execute(_TAKE, (own,)).fetchone()
        return TakenPart(*taken) if taken else None

    def finish(self, name: str, outcome: str) -> None:
        """Store the outcome of a part, unless another worker has taken it meanwhile."""
        self._execute(_FINISH, outcome, name, leases.own(self._url))
        self._execute(_TELL)

    def give_back(self, name: str) -> None:
        """Leave a part to other workers."""
        self._execute(_GIVE_BACK, name, leases.own(self._url))
        self._execute(_TELL)

    def collect(self, names: Collection[str]) -> dict[str, str | None]:
        """Remove the parts that have ended; return their outcomes by name, None for parts that were removed before."""
        outcomes: dict[str, str | None] = dict(self._execute(_COLLECT, [*names]))
        left = {name for (name,) in self._execute("SELECT name FROM work.part WHERE name = ANY(%s)", [*names])}
        return outcomes | dict.fromkeys({*names} - left - outcomes.keys())

    def wait(self) -> None:
        """Wait until a part is added or ends, for PATIENCE seconds at most."""
        for _ in self._open().notifies(timeout=PATIENCE, stop_after=1):
            pass

    def _open(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            leases.own(self._url)  # the parts refer to the table of leases
            connection = connected(self._url)
            with connection.transaction():
                connection.execute(_CREATE)
            connection.autocommit = True
            self._connection = connection
        return self._connection

    def _execute(self, statement: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        cursor = self._open().execute(statement, values)
        return cursor.fetchall() if cursor.description else []
