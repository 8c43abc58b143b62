"""One fix by the commands that an editor uses: of one passage, in full of 1,700, with five models."""

import json
import time
from collections import Counter
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from resources.warehouse import Warehouse
from tests.bench.grid import grid
from tests.processes import here
from tests.support import STAGES, TABLES, reports, write_outputs

pytestmark = [pytest.mark.proof, pytest.mark.large]


def test_one_fix_recomputes_its_passage_and_no_other(
    home: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path, full: bool
) -> None:
    size, models = (1700, [f"m{i}" for i in range(5)]) if full else (4, ["m0"])
    grid(tmp_path / "corpus", home, size, instance)
    ids = [key.removeprefix("bench/") for key in instance.get_dynamic_partitions("passage")]
    for model in models:
        texts = {key: f"Sentence {key}." for key in ids}
        path = write_outputs(tmp_path / f"{model}.jsonl", texts)
        here(home, "import", "outputs", str(path), "--corpus", "bench")
    begun = time.monotonic()
    here(home, "update")
    whole = time.monotonic() - begun
    assert "everything is up to date" in here(home, "stale").stdout
    before, stored = reports(instance), {name: warehouse.read(name) for name in ("drift_score", "lexical_score")}

    lines = (tmp_path / "corpus" / "passages.jsonl").read_text().splitlines()
    changed = json.loads(lines[size // 2])
    changed["references"]["ann"] += " Very short."
    lines[size // 2] = json.dumps(changed)
    (tmp_path / "corpus" / "passages.jsonl").write_text("\n".join(lines))
    passage = f"bench/{changed['passage_id']}"
    begun = time.monotonic()
    here(home, "scan")
    scanned = time.monotonic()
    said = here(home, "stale").stdout
    asked = time.monotonic()
    here(home, "update")
    done = time.monotonic()
    assert passage in said
    assert "segmented_reference changed" in said

    assert reports(instance) - before == Counter(
        [
            *((asset, passage) for asset in ("segmented_reference", "alignment", "glossary", "passage_filter")),
            ("verification", passage),
            *((asset, passage) for asset in ("reference", "reference_envelope", "human_baseline", "comet_baseline")),
            ("translator_wording", passage),
            ("contamination", ""),
            *(
                (asset, f"{model}|{passage}")
                for asset in (*STAGES["score"], "shared_wording", "triage")
                for model in models
            ),
            *(("model_summary", model) for model in models),
            *((table, "") for table in TABLES if not table.startswith("sensitivity")),
        ]
    )
    for name, rows in stored.items():
        others = pl.col("passage") != passage
        assert warehouse.read(name).filter(others).equals(rows.filter(others)), name
    assert "everything is up to date" in here(home, "stale").stdout
    scores = 2 * size * len(models)
    print(
        f"\n{scores:,} scores made in {whole:.0f} s; after the fix: scan {scanned - begun:.1f} s, "
        f"stale {asked - scanned:.1f} s, update {done - asked:.1f} s, which touched {2 * len(models)} scores"
    )
