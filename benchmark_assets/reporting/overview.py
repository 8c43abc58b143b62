"""What a home contains, by corpus and by model, and what a person may do next.

Here: counts from tables of the warehouse. Not here: Dagster's partitions (automation.runs.status), scores.
"""

from collections.abc import Collection, Iterator

import polars as pl

from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.review import doubt_lines
from resources.keys import CORPUS
from resources.warehouse import Warehouse


def corpora(warehouse: Warehouse) -> pl.DataFrame:
    """A row for each corpus: languages, passages, selected passages, references, models with outputs, and `waiting`:
    passages that were imported since the last update."""
    known = warehouse.read("corpus", columns=["corpus", "source_language", "target_language"])
    selection = warehouse.read("selection", columns=["passage", "selected"]).with_columns(CORPUS)
    imported = warehouse.read("source_text", columns=["passage"]).with_columns(CORPUS)
    waiting = imported.join(selection, on="passage", how="anti")
    references = _references(warehouse).group_by("corpus").agg(references=pl.col("translator").unique().sort())
    models = _outputs(warehouse).group_by("corpus").agg(models=pl.col("model").n_unique())
    return (
        known.join(imported.group_by("corpus").agg(passages=pl.len()), on="corpus", how="left")
        .join(selection.group_by("corpus").agg(selected=pl.sum("selected")), on="corpus", how="left")
        .join(waiting.group_by("corpus").agg(waiting=pl.len()), on="corpus", how="left")
        .join(references.with_columns(pl.col("references").list.join(", ")), on="corpus", how="left")
        .join(models, on="corpus", how="left")
        .select(
            "corpus",
            languages=pl.format("{} → {}", "source_language", "target_language"),
            passages=pl.col("passages").fill_null(0),
            selected=pl.col("selected").fill_null(0),
            references=pl.col("references").fill_null("-"),
            models=pl.col("models").fill_null(0),
            waiting=pl.col("waiting").fill_null(0),
        )
        .sort("corpus")
    )


def models(warehouse: Warehouse, registered: Collection[str]) -> pl.DataFrame:
    """A row for each model with outputs or in the registry: outputs, usable outputs by corpus, and its origin."""
    outputs = (
        _outputs(warehouse)
        .group_by("model")
        .agg(outputs=pl.len(), corpora=pl.col("corpus").unique().sort().str.join(", "))
    )
    imported = set(warehouse.read("imported_file", columns=["model"])["model"])
    published = set(warehouse.read("published_output", columns=["model"])["model"])
    names = sorted({*registered, *outputs["model"]})
    origins = [
        "published" if name in published else "imported" if name in imported
        else "registry" if name in registered else "removed"
        for name in names
    ]  # fmt: skip
    rows = pl.DataFrame({"model": names, "from": origins}, schema={"model": pl.String, "from": pl.String})
    return rows.join(outputs, on="model", how="left", maintain_order="left").with_columns(
        pl.col("outputs").fill_null(0), pl.col("corpora").fill_null("-")
    )


def unread(warehouse: Warehouse) -> list[str]:
    """Tasks whose samples no update has read."""
    tasks, samples = (warehouse.read(table, columns=["task"])["task"] for table in ("task", "task_sample"))
    return sorted({*tasks} - {*samples})


def next_steps(of_corpora: pl.DataFrame, of_models: pl.DataFrame, unread_tasks: Collection[str] = ()) -> Iterator[str]:
    """Commands that a person may want to run next, with reasons, each kind of advice once. The arguments are the
    tables above, and `unread`."""
    waiting = int(of_corpora["waiting"].sum())
    parts = [f"{waiting} imported passages"] * bool(waiting) + [f"{len(unread_tasks)} tasks"] * bool(unread_tasks)
    if parts:
        yield f"variorum update                           {' and '.join(parts)} are not computed yet; it does that"
    if of_corpora.is_empty() and unread_tasks:
        return
    if of_corpora.is_empty():
        yield "variorum demo                             evaluate the sample corpora"
        yield "variorum add                              list benchmarks that one command adds"
        yield "variorum open FILE                        begin with a text of your own, or a folder"
        return
    if len(names := of_corpora.filter(pl.col("passages") > 0, selected=0, waiting=0)["corpus"]):
        yield f"variorum trace {names[0]}    filters leave out all passages{_also(names)}; change `filters`"
    if len(names := of_corpora.filter(pl.col("selected") > 0, models=0)["corpus"]):
        also = _also(names)
        yield f"variorum import outputs FILE --corpus {names[0]}    no outputs yet{also}; or `variorum evaluate MODEL`"
    if len(names := of_models.filter(pl.col("from") == "registry", outputs=0)["model"]):
        yield f"variorum evaluate {names[0]}    no outputs yet{_also(names)}"
    yield "variorum stale                            list what is stale, and what updating it would cost"


def _also(names: pl.Series) -> str:
    """The further names that the advice about the first one is for, as in ' (also of b, c)'; '' for none."""
    return f" (also of {', '.join(names[1:])})" if len(names) > 1 else ""


def contents(warehouse: Warehouse, corpus: str) -> Iterator[str]:
    """What was imported for a corpus, in about five lines."""
    key = pl.DataFrame({"corpus": [corpus]})
    sources = warehouse.read("source_text", key, ["passage", "document", "text"])
    passages = sources.select("passage")
    selection = warehouse.read("selection", passages, ["passage", "selected"])
    documents = sources["document"].n_unique()
    yield (
        f"{corpus}: {len(sources)} passages in {documents} document{'s' * (documents != 1)}, "
        f"{sources['text'].str.len_chars().sum():,} characters"
    )
    if len(selection) and (dropped := len(selection) - selection["selected"].sum()):
        yield f"  {dropped} passages are left out by filters; `variorum trace CORPUS` says why"
    yield from doubt_lines(warehouse.read("pair_doubt", key))
    references = warehouse.read("reference", passages, ["passage", "translator", "complete"])
    for (translator,), rows in references.group_by("translator", maintain_order=True):
        yield f"  {translator}: complete in {rows['complete'].sum()} of {len(sources)} passages"
    for translator in sorted(current(warehouse, corpus).references.keys() - {*references["translator"]}):
        yield f"  {translator}: in no passage: no segment was matched; perhaps it is no translation of this source"
    if references.is_empty():
        yield "  no references: outputs are compared only with each other"
        return
    spreads = warehouse.read("reference_envelope", passages, ["human_spread"])["human_spread"].drop_nulls()
    yield (
        f"  {len(spreads)} passages have two complete references or more: only there is drift measured, the distance "
        "of an output from the references"
    )


def _references(warehouse: Warehouse) -> pl.DataFrame:
    return warehouse.read("reference", columns=["passage", "translator"]).with_columns(CORPUS)


def _outputs(warehouse: Warehouse) -> pl.DataFrame:
    return warehouse.read("model_output", columns=["model", "passage"]).with_columns(CORPUS)
