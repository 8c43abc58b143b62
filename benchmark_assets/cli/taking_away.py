"""Commands that write results: reader, report, packages, tables for papers, recordings."""

from datetime import datetime
from pathlib import Path

import click
import polars as pl

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.words import PATH, holding, without
from benchmark_assets.reporting import differences, latex, removals, shared_task
from benchmark_assets.reporting.export import export
from benchmark_assets.reporting.reader.writing import write_blind, write_reader
from benchmark_assets.reporting.task_export import export_tasks
from resources import whole_files
from resources.errors import BadInput
from resources.folders import room
from resources.provider import transport
from resources.tables import plain
from resources.warehouse import Warehouse


@click.command(name="reader")
@click.argument("folder", type=PATH)
@click.argument("corpus")
@click.option("--private", is_flag=True, help="Include restricted texts and judges' words; do not pass the folder on.")
@click.option("--blind", is_flag=True, help="Write an annotator's sample for labeling, without model names or scores.")
@click.option("--annotator", help="Name of the annotator; required by --blind.")
def write_pages(folder: Path, corpus: str, private: bool, blind: bool, annotator: str | None) -> None:
    """Write the passages of CORPUS with all outputs to FOLDER; open its index.html in a browser."""
    if blind != bool(annotator) or (blind and private):
        raise click.UsageError("use --blind and --annotator together, and without --private")
    warehouse = Deployment().warehouse
    if annotator:
        sent = write_blind(warehouse, folder, corpus, annotator)
        click.echo(f"{folder}: {sent.items} items for {annotator}; {holding(sent.restricted)}")
        click.echo("import the saved labels with `variorum import labels FILE`")
        return
    written = write_reader(warehouse, folder, corpus, private)
    disclosure = (holding if private else without)(written.restricted)
    withheld = f", {written.withheld} of them withheld" if written.withheld else ""
    click.echo(f"{folder}: {written.passages} passages, {written.outputs} outputs{withheld}; {disclosure}")
    click.echo(f"open {folder / room(private) / 'index.html'} in a browser")


@click.command(name="report")
@click.argument("file", type=PATH)
@click.argument("corpora", nargs=-1, metavar="[CORPUS]...")
@click.option(
    "--reader", "readers", multiple=True, type=PATH,
    help="Folder of a reader that the report's numbers link to; may be repeated.",
)  # fmt: skip
@click.option(
    "--benchmarks", is_flag=True, help="Write the added benchmarks instead; in Markdown, if FILE ends in .md."
)
@click.option("--examples", is_flag=True, help="Write worked examples of the audit of one CORPUS, with texts, instead.")
@click.option("--private", is_flag=True, help="With --examples: include restricted texts; do not pass the page on.")
def write_report(
    file: Path, corpora: tuple[str, ...], readers: tuple[Path, ...], benchmarks: bool, examples: bool, private: bool
) -> None:
    """Write all tables and charts to FILE, an HTML page. It needs no network and contains no texts of the corpora."""
    if examples:
        if len(corpora) != 1 or readers or benchmarks:
            raise click.UsageError("use --examples with one CORPUS, and without --reader and --benchmarks")
        _write_examples(file, corpora[0], private)
        return
    from benchmark_assets.reporting.report.writing import write, write_gallery

    if private or (benchmarks and (corpora or readers)):
        raise click.UsageError("use --private with --examples only, and --benchmarks without CORPUS and --reader")
    warehouse = Deployment().warehouse
    _check_page(warehouse, file, benchmarks)
    html = write_gallery(warehouse, file) if benchmarks else write(warehouse, file, corpora, readers)
    linked = f"; its numbers link to {', '.join(map(str, readers))}" if readers else ""
    opened = "" if file.suffix == ".md" else "; open it in a browser"
    click.echo(f"{file}: {len(html.encode()) / 1e6:.2f} MB{linked}{opened}")
    if not (readers or benchmarks):
        click.echo("with `--reader FOLDER`, its numbers link to passages in what `variorum reader FOLDER CORPUS` wrote")


@click.command(name="site")
@click.argument("folder", type=PATH)
def write_pages_of_all(folder: Path) -> None:
    """Write all results, benchmarks and passages to FOLDER, a site to publish as it is, without restricted texts."""
    from benchmark_assets.reporting.report.site import write_site

    pages = write_site(Deployment().warehouse, folder)
    click.echo(f"{folder}: {len(pages)} pages; open {folder / 'index.html'} in a browser, or publish the folder")


def _check_page(warehouse: Warehouse, file: Path, gallery: bool = False) -> None:
    """Raise BadInput for a name that is not a page's: it may be a corpus, written where the file is expected."""
    endings = (".html", ".htm", *[".md"] * gallery)
    if file.suffix.lower() not in endings:
        is_corpus = len(warehouse.read("corpus", pl.DataFrame({"corpus": [str(file)]}), ["corpus"]))
        problem = "is a corpus, and the file comes first" if is_corpus else f"does not end in {' or '.join(endings)}"
        remedy = f"write `variorum report {file.stem}.html {file if is_corpus else '[CORPUS]...'}`"
        raise BadInput(file, "", problem, remedy)


