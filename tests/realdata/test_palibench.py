"""PaliBench's published scores of seven models on 1,700 passages, recomputed."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.metrics.drift import cosine_drift
from benchmark_assets.metrics.lexical import length_ratio
from benchmark_assets.metrics.summary import OUTLIER

pytestmark = pytest.mark.realdata

MODELS = [
    "anthropic-claude-opus-4.5", "deepseek-deepseek-v3.2", "google-gemini-3-pro-preview", "openai-gpt-5.2",
    "qwen-qwen3-235b-a22b-2507", "x-ai-grok-4.1-fast", "z-ai-glm-4.7",
]  # fmt: skip
Published = tuple[list[dict[str, Any]], dict[str, Any]]
TRANSLATORS = ["sujato", "thanissaro", "bodhi"]


@pytest.fixture(params=MODELS)
def published(request: pytest.FixtureRequest, realdata: Path) -> Published:
    """Per-passage scores of a model, and the file of its outputs."""
    results, name = realdata / "palibench/results", f"{request.param}_reasoning-none"
    scores = json.loads((results / f"per_passage_scores/{name}_per_passage_scores.json").read_text(encoding="utf-8"))
    outputs = json.loads((results / f"translations/{name}.json").read_text(encoding="utf-8"))
    assert len(scores) == 1700
    return scores, outputs


def column(scores: list[dict[str, Any]], name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([row[name] for row in scores], dtype=np.float64)


def test_drift_is_the_published_one(published: Published) -> None:
    scores, _ = published
    drift = cosine_drift(column(scores, "sim_centroid"), column(scores, "human_variance"))
    assert_allclose(drift, column(scores, "normalized_drift"), rtol=1e-6, atol=1e-6)


def test_outliers_are_as_many_as_published(published: Published, realdata: Path) -> None:
    scores, outputs = published
    aggregates = json.loads((realdata / "palibench/results/aggregate_scores.json").read_text(encoding="utf-8"))
    [own] = [row for row in aggregates if row["model"] == outputs["metadata"]["model"]]
    drift = cosine_drift(column(scores, "sim_centroid"), column(scores, "human_variance"))
    assert (drift > OUTLIER).sum() == own["outlier_count"]


def test_published_centroid_similarities_obey_the_identity_of_the_envelope(
    published: Published,
) -> None:
    scores, _ = published
    mean = np.mean([column(scores, f"sim_{name}") for name in TRANSLATORS], axis=0)
    # the published values were computed in single precision
    assert_allclose(mean / (1 - column(scores, "human_variance")), column(scores, "sim_centroid"), atol=1e-6)


def test_length_ratios_are_the_published_ones(published: Published, realdata: Path) -> None:
    scores, outputs = published
    with (realdata / "palibench/metadata/passage_manifest.csv").open(encoding="utf-8", newline="") as file:
        manifest = {
            row["passage_id"]: [int(row[f"{name}_chars"]) for name in TRANSLATORS] for row in csv.DictReader(file)
        }
    ratios = [
        length_ratio(len(outputs["translations"][row["passage_id"]]), manifest[row["passage_id"]]) for row in scores
    ]
    assert_allclose(ratios, column(scores, "length_ratio"), rtol=0, atol=1e-12)
