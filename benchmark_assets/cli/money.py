"""Commands that correct the recorded costs of calls."""

import getpass
from collections.abc import Callable
from typing import Any

import click
import polars as pl

from benchmark_assets.cli.deployment import Deployment
from resources.errors import BadInput
from resources.provider import corrections
from resources.provider.provider import Provider
from resources.tables import plain

Command = Callable[..., Any]


def _choosing(command: Command) -> Command:
    """Add a correction's arguments to a command: the calls to correct, the author and the note."""
    options = (
        click.argument("attempts", nargs=-1, type=int, metavar="[ATTEMPT]..."),
        click.option("--model", help="Correct all calls of this model whose cost is unknown."),
        click.option("--note", required=True, help="Source of the information, such as the number of a bill."),
        click.option("--by", "author", default=getpass.getuser, help="Author's name; by default your login name."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
def uncertain() -> None:
    """List calls of unknown cost. They were interrupted, or answered without token counts.

    Budgets count these calls at their highest possible cost.
    """
    rows = corrections.uncertain(Deployment().provider.ledger)
    if rows.is_empty():
        click.echo("the cost of every call is known")
        return
    at_most = pl.when(pl.col("price").is_not_null()).then(pl.col("reserved").round(6)).alias("at_most")
    asked = pl.col("asked").dt.strftime("%Y-%m-%d %H:%M:%S")
    click.echo(plain(rows.select(pl.col("id").alias("attempt"), asked, "model", "purpose", "outcome", at_most)))
    click.echo(f"\n{len(rows)} calls, at most {rows['reserved'].sum():.4f} dollars")
    click.echo("see the endpoint's bill, then `variorum release ATTEMPT` or `variorum confirm ATTEMPT --cost DOLLARS`")


@click.command()
@_choosing
def release(attempts: tuple[int, ...], model: str | None, note: str, author: str) -> None:
    """Record that calls cost nothing. Budgets by day, run and model no longer count these calls."""
    _correct(attempts, model, 0, author, note)


@click.command()
@_choosing
@click.option(
    "--cost", type=click.FloatRange(0), help="US dollars that each call cost; by default, its highest possible cost."
)
def confirm(attempts: tuple[int, ...], model: str | None, cost: float | None, note: str, author: str) -> None:
    """Record what calls cost; an earlier recorded cost is replaced. `variorum costs` lists all corrections."""
    _correct(attempts, model, cost, author, note)


def _correct(attempts: tuple[int, ...], model: str | None, cost: float | None, author: str, note: str) -> None:
    if bool(attempts) == bool(model):
        raise click.UsageError("name either ATTEMPTs (see `variorum uncertain`) or --model")
    provider = Deployment().provider
    chosen = _of_model(provider, model) if model else list(attempts)
    corrections.correct(provider.ledger, chosen, cost, author, note)
    rows = corrections.corrections(provider.ledger).tail(len(chosen))
    before, after = rows.select(pl.coalesce("before", "at_most").sum(), pl.col("after").sum()).row(0)
    click.echo(f"{len(rows)} calls: {before:.4f} dollars before, {after:.4f} dollars now")


def _of_model(provider: Provider, model: str) -> list[int]:
    rows = corrections.uncertain(provider.ledger).filter(model=model)
    if rows.is_empty():
        raise BadInput(model, "", "has no calls of unknown cost", "`variorum uncertain` lists the calls of all models")
    return rows["id"].to_list()


COMMANDS = [uncertain, release, confirm]
