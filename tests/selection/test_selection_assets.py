"""The selection in Dagster: what filters drop is neither referred to nor translated, and comes back without them."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import due, order
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources import catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.corpus.support import edit
from tests.processes import here
from tests.support import (
    CONSTRUCTION,
    CORE,
    PASSAGES,
    LetterEmbedder,
    edit_segment,
    made_home,
    reports,
    restored_home,
    run,
    write_corpus,
)
from tests.systems import RuleSystems, rule_systems

SOURCES = {
    "one": {
        "one:1.1": "Mus magnus per agrum currit.",
        "one:2.1": "Ita.",
        "one:3.1": "Felis in tecto sedet et dormit.",
    },
    "two": {"two:1.1": "Sol de monte oritur et lucet.", "two:2.1": "Luna post nubem latet."},
}
ANN = {
    "one": {
        "one:1.1": "A big mouse runs across the field.",
        "one:2.1": "Yes.",
        "one:3.1": "The cat sits on the roof and sleeps.",
    },
    "two": {"two:1.1": "The sun comes up from the hill and shines.", "two:2.1": "The moon hides behind a cloud."},
}
BEN = {
    "one": {"one:1.1": "Over the acre scurries a sizeable rodent.", "one:2.1": "Sure."},
    "two": {"two:1.1": "Out of the mountain rises a bright day.", "two:2.1": "Luna lurks where no eye finds her."},
}
FILTERS = {"min_characters": 12}
KEPT = ["strict/one:1", "strict/two:1", "strict/two:2"]
SHORT, INCOMPLETE = "strict/one:2", "strict/one:3"
MODEL = "alpha"

BEFORE = {"source_text", "segmented_reference", "continuous_reference", *CONSTRUCTION}
"""What a passage has whether it is selected or not."""

OF_A_SAMPLE = {"damaged_text", "damaged_score"}
"""What a passage has that rests on others too: an addition or a wrong term comes from elsewhere in the sample."""


def write_strict(folder: Path) -> Path:
    path = write_corpus(folder, SOURCES, {"ann": ANN, "ben": BEN}, name="strict")
    edit(path, {"filters": FILTERS})
    return path


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CORE


@pytest.fixture(scope="module")
def first_update(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An updated home with a model and two corpora, one with filters and one without; and a copy."""
    world, copy = tmp_path_factory.mktemp("selected") / "world", tmp_path_factory.mktemp("copy") / "world"
    with pytest.MonkeyPatch.context() as patch:
        warehouse = DuckDBWarehouse(path=str(made_home(patch, world) / "variorum.duckdb"))
        resources = {"warehouse": warehouse, "embedder": LetterEmbedder(), "systems": rule_systems(warehouse, world)}
        definitions = build_definitions(rooms=CORE, resource_overrides=resources)
        register(warehouse, write_strict(world / "strict"))
        register(warehouse, write_corpus(world / "tiny"))
        with dg.DagsterInstance.get() as instance:
            runs.look(definitions, instance)
            instance.add_dynamic_partitions("model", [MODEL])
            runs.update(definitions, instance)
    shutil.copytree(world, copy, symlinks=True)
    return world, copy


