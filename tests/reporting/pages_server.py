"""A process that serves our own pages of a home, and one page in place of Dagster's: python -m MODULE HOME PORT."""

import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from benchmark_assets.automation.webserver import application
from benchmark_assets.reporting.reader.serving import LOCAL
from benchmark_assets.reporting.served import ServedHome
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.systems import provider

if __name__ == "__main__":
    home, port = Path(sys.argv[1]), int(sys.argv[2])
    served = ServedHome(DuckDBWarehouse(path=str(home / "variorum.duckdb")), provider(home), private=False)
    pages = Starlette(routes=[Route("/{path:path}", lambda _: PlainTextResponse("a page of Dagster"))])
    uvicorn.run(application(pages, served, LOCAL), port=port, log_level="warning")
