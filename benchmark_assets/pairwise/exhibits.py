"""Exhibits of pairwise scores and rubric marks. Not here: computing the numbers."""

import polars as pl

from resources.exhibits import Exhibit, Ranges


def _with_contract(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the contract of the comparisons in the signature."""
    return rows.with_columns(signature=pl.format("{}; {}", "contract", "signature"))


STRENGTHS = Exhibit(
    "pairwise_score", "scores", "LT against",
    "Strength of models and anchors on one scale from 0 to 10, overall and by slice. For LT beside the anchors, the "
    "positions of the anchors are estimated without the models. LT and EN are defined as in the paper on JP-TL-Bench: "
    "each model is fitted together with the anchors, without other models. LT at equal length excludes the effect of "
    "length on the judge; LT without errors also corrects for how often the judge contradicts itself and errs about "
    "sentinels. A judge without position bias prefers the first text in 50 % of the comparisons.",
    "base_set slice -lt", "slice system kind items matches ties excluded missing_share wins win_rate lt_fixed "
    "lt_fixed_least lt_fixed_most lt_fixed_controlled lt lt_controlled lt_corrected en first_rate reliability "
    "judge_standing correction_problem",
    rows=_with_contract, sources="pairwise_score anchor_score",
    chart=Ranges("lt_fixed", "system", "kind", "slice", "LT beside the anchors", domain=(0, 10)),
    question="How strong are the models beside the anchors?",
)  # fmt: skip
MARKS = Exhibit(
    "rubric_summary", "marks", "Marks", "Marks from 1 to 5 by each judge.", "judge -mean",
    "judge model outputs abstained missing_share mean mean_least mean_most median useful perfect judge_standing "
    "problem",
    chart=Ranges("mean", panel="judge", unit="mean mark", width=190, domain=(1, 5), in_report=False),
)  # fmt: skip
EXHIBITS = [STRENGTHS, MARKS, Exhibit("anchor_score", "anchors", order="base_set slice -lt", rows=_with_contract)]
