"""Commands that keep a home safe: back up, restore, verify, rebuild without a backup, and move it to a database."""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import click
import dagster as dg
import polars as pl

from benchmark_assets.automation import identity, repairing, runs
from benchmark_assets.automation.due import UNSEEN, Scope, missed
from benchmark_assets.automation.safekeeping import agreement, back_up
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.definitions import build_definitions
from resources import backups
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput, RunFailedError, raise_all
from resources.home import checked, database, home, prepare, vectors
from resources.provider import archive
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from resources.sqlite_files import integrity
from resources.tables import plain
from resources.warehouse import Warehouse

TARGET = "VARIORUM_TARGET"
"""Environment variable with the URL of the database to which a home is copied."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def backup(folder: Path) -> None:
    """Copy the warehouse, the ledger, Dagster's state, the registry and the corpora's files to a new folder in FOLDER.

    Runs can continue meanwhile. Files that have not changed since the last backup take no further space. The last
    backup of each of the latest 7 days, 5 weeks and 12 months is kept; other backups in FOLDER are deleted. A backup
    contains restricted texts: do not pass it on.
    """
    deployment = Deployment()
    click.echo(back_up(deployment.warehouse, deployment.provider, folder))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--at", metavar="NAME", help="Name of the backup; by default the last one.")
@click.option(
    "--as-of-backup", is_flag=True, help="Replace a sound warehouse, too: the home becomes what it was at the backup."
)
@click.option("--yes", is_flag=True, help="Do not ask whether --as-of-backup may lose what it lists.")
def restore(folder: Path, at: str | None, as_of_backup: bool, yes: bool) -> None:
    """Repair the home with a backup in FOLDER. Only what is lost, damaged or older than the backup is replaced.

    Whatever can be read of a damaged warehouse or ledger is kept, and the backup adds what is missing. What people
    removed since the backup stays removed. The replaced files are kept in a folder in the home. Stop Dagster's UI and
    all runs first. The next `variorum update` recomputes what is missing, without paying again for replies in the
    ledger.
    """
    if database():
        raise BadInput(
            "VARIORUM_DATABASE", "", "is set, but backups restore a home of files",
            "restore a dump of the database with `pg_restore` (docs/deployment.md), or unset it",
        )  # fmt: skip

    def agreed(losses: Sequence[str]) -> None:
        if losses and not yes:
            click.echo(f"the backup lacks {', '.join(losses)}")
            if not click.confirm("Lose them?"):
                raise BadInput(folder, "", "was not restored: nothing is changed", "run `variorum restore FOLDER`, "
                               "which keeps what the backup lacks")  # fmt: skip

    for line in repairing.restore(build_definitions, folder, at, as_of_backup, agreed):
        click.echo(line)
    click.echo(f"{home()}: compared and repaired with {backups.chosen(folder, at)}; next: `variorum update`")


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--at", metavar="NAME", help="Name of the backup; by default the last one.")
def verify(folder: Path | None, at: str | None) -> None:
    """Check the home, or a backup in FOLDER: compare tables with their records, and records with Dagster's.

    The asset checks of a home are run on whole tables. The files of a backup are also compared with its manifest.
    """
    if folder is None:
        deployment = Deployment()
        fault = _report(home(), deployment.definitions, deployment.instance)
        unsound = False
        try:
            problems = runs.check_tables(deployment.definitions, deployment.instance)
        except RunFailedError as failure:
            problems, unsound = [str(failure)], True
        for problem in problems:
            click.echo(problem)
        looks = deployment.looks()
        if unseen := missed(deployment.definitions, deployment.instance, looks):
            looks.discard()
            click.echo(f"{UNSEEN}: {', '.join(unseen)}; the next update examines everything")
        raise_all([fault] if fault else [])
        sys.exit(1 if unseen or unsound else 0)
    chosen = backups.chosen(folder, at)
    expected = backups.check(chosen)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "home"
        backups.unpack(chosen, expected, copy)
        if (found := backups.rows(copy / "variorum.duckdb")) != expected.rows:
            differing = sorted(name for name in {*found, *expected.rows} if found.get(name) != expected.rows.get(name))
            raise BadInput(
                chosen, ", ".join(differing), "number of rows differs from the manifest", "use another backup"
            )
        os.environ |= {"VARIORUM_HOME": str(copy), "DAGSTER_HOME": str(copy / "dagster")}
        os.environ.pop("VARIORUM_DATABASE", None)  # a backup is a home of files
        prepare()
        warehouse = DuckDBWarehouse(path=str(copy / "variorum.duckdb"))
        with dg.DagsterInstance.get() as instance:
            fault = _report(chosen, build_definitions(resource_overrides={"warehouse": warehouse}), instance)
        raise_all([fault] if fault else [])


@click.command()
def rebuild() -> None:
    """Repair a home whose warehouse, ledger or Dagster state is lost, damaged, outdated, or from another home.

    Every table and row that can be read is kept. Materializes all assets that need no model, and lists what is lost. If
    you have a backup, use `variorum restore` instead. Replaced files are moved to a folder in the home. Stop Dagster's
    UI and all runs first.
    """
    for line in repairing.rebuild(build_definitions):
        click.echo(line)
    deployment = Deployment()
    runs.look(deployment.definitions, deployment.instance)
    runs.update(deployment.definitions, deployment.instance, Scope(models=[], accepted=False))
    click.echo(f"{home()}: rebuilt; `variorum stale` lists the partitions that need a model")


@click.command(name="migrate-to")
@click.argument("url", required=False)
def migrate_to(url: str | None) -> None:
    """Copy the home to the empty PostgreSQL database URL, and compare every row with its copy.

    The URL has the form postgresql://USER@HOST/DATABASE. A URL with a password is given by the environment variable
    VARIORUM_TARGET, or typed when the command asks for it: everybody on this machine can see the arguments of commands.
    Vectors go to the place that VARIORUM_VECTORS names, by default the folder `vectors` in the home. The home's files
    stay as they are. Logs of earlier runs are not copied. Stop Dagster's UI and all runs first.
    """
    if database():
        raise BadInput("VARIORUM_DATABASE", "", "is set, but only a home of files can be copied", "unset it")
    from benchmark_assets.automation.server import moving  # its drivers are in the extra `server`
    from resources.postgres.postgres_warehouse import PostgresWarehouse

    place = _target(url)
    source = Deployment()
    target = PostgresWarehouse(url=place, home=str(home()), vectors=vectors())
    counts = moving.move(source.instance, source.warehouse, SqliteLedger(home() / backups.LEDGER), target)
    for store in dict.fromkeys(store for store, _ in counts):
        rows = [count for (each, _), count in counts.items() if each == store]
        click.echo(f"{store}: {sum(rows)} rows of {len(rows)} tables, all equal to the originals")
    click.echo(f"{target.name}: has the home now; set VARIORUM_DATABASE to its URL. Vectors are in {target.vectors}")


def _target(url: str | None) -> str:
    """The URL of a database, from the argument of a command, the environment or a prompt.

    Raises
    ------
    BadInput
        If it is no such URL, or if the argument contains a password.
    """
    if url is None:
        given = os.environ.get(TARGET) or click.prompt("URL of the database", hide_input=True)
        return checked(given, TARGET)
    secrets = [urlsplit(checked(url, "the URL")).password, *parse_qs(urlsplit(url).query).get("password", [])]
    if any(secrets):
        raise BadInput(
            "the URL", "", "contains a password, which everybody on this machine can see in the list of processes",
            f"set {TARGET} to the URL, or give no URL and type it when the command asks; then change the password",
        )  # fmt: skip
    return url


def _report(place: Path, definitions: dg.Definitions, instance: dg.DagsterInstance) -> BadInput | None:
    """Check that a home's tables, their records and Dagster's records agree; print the result, return a disagreement.

    Raises
    ------
    BadInput
        If a file is damaged.
    """
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    for file in backups.databases(warehouse.folder):
        if problem := integrity(file):
            where = place / file.relative_to(warehouse.folder)
            raise BadInput(where, "", f"is damaged ({problem})", identity.REMEDY)
    provider: Provider = (definitions.resources or {})["provider"]
    for file in provider.ledger.archived():
        archive.read(file)
    found = agreement(definitions, instance)
    wrong = found.filter(pl.col("problem") != "")
    if len(wrong):
        click.echo(plain(wrong))
        commands = " and ".join(f"`variorum update --anew {asset}`" for asset in wrong["asset"])
        remedy = f"recompute them with {commands}, or restore a backup"
        return BadInput(place, ", ".join(wrong["asset"]), "rows do not agree with their records", remedy)
    total = found.select(pl.col("partitions", "rows", "unreported").sum()).row(0)
    counts = "{} partitions, {} rows; the next update reports {} partitions to Dagster".format(*total)
    click.echo(f"{place}: sound; {counts}")
    return None
