"""Commands that run until they are stopped: Dagster's UI with its daemon, and a worker of a group."""

import os
import sys
from contextlib import suppress

import click

from benchmark_assets.automation import webserver
from benchmark_assets.automation.jobs import PLANNERS
from benchmark_assets.cli.deployment import Deployment
from resources.errors import BadInput
from resources.home import prepare
from resources.modes import tighten


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
