"""The start page of the web server: links to what can be read, watched and done, and to views of Dagster's asset graph.

Here: the page and the views. Not here: the pages that it links to. A view is an address of Dagster's own graph with a
few assets, since the names of all of them at once are too small to read.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from benchmark_assets.reporting import overview
from benchmark_assets.reporting.cards import READERS
from benchmark_assets.reporting.live import LIVE
from benchmark_assets.reporting.reader.serving import NOT_STORED
from benchmark_assets.reporting.report.page import document
from benchmark_assets.reporting.report.serving import REPORT
from benchmark_assets.reporting.served import ServedHome
from resources import journal

GROUPS = (
    "corpus", "alignment", "selection", "references", "translation", "metrics", "contamination", "sensitivity",
    "examination", "adjudication", "audit", "error_spans", "pairwise", "literary", "understanding", "validation",
    "reporting", "benchmarks", "accounts", "vital_signs",
)  # fmt: skip
"""Groups of assets by stage. Dagster sorts groups by name, so their names there begin with a number (`numbered`)."""


class View(NamedTuple):
    """A part of Dagster's asset graph: its heading, what it shows, its assets, and the groups that they are in."""

    title: str
    words: str
    assets: tuple[str, ...]
    groups: tuple[str, ...]

    @property
    def address(self) -> str:
        """The address of Dagster's asset graph with these assets, and their groups unfolded."""
        chosen = quote(" or ".join(f'key:"{asset}"' for asset in self.assets))
        groups = ",".join(f"global@global:{numbered(group)}" for group in self.groups)
        return f"/asset-groups~{chosen}?expanded={groups}"


VIEWS = (
    View(
        "The way of a passage", "from the files of a corpus to its references and how far they lie apart",
        (
            "source_text", "alignment", "selection", "reference", "reference_envelope", "human_baseline",
        ),
        ("corpus", "alignment", "selection", "references", "metrics"),
    ),
    View(
        "The way of a model", "from its outputs to scores and its row on the leaderboard",
        (
            "model_output", "reference_envelope", "drift_score", "lexical_score", "output_diagnostic", "model_summary",
            "leaderboard",
        ),
        ("translation", "references", "metrics", "reporting"),
    ),
    View(
        "Judges", "outputs that are queued, votes, verdicts, labels of people, and how well judges do",
        (
            "drift_score", "triage", "judge_vote", "verdict", "human_label", "judge_report", "judge_calibration",
            "error_estimate",
        ),
        ("metrics", "adjudication", "examination", "audit"),
    ),
    View(
        "Results", "tables that compare systems, and what the comparisons are worth",
        (
            "model_summary", "metric_summary", "metric_rank", "slice_summary", "system_comparison", "human_range",
            "leaderboard",
        ),
        ("reporting",),
    ),
)  # fmt: skip
"""Views of the asset graph that show whole names."""


def numbered(group: str) -> str:
    """The name of a group in Dagster. Raises ValueError for a group that `GROUPS` lacks."""
    return f"{GROUPS.index(group) + 1:02}_{group}"


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
    yield "<h2>Read</h2><ul>"
    for corpus, languages, passages in corpora.select("corpus", "languages", "passages").iter_rows():
        place, words = f"{READERS}/{quote(corpus)}/", f"{languages}, {passages:,} passages"
        correct = f'<a href="{place}corrections/">correct its alignment</a>'
        yield f'<li><a href="{place}">{escape(corpus)}</a>: {escape(words)}; {correct}</li>'
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
