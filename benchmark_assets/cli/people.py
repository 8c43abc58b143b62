"""Commands that write files for people to read, label or check. `variorum import` reads the completed files."""

from pathlib import Path

import click

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.words import IGNORE, PATH, holding, numbers
from benchmark_assets.literary import glossary_file
from benchmark_assets.literary.pairs import export_pairs
from benchmark_assets.people.forms import ESA, FORMS, LABEL_FORM
from benchmark_assets.people.pearmut import PROTOCOLS, Plan, write_campaign
from benchmark_assets.people.sample import export_items
from benchmark_assets.understanding import span_labels


@click.command()
@click.argument("folder", type=PATH)
@click.argument("corpus")
@click.option("--annotator", "annotators", multiple=True, required=True, help="Name of an annotator; may be repeated.")
@click.option(
    "--protocol", type=click.Choice(list(FORMS)), default=LABEL_FORM.protocol, show_default=True,
    help="What annotators enter for each output: one label, or errors and a score.",
)  # fmt: skip
def annotate(folder: Path, corpus: str, annotators: tuple[str, ...], protocol: str) -> None:
    """Write the blind sample of CORPUS to FOLDER: Label Studio tasks and a spreadsheet for each annotator."""
    sent = export_items(Deployment().warehouse, folder, corpus, annotators, FORMS[protocol])
    controls = f" and {sent.controls} control items" if sent.controls else ""
    names = ", ".join(annotators)
    click.echo(f"{folder}: {sent.items} items{controls} for each annotator ({names}); {holding(sent.restricted)}")
    click.echo("its README.md explains what to do; import completed files with `variorum import labels FILES`")


@click.command(name="campaign")
@click.argument("file", type=PATH)
@click.argument("corpus")
@click.option("--annotator", "annotators", multiple=True, required=True, help="Name of an annotator; may be repeated.")
@click.option("--protocol", type=click.Choice(PROTOCOLS), default=ESA, show_default=True)
@click.option("--judge", help="Name of a judge whose error spans are prefilled, for annotators to correct.")
@click.option("--dynamic", is_flag=True, help="Let Pearmut assign more items of the models with the highest scores.")
@click.option("--private", is_flag=True, help="Include restricted texts; do not pass the file on.")
def campaign(
    file: Path, corpus: str, annotators: tuple[str, ...], protocol: str, judge: str | None, dynamic: bool, private: bool
) -> None:
    """Write the blind sample of CORPUS to FILE, a campaign for Pearmut with a task for each annotator."""
    plan = Plan(protocol, judge, dynamic)
    sent = write_campaign(Deployment().warehouse, file, corpus, annotators, plan, private)
    names, whom = ", ".join(annotators), "all annotators together" if dynamic else "each annotator"
    click.echo(
        f"{file}: {sent.items} items and {sent.controls} control items for {whom} ({names}); {holding(sent.restricted)}"
    )
    click.echo("`pearmut add FILE` loads it; import the downloaded annotations with `variorum import labels FILE`")


@click.command(name="pairs")
@click.argument("file", type=PATH)
@click.argument("corpus")
@click.option("--annotator", required=True, help="Name of the annotator.")
@click.option("--per-model", type=click.IntRange(1), help="Number of pairs per model; by default all.")
@click.option("--base-set", help="Pair outputs with the anchors of this base set; by default, with human translations.")
@click.option("--private", is_flag=True, help="Include restricted texts; do not pass the file on.")
def write_pairs(
    file: Path, corpus: str, annotator: str, per_model: int | None, base_set: str | None, private: bool
) -> None:
    """Write pairs of outputs and human translations of CORPUS to FILE, a blind spreadsheet for one annotator."""
    sent = export_pairs(Deployment().warehouse, file, corpus, annotator, per_model, private, base_set)
    controls = f" and {sent.controls} control items" if sent.controls else ""
    click.echo(f"{file}: {sent.pairs} pairs{controls} for {annotator}; {holding(sent.restricted)}")
    click.echo("enter A, B or unsure under `better`; import the completed file with `variorum import pairs FILE`")


@click.command(name="glossary")
@click.argument("file", type=PATH)
@click.argument("corpus")
def write_glossary(file: Path, corpus: str) -> None:
    """Write the glossary terms of CORPUS to FILE, for a person to check. FILE must not exist yet."""
    terms, passages = glossary_file.write(Deployment().warehouse, file, corpus)
    click.echo(f"{file}: {terms} terms from {passages} passages")
    click.echo("check the rows where the column `in_source` or `in_human` is `false`")
    click.echo("enter the file as `glossary` under `literary` in the description, then repeat `variorum import corpus`")


@click.command(name="spans")
@click.argument("folder", type=PATH)
@click.argument("code", metavar="TASK")
@click.option("--split", type=click.Choice(["train", "test"]), default="test", show_default=True)
@click.option("--gold", is_flag=True, help="Prefill the task's gold spans.")
def write_spans(folder: Path, code: str, split: str, gold: bool) -> None:
    """Write the samples of TASK to FOLDER, for people to mark spans in Label Studio."""
    count = span_labels.annotate(Deployment().warehouse, folder, code, split, gold)
    click.echo(f"{folder}: {count} samples of {code}; its README.md explains the next steps")


@click.command(name="marked-spans")
@click.argument("file", type=PATH)
@click.argument("code", metavar="TASK")
@click.argument("out", type=PATH)
@IGNORE
def write_marked_spans(file: Path, code: str, out: Path, ignore: tuple[str, ...]) -> None:
    """Convert FILE, an export of Label Studio, to JSON lines in OUT, which TASK's description can list under
    `files`."""
    written = span_labels.write_labels(Deployment().warehouse, file, code, out, ignore)
    click.echo(f"{out}: {numbers(written._asdict())}")


COMMANDS = [annotate, campaign, write_pairs, write_glossary, write_spans, write_marked_spans]
