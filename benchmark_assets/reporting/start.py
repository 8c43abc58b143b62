"""The start page of the web server: links to what can be read, watched and done, and to views of Dagster's asset graph.

Here: the page. Not here: the pages that it links to, the views (graph).
"""

from collections.abc import Iterator, Sequence
from html import escape
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from benchmark_assets.reporting import overview
from benchmark_assets.reporting.cards import READERS
from benchmark_assets.reporting.graph import VIEWS
from benchmark_assets.reporting.live import LIVE
from benchmark_assets.reporting.reader.serving import NOT_STORED
from benchmark_assets.reporting.report.page import document
from benchmark_assets.reporting.report.serving import REPORT
from benchmark_assets.reporting.served import ServedHome
from resources import journal


def routes(home: ServedHome) -> Sequence[BaseRoute]:
    """The route of the start page."""

    def start(_: Request) -> Response:
        body = "\n".join(_sections(home))
        return HTMLResponse(document("Variorum", f"<p>{escape(ABOUT)}</p>", body), headers=NOT_STORED)

    return [Route("/", start)]


ABOUT = "Read passages and results, watch evaluations, and see in Dagster where each number comes from."


def _sections(home: ServedHome) -> Iterator[str]:
    running = len(journal.running(home.warehouse.folder))
    corpora = overview.corpora(home.warehouse)
    aligned = {*home.warehouse.read("prose", columns=["corpus"])["corpus"]}
    yield "<h2>Read</h2><ul>"
    for corpus, languages, passages in corpora.select("corpus", "languages", "passages").iter_rows():
        place, words = f"{READERS}/{quote(corpus)}/", f"{languages}, {passages:,} passages"
        correct = f'; <a href="{place}corrections/">correct its alignment</a>' if corpus in aligned else ""
        yield f'<li><a href="{place}">{escape(corpus)}</a>: {escape(words)}{correct}</li>'
    if corpora.is_empty():
        yield "<li>No corpus yet: <code>variorum open FOLDER</code> opens your texts, "
        yield "<code>variorum demo</code> evaluates two samples.</li>"
    yield f'<li><a href="{REPORT}">The report</a>: all tables and charts</li></ul>'
    state = f"{running} {'update runs' if running == 1 else 'updates run'}" if running else "nothing runs now"
    yield f'<h2>Watch</h2><ul><li><a href="{LIVE}">Live</a>: {state}</li>'
    yield '<li><a href="/runs">Runs</a> and <a href="/automation">automation</a> in Dagster</li></ul>'
    yield "<h2>Where numbers come from</h2><p>Views of Dagster's asset graph:</p><ul>"
    for view in VIEWS:
        yield f'<li><a href="{escape(view.address)}">{escape(view.title)}</a>: {escape(view.words)}</li>'
    yield '<li><a href="/asset-groups">All assets</a>, by stage; <a href="/assets">as a list</a></li></ul>'
    yield "<h2>Learn</h2><p>The documentation is in <code>docs/index.md</code> of the project.</p>"
