"""The published scores of PaliBench's package, as our tables take them."""

from pathlib import Path

import polars as pl

from benchmark_assets.benchmarks import published_scores
from benchmark_assets.benchmarks.recipe import SHIPPED, read
from benchmark_assets.reporting.published import as_scores

MODELS = [
    "anthropic/claude-opus-4.5", "deepseek/deepseek-v3.2", "google/gemini-3-pro-preview", "openai/gpt-5.2",
    "qwen/qwen3-235b-a22b-2507", "x-ai/grok-4.1-fast", "z-ai/glm-4.7",
]  # fmt: skip
TRANSLATORS = ["sujato", "thanissaro", "bodhi"]


def imported(realdata: Path, folder: Path) -> pl.DataFrame:
    """Rows of `published_score` as `variorum add palibench` imports them; `folder` becomes the recipe's copy."""
    entry, _ = read(SHIPPED / "palibench").recipe.scores  # the others are not here
    (folder / "sources").mkdir(parents=True)
    (folder / "sources" / entry.source).symlink_to(realdata / "palibench")
    (folder / entry.overall).symlink_to(SHIPPED / "palibench" / entry.overall)
    return published_scores.read(folder, entry, "CC BY 4.0").with_columns(benchmark=pl.lit("palibench"))


def scores_of_passages(realdata: Path, folder: Path) -> pl.DataFrame:
    """Published scores of passages of all models, in units of documents. Statistics of n-grams are not published."""
    rows = as_scores(imported(realdata, folder))
    return rows.with_columns(
        unit=pl.col("passage_id").str.extract("^([^:]+)"), unit_kind=pl.lit("documents"), apart=pl.lit("")
    )
