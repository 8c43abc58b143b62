"""Edits of the files of a corpus: what each kind recomputes and writes, and that a home ends as a new one begins."""

import json
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
import yaml

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources import catalogue
from resources.changes import LOG
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import PROJECT
from resources.warehouse import Warehouse
from tests.alignment.words import WordEmbedder
from tests.corpus.prose import DORA
from tests.support import MODELS, LetterEmbedder, copy_finished, made_home
from tests.systems import rule_systems

BESIDE = ("embedding", "materialization", "state_sum", "model_call")
"""Tables that are not results: a cache, the bookkeeping, the accounts."""


LENIENT = {
    "min_characters": 1, "max_similarity": 1.0, "max_length_ratio": 20.0, "max_duplicate": 0.95, "complete": False,
    "verified": False,
}  # fmt: skip
"""Filters that short passages pass."""


def rewrite(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON or YAML file in place."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def files(corpus: Path, pattern: str) -> list[Path]:
    return sorted(corpus.rglob(pattern))


def lengthen(path: Path) -> None:
    """Add a word to the segment in the middle of a file."""

    def change(segments: dict[str, str]) -> None:
        segments[list(segments)[len(segments) // 2]] += " Amen."

    rewrite(path, change)


def edit_source(corpus: Path) -> None:
    lengthen(files(corpus, "*_root-*.json")[0])


def edit_guide(corpus: Path) -> None:
    lengthen(files(corpus, "*_translation-*.json")[0])


def edit_prose(corpus: Path) -> None:
    path = files(corpus, "*.txt")[0]
    words = path.read_text(encoding="utf-8").split(" ")
    words[len(words) // 2] += " indeed"
    path.write_text(" ".join(words), encoding="utf-8")


def correct(corpus: Path) -> None:
    segment = list(json.loads(files(corpus, "*_root-*.json")[0].read_text(encoding="utf-8")))[-1]
    description = corpus / "corpus.yaml"
    references = yaml.safe_load(description.read_text(encoding="utf-8"))["references"]
    translator = next(name for name, entry in references.items() if entry.get("layout") == "text")
    line = {"segment": segment, "translator": translator, "text": None}
    (corpus / "corrections.jsonl").write_text(json.dumps(line), encoding="utf-8")
    rewrite(description, lambda content: content.update(corrections="corrections.jsonl"))


def change_licence(corpus: Path) -> None:
    def change(content: dict[str, Any]) -> None:
        reference = content["references"][min(content["references"])]
        reference["licence"] += "!"

    rewrite(corpus / "corpus.yaml", change)


def change_threshold(corpus: Path) -> None:
    def change(content: dict[str, Any]) -> None:
        filters = content.setdefault("filters", LENIENT)
        filters["max_duplicate"] = round(filters["max_duplicate"] - 0.01, 2)

    rewrite(corpus / "corpus.yaml", change)


def last_passage(corpus: Path) -> str:
    """Id of the last passage of the last document."""
    segments = json.loads(files(corpus, "*_root-*.json")[-1].read_text(encoding="utf-8"))
    return str(list(segments)[-1]).rpartition(".")[0]


def remove_passage(corpus: Path) -> None:
    passage = last_passage(corpus)
    document = passage.partition(":")[0]
    for path in files(corpus, f"{document}_*.json"):
        segments = json.loads(path.read_text(encoding="utf-8"))
        left = {key: text for key, text in segments.items() if not key.startswith(f"{passage}.")}
        path.write_text(json.dumps(left), encoding="utf-8")
        if not left:
            path.unlink()
    if not files(corpus, f"{document}_*.json"):
        for path in files(corpus, f"prose/**/{document}.*"):
            path.unlink()


def add_passage(corpus: Path) -> None:
    document, _, number = last_passage(corpus).partition(":")
    for path in files(corpus, f"{document}_*.json"):
        rewrite(path, lambda segments: segments.update({f"{document}:{int(number) + 1}.1": "Carmen novum de sole."}))


KINDS: Mapping[str, Callable[[Path], None]] = {
    "a source segment": edit_source, "a guide's segment": edit_guide, "a word of prose": edit_prose,
    "a hand correction": correct, "a licence": change_licence, "a threshold of the filters": change_threshold,
    "a removed passage": remove_passage, "a new passage": add_passage,
}  # fmt: skip


def content(warehouse: Warehouse, *stamps: str) -> dict[str, pl.DataFrame]:
    """All tables but the log of changes, without the place of the home, and without the run that wrote a row and its
    time unless asked for."""
    with warehouse.consistently():
        return {
            name: warehouse.read(name, columns=[*(column for column in table.content if column != "home"), *stamps])
            for name, table in catalogue.tables().items()
            if name != LOG
        }


def definitions_of(home: Path, full: bool) -> tuple[Warehouse, dg.Definitions]:
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    resources = {
        "warehouse": warehouse, "embedder": WordEmbedder() if full else LetterEmbedder(),
        "systems": rule_systems(warehouse, home),
    }  # fmt: skip
    return warehouse, build_definitions(resource_overrides=resources)


def build(home: Path, description: Path, full: bool) -> Warehouse:
    """Import a corpus into a new home and materialize everything."""
    warehouse, definitions = definitions_of(home, full)
    register(warehouse, description)
    with dg.DagsterInstance.get() as instance:
        runs.look(definitions, instance)
        instance.add_dynamic_partitions("model", MODELS)
        runs.update(definitions, instance)
    return warehouse


def update(home: Path, full: bool) -> tuple[int, int, int, int]:
    """Update a home after an edit. Return the number of partitions that were computed, of tables without partitions
    among them, of rows that were written, and of rows that differ from the earlier ones."""
    warehouse, definitions = definitions_of(home, full)
    before = content(warehouse, "run_id", "updated_at")
    with dg.DagsterInstance.get() as instance:
        runs.look(definitions, instance)
        runs.update(definitions, instance)
    after = content(warehouse, "run_id", "updated_at")
    states = ["asset", "model", "passage", "task", "fingerprint"]
    computed = after["materialization"].join(before["materialization"], on=states, how="anti")
    written, different = 0, 0
    for table in sorted(set(after) - set(BESIDE)):
        stamps = list(catalogue.table(table).key), ["run_id", "updated_at"]
        changed = after[table].join(before[table], on=[*stamps[0], *stamps[1]], how="anti")
        rows = [frame.drop("fingerprint", *stamps[1]).rows(named=True) for frame in (after[table], before[table])]
        known = {repr(row) for row in rows[1]}
        differing = [row for row in rows[0] if repr(row) not in known]
        assert len(changed) == len(differing), table
        written, different = written + len(changed), different + len(differing)
    return len(computed), computed.filter(model="", passage="").height, written, different


def check_equal(home: Path, other: Warehouse) -> None:
    """Every table of a home equals that of another."""
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    ours, theirs = content(warehouse), content(other)
    for table in sorted(set(ours) - {"embedding", "model_call"}):  # vectors of texts that are gone; calls
        stamps = ["fingerprint"] if table == "unit_sum" else []
        assert ours[table].drop(stamps).equals(theirs[table].drop(stamps)), table


@pytest.mark.large
@pytest.mark.proof
def test_a_home_that_follows_edits_writes_what_differs_and_equals_a_new_one(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    corpus = tmp_path / "corpus"
    if full:
        shutil.copytree(PROJECT / "warehouse" / "dialogues", corpus)
        rewrite(corpus / "corpus.yaml", lambda entry: entry["references"]["osei"].pop("aligner"))
        home = made_home(monkeypatch, tmp_path / "edited")
        build(home, corpus / "corpus.yaml", full)
    else:
        shutil.copytree(finished / "corpus", corpus)
        home = tmp_path / "edited" / "home"
        copy_finished(finished, home, corpus / "corpus.yaml")
        made_home(monkeypatch, tmp_path / "edited")
        (corpus / "prose").mkdir()
        for document, text in DORA.items():
            (corpus / "prose" / f"{document}.txt").write_text(text, encoding="utf-8")
        prose = {"language": "en", "licence": "CC0-1.0", "layout": "text", "root": "prose", "numbering": r"\d+\."}
        rewrite(corpus / "corpus.yaml", lambda entry: entry["references"].update(dora=prose))

    dice = random.Random(19)
    singly = [[kind] for kind in KINDS] if full else []
    mixed = [dice.choices(list(KINDS), k=4) for _ in range(3)] if full else [list(KINDS)]
    print("\nedit | partitions computed | tables without partitions | rows written | rows that differ")
    for kinds in singly + mixed:
        for kind in kinds:
            KINDS[kind](corpus)
        print(" | ".join([", ".join(kinds), *map(str, update(home, full))]))

    check_equal(home, build(made_home(monkeypatch, tmp_path / "new"), corpus / "corpus.yaml", full))
