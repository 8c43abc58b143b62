"""The command line: each command calls functions of the project or Dagster's API, and says what came of it."""

import logging
import os
import sys
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import dagster as dg
import polars as pl

from benchmark_assets.accounts.costs import costs
from benchmark_assets.adjudication.annotation import export_items
from benchmark_assets.adjudication.label_imports import import_labels
from benchmark_assets.audit.page import page
from benchmark_assets.audit.readings import overview
from benchmark_assets.automation import runs
from benchmark_assets.automation.due import Scope, due, following, order
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.literary import glossary_file
from benchmark_assets.literary.pairs import export_pairs, import_pairs
from benchmark_assets.pairwise.base_sets import Identity, checked, import_base_set
from benchmark_assets.pairwise.building import build_base_set, report, spread
from benchmark_assets.partitions import KEYS
from benchmark_assets.reporting import differences, latex, shared_task
from benchmark_assets.reporting.export import export
from benchmark_assets.reporting.leaderboard import readable
from benchmark_assets.reporting.reader.writing import write_blind, write_reader
from benchmark_assets.reporting.tables import plain
from benchmark_assets.selection.funnel import reasons, steps
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding import span_labels
from benchmark_assets.understanding.answer_imports import import_answers
from benchmark_assets.understanding.readings import boards, two_ways
from benchmark_assets.understanding.tasks import import_tasks
from resources.errors import BadInput
from resources.home import PROJECT, prepare
from resources.provider import ledger, transport
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

SAMPLES = {name: PROJECT / "warehouse" / name for name in ("dialogues", "sample")}


class Deployment:
    """What the commands work on: the home's warehouse and Dagster instance, and the code location."""

    def __init__(self) -> None:
        prepare()
        self.definitions = build_definitions()
        resources = self.definitions.resources or {}
        self.warehouse: Warehouse = resources["warehouse"]
        self.provider: Provider = resources["provider"]
        self.systems: Systems = resources["systems"]
        self.instance = dg.DagsterInstance.get()


class Commands(click.Group):
    """Commands whose known errors end in one line and exit code 1 instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except (BadInput, runs.RunFailedError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Commands)
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
def main(quiet: bool) -> None:
    """Evaluate translations of classical texts against several human ones."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING if quiet else logging.INFO)  # Dagster sets the logger's own level
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    logging.getLogger("variorum").addHandler(handler)
    logging.getLogger("variorum").setLevel(logging.INFO)


def console() -> None:
    """Entry point of `variorum`.

    Leaves without tearing the interpreter down: DuckDB 2.0's bindings then print a page of leak warnings once torch has
    been loaded. Nothing is open at this point; warehouse and event log are closed after each use.
    """
    code: int | str | None = 0
    try:
        main()
    except SystemExit as leave:
        code = leave.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


@main.command()
def demo() -> None:
    """Run the main job on the sample corpus and print its leaderboard."""
    each = Deployment()
    for name, folder in SAMPLES.items():
        register(each.warehouse, folder / "corpus.yaml")
        runs.take_in(each.definitions, each.instance, name)
    registry = each.provider.registry()
    sample = [model for model, settings in registry.models.items() if settings.corpora == ("sample",)]
    runs.evaluate(each.definitions, each.instance, *sample)
    import_labels(each.warehouse, sorted((SAMPLES["sample"] / "annotations").glob("*.csv")))
    runs.update(each.definitions, each.instance)
    board = each.warehouse.read("leaderboard")
    click.echo("\nThe dialogues, two of whose translations were aligned: which passages are fit for a benchmark\n")
    click.echo(plain(steps(each.warehouse.read("funnel", pl.DataFrame({"corpus": ["dialogues"]})))))
    click.echo("\nThe sample's systems beside its human translators, each of these scored against the other two:\n")
    click.echo(plain(readable(board.filter(board["corpus"] == "sample"))))
    click.echo("\nWhat recorded judges found in its outputs far from the references, and invented annotators in all:\n")
    click.echo(plain(overview(each.warehouse.read("audit_outcome"), each.warehouse.read("error_estimate"))))
    click.echo(
        "\nThe sample was composed for this project; its numbers say nothing of any real model. Where to look next:"
    )
    click.echo("  make ui                          the assets, their partitions and this table in Dagster")
    click.echo("  .venv/bin/variorum status        what is materialized, failed or missing")
    click.echo("  README.md                        your own corpus, your own models")


@main.group(name="import")
def import_() -> None:
    """Bring a corpus or tasks, or outputs that were made elsewhere."""


