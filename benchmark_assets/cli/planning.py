"""The command that prints what an update would compute."""

import click
import polars as pl

from benchmark_assets.automation.due import due, following, order
from benchmark_assets.cli.deployment import Deployment
from resources.keys import KEYS
from resources.tables import plain


@click.command()
@click.option("--all", "every", is_flag=True, help="List every partition.")
def stale(every: bool) -> None:
    """List stale partitions with reasons and estimated costs. Computes nothing and asks no model."""
    home = Deployment()
    parts = [due(home.definitions, home.instance, asset) for asset in order(home.definitions)]
    rows = pl.concat(
        [part.rows.select(pl.lit(part.asset.to_user_string()).alias("asset"), *KEYS, "reason") for part in parts]
    )
    if rows.is_empty():
        click.echo("everything is up to date")
        return
    partition = pl.concat_str([pl.when(pl.col(key) != "").then(key) for key in KEYS], separator="|", ignore_nulls=True)
    rows = rows.select("asset", "reason", partition=partition)
    if not every:
        groups = rows.group_by("asset", "reason", maintain_order=True)
        rows = groups.agg(partitions=pl.len(), first=pl.col("partition").first())
    click.echo(plain(rows))
    assets = [part.asset for part in parts if len(part.rows)]
    if downstream := [key.to_user_string() for key in following(home.definitions, assets)]:
        click.echo(f"\ndownstream assets that may become stale: {', '.join(downstream)}")
    for part in parts:
        if part.estimate:
            click.echo(f"\n{part.asset.to_user_string()}: {part.estimate}")
    click.echo("\nmaterialize them with `variorum update`")
