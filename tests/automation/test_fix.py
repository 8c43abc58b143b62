"""The long form of test_runs' fix: one passage of 1,700, five models, by the commands that an editor uses."""

import json
import time
from collections import Counter
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from resources.warehouse import Warehouse
from tests.bench.grid import grid
from tests.processes import variorum
from tests.support import STAGES, TABLES, reports, write_outputs

pytestmark = pytest.mark.proof

MODELS = [f"m{i}" for i in range(5)]


def test_one_fix_among_1700_passages_of_five_models_recomputes_that_passage(
    home: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    grid(tmp_path / "corpus", home, 1700, instance)
    ids = [key.removeprefix("bench/") for key in instance.get_dynamic_partitions("passage")]
    for model in MODELS:
        texts = {key: f"Sentence {key}." for key in ids}
        path = write_outputs(tmp_path / f"{model}.jsonl", texts)
        variorum(home, "import", "outputs", str(path), "--corpus", "bench")
    begun = time.monotonic()
    variorum(home, "update")
    whole = time.monotonic() - begun
    assert "everything is up to date" in variorum(home, "stale").stdout
    before, stored = reports(instance), {name: warehouse.read(name) for name in ("drift_score", "lexical_score")}

    lines = (tmp_path / "corpus" / "passages.jsonl").read_text().splitlines()
    changed = json.loads(lines[850])
    changed["references"]["ann"] += " Very short."
    lines[850] = json.dumps(changed)
    (tmp_path / "corpus" / "passages.jsonl").write_text("\n".join(lines))
    passage = f"bench/{changed['passage_id']}"
    begun = time.monotonic()
    variorum(home, "scan")
    scanned = time.monotonic()
    said = variorum(home, "stale").stdout
    asked = time.monotonic()
    variorum(home, "update")
    done = time.monotonic()
    assert passage in said
    assert "segmented_reference changed" in said

    assert reports(instance) - before == Counter(
        [
            *((asset, passage) for asset in ("segmented_reference", "alignment", "passage_filter")),
            *((asset, passage) for asset in ("reference", "reference_envelope", "human_baseline", "comet_baseline")),
            *((asset, f"{model}|{passage}") for asset in STAGES["score"] for model in MODELS),
            *(("model_summary", model) for model in MODELS),
            *((table, "") for table in TABLES if not table.startswith("sensitivity")),  # it is not in the sample
        ]
    )
    for name, rows in stored.items():
        others = pl.col("passage") != passage
        assert warehouse.read(name).filter(others).equals(rows.filter(others)), name
    assert "everything is up to date" in variorum(home, "stale").stdout
    print(
        f"\n17,000 scores made in {whole:.0f} s; after the fix: scan {scanned - begun:.1f} s, "
        f"stale {asked - scanned:.1f} s, update {done - asked:.1f} s, which touched 10 scores of 17,000"
    )