@import_.command(name="corpus")
@click.argument("description", type=click.Path(path_type=Path))
def import_corpus(description: Path) -> None:
    """Take in the corpus that a YAML file describes, and build its references and envelopes."""
    each = Deployment()
    found = register(each.warehouse, description)
    name = found.name
    if found.downloads:
        runs.download(each.definitions, each.instance)
    runs.take_in(each.definitions, each.instance, name)
    click.echo(f"{name}: `variorum status` shows what it holds")


@import_.command(name="outputs")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--corpus", required=True, help="Name of the corpus that they translate.")
@click.option("--model", help="Name of the model, where the file does not give the right one.")
def import_model_outputs(files: tuple[Path, ...], corpus: str, model: str | None) -> None:
    """Take in outputs: PaliBench's result files (.json), or JSON lines of passage_id and translation (.jsonl)."""
    if model and len(files) > 1:
        raise click.UsageError("--model names the model of one file")
    each = Deployment()
    for path in files:
        name, count = import_outputs(each.warehouse, path, corpus, model)
        each.instance.add_dynamic_partitions("model", [name])
        click.echo(f"{name}: {count} outputs; score them with `variorum evaluate {name}`")


@import_.command(name="tasks")
@click.argument("descriptions", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--root", type=click.Path(path_type=Path), required=True, help="Folder to which their `files` are relative."
)
def import_understanding_tasks(descriptions: tuple[Path, ...], root: Path) -> None:
    """Take in the tasks of understanding that YAML files describe, and their samples."""
    each = Deployment()
    codes = [description.task for description in import_tasks(each.warehouse, descriptions, root)]
    each.instance.add_dynamic_partitions("task", codes)
    runs.update(each.definitions, each.instance, Scope(models=[], corpora=codes))
    counts = each.warehouse.read("task_sample", pl.DataFrame({"task": codes}), ["task", "split"])
    click.echo(plain(counts.group_by("task", "split").agg(samples=pl.len()).sort("task", "split")))


@import_.command(name="answers")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--task", required=True, help="Code of the task that they answer.")
@click.option("--model", required=True, help="Name of the model.")
def import_model_answers(file: Path, task: str, model: str) -> None:
    """Take in answers to a task: JSON lines of sample and label, or of sample and prediction."""
    each = Deployment()
    taken = import_answers(each.warehouse, file, task, model)
    each.instance.add_dynamic_partitions("model", [model])
    missing = taken.samples - taken.answers
    words = f"; {missing} samples have none, and count as unusable answers" if missing else ""
    click.echo(f"{model}: {taken.answers} answers{words}; score them with `variorum evaluate {model}`")


@import_.command(name="labels")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--annotator", help="Who gave the labels, where the file does not say so, or under another name.")
def import_people_labels(files: tuple[Path, ...], annotator: str | None) -> None:
    """Take in labels that people gave: the spreadsheet (.csv), or an export of Label Studio (.json)."""
    warehouse = Deployment().warehouse
    for path, counts in zip(files, import_labels(warehouse, files, annotator), strict=True):
        click.echo(f"{path}: {', '.join(f'{count} {name}' for name, count in counts._asdict().items())}")
        aside = warehouse.read("label_quarantine", pl.DataFrame({"file": [str(path.resolve())]}))
        if len(aside):
            click.echo(f"\n{plain(aside.select('place', 'item', 'annotator', 'reason'))}\n")
    click.echo("`variorum update` brings what rests on them up to date")


@import_.command(name="baseset")
@click.argument("folder", type=click.Path(path_type=Path))
def import_base_set_folder(folder: Path) -> None:
    """Take in a base set: anchors with which outputs are compared. Versions live side by side."""
    found = import_base_set(Deployment().warehouse, folder)
    size = f"{found.anchors} anchors on {found.items} items, {found.judgments} judgments"
    click.echo(f"{found.base_set}: {'is here already' if found.before else 'taken in'}; {size}")
    if found.differing:
        click.echo(f"not compared, for their source is another now: {', '.join(found.differing)}")
    click.echo("`variorum update` compares outputs with it")


@import_.command(name="pairs")
@click.argument("file", type=click.Path(path_type=Path))
def import_people_pairs(file: Path) -> None:
    """Take in what people say of pairs, the spreadsheet that `variorum pairs` wrote: all of it, or nothing."""
    counts = import_pairs(Deployment().warehouse, file)
    click.echo(f"{file}: {', '.join(f'{count} {name}' for name, count in counts._asdict().items())}")
    click.echo("`variorum update` brings what rests on them up to date")


