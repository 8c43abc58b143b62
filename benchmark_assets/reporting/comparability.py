"""Which rows of a leaderboard are comparable: how outputs were made and scored, and groups of comparable systems.

Only systems whose outputs are scored by the same embedder, on the same passages, and are not known to come from
different prompts are comparable. A limited evaluation covers fewer passages. Settings of models belong to the systems,
and separate nothing.

Here: origins of outputs, reasons to keep rows apart. Not here: ranks (leaderboard), tests (comparisons).
"""

import json

import polars as pl

from resources.keys import CORPUS
from resources.warehouse import Warehouse

MADE = dict.fromkeys(["corpus", "system", "origin", "prompt", "settings", "benchmark"], pl.String())

STATED = {
    "temperature": "temperature", "top_p": "top_p", "seed": "seed", "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens", "reasoning_effort": "effort", "batch_tokens": "batch_tokens",
}  # fmt: skip
"""Settings that are shown, by their names in requests and files of outputs. Others may contain any text."""

EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh", "max"}


def made(warehouse: Warehouse) -> pl.DataFrame:
    """How the outputs of each model were made: columns of `MADE`, one row for each corpus and model.

    `prompt` is null if no prompt is recorded, and lists all prompts if there are several. `benchmark` is the benchmark
    with which the outputs were published, else null.
    """
    columns = ["model", "passage", "prompt", "settings"]
    calls = warehouse.read("study_call", pl.DataFrame({"study": ["model_output"]}), columns)
    asked = calls.group_by(CORPUS, system="model").agg(pl.col("prompt", "settings").drop_nulls().unique().sort())
    evaluated = asked.select(
        "corpus", "system", origin=pl.lit("evaluated"), prompt=_listed("prompt"), settings=pl.col("settings")
    )
    published = warehouse.read("published_output", columns=["model", "corpus", "prompt", "benchmark"])
    files = warehouse.read("imported_file", columns=["model", "corpus", "settings"])
    imported = files.join(published, on=["model", "corpus"], how="left").select(
        "corpus", system="model", origin=pl.when(pl.col("benchmark").is_null()).then(pl.lit("imported"))
        .otherwise(pl.lit("published")), prompt="prompt", settings=pl.concat_list("settings"), benchmark="benchmark",
    )  # fmt: skip
    known = imported.join(evaluated, on=["corpus", "system"], how="anti")
    rows = pl.concat([pl.DataFrame(schema=MADE | {"settings": pl.List(pl.String)}), evaluated, known], how="diagonal")
    words = pl.col("settings").map_elements(_words, return_dtype=pl.String)
    return rows.with_columns(settings=words).sort("corpus", "system")


def apart(systems: pl.DataFrame) -> pl.DataFrame:
    """Add the column `apart`: reasons why a row is not comparable with the other rows of its corpus, '' without reason.

    Parameters
    ----------
    systems
        Columns `kind`, `embedder`, `evaluated`, `available`, and those of `MADE`: one row for each system.

    Notes
    -----
    The embedder of a corpus is the one that scored its translators, else the one that scored most models. Its prompt is
    the one of published outputs, else the one of most models. A system without a recorded prompt is not kept apart.
    """
    of_models = systems.filter(kind="model")
    published = of_models.filter(origin="published")
    embedders = pl.concat([_usual(systems.filter(kind="human"), "embedder"), _usual(of_models, "embedder")])
    usual_prompts = pl.concat([_usual(published, "prompt"), _usual(of_models, "prompt")])
    owners = published.group_by("corpus").agg(owner=pl.col("benchmark").first())
    rows = systems
    for usual in (embedders, usual_prompts):
        rows = rows.join(usual.unique("corpus", keep="first", maintain_order=True), on="corpus", how="left")
    rows = rows.join(owners, on="corpus", how="left")
    usual_prompt = pl.coalesce(pl.format("{}'s ({})", "owner", "usual_prompt"), "usual_prompt")
    reasons = [
        _reason("embedder", "scored with {} instead of {}", "usual_embedder"),
        _reason("prompt", "prompt {} instead of {}", usual_prompt),
        pl.when(pl.col("evaluated") < pl.col("available")).then(
            pl.format("evaluated on {} of {} passages", "evaluated", "available")
        ),
    ]
    joined = pl.concat_list(reasons).list.drop_nulls().list.join("; ")
    return rows.with_columns(apart=joined).drop("usual_embedder", "usual_prompt", "owner")


def _usual(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """The most frequent value of a column in each corpus, the last by name among equally frequent ones."""
    counts = rows.drop_nulls(name).group_by("corpus", name).len().sort("len", name, descending=True)
    return counts.select("corpus", pl.col(name).alias(f"usual_{name}")).unique("corpus", keep="first")


def _reason(name: str, words: str, usual: pl.Expr | str) -> pl.Expr:
    """The reason for keeping a row apart if its value in a column is not the usual one; null if it is, or is null."""
    return pl.when(pl.col(name) != pl.col(f"usual_{name}")).then(pl.format(words, name, usual))


def _listed(name: str) -> pl.Expr:
    """A list of texts as one text; null if it is empty."""
    return pl.when(pl.col(name).list.len() > 0).then(pl.col(name).list.join(" and "))


def _words(settings: pl.Series) -> str | None:
    """Settings in words, from one or more JSON objects; only numbers and efforts are shown."""
    found: dict[str, dict[str, None]] = {}
    for text in settings:
        for name, value in json.loads(text or "{}").items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if name in STATED and (number or value in EFFORTS):
                found.setdefault(STATED[name], {})[f"{value:.15g}" if number else value] = None
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in sorted(found.items())) or None


def grouped(warehouse: Warehouse, scores: pl.DataFrame) -> pl.DataFrame:
    """Scores by passage with the column `apart` of the leaderboard."""
    on = ["corpus", "kind", "system"]
    board = warehouse.read("leaderboard", columns=[*on, "apart"])
    return scores.join(board, on=on, how="left", maintain_order="left").with_columns(pl.col("apart").fill_null(""))
