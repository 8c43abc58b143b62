"""Triage in Dagster by a number other than drift."""

import json
from pathlib import Path

import dagster as dg

from benchmark_assets.corpus.registry import register
from benchmark_assets.partitions import range_tags
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.support import MODELS, PASSAGES


def test_an_audit_by_support_waits_for_its_scores_and_says_so(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    before = warehouse.read("triage")
    tags = range_tags(f"{MODELS[0]}|{PASSAGES[0]}", f"{MODELS[-1]}|{PASSAGES[-1]}")
    job = built.resolve_implicit_global_asset_job_def().get_subset(asset_selection={dg.AssetKey("triage")})

    def triaged(**audit: object) -> str:
        """The error of the run; '' if there was none."""
        description = json.loads(corpus.read_text(encoding="utf-8")) | {"audit": audit}
        corpus.write_text(json.dumps(description), encoding="utf-8")
        register(warehouse, corpus)
        result = job.execute_in_process(instance=instance, tags=tags, raise_on_error=False)
        failed = [event for event in result.all_events if event.is_step_failure]
        return str(failed[0].step_failure_data.error) if failed else ""

    assert "has no score by support: name `support` under `metrics`" in triaged(by="support")
    outputs = before.select("model", "passage").rows()
    scores = [
        {"model": model, "passage": passage, "metric": "mine", "entry": "support", "score": 0.9 - place / 10}
        for place, (model, passage) in enumerate(outputs)
    ]
    put(warehouse, "segment_metric", *({**row, "signature": "s", "inputs": "i"} for row in scores))
    assert triaged(by="support") == ""
    rows = warehouse.read("triage")
    assert len(rows) == len(before)
    assert rows["band"].str.starts_with("support ").all()
    assert triaged(by="length") == ""
    assert warehouse.read("triage")["band"].str.starts_with("length ").all()
    assert triaged(by="spread", sample=3) == ""
    assert warehouse.read("triage")["band"].str.starts_with("spread ").all()
    assert triaged() == ""
    assert (
        warehouse.read("triage")
        .drop("run_id", "updated_at", "fingerprint")
        .equals(before.drop("run_id", "updated_at", "fingerprint"))
    )
