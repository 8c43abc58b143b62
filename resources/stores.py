"""The stores of the present home, in files or in the database that several machines share."""

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import database, home, vectors
from resources.provider.provider import Provider
from resources.provider.registry import default_path
from resources.warehouse import Warehouse


def warehouse() -> Warehouse:
    """The home's warehouse."""
    if url := database():
        from resources.postgres.postgres_warehouse import PostgresWarehouse  # its drivers are in the extra `server`

        return PostgresWarehouse(url=url, home=str(home()), vectors=vectors())
    return DuckDBWarehouse(path=str(home() / "variorum.duckdb"))


def provider() -> Provider:
    """The models of the registry, and the home's ledger."""
    ledger = database() or str(home() / "ledger.sqlite")
    return Provider(registry_path=str(default_path()), ledger_path=ledger)