@pytest.fixture
def home(first_update: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    return restored_home(monkeypatch, *first_update)


@pytest.fixture
def systems(home: Path, warehouse: Warehouse) -> RuleSystems:
    return rule_systems(warehouse, home.parent)


@pytest.fixture
def strict(home: Path) -> Path:
    """Description of the corpus that has filters."""
    return home.parent / "strict" / "corpus.yaml"


class Stage:
    """The code location at work, and what changes in it."""

    def __init__(
        self, definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, systems: RuleSystems
    ) -> None:
        self.definitions, self.instance, self.warehouse, self.systems = definitions, instance, warehouse, systems
        self._told, self._versions = reports(instance), self.versions()

    def up_to_date(self) -> Counter[tuple[str, str]]:
        """Look at the files and update; return what was reported."""
        runs.look(self.definitions, self.instance)
        runs.update(self.definitions, self.instance)
        assert self.due() == []
        before, self._told = self._told, reports(self.instance)
        return self._told - before

    def due(self) -> list[str]:
        found = (due(self.definitions, self.instance, asset) for asset in order(self.definitions))
        return [one.asset.to_user_string() for one in found if len(one.rows)]

    def selected(self, *corpora: str) -> list[str]:
        chosen = self.warehouse.read("selection").filter("selected")["passage"].to_list()
        return [passage for passage in chosen if passage.startswith(corpora or ("strict/",))]

    def reasons(self) -> dict[str, list[str]]:
        rows = self.warehouse.read("selection", columns=["passage", "reasons"])
        return dict(rows.filter(pl.col("reasons").list.len() > 0).iter_rows())

    def holds(self, passage: str) -> set[str]:
        """Tables that have rows of a passage, of those that only selected ones are in."""
        key = pl.DataFrame({"passage": [passage]})
        tables = [name for name, each in catalogue.tables().items() if "passage" in each.columns]
        return {each for each in tables if each not in BEFORE | {"materialization", "near_duplicate", "change"}
                and len(self.warehouse.read(each, key))}  # fmt: skip

    def versions(self) -> dict[tuple[str, str, str], str]:
        """Versions of what follows the selection, by asset, model and passage."""
        rows = self.warehouse.read("materialization", columns=["asset", "model", "passage", "version"])
        later = rows.filter(~pl.col("asset").is_in(list(BEFORE | OF_A_SAMPLE)), pl.col("passage") != "")
        return {(asset, model, passage): version for asset, model, passage, version in later.iter_rows()}

    def moved(self) -> set[str]:
        """Passages with a downstream partition of the selection that appeared, vanished or changed since the last
        call."""
        before, self._versions = self._versions, self.versions()
        return {key[2] for key, _ in before.items() ^ self._versions.items()}


@pytest.fixture
def stage(ruled: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, systems: RuleSystems) -> Stage:
    return Stage(ruled, instance, warehouse, systems)


def later(told: Iterable[tuple[str, str]]) -> set[str]:
    """Passages that were reported of an asset that follows the selection."""
    apart = BEFORE | OF_A_SAMPLE
    return {partition.rpartition("|")[2] for asset, partition in told if asset not in apart} - {"", MODEL}


def test_what_is_dropped_has_no_reference_and_no_output_and_no_system_is_asked(stage: Stage) -> None:
    assert stage.reasons() == {SHORT: ["short"], INCOMPLETE: ["incomplete"]}
    assert sorted(stage.systems.asked()) == [f"{MODEL}|{passage}" for passage in (*KEPT, *PASSAGES)]
    for passage in (SHORT, INCOMPLETE):
        assert stage.holds(passage) == set()
    for passage in KEPT:
        assert {"reference", "reference_envelope", "model_output", "drift_score"} <= stage.holds(passage)
    assert stage.due() == []


@pytest.mark.large
@pytest.mark.proof
def test_a_filter_that_is_switched_off_brings_in_what_it_dropped_and_switched_on_takes_it_out(
    stage: Stage, strict: Path
) -> None:
    stage.systems.asked()
    edit(strict, {"filters": FILTERS | {"min_characters": None}})
    told = stage.up_to_date()
    assert stage.selected() == sorted([*KEPT, SHORT])
    assert later(told) == {SHORT}
    assert stage.moved() == {SHORT}
    assert stage.systems.asked() == [f"{MODEL}|{SHORT}"]
    assert {"reference", "model_output", "lexical_score"} <= stage.holds(SHORT)

    edit(strict, {"filters": FILTERS})
    told = stage.up_to_date()
    assert stage.selected() == KEPT
    assert later(told) == {SHORT}
    assert stage.moved() == {SHORT}
    assert stage.systems.asked() == []
    assert stage.holds(SHORT) == set()


def test_another_threshold_that_drops_the_same_leaves_all_that_follows_fresh(stage: Stage, strict: Path) -> None:
    stage.systems.asked()
    edit(strict, {"filters": FILTERS | {"min_characters": 13}})
    told = stage.up_to_date()
    assert {passage for asset, passage in told if asset == "passage_filter"} == {
        *KEPT, SHORT, INCOMPLETE,
    }  # fmt: skip
    assert later(told) == set()
    assert stage.moved() == set()
    assert stage.systems.asked() == []


@pytest.mark.proof
@pytest.mark.large
def test_an_edit_that_makes_a_passage_repeat_another_drops_it(stage: Stage, strict: Path) -> None:
    stage.systems.asked()
    source = strict.parent / "root/la/test/two_root-la-test.json"
    edit(source, {"two:2.1": SOURCES["two"]["two:1.1"]})
    stage.up_to_date()
    repeats = stage.warehouse.read("near_duplicate", columns=["passage", "corpus", "kept", "similarity"]).rows()
    assert repeats == [("strict/two:2", "strict", "strict/two:1", 1.0)]
    assert stage.reasons() == {SHORT: ["short"], INCOMPLETE: ["incomplete"], "strict/two:2": ["duplicate"]}
    assert stage.systems.asked() == []
    assert stage.holds("strict/two:2") == set()
    assert stage.moved() == {"strict/two:2"}

    edit(source, {"two:2.1": SOURCES["two"]["two:2.1"]})
    stage.up_to_date()
    assert stage.warehouse.read("near_duplicate").is_empty()
    assert stage.selected() == KEPT
    assert stage.systems.asked() == [f"{MODEL}|strict/two:2"]


@pytest.mark.proof
@pytest.mark.large
def test_a_reference_that_leaves_the_description_is_asked_of_no_passage(stage: Stage, strict: Path) -> None:
    """Of `one:3` there never was a text by Ben: no row of it changes."""
    stage.systems.asked()
    references = json.loads(strict.read_text())["references"]
    edit(strict, {"references": {"ann": references["ann"]}})
    stage.up_to_date()
    assert stage.reasons() == {SHORT: ["short"]}
    assert stage.systems.asked() == [f"{MODEL}|{INCOMPLETE}"]


@pytest.mark.proof
@pytest.mark.large
def test_filters_of_one_corpus_are_nothing_to_another(stage: Stage, strict: Path) -> None:
    before = {table: stage.warehouse.read(table) for table in ("reference", "reference_envelope", "model_output")}
    edit(strict, {"filters": FILTERS | {"min_characters": 10_000}})
    told = stage.up_to_date()
    assert stage.selected() == []
    assert stage.selected("tiny/") == PASSAGES
    assert stage.moved() == set(KEPT)
    assert later(told) == set(KEPT)
    for table, rows in before.items():  # with the time at which they were written
        assert stage.warehouse.read(table).equals(rows.filter(pl.col("passage").str.starts_with("tiny/"))), table


def test_stages_run_over_a_range_with_dropped_passages_in_it(
    stage: Stage, strict: Path, definitions: dg.Definitions
) -> None:
    edit_segment(strict, "ann", "one:1.1", "One big mouse is running across the field.")
    runs.look(stage.definitions, stage.instance)
    assert run(stage.definitions, stage.instance, "references", ("strict/one:1", "strict/two:2")).success
    assert stage.moved() == {"strict/one:1"}


def test_the_command_line_says_how_many_are_dropped_and_why_one_is(home: Path, strict: Path) -> None:
    told = here(home, "trace", "strict").stdout
    assert [line.split() for line in told.splitlines() if " short " in line] == [["strict", "short", "1", "1", "-"]]
    told = here(home, "trace", SHORT).stdout
    words: dict[str, Any] = {line.split()[1]: line.split()[2:] for line in told.splitlines() if SHORT in line}
    assert (words["selected"], words["reasons"], words["shortest"]) == (["false"], ["short"], ["4"])
    assert here(home, "trace", "one:3").stdout == here(home, "trace", INCOMPLETE).stdout
    fault = here(home, "trace", "strict/one:9", code=1).stderr
    assert "strict/one:9" in fault
    assert "no such passage" in fault
