"""Tables that commands print, followed by what their columns mean.

Here: the words for columns that are in no table of the catalogue. Not here: the words of the catalogue
(warehouse/schema).
"""

from collections.abc import Sequence

import click
import polars as pl

from resources.tables import legend, plain

PRINTED = {
    "languages": "language of the source → language of the translations.",
    "passages": "imported passages.", "references": "names of the human translators.",
    "waiting": "passages imported since the last update.",
    "selected": "passages that the filters leave in the benchmark.", "outputs": "stored translations.",
    "models": "models with outputs for the corpus.", "from": "where the model or its outputs come from: the registry, "
    "a file that was imported, or a benchmark that published them.", "corpora": "corpora that it translates.",
    "id": "name of the model at its endpoint.", "effort": "amount of reasoning that is asked for.",
    "asset": "table, or stage of the computation, as Dagster names it.", "reason": "why the partitions are stale.",
    "partition": "model, corpus/passage or task that is stale.",
    "partitions": "number of stale partitions, or what the asset is divided by.", "first": "the first of them.",
    "total": "partitions in all.", "materialized": "partitions that are computed.",
    "failed": "partitions whose last run failed.", "missing": "partitions that were never computed.",
    "study": "what is asked: translations, or a kind of judgement.", "calls": "requests to the model.",
    "in the ledger": "replies that are stored, and cost nothing again.", "tokens": "tokens in prompts and replies.",
    "dollars": "likely cost in US dollars.", "at most": "cost if every reply were as long as allowed.",
    "hours": "likely duration of the calls.", "size": "passages of corpora, and samples of tasks.",
    "systems": "systems whose outputs are published with it.", "licences": "licences of its texts and files.",
    "consent": "sources whose terms ask for your consent.", "added": "version in this home.",
    "attempt": "number of the call, for `variorum confirm`.", "asked": "time of the call, UTC.",
    "outcome": "how the call ended.", "at_most": "highest possible cost in US dollars.",
    "measure": "filter, or number that filters use.", "value": "its value for the passage.",
}  # fmt: skip
"""What columns mean that are printed, and are in no table of the catalogue."""


def explained(frame: pl.DataFrame, table: str = "") -> str:
    """A table as text, followed by what its columns mean: those of `table` as the catalogue says, others as `PRINTED`.

    What the command has explained before is not repeated.
    """
    return "\n".join([plain(frame), *explanations(frame.columns, table)])


def explanations(headings: Sequence[str], table: str = "") -> list[str]:
    """A line for each heading that the command has not explained yet, after a blank line."""
    meanings = {name: PRINTED[name] for name in headings if name in PRINTED} | (
        legend(headings, table) if table else {}
    )
    before: set[tuple[str, str]] = click.get_current_context().meta.setdefault(f"{__name__}.explained", set())
    new = [each for each in meanings.items() if each not in before]
    before.update(new)
    return ["", *(f"  {name}: {meaning}" for name, meaning in new)] if new else []
