"""Leases of processes, on a real server: they last while the process lives, and not after it was killed."""

import subprocess
import sys

import psycopg
import pytest

from resources.postgres import leases
from resources.processes import LEASE, is_dead, process_tag

HOLD = "import sys; from resources.postgres import leases; print(leases.own(sys.argv[1]), flush=True); input()"


def pass_time(database: str, seconds: int) -> None:
    """Let all leases be this much older."""
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE work.lease SET expires = expires - make_interval(secs => %s)", [seconds])


def names(database: str) -> set[str]:
    with psycopg.connect(database) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM work.lease")}


def holder(database: str) -> tuple[subprocess.Popen[str], str]:
    """A process that holds a lease until its input ends, and the name of the lease."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    return process, process.stdout.readline().strip()


def test_the_lease_of_a_killed_process_expires(database: str) -> None:
    process, name = holder(database)
    process.kill()
    process.wait()
    assert leases.is_alive(database, name)  # nobody can know yet
    pass_time(database, leases.LASTS)
    assert not leases.is_alive(database, name)


def test_a_process_that_ends_gives_up_its_lease(database: str) -> None:
    process, name = holder(database)
    assert leases.is_alive(database, name)
    process.communicate("")
    assert names(database) == set()


def test_a_process_has_one_lease_and_renews_it(database: str) -> None:
    name = leases.own(database)
    assert leases.own(database) == name
    pass_time(database, leases.LASTS - 1)
    leases.renew(database, name)
    pass_time(database, leases.LASTS - 1)
    assert leases.is_alive(database, name)


def test_a_run_of_a_shared_home_is_tagged_with_the_lease(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VARIORUM_DATABASE", database)
    tag = process_tag("a-run")
    assert tag.startswith(LEASE)
    assert not is_dead(tag, "a-run")
    pass_time(database, leases.LASTS)
    assert is_dead(tag, "a-run")
    assert not is_dead(tag, "a-retry-with-copied-tags")
