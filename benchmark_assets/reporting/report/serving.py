"""The report over HTTP, for the web server that also serves Dagster's pages.

Here: when it is written. Not here: its content (content), its layout (page). It lies in `reports/served` in the home,
and is written again when it is asked for after a change of the warehouse or of a description, which has licences.
"""

from datetime import UTC, datetime
from threading import Lock
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from benchmark_assets.corpus.registry import paths
from benchmark_assets.reporting.cards import READERS
from benchmark_assets.reporting.reader.serving import NOT_STORED
from benchmark_assets.reporting.report.content import parts
from benchmark_assets.reporting.report.page import page
from benchmark_assets.reporting.served import ServedHome, version_of
from resources.errors import BadInput
from resources.whole_files import write

REPORT = "/report"
"""Address of the report on the web server."""


def routes(home: ServedHome) -> list[BaseRoute]:
    """The route of the report."""
    return [Route(REPORT, _Report(home).find)]


class _Report:
    """The report of a warehouse."""

    def __init__(self, home: ServedHome) -> None:
        self._warehouse, self._turn = home.warehouse, Lock()
        self._folder = home.warehouse.folder / "reports" / "served"

    def find(self, _: Request) -> Response:
        """The current report, which is written unless it exists."""
        try:
            with self._turn:
                file = self._folder / f"{self._version()}.html"
                if not file.exists():
                    readers = {name: f"{READERS}/{name}/" for name in paths(self._warehouse)}
                    write(file, page(parts(self._warehouse), datetime.now(UTC), readers))
                    for other in self._folder.glob("[!.]*.html"):
                        if other != file:
                            other.unlink(missing_ok=True)
        except BadInput as error:
            return PlainTextResponse(str(error), 503)
        return FileResponse(file, headers=NOT_STORED)

    def _version(self) -> str:
        """A digest of what the report depends on. While others write to a database it is new at each call."""
        number = self._warehouse.last_change()
        files = [path.read_bytes() for path in paths(self._warehouse).values() if path.is_file()]
        return version_of(str(uuid4() if number is None else number).encode(), *files)
