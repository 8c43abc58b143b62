"""The command that compares published numbers with the warehouse."""

import click
import polars as pl

from benchmark_assets.benchmarks import number_tables
from benchmark_assets.benchmarks.numbers import read
from benchmark_assets.benchmarks.reproduction import ABSENT, DIFFERS, NEEDS, known, reproduce
from benchmark_assets.cli.deployment import Deployment
from resources.errors import BadInput
from resources.tables import plain


@click.command(name="reproduce")
@click.argument("benchmark", metavar="NAME")
@click.option("--all", "every", is_flag=True, help="Also list the numbers that were not recomputed.")
def show_reproduction(benchmark: str, every: bool) -> None:
    """Compare every number in the paper of the benchmark NAME with the warehouse, and count the outcomes.

    The exit code is 1 if a number differs and the benchmark's recipe gives no reason.
    """
    warehouse = Deployment().warehouse
    files = known(warehouse)
    if benchmark not in files:
        raise BadInput(benchmark, "", "no such benchmark with published numbers", f"use one of {', '.join(files)}")
    rows = reproduce(warehouse, benchmark, read(files[benchmark]))
    shown = rows if every else rows.drop_nulls("value")
    if len(shown):
        click.echo(f"{plain(number_tables.numbers(shown))}\n")
    click.echo(plain(number_tables.counts(rows)))
    needs = rows.filter(outcome=NEEDS).group_by(need="reason", maintain_order=True).agg(numbers=pl.len().cast(pl.Int64))
    if len(needs):
        click.echo(f"\n{plain(needs.select('numbers', 'need'))}")
    if len(rows.filter(outcome=ABSENT)):
        click.echo("\nnot computed: the home lacks this part of the benchmark; `--all` lists the reasons")
    if unexplained := len(rows.filter(outcome=DIFFERS)):
        raise click.ClickException(
            f"numbers that differ from the paper without a reason: {unexplained}; find the cause, "
            f"or explain the difference under `differs` in {files[benchmark]}"
        )
