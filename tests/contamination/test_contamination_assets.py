"""The assets on a small corpus: a model that copies a translator, and what an edit recomputes."""

import random
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.contamination import assets as contamination
from benchmark_assets.corpus.registry import register
from benchmark_assets.literary import assets as literary
from benchmark_assets.metrics import assets as metrics
from benchmark_assets.translation import assets as translation
from benchmark_assets.translation.imports import import_outputs
from resources.warehouse import Warehouse
from tests.contamination.texts import exchanged, translations
from tests.support import CONSTRUCTED, edit_segment, reports, write_corpus, write_outputs

TEXTS = translations(["ann", "ben", "model", "own"], 12, 40)


@pytest.fixture(scope="module")
def rooms() -> list[object]:
    return [*CONSTRUCTED, literary, translation, metrics, contamination]


def document(number: int) -> str:
    return f"doc{number // 2}"


def segments(texts: dict[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for number, text in enumerate(texts.values()):
        found.setdefault(document(number), {})[f"{document(number)}:{number % 2 + 1}.1"] = text
    return found


@pytest.fixture
def judged(definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path) -> Path:
    rng = random.Random(3)
    people = {name: segments(TEXTS[name]) for name in ("ann", "ben")}
    sources = {name: {key: f"{key} verbum {rng.random()}" for key in own} for name, own in people["ann"].items()}
    description = write_corpus(tmp_path / "corpus", sources, people)
    register(warehouse, description)
    runs.look(definitions, instance)
    copied = {key: exchanged(text, rng) if number < 6 else TEXTS["model"][key] for number, (key, text) in
              enumerate(TEXTS["ann"].items())}  # fmt: skip
    for name, texts in {"copies": copied, "own": TEXTS["own"]}.items():
        named = {f"{document(at)}:{at % 2 + 1}": text for at, text in enumerate(texts.values())}
        import_outputs(warehouse, write_outputs(tmp_path / f"{name}.jsonl", named), "tiny", name)
    instance.add_dynamic_partitions("model", ["copies", "own"])
    runs.update(definitions, instance)
    return description


def test_a_model_that_copies_is_flagged_and_scored_without_the_reference(
    judged: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    rows = warehouse.read("contamination")
    verdicts = {(row["model"], row["translator"]): row["verdict"] for row in rows.iter_rows(named=True)}
    assert verdicts.pop(("copies", "ann")) == "copies"
    assert set(verdicts.values()) == {"independent"}
    (row,) = rows.filter(verdict="copies").rows(named=True)
    assert (row["passages"], row["copied_passages"], row["without"]) == (12, 6, 12)
    similarities = warehouse.read("output_similarity").filter(model="copies")
    best = similarities.group_by("passage").agg(pl.max("similarity"))["similarity"].mean()
    assert row["sim_best"] == pytest.approx(best)
    assert row["sim_best_without"] == pytest.approx(similarities.filter(translator="ben")["similarity"].mean())
    assert row["chrf"] > row["chrf_without"] + 10
    assert warehouse.read("copied_passage")["passage"].n_unique() == 6
    assert set(warehouse.read("kinship")["verdict"]) == {"independent"}

    before = reports(instance)
    edit_segment(
        judged, "ben", "doc5:2.1", "Some quite different words that no one else has ever used in this passage."
    )
    runs.look(definitions, instance)
    runs.update(definitions, instance)
    fresh = reports(instance) - before
    measured = {key for key in fresh if key[0] in ("shared_wording", "translator_wording")}
    assert measured == {("shared_wording", "copies|tiny/doc5:2"), ("shared_wording", "own|tiny/doc5:2"),
                        ("translator_wording", "tiny/doc5:2")}  # fmt: skip
