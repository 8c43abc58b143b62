"""Commands that write files for people to read, label or check, and that plan their work.

`variorum import` reads the completed files.
"""

from pathlib import Path

import click
import polars as pl

from benchmark_assets.audit.design import designs
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.words import IGNORE, PATH, holding, numbers
from benchmark_assets.literary import glossary_file
from benchmark_assets.literary.pairs import export_pairs
from benchmark_assets.people.forms import ESA, FORMS, LABEL_FORM
from benchmark_assets.people.pearmut import PROTOCOLS, Plan, write_campaign
from benchmark_assets.people.sample import export_items
from benchmark_assets.understanding import span_labels
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.tables import plain


@click.command()
@click.argument("place", type=PATH, metavar="FOLDER|FILE")
@click.argument("corpus")
@click.option("--annotator", "annotators", multiple=True, required=True, help="Name of an annotator; may be repeated.")
@click.option(
    "--as", "form", type=click.Choice(["folder", "pearmut", "pairs"]), default="folder", show_default=True,
    help="A folder with Label Studio tasks and spreadsheets, a file for Pearmut, or a spreadsheet of pairs.",
)  # fmt: skip
@click.option(
    "--protocol", type=click.Choice(list(dict.fromkeys([*FORMS, *PROTOCOLS]))),
    help=f"What annotators enter for each output; by default {LABEL_FORM.protocol}, and {ESA} in Pearmut.",
)  # fmt: skip
@click.option("--judge", help="Pearmut: name of a judge whose error spans are prefilled, for annotators to correct.")
@click.option("--dynamic", is_flag=True, help="Pearmut: assign more items of the models with the highest scores.")
@click.option("--per-model", type=click.IntRange(1), help="Pairs: number of pairs per model; by default all.")
@click.option("--base-set", help="Pairs: take the anchors of this base set in place of human translations.")
@click.option("--private", is_flag=True, help="Include restricted texts in a file; do not pass the file on.")
@click.option(
    "--second-pass", "second", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
    help="Folder of labels: only outputs on which people and the panel disagree, and this SHARE of the others.",
)  # fmt: skip
def annotate(
    place: Path, corpus: str, annotators: tuple[str, ...], form: str, protocol: str | None, judge: str | None,
    dynamic: bool, per_model: int | None, base_set: str | None, private: bool,
    second: float | None,
) -> None:  # fmt: skip
    """Write a blind sample of CORPUS for people: a folder or a file for each kind of tool.

    A spreadsheet of pairs is for one annotator, who compares outputs with human translations.
    """
    if (form != "pearmut" and (judge or dynamic)) or (form != "pairs" and (per_model or base_set)):
        raise click.UsageError("--judge and --dynamic are for Pearmut, --per-model and --base-set for pairs")
    if (form == "folder" and private) or (form == "pairs" and (protocol or len(annotators) > 1)):
        raise click.UsageError("a folder takes no --private; a sheet of pairs takes one --annotator and no --protocol")
    if second and (form != "folder" or protocol not in (None, LABEL_FORM.protocol)):
        raise click.UsageError("--second-pass is for folders of labels")
    if protocol and protocol not in (PROTOCOLS if form == "pearmut" else FORMS):
        raise click.UsageError(f"{protocol} is not a protocol of this kind: {', '.join(FORMS)}; in Pearmut "
                               f"{', '.join(PROTOCOLS)}")  # fmt: skip
    warehouse, names = Deployment().warehouse, ", ".join(annotators)
    if form == "pairs":
        pairs = export_pairs(warehouse, place, corpus, annotators[0], per_model, private, base_set)
        controls = f" and {pairs.controls} control items" if pairs.controls else ""
        click.echo(f"{place}: {pairs.pairs} pairs{controls} for {names}; {holding(pairs.restricted)}")
        click.echo("enter A, B or unsure under `better`; import the file with `variorum import labels --pairs FILE`")
    elif form == "pearmut":
        plan = Plan(protocol or ESA, judge, dynamic)
        campaign = write_campaign(warehouse, place, corpus, annotators, plan, private)
        whom = "all annotators together" if dynamic else "each annotator"
        counts = f"{campaign.items} items and {campaign.controls} control items for {whom} ({names})"
        click.echo(f"{place}: {counts}; {holding(campaign.restricted)}")
        click.echo("`pearmut add FILE` loads it; then `variorum import labels FILE`")
    else:
        chosen = FORMS[protocol or LABEL_FORM.protocol]
        sent = export_items(warehouse, place, corpus, annotators, chosen, second)
        controls = f" and {sent.controls} control items" if sent.controls else ""
        items = f"{sent.items} items{' of a second pass' * bool(second)}{controls}"
        click.echo(f"{place}: {items} for each annotator ({names}); {holding(sent.restricted)}")
        click.echo("its README.md explains what to do; import completed files with `variorum import labels FILES`")


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
@click.argument("place", type=PATH, metavar="FOLDER|OUT")
@click.argument("code", metavar="TASK")
@click.option("--split", type=click.Choice(["train", "test"]), default="test", show_default=True)
@click.option("--gold", is_flag=True, help="Prefill the task's gold spans.")
@click.option("--from", "marked", type=PATH, help="The export of Label Studio to convert; OUT gets JSON lines.")
@IGNORE
def write_spans(
    place: Path, code: str, split: str, gold: bool, marked: Path | None, ignore: tuple[str, ...]
) -> None:  # fmt: skip
    """Write the samples of TASK to FOLDER, for people to mark spans in Label Studio.

    With --from, convert what they exported to JSON lines in OUT, which TASK's description can list under `files`.
    """
    warehouse = Deployment().warehouse
    if marked:
        click.echo(f"{place}: {numbers(span_labels.write_labels(warehouse, marked, code, place, ignore)._asdict())}")
        return
    count = span_labels.annotate(warehouse, place, code, split, gold)
    click.echo(f"{place}: {count} samples of {code}; its README.md explains the next steps")


@click.command()
@click.argument("corpus")
@click.option("--rate", type=click.FloatRange(0, 100, min_open=True, max_open=True), default=5, show_default=True,
              help="Expected error rate, in percent.")  # fmt: skip
def design(corpus: str, rate: float) -> None:
    """Plan an audit of CORPUS: list how wide the error rate's interval would be with more or fewer verdicts and labels.

    Asks no model.
    """
    home = Deployment()
    triage = home.warehouse.read("triage").filter(corpus == CORPUS, pl.col("drift").is_not_null())
    if triage.is_empty():
        raise BadInput(corpus, "", "has no outputs with a drift", "evaluate a model: `variorum evaluate MODEL`")
    rows = designs(triage, rate / 100)
    click.echo(plain(rows.with_columns((pl.exclude("verdicts", "labels") * 100).round(1))))
    click.echo(
        "\nbelow: of the outputs below the threshold, the percentage that the panel also judges (`audit.below`)."
        "\nverdicts: number of outputs that the panel judges. labels: number of outputs that people label."
        "\nother columns: width of the interval in percentage points, if outputs are independent. people: with people's"
        "\nlabels alone. judges_70: with a panel that judges 70 % of outputs correctly; and so on."
    )
