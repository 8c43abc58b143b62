"""Commands that import corpora, outputs, tasks, answers, labels and base sets. Some start without Dagster."""

from collections.abc import Iterator
from pathlib import Path

import click
import polars as pl

from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.legends import explained
from benchmark_assets.cli.words import IGNORE, PATH, CommandGroup, numbers
from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.registry import register, seats
from benchmark_assets.literary.pairs import import_pairs
from benchmark_assets.pairwise.base_sets import import_base_set
from benchmark_assets.people.answers import Counts, import_labels
from benchmark_assets.reporting.overview import contents
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.understanding.answer_imports import import_answers
from benchmark_assets.understanding.tasks import import_tasks
from resources.errors import BadInput, collecting, raise_all
from resources.provider.registry import Registry
from resources.warehouse import Warehouse


@click.group(name="import", cls=CommandGroup)
def import_() -> None:
    """Import corpora, tasks, outputs, answers, labels or base sets."""


@import_.command(name="corpus")
@click.argument("description", type=PATH)
@click.option(
    "--accept",
    is_flag=True,
    help="Consent to the costs of aligners, of glossaries by models, and of examinations of judges.",
)
def import_corpus(description: Path, accept: bool) -> None:
    """Import the corpus that a YAML file describes, and compute its references and envelopes.

    Calls to aligners, for glossaries and for the examination of judges that may cost something need --accept;
    `variorum check corpus` prints them.
    """
    home = Deployment()
    name = taken_in(home, description, accept)
    click.echo(f"  next: `variorum import outputs FILE --corpus {name}`, or `variorum evaluate MODEL`")


def taken_in(home: Deployment, description: Path, accept: bool) -> str:
    """Import the corpus that a YAML file describes, print what it contains, and return its name."""
    from benchmark_assets.automation import runs

    families = {name: judge.family for name, judge in home.provider.registry().judges.items()}
    corpus = register(home.warehouse, description, families)
    for line in examinations(corpus, home.provider.registry()):
        click.echo(line)
    if corpus.downloads:
        runs.download(home.definitions, home.instance, [corpus.name])
    runs.take_in(home.definitions, home.instance, corpus.name, accept)
    for line in contents(home.warehouse, corpus.name):
        click.echo(line)
    return corpus.name


def examinations(corpus: Description, registry: Registry) -> Iterator[str]:
    """What the import of a corpus asks its judges, in words: nothing about outputs, but sentinels."""
    judges = [judge for names in seats(corpus).values() for judge in names]
    if judges and corpus.examination.passages:
        most = registry.examination.calls
        yield (
            f"judges are examined before they judge: {', '.join(dict.fromkeys(judges))} are asked up to {most} "
            f"questions about damaged translations, in each of {len(judges)} roles, at most {most * len(judges)} in "
            "all, however small the corpus. `examination: {passages: 0}` in its description leaves this out, and flags "
            "their scores"
        )


@import_.command(name="outputs")
@click.argument("files", type=PATH, nargs=-1, required=True)
@click.option("--corpus", required=True, help="Name of the translated corpus.")
@click.option("--model", help="Name of the model; overrides the name in the file.")
@IGNORE
def import_model_outputs(files: tuple[Path, ...], corpus: str, model: str | None, ignore: tuple[str, ...]) -> None:
    """Import outputs: JSON lines (.jsonl) or tables (.csv, .tsv, .xlsx) with passage_id and translation, or result
    files of PaliBench (.json).

    All faults of the files are listed. Nothing is imported from a file with a fault."""
    if model and len(files) > 1:
        raise click.UsageError("--model requires a single file")
    home = Deployment()
    taken = {*home.provider.registry().models, *home.warehouse.read("published_output", columns=["model"])["model"]}
    faults: list[BadInput] = []
    for path in files:
        with collecting(faults):
            name, count = import_outputs(home.warehouse, path, corpus, model, taken, ignore)
            home.instance.add_dynamic_partitions("model", [name])
            click.echo(f"{name}: {count} outputs; score them with `variorum evaluate {name}`")
    raise_all(faults)


