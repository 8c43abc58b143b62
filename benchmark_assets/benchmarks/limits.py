"""Limited evaluations: a subset of a benchmark's passages and samples for a first try of a model.

Here: which passages and samples belong to a subset, and the table `limited_item`. Not here: that only these are asked
about (translation.systems, understanding.answers), and how they are scored (metrics.coverage, understanding.stored).
"""

from collections.abc import Iterator, Sequence

import polars as pl

from benchmark_assets.benchmarks.parts import Added
from benchmark_assets.corpus.units import with_units
from benchmark_assets.metrics.coverage import own_passages
from benchmark_assets.selection.candidates import selected
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Replacement, Warehouse

KEY = ["model", "passage", "task", "sample"]
"""Key columns of `limited_item`."""


def order(benchmark: str, part: str, items: pl.DataFrame) -> list[str]:
    """The items of a corpus or task in the order in which limits include them.

    Every beginning of the order has about the same share of each stratum. The order depends on nothing else than the
    names, so that a larger subset contains a smaller one. A part never changes under its name, so that the order is the
    same in all versions of a benchmark.

    Parameters
    ----------
    items
        Columns `item` and `stratum`.
    """
    hashed = items.with_columns(
        hashed=pl.col("item").map_elements(lambda item: digest(benchmark, part, item), return_dtype=pl.String)
    ).sort("hashed")
    chance = pl.col("hashed").str.slice(0, 8).str.to_integer(base=16) / 2**32
    place = (pl.int_range(pl.len()).over("stratum") + chance) / pl.len().over("stratum")
    ordered: list[str] = hashed.with_columns(place=place).sort("place", "hashed")["item"].to_list()
    return ordered


def subset(warehouse: Warehouse, benchmark: str, added: Added, limit: int) -> pl.DataFrame:
    """The first `limit` passages and samples of a benchmark, as rows of `limited_item` without `model`.

    The corpora and tasks get equal numbers, as far as they are large enough. Strata are the units of a corpus
    (documents, or blocks of consecutive passages) and the gold classes of a task.

    Raises
    ------
    BadInput
        If the limit is smaller than the number of corpora and tasks.
    """
    parts = {name: order(benchmark, name, items) for name, items in _items(warehouse, added)}
    if limit < len(parts):
        raise BadInput("--limit", "", f"is below {len(parts)}", "give at least 1 for each corpus and task")
    turns = sorted(
        (turn, place, name, item)
        for place, (name, items) in enumerate(parts.items())
        for turn, item in enumerate(items)
    )
    chosen = [(name, item) for _, _, name, item in turns[:limit]]
    rows = [(item, "", "") if name in added.corpora else ("", name, item) for name, item in chosen]
    return pl.DataFrame(rows, dict.fromkeys(KEY[1:], pl.String), orient="row")


def changed(
    warehouse: Warehouse, benchmark: str, added: Added, models: Sequence[str], limit: int | None
) -> pl.DataFrame:
    """Rows of `limited_item`, with the limits of `models` on a benchmark replaced.

    A limit is never lowered, because outputs would be lost. Without a limit, the models are evaluated completely.

    Raises
    ------
    BadInput
        If a model was evaluated without a limit, or `subset` raises it.
    """
    rows = warehouse.read("limited_item", columns=KEY)
    if limit is None:
        within = CORPUS.is_in(added.corpora) | pl.col("task").is_in(added.tasks)
        return rows.filter(~(pl.col("model").is_in(models) & within))
    chosen = subset(warehouse, benchmark, added, limit)
    _check_unlimited(warehouse, added, models)
    names = pl.DataFrame({"model": models}, {"model": pl.String})
    return pl.concat([rows, names.join(chosen, how="cross").select(KEY)]).unique()


def store(warehouse: Warehouse, limits: pl.DataFrame) -> None:
    """Replace the rows of `limited_item`."""
    warehouse.write([Replacement("limited_item", limits.with_columns(fingerprint=pl.lit("")), None)], run_id="evaluate")


def _check_unlimited(warehouse: Warehouse, added: Added, models: Sequence[str]) -> None:
    """Raise BadInput if a model has outputs or answers that no limit chose."""
    outputs, answers = ("model_output", ["model", "passage"]), ("answer", ["model", "task", "sample"])
    for (table, key), within in (outputs, CORPUS.is_in(added.corpora)), (answers, pl.col("task").is_in(added.tasks)):
        for model in models:
            own = pl.DataFrame({"model": [model]})
            stored = warehouse.read(table, own, key).filter(within)
            if len(stored.join(warehouse.read("limited_item", own, key), on=key, how="anti")):
                problem = "was evaluated on this benchmark without a limit"
                raise BadInput(model, "", problem, "drop `--limit`; replies in the ledger cost nothing")


def _items(warehouse: Warehouse, added: Added) -> Iterator[tuple[str, pl.DataFrame]]:
    """Name and items of each corpus and task: columns `item` and `stratum`.

    The items of a corpus are its selected passages with a complete reference. Without references, they are all selected
    passages.
    """
    referenced = own_passages(warehouse)
    for corpus in added.corpora:
        passages = referenced.filter(corpus=corpus)
        if passages.is_empty():
            sources = warehouse.read("source_text", pl.DataFrame({"corpus": [corpus]}), ["passage"])
            passages = with_units(selected(warehouse, sources), warehouse)
        yield corpus, passages.select(item="passage", stratum="unit")
    for task in added.tasks:
        test = pl.DataFrame({"task": [task], "split": ["test"]})
        rows = warehouse.read("task_sample", test, ["sample", "label"])
        yield task, rows.select(item="sample", stratum=pl.col("label").fill_null(""))
