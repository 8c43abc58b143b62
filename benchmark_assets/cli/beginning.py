"""The group of commands that write first versions of files for a person to complete, and its command for a corpus."""

import uuid
from pathlib import Path

import click

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.later import Later
from benchmark_assets.cli.words import PATH, holding
from benchmark_assets.corpus.description import examine
from benchmark_assets.corpus.proposals import propose
from benchmark_assets.corpus.review import first_passage, rows
from benchmark_assets.corpus.scan import scan
from benchmark_assets.pairwise.base_sets import Identity, checked
from benchmark_assets.pairwise.building import build_base_set
from benchmark_assets.pairwise.scores import OVERALL
from resources import whole_files
from resources.errors import BadInput


@click.group()
def new() -> None:
    """Write a corpus description or a benchmark's recipe, for you to complete, or build a base set."""


new.add_command(Later("benchmark", "benchmarks.new_benchmark"))


@new.command(name="corpus")
@click.argument("name")
@click.option("--from", "place", type=PATH, required=True, help="The file or folder with the texts.")
def new_corpus(name: str, place: Path) -> None:
    """Look at a file or folder, write a description of the corpus NAME beside it, and show the first passage as read.

    Reads tables (.csv, .tsv, .xlsx, .json), JSON lines, TEI, TMX, USFM, OSIS, Sefaria, folders of texts, and the layout
    of SuttaCentral. Cells decide what a column holds. Translations into a second language get a description
    of their own.
    """
    paths = {place.resolve().parent / f"{corpus}.yaml": text for corpus, text in propose(place, name).items()}
    for path in filter(Path.exists, paths):
        raise BadInput(path, "", "exists already", "choose another name, or edit the file")
    for path, text in paths.items():
        whole_files.hand_over(path, text)
        click.echo(f"{path}:\n\n{text}")
    description, questions = examine(next(iter(paths)))
    assert description is not None  # it was written above
    scanned = scan([description])
    for line in (*rows(description), *first_passage(scanned)):
        click.echo(line)
    for fault in (*questions, *scanned.faults):
        click.echo(f"fault: {fault}", err=True)
    click.echo(f"\ncorrect the description, then run `variorum check corpus {next(iter(paths))}`")


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
@click.option("--accept", is_flag=True, help="Consent to the costs of asking the judge.")
def new_base_set(
    folder: Path, items: Path, name: str, version: str, judge: str, count: int, systems: tuple[str, ...], orders: str,
    within: float | None, ranks: int | None, accept: bool,
) -> None:  # fmt: skip
    """Build a base set in FOLDER: judge systems against each other, and choose evenly spaced systems as anchors."""
    adaptive = {name: value for name, value in (("within", within), ("ranks", ranks)) if value is not None} or False
    identity = checked(Identity, name=name, version=version, judge=judge, orders=orders, adaptive=adaptive)
    home = Deployment()
    run = f"{uuid.uuid4()}"
    built = build_base_set(home.warehouse, home.provider, folder, identity, items, count, systems, run, accept)
    rates = dict(built.pool.filter(slice=OVERALL).select("system", "win_rate").iter_rows())
    anchors = ", ".join(f"{anchor} ({rates[anchor]:.0%})" for anchor in built.anchors)
    click.echo(f"anchors with their win rates, weakest first: {anchors}")
    click.echo(
        f"root mean square deviation of the anchors' win rates from evenly spaced win rates: {built.unevenness:.1%}"
    )
    click.echo(f"{folder}: {holding(built.restricted)}; import it with `variorum import baseset {folder}`")
