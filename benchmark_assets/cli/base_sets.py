"""Commands that make a base set, or show one."""

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
    """Make a base set, or look at one."""


@base_set.command(name="build")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--items", type=click.Path(path_type=Path), required=True, help="JSON lines of passage and difficulty.")
@click.option("--name", required=True, help="What it is called.")
@click.option("--version", required=True, help="Its semantic version, as 1.0.0.")
@click.option("--judge", required=True, help="Who compares, by the name in the registry.")
@click.option("--anchors", "count", type=int, required=True, help="How many anchors to choose.")
@click.option("--system", "systems", multiple=True, help="A system of the pool; by default all that have every item.")
@click.option("--orders", type=click.Choice(["both", "one"]), default="both", help="How candidates will be compared.")
@click.option("--within", type=float, help="Ask about candidates only until the interval of LT is this narrow.")
@click.option("--ranks", type=int, help="Ask only until so many places among the anchors are left; not with --within.")
def build(
    folder: Path, items: Path, name: str, version: str, judge: str, count: int, systems: tuple[str, ...], orders: str,
    within: float | None, ranks: int | None,
) -> None:  # fmt: skip
    """Write a base set to FOLDER: systems judged against each other, of which those that lie most evenly are chosen."""
    adaptive = {name: value for name, value in (("within", within), ("ranks", ranks)) if value is not None} or False
    identity = checked(Identity, name=name, version=version, judge=judge, orders=orders, adaptive=adaptive)
    each = Deployment()
    built = build_base_set(each.warehouse, each.provider, folder, identity, items, count, systems, f"{uuid.uuid4()}")
    click.echo(f"anchors, from the weakest: {', '.join(built.anchors)}")
    click.echo(f"they miss even places in the pool by {built.unevenness:.1%} of matches won\n")
    click.echo(plain(_readable(spread(built.pool, built.anchors))))
    click.echo(f"\n{folder}: {holding(built.restricted)}; `variorum import baseset {folder}` takes it in")


@base_set.command(name="show")
@click.argument("name", metavar="NAME@VERSION")
def show_base_set(name: str) -> None:
    """Show the anchors of a base set against each other, by slice: matches, win rate, LT and EN with intervals."""
    found = report(Deployment().warehouse, name)
    names = ("slice", "anchor", "items", "matches", "ties", "excluded", "win_rate", "lt", "en")
    table = found.anchors.select(cells("anchor_score", *names))
    click.echo(f"{plain(table)}\n\n{plain(_readable(found.spread))}\n\n{found.contract}; {found.signature}")
    if found.problem:
        click.echo(f"\n{found.problem}")


def _readable(rows: pl.DataFrame) -> pl.DataFrame:
    rates = (computed(pl.col(name), "fraction", name.replace("_", " ")) for name in rows.columns[1:])
    return rows.select("slice", *rates)


COMMANDS = [base_set]
