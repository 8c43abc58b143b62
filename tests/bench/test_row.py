"""A model's row from outputs to scores, embeddings cached, beside Dagster's own events for as many partitions.

Figures are printed beside their target; the events are measured in the same run.
"""

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import polars as pl
import pytest

from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.partitions import BY_PASSAGE, GRID, PASSAGE, SINGLE_RUN
from benchmark_assets.translation.imports import import_outputs
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from tests.bench.grid import materialize
from tests.support import made_home, run, write_outputs

pytestmark = pytest.mark.bench

MODELS = ["m0", "m1", "m2"]
TRANSLATORS = ["ann", "ben", "cleo"]


class Drawn(Embedder):
    """Vectors of MiniLM's length that a text alone determines, at no cost."""

    @property
    def signature(self) -> str:
        return "drawn"

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        seeds = [int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") for text in texts]
        vectors = [np.random.default_rng(seed).normal(1, 1, 384) for seed in seeds]
        yield list(range(len(texts))), vectors, [False] * len(texts)


OUTPUT = dg.AssetSpec("model_output", partitions_def=GRID)
PER_PASSAGE = [dg.AssetSpec(name, partitions_def=PASSAGE) for name in ("reference", "reference_envelope")]


def empty(name: str, inputs: Sequence[dg.AssetSpec | dg.AssetDep]) -> dg.AssetsDefinition:
    """An asset that computes nothing; Dagster reports every partition all the same, with the versions of its inputs."""

    @dg.asset(name=name, partitions_def=GRID, backfill_policy=SINGLE_RUN, code_version="1", deps=inputs)
    def nothing() -> None:
        pass

    return nothing


# Two assets that have no input, and two with the inputs of drift_score and lexical_score.
OF_NOTHING = [empty(name, []) for name in ("first", "second")]
MAPPED = [dg.AssetDep(each, partition_mapping=BY_PASSAGE) for each in PER_PASSAGE]
OF_INPUTS = [empty("like_drift", [OUTPUT, *MAPPED]), empty("like_lexical", [OUTPUT, *MAPPED[:1]])]
ROWS = {
    "row": ["drift_score", "lexical_score"],
    "no inputs": ["first", "second"],
    "inputs": ["like_drift", "like_lexical"],
}


def renderings(count: int, passages: int) -> list[list[str]]:
    """Texts of 500 characters or so for each passage: a common one with a fifth of its words changed, `count` times."""
    draw = np.random.default_rng(1)
    letters = np.array(list("etaoinshrdlu"))
    vocabulary = np.array(["".join(draw.choice(letters, draw.integers(2, 9))) for _ in range(5000)])
    chance = 1 / np.arange(1, 5001)
    words = draw.choice(vocabulary, (passages, 80), p=chance / chance.sum())
    changed = draw.choice(vocabulary, (count, passages, 80), p=chance / chance.sum())
    kept = draw.random((count, passages, 80)) < 0.8
    return [
        [" ".join(row) + "." for row in np.where(own, words, other)] for own, other in zip(kept, changed, strict=True)
    ]


def corpus(folder: Path, texts: list[list[str]]) -> Path:
    """A corpus with three references as JSON lines; return its description."""
    folder.mkdir()
    lines = [
        {"passage_id": f"d{i // 20}:{i}", "lang": "la", "source": f"Sententia {i} longa est.",
         "references": dict(zip(TRANSLATORS, own, strict=True))}
        for i, own in enumerate(zip(*texts, strict=True))
    ]  # fmt: skip
    (folder / "passages.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    text = {"language": "en", "licence": "CC0-1.0"}
    description = {
        "name": "bench", "layout": "jsonl", "root": "passages.jsonl",
        "source": {"language": "la", "licence": "CC0-1.0"}, "references": dict.fromkeys(TRANSLATORS, text),
    }  # fmt: skip
    (folder / "corpus.yaml").write_text(json.dumps(description), encoding="utf-8")
    return folder / "corpus.yaml"


@pytest.mark.large
def test_a_row_from_outputs_to_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 1700
    warehouse, embedder = DuckDBWarehouse(path=str(made_home(monkeypatch, tmp_path) / "variorum.duckdb")), Drawn()
    definitions = build_definitions(resource_overrides={"warehouse": warehouse, "embedder": embedder})
    texts = renderings(len(TRANSLATORS) + len(MODELS), size)
    register(warehouse, corpus(tmp_path / "corpus", texts[: len(TRANSLATORS)]))
    bare = dg.Definitions([OUTPUT, *PER_PASSAGE, *OF_NOTHING, *OF_INPUTS], executor=dg.in_process_executor)
    with dg.DagsterInstance.get() as instance:
        run(definitions, instance, "scan")
        passages = instance.get_dynamic_partitions("passage")
        run(definitions, instance, "construction", (passages[0], passages[-1]))
        for asset in ("reference", "reference_envelope"):
            materialize(definitions, instance, passages[0], passages[-1], asset)
        instance.add_dynamic_partitions("model", MODELS)
        took: dict[str, list[float]] = {name: [] for name in ROWS}
        for model, own in zip(MODELS, texts[len(TRANSLATORS) :], strict=True):
            keys = [f"d{i // 20}:{i}" for i in range(size)]
            outputs = write_outputs(tmp_path / f"{model}.jsonl", dict(zip(keys, own, strict=True)))
            import_outputs(warehouse, outputs, "bench", model)
            ends = f"{model}|{passages[0]}", f"{model}|{passages[-1]}"
            materialize(definitions, instance, *ends, "model_output")
            embed_unique(own, embedder, warehouse, "bench")
            for row, assets in ROWS.items():
                begun = time.perf_counter()
                materialize(definitions if row == "row" else bare, instance, *ends, *assets)
                took[row].append(time.perf_counter() - begun)
    scored, plain, like = (statistics.median(took[each]) for each in ("row", "no inputs", "inputs"))
    print(
        f"\na row of {size:,} passages, {len(TRANSLATORS)} references, in one run, medians of {len(MODELS)} rows: "
        f"drift and lexical scores {scored:.2f} s; the events of two assets with the same inputs that compute nothing "
        f"{like:.2f} s, ratio {scored / like:.2f}; of two without inputs {plain:.2f} s, ratio {scored / plain:.2f} "
        "(target 1.5)"
    )
    for table in ("drift_score", "lexical_score"):
        rows = warehouse.read(table)
        assert len(rows) == size * len(MODELS)
        assert rows.select(pl.all().exclude("cut")).null_count().sum_horizontal().item() == 0
