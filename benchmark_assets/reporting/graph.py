"""Dagster's asset graph as people open it: groups in the order of stages, and views that show whole names.

Here: groups and views, for definitions and pages. A view is an address of Dagster's own graph with a few assets, since
the names of all of them at once are too small to read. Not here: the page that links to the views (start).
"""

from typing import NamedTuple
from urllib.parse import quote

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
