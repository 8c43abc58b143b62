"""Commands that print what is there, what it cost and what is due. They change nothing."""

import click
import polars as pl

from benchmark_assets.accounts.costs import costs
from benchmark_assets.automation import runs
from benchmark_assets.automation.due import due, following, order
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.selection.funnel import reasons, steps
from benchmark_assets.understanding.readings import boards, confusions, neighbours, troubles, two_ways
from benchmark_assets.understanding.stored import baseline_scores
from resources.errors import BadInput
from resources.keys import KEYS
from resources.provider import ledger
from resources.tables import cells, plain


@click.command()
def status() -> None:
    """Count the partitions of each asset that are materialized, failed or missing."""
    each = Deployment()
    corpora = each.warehouse.read("corpus", columns=["corpus", "description"])
    click.echo(plain(corpora) if len(corpora) else "no corpora yet: `variorum demo` or `variorum import corpus FILE`")
    if len(known := each.warehouse.read("task", columns=["task", "description"])):
        click.echo(f"\n{plain(known)}")
    click.echo()
    click.echo(plain(runs.status(each.definitions, each.instance)))


@click.command()
@click.option("--all", "every", is_flag=True, help="Name every partition.")
def stale(every: bool) -> None:
    """List what is due, why, and what it would cost; nothing is computed or asked."""
    each = Deployment()
    found = [due(each.definitions, each.instance, asset) for asset in order(each.definitions)]
    rows = pl.concat(
        [one.rows.select(pl.lit(one.asset.to_user_string()).alias("asset"), *KEYS, "reason") for one in found]
    )
    if rows.is_empty():
        click.echo("nothing is due")
        return
    partition = pl.concat_str([pl.when(pl.col(key) != "").then(key) for key in KEYS], separator="|", ignore_nulls=True)
    rows = rows.select("asset", "reason", partition=partition)
    if not every:
        groups = rows.group_by("asset", "reason", maintain_order=True)
        rows = groups.agg(partitions=pl.len(), first=pl.col("partition").first())
    click.echo(plain(rows))
    assets = [one.asset for one in found if len(one.rows)]
    follow = [key.to_user_string() for key in following(each.definitions, assets) if key not in assets]
    if follow:
        click.echo(f"\nmay follow, where these come out changed: {', '.join(follow)}")
    for one in found:
        if one.estimate:
            click.echo(f"\n{one.asset.to_user_string()}: {one.estimate}")
    click.echo("\n`variorum update` brings it up to date")


@click.command(name="costs")
def show_costs() -> None:
    """Say what was paid, by day, model and purpose, in US dollars."""
    rows = costs(ledger.attempts(Deployment().provider.ledger))
    click.echo(plain(rows.select(cells("package_cost", *rows.columns))))
    unknown = (
        "; what models without a price cost is unknown"
        if rows["paid", "at_most"].null_count().sum_horizontal()[0]
        else ""
    )
    paid, at_most = float(rows["paid"].sum()), float(rows["at_most"].sum())
    click.echo(f"\npaid: {paid:.4f} dollars; uncertain calls may add {at_most:.4f} at most{unknown}")


@click.command()
def models() -> None:
    """List the models: those of the registry, and those whose outputs were imported."""
    each = Deployment()
    registry = each.provider.registry()
    called = [(name, registry.model(name).place, own.id, own.effort) for name, own in registry.models.items()]
    columns = ["model", "from", "id", "effort"]
    click.echo(plain(pl.DataFrame(called, schema=dict.fromkeys(columns, pl.String), orient="row")))
    if len(rows := each.warehouse.read("imported_file", columns=["model", "corpus", "outputs", "file"])):
        click.echo(f"\n{plain(rows)}")


@click.command(name="funnel")
@click.argument("passage", required=False)
def show_funnel(passage: str | None) -> None:
    """Say how many passages each filter drops; with a PASSAGE (corpus/id), why it is in or out."""
    warehouse = Deployment().warehouse
    if passage is None:
        rows = warehouse.read("funnel")
        click.echo(plain(steps(rows)) if len(rows) else "no corpus has filters: every passage is in")
        return
    key = pl.DataFrame({"passage": [passage]})
    found = warehouse.read("selection", key)
    if found.is_empty():
        raise BadInput(passage, "", "is no passage that was selected from", "write it as corpus/id; `variorum update`")
    click.echo(plain(reasons(found, warehouse.read("passage_filter", key))))
    stages = warehouse.read("verification", key).drop("passage", "fingerprint", "run_id", "updated_at")
    doubts = warehouse.read("alignment", key, ["translator", "doubt"]).drop_nulls()
    for rows in (doubts, stages):
        if len(rows):
            click.echo(f"\n{plain(rows)}")


@click.command(name="understanding")
def show_understanding() -> None:
    """Show every system on every task of understanding, with means by benchmark and language, how near test and train
    splits are, and what is wrong with answers."""
    warehouse = Deployment().warehouse
    if warehouse.read("task", columns=["task"], most=1).is_empty():
        click.echo("no tasks yet: `variorum import tasks FILE`")
        return
    tables = boards(warehouse.read("understanding_board")) | {
        "Test samples that train has, and scores of what was trained with and without them": neighbours(
            warehouse.read("task_leakage"), baseline_scores(warehouse)
        ),
        "Spans, by sample as the paper has it and pooled": two_ways(warehouse.read("task_score")),
        "What is most often taken for what, over all seeds": confusions(warehouse.read("confusion")).head(20),
        "What had to be done to answers, and why others are unusable": troubles(warehouse.read("answer")),
    }
    shown = [f"{title}\n{plain(table)}" for title, table in tables.items() if len(table)]
    click.echo("\n\n".join(shown) or "nothing is computed yet: `variorum update`")


@click.command()
def snapshot() -> None:
    """Print the path of a copy of the warehouse that may be read while runs write."""
    click.echo(Deployment().warehouse.snapshot())


COMMANDS = [status, stale, show_costs, models, show_funnel, show_understanding, snapshot]
