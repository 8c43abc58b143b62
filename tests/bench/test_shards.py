"""A corpus that Dagster knows by shards: 200,000 passages and five models, from the files to drift, then one fix.

Texts are embedded by a stub and translated by rule, so that bookkeeping, storage and memory are measured. CPU seconds,
the peak of this process's memory and the sizes of the files are printed. At the small size, a corpus of six passages is
divided.
"""

import resource
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import Scope, due, order
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.embedders import Embedder
from tests.bench.grid import write_jsonl_corpus
from tests.bench.test_bookkeeping import disk
from tests.bench.test_updates import cpu_seconds
from tests.support import CORE, made_home
from tests.systems import rule_systems

pytestmark = pytest.mark.bench

CHAIN = [
    "alignment", "verification", "passage_filter", "near_duplicate", "selection", "glossary", "reference",
    "reference_envelope", "model_output", "drift_score",
]  # fmt: skip


class StubEmbedder(Embedder):
    """Sixteen numbers from a hash of the text."""

    @property
    def signature(self) -> str:
        return "stub"

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        hashes = b"".join(blake2b(text.encode(), digest_size=16).digest() for text in texts)
        vectors = np.frombuffer(hashes, np.uint8).reshape(len(texts), 16) + 1.0
        yield list(range(len(texts))), list(vectors), [False] * len(texts)


def carry_out(definitions: dg.Definitions, instance: dg.DagsterInstance, count: list[int]) -> None:
    """Materialize the stale partitions of CHAIN, and print the cost of each asset."""
    for asset in order(definitions):
        if (name := asset.to_user_string()) not in CHAIN:
            continue

        def materialized(asset: dg.AssetKey = asset, name: str = name) -> None:
            count.append(len(due(definitions, instance, asset).rows))
            runs.ChainUpdate(definitions, instance, Scope(assets=[name]), {}).carry_out()

        seconds = cpu_seconds(materialized)
        print(f"  {name}: {count[-1]:,} stale, {seconds:.1f} s of CPU, {peak():.0f} MB")


def peak() -> float:
    """The largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


@pytest.mark.large
@pytest.mark.parametrize("passages", [50_000, 200_000])
def test_a_large_corpus(passages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = 5
    home = made_home(monkeypatch, tmp_path)
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    resources = {"warehouse": warehouse, "embedder": StubEmbedder(), "systems": rule_systems(warehouse, home)}
    definitions = build_definitions(rooms=CORE, resource_overrides=resources)
    register(warehouse, write_jsonl_corpus(tmp_path / "corpus", passages))
    with dg.DagsterInstance.get() as instance, warehouse.kept_open():
        scan = cpu_seconds(lambda: runs.look(definitions, instance))
        print(f"\n{passages:,} × {models}: first scan {scan:.1f} s of CPU, {peak():.0f} MB")
        instance.add_dynamic_partitions("model", [f"m{i}" for i in range(models)])
        computed: list[int] = []
        made = cpu_seconds(lambda: carry_out(definitions, instance, computed))
        assert len(warehouse.read("drift_score", columns=["model"])) == passages * models
        sizes = Path(warehouse.path).stat().st_size, disk(home / "dagster")
        print(f"  made in {made:.1f} s of CPU, {peak():.0f} MB; DuckDB {sizes[0] / 1e6:.0f} MB,")
        print(f"  Dagster {sizes[1] / 1e6:.1f} MB in {len(instance.get_dynamic_partitions('passage'))} shards")

        nothing: list[int] = []
        looked = cpu_seconds(lambda: carry_out(definitions, instance, nothing))
        assert sum(nothing) == 0
        file = tmp_path / "corpus" / "passages.jsonl"
        file.write_text(file.read_text().replace("Sentence 2 is short.", "Sentence 2 is brief."))
        scan = cpu_seconds(lambda: runs.look(definitions, instance))
        fixed: list[int] = []
        update = cpu_seconds(lambda: carry_out(definitions, instance, fixed))
        print(
            f"  nothing stale {looked:.1f} s of CPU; one fix: scan {scan:.1f} s, update {update:.1f} s; {peak():.0f} MB"
        )
    assert max(fixed[:-2]) == 1
    assert fixed[-2:] == [0, models]
