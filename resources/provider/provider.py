"""The resource through which assets ask models."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from resources.frozen import Frozen
from resources.provider import client
from resources.provider.client import Client, complete
from resources.provider.estimate import CostEstimate, estimate, total
from resources.provider.ledger import Ledger
from resources.provider.registry import Budget, Model, Registry, load
from resources.provider.served import probe, question, versioned, worth_probing
from resources.provider.sqlite_ledger import SqliteLedger


class Provider(Frozen):
    """Models, judges and aligners of a registry, and the ledger through which they are asked.

    Parameters
    ----------
    registry_path
        The registry's YAML file. It is read at every use, so that changes need no restart.
    ledger_path
        What stores every reply and its cost: the path of an SQLite file, or the URL of a PostgreSQL database.
    cap
        US dollars that a run may cost, beside the caps of the registry.
    """

    registry_path: str
    ledger_path: str
    cap: float | None = None

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return ledger_at(self.ledger_path)

    def registry(self) -> Registry:
        """Read the registry."""
        return load(Path(self.registry_path), capped=self.cap is not None)

    @property
    def budget(self) -> Budget:
        """The caps for a run and for a day."""
        budget = self.registry().budget
        return budget.model_copy(update={"run": min(filter(None, (budget.run, self.cap)), default=None)})

    def model(self, name: str) -> Model:
        """Return a model, judge or aligner, in the version that its endpoint last served.

        Raises
        ------
        KeyError
            For a name that is not in the registry.
        """
        return versioned(self.registry().model(name), self.ledger)

    def worth_probing(self, names: Sequence[str]) -> list[str]:
        """Models and judges among `names` that have reported a version, but have answered no probe today."""
        registry = self.registry()
        models = [registry.model(name) for name in names if name in registry.models or name in registry.judges]
        return [model.name for model in models if worth_probing(model, self.ledger)]

    def cost_of_probing(self, names: Sequence[str]) -> CostEstimate:
        """Estimate the cost of `probe`."""
        registry = self.registry()
        return total(estimate([question(registry.model(name))], self.ledger) for name in names)

    def probe(self, names: Sequence[str], run: str) -> None:
        """Ask each model a short question, which records its served version. Calls are charged to the run."""
        registry = self.registry()
        models = [registry.model(name) for name in names]

        async def ask_all() -> None:
            async with self.opened(run) as client:
                await asyncio.gather(*(probe(client, model) for model in models))

        complete(ask_all())

    @asynccontextmanager
    async def opened(self, run: str) -> AsyncIterator[Client]:
        """Open a client whose calls are charged to the run. No call is running when the block ends."""
        async with client.opened(self.ledger.session(run, self.budget)) as session:
            yield session


def ledger_at(place: str) -> Ledger:
    """The ledger at the URL of a PostgreSQL database (postgresql://…), or in an SQLite file."""
    if place.startswith(("postgresql://", "postgres://")):
        from resources.postgres.postgres_ledger import PostgresLedger  # a home with a file needs no driver

        return PostgresLedger(place)
    return SqliteLedger(Path(place))
