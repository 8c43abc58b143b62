"""The command that prints where a result comes from. It starts without Dagster."""

from collections.abc import Iterable, Iterator

import click
import polars as pl

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.reporting import trace
from benchmark_assets.selection.funnel import funnels, reasons, steps
from resources.errors import BadInput
from resources.tables import cells, plain
from resources.warehouse import Warehouse


@click.command(name="trace")
@click.argument("names", nargs=-1, required=True, metavar="[MODEL] CORPUS/PASSAGE|CORPUS|BASESET@VERSION")
def show_trace(names: tuple[str, ...]) -> None:
    """Print where a number of MODEL comes from, without any text. Without MODEL, print how it came to the benchmark.

    For a passage: every asset from the files to the verdicts, with versions, inputs, calls, costs, scores and labels,
    and what is stale. For a corpus: the row on the leaderboard and its most distant passages. For a base set: LT.

    Without MODEL: for a passage, why it is selected or not; for a corpus, how many passages each filter drops; for a
    base set, how its anchors compare in each slice.
    """
    if len(names) > 2:
        raise click.UsageError("name at most a MODEL and a passage, corpus or base set")
    *models, what = names
    kind = "base set" if "@" in what else "passage" if "/" in what else "corpus"
    warehouse = Deployment().warehouse
    lines: Iterable[str]
    if not models:
        lines = {"base set": _of_anchors, "passage": _of_passage, "corpus": _of_filters}[kind](warehouse, what)
    elif kind == "base set":
        lines = trace.of_strength(warehouse, models[0], what)
    elif kind == "passage":
        lines = trace.words(trace.of_output(warehouse, models[0], what))
    else:
        lines = trace.of_cell(warehouse, models[0], what)
    for line in lines:
        click.echo(line)


def _of_filters(warehouse: Warehouse, corpus: str) -> Iterator[str]:
    """How many passages of a corpus each filter drops."""
    if corpus not in set(warehouse.read("corpus", columns=["corpus"])["corpus"]):
        raise BadInput(corpus, "", "no such corpus", "`variorum status` lists the corpora")
    rows = funnels(warehouse).filter(corpus=corpus)
    yield plain(steps(rows)) if len(rows) else f"{corpus} has no filters: every passage is selected"


def _of_passage(warehouse: Warehouse, passage: str) -> Iterator[str]:
    """Why a passage is selected or not, and what its alignment lacks."""
    key = pl.DataFrame({"passage": [passage]})
    selection = warehouse.read("selection", key)
    if selection.is_empty():
        raise BadInput(passage, "", "no such passage", "write CORPUS/ID; after a change of files run `variorum update`")
    yield plain(reasons(selection, warehouse.read("passage_filter", key)))
    stages = warehouse.read("verification", key).drop("passage", "fingerprint", "run_id", "updated_at")
    doubts = warehouse.read("alignment", key, ["translator", "doubt"]).drop_nulls()
    unassigned = warehouse.read("unassigned", key, ["translator", "start_at", "end_at", "after", "before", "text"])
    yield from (f"\n{plain(rows)}" for rows in (doubts, unassigned, stages) if len(rows))


def _of_anchors(warehouse: Warehouse, base_set: str) -> Iterator[str]:
    """How the anchors of a base set compare in each slice: matches, win rate, LT and EN with intervals."""
    from benchmark_assets.pairwise.building import report  # and with it, what compares texts

    rows = report(warehouse, base_set)
    names = ("slice", "anchor", "items", "matches", "ties", "excluded", "win_rate", "lt", "en")
    first = rows.row(0, named=True)
    yield f"{plain(rows.select(cells('anchor_score', *names)))}\n\n{first['contract']}; {first['signature']}"
    if first["problem"]:
        yield f"\n{first['problem']}"
