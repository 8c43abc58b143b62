"""What a home stores: the warehouse against the texts of its user, vectors, and Dagster's events.

The texts are composed: passages of 100 to 1,500 characters with two references, and imported outputs of eight models.
The bytes are printed beside their targets, from nothing and after edits, with the columns and tables that take most.
"""

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
import numpy as np
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.imports import import_outputs
from resources.duckdb_files import quoted
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.bench.test_bookkeeping import disk
from tests.support import LetterEmbedder, by_hand, made_home, write_outputs

pytestmark = pytest.mark.bench

DIMENSIONS = 384
TEXTS, EVENTS = 8, 1000
"""Targets: bytes of the warehouse without vectors over those of the texts; Dagster's bytes a cell and asset."""


class NoisyEmbedder(LetterEmbedder):
    """Vectors as long as those of MiniLM, and as hard to compress."""

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        for places, letters, cut in super()._batches(texts):
            noise = np.random.default_rng(1).normal(0, 0.05, (DIMENSIONS, letters[0].size))
            yield places, [noise @ (vector / np.linalg.norm(vector)) for vector in letters], cut


class Author:
    """Composes texts of words that are as unequally frequent as those of a language."""

    def __init__(self) -> None:
        self._draw = random.Random(43)
        syllables = [first + end for first in "bcdfglmnprstvz" for end in ("a", "e", "i", "o", "u", "an", "er", "is")]
        self._words = ["".join(self._draw.choices(syllables, k=self._draw.randint(1, 4))) for _ in range(6000)]
        self._weights = [1 / (rank + 3) for rank in range(len(self._words))]

    def line(self, number: int) -> dict[str, Any]:
        """A line of a corpus: a source and two references."""
        length = self._draw.randint(100, 1500)
        reference = self._text(length)
        texts = {"source": self._text(length), "references": {"ann": reference, "ben": self.variant(reference)}}
        return {"passage_id": f"an{number // 20}:{number}", "lang": "la", **texts}

    def variant(self, text: str) -> str:
        """Another translation of the same: a text in which half of the words are others."""
        return " ".join(self._draw.choice([word, self._word()]) for word in text.split())

    def _text(self, length: int) -> str:
        return " ".join(self._word() for _ in range(length // 5))[:length].strip()

    def _word(self) -> str:
        return self._draw.choices(self._words, self._weights)[0]


def save(folder: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    """Write a corpus; return its description."""
    folder.mkdir(exist_ok=True)
    (folder / "passages.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    text = {"language": "en", "licence": "CC0-1.0"}
    description = {
        "name": "tales", "layout": "jsonl", "root": "passages.jsonl", "references": {"ann": text, "ben": text},
        "source": {"language": "la", "licence": "CC0-1.0"},
    }  # fmt: skip
    (folder / "corpus.yaml").write_text(json.dumps(description), encoding="utf-8")
    return folder / "corpus.yaml"


class Stored(NamedTuple):
    """Bytes of a warehouse: of its file, of the vectors with their keys, and of each column's segments."""

    file: int
    vectors: int
    columns: Counter[str]
    compressions: Counter[str]
    free: int


def stored(warehouse: Path, scratch: Path) -> Stored:
    """Measure a warehouse that no process has open."""
    columns, compressions = Counter[str](), Counter[str]()
    with by_hand(str(warehouse)) as connection:
        connection.execute("CHECKPOINT")
        ((size, free),) = connection.execute("SELECT block_size, free_blocks FROM pragma_database_size()").fetchall()
        segments = [
            (block, offset, f"{table}.{column}", compression)
            for (table,) in connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall()
            for block, offset, column, compression in connection.execute(
                "SELECT block_id, block_offset, column_name, compression FROM pragma_storage_info(?) "
                "WHERE block_id >= 0",
                [table],
            ).fetchall()
        ]
        segments.sort()
        for segment, after in zip(segments, [*segments[1:], (-1, 0, "", "")], strict=True):
            length = (after[1] if after[0] == segment[0] else size) - segment[1]
            columns[segment[2]] += length
            compressions[segment[3]] += length
        copies = []
        for name in ("all", "without"):
            connection.execute(f"ATTACH {quoted(scratch / name)} AS copy (BLOCK_SIZE {size})")
            connection.execute(f"COPY FROM DATABASE {warehouse.stem} TO copy")
            if name == "without":
                connection.execute("TRUNCATE copy.embedding")
                connection.execute("CHECKPOINT copy")
            connection.execute("DETACH copy")
            copies.append((scratch / name).stat().st_size)
            (scratch / name).unlink()
    return Stored(warehouse.stat().st_size, copies[0] - copies[1], columns, compressions, free * size)


def events_by_table(index: Path) -> dict[str, int]:
    """Bytes of each table and index of Dagster's events, and of free pages."""
    with closing(sqlite3.connect(index)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        pages = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 8")
        return {**dict(pages.fetchall()), "free": free * size}


def report(words: str, home: Path, scratch: Path, texts: int, embedded: int, cells: int) -> tuple[float, float]:
    """Print what a home stores; return the first and the third of the three figures."""
    found, dagster = stored(home / "variorum.duckdb", scratch), disk(home / "dagster")
    ratio = (found.file - found.vectors) / texts
    print(f"\n{words}:")
    print(f"  texts, scores, states: {ratio:.1f} times {texts / 1e6:.2f} MB of texts (target {TEXTS})")
    print(f"  vectors: {found.vectors / embedded:,.0f} bytes a text and embedder, {4 * DIMENSIONS:,} of them numbers")
    print(f"  Dagster: {dagster / cells:,.0f} bytes a cell and asset (target {EVENTS:,}), {dagster / 1e6:.1f} MB")
    print(f"  segments of {found.file:,} bytes: {dict(found.columns.most_common(12))}")
    tables = Counter[str]()
    for column, size in found.columns.items():
        tables[column.partition(".")[0]] += size
    print(f"  by table: {dict(tables.most_common(12))}")
    rest = found.file - found.columns.total() - found.free
    print(f"  by compression: {dict(found.compressions)}; indexes, metadata {rest:,}; free {found.free:,}")
    print(f"  events: {events_by_table(home / 'dagster' / 'history' / 'runs' / 'index.db')}")
    assert 0 < found.columns.total() < found.file
    return ratio, dagster / cells


@pytest.mark.large
def test_what_a_home_stores(full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passages, models, edits = (150, 8, 20) if full else (4, 2, 1)
    home, author = made_home(monkeypatch, tmp_path), Author()
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    definitions = build_definitions(resource_overrides={"warehouse": warehouse, "embedder": NoisyEmbedder()})
    lines = [author.line(number) for number in range(passages)]
    outputs = [{line["passage_id"]: author.variant(line["references"]["ann"]) for line in lines} for _ in range(models)]

    def updated() -> None:
        with dg.DagsterInstance.get() as instance:
            instance.add_dynamic_partitions("model", [f"model-{number}" for number in range(models)])
            runs.look(definitions, instance)
            runs.update(definitions, instance)

    def measured(words: str) -> tuple[float, float]:
        with dg.DagsterInstance.get() as instance:
            keys = [
                key for key in instance.all_asset_keys() if "|" in "".join(instance.get_materialized_partitions(key))
            ]
        texts = [
            *(text for line in lines for text in (line["source"], *line["references"].values())),
            *(text for texts in outputs for text in texts.values()),
        ]
        embedded = len(warehouse.read("embedding", columns=["text_hash"]))
        size = sum(len(text.encode()) for text in texts)
        return report(words, home, tmp_path, size, embedded, passages * models * len(keys))

    register(warehouse, save(tmp_path / "corpus", lines))
    with dg.DagsterInstance.get() as instance:
        runs.look(definitions, instance)
    for number, texts in enumerate(outputs):
        import_outputs(warehouse, write_outputs(tmp_path / f"{number}.jsonl", texts), "tales", f"model-{number}")
    updated()
    found = measured("from nothing")
    assert not full or (found[0] < TEXTS and found[1] < EVENTS)
    for edit in range(edits):
        line = lines[edit * 7]
        line["references"]["ben"] = author.variant(line["references"]["ann"])
        save(tmp_path / "corpus", lines)
        updated()
    measured(f"after {edits} edits")  # free blocks, which later edits use, are a third of the file then
