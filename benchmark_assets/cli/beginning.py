"""The group of commands that write first versions of files for a person to complete, and its command for a corpus."""

from pathlib import Path

import click

from benchmark_assets.cli.words import PATH
from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.proposals import propose
from benchmark_assets.corpus.review import first_passage
from benchmark_assets.corpus.scan import scan
from resources import whole_files
from resources.errors import BadInput
from resources.keys import slug


@click.group()
def new() -> None:
    """Write a corpus description or a benchmark's recipe, for you to complete, or build a base set."""


@new.command(name="corpus")
@click.argument("name")
@click.option("--from", "place", type=PATH, required=True, help="The file or folder with the texts.")
def new_corpus(name: str, place: Path) -> None:
    """Look at a file or folder, write a description of the corpus NAME beside it, and show the first passage as read.

    Reads tables (.csv, .tsv, .xlsx), JSON lines, TEI, TMX, folders of texts, and the layout of SuttaCentral.
    """
    text, path = propose(place, name), place.resolve().parent / f"{slug(name)}.yaml"
    if path.exists():
        raise BadInput(path, "", "exists already", "choose another name, or edit the file")
    whole_files.hand_over(path, text)
    click.echo(f"{path}:\n\n{text}")
    scanned = scan([load(path)])
    for line in first_passage(scanned):
        click.echo(line)
    for fault in scanned.faults:
        click.echo(f"fault: {fault}", err=True)
    click.echo(f"\ncorrect the description, then run `variorum check corpus {path}`")


COMMANDS = [new]