@main.group(name="task")
def task_group() -> None:
    """Have the spans of a task marked in Label Studio."""


@task_group.command(name="annotate")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("code", metavar="TASK")
@click.option("--split", type=click.Choice(["train", "test"]), default="test", show_default=True)
@click.option("--gold", is_flag=True, help="Mark beforehand what the task's files have.")
def annotate_task(folder: Path, code: str, split: str, gold: bool) -> None:
    """Write the samples of a TASK to FOLDER, as tasks of Label Studio with its labelling interface."""
    count = span_labels.annotate(Deployment().warehouse, folder, code, split, gold)
    click.echo(f"{folder}: {count} samples of {code}; its README says what to do with them")


@task_group.command(name="labels")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("code", metavar="TASK")
@click.argument("out", type=click.Path(path_type=Path))
def write_task_labels(file: Path, code: str, out: Path) -> None:
    """Turn FILE, an export of Label Studio, into OUT: JSON lines that the description of a TASK can name."""
    written = span_labels.write_labels(Deployment().warehouse, file, code, out)
    click.echo(f"{out}: {', '.join(f'{count} {name}' for name, count in written._asdict().items())}")


@main.group(name="baseset")
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
def build(
    folder: Path, items: Path, name: str, version: str, judge: str, count: int, systems: tuple[str, ...], orders: str,
    within: float | None,
) -> None:  # fmt: skip
    """Write a base set to FOLDER: systems judged against each other, of which those that lie most evenly are chosen."""
    adaptive = False if within is None else {"within": within}
    identity = checked(Identity, name=name, version=version, judge=judge, orders=orders, adaptive=adaptive)
    each = Deployment()
    built = build_base_set(each.warehouse, each.provider, folder, identity, items, count, systems, f"{uuid.uuid4()}")
    click.echo(f"anchors, from the weakest: {', '.join(built.anchors)}")
    click.echo(f"they miss even places in the pool by {built.unevenness:.1%} of matches won\n")
    click.echo(plain(_rounded(spread(built.pool, built.anchors))))
    restricted = ", ".join(built.restricted)
    words = f"PRIVATE, DO NOT PASS ON; restricted texts in it: {restricted}" if restricted else "no restricted texts"
    click.echo(f"\n{folder}: {words}; `variorum import baseset {folder}` takes it in")


@base_set.command(name="show")
@click.argument("name", metavar="NAME@VERSION")
def show_base_set(name: str) -> None:
    """Show the anchors of a base set with their win rates against each other, by slice."""
    found = report(Deployment().warehouse, name)
    click.echo(f"{plain(_rounded(found.anchors))}\n\n{plain(_rounded(found.spread))}")
    if found.problem:
        click.echo(f"\n{found.problem}")


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("corpus")
@click.option("--annotator", "annotators", multiple=True, required=True, help="Who labels; once for each of them.")
def annotate(folder: Path, corpus: str, annotators: tuple[str, ...]) -> None:
    """Write the sample of CORPUS that people label to FOLDER: for Label Studio and for spreadsheets, blind."""
    sent = export_items(Deployment().warehouse, folder, corpus, annotators)
    restricted = ", ".join(sent.restricted)
    words = f"PRIVATE, DO NOT PASS ON; restricted texts in it: {restricted}" if restricted else "no restricted texts"
    click.echo(f"{folder}: {sent.items} items for each of {', '.join(annotators)}; {words}")
    click.echo("README.md there says how to label; `variorum import labels FILES` takes in what comes back")


@main.command(name="pairs")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("corpus")
@click.option("--annotator", required=True, help="Who says which is better.")
@click.option("--per-model", type=click.IntRange(1), help="So many outputs of each model; by default all.")
@click.option("--private", is_flag=True, help="Show restricted texts, too; such a file may not be passed on.")
def write_pairs(file: Path, corpus: str, annotator: str, per_model: int | None, private: bool) -> None:
    """Write outputs of CORPUS beside the human translation to FILE, a spreadsheet for one annotator, blind."""
    sent = export_pairs(Deployment().warehouse, file, corpus, annotator, per_model, private)
    restricted = ", ".join(sent.restricted)
    words = f"PRIVATE, DO NOT PASS ON; restricted texts in it: {restricted}" if restricted else "no restricted texts"
    click.echo(f"{file}: {sent.pairs} pairs for {annotator}; {words}")
    click.echo("write A, B or unsure under `better`; `variorum import pairs FILE` takes in what comes back")


