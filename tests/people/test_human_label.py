"""People's labels follow the outputs that they were given to, from run to run."""

from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import polars as pl

from benchmark_assets.partitions import range_tags
from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.sample import export_items
from benchmark_assets.people.sheets import sheet
from benchmark_assets.translation.imports import import_outputs
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.support import PASSAGES, write_outputs

TEXTS = {"doc1:1": "A mouse runs; a cat sits.", "doc1:2": "The sun comes up.", "doc2:1": "Nothing new is new here."}
ROW = f"mine|{PASSAGES[0]}", f"mine|{PASSAGES[2]}"


def materialize(definitions: dg.Definitions, instance: dg.DagsterInstance, *assets: str, ends: tuple[str, str]) -> bool:
    chosen = {dg.AssetKey(name) for name in assets}
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection=chosen)
    return job.execute_in_process(instance=instance, tags=range_tags(*ends), raise_on_error=False).success


def test_a_label_applies_as_long_as_its_output_is_what_was_labelled(
    built: dg.Definitions,
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    tmp_path: Path,
) -> None:
    def evaluated(texts: Mapping[str, str]) -> bool:
        import_outputs(warehouse, write_outputs(tmp_path / "mine.jsonl", texts), "tiny", "mine")
        return materialize(definitions, instance, "model_output", "drift_score", "triage", "human_label", ends=ROW)

    def applied() -> list[tuple[str, str, str]]:
        return warehouse.read("human_label", columns=["passage", "annotator", "label"]).rows()

    instance.add_dynamic_partitions("model", ["mine"])
    evaluated(TEXTS)
    assert applied() == []  # and where nobody has labelled anything, nothing applies

    items = dict(warehouse.read("triage", pl.DataFrame({"model": ["mine"]}), ["passage", "item"]).iter_rows())
    assert sorted(items) == PASSAGES
    rows = [
        [items[PASSAGES[0]], "mori", "VALID_VARIATION", "", "none"],
        [items[PASSAGES[0]], "santos", "MINOR_ERROR", "OTHER", "low"],
        [items[PASSAGES[1]], "mori", "MAJOR_ERROR", "OTHER", "high"],
    ]
    columns = given = ["item", "annotator", "label", "error_category", "severity"]
    (tmp_path / "labels.csv").write_bytes(sheet(columns, rows))
    import_labels(warehouse, [tmp_path / "labels.csv"])
    assert materialize(definitions, instance, "human_label", ends=ROW)
    whole = [
        (PASSAGES[0], "mori", "VALID_VARIATION"), (PASSAGES[0], "santos", "MINOR_ERROR"),
        (PASSAGES[1], "mori", "MAJOR_ERROR"),
    ]  # fmt: skip
    assert applied() == whole

    assert evaluated(TEXTS | {"doc1:1": "Another text."})
    assert applied() == whole[2:]
    assert len(warehouse.read("imported_label")) == 3

    # Back come the labels with the text; one that was corrected meanwhile leaves those of other outputs alone.
    stored = warehouse.read("human_label")
    rows[1][2:] = ["VALID_VARIATION", "", "none"]
    (tmp_path / "labels.csv").write_bytes(sheet(columns, rows))
    assert evaluated(TEXTS)
    import_labels(warehouse, [tmp_path / "labels.csv"])
    assert materialize(definitions, instance, "human_label", ends=ROW)
    assert applied() == [whole[0], (PASSAGES[0], "santos", "VALID_VARIATION"), whole[2]]
    consistency = definitions.resolve_implicit_global_asset_job_def().get_subset(
        asset_selection={dg.AssetKey("annotator_consistency")}
    )
    assert consistency.execute_in_process(instance=instance).success
    columns = ["corpus", "annotator", "labels", "repeats", "agreement"]
    counted = warehouse.read("annotator_consistency", columns=columns).rows()
    assert counted == [("tiny", "mori", 2, 0, None), ("tiny", "santos", 1, 0, None)]
    assert warehouse.read("human_label").filter(pl.col("passage") == PASSAGES[1]).equals(stored)

    # Labels of a second pass lead to final labels, and leave the first ones as they are.
    verdicts = [("mine", passage, "VALID_VARIATION", 1, 0) for passage in PASSAGES[:2]]
    counts = dict.fromkeys(["minor", "valid", "reference", "unsure", "abstained"], 0) | {"error_category": "NONE"}
    put(warehouse, "verdict", *(dict(zip(["model", "passage", "label", "judges", "major"], row, strict=True)) | counts
                                | {"split": False} for row in verdicts))  # fmt: skip
    before = warehouse.read("human_label").drop("run_id", "updated_at", "fingerprint")
    export_items(warehouse, tmp_path / "second", "tiny", ["kim"], second=0.5)
    drawn = warehouse.read("second_pass").sort("passage")
    assert drawn["stratum"].to_list() == ["sound", "doubtful"]
    key = drawn["item"][1]
    (tmp_path / "labels.csv").write_bytes(sheet(given, [[key, "kim", "MINOR_ERROR", "OTHER", "low"]]))
    import_labels(warehouse, [tmp_path / "labels.csv"])
    assert materialize(definitions, instance, "human_label", ends=ROW)
    final = warehouse.read("final_label", columns=["passage", "label", "stratum", "probability"]).sort("passage")
    assert final.rows() == [(PASSAGES[0], None, "sound", 1.0), (PASSAGES[1], "MINOR_ERROR", "doubtful", 1.0)]
    assert warehouse.read("human_label").drop("run_id", "updated_at", "fingerprint").equals(before)