@import_.command(name="tasks")
@click.argument("descriptions", type=PATH, nargs=-1, required=True)
@click.option("--root", type=PATH, required=True, help="Folder to which paths in the descriptions are relative.")
def import_understanding_tasks(descriptions: tuple[Path, ...], root: Path) -> None:
    """Import the understanding tasks that YAML files describe, with their samples.

    A task that was imported before is replaced. Descriptions with faults are reported and skipped.
    """
    from benchmark_assets.automation import runs
    from benchmark_assets.automation.due import Scope

    home = Deployment()
    codes, faults = import_tasks(home.warehouse, descriptions, root)
    if codes:
        home.instance.add_dynamic_partitions("task", codes)
        runs.update(home.definitions, home.instance, Scope(models=[], corpora=codes, accepted=False))
        counts = home.warehouse.read("task_sample", pl.DataFrame({"task": codes}), ["task", "split"])
        click.echo(
            explained(counts.group_by("task", "split").agg(samples=pl.len()).sort("task", "split"), "task_score")
        )
    if faults:
        raise click.ClickException("\n".join(["not imported:", *map(str, faults)]))


@import_.command(name="answers")
@click.argument("file", type=PATH)
@click.option("--task", required=True, help="Code of the task.")
@click.option("--model", required=True, help="Name of the model.")
@IGNORE
def import_model_answers(file: Path, task: str, model: str, ignore: tuple[str, ...]) -> None:
    """Import answers to a task: JSON lines with sample and label, or with sample and prediction."""
    home = Deployment()
    counts = import_answers(home.warehouse, file, task, model, home.provider.registry().models, ignore)
    home.instance.add_dynamic_partitions("model", [model])
    missing = counts.samples - counts.answers
    warning = f"; {missing} samples have no answer and count as unusable answers" if missing else ""
    click.echo(f"{model}: {counts.answers} answers{warning}; score them with `variorum evaluate {model}`")


@import_.command(name="labels")
@click.argument("files", type=PATH, nargs=-1, required=True)
@click.option("--annotator", help="Name of the annotator; overrides the name in the file.")
@click.option("--pairs", is_flag=True, help="The files are spreadsheets from `variorum annotate --as pairs`.")
@IGNORE
def import_people_labels(files: tuple[Path, ...], annotator: str | None, pairs: bool, ignore: tuple[str, ...]) -> None:
    """Import labels, errors and scores by people: completed spreadsheets (.csv, .xlsx), exports of Label Studio or
    downloads from Pearmut (.json).

    If any row of a spreadsheet of pairs has a fault, no row of it is imported.
    """
    if pairs and annotator:
        raise click.UsageError("a spreadsheet of pairs names its annotator: leave --annotator out")
    warehouse = Deployment().warehouse
    if pairs:
        for path in files:
            click.echo(f"{path}: {numbers(import_pairs(warehouse, path, ignore)._asdict())}")
    else:
        for path, counts in zip(files, import_labels(warehouse, files, annotator, ignore), strict=True):
            _report(warehouse, path, counts)
    click.echo("`variorum update` updates the results that depend on this import")


def _report(warehouse: Warehouse, path: Path, counts: Counts) -> None:
    """Print the counts of an imported file, the names that were respelled, and the rows that were quarantined."""
    click.echo(f"{path}: {numbers(dict(zip(counts._fields, counts[:-1], strict=False)))}")
    for name, spelling in counts.respelled.items():
        click.echo(f"{name!r} is stored as {spelling!r}, the first spelling of this annotator's name")
    quarantine = warehouse.read("label_quarantine", pl.DataFrame({"file": [str(path.resolve())]}))
    if len(quarantine):
        click.echo(f"\n{explained(quarantine.select('place', 'item', 'annotator', 'reason'), 'label_quarantine')}\n")


@import_.command(name="baseset")
@click.argument("folder", type=PATH)
def import_base_set_folder(folder: Path) -> None:
    """Import a base set: anchors to compare outputs with. Several versions of a base set can coexist."""
    imported = import_base_set(Deployment().warehouse, folder)
    click.echo(f"{imported}")
    if imported.differing:
        click.echo(f"items not compared, because their source text has changed: {', '.join(imported.differing)}")
    click.echo("`variorum update` compares outputs with the base set")
