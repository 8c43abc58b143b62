"""What the tests of both warehouses share: rows, processes that write, and the content of a DuckDB file."""

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from resources.warehouse import Replacement, Warehouse

PROCESSES = multiprocessing.get_context("forkserver")  # fresh processes that need not import everything again
PROCESSES.set_forkserver_preload(["dagster", "duckdb", "hypothesis"])


def sources(*passages: str, **columns: Any) -> pl.DataFrame:
    """Rows of `source_text`, whose many text columns could be swapped unseen; `columns` stand for the usual values."""
    usual = {
        "passage": list(passages),
        "corpus": [passage.partition("/")[0] for passage in passages],
        "passage_id": [passage.partition("/")[2] for passage in passages],
        "document": "a document",
        "position": range(len(passages)),
        "language": "a language",
        "segment_ids": [["s1", "s2"]] * len(passages),
        "segments": [["one", "two"]] * len(passages),
        "text": "a text",
        "previous": "before it",
        "following": "after it",
        "listed": True,
        "fingerprint": "a fingerprint",
    }
    return pl.DataFrame(usual | columns)


def replace(warehouse: Warehouse, rows: pl.DataFrame, *passages: str, run_id: str = "run") -> None:
    """Write rows in the place of what there is of these passages, or of the whole table where none is named."""
    partitions = pl.DataFrame({"passage": passages}) if passages else None
    warehouse.write([Replacement("source_text", rows, partitions)], run_id)


def texts(warehouse: Warehouse) -> dict[str, str]:
    return dict(warehouse.read("source_text", columns=["passage", "text"]).iter_rows())


@contextmanager
def process(target: Any, *arguments: Any) -> Iterator[tuple[Any, Connection]]:
    """Another Python process that runs a function of this module, and what it says; it does not outlive the test."""
    here, there = PROCESSES.Pipe()
    child = PROCESSES.Process(target=target, args=(*arguments, there))
    child.start()
    there.close()
    try:
        yield child, here
    finally:
        child.kill()
        child.join(60)


def said(connection: Connection) -> list[Any]:
    """Everything that a process said before it ended."""
    words = []
    try:
        while connection.poll(30):
            words.append(connection.recv())
    except EOFError:
        return words
    raise AssertionError(f"the process is silent after {words}")


def write_in_tokyo(warehouse: Warehouse, _: Connection) -> None:
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    replace(warehouse, sources("x/1"))


def write_many(warehouse: Warehouse, corpus: str, rounds: int, kept: bool, tell: Connection) -> None:
    tell.send("ready")
    tell.recv()
    with warehouse.kept_open() if kept else nullcontext():
        for i in range(rounds):
            replace(
                warehouse,
                sources(f"{corpus}/{i % 5}", f"{corpus}/{i % 5}+", text=str(i)),
                f"{corpus}/{i % 5}",
                f"{corpus}/{i % 5}+",
            )


def write_until_killed(warehouse: Warehouse, passages: Sequence[str], first: int, tell: Connection) -> None:
    for generation in range(first, first + 10_000):
        replace(warehouse, sources(*passages, text=f"{generation}"), *passages)
        tell.send(generation)


def content(path: Path | str) -> dict[str, Any]:
    """Rows of every table of a file, and what is declared of them, read as any other program would."""
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        ]
        return {
            **{table: connection.execute(f'SELECT * FROM "{table}" ORDER BY ALL').fetchall() for table in tables},
            "columns": connection.execute(
                "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal "
                "ORDER BY table_name, column_index"
            ).fetchall(),
            "constraints": connection.execute(
                "SELECT table_name, constraint_type, constraint_column_names FROM duckdb_constraints() ORDER BY ALL"
            ).fetchall(),
        }
