"""The deployment that the commands work on.

Dagster and the code location are imported by the commands that use them: others start in a third of the time.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmark_assets.automation import identity
from resources import stores
from resources.errors import BadInput
from resources.home import PROJECT, prepare
from resources.identity import Marks
from resources.interruptions import ending_at_once
from resources.modes import tighten
from resources.provider.provider import Provider
from resources.sqlite_files import reading
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    import dagster as dg

    from benchmark_assets.lineage.looks import Looks
    from benchmark_assets.translation.systems import Systems


class Deployment:
    """The stores of the home, the code location with its resources, and the Dagster instance in the home folder.

    The warehouse is kept open until the command ends: most commands read many small tables.

    Raises
    ------
    BadInput
        If warehouse, ledger and Dagster's state do not belong together.
    """

    def __init__(self) -> None:
        prepare()
        tighten()
        self.warehouse: Warehouse = stores.warehouse()
        self.provider: Provider = stores.provider()
        click.get_current_context().with_resource(self.warehouse.kept_open())
        self._confirm()

    @cached_property
    def definitions(self) -> dg.Definitions:
        """The code location."""
        return self.located()

    def located(self) -> dg.Definitions:
        """Assemble the code location, anew each time."""
        with ending_at_once():
            from benchmark_assets.definitions import build_definitions
        return build_definitions(resource_overrides={"warehouse": self.warehouse, "provider": self.provider})

    @cached_property
    def instance(self) -> dg.DagsterInstance:
        """The Dagster instance. Its tables have the form of the present version."""
        with ending_at_once():
            from dagster import DagsterInstance, DagsterInvalidConfigError
        try:
            opened = DagsterInstance.get()
        except DagsterInvalidConfigError as error:
            if not (unset := re.search(r'variable "(\w+)" which is not set', str(error))):
                raise
            problem = f"names the environment variable {unset[1]}, which is not set"
            raise BadInput(Path(os.environ["DAGSTER_HOME"], "dagster.yaml"), "", problem, f"set {unset[1]}") from error
        instance = click.get_current_context().with_resource(opened)  # closing empties its logs
        identity.migrate_dagster(instance)
        return instance

    @cached_property
    def systems(self) -> Systems:
        """The evaluated systems."""
        from benchmark_assets.translation.systems import Systems

        return Systems(warehouse=self.warehouse, provider=self.provider)

    def looks(self) -> Looks:
        """What the last update found up to date."""
        from benchmark_assets.automation.due import determinants
        from benchmark_assets.lineage.looks import Looks

        mark = self.warehouse.mark()
        return Looks.of(self.instance, self.warehouse, determinants(self.definitions), mark.epoch + 1 if mark else 0)

    def _confirm(self) -> None:
        """Check that the stores belong together, without Dagster if its state is in the files of the project's
        settings."""
        folder, ledger = Path(os.environ["DAGSTER_HOME"]), self.provider.ledger
        values: Mapping[str, str] = {}
        if (folder / "dagster.yaml").resolve() == PROJECT / "dagster.yaml":
            events = folder / "history" / "runs" / "index.db"
            with suppress(sqlite3.Error), closing(reading(events)) as connection:  # Dagster reports damage
                connection.execute("SELECT count(*) FROM event_logs WHERE id < 0")
                values = identity.in_files(folder)
        if values.get(identity.DAGSTER) != version("dagster"):
            identity.confirm(self.instance, self.warehouse, ledger)
            return
        marks = Marks(identity.mark(values), self.warehouse.mark(), ledger.mark())
        identity.check(marks, str(folder), self.warehouse, ledger)
