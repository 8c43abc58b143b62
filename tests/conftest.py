"""What tests share: a home of their own, a small corpus on disk, and the code location over both."""

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from hypothesis import settings

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import ROOMS, build_definitions
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import PROJECT
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Warehouse
from tests import postgres, proofs, quick
from tests.forks import Forks
from tests.provider.server import Server, serve
from tests.support import MODELS, LetterEmbedder, copy_finished, made_home, made_once, write_corpus
from tests.systems import RuleSystems, rule_systems

# A time limit on single examples fails on a busy machine, and says nothing about the code.
settings.register_profile("variorum", deadline=None, max_examples=20)
settings.register_profile("proofs", deadline=None, max_examples=100)

# Modules leave more than a million objects, which are never freed: the garbage collector skips them.
gc.disable()

if TYPE_CHECKING:  # imported only where it is used, as in a home without a server
    from resources.postgres.postgres_warehouse import PostgresWarehouse

# Most tests are not about pictures. One home has them (`finished`), and the tests that ask for `drawn`.
os.environ["VARIORUM_PLOTS"] = "off"


LONG = (
    "tests/guides/test_journeys.py",
    "tests/automation/test_runs.py", "tests/test_cli.py", "tests/benchmarks/test_adding.py",
    "tests/alignment/test_aligning.py", "tests/test_lineage.py", "tests/reporting/test_export.py",
    "tests/automation/test_sequences.py", "tests/trials/test_trials.py", "tests/resources/test_backups.py",
    "tests/automation/test_damages.py", "tests/resources/test_comet.py", "tests/automation/test_rebuilding.py",
    "tests/test_shards.py", "tests/provider/test_kills.py", "tests/automation/test_sensors.py",
    "tests/automation/test_checks.py", "tests/automation/test_metadata.py", "tests/pairwise/test_matches.py",
    "tests/selection/test_selection_assets.py",
)  # fmt: skip
"""Files that take longest: first, so that none of them is left to one core at the end. Of the first five, one starts
from the finished home: others would wait until it is made."""

EXIT_STATUS = pytest.StashKey[int]()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, named by VARIORUM_HOME and DAGSTER_HOME for this process and those that it starts."""
    return made_home(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def kept_open() -> bool:
    """Whether the warehouse stays open between reads; a module that opens the file by other means overrides it."""
    return True


@pytest.fixture
def warehouse(home: Path, kept_open: bool) -> Iterator[Warehouse]:
    """The home's warehouse. Opening the file takes four times as long as most reads."""
    own = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    with own.kept_open() if kept_open else nullcontext():
        yield own


@pytest.fixture
def instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """The instance that dagster.yaml describes, with its state in the home."""
    with dg.DagsterInstance.get() as each:
        yield each


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Description of a corpus of three passages in two documents with three translators, in the bilara layout."""
    return write_corpus(tmp_path / "corpus")


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    """Rooms of the code location: all. A module whose tests are about fewer overrides this (`tests.support.CORE`)."""
    return ROOMS


@pytest.fixture
def definitions(warehouse: Warehouse, rooms: Sequence[ModuleType]) -> dg.Definitions:
    """The code location on the test's warehouse, with an embedder that costs nothing."""
    return build_definitions(rooms=rooms, resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder()})


@pytest.fixture
def systems(warehouse: Warehouse, tmp_path: Path) -> RuleSystems:
    """Systems that translate by rule and note what they are asked."""
    return rule_systems(warehouse, tmp_path)


