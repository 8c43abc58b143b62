"""The suite's assets on small corpora."""

from collections import Counter
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import due
from benchmark_assets.corpus.registry import register
from benchmark_assets.metrics.entries import on
from benchmark_assets.metrics.further import SOUND
from benchmark_assets.partitions import range_tags
from benchmark_assets.sensitivity.damage import KINDS, SEVERITIES
from benchmark_assets.sensitivity.detection import ALL
from resources.warehouse import Warehouse
from tests.corpus.support import edit
from tests.support import PASSAGES as TINY
from tests.support import TRANSLATIONS, edit_segment, reports, run, write_corpus

PASSAGES = 4

ASSETS = ["damaged_text", "damaged_score", "sensitivity"]
KEY = ["passage", "translator", "kind", "severity"]


def brought_up(definitions: dg.Definitions, instance: dg.DagsterInstance) -> Counter[tuple[str, str]]:
    """Look at the files and run what the suite rests on, and the suite; return what was reported of the suite."""
    before = reports(instance)
    runs.look(definitions, instance)
    passages = instance.get_dynamic_partitions("passage")
    ends = passages[0], passages[-1]
    assert run(definitions, instance, "references", ends).success
    keys = [dg.AssetKey(name) for name in ASSETS]
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection=set(keys))
    assert job.execute_in_process(instance=instance, tags=range_tags(*ends)).success
    assert all(due(definitions, instance, key).rows.is_empty() for key in keys)
    return Counter({key: count for key, count in (reports(instance) - before).items() if key[0] in ASSETS})


def check_scores(warehouse: Warehouse) -> None:
    """Damaged texts differ from the sound ones and are scored, sound ones as human baselines are."""
    texts, scores = warehouse.read("damaged_text"), warehouse.read("damaged_score")
    assert set(texts["passage"]) == set(TINY)
    references = warehouse.read("reference", columns=["passage", "translator", "text"])
    assert texts.join(references, on=["passage", "translator", "text"], how="semi").is_empty()
    damaged, sound = scores.filter(pl.col("kind") != SOUND), scores.filter(kind=SOUND)
    assert damaged.select(*KEY, "extent").equals(texts.select(*KEY, "extent"))
    assert scores.select("sim_best", "drift", "bleu", "length_ratio").null_count().row(0) == (0, 0, 0, 0)
    baseline = warehouse.read("human_baseline").drop("fingerprint", "run_id", "updated_at")
    shared = [name for name in baseline.columns if name in sound.columns]
    assert {"drift", "bleu"} < set(shared)
    assert sound.select(shared).equals(baseline.select(shared))


def check_tables(warehouse: Warehouse) -> None:
    """There is a row for every kind and severity, also for what could not be done, and thresholds for what could."""
    found = warehouse.read("sensitivity")
    assert len(found) == len(on("detection")) * (len(KINDS) + 1) * (len(SEVERITIES) + 1)
    counts = warehouse.read("damaged_text").group_by("kind", "severity").len()
    applied = found.filter(pl.col("metric") == "drift", pl.col("kind") != ALL, pl.col("severity") > 0)
    joined = applied.join(counts, on=["kind", "severity"], how="left", maintain_order="left")
    assert joined["texts"].to_list() == joined["len"].fill_null(0).to_list()
    assert joined.filter(pl.col("auc").is_null()).select("texts", "note").unique().rows() == [(0, "applies to no text")]
    assert "letter pairs" in found["signature"][0]
    cells = ["kind", "severity"]
    some = found.filter(pl.col("metric") == "drift", pl.col("texts") > 0)
    limits = warehouse.read("sensitivity_threshold").group_by(cells).len()
    assert set(limits.rows()) == {(kind, severity, 6) for kind, severity in some.select(cells).rows()}


def test_texts_are_damaged_and_scored_and_an_edit_leaves_what_comes_out_the_same(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    register(warehouse, corpus)
    brought_up(definitions, instance)
    check_scores(warehouse)
    check_tables(warehouse)

    before = {table: warehouse.read(table) for table in ("damaged_text", "damaged_score")}
    edit_segment(corpus, "ann", "doc2:1.1", "Nothing that he says is new, and no one hears it.")
    told = brought_up(definitions, instance)
    texts = [rows.select(*KEY, "text").rows() for rows in (before["damaged_text"], warehouse.read("damaged_text"))]
    changed = {row[0] for row in set(texts[0]) ^ set(texts[1])}
    assert "tiny/doc2:1" in changed
    assert len(changed) < len(TINY)
    same = ~pl.col("passage").is_in(list(changed))
    for table, rows in before.items():  # scores with the time at which they were written
        later = warehouse.read(table).filter(same)
        keep = later.columns if table == "damaged_score" else [*KEY, "text"]
        assert later.select(keep).equals(rows.filter(same).select(keep)), table
        assert len(later)
    assert {asset for asset, _ in told} == set(ASSETS)


@pytest.mark.proof
@pytest.mark.large
def test_a_corpus_is_sampled_and_what_leaves_it_leaves_the_tables(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path
) -> None:
    lone = {name: documents for name, documents in TRANSLATIONS.items() if name == "ann"}
    register(warehouse, write_corpus(tmp_path / "lone", translations=lone, name="lone"))
    count = PASSAGES + 2
    sources = {"long": {f"long:{i}.1": f"Sententia {i}." for i in range(count)}}
    translations = {
        name: {"long": {f"long:{i}.1": f"{text} It was number {i + 2}, and not the last." for i in range(count)}}
        for name, text in {"ann": "A mouse runs.", "ben": "Mice are running."}.items()
    }
    path = write_corpus(tmp_path / "long", sources, translations, name="long")
    edit(path, {"sensitivity": {"passages": PASSAGES}})
    register(warehouse, path)
    brought_up(definitions, instance)
    assert warehouse.read("reference")["passage"].str.starts_with("lone/").sum() == len(TINY)
    sample = set(warehouse.read("damaged_score")["passage"])
    assert len(sample) == PASSAGES
    assert not any(passage.startswith("lone/") for passage in sample)  # there is nobody to compare Ann with
    whole = warehouse.read("sensitivity").filter(kind=ALL, severity=0)
    assert set(whole.filter(metric="sim_best")["passages"]) == {PASSAGES}
    # with one other translator there is no envelope, so no drift
    assert set(whole.filter(metric="drift")["note"]) == {"no text has a score"}
    assert warehouse.read("sensitivity_threshold").is_empty()

    gone = min(sample).removeprefix("long/")
    for segments in (sources["long"], *(documents["long"] for documents in translations.values())):
        segments.pop(f"{gone}.1")
    edit(write_corpus(tmp_path / "long", sources, translations, name="long"), {"sensitivity": {"passages": PASSAGES}})
    brought_up(definitions, instance)
    for table in ("damaged_text", "damaged_score"):
        after = set(warehouse.read(table)["passage"])
        assert len(after) == PASSAGES
        assert sample - after == {f"long/{gone}"}
