"""Commands that bring something in: corpora, outputs, tasks, answers, labels, base sets, pairs."""

from pathlib import Path

import click
import polars as pl

from benchmark_assets.adjudication.label_imports import import_labels
from benchmark_assets.automation import runs
from benchmark_assets.automation.due import Scope
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.corpus.registry import register
from benchmark_assets.literary.pairs import import_pairs
from benchmark_assets.pairwise.base_sets import import_base_set
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.understanding.answer_imports import import_answers
from benchmark_assets.understanding.tasks import import_tasks
from resources.tables import plain


@click.group(name="import")
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
        name, count = import_outputs(each.warehouse, path, corpus, model, each.provider.registry().models)
        each.instance.add_dynamic_partitions("model", [name])
        click.echo(f"{name}: {count} outputs; score them with `variorum evaluate {name}`")


@import_.command(name="tasks")
@click.argument("descriptions", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--root", type=click.Path(path_type=Path), required=True, help="Folder to which their `files` are relative."
)
def import_understanding_tasks(descriptions: tuple[Path, ...], root: Path) -> None:
    """Import the tasks of understanding that YAML files describe, with their samples.

    A task that was imported before is replaced. Faulty descriptions are named, and left out.
    """
    each = Deployment()
    codes, faults = import_tasks(each.warehouse, descriptions, root)
    if codes:
        each.instance.add_dynamic_partitions("task", codes)
        runs.update(each.definitions, each.instance, Scope(models=[], corpora=codes))
        counts = each.warehouse.read("task_sample", pl.DataFrame({"task": codes}), ["task", "split"])
        click.echo(plain(counts.group_by("task", "split").agg(samples=pl.len()).sort("task", "split")))
    if faults:
        raise click.ClickException("\n".join(["not imported:", *map(str, faults)]))


@import_.command(name="answers")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--task", required=True, help="Code of the task that they answer.")
@click.option("--model", required=True, help="Name of the model.")
def import_model_answers(file: Path, task: str, model: str) -> None:
    """Take in answers to a task: JSON lines of sample and label, or of sample and prediction."""
    each = Deployment()
    taken = import_answers(each.warehouse, file, task, model, each.provider.registry().models)
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


COMMANDS = [import_]
