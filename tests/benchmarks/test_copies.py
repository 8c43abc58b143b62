"""A copied reference is marked on every table of a benchmark, also for its published systems."""

import json
import random
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.reporting.exhibits import published_table
from resources.catalogue import schema
from tests.benchmarks.mirror import Mirror, serving
from tests.benchmarks.recipes import COMMIT, write_recipe
from tests.contamination.texts import exchanged, translations
from tests.processes import here
from tests.support import write_corpus, write_outputs

PASSAGES = 12
TEXTS = translations(["ann", "ben", "own"], PASSAGES, 40)


def by_document(name: str) -> dict[str, dict[str, str]]:
    return {f"doc{at}": {f"doc{at}:1.1": text} for at, text in enumerate(TEXTS[name].values())}


def outputs(changed: float, equal: int) -> dict[str, str]:
    """Ann's translation: some passages as they are, of the others a share of the words is exchanged."""
    rng = random.Random(1)
    return {
        f"doc{at}:1": text if at < equal else exchanged(text, rng, changed)
        for at, text in enumerate(TEXTS["ann"].values())
    }


def publish(folder: Path) -> Mirror:
    sources = {name: {key: f"{key} verbum" for key in texts} for name, texts in by_document("ann").items()}
    write_corpus(folder, sources, {name: by_document(name) for name in ("ann", "ben")})
    (folder / "cleo.txt").write_text("Nothing.")
    (folder / "outputs.json").write_text(json.dumps({"translations": outputs(0.3, 4)}))
    return Mirror({f"/people/texts/{COMMIT}/": folder})


@pytest.mark.proof
def test_copies_are_marked_when_a_benchmark_is_added_and_when_a_model_is_evaluated_on_it(
    tmp_path: Path, full: bool
) -> None:
    """The published system revises a translator throughout, and a third of its passages are equal. The small form adds
    the benchmark only."""
    home, published = tmp_path / "home", tmp_path / "published"
    with serving(publish(published)) as mirror:
        corpus = {"description": "tiny.yaml", "passages": PASSAGES, "characters": 200, "sources": ["texts"]}
        system = {"source": "texts", "file": "outputs.json", "model": "maker/one", "corpus": "tiny"}
        recipe = write_recipe(
            tmp_path / "recipe", published, corpora=[corpus | {"optional": {"cleo": "more"}}], outputs=[system]
        )
        added = here(home, "add", str(recipe), "--base", mirror.url).stdout
    (line,) = [line for line in added.splitlines() if "maker/one (published)" in line and "%" not in line][:1]
    assert line.endswith("ann (close throughout)")
    if not full:
        return

    for name, texts in {
        "half": outputs(0.9, 6),
        "own": dict(zip(outputs(0, 0), TEXTS["own"].values(), strict=True)),
    }.items():
        here(home, "import", "outputs", str(write_outputs(tmp_path / f"{name}.jsonl", texts)), "--corpus", "tiny")
    evaluated = here(home, "evaluate", "half", "own", "--on", "small").stdout
    marks = {line.split()[2]: line for line in evaluated.splitlines() if line.split()[:2] == ["tiny", "model"]}
    assert marks["half"].endswith("ann (50 %)")
    assert marks["maker/one"].endswith("ann (close throughout)")
    assert "ann" not in marks["own"]
    here(home, "report", str(tmp_path / "gallery.md"), "--benchmarks")
    page = (tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert "| ann (50 %) |" in page
    assert "| ann (close throughout) |" in page


def test_published_scores_of_a_system_that_copies_are_marked() -> None:
    values = [("one", "sim_best", 0.8), ("one", "chrf", 90.0), ("two", "sim_best", 0.9)]
    rows = pl.DataFrame(values, ["system", "measure", "value"], orient="row").with_columns(corpus=pl.lit("c"))
    rows = pl.concat([pl.DataFrame(schema=schema("published_summary")), rows], how="diagonal_relaxed")
    copies = pl.DataFrame({"corpus": ["c", "d"], "kind": "model", "system": ["one", "two"], "copies": "ann (14 %)"})
    shown = published_table(rows, copies)
    assert dict(shown.select("system", "copies").rows()) == {"two": None, "one": "ann (14 %)"}
    assert "copies" not in published_table(rows, copies.clear()).columns
