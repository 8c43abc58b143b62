"""Exhibits of literary scores, calibration and adherence. Not here: computing the numbers."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.literary.anchored import win_rates
from benchmark_assets.literary.scores import PARITY
from benchmark_assets.literary.works import WORK
from resources.exhibits import Exhibit, Ranges
from resources.tables import cells, markdown, with_signatures
from resources.warehouse import Warehouse

SCORES = Exhibit(
    "literary_score", "", "Literary scores",
    "Models compared with the human translation. 50 (dashed) is parity; above 50, the model is preferred. The score at "
    "equal length excludes the effect of length on the judges; the score without errors corrects for their errors about"
    " damaged texts. A seat (a judge of one aspect) that contradicts itself "
    "abstains; a vote for neither text is a tie.",
    "aspect -score", "aspect model chunks abstained missing_share works machine unsure human score score_least "
    "score_most score_controlled score_corrected interval_of judge_standing problem",
    sources="literary_score head_to_head",
    chart=Ranges("score", panel="aspect", unit="score", rule=PARITY, domain=(0, 100)),
    question="Are the outputs as good as the human translation?",
)  # fmt: skip
SEATS = Exhibit(
    "ensemble_calibration", "calibration", "Calibration of the ensemble",
    "How often each seat (a judge of one aspect) and each ensemble prefers the translation that people prefer.",
    "kind -expected judge aspect",
    chart=Ranges(
        "coverage accuracy", pl.concat_str(
            "kind", *(pl.when(pl.col(name) != "").then(pl.col(name)) for name in ("judge", "aspect")),
            pl.format("weight {}", "weight"), separator=" ", ignore_nulls=True,
        ), pl.lit("judge"), unit="%", width=180, rule=PARITY, domain=(0, 100), in_report=False,
    ),
)  # fmt: skip
BY_PEOPLE = Exhibit(
    "anchored_score", "scores", "Scores by people",
    "Scores from people's verdicts on a random part of the outputs, made more precise by the ensemble's verdicts on "
    "all outputs. The intervals are valid however the ensemble errs. 50 is parity with the human translation.",
    "-score", sources="ensemble_calibration",
)  # fmt: skip
GLOSSARY = Exhibit(
    "adherence_summary", "adherence", "Terms of the glossary",
    "Share of the glossary's terms that outputs use, and the share that the human translation of the same chunks uses.",
    "-adherence",
    chart=Ranges("adherence human_adherence", kind="", unit="% of the terms", in_report=False),
)  # fmt: skip
WIN_RATES = Exhibit(
    "anchored_win_rate", "", "Win rates and LT by people",
    "Win rates and LT against the anchors of a base set, from people's verdicts on a random part of the matches, made "
    "more precise by the judge's verdicts on the others. The intervals are valid however the judge errs. The scale of "
    "LT is that of the anchors, whose strengths are the judge's.",
    "base_set -win_rate", read=win_rates, sources="pairwise_score",
)  # fmt: skip
EXHIBITS = [SCORES, SEATS, BY_PEOPLE, GLOSSARY]


def of_scores(warehouse: Warehouse) -> Mapping[str, str]:
    """Metadata of `literary_score`: scores with their position relative to parity, and the works of the chunks."""
    rows = SCORES.frame(warehouse)
    sources = warehouse.read("source_text", rows.select("corpus").unique(), ["corpus", "document"])
    works = sources.group_by("corpus", WORK).agg(documents=pl.col("document").n_unique(), chunks=pl.len())
    return {
        "scores": with_signatures(rows.select(*cells("literary_score"), parity()), rows),
        "works": markdown(works.sort("corpus", "work")),
    }


def parity() -> pl.Expr:
    """Expression for the position of a score relative to parity: 'above' or 'below' if the whole interval is above or
    below parity, otherwise 'in the interval'; null without an interval."""
    above, below = pl.col("score_low") > PARITY, pl.col("score_high") < PARITY
    position = pl.when(above).then(pl.lit("above")).when(below).then(pl.lit("below"))
    return position.when(pl.col("score_low").is_not_null()).then(pl.lit("in the interval")).alias("parity")