@main.command(name="examples")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("corpus")
@click.option("--private", is_flag=True, help="Show restricted texts, too; such a page may not be passed on.")
def write_examples(file: Path, corpus: str, private: bool) -> None:
    """Write outputs of CORPUS that are worth reading to FILE, a page for a browser."""
    warehouse = Deployment().warehouse
    if not len(warehouse.read("worked_example", pl.DataFrame({"corpus": [corpus]}))):
        raise BadInput(corpus, "", "has no examples", "name judges under `audit` in its description, or import labels")
    _write(file, page(warehouse, corpus, private))
    click.echo(f"{file}: open it in a browser")


@main.command(name="reader")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("corpus")
@click.option("--private", is_flag=True, help="Show restricted texts and judges' words, too; it may not be passed on.")
@click.option("--blind", is_flag=True, help="For labelling: the sample that people label, without models or scores.")
@click.option("--annotator", help="Who labels, with --blind.")
def write_pages(folder: Path, corpus: str, private: bool, blind: bool, annotator: str | None) -> None:
    """Write the passages of CORPUS with all outputs to FOLDER, to read in a browser: open its index.html."""
    if blind != bool(annotator) or (blind and private):
        raise click.UsageError("--blind and --annotator go together, and show restricted texts without --private")
    warehouse = Deployment().warehouse
    if annotator:
        sent = write_blind(warehouse, folder, corpus, annotator)
        names = ", ".join(sent.restricted)
        words = f"PRIVATE, DO NOT PASS ON; restricted texts in it: {names}" if names else "no restricted texts"
        click.echo(f"{folder}: {sent.items} items for {annotator}; {words}")
        click.echo("`variorum import labels FILE` takes in what is saved there")
        return
    written = write_reader(warehouse, folder, corpus, private)
    restricted = ", ".join(written.restricted) or "none"
    words = "PRIVATE, DO NOT PASS ON; restricted texts in it" if private else "public; restricted texts left out"
    click.echo(f"{folder}: {written.passages} passages, {written.outputs} outputs; {words}: {restricted}")


@main.command(name="glossary")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("corpus")
def write_glossary(file: Path, corpus: str) -> None:
    """Write the terms of CORPUS to FILE, a table for a person to check."""
    terms, passages = glossary_file.write(Deployment().warehouse, file, corpus)
    click.echo(f"{file}: {terms} terms of {passages} passages; `false` in in_source or in_human needs a look")
    click.echo("name it as `glossary` under `literary` in the description, then `variorum import corpus` that again")


@main.command(name="report")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("corpora", nargs=-1, metavar="[CORPUS]...")
@click.option("--reader", type=click.Path(path_type=Path), help="Folder of a reader, to which the numbers link.")
def write_report(file: Path, corpora: tuple[str, ...], reader: Path | None) -> None:
    """Write all tables and charts to FILE, a page for a browser that needs no network; no texts are in it."""
    from benchmark_assets.reporting.report.writing import write  # imports Altair, which takes a second

    html = write(Deployment().warehouse, file, corpora, reader)
    click.echo(f"{file}: {len(html.encode()) / 1e6:.2f} MB; open it in a browser")


@main.command(name="understanding")
def show_understanding() -> None:
    """Show every system on every task of understanding, with means by language; spans scored in two ways."""
    warehouse = Deployment().warehouse
    for language, table in boards(warehouse.read("understanding_board")).items():
        click.echo(f"{language}\n{plain(table)}\n")
    ways = two_ways(warehouse.read("task_score"))
    if len(ways):
        click.echo(f"Spans, by sample as the paper has it and pooled\n{plain(ways)}")


@main.command()
def download() -> None:
    """Fetch what corpora have at public sources, where it has changed, and look at the files."""
    each = Deployment()
    runs.download(each.definitions, each.instance)
    runs.look(each.definitions, each.instance)


@main.command()
def scan() -> None:
    """Look at the files of all corpora for passages that are new or changed."""
    each = Deployment()
    runs.look(each.definitions, each.instance)


