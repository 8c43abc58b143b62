"""The published scores of PaliBench's package, as our tables take them."""

import json
from pathlib import Path

import polars as pl

from benchmark_assets.metrics.diagnostics import DIAGNOSES

MODELS = [
    "anthropic/claude-opus-4.5", "deepseek/deepseek-v3.2", "google/gemini-3-pro-preview", "openai/gpt-5.2",
    "qwen/qwen3-235b-a22b-2507", "x-ai/grok-4.1-fast", "z-ai/glm-4.7",
]  # fmt: skip
TRANSLATORS = ["sujato", "thanissaro", "bodhi"]


def published_scores(realdata: Path) -> pl.DataFrame:
    """Published scores of all models. Statistics of n-grams are not published."""
    folder, frames = realdata / "palibench/results/per_passage_scores", []
    for model in MODELS:
        path = folder / f"{model.replace('/', '-')}_reasoning-none_per_passage_scores.json"
        rows = pl.DataFrame(json.loads(path.read_text(encoding="utf-8")), infer_schema_length=None)
        frames.append(rows.with_columns(system=pl.lit(model)))
    statistics = dict.fromkeys(["chrf_statistics", "bleu_statistics"], pl.List(pl.Int64))
    numbers = dict.fromkeys(["drift_adjusted", "drift_euclidean"], pl.Float64())
    null = pl.Schema(numbers | statistics | {"tokenizer": pl.String()} | dict.fromkeys(DIAGNOSES, pl.Boolean()))
    rows = pl.concat(frames).rename({"normalized_drift": "drift", "closest_translator": "closest_reference"})
    return rows.with_columns(
        *(pl.lit(None, kind).alias(name) for name, kind in null.items()),
        passage="palibench/" + pl.col("passage_id"), corpus=pl.lit("palibench"), kind=pl.lit("model"),
        unit=pl.col("passage_id").str.extract("^([^:]+)"), unit_kind=pl.lit("documents"),
        expected=pl.lit(value=True), usable=pl.lit(value=True), ranked=pl.lit(value=True),
        references=pl.lit(3, pl.UInt32), embedder=pl.lit("Qwen3-embedding-8b"), comet=pl.lit("wmt22-comet-da"),
    )  # fmt: skip
