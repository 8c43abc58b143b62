"""Commands that print what a home contains, and change nothing. They start without Dagster."""

from collections.abc import Iterator

import click
import polars as pl

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.corpus.human_work import notices
from benchmark_assets.reporting import overview
from resources.tables import plain
from resources.warehouse import Warehouse


@click.command()
@click.option("--assets", "by_asset", is_flag=True, help="Also count the partitions of each asset.")
@click.option("--models", "show", flag_value="models", help="List the registry's models and the imported outputs.")
@click.option("--tasks", "show", flag_value="tasks", help="Show the results of all systems on understanding tasks.")
def status(by_asset: bool, show: str | None) -> None:
    """Show the corpora and models of the home, and what to do next.

    Also lists people's work on passages that are no longer in the files, and imported outputs that translate an
    earlier source. With --assets, counts the partitions of each asset that are materialized, failed or missing.
    """
    home = Deployment()
    if show:
        click.echo("\n\n".join(_models(home) if show == "models" else _tasks(home.warehouse)))
        return
    corpora = overview.corpora(home.warehouse)
    models = overview.models(home.warehouse, home.provider.registry().models)
    tasks = home.warehouse.read("task", columns=["task", "kind", "language"])
    tables = [corpora, tasks, models, *(_assets(home) if by_asset else [])]
    for table in tables:
        if len(table):
            click.echo(f"{plain(table)}\n")
    for notice in notices(home.warehouse):
        click.echo(f"{notice}\n")
    click.echo("next:")
    for step in overview.next_steps(corpora, models):
        click.echo(f"  {step}")


def _assets(home: Deployment) -> Iterator[pl.DataFrame]:
    """Counts of the partitions of each asset, which Dagster knows."""
    from benchmark_assets.automation import runs

    yield runs.status(home.definitions, home.instance)


def _models(home: Deployment) -> Iterator[str]:
    """The models of the registry, and the models with imported outputs."""
    registry = home.provider.registry()
    entries = [(name, registry.model(name).place, entry.id, entry.effort) for name, entry in registry.models.items()]
    columns = ["model", "from", "id", "effort"]
    yield plain(pl.DataFrame(entries, schema=dict.fromkeys(columns, pl.String), orient="row"))
    if len(rows := home.warehouse.read("imported_file", columns=["model", "corpus", "outputs", "file"])):
        yield plain(rows)


def _tasks(warehouse: Warehouse) -> Iterator[str]:
    """Results on understanding tasks: scores, means by benchmark and language, overlap of test and train splits, and
    problems with answers."""
    from benchmark_assets.understanding import stored
    from benchmark_assets.understanding.exhibits import boards, confusions, neighbours, troubles, two_ways

    if warehouse.read("task", columns=["task"], most=1).is_empty():
        yield "no tasks yet: `variorum import tasks FILE`"
        return
    tables = boards(warehouse.read("understanding_board")) | {
        "Similarity of test samples to the train split, and scores with and without similar test samples": neighbours(
            warehouse.read("task_leakage"), stored.baseline_scores(warehouse)
        ),
        "Span scores: averaged over samples as in the paper, and pooled": two_ways(warehouse.read("task_score")),
        "Most frequent confusions over all seeds": confusions(stored.confusions(warehouse)).head(20),
        "Repairs of answers, and reasons for unusable answers": troubles(warehouse.read("answer")),
    }
    blocks = [f"{title}\n{plain(table)}" for title, table in tables.items() if len(table)]
    yield from blocks or ["no scores yet: run `variorum update`"]


@click.command()
def snapshot() -> None:
    """Copy the warehouse, so that notebooks can read while runs write, and print the path of the copy.

    The copy contains restricted texts: do not pass it on.
    """
    click.echo(Deployment().warehouse.snapshot())
