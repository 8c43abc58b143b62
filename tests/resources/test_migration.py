"""Homes of former versions open with every row in its place.

`tests/homes` holds such homes as archives of rows as JSON lines and the statements that made their tables. Their texts
are the texts of the project's samples. That version's own code made the rows; only the two rows of `rubric_vote_call`
are copies from `judge_call`.
"""

import random
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from resources import catalogue
from resources.digest import digest as value_digest
from resources.duckdb_warehouse import BEFORE_MIGRATION, DuckDBWarehouse
from resources.migration import OWN, VERSIONS, digest
from resources.warehouse import Warehouse

HOMES = Path(__file__).parent.parent / "homes"

RENAMED = {key: name for version in VERSIONS for key, name in version.renamed.items()}
MERGED = {former: table for version in VERSIONS for former, (table, _) in version.merged.items()}
GIVEN_UP = {
    "system_comparison": {"p_bootstrap"}, "term_adherence": {"agreeing", "conflicting"},
    "adherence_summary": {"agreeing", "conflicting", "agreement"}, "base_set": {"source_language", "target_language"},
}  # fmt: skip
REMOVED = {
    "baseline_span", "output_comet", "funnel", "confusion", "judge_accuracy", "judge_confusion", "failing_passage",
    "failure_overlap", "class_score", "baseline_score", "encoder_score", "anchored_win_rate",
    "panel_without",
}  # fmt: skip
"""Tables of former versions with computed rows, which nothing computes any more, or which are views now."""

FORMER_ASSETS = [
    "funnel", "closest_share", "outlier_threshold", "sensitivity_threshold", "baseline_score", "encoder_score",
    "anchored_win_rate",
]  # fmt: skip
"""Assets of former versions, whose states are removed."""

CALLS = {
    "translation_call": ("model_output", ["batch"]),
    "judge_call": ("judge_vote", ["judge"]),
    "comparison_call": ("comparison", ["base_set", "anchor", "shown"]),
    "rubric_vote_call": ("rubric_vote", ["judge"]),
    "aspect_vote_call": ("aspect_vote", ["judge", "aspect", "shown"]),
    "glossary_call": ("glossary", []),
    "answer_call": ("answer", ["seed", "sample", "draw"]),
}


@pytest.fixture(scope="module")
def kept_open() -> bool:
    return False


