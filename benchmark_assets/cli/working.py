"""Commands that compute: on the sample, on models, on what is due. And the one that starts Dagster."""

import os
import sys
from pathlib import Path

import click
import polars as pl

from benchmark_assets.adjudication.label_imports import import_labels
from benchmark_assets.audit.readings import overview
from benchmark_assets.automation import runs
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.corpus.registry import register
from benchmark_assets.reporting.leaderboard import readable
from benchmark_assets.selection.funnel import steps
from benchmark_assets.understanding.board import MODEL
from benchmark_assets.understanding.readings import boards
from resources.home import PROJECT, prepare
from resources.tables import plain

SAMPLES = {name: PROJECT / "warehouse" / name for name in ("dialogues", "sample")}


@click.command()
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


@click.command()
@click.argument("models", nargs=-1, required=True)
def evaluate(models: tuple[str, ...]) -> None:
    """Bring MODELS up to date, from their outputs to the leaderboard; what is current is not computed again."""
    each = Deployment()
    runs.evaluate(each.definitions, each.instance, *models)
    board = each.warehouse.read("leaderboard")
    corpora = board.filter(board["system"].is_in(models))["corpus"]
    if len(corpora):
        click.echo(plain(readable(board.filter(board["corpus"].is_in(corpora.to_list())))))
    tasks = each.warehouse.read("understanding_board")
    answered = tasks.filter(tasks["system"].is_in(models), kind=MODEL).select("benchmark", "language")
    for title, table in boards(tasks.join(answered.unique(), on=answered.columns, how="semi")).items():
        click.echo(f"\n{title}\n{plain(table)}")


@click.command()
@click.option("--probe", is_flag=True, help="Ask each model first which version of it answers.")
@click.option("--anew", metavar="ASSET", help="Compute all of this asset anew, too, whatever it was made from.")
def update(probe: bool, anew: str | None) -> None:
    """Bring everything that is due up to date, and nothing else."""
    each = Deployment()
    if anew:
        runs.forget(each.definitions, each.instance, anew)
    runs.update(each.definitions, each.instance, probe=probe)


@click.command()
def download() -> None:
    """Fetch what corpora have at public sources, where it has changed, and look at the files."""
    each = Deployment()
    runs.download(each.definitions, each.instance)
    runs.look(each.definitions, each.instance)


@click.command()
def scan() -> None:
    """Look at the files of all corpora for passages that are new or changed."""
    each = Deployment()
    runs.look(each.definitions, each.instance)


@click.command()
@click.argument("kind", type=click.Choice(["model", "corpus", "task", "baseset"]))
@click.argument("name")
def remove(kind: str, name: str) -> None:
    """Remove a model, a corpus, a task or a base set. Files stay, and so does the record of what was paid."""
    each = Deployment()
    runs.remove(each.definitions, each.instance, kind, name)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def ui(arguments: tuple[str, ...]) -> None:
    """Start Dagster's UI and daemon on the warehouse; ARGUMENTS go to `dagster dev`."""
    each = Deployment()
    each.instance.add_dynamic_partitions("model", each.systems.models())
    os.chdir(prepare())  # in the project Dagster would warn of the dagster.yaml there, to which the home's is a link
    dagster = str(Path(sys.executable).with_name("dagster"))
    os.execv(dagster, [dagster, "dev", "--workspace", str(PROJECT / "workspace.yaml"), *arguments])


COMMANDS = [demo, evaluate, update, download, scan, remove, ui]
