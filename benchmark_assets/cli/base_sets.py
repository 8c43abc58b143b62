"""Commands that build or show a base set."""

import uuid
from pathlib import Path

import click
import polars as pl

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.words import holding
from benchmark_assets.pairwise.base_sets import Identity, checked
from benchmark_assets.pairwise.building import build_base_set, report, spread
from resources.tables import cells, computed, plain


@click.group(name="baseset")
def base_set() -> None:
    """Build or show a base set."""


@base_set.command(name="build")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--items", type=click.Path(path_type=Path), required=True, help="JSON lines of passage and difficulty.")
@click.option("--name", required=True, help="Name of the base set.")
@click.option("--version", required=True, help="Semantic version, such as 1.0.0.")
@click.option("--judge", required=True, help="Name of the judge in the registry.")
@click.option("--anchors", "count", type=int, required=True, help="Number of anchors to choose.")
@click.option("--system", "systems", multiple=True, help="A system of the pool; by default all that have every item.")
@click.option(
    "--orders", type=click.Choice(["both", "one"]), default="both", help="Orders in which to show a pair to the judge."
)
@click.option("--within", type=float, help="Stop asking about a candidate when the interval of LT is this narrow.")
@click.option("--ranks", type=int, help="Stop when this many places among the anchors are possible; not with --within.")
def build(
    folder: Path, items: Path, name: str, version: str, judge: str, count: int, systems: tuple[str, ...], orders: str,
    within: float | None, ranks: int | None,
) -> None:  # fmt: skip
    """Build a base set in FOLDER: judge systems against each other, and choose evenly spaced ones as anchors."""
    adaptive = {name: value for name, value in (("within", within), ("ranks", ranks)) if value is not None} or False
    identity = checked(Identity, name=name, version=version, judge=judge, orders=orders, adaptive=adaptive)
    home = Deployment()
    built = build_base_set(home.warehouse, home.provider, folder, identity, items, count, systems, f"{uuid.uuid4()}")
    click.echo(f"anchors, from the weakest: {', '.join(built.anchors)}")
    click.echo(f"their win rates in the pool deviate from even spacing by {built.unevenness:.1%}\n")
    click.echo(plain(_readable(spread(built.pool, built.anchors))))
    click.echo(f"\n{folder}: {holding(built.restricted)}; import it with `variorum import baseset {folder}`")


@base_set.command(name="show")
@click.argument("name", metavar="NAME@VERSION")
def show_base_set(name: str) -> None:
    """Show the anchors of a base set against each other, by slice: matches, win rate, LT and EN with intervals."""
    shown = report(Deployment().warehouse, name)
    names = ("slice", "anchor", "items", "matches", "ties", "excluded", "win_rate", "lt", "en")
    table = shown.anchors.select(cells("anchor_score", *names))
    click.echo(f"{plain(table)}\n\n{plain(_readable(shown.spread))}\n\n{shown.contract}; {shown.signature}")
    if shown.problem:
        click.echo(f"\n{shown.problem}")


def _readable(rows: pl.DataFrame) -> pl.DataFrame:
    rates = (computed(pl.col(name), "measure", name.replace("_", " ")) for name in rows.columns[1:])
    return rows.select("slice", *rates)


COMMANDS = [base_set]
