"""Commands that compute, scan, download or remove, and the command that starts Dagster's UI."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from benchmark_assets.automation import runs, webserver
from benchmark_assets.automation.due import Scope
from benchmark_assets.automation.jobs import PLANNERS
from benchmark_assets.benchmarks import limits, parts
from benchmark_assets.cli.benchmarks import announce, forecasts, show_results
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.corpus.registry import register
from benchmark_assets.people.answers import import_labels
from benchmark_assets.reporting import leaderboard
from benchmark_assets.reporting.answer import MEANING, demonstration
from benchmark_assets.understanding.board import MODEL
from benchmark_assets.understanding.exhibits import boards
from resources.errors import BadInput
from resources.home import PROJECT, prepare
from resources.modes import tighten
from resources.tables import plain

SAMPLES = {name: PROJECT / "warehouse" / name for name in ("dialogues", "sample")}


@click.command()
def demo() -> None:
    """Evaluate the two sample corpora and print the results."""
    home = Deployment()
    for name, folder in SAMPLES.items():
        register(home.warehouse, folder / "corpus.yaml")
        runs.take_in(home.definitions, home.instance, name)
    registry = home.provider.registry()
    sample = [model for model, settings in registry.models.items() if settings.corpora == ("sample",)]
    runs.evaluate(home.definitions, home.instance, *sample)
    import_labels(home.warehouse, sorted((SAMPLES["sample"] / "annotations").glob("*.csv")))
    runs.update(home.definitions, home.instance)
    for line in demonstration(home.warehouse, "sample"):
        click.echo(line)
    click.echo("\nThe sample was composed for this project; its numbers say nothing about real models. Next:")
    click.echo("  make ui                                          the same tables and every passage in Dagster")
    click.echo("  .venv/bin/variorum reader READER sample          the passages in a browser")
    click.echo("  .venv/bin/variorum new corpus NAME --from FILE   a text of your own")


@click.command()
@click.argument("models", nargs=-1, required=True)
@click.option("--on", "benchmark", help="Name of an added benchmark; only its corpora and tasks are included.")
@click.option("--limit", type=click.IntRange(1), help="Number of passages and samples for a first try; needs --on.")
@click.option("--accept", is_flag=True, help="Consent to the costs that are printed; with --on.")
def evaluate(models: tuple[str, ...], benchmark: str | None, limit: int | None, accept: bool) -> None:
    """Materialize stale partitions of MODELS, from outputs to leaderboard, and print their results.

    With --on, the expected calls, tokens, costs and hours are printed first, and paid calls need --accept.
    """
    if benchmark is None and (limit or accept):
        raise click.UsageError("--limit and --accept need --on")
    home = Deployment()
    if benchmark is not None:
        added = parts.added(home.warehouse, benchmark)
        if parts.unprepared(home.warehouse, added):  # after `add --no-update`: what would be asked is unknown
            runs.update(home.definitions, home.instance, Scope([], [*added.corpora, *added.tasks]))
        _limit(home, benchmark, models, limit, accept)
        runs.evaluate(home.definitions, home.instance, *models, on=[*added.corpora, *added.tasks])
        show_results(home.warehouse, benchmark)
        return
    runs.evaluate(home.definitions, home.instance, *models)
    board = leaderboard.read(home.warehouse)
    corpora = board.filter(board["system"].is_in(models))["corpus"]
    if len(corpora):
        click.echo(leaderboard.listed(board.filter(board["corpus"].is_in(corpora.to_list()))))
        click.echo(f"\n{MEANING}.")
        click.echo("`variorum report FILE` explains all columns; `variorum reader FOLDER CORPUS` shows the outputs")
    tasks = home.warehouse.read("understanding_board")
    answered = tasks.filter(tasks["system"].is_in(models), kind=MODEL).select("benchmark", "language")
    for title, table in boards(tasks.join(answered.unique(), on=answered.columns, how="semi")).items():
        click.echo(f"\n{title}\n{plain(table)}")


def _limit(home: Deployment, benchmark: str, models: Sequence[str], limit: int | None, accept: bool) -> None:
    """Print what the evaluation would ask, check the consent, and store the limit.

    Raises
    ------
    BadInput
        For a model that cannot be limited, or if calls may cost something and `accept` is false.
    """
    added, registry = parts.added(home.warehouse, benchmark), home.provider.registry()
    for model in models:
        home.systems.system(model)  # raises BadInput for an unknown model
        if limit and model not in registry.models:
            raise BadInput(model, "", "has imported outputs, which cost nothing", "drop `--limit`")
    chosen = limits.changed(home.warehouse, benchmark, added, models, limit)
    whole = announce(forecasts(home, benchmark, models, chosen))
    if whole.calls > whole.recorded and whole.most != 0 and not accept:
        cost = "" if whole.about is None else f" of about {whole.about:.2f} dollars"
        problem = f"needs your consent to costs{cost}"
        raise BadInput(benchmark, "", problem, "read what is printed above, then add `--accept`")
    limits.store(home.warehouse, chosen)


@click.command()
@click.option("--probe", is_flag=True, help="First ask the endpoint of each model which version it serves.")
@click.option("--anew", metavar="ASSET", help="Also recompute all partitions of this asset.")
def update(probe: bool, anew: str | None) -> None:
    """Materialize all stale partitions, and nothing else."""
    home = Deployment()
    if anew:
        runs.forget(home.definitions, home.instance, anew)
    runs.update(home.definitions, home.instance, probe=probe)


@click.command()
@click.argument("corpora", nargs=-1)
@click.option("--download", is_flag=True, help="First download new and changed files from public sources.")
def scan(corpora: tuple[str, ...], download: bool) -> None:
    """Scan the files of CORPORA for new, changed and removed passages; without CORPORA, scan all corpora."""
    home = Deployment()
    if download:
        runs.download(home.definitions, home.instance, corpora or None)
    runs.look(home.definitions, home.instance, corpora or None)


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


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address that the server listens at.")
@click.option("--port", default=3000, show_default=True, help="Port of the pages.")
@click.option(
    "--allowed-host", "allowed", metavar="NAME", multiple=True,
    help="Further name of the server, such as that of a proxy; may be repeated.",
)  # fmt: skip
@click.option("--private", is_flag=True, help="Show restricted texts in the readers, to anybody on this machine.")
@click.option("--no-daemon", is_flag=True, help="Serve the pages alone, beside a daemon (see docs/deployment.md).")
@click.option("--read-only", is_flag=True, help="Let nobody start or change anything in Dagster's pages; --no-daemon.")
def ui(host: str, port: int, allowed: tuple[str, ...], private: bool, no_daemon: bool, read_only: bool) -> None:
    """Start Dagster's UI, with the readers of all corpora, and Dagster's daemon."""
    if read_only and not no_daemon:
        raise click.UsageError("--read-only requires --no-daemon")
    with suppress(KeyboardInterrupt), webserver.listener(host, port, private, allowed) as listening:
        os.chdir(prepare())  # in the project's folder, Dagster would warn about dagster.yaml
        home = Deployment()
        names = webserver.hosts(host, listening, allowed)
        if no_daemon:
            _announce_pages(host, port)
            webserver.serve(
                home.instance, home.warehouse, webserver.WORKSPACE, listening, names=names, private=private,
                read_only=read_only,
            )  # fmt: skip
            return
        home.instance.add_dynamic_partitions("model", home.systems.models())
        with webserver.services() as (workspace, processes):
            _announce_pages(host, port)
            webserver.serve(
                home.instance, home.warehouse, workspace, listening, names=names, private=private, beside=processes
            )


def _announce_pages(host: str, port: int) -> None:
    click.echo(f"Dagster: http://{host}:{port}    readers: http://{host}:{port}/readers/    Ctrl-C ends both")


@click.command()
@click.option("--planner", is_flag=True, help="Execute jobs that plan updates, instead of their parts.")
@click.option("--processes", default=1, show_default=True, help="Number of runs that this worker executes at once.")
def worker(planner: bool, processes: int) -> None:
    """Execute runs that the server sends, until stopped (see docs/deployment.md)."""
    for name, example in (("VARIORUM_DATABASE", "postgresql://HOST/DATABASE"), ("VARIORUM_BROKER", "redis://HOST")):
        if not os.environ.get(name):
            raise BadInput(name, "", "is not set", f"set it to the same URL as on the server, such as {example}")
    os.chdir(prepare())
    tighten()
    queue = PLANNERS if planner else "variorum"
    celery = [sys.executable, "-m", "celery", "-A", "benchmark_assets.automation.server.workers", "worker"]
    options = ["-Q", queue, "-c", str(processes), "-n", f"{queue}-{os.getpid()}@%h", "--loglevel", "warning"]
    # A worker that is killed would take a run with it that it had fetched in advance.
    os.execv(sys.executable, [*celery, *options, "--disable-prefetch"])