def unpack(name: str, path: str) -> dict[str, pl.DataFrame]:
    """Put a former home where a warehouse will look, and return its rows by table."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).unlink(missing_ok=True)
    with TemporaryDirectory() as folder, duckdb.connect(path) as connection:
        with zipfile.ZipFile(HOMES / name) as archive:
            archive.extractall(folder)
        connection.execute((Path(folder) / "schema.sql").read_text(encoding="utf-8"))
        for file in Path(folder).glob("*.json"):
            connection.execute(f"COPY \"{file.stem}\" FROM '{file}' (FORMAT json)")
        tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: connection.sql(f'SELECT * FROM "{name}"').pl() for name in tables if name != "schema_digest"}


@pytest.fixture
def former(warehouse: Warehouse) -> dict[str, pl.DataFrame]:
    """The rows of a home of the version before `study_call`, which now lies where the warehouse looks."""
    return unpack("before-study-call.zip", warehouse.name)


@pytest.mark.parametrize("name", [path.name for path in sorted(HOMES.iterdir())])
def test_no_row_of_a_former_home_is_lost(warehouse: Warehouse, name: str) -> None:
    former = unpack(name, warehouse.name)
    assert sum(map(len, former.values())) > 400
    with warehouse.consistently():
        for table, rows in former.items():
            if table in MERGED:
                assert len(warehouse.read(MERGED[table])) >= len(rows), table
            elif table not in REMOVED:
                now = warehouse.read(table)
                names = {former: new for (where, former), new in RENAMED.items() if where == table}
                rows = rows.rename(names, strict=False)
                if table == "materialization":
                    rows = rows.filter(
                        ~pl.col("asset").is_in(FORMER_ASSETS), ~pl.col("asset").str.ends_with("_sentinel")
                    )
                assert {*rows.columns} - {*now.columns} <= GIVEN_UP.get(table, set())
                shared = [column for column in now.columns if column in rows.columns]
                key = [column for column in catalogue.table(table).key if column in shared]
                assert now.select(shared).sort(key).equals(rows.select(shared).sort(key)), table


def test_every_call_of_a_former_home_is_found_under_its_study(
    warehouse: Warehouse, former: dict[str, pl.DataFrame]
) -> None:
    calls = warehouse.read("study_call")
    assert len(calls) == sum(len(former[table]) for table in CALLS)
    for table, (study, key) in CALLS.items():
        own = calls.filter(study=study).sort("model", "passage", "task", "item")
        item = pl.concat_str(key, separator="|") if key else pl.lit("")
        rows = former[table].with_columns(item=item)
        shared = [name for name in own.columns if name in rows.columns]
        order = [name for name in ("model", "passage", "task", "item") if name in shared]
        assert len(own) == len(rows) > 0
        assert own.select(shared).equals(rows.sort(order).select(shared)), table


def test_a_migrated_home_has_the_tables_of_the_catalogue_and_no_others(
    warehouse: Warehouse, former: dict[str, pl.DataFrame]
) -> None:
    warehouse.read("corpus")
    with duckdb.connect(warehouse.name) as connection:
        tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert tables - OWN == set(catalogue.tables())
    with warehouse.consistently():
        assert [table for table in catalogue.tables() if len(warehouse.differences(table))] == []


def test_a_home_of_version_1_opens_with_its_scores_and_the_new_columns(
    warehouse: Warehouse, former: dict[str, pl.DataFrame]
) -> None:
    warehouse.read("corpus")
    with duckdb.connect(warehouse.name) as connection:  # as version 1 left it
        for table, column in (("anchor_score", "lt_controlled"), ("pairwise_score", "lt_fixed_controlled")):
            for end in ("", "_low", "_high"):
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}{end}")
        connection.execute("ALTER TABLE anchor_score DROP COLUMN length_problem")
        connection.execute("DROP TABLE pair_control")
        without = "SELECT * EXCLUDE (protocol) FROM annotator_consistency"
        connection.execute(f"CREATE OR REPLACE TABLE annotator_consistency AS {without}")
        row = "'tiny', 'mori', 9, 0, 0, '', '', '', now()::TIMESTAMP"
        columns = "corpus, annotator, labels, repeats, checks, signature, fingerprint, run_id, updated_at"
        connection.execute(f"INSERT INTO annotator_consistency ({columns}) VALUES ({row})")
        connection.execute("UPDATE schema_version SET number = 1, digest = ?", [VERSIONS[0].digest])
    with DuckDBWarehouse(path=warehouse.name).consistently():
        for table in ("anchor_score", "pairwise_score"):
            key, rows = list(catalogue.table(table).key), warehouse.read(table)
            shared = [column for column in rows.columns if column in former[table].columns]
            assert rows.select(shared).sort(key).equals(former[table].select(shared).sort(key)), table
            assert len(rows) > 0
        assert warehouse.read("anchor_score")["lt_controlled"].null_count() == len(former["anchor_score"])
        assert warehouse.read("pair_control").is_empty()
        kept = warehouse.read("annotator_consistency", columns=["annotator", "protocol", "labels"])
        assert kept.rows() == [("mori", "labels", 9)]
    with duckdb.connect(warehouse.name) as connection:
        last = "SELECT number, digest FROM schema_version ORDER BY migrated_at DESC LIMIT 1"
        assert connection.execute(last).fetchone() == (len(VERSIONS), digest())


EXAMINED = {"comparison": "shown", "aspect_vote": "shown", "judge_vote": "judged", "rubric_vote": "judged",
            "span_vote": "judged"}  # fmt: skip
"""Studies whose judges had an examination of their own, and the column with what the judge saw."""


def test_examinations_of_five_studies_become_one_and_keep_their_rows_and_calls(warehouse: Warehouse) -> None:
    warehouse.read("corpus")
    shared = "'j' AS judge, 'la-en' AS direction, '' AS aspect, 'accuracy' AS trait, 'term' AS kind, 'c/1' AS passage"
    stamps = "'f' AS fingerprint, 'r' AS run_id, now()::TIMESTAMP AS updated_at"
    with duckdb.connect(warehouse.name) as connection:  # as version 11 left it
        connection.execute("DROP TABLE sentinel")
        for purpose, shown in EXAMINED.items():
            asset = f"{purpose.removesuffix('_vote')}_sentinel"
            seen = "'A' AS shown, 'trial' AS choice, 1.5 AS trial_length"
            reply = seen if shown == "shown" else "'trial' AS judged, 0.25 AS worth"
            values = f"{shared}, {reply}, 3::INTEGER AS number, 'why' AS abstention, {stamps}"
            connection.execute(f"CREATE TABLE {asset} AS SELECT {values}")
            item = "j|la-en||accuracy|term|c/1|A"
            call = f"'{asset}', '', '', '', '{item}', 'call of {purpose}', 'f', 'r', now()::TIMESTAMP"
            columns = "study, model, passage, task, item, call, fingerprint, run_id, updated_at"
            connection.execute(f"INSERT INTO study_call ({columns}) VALUES ({call})")
            state = f"'{asset}', '', '', '', 'v', 1, 'code:1', 'f', 'r', now()::TIMESTAMP"
            columns = "asset, model, passage, task, version, row_count, made_from, fingerprint, run_id, updated_at"
            connection.execute(f"INSERT INTO materialization ({columns}) VALUES ({state})")
        connection.execute("UPDATE schema_version SET number = 11, digest = ?", [VERSIONS[10].digest])
    with DuckDBWarehouse(path=warehouse.name).consistently():
        chosen = ["purpose", "shown", "choice", "trial_length", "worth", "judge", "passage", "number", "abstention"]
        common = ("j", "c/1", 3, "why")
        assert warehouse.read("sentinel", columns=chosen).sort("purpose").rows() == [
            (purpose, *(("A", "trial", 1.5, None) if shown == "shown" else ("trial", None, None, 0.25)), *common)
            for purpose, shown in sorted(EXAMINED.items())
        ]
        calls = warehouse.read("study_call", columns=["study", "item", "call"]).sort("item").rows()
        of_study = "sentinel", "j|la-en||accuracy|term|c/1|A"
        assert calls == [
            (of_study[0], f"{purpose}|{of_study[1]}", f"call of {purpose}") for purpose in sorted(EXAMINED)
        ]
        states = warehouse.read("materialization", columns=["asset", "row_count", "fingerprint"])
        assert states.rows() == [("sentinel", 5, "")]  # stale: the replies are read again from the ledger


@pytest.mark.parametrize("name", [path.name for path in sorted(HOMES.iterdir())])
def test_sums_of_a_former_home_are_the_digests_that_its_fingerprints_contain(warehouse: Warehouse, name: str) -> None:
    unpack(name, warehouse.name)
    sums, states = warehouse.read("state_sum"), warehouse.read("materialization")
    former = states.group_by("asset", "model", maintain_order=True).agg(pl.col("version").str.join(" "))
    expected = former.with_columns(pl.col("version").map_elements(value_digest, return_dtype=pl.String))
    assert sums.select("asset", "model", "version").equals(expected.sort("asset", "model"))
    assert warehouse.mend_sums() == []


def test_a_home_whose_clock_was_set_back_is_migrated_once(warehouse: Warehouse) -> None:
    warehouse.read("corpus")
    with duckdb.connect(warehouse.name) as connection:
        former = "UPDATE schema_version SET number = 1, digest = ?, migrated_at = now()::TIMESTAMP + INTERVAL 1 YEAR"
        connection.execute(former, [VERSIONS[0].digest])
    for _ in range(2):
        DuckDBWarehouse(path=warehouse.name).read("corpus")
    with duckdb.connect(warehouse.name) as connection:
        numbers = connection.execute("SELECT number FROM schema_version ORDER BY number").fetchall()
    assert numbers == [(1,), (len(VERSIONS),)]


def test_the_last_version_is_the_declared_schema() -> None:
    assert VERSIONS[-1].digest == digest(), "a declaration has changed: add a version to resources/migration.py"


MIGRATE = """
import sys
from resources.duckdb_warehouse import DuckDBWarehouse
print(flush=True)
DuckDBWarehouse(path=sys.argv[1]).read("corpus")
"""


@pytest.mark.large
@pytest.mark.proof
def test_kills_of_a_migration_leave_the_former_file_or_the_migrated_one(warehouse: Warehouse, full: bool) -> None:
    former = unpack("before-study-call.zip", warehouse.name)
    begun = time.monotonic()
    undisturbed = contents(warehouse)
    length, chance = time.monotonic() - begun, random.Random(7)
    copy = Path(warehouse.name).parent / BEFORE_MIGRATION / "variorum.duckdb"
    outcomes = Counter[str]()
    for _ in range(20 if full else 2):
        copy.unlink()
        unpack("before-study-call.zip", warehouse.name)
        with subprocess.Popen([sys.executable, "-c", MIGRATE, warehouse.name], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(chance.uniform(0, 2 * length))
            process.kill()
        with duckdb.connect(warehouse.name) as connection:
            tables = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        outcomes[("copied, " if copy.exists() else "") + ("migrated" if "study_call" in tables else "as before")] += 1
        assert tables >= former.keys() or tables == {*catalogue.tables()} | OWN
        assert_equal(contents(warehouse), undisturbed)
        with duckdb.connect(str(copy), read_only=True) as connection:
            for table, rows in former.items():
                assert connection.execute(f'SELECT count(*) FROM "{table}"').fetchone() == (len(rows),)
    print(f"\n{dict(outcomes)}")


def contents(warehouse: Warehouse) -> dict[str, pl.DataFrame]:
    with warehouse.consistently():
        return {table: warehouse.read(table) for table in catalogue.tables()}


def assert_equal(found: dict[str, pl.DataFrame], expected: dict[str, pl.DataFrame]) -> None:
    for table, rows in expected.items():
        assert_frame_equal(found[table], rows)
