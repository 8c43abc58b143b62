"""Commands that compute, scan, download or remove."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
import polars as pl
from pydantic import ValidationError

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import Scope, of_references
from benchmark_assets.benchmarks import limits, parts, protocols, run_file
from benchmark_assets.benchmarks.forecast import achieved
from benchmark_assets.benchmarks.run_file import RunFile
from benchmark_assets.cli.benchmarks import announce, forecasts, show_results
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.cli.legends import explained, explanations
from benchmark_assets.corpus.registry import check_known, paths, register
from benchmark_assets.metrics import unmeasured
from benchmark_assets.people.answers import import_labels
from benchmark_assets.reporting import leaderboard
from benchmark_assets.reporting.answer import MEANING, demonstration
from benchmark_assets.reporting.headline import worth
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding.board import MODEL
from benchmark_assets.understanding.exhibits import boards
from resources.errors import BadInput
from resources.home import INSTALLED, PROJECT
from resources.home import home as home_folder
from resources.keys import CORPUS
from resources.provider.estimate import CostEstimate

SAMPLES = {name: PROJECT / "warehouse" / name for name in ("dialogues", "sample")}


@click.command()
def demo() -> None:
    """Evaluate the two sample corpora and print the results."""
    home = Deployment()
    for folder in SAMPLES.values():
        register(home.warehouse, folder / "corpus.yaml")
    sample = [name for name, each in home.provider.registry().models.items() if each.corpora == ("sample",)]
    home.instance.add_dynamic_partitions("model", sample)
    runs.look(home.definitions, home.instance)
    runs.update(home.definitions, home.instance)
    import_labels(home.warehouse, sorted((SAMPLES["sample"] / "annotations").glob("*.csv")))
    runs.update(home.definitions, home.instance)
    for line in demonstration(home.warehouse, "sample"):
        click.echo(line)
    click.echo("\nThe sample was composed for this project; its numbers say nothing about real models. Next:")
    program = "variorum" if INSTALLED else ".venv/bin/variorum"
    click.echo(f"  {program} ui                              the same tables and every passage in Dagster")
    click.echo(f"  {program} reader READER sample            the passages in a browser")
    click.echo(f"  {program} open FILE                       a text of your own, or a folder")
    click.echo(f"Everything is stored in {home_folder()}.")


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="MODELS|FILE.yaml")
@click.option("--on", "benchmark", help="An added benchmark, a corpus or a task; only it is included.")
@click.option("--limit", type=click.IntRange(1), help="Number of passages and samples for a first try; needs --on.")
@click.option("--protocol", type=click.Choice(["paper", "variorum"]), help="Whose wording and reader; needs --on.")
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="US dollars that this evaluation may cost.")
@click.option("--accept", is_flag=True, help="Consent to the costs that are printed.")
def evaluate(models: tuple[str, ...], accept: bool, **options: Any) -> None:
    """Materialize stale partitions of MODELS, from outputs to leaderboard, and print their results.

    The expected calls, tokens, costs and hours are printed first, and calls that may cost something need --accept. A
    model is asked as a benchmark's paper asks, unless it was asked in this project's wording before; --protocol changes
    this. A run file has the models and options of an evaluation as keys.
    """
    given = {name: value for name, value in options.items() if value}
    if file := next((Path(name) for name in models if name.endswith(run_file.ENDS)), None):
        if given or len(models) > 1:
            raise click.UsageError(f"{file} has the models and all options; only --accept can be added")
        plan = run_file.read(file)
    else:
        try:
            plan = run_file.RunFile(models=models, **given)
        except ValidationError as error:
            words = str(error.errors()[0]["ctx"]["error"])
            raise click.UsageError(words.replace("`benchmark`", "--on")) from error
    home = Deployment()
    home.provider = home.provider.model_copy(update={"cap": plan.budget})
    _evaluate(home, plan, accept, run_file.described(file, plan) if file else "")


def _evaluate(home: Deployment, plan: RunFile, accept: bool, heading: str) -> None:
    """Carry out an evaluation; `heading` begins the account of what was done."""
    benchmark, models = plan.benchmark, plan.models
    scope = parts.evaluable(home.warehouse, benchmark) if benchmark else parts.everything(home.warehouse)
    subjects = [*scope.corpora, *scope.tasks]
    for model in models:
        home.systems.system(model)  # raises BadInput for an unknown model
    payer, before = str(uuid4()), home.provider.ledger.last_attempt()
    if parts.unprepared(home.warehouse, scope):  # after `add --no-update`: what would be asked is unknown
        runs.update(home.definitions, home.instance, Scope([], subjects, accepted=accept), payer=payer)
    own = plan.protocol == "variorum"
    with protocols.wording(home.warehouse, models, subjects if plan.protocol else [], own=own):
        planned = _consented(home, benchmark, scope, models, plan.limit, accept)
    on = subjects if benchmark else None
    try:
        runs.evaluate(home.definitions, home.instance, *models, on=on, accepted=accept, payer=payer)
    finally:
        click.echo(f"\n{heading}".rstrip())
        scopes = {name: scope if benchmark else translated_by(home.systems, name, scope) for name in models}
        for line in _achieved(home, scopes, planned, home.provider.ledger.charged(payer, before)):
            click.echo(line)
    if benchmark:
        show_results(home.warehouse, benchmark)
        return
    board = leaderboard.read(home.warehouse)
    corpora = board.filter(board["system"].is_in(models), board["corpus"].is_in(scope.corpora))["corpus"]
    if len(corpora):
        shown = board.filter(board["corpus"].is_in(corpora.to_list()))
        lines = [leaderboard.listed(shown), *explanations(leaderboard.readable(shown).columns, "leaderboard")]
        click.echo("\n".join(lines))
        click.echo(f"\n{MEANING}. What the measures are worth:")
        click.echo("\n".join(worth(home.warehouse, corpora)))
        for line in (line for corpus in corpora.unique().sort() for line in unmeasured.words(home.warehouse, corpus)):
            click.echo(line)
        click.echo("`variorum report FILE` has all tables; `variorum reader FOLDER CORPUS` shows the outputs")
    tasks = home.warehouse.read("understanding_board")
    answered = tasks.filter(tasks["system"].is_in(models), kind=MODEL).select("benchmark", "language")
    for title, table in boards(tasks.join(answered.unique(), on=answered.columns, how="semi")).items():
        click.echo(f"\n{title}\n{explained(table, 'understanding_board')}")


def translated_by(systems: Systems, model: str, scope: parts.Added) -> parts.Added:
    """`scope`, limited to the corpora that a model translates: in its settings, or in its imported outputs."""
    if settings := systems.provider.registry().models.get(model):
        corpora = scope.corpora if settings.corpora is None else settings.corpora
    else:
        outputs = systems.warehouse.read("imported_output", pl.DataFrame({"model": [model]}), ["passage"])
        corpora = outputs.select(CORPUS)["corpus"].to_list()
    return scope._replace(corpora=[name for name in scope.corpora if name in corpora])


def _achieved(
    home: Deployment, scopes: Mapping[str, parts.Added], planned: CostEstimate, calls: pl.DataFrame
) -> Iterator[str]:
    """What an evaluation asked, reused and left out, a line each. `scopes` is by model; it paid for `calls`."""
    asked = f"{calls['calls'].sum()} calls, {calls['dollars'].sum():.4f} dollars"
    yield f"asked: {asked}; reused: {planned.recorded} replies of the ledger"
    for model, scope in scopes.items():
        yield achieved(home.warehouse, model, scope)
    if any(scope.corpora for scope in scopes.values()):
        yield "(translated: with a stored output; coverage, if printed below, counts only usable outputs)"
    yield from (f"left out, {name}: {reason}" for name, reason in next(iter(scopes.values())).left_out.items())


def _consented(
    home: Deployment, benchmark: str | None, scope: parts.Added, models: Sequence[str], limit: int | None, accept: bool
) -> CostEstimate:
    """Print what the evaluation would ask, check the consent, and store the limit; return the estimate.

    Raises
    ------
    BadInput
        For a model that cannot be limited, or if calls may cost something and `accept` is false.
    """
    registry = home.provider.registry()
    if limit and (imported := [model for model in models if model not in registry.models]):
        raise BadInput(imported[0], "", "has imported outputs, which cost nothing", "drop `--limit`")
    chosen = home.warehouse.read("limited_item", columns=limits.KEY)
    if benchmark:
        chosen = limits.changed(home.warehouse, benchmark, scope, models, limit)
    whole = announce(forecasts(home, scope, models, chosen))
    whole.check_consent(benchmark or ", ".join(models), accept, "read what is printed above, then add `--accept`")
    if benchmark:
        limits.store(home.warehouse, chosen)
    return whole


@click.command()
@click.argument("corpora", nargs=-1)
@click.option("--scan", "scanning", is_flag=True, help="First scan the files of CORPORA.")
@click.option("--references", is_flag=True, help="Only references and their envelopes, and no scores.")
@click.option("--probe", is_flag=True, help="First ask the endpoint of each model which version it serves.")
@click.option("--anew", metavar="ASSET", help="Also recompute all partitions of this asset.")
@click.option("--accept", is_flag=True, help="Consent to the costs of asking models; `variorum stale` prints them.")
def update(
    corpora: tuple[str, ...], scanning: bool, references: bool, probe: bool, anew: str | None, accept: bool
) -> None:
    """Materialize all stale partitions, and nothing else; with CORPORA, only theirs.

    Without --accept, no model is asked that may cost something; all else is computed.
    """
    home = Deployment()
    check_known(corpora, paths(home.warehouse))
    if anew:
        runs.forget(home.definitions, home.instance, anew)
    if scanning:
        runs.look(home.definitions, home.instance, corpora or None)
    click.echo("scanned; `variorum stale` lists what has to be computed again")
    assets = of_references(home.definitions) if references else None
    scope = Scope(corpora=corpora or None, assets=assets, accepted=accept)
    runs.update(home.definitions, home.instance, scope, probe=probe)


@click.command()
@click.argument("corpora", nargs=-1)
@click.option("--download", is_flag=True, help="First download new and changed files from public sources.")
def scan(corpora: tuple[str, ...], download: bool) -> None:
    """Scan the files of CORPORA for new, changed and removed passages; without CORPORA, scan all corpora."""
    home = Deployment()
    check_known(corpora, paths(home.warehouse))
    if download:
        runs.download(home.definitions, home.instance, corpora or None)
    runs.look(home.definitions, home.instance, corpora or None)
    click.echo("scanned; `variorum stale` lists what has to be computed again")


@click.command()
@click.argument("kind", type=click.Choice(["model", "corpus", "task", "baseset", "kept"]))
@click.argument("name")
def remove(kind: str, name: str) -> None:
    """Remove a model, a corpus, a task or a base set. Files, people's labels and the record of costs are kept.

    The kind `kept` means work of people that outlasted its passages: imported outputs and labels for passages that are
    no longer in the files of the corpus NAME.
    """
    home = Deployment()
    runs.remove(home.definitions, home.instance, kind, name)
