"""The platform on real texts: envelopes and human baselines of the Daodejing, imported outputs on the suttas."""

import json
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.imports import import_outputs
from resources.warehouse import Warehouse
from tests.support import CORE, LetterEmbedder

pytestmark = pytest.mark.realdata

TRANSLATORS = ["alexander", "balfour", "giles", "goddard", "gorn_old", "legge", "mears", "suzuki_carus"]


def describe(path: Path, **content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.large
@pytest.mark.proof
def test_eight_translators_of_the_daodejing_each_scored_against_the_other_seven(
    realdata: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path, full: bool
) -> None:
    """With the real MiniLM: this table says how far apart people are."""
    chapters = 81 if full else 7
    lines = (realdata / "daodejing" / "daodejing.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "daodejing.jsonl").write_text("".join(lines[:chapters]), encoding="utf-8")
    definitions = build_definitions(rooms=CORE, resource_overrides={"warehouse": warehouse})
    terms = {"language": "en", "licence": "public domain in the USA"}
    description = describe(
        tmp_path / "daodejing.yaml",
        name="daodejing",
        layout="jsonl",
        root=str(tmp_path / "daodejing.jsonl"),
        source={"language": "lzh", "licence": "public domain"},
        references=dict.fromkeys(TRANSLATORS, terms),
        ignore=["chapter", "source_alt"],
        sensitivity={"passages": 0},  # no damaged texts
    )
    register(warehouse, description)
    runs.take_in(definitions, instance, "daodejing")

    envelopes = warehouse.read("reference_envelope")
    # Giles left chapter 6 out, and cut 39 and 54 to less than a third: the publisher flags them as partial.
    without_giles = ["6", "39", "54"] if full else ["6"]
    fewer = envelopes.filter(reference_count=7)["passage"].str.strip_prefix("daodejing/ddj")
    assert sorted(fewer, key=int) == without_giles
    assert envelopes["reference_count"].to_list().count(8) == chapters - len(without_giles)
    assert envelopes["human_spread"].null_count() == 0

    baseline = warehouse.read("human_baseline")
    assert dict(baseline.group_by("translator").len().iter_rows()) == dict.fromkeys(TRANSLATORS, chapters) | {
        "giles": chapters - len(without_giles)
    }
    assert baseline["drift"].null_count() == 0
    assert baseline.filter(pl.col("closest_reference") == pl.col("translator")).is_empty()
    # A translator left out lies farther from the others' centroid than these do on average.
    drifts = baseline.group_by("translator").agg(pl.col("drift").mean())["drift"]
    assert drifts.mean() > 1  # type: ignore[operator]
    assert not full or drifts.min() > 1  # type: ignore[operator]


@pytest.mark.proof
def test_seven_models_on_the_suttas_with_one_reference_have_no_envelope(
    realdata: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path, full: bool
) -> None:
    files = sorted((realdata / "palibench/results/translations").glob("*.json"))
    root, passages, outputs = realdata / "suttacentral", 4003, 1700
    if not full:
        passages, outputs = 11, 6
        root, files = of_one_sutta(realdata, files, tmp_path / "small")
    definitions = build_definitions(
        rooms=CORE, resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder()}
    )
    description = describe(
        tmp_path / "suttas.yaml",
        name="suttas",
        layout="bilara",
        root=str(root),
        source={"language": "pli", "edition": "ms", "licence": "CC0-1.0"},
        references={"sujato": {"language": "en", "licence": "CC0-1.0"}},
    )
    register(warehouse, description)
    runs.look(definitions, instance)
    before = instance.event_log_storage.get_maximum_record_id()
    runs.look(definitions, instance)
    planned_or_materialized = instance.event_log_storage.get_maximum_record_id()
    assert planned_or_materialized is not None
    assert before is not None
    assert planned_or_materialized - before < 10  # the run's own events: none for any of the passages
    assert len(warehouse.read("source_text", columns=["passage"])) == passages

    names = [import_outputs(warehouse, path, "suttas", None) for path in files]
    assert [count for _, count in names] == [outputs] * 7

    model = "google/gemini-3-pro-preview"
    runs.evaluate(definitions, instance, model)
    scores = warehouse.read("drift_score")
    assert len(scores) == outputs
    complete = warehouse.read("reference").filter("complete")["passage"]
    for column in ("drift", "drift_euclidean", "sim_centroid"):
        assert scores[column].null_count() == outputs
    assert scores.filter(pl.col("sim_best").is_null())["passage"].is_in(complete.implode()).sum() == 0
    assert scores.filter(pl.col("sim_best").is_not_null())["passage"].is_in(complete.implode()).all()
    row = warehouse.read("leaderboard").filter(pl.col("system") == model).to_dicts()[0]
    assert row["drift"] is None
    assert row["outlier_rate"] is None
    assert row["with_envelope"] == 0
    assert row["passages"] == complete.n_unique()
    assert row["failures"] == complete.n_unique() - len(scores.drop_nulls("sim_best"))


def of_one_sutta(realdata: Path, results: list[Path], folder: Path) -> tuple[Path, list[Path]]:
    """The files of one sutta, and of each result file what it has of it, in a folder."""
    for file in (realdata / "suttacentral").rglob("an10.15_*.json"):
        copy = folder / file.relative_to(realdata)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    for file in results:
        content = json.loads(file.read_text(encoding="utf-8"))
        own = {key: text for key, text in content["translations"].items() if key.startswith("an10.15:")}
        (folder / file.name).write_text(json.dumps(content | {"translations": own}), encoding="utf-8")
    return folder / "suttacentral", [folder / file.name for file in results]
