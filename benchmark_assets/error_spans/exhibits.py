"""Exhibits of error spans, and of annotators' agreement on them. Not here: computing the numbers."""

from resources.exhibits import Exhibit, Ranges

SPANS = Exhibit(
    "span_summary", "scores", "Error spans",
    "Scores from the errors that judges mark in the outputs. In the MQM score, a minor error costs 1 point, a major "
    "error 5 and a critical error 25; an output loses at most 25. ESA is the judge's own score from 0 to 100.",
    "judge -mqm", "judge model outputs abstained missing_share mqm mqm_least mqm_most esa minor major critical "
    "unlocated judge_standing problem",
    chart=Ranges("mqm", panel="judge", unit="mean MQM score", width=190, in_report=False),
)  # fmt: skip
RATES = Exhibit(
    "span_rate", "errors per output", "Error spans by category", "Mean number of errors per output.",
    "judge model -rate", sources="span_summary",
)  # fmt: skip
EXHIBITS = [SPANS, RATES, Exhibit("annotation_agreement", "agreement")]