@main.command(name="funnel")
@click.argument("passage", required=False)
def show_funnel(passage: str | None) -> None:
    """Say how many passages each filter drops; with a PASSAGE (corpus/id), why it is in or out."""
    warehouse = Deployment().warehouse
    if passage is None:
        rows = warehouse.read("funnel")
        click.echo(plain(steps(rows)) if len(rows) else "no corpus has filters: every passage is in")
        return
    key = pl.DataFrame({"passage": [passage]})
    found = warehouse.read("selection", key)
    if found.is_empty():
        raise BadInput(passage, "", "is no passage that was selected from", "write it as corpus/id; `variorum update`")
    click.echo(plain(reasons(found, warehouse.read("passage_filter", key))))
    stages = warehouse.read("verification", key).drop("passage", "fingerprint", "run_id", "updated_at")
    doubts = warehouse.read("alignment", key, ["translator", "doubt"]).drop_nulls()
    for rows in (doubts, stages):
        if len(rows):
            click.echo(f"\n{plain(rows)}")


@main.command()
def models() -> None:
    """List the models: those of the registry, and those whose outputs were imported."""
    each = Deployment()
    registry = each.provider.registry()
    called = [(name, registry.model(name).place, own.id, own.effort) for name, own in registry.models.items()]
    columns = ["model", "from", "id", "effort"]
    click.echo(plain(pl.DataFrame(called, schema=dict.fromkeys(columns, pl.String), orient="row").fill_null("-")))
    if len(rows := each.warehouse.read("imported_file", columns=["model", "corpus", "outputs", "file"])):
        click.echo(f"\n{plain(rows)}")


@main.command(name="costs")
def show_costs() -> None:
    """Say what was paid, by day, model and purpose, in US dollars."""
    rows = costs(ledger.attempts(Deployment().provider.ledger))
    money = rows.select(pl.col("paid", "at_most").round(6).cast(pl.String).fill_null("unknown"))
    click.echo(plain(rows.with_columns(money)))
    unknown = (
        "; what models without a price cost is unknown"
        if rows["paid", "at_most"].null_count().sum_horizontal()[0]
        else ""
    )
    paid, at_most = float(rows["paid"].sum()), float(rows["at_most"].sum())
    click.echo(f"\npaid: {paid:.4f} dollars; uncertain calls may add {at_most:.4f} at most{unknown}")


@main.command()
@click.argument("model")
@click.argument("file", type=click.Path(path_type=Path))
def record(model: str, file: Path) -> None:
    """Write what MODEL was asked and answered so far to FILE, from which an endpoint with `recording` replays it.

    It holds texts: mind their licences before you share it.
    """
    lines = list(transport.record(Deployment().provider.ledger, model))
    if not lines:
        raise BadInput(model, "", "has answered nothing yet", "`variorum evaluate` it first")
    _write(file, "\n".join(lines) + "\n")
    click.echo(f"{file}: {len(lines)} replies")


def _rounded(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.selectors.float().round(3).cast(pl.String).fill_null("-"))


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(file, "", f"cannot be written ({error.strerror})", "give the path of a file") from error


@main.command(name="export")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("corpus")
@click.option("--private", is_flag=True, help="Add the restricted texts; such a package may not be passed on.")
@click.option(
    "--published", type=click.DateTime(["%Y-%m-%d"]),
    help="The date that catalogues are told; by default that of the newest row of the leaderboard or texts.",
)  # fmt: skip
def export_corpus(folder: Path, corpus: str, private: bool, published: datetime | None) -> None:
    """Write a package of CORPUS that others can use and check to FOLDER, without the texts that are restricted."""
    day = published.date() if published else None
    restricted = ", ".join(export(Deployment().warehouse, folder, corpus, private, day)) or "none"
    words = "PRIVATE, DO NOT PASS ON; restricted texts in it" if private else "public; restricted texts left out"
    click.echo(f"{folder}: {words}: {restricted}")


@main.command(name="latex")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("corpus")
def write_latex(folder: Path, corpus: str) -> None:
    """Write the tables of CORPUS, and of the tasks of understanding, to FOLDER in the shapes of the papers."""
    files = latex.write(Deployment().warehouse, folder, corpus)
    click.echo(f"{folder}: {', '.join(files)}; all.tex shows them all")


@main.command(name="shared-task")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("corpus")
@click.option("--system", "systems", multiple=True, help="A system; by default all that have every passage.")
@click.option("--private", is_flag=True, help="Write restricted texts, too; such a folder may not be passed on.")
def write_shared_task(folder: Path, corpus: str, systems: tuple[str, ...], private: bool) -> None:
    """Write CORPUS to FOLDER as a test set that mt-metrics-eval reads."""
    written = shared_task.write(Deployment().warehouse, folder, corpus, systems, private)
    click.echo(f"{folder}: {written.passages} passages, {', '.join(written.systems)}")
    for words, names in (("lack passages", written.incomplete), ("restricted", written.left_out)):
        if names:
            click.echo(f"left out, {words}: {', '.join(names)}")
    if private:
        click.echo("PRIVATE, DO NOT PASS ON")


