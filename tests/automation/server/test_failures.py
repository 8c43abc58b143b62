"""A group whose processes are killed and whose network is cut while it works: its results are those of one process that
nothing disturbs, no reply that was stored is paid for twice, and no cap is exceeded."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest

from resources import catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.postgres.postgres_warehouse import PostgresWarehouse
from resources.warehouse import Warehouse
from tests import postgres
from tests.automation.server.group import Group, running
from tests.automation.server.machines import CabledServer, cabled_server, cut, forwarded, other_machine
from tests.bench.grid import write_jsonl_corpus
from tests.processes import VARIORUM, variorum
from tests.provider.server import Server
from tests.support import write_registry

pytestmark = [pytest.mark.proof, pytest.mark.large]

HERE_WORK, ELSEWHERE_WORK = ("worker1", "worker2"), ("elsewhere1", "elsewhere2")

IN_FLIGHT = 4
"""Calls of a model at once. A worker takes one model at a time."""

CAPS = {"run": 1.0, "day": 1.0, "model": 0.15}
"""Caps in dollars: for an update, for a day, and for each model. Without failures, a model costs 0.054."""

LEFT_OUT = {
    "corpus": {"home"},  # each run has a home of its own
    "unit_sum": {"fingerprint"},  # of times
    "model_call": {"attempt", "run", "asked", "received", "fingerprint"},  # numbers, times and the state of the ledger
}
"""Columns that are not compared, by table. Those that say which run wrote a row and when are not compared either."""


@dataclass(frozen=True)
class Size:
    """A grid, seconds of a call, and what happens to the group meanwhile."""

    passages: int
    models: int
    latency: float
    kills: dict[str, int]
    cuts: tuple[int, ...] = ()
    pauses: tuple[float, float] = (5, 20)  # shortest and longest time between two disturbances, seconds

    def disturbances(self) -> list[str | int]:
        """What is killed, and for how many seconds the network is cut, in an order that is always the same."""
        events: list[str | int] = [name for name, times in self.kills.items() for _ in range(times)]
        events += self.cuts
        random.Random(1).shuffle(events)
        return events


SHORT = Size(40, 4, 5, {"database": 1, "planner": 1, "worker1": 1}, pauses=(6, 12))
WHOLE = Size(
    200, 10, 5,
    {"worker1": 2, "worker2": 2, "elsewhere1": 2, "elsewhere2": 2, "planner": 4, "database": 4},
    (30, 30, 30, 90, 90),
)  # fmt: skip


@dataclass
class Ordeal:
    """A group at work, and what became of it."""

    group: Group
    database: CabledServer
    elsewhere: list[str]
    models: list[str]
    restarted: Counter[str] = field(default_factory=Counter)  # processes that ended by themselves
    finished: bool = False  # whether the planner ended well

    def start(self, name: str) -> None:
        """Start what has a name."""
        if name == "database":
            self.database.control("start")
        elif name == "planner":
            self.group.start(name, VARIORUM, "evaluate", "--accept", *self.models)
        elif name in HERE_WORK:
            self.group.worker(name)
        else:
            self.group.worker(name, *self.elsewhere, machine=name)

    def suffer(self, event: str | int) -> None:
        """Kill what has a name, and start it again; or cut the network for some seconds."""
        if isinstance(event, int):
            cut(event)
            return
        if event == "database":
            self.database.kill()
        else:
            self.group.kill(event)
        self.start(event)

    def wait(self, seconds: float, ends: Callable[[], bool] = bool) -> None:
        """Let the group work for some seconds, or until something holds; start what has ended again."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not ends():
            for name, process in list(self.group.processes.items()):
                if process.poll() is None:
                    continue
                self.group.kill(name)  # and what it has left behind
                if name == "planner" and process.returncode == 0:
                    self.finished = True
                    continue
                self.restarted[name] += 1
                self.start(name)
            time.sleep(0.5)


