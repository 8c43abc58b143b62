"""Exhibits of contamination. Not here: computing the rows (judging, memory), the board's column (reporting)."""

import polars as pl

from benchmark_assets.contamination.judging import INDEPENDENT
from resources.exhibits import Exhibit, Ranges


def _dependent(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with another verdict than `INDEPENDENT`, null included."""
    return rows.filter(pl.col("verdict").ne_missing(INDEPENDENT))


KNOWN = Exhibit(
    "contamination", "contamination", "Copied references",
    "Models that repeat a reference more than independent translators share, and their scores against the other "
    "references. A model that has learned a reference by heart is not measured by its likeness to it. Pairs that are "
    "independent are left out.",
    "-log_ratio model translator",
    columns="model translator verdict passages copied_passages share near others_near log_ratio longest sim_best "
    "sim_best_without chrf chrf_without", brief=_dependent,
    chart=Ranges("share", pl.format("{} / {}", "model", "translator"), unit="% of passages copied"),
    question="Which references do the models repeat?",
)  # fmt: skip
PASSAGES = Exhibit("copied_passage", "passages", order="model translator passage", sources="contamination")
KINSHIP = Exhibit(
    "kinship", "kinship", "Related translators",
    "Translators whose texts are as close as revisions are. Of such a pair, neither shows what independent translators "
    "share with the other. Pairs that are independent are left out.",
    "-near translator other", columns="translator other verdict passages copied_passages share near log_ratio",
    brief=_dependent, sources="contamination",
)  # fmt: skip
MEMORY = Exhibit(
    "memory", "memory", "References known by heart",
    "Models that were asked to continue a reference, and for words that no other translator has. Without a verdict, it "
    "cannot be told: the model abstained, or fewer than five passages were asked about.",
    "-log_ratio model translator",
    columns="model translator verdict asked abstained passages copied_passages share near others_near log_ratio "
    "longest cloze cloze_others cloze_gap cloze_passages",
    chart=Ranges(
        "cloze_gap", pl.format("{} / {}", "model", "translator"), rule=0,
        unit="right words, more than of other translators", rows=lambda rows: rows.drop_nulls("cloze_gap"),
    ),
    question="Which references do the models know by heart?",
)  # fmt: skip
EXHIBITS = [KNOWN, PASSAGES, KINSHIP, MEMORY]