@main.command(name="compare")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
def compare_packages(old: Path, new: Path) -> None:
    """Say what changed from the package OLD to the package NEW: method first, then texts, models and scores."""
    click.echo(differences.page(differences.compare(differences.read(old), differences.read(new))))


@main.command()
@click.argument("models", nargs=-1, required=True)
def evaluate(models: tuple[str, ...]) -> None:
    """Bring MODELS up to date, from their outputs to the leaderboard; what is current is not computed again."""
    each = Deployment()
    runs.evaluate(each.definitions, each.instance, *models)
    board = each.warehouse.read("leaderboard")
    corpora = board.filter(board["system"].is_in(models))["corpus"]
    click.echo(plain(readable(board.filter(board["corpus"].is_in(corpora.to_list())))))


@main.command()
@click.option("--all", "every", is_flag=True, help="Name every partition.")
def stale(every: bool) -> None:
    """List what is due, why, and what it would cost; nothing is computed or asked."""
    each = Deployment()
    found = [due(each.definitions, each.instance, asset) for asset in order(each.definitions)]
    rows = pl.concat(
        [one.rows.select(pl.lit(one.asset.to_user_string()).alias("asset"), *KEYS, "reason") for one in found]
    )
    if rows.is_empty():
        click.echo("nothing is due")
        return
    partition = pl.concat_str([pl.when(pl.col(key) != "").then(key) for key in KEYS], separator="|", ignore_nulls=True)
    rows = rows.select("asset", "reason", partition=partition)
    if not every:
        groups = rows.group_by("asset", "reason", maintain_order=True)
        rows = groups.agg(partitions=pl.len(), first=pl.col("partition").first())
    click.echo(plain(rows))
    assets = [one.asset for one in found if len(one.rows)]
    follow = [key.to_user_string() for key in following(each.definitions, assets) if key not in assets]
    if follow:
        click.echo(f"\nmay follow, where these come out changed: {', '.join(follow)}")
    for one in found:
        if one.estimate:
            click.echo(f"\n{one.asset.to_user_string()}: {one.estimate}")
    click.echo("\n`variorum update` brings it up to date")


@main.command()
@click.option("--probe", is_flag=True, help="Ask each model first which version of it answers.")
@click.option("--anew", metavar="ASSET", help="Compute all of this asset anew, too, whatever it was made from.")
def update(probe: bool, anew: str | None) -> None:
    """Bring everything that is due up to date, and nothing else."""
    each = Deployment()
    if anew:
        runs.forget(each.definitions, each.instance, anew)
    runs.update(each.definitions, each.instance, probe=probe)


@main.command()
@click.argument("kind", type=click.Choice(["model", "corpus", "task"]))
@click.argument("name")
def remove(kind: str, name: str) -> None:
    """Remove a model, a corpus or a task from every table. Files stay, and so does the record of what was paid."""
    each = Deployment()
    runs.remove(each.definitions, each.instance, kind, name)


@main.command()
def snapshot() -> None:
    """Print the path of a copy of the warehouse that may be read while runs write."""
    click.echo(Deployment().warehouse.snapshot())


@main.command()
def status() -> None:
    """Count the partitions of each asset that are materialized, failed or missing."""
    each = Deployment()
    corpora = each.warehouse.read("corpus", columns=["corpus", "description"])
    click.echo(plain(corpora) if len(corpora) else "no corpora yet: `variorum demo` or `variorum import corpus FILE`")
    if len(known := each.warehouse.read("task", columns=["task", "description"])):
        click.echo(f"\n{plain(known)}")
    click.echo()
    click.echo(plain(runs.status(each.definitions, each.instance)))


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def ui(arguments: tuple[str, ...]) -> None:
    """Start Dagster's UI and daemon on the warehouse; ARGUMENTS go to `dagster dev`."""
    each = Deployment()
    each.instance.add_dynamic_partitions("model", each.systems.models())
    os.chdir(prepare())  # in the project Dagster would warn of the dagster.yaml there, to which the home's is a link
    dagster = str(Path(sys.executable).with_name("dagster"))
    os.execv(dagster, [dagster, "dev", "--workspace", str(PROJECT / "workspace.yaml"), *arguments])
