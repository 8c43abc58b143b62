"""Commands that keep a home safe: backups, their restoration and verification, and mending without a backup."""

import os
import tempfile
from contextlib import nullcontext
from pathlib import Path

import click
import dagster as dg
import polars as pl

from benchmark_assets.automation import identity, rebuilding
from benchmark_assets.automation.safekeeping import agreement, back_up
from benchmark_assets.cli.deployment import Deployment
from benchmark_assets.definitions import build_definitions
from resources import backups
from resources.errors import BadInput
from resources.home import home, prepare
from resources.provider import archive
from resources.provider.ledger import archived
from resources.sqlite_files import integrity
from resources.tables import plain
from resources.warehouse import Warehouse


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def backup(folder: Path) -> None:
    """Copy the warehouse, the ledger, Dagster's state, the registry and the corpora's files to a new folder in FOLDER.

    Runs go on meanwhile. Files that have not changed since the last backup take no space. The last backups of 7 days, 5
    weeks and 12 months are kept. A backup has restricted texts: do not pass it on.
    """
    deployment = Deployment()
    click.echo(back_up(deployment.warehouse, deployment.provider, folder))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--at", metavar="NAME", help="Name of the backup; by default the last one.")
def restore(folder: Path, at: str | None) -> None:
    """Replace the home's warehouse, ledger and Dagster state with those of a backup in FOLDER.

    The replaced files are kept in the home; a ledger that has later replies, too, stays. Stop Dagster's UI and all runs
    first. The next `variorum update` repeats what happened after the backup, without paying for any reply again.
    """
    chosen, place = backups.chosen(folder, at), home()
    warehouse = Warehouse(path=str(place / "variorum.duckdb"), wait_seconds=5)
    with warehouse.exclusively() if Path(warehouse.path).exists() else nullcontext():
        aside, missing = backups.restore(chosen, place)
    prepare()
    with dg.DagsterInstance.get() as instance:
        identity.join(instance, warehouse, place / backups.LEDGER)
    click.echo(f"{place}: restored from {chosen}{f'; what it replaced is in {aside}' if aside else ''}")
    for file in missing:
        click.echo(f"not restored: {file}")


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--at", metavar="NAME", help="Name of the backup; by default the last one.")
def verify(folder: Path | None, at: str | None) -> None:
    """Open the home, or a backup in FOLDER, and compare rows with their records and records with Dagster's.

    The files of a backup are also compared with its manifest.
    """
    if folder is None:
        deployment = Deployment()
        _report(home(), deployment.definitions, deployment.instance)
        return
    chosen = backups.chosen(folder, at)
    expected = backups.check(chosen)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "home"
        backups.unpack(chosen, expected, copy)
        if (found := backups.rows(copy / "variorum.duckdb")) != expected.rows:
            differing = sorted(name for name in {*found, *expected.rows} if found.get(name) != expected.rows.get(name))
            raise BadInput(
                chosen, ", ".join(differing), "other numbers of rows than at the backup", "use another backup"
            )
        os.environ |= {"VARIORUM_HOME": str(copy), "DAGSTER_HOME": str(copy / "dagster")}
        prepare()
        warehouse = Warehouse(path=str(copy / "variorum.duckdb"))
        with dg.DagsterInstance.get() as instance:
            _report(chosen, build_definitions(resource_overrides={"warehouse": warehouse}), instance)


@click.command()
def rebuild() -> None:
    """Mend a home whose warehouse, ledger or Dagster state is lost, damaged, older than the rest, or of another home.

    Materializes what needs no model, and names what is lost. Restore a backup instead if you have one. Unusable files
    are moved to a folder in the home. Stop Dagster's UI and all runs first.
    """
    for line in rebuilding.rebuild(build_definitions()):
        click.echo(line)
    click.echo(f"{home()}: rebuilt; `variorum stale` lists what models would be asked")


def _report(place: Path, definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    """Print how the home of some definitions agrees with itself; raise BadInput if it does not."""
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    for database in backups.databases(warehouse.folder):
        if problem := integrity(database):
            where = place / database.relative_to(warehouse.folder)
            raise BadInput(where, "", f"is damaged ({problem})", "restore a backup: `variorum restore`")
    for file in archived(warehouse.folder / backups.LEDGER):
        archive.read(file)
    found = agreement(definitions, instance)
    wrong = found.filter(pl.col("problem") != "")
    if len(wrong):
        click.echo(plain(wrong))
        raise BadInput(
            place, ", ".join(wrong["asset"]), "rows do not agree with their records",
            "recompute them with `variorum update --anew ASSET`, or restore a backup",
        )  # fmt: skip
    total = found.select(pl.col("partitions", "rows", "unreported").sum()).row(0)
    click.echo("{}: sound; {} partitions, {} rows, {} partitions that the next update reports".format(place, *total))


COMMANDS = [backup, restore, verify, rebuild]
