"""The resource through which everything that asks a model reaches it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import dagster as dg

from resources.provider import client
from resources.provider.client import Client
from resources.provider.ledger import Ledger
from resources.provider.registry import Registry, load


class Provider(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Models and judges of a registry, asked through a ledger.

    Parameters
    ----------
    registry_path
        The YAML file that names them; read anew at every look, so that a change needs no restart.
    ledger_path
        The SQLite file that keeps every reply and what it cost.
    """

    registry_path: str
    ledger_path: str

    def registry(self) -> Registry:
        """What the registry says now."""
        return load(Path(self.registry_path))

    @asynccontextmanager
    async def opened(self, run: str) -> AsyncIterator[Client]:
        """A client whose calls the run pays for; when the block ends, none is under way."""
        ledger = Ledger(Path(self.ledger_path), run, self.registry().budget)
        async with client.opened(ledger) as each:
            yield each