def query(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def check_caps(url: str) -> float:
    """Assert that no account exceeds its cap; return the largest share of a cap that is used."""
    shares = [
        used / (CAPS[name.split()[0]] * 1e9)
        for name, used in query(url, "SELECT name, paid + reserved + uncertain FROM ledger.account")
    ]
    assert max(shares, default=0) <= 1
    return max(shares, default=0)


ASKED_AGAIN = """
SELECT count(*) FROM ledger.attempt again JOIN ledger.attempt a USING (question) JOIN ledger.reply r ON r.attempt = a.id
WHERE again.id <> a.id AND a.outcome = 'answered' AND to_timestamp(again.asked) > pg_xact_commit_timestamp(r.xmin)
"""
"""Number of attempts that began after the reply to their question had been committed."""


@pytest.fixture
def machine() -> Iterator[list[str]]:
    """The beginning of commands on another machine."""
    with other_machine() as beginning:
        yield beginning


@pytest.mark.parametrize("size", [SHORT, WHOLE], ids=["short", "whole"])
def test_kills_and_cuts_change_no_result_and_repeat_nothing_that_is_stored(
    size: Size, machine: list[str], server: Server, tmp_path: Path
) -> None:
    models = [f"m{number}" for number in range(1, size.models + 1)]
    corpus = write_jsonl_corpus(tmp_path / "corpus", size.passages)
    (folder := tmp_path / "group").mkdir()
    registry = tmp_path / "models.yaml"
    with (
        forwarded(server.port) as models_url,
        cabled_server() as database,
        postgres.empty_database(database.url) as url,
    ):
        write_registry(registry, models_url, *models, in_flight=IN_FLIGHT, max_tokens=512, budget=CAPS["model"])
        with running(folder, url, registry, workers=2) as group:
            ordeal = Ordeal(group, database, machine, models)
            for name in ELSEWHERE_WORK:
                ordeal.start(name)
            group.variorum("import", "corpus", str(corpus))
            server.configure(latency=size.latency)
            begun = time.monotonic()
            try:
                lost = endure(ordeal, size, server, url, begun)
            finally:
                print(group.logs())
            wall = time.monotonic() - begun
            assert "up to date" in group.variorum("stale")
            report(size, server, url, ordeal, lost, wall)
            undisturbed(tmp_path / "alone", corpus, registry, models, server)
            vectors = group.settings["VARIORUM_VECTORS"]
            alone = DuckDBWarehouse(path=str(tmp_path / "alone" / "variorum.duckdb"))
            shared = PostgresWarehouse(url=url, home=str(folder / "server"), vectors=vectors)
            assert len(alone.read("drift_score")) == size.passages * size.models
            assert differences(alone, shared) == []


def endure(ordeal: Ordeal, size: Size, server: Server, url: str, begun: float) -> int:
    """Have the group work through all disturbances to a good end; return how many calls they may have cut off."""
    dice, may_be_lost = random.Random(2), 0
    ordeal.start("planner")
    ordeal.wait(120, lambda: server.in_flight() > 0)
    for event in size.disturbances():
        ordeal.wait(dice.uniform(*size.pauses))
        assert not ordeal.finished, "the work is done before the last disturbance"
        in_flight, used = server.in_flight(), check_caps(url)
        ((stored,),) = query(url, "SELECT count(*) FROM ledger.reply")
        print(f"{time.monotonic() - begun:.0f} s: {event}, {in_flight} in flight, {stored} stored, {used:.2f} of a cap")
        if event in (*HERE_WORK, *ELSEWHERE_WORK):
            may_be_lost += IN_FLIGHT
        elif isinstance(event, int):
            may_be_lost += IN_FLIGHT * len(ELSEWHERE_WORK)
        ordeal.suffer(event)
    ordeal.wait(1800, lambda: ordeal.finished)
    assert ordeal.finished
    return may_be_lost


def report(size: Size, server: Server, url: str, ordeal: Ordeal, may_be_lost: int, wall: float) -> None:
    """Assert what the ledger and the models say at the end; print it."""
    asked = Counter((request.model, key) for request in server.log() for key in request.keys)  # none in probes
    cells = size.passages * size.models
    again = asked.total() - len(asked)
    ((questions,),) = query(url, "SELECT count(DISTINCT question) FROM ledger.attempt WHERE purpose = 'translate'")
    ((repeated,),) = query(url, ASKED_AGAIN)
    ((reserved,),) = query(url, "SELECT sum(reserved)::bigint FROM ledger.account")
    print(
        f"{cells} calls, {asked.total()} requests: {again} asked again, of {may_be_lost} that may have been cut off; "
        f"{repeated} after a reply was stored; {check_caps(url):.2f} of a cap used; {wall:.0f} s; "
        f"ended by themselves: {dict(ordeal.restarted)}"
    )
    assert len(asked) == questions == cells
    assert again <= may_be_lost
    assert repeated == 0
    assert reserved == 0


def undisturbed(home: Path, corpus: Path, registry: Path, models: list[str], server: Server) -> None:
    """The same evaluation in a home of files, by one process."""
    server.configure()
    for command in (["import", "corpus", str(corpus)], ["evaluate", "--accept", *models]):
        variorum(home, *command, VARIORUM_MODELS=str(registry), VARIORUM_PLOTS="off")


def differences(one: Warehouse, other: Warehouse) -> list[str]:
    """Names of the tables that differ."""
    different = []
    for name, table in catalogue.tables().items():
        if name == "change":  # which run wrote what
            continue
        columns = [column for column in table.content if column not in LEFT_OUT.get(name, ())]
        first, second = (compared(warehouse.read(name, columns=columns), name) for warehouse in (one, other))
        if not first.equals(second):
            different.append(name)
            print(
                name,
                *(
                    rows.join(others, on=columns, how="anti", nulls_equal=True).head(3).to_dicts()
                    for rows, others in ((first, second), (second, first))
                ),
                sep="\n",
            )
    return different


def compared(rows: pl.DataFrame, table: str) -> pl.DataFrame:
    """The rows of a table that are compared: without attempts that failed, and probes of versions by later planners."""
    if table == "model_call":
        return rows.filter(outcome="answered", purpose="translate").sort("call")
    return rows.filter(pl.col("asset") != "model_call") if table in ("materialization", "state_sum") else rows