@pytest.fixture
def ruled(warehouse: Warehouse, systems: RuleSystems, rooms: Sequence[ModuleType]) -> dg.Definitions:
    """The code location with those systems."""
    return build_definitions(
        rooms=rooms, resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder(), "systems": systems}
    )


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a PostgreSQL server, which this test process starts when a test first needs one.

    Its files are not in pytest's folder, which each new session of pytest closes to other users, such as the server's.
    """
    with TemporaryDirectory() as folder, postgres.served(Path(folder)) as url:
        yield url


@pytest.fixture
def database(postgres_server: str) -> Iterator[str]:
    """URL of an empty PostgreSQL database."""
    with postgres.empty_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def empty_tables(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator["PostgresWarehouse"]:
    """A warehouse in a database of its own. Tests ask for `postgres_warehouse`."""
    from resources.postgres.postgres_warehouse import PostgresWarehouse

    folder = tmp_path_factory.mktemp("machine")
    with postgres.empty_database(postgres_server) as url:
        warehouse = PostgresWarehouse(url=url, home=str(folder), vectors=str(folder / "vectors"))
        warehouse.read("corpus")
        yield warehouse


@pytest.fixture
def postgres_warehouse(empty_tables: "PostgresWarehouse") -> "PostgresWarehouse":
    """A warehouse in PostgreSQL, without rows. Its tables are made once: that takes longer than most tests."""
    postgres.empty_tables(empty_tables.url, "warehouse")
    return empty_tables


@pytest.fixture(scope="session")
def finished() -> Path:
    """A folder with a home in which everything is materialized for the small corpus and two models."""
    return made_once("finished", _finish)


def _finish(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("VARIORUM_PLOTS")
        finish(folder)


def finish(
    folder: Path, rooms: Sequence[ModuleType] = ROOMS,
    before: Callable[[dg.DagsterInstance, Warehouse], object] = lambda *_: None,
) -> None:  # fmt: skip
    """Make a home in which everything is materialized for the small corpus and two models, after `before`."""
    with pytest.MonkeyPatch.context() as patch:
        warehouse = DuckDBWarehouse(path=str(made_home(patch, folder) / "variorum.duckdb"))
        systems = rule_systems(warehouse, folder)
        resources = {"warehouse": warehouse, "embedder": LetterEmbedder(), "systems": systems}
        definitions = build_definitions(rooms=rooms, resource_overrides=resources)
        register(warehouse, write_corpus(folder / "corpus"))
        with dg.DagsterInstance.get() as instance:
            before(instance, warehouse)
            runs.look(definitions, instance)
            instance.add_dynamic_partitions("model", MODELS)
            runs.update(definitions, instance)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have plots drawn."""
    monkeypatch.delenv("VARIORUM_PLOTS")


@pytest.fixture
def built(finished: Path, ruled: dg.Definitions, home: Path, corpus: Path) -> dg.Definitions:
    """The code location over a copy of the finished home, whose corpus lies where the test's corpus does."""
    shutil.rmtree(home)
    copy_finished(finished, home, corpus)
    return ruled


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    """A chat-completions server in a process of its own; tests ask for `server`."""
    with serve() as each:
        yield each


@pytest.fixture
def server(running: Server) -> Server:
    """The module's server, without faults and with an empty log."""
    running.configure()
    running.clear()
    return running


@pytest.fixture
def ledger(tmp_path: Path) -> SqliteLedger:
    """A ledger that is made when it is first used."""
    return SqliteLedger(tmp_path / "ledger.sqlite")


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether proofs and measurements have their full size: where `-m` asks for them.

    Elsewhere they are small, and time nothing.
    """
    return at_full_size(pytestconfig)


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of real data; a test that asks for it is skipped where there is none."""
    folder = Path(os.environ.get("VARIORUM_DATA", PROJECT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set VARIORUM_DATA")
    return folder


def at_full_size(config: pytest.Config) -> bool:
    """Whether `-m` asks for proofs or measurements."""
    words = config.getoption("-m").split()
    return "not" not in words and not {"bench", "proof"}.isdisjoint(words)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, help="run tests in so many processes")
    parser.addoption("--quick", action="store_true", help="only what a change reaches, in about a minute (tests.quick)")
    parser.addoption("--stale", action="store_true", help="only what tests/proofs.tsv lacks, at most an hour of it")


def pytest_configure(config: pytest.Config) -> None:
    """Draw many examples of each property in proofs only, record proofs that are run by whole files, fork."""
    settings.load_profile("proofs" if at_full_size(config) else "variorum")
    if config.getoption("-m") == proofs.EXPRESSION and not config.getoption("-k") and "::" not in str(config.args):
        config.pluginmanager.register(proofs.Recorder())
    if number := config.getoption("--processes"):
        config.pluginmanager.register(Forks(number))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Large cases belong to proofs and measurements of full size only, peers to `make peers`; long files come first."""
    if config.getoption("-m") != "peer":
        items[:] = [item for item in items if "peer" not in item.keywords]
    places = {file: place for place, file in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(LONG)))
    if not at_full_size(config):
        items[:] = [item for item in items if "large" not in item.keywords]
    if config.getoption("--quick"):
        items[:] = quick.chosen(items)
    if config.getoption("--stale"):
        chosen = set(proofs.planned(proofs.stale().keys() & {item.nodeid.partition("::")[0] for item in items}))
        items[:] = [item for item in items if item.nodeid.partition("::")[0] in chosen]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    nothing_stale = session.config.getoption("--stale") and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
    session.config.stash[EXIT_STATUS] = 0 if nothing_stale else int(exitstatus)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--stale") and (left := proofs.stale()):
        terminalreporter.write_line(f"{len(left)} files in tests/proofs.tsv are still stale: run `make proofs` again")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave as the command line does (cli.console): DuckDB's bindings would end the output with a page of warnings."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(config.stash.get(EXIT_STATUS, 1))
