"""The report: one HTML page with all aggregates. This module does not import charts, since most commands draw none."""

ASSETS = [
    "leaderboard", "metric_rank", "drift_score", "human_baseline", "triage", "audit_outcome",
    "error_estimate", "judge_calibration", "metric_agreement", "pairwise_score", "anchor_score", "literary_score",
    "understanding_board", "model_call", "head_to_head", "system_comparison", "translator_agreement", "slice_summary",
    "sensitivity", "rubric_summary", "span_summary", "adherence_summary", "ensemble_calibration",
    "understanding_comparison", "human_range", "reference_envelope", "output_diagnostic",
    "vital_sign", "judge_report", "reproduction", "published_summary", "reference_examination", "contamination",
    "memory",
]  # fmt: skip
"""Assets whose tables the report reads."""
