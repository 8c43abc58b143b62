"""Commands that show and correct the recorded costs of calls."""

import getpass

import click
import polars as pl

from benchmark_assets.accounts.costs import costs
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.legends import explained
from resources.errors import BadInput
from resources.provider import corrections
from resources.provider.provider import Provider
from resources.tables import cells, plain


@click.command(name="costs")
@click.option("--uncertain", is_flag=True, help="List the calls of unknown cost instead.")
def show_costs(uncertain: bool) -> None:
    """Print costs by day, model and purpose, in US dollars, and all corrections of costs.

    A call has an unknown cost if it was interrupted, or answered without token counts. Budgets count such a call at its
    highest possible cost.
    """
    ledger = Deployment().provider.ledger
    if uncertain:
        _list_uncertain(corrections.uncertain(ledger))
        return
    rows = costs(ledger.attempts())
    click.echo(explained(rows.select(cells("package_cost", *rows.columns)), "package_cost"))
    unknown = "; the cost of models without a price is unknown" if rows["at_most"].null_count() else ""
    paid, at_most = float(rows["paid"].sum()), float(rows["at_most"].sum())
    click.echo(f"\npaid: {paid:.4f} dollars; calls of unknown cost add at most {at_most:.4f}{unknown}")
    if len(corrected := corrections.corrections(ledger)):
        click.echo(f"\ncorrected costs:\n{plain(corrected.with_columns(pl.col('made').dt.truncate('1s')))}")


def _list_uncertain(rows: pl.DataFrame) -> None:
    if rows.is_empty():
        click.echo("the cost of every call is known")
        return
    at_most = pl.when(pl.col("price").is_not_null()).then(pl.col("reserved").round(6)).alias("at_most")
    asked = pl.col("asked").dt.strftime("%Y-%m-%d %H:%M:%S")
    click.echo(explained(rows.select(pl.col("id").alias("attempt"), asked, "model", "purpose", "outcome", at_most)))
    click.echo(f"\n{len(rows)} calls, at most {rows['reserved'].sum():.4f} dollars")
    click.echo("see the endpoint's bill, then `variorum confirm ATTEMPT --cost DOLLARS`")


@click.command()
@click.argument("attempts", nargs=-1, type=int, metavar="[ATTEMPT]...")
@click.option("--model", help="Correct all calls of this model whose cost is unknown.")
@click.option(
    "--cost", type=click.FloatRange(0),
    help="US dollars that each call cost, 0 if it cost nothing; by default, its highest possible cost.",
)  # fmt: skip
@click.option("--note", required=True, help="Source of the information, such as the number of a bill.")
@click.option("--by", "author", default=getpass.getuser, help="Author's name; by default your login name.")
def confirm(attempts: tuple[int, ...], model: str | None, cost: float | None, note: str, author: str) -> None:
    """Record what calls cost; an earlier recorded cost is replaced. `variorum costs` lists all corrections."""
    if bool(attempts) == bool(model):
        raise click.UsageError("name either ATTEMPTs (see `variorum costs --uncertain`) or --model")
    provider = Deployment().provider
    chosen = _of_model(provider, model) if model else list(attempts)
    corrections.correct(provider.ledger, chosen, cost, author, note)
    rows = corrections.corrections(provider.ledger).tail(len(chosen))
    before, after = rows.select(pl.coalesce("before", "at_most").sum(), pl.col("after").sum()).row(0)
    click.echo(f"{len(rows)} calls: {before:.4f} dollars before, {after:.4f} dollars now")


def _of_model(provider: Provider, model: str) -> list[int]:
    rows = corrections.uncertain(provider.ledger).filter(model=model)
    if rows.is_empty():
        raise BadInput(model, "", "has no calls of unknown cost", "`variorum costs --uncertain` lists them")
    return rows["id"].to_list()
