"""The new study from an empty table to rows, in a project that has it; what is seen at each step, as JSON."""

import json
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from benchmark_assets.automation.due import due
from benchmark_assets.studies.study import CALLS
from tests.pairwise.arena import OUTPUTS, Arena

ASSET = dg.AssetKey("figure")


def seen(arena: Arena) -> dict[str, Any]:
    """What is stale and what it would cost, what is stored, and what was asked so far."""
    with dg.DagsterInstance.get() as instance:
        found = due(arena.definitions, instance, ASSET)
    columns = ["passage", "judge", "number", "words", "kind", "origin", "first"]
    calls, asked = arena.warehouse.read(CALLS), arena.provider.ledger.attempts()
    return {
        "stale": found.rows.filter(model="ours")["passage"].to_list(),
        "cost": found.estimate and [found.estimate.calls, found.estimate.recorded, found.estimate.about],
        "rows": arena.warehouse.read("figure", columns=columns).rows(),
        "calls": calls.filter(study="figure").select("passage", "item", "asked", "parsing").rows(),
        "known": set(calls["call"]) <= set(asked["key"]),
        "others": dict(calls.group_by("study").len().sort("study").iter_rows()),
        "asked": len(asked.filter(purpose="figures")),
        "paid": asked.filter(purpose="figures")["cost"].sum(),
    }


def sound(arena: Arena) -> bool:
    """Whether the blocking check of the asset passes."""
    whole = arena.definitions.resolve_implicit_global_asset_job_def()
    keys = arena.definitions.resolve_asset_graph().asset_check_keys
    own = {key for key in keys if key.asset_key == ASSET}  # in one step
    job = whole.get_subset(asset_selection=set(), asset_check_selection=own)
    with dg.DagsterInstance.get() as instance:
        result = job.execute_in_process(instance=instance)
        return [each.passed for each in result.get_asset_check_evaluations() if each.check_name == "sound"] == [True]


def main(folder: Path, url: str) -> dict[str, Any]:
    """Before the study, after it, after a second run, and after one output changed."""
    arena = Arena(folder, url)
    steps: dict[str, Any] = {"undescribed": seen(arena)}
    arena.describe(["comparer", "marker"])
    steps["before"] = seen(arena)
    arena.row("figure", "rubric_vote")
    steps["after"] = seen(arena)
    steps["sound"] = sound(arena)
    arena.row("figure")
    steps["again"] = seen(arena)
    arena.outputs("ours", OUTPUTS | {"doc1:2": "Sunset."})
    arena.row("model_output")
    steps["changed"] = seen(arena)
    arena.row("figure")
    steps["renewed"] = seen(arena)
    stray = arena.warehouse.read(CALLS, pl.DataFrame({"study": ["figure"]})).filter(pl.col("task") != "")
    return steps | {"stray": len(stray)}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
