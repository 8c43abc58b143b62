"""Commands that build or show a base set."""

import uuid
from pathlib import Path

import click
import polars as pl

from benchmark_assets.cli.beginning import new
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.words import PATH, holding
from benchmark_assets.pairwise.base_sets import Identity, checked
from benchmark_assets.pairwise.building import build_base_set, report, spread
from resources.tables import cells, computed, plain


@new.command(name="baseset")
@click.argument("folder", type=PATH)
@click.option("--items", type=PATH, required=True, help="Items: JSON lines with `passage` and `difficulty`.")
@click.option("--name", required=True, help="Name of the base set.")
@click.option("--version", required=True, help="Semantic version, such as 1.0.0.")
@click.option("--judge", required=True, help="Name of the judge in the registry.")
@click.option("--anchors", "count", type=int, required=True, help="Number of anchors to choose.")
@click.option(
    "--system", "systems", multiple=True,
    help="System in the pool; may be repeated. By default all systems with an output for every item.",
)  # fmt: skip
@click.option("--orders", type=click.Choice(["both", "one"]), default="both", help="Orders in which pairs are judged.")
@click.option(
    "--within", type=float, help="Stop comparing a system with the set once its LT is known to within ± this value."
)
@click.option(
    "--ranks",
    type=int,
    help="Stop comparing a system with the set once at most this many ranks are possible; not with --within.",
)
def new_base_set(
    folder: Path, items: Path, name: str, version: str, judge: str, count: int, systems: tuple[str, ...], orders: str,
    within: float | None, ranks: int | None,
) -> None:  # fmt: skip
    """Build a base set in FOLDER: judge systems against each other, and choose evenly spaced systems as anchors."""
    adaptive = {name: value for name, value in (("within", within), ("ranks", ranks)) if value is not None} or False
    identity = checked(Identity, name=name, version=version, judge=judge, orders=orders, adaptive=adaptive)
    home = Deployment()
    built = build_base_set(home.warehouse, home.provider, folder, identity, items, count, systems, f"{uuid.uuid4()}")
    click.echo(f"anchors, weakest first: {', '.join(built.anchors)}")
    click.echo(
        f"root mean square deviation of the anchors' win rates from evenly spaced win rates: {built.unevenness:.1%}\n"
    )
    click.echo(plain(_readable(spread(built.pool, built.anchors))))
    click.echo(f"\n{folder}: {holding(built.restricted)}; import it with `variorum import baseset {folder}`")


@click.command(name="anchors")
@click.argument("name", metavar="NAME@VERSION")
def show_base_set(name: str) -> None:
    """Show how the anchors of a base set compare in each slice: matches, win rate, LT and EN with intervals."""
    shown = report(Deployment().warehouse, name)
    names = ("slice", "anchor", "items", "matches", "ties", "excluded", "win_rate", "lt", "en")
    table = shown.anchors.select(cells("anchor_score", *names))
    click.echo(f"{plain(table)}\n\n{plain(_readable(shown.spread))}\n\n{shown.contract}; {shown.signature}")
    if shown.problem:
        click.echo(f"\n{shown.problem}")


def _readable(rows: pl.DataFrame) -> pl.DataFrame:
    """Format a table for display, with readable headings. All columns except `slice` are shown as percentages."""
    rates = (computed(pl.col(name), "measure", name.replace("_", " ")) for name in rows.columns[1:])
    return rows.select("slice", *rates)


COMMANDS = [show_base_set]
