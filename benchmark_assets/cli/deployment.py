"""The deployment that the commands work on."""

import click
import dagster as dg

from benchmark_assets.automation import identity
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.systems import Systems
from resources.home import prepare
from resources.modes import tighten
from resources.provider.provider import Provider
from resources.warehouse import Warehouse


class Deployment:
    """The code location with its resources, and the Dagster instance in the home folder.

    The warehouse is kept open until the command ends: most commands read many small tables.

    Raises
    ------
    BadInput
        If warehouse, ledger and Dagster's state do not belong together.
    """

    def __init__(self) -> None:
        prepare()
        tighten()
        self.definitions = build_definitions()
        resources = self.definitions.resources or {}
        self.warehouse: Warehouse = resources["warehouse"]
        self.provider: Provider = resources["provider"]
        self.systems: Systems = resources["systems"]
        command = click.get_current_context()
        self.instance = command.with_resource(dg.DagsterInstance.get())  # closing empties its logs
        command.with_resource(self.warehouse.kept_open())
        identity.migrate_dagster(self.instance)
        identity.confirm(self.instance, self.warehouse, self.provider.ledger)
