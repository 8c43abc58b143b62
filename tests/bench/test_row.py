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
from resources.embedders import Embedder
from resources.embedding_cache import embed_unique
from resources.warehouse import Warehouse
from tests.bench.grid import materialize
from tests.support import made_home, run, write_outputs

pytestmark = pytest.mark.bench

PASSAGES = 1700
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


@dg.asset(partitions_def=GRID, backfill_policy=SINGLE_RUN)
def nothing() -> None:
    """Computes nothing; Dagster reports every partition all the same."""


INPUTS = [
    dg.AssetSpec("model_output", partitions_def=GRID), dg.AssetSpec("reference", partitions_def=PASSAGE),
    dg.AssetSpec("reference_envelope", partitions_def=PASSAGE),
]  # fmt: skip


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, code_version="1",
    deps=[INPUTS[0], *(dg.AssetDep(each, partition_mapping=BY_PASSAGE) for each in INPUTS[1:])],
)  # fmt: skip
def nothing_of_inputs() -> None:
    """The same with the inputs of drift_score, of which Dagster notes the versions."""


def renderings(count: int) -> list[list[str]]:
    """Texts of 500 characters or so for each passage: a common one with a fifth of its words changed, `count` times."""
    draw = np.random.default_rng(1)
    letters = np.array(list("etaoinshrdlu"))
    vocabulary = np.array(["".join(draw.choice(letters, draw.integers(2, 9))) for _ in range(5000)])
    chance = 1 / np.arange(1, 5001)
    words = draw.choice(vocabulary, (PASSAGES, 80), p=chance / chance.sum())
    changed = draw.choice(vocabulary, (count, PASSAGES, 80), p=chance / chance.sum())
    kept = draw.random((count, PASSAGES, 80)) < 0.8
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


def test_a_row_from_outputs_to_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse, embedder = Warehouse(path=str(made_home(monkeypatch, tmp_path) / "variorum.duckdb")), Drawn()
    definitions = build_definitions(resource_overrides={"warehouse": warehouse, "embedder": embedder})
    texts = renderings(len(TRANSLATORS) + len(MODELS))
    register(warehouse, corpus(tmp_path / "corpus", texts[: len(TRANSLATORS)]))
    empty = dg.Definitions([nothing, nothing_of_inputs, *INPUTS], executor=dg.in_process_executor)
    with dg.DagsterInstance.get() as instance:
        run(definitions, instance, "scan")
        passages = instance.get_dynamic_partitions("passage")
        run(definitions, instance, "construction", (passages[0], passages[-1]))
        for asset in ("reference", "reference_envelope"):
            materialize(definitions, instance, asset, passages[0], passages[-1])
        instance.add_dynamic_partitions("model", MODELS)
        took: dict[str, list[float]] = {
            name: [] for name in ("drift_score", "lexical_score", "nothing", "nothing_of_inputs")
        }
        for model, own in zip(MODELS, texts[len(TRANSLATORS) :], strict=True):
            keys = [f"d{i // 20}:{i}" for i in range(PASSAGES)]
            outputs = write_outputs(tmp_path / f"{model}.jsonl", dict(zip(keys, own, strict=True)))
            import_outputs(warehouse, outputs, "bench", model)
            ends = f"{model}|{passages[0]}", f"{model}|{passages[-1]}"
            materialize(definitions, instance, "model_output", *ends)
            embed_unique(own, embedder, warehouse, "bench")
            for asset, times in took.items():
                begun = time.perf_counter()
                materialize(empty if asset.startswith("nothing") else definitions, instance, asset, *ends)
                times.append(time.perf_counter() - begun)
    medians = {asset: statistics.median(times) for asset, times in took.items()}
    row = medians["drift_score"] + medians["lexical_score"]
    print(
        f"\na row of {PASSAGES:,} passages, {len(TRANSLATORS)} references, medians of {len(MODELS)} rows: drift "
        f"{medians['drift_score']:.2f} s, lexical {medians['lexical_score']:.2f} s; as many events of two assets that "
        f"compute nothing {2 * medians['nothing']:.2f} s; ratio {row / (2 * medians['nothing']):.2f} (target 1.5); "
        f"of two that have inputs {2 * medians['nothing_of_inputs']:.2f} s"
    )
    for table in ("drift_score", "lexical_score"):
        rows = warehouse.read(table)
        assert len(rows) == PASSAGES * len(MODELS)
        assert rows.select(pl.all().exclude("cut")).null_count().sum_horizontal().item() == 0
