"""Jobs: the assets that are brought up to date together, one job for each kind of partition."""

import dagster as dg

references_job = dg.define_asset_job(
    "references",
    selection=["reference", "reference_envelope", "human_baseline"],
    description="References, envelopes and human baselines of a range of passages.",
)
translate_job = dg.define_asset_job(
    "translate",
    selection=["model_output"],
    description="A model's outputs over a range of passages; what is current is not asked for again.",
)
score_job = dg.define_asset_job(
    "score",
    selection=["drift_score", "lexical_score"],
    description="Scores of the outputs that a model has over a range of passages.",
)
accounts_job = dg.define_asset_job(
    "accounts", selection=["model_call"], description="What was asked of models so far, and what it cost."
)
summary_job = dg.define_asset_job("summary", selection=["model_summary"], description="Aggregates of a model.")
leaderboard_job = dg.define_asset_job(
    "leaderboard_table", selection=["leaderboard"], description="The table of all models and translators."
)
