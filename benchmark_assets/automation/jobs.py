"""Jobs: the assets that are brought up to date together, one job for each kind of partition."""

import dagster as dg

references_job = dg.define_asset_job(
    "references",
    selection=["reference", "reference_envelope", "human_baseline"],
    description="References, envelopes and human baselines of a range of passages.",
)
evaluate_job = dg.define_asset_job(
    "evaluate",
    selection=["model_output", "drift_score", "lexical_score"],
    description="A model's outputs and their scores over a range of passages; what is current is not computed again.",
)
summary_job = dg.define_asset_job("summary", selection=["model_summary"], description="Aggregates of a model.")
leaderboard_job = dg.define_asset_job(
    "leaderboard_table", selection=["leaderboard"], description="The table of all models and translators."
)
