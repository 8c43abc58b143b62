"""The pages of our own on the web server, beside Dagster's: a function from what is served to routes for each.

Here: the list. Not here: the pages themselves (reporting), the gate before them (gate), the server (webserver).
"""

from collections.abc import Callable, Sequence

from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Mount, Route

from benchmark_assets.reporting import live, start
from benchmark_assets.reporting.cards import READERS
from benchmark_assets.reporting.reader import serving
from benchmark_assets.reporting.report import serving as report
from benchmark_assets.reporting.served import ServedHome


def _readers(home: ServedHome) -> Sequence[BaseRoute]:
    readers = Mount(READERS, routes=serving.routes(home.warehouse, home.private, home.read_only))
    return [Route(READERS, lambda _: RedirectResponse(f"{READERS}/")), readers]


PAGES: Sequence[Callable[[ServedHome], Sequence[BaseRoute]]] = (start.routes, _readers, report.routes, live.routes)
"""Functions that return the routes of a page."""


def routes(home: ServedHome) -> list[BaseRoute]:
    """The routes of all pages."""
    return [route for page in PAGES for route in page(home)]
