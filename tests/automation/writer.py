"""A process that materializes all stale partitions: `python -m tests.automation.writer [MODEL…]`, in the home of the
environment.

It says `begun` when the first run starts; tests kill it.
"""

import logging
import sys

import dagster as dg

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import Scope
from benchmark_assets.definitions import build_definitions
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import home
from tests.support import LetterEmbedder
from tests.systems import rule_systems


def location() -> dg.Definitions:
    """The code location on the home's warehouse, with systems and an embedder that cost nothing."""
    warehouse = DuckDBWarehouse(path=str(home() / "variorum.duckdb"))
    return build_definitions(
        resource_overrides={
            "warehouse": warehouse, "embedder": LetterEmbedder(), "systems": rule_systems(warehouse, home()),
        }
    )  # fmt: skip


class Begun(logging.Handler):
    """Says once that work has begun."""

    def emit(self, record: logging.LogRecord) -> None:
        print("begun", flush=True)
        logging.getLogger("variorum.runs").removeHandler(self)


def main() -> None:
    logging.getLogger("variorum.runs").addHandler(Begun())
    logging.getLogger("variorum.runs").setLevel(logging.INFO)
    with dg.DagsterInstance.get() as instance:
        runs.update(location(), instance, Scope(models=sys.argv[1:] or None))
    print("done", flush=True)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
