"""Commands that run until they are stopped: Dagster's UI with its daemon, and a worker of a group."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from socket import gethostname
from typing import NoReturn

import click

from benchmark_assets.automation import tied, webserver
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.reporting.served import ServedHome
from resources.errors import BadInput
from resources.home import database, prepare

PAUSE = 1.0
"""Seconds after which a worker that has ended is replaced."""


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
    """Start the pages, with a start page, readers, report, live page and Dagster's UI, and Dagster's daemon."""
    if read_only and not no_daemon:
        raise click.UsageError("--read-only requires --no-daemon")
    with suppress(KeyboardInterrupt), webserver.listener(host, port, private, allowed) as listening:
        os.chdir(prepare())  # in the project's folder, Dagster would warn about dagster.yaml
        home = Deployment()
        names = webserver.hosts(host, listening, allowed)
        served = ServedHome(home.warehouse, home.provider, private, read_only)
        if no_daemon:
            _announce_pages(host, port)
            webserver.serve(home.instance, served, webserver.WORKSPACE, listening, names=names)
            return
        applicable = home.systems.applicable()
        home.instance.add_dynamic_partitions("model", applicable)
        for model in {*home.systems.models()}.difference(applicable):
            home.instance.delete_dynamic_partition("model", model)
        with webserver.services() as (workspace, processes):
            _announce_pages(host, port)
            webserver.serve(home.instance, served, workspace, listening, names=names, beside=processes)


def _announce_pages(host: str, port: int) -> None:
    address = f"http://{host}:{port}"
    click.echo(f"open {address}/    readers: {address}/readers/    live: {address}/live    Ctrl-C ends all")


@click.command()
@click.option("--processes", default=1, show_default=True, help="Number of parts that this worker carries out at once.")
@click.option("--alive", is_flag=True, help="Only see whether a worker of this machine is alive: exit code 0 or 1.")
def worker(processes: int, alive: bool) -> None:
    """Carry out parts of updates, until stopped (see docs/deployment.md)."""
    if not (url := database()):
        example = "set it to the same URL as on the server, such as postgresql://HOST/DATABASE"
        raise BadInput("VARIORUM_DATABASE", "", "is not set", example)
    if alive:
        from benchmark_assets.automation.server.queues import PartQueue

        sys.exit(gethostname() not in PartQueue(url).workers())
    if processes > 1:
        _several_workers(processes)
    home = Deployment()
    from benchmark_assets.automation.server.workers import Worker  # only homes in a database have its packages

    Worker(url, home.instance, home.located).work()


def _several_workers(number: int) -> NoReturn:
    """Run workers of one process each. One that ends is replaced."""
    command = [sys.executable, tied.__file__, str(os.getpid()), *map(os.path.abspath, sys.argv[:1]), "worker"]
    running = [subprocess.Popen(command) for _ in range(number)]
    try:
        while True:
            time.sleep(PAUSE)
            running = [subprocess.Popen(command) if each.poll() is not None else each for each in running]
    finally:
        for each in running:
            each.terminate()
        for each in running:
            each.wait()
