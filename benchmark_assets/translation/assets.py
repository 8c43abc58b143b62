"""Assets of translation: the outputs of each system for each passage."""

import dagster as dg

from benchmark_assets.partitions import BY_PASSAGE, GRID
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.study import Translation

model_output = study_asset(
    Translation, GRID, "translation",
    [
        dg.AssetDep(dg.AssetKey(name), partition_mapping=BY_PASSAGE)
        for name in ("source_text", "selection", "glossary")
    ],
)  # fmt: skip
