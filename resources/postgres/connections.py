"""Connections to the database by psycopg: their parameters, and the fault of a server that cannot be reached.

Not here: the warehouse's connections (postgres_warehouse), which take part in this by their parameters alone.
"""

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from resources.errors import BadInput

LINK = {
    "connect_timeout": "10", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}  # fmt: skip
"""Parameters of a connection that the URL need not give. A client notices within half a minute that it is cut off. The
system itself would notice minutes late that the network is back, because it sends again at ever longer intervals, and
would wait hours for a reply that the server has given up sending."""

SOON = 3
"""Seconds for which the first connection of a command to its database is waited for."""


def connected(url: str) -> psycopg.Connection:
    """A connection, to be used in a `with` statement; raises `psycopg.OperationalError`."""
    return psycopg.connect(make_conninfo(url, **LINK))


def place(url: str) -> str:
    """A database's host and name. The URL may contain a password."""
    parts = conninfo_to_dict(url)
    return f"postgresql://{parts.get('host', '')}/{parts.get('dbname', '')}"


def reach(url: str, where: str = "VARIORUM_DATABASE") -> None:
    """Connect once, before anything waits for the database: what prevents a command's first connection seldom passes.

    Raises
    ------
    BadInput
        If there is no connection within a few seconds. `where` names what has the URL.
    """
    try:
        where = f"{where} ({place(url)})"
        psycopg.connect(make_conninfo(url, connect_timeout=SOON)).close()
    except psycopg.Error as error:
        raise BadInput(
            where, "", f"cannot be reached ({words(error)})", "start the server, or correct the URL"
        ) from error


def words(error: psycopg.Error) -> str:
    """The message of an error in one line."""
    return " ".join(str(error).split())
