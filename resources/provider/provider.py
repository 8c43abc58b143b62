"""The resource through which everything that asks a model reaches it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from resources.provider import client
from resources.provider.client import Client, complete
from resources.provider.estimate import Estimate, estimate, total
from resources.provider.ledger import Ledger
from resources.provider.registry import Model, Registry, load
from resources.provider.served import probe, question, versioned, worth_probing


class Provider(BaseModel):
    """Models and judges of a registry, asked through a ledger.

    Parameters
    ----------
    registry_path
        The YAML file that names them; read anew at every look, so that a change needs no restart.
    ledger_path
        The SQLite file that keeps every reply and what it cost.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    registry_path: str
    ledger_path: str

    @property
    def ledger(self) -> Path:
        """The ledger's path."""
        return Path(self.ledger_path)

    def registry(self) -> Registry:
        """What the registry says now."""
        return load(Path(self.registry_path))

    def model(self, name: str) -> Model:
        """A model, judge or aligner, in the version that its endpoint was last found to serve.

        Raises
        ------
        KeyError
            For a name that is not in the registry.
        """
        return versioned(self.registry().model(name), self.ledger)

    def worth_probing(self, names: Sequence[str]) -> list[str]:
        """Those models and judges of which a version has been heard, but not yet today."""
        registry = self.registry()
        models = [registry.model(name) for name in names if name in registry.models or name in registry.judges]
        return [model.name for model in models if worth_probing(model, self.ledger)]

    def cost_of_probing(self, names: Sequence[str]) -> Estimate:
        """What `probe` would cost."""
        registry = self.registry()
        return total(estimate([question(registry.model(name))], self.ledger) for name in names)

    def probe(self, names: Sequence[str], run: str) -> None:
        """Ask models which version of them answers. The run pays."""
        registry = self.registry()
        models = [registry.model(name) for name in names]

        async def ask_all() -> None:
            async with self.opened(run) as client:
                await asyncio.gather(*(probe(client, model) for model in models))

        complete(ask_all())

    @asynccontextmanager
    async def opened(self, run: str) -> AsyncIterator[Client]:
        """A client whose calls the run pays for; when the block ends, none is under way."""
        ledger = Ledger(self.ledger, run, self.registry().budget)
        async with client.opened(ledger) as each:
            yield each