def _write_examples(file: Path, corpus: str, private: bool) -> None:
    warehouse = Deployment().warehouse
    _check_page(warehouse, file)
    if not len(warehouse.read("worked_example", pl.DataFrame({"corpus": [corpus]}))):
        raise BadInput(
            corpus, "", "has no examples", "name judges under `audit` in the corpus description, or import labels"
        )
    from benchmark_assets.reporting.report.examples import examples_page

    whole_files.hand_over(file, examples_page(warehouse, corpus, private))
    click.echo(f"{file}: open it in a browser")


@click.command(name="export")
@click.argument("folder", type=PATH)
@click.argument("corpus", required=False)
@click.option(
    "--as", "form", type=click.Choice(["package", "latex", "shared-task"]), default="package", show_default=True,
    help="A package to use and check, LaTeX tables in the layout of the papers, or a test set for mt-metrics-eval.",
)  # fmt: skip
@click.option("--private", is_flag=True, help="Include restricted texts; do not pass the folder on.")
@click.option(
    "--published", type=click.DateTime(["%Y-%m-%d"]),
    help="Publication date for the metadata; by default the day of the last change to the leaderboard or the texts.",
)  # fmt: skip
@click.option(
    "--system",
    "systems",
    multiple=True,
    help="System in the test set; may be repeated. By default all systems that have every passage.",
)
def export_corpus(
    folder: Path, corpus: str | None, form: str, private: bool, published: datetime | None, systems: tuple[str, ...]
) -> None:
    """Write CORPUS, without restricted texts, to FOLDER, for others to use and check.

    Without CORPUS, write understanding scores and, in a package, costs; these contain no texts.
    """
    warehouse = Deployment().warehouse
    if (published and form != "package") or (systems and form != "shared-task") or (private and form == "latex"):
        raise click.UsageError("--published is for packages, --system for test sets, --private for both")
    if form == "latex":
        click.echo(f"{folder}: {', '.join(latex.write(warehouse, folder, corpus))}; all.tex includes all tables")
    elif corpus is None:
        if private or published or form != "package":
            raise click.UsageError("--private, --published and a test set require a CORPUS")
        tasks = export_tasks(warehouse, folder)
        click.echo(f"{folder}: costs, and scores of {', '.join(tasks) or 'no tasks'}")
    elif form == "shared-task":
        _write_test_set(warehouse, folder, corpus, systems, private)
    else:
        day = published.date() if published else None
        restricted = export(warehouse, folder, corpus, private, day)
        click.echo(f"{folder}: {(holding if private else without)(restricted)}")


def _write_test_set(
    warehouse: Warehouse, folder: Path, corpus: str, systems: tuple[str, ...], private: bool
) -> None:  # fmt: skip
    written = shared_task.write(warehouse, folder, corpus, systems, private)
    click.echo(f"{folder}: {written.passages} passages, {', '.join(written.systems)}")
    for reason, names in (("lacking passages", written.incomplete), ("restricted", written.left_out)):
        if names:
            click.echo(f"left out, {reason}: {', '.join(names)}")
    if written.withheld:
        click.echo(f"outputs withheld, because they copy a restricted text: {written.withheld}")
    if private:
        click.echo("PRIVATE, DO NOT PASS ON")


@click.command(name="compare")
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@click.argument("removed", type=PATH, required=False, metavar="[REMOVALS]")
@click.pass_context
def compare_packages(context: click.Context, old: Path, new: Path, removed: Path | None) -> None:
    """Print the differences between two packages: method first, then texts, models and scores.

    With REMOVALS, such as docs/removals.txt, print what the package or home OLD has and NEW lacks, apart from what this
    file lists; the exit code is 1 if anything is missing. Homes are folders with their warehouse in a file.
    """
    if removed is None:
        click.echo(differences.page(differences.compare(differences.read(old), differences.read(new))))
        return
    found = removals.missing(old, new, removals.read(removed))
    click.echo(plain(found) if len(found) else f"{new} has all that {old} has, except what {removed} lists")
    context.exit(bool(len(found)))


@click.command()
@click.argument("model")
@click.argument("file", type=PATH)
def record(model: str, file: Path) -> None:
    """Write to FILE all questions that MODEL was asked, and its replies. An endpoint can use FILE as its `recording`.

    FILE contains texts of the corpora: check their licences before you share it.
    """
    lines = list(transport.record(Deployment().provider.ledger, model))
    if not lines:
        raise BadInput(model, "", "has no replies yet", f"run `variorum evaluate {model}` first")
    whole_files.hand_over(file, "\n".join(lines) + "\n")
    click.echo(f"{file}: {len(lines)} replies")
