"""What a package holds, what it must never hold, and how it comes to lie where it was asked for."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from benchmark_assets.corpus.registry import register
from benchmark_assets.reporting import latex, shared_task
from benchmark_assets.reporting.contents import CHECKSUMS, as_csv, as_parquet
from benchmark_assets.reporting.export import export
from benchmark_assets.translation.imports import import_outputs
from resources import catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.folders import PRIVATE
from resources.warehouse import Replacement, Warehouse
from tests.audit.stored import add
from tests.processes import variorum
from tests.support import MODELS, PASSAGES, SOURCES, TRANSLATIONS, copy_finished, examples, made_once, restrict

ALIGNED = ["dora", "eve"]
TEXTS = ["source", *TRANSLATIONS, *ALIGNED]
QUOTING = {
    "source_text": ["segments", "text"],
    "segmented_reference": ["segments", "flag"],
    "prose": ["text"],
    "aside": ["text"],
    "continuous_reference": ["corrections"],
    "alignment": ["segments"],
    "verification": ["evidence"],
    "reference": ["text"],
}
"""Columns that hold words of a text, and are in a package that has this text."""

NEVER = {
    "alignment": ["doubt"],
    "unassigned": ["text"],
    "reference": ["flag"],
    "continuous_reference": ["whole"],
    "corpus": ["description", "home"],
    "imported_output": ["text", "file"],
    "imported_file": ["file", "settings", "usage"],
    "refusal": ["words"],
    "model_call": ["run", "place", "detail", "correction"],
    "study_call": ["item", "call"],
    "materialization": ["made_from"],
    "damaged_text": ["text"],
    "output_diagnostic": ["evidence"],
    "judge_vote": ["cause", "evidence", "problem_phrase", "correction", "abstention"],
    "human_label": ["notes", "annotator"],
    "imported_label": ["notes", "file", "annotator"],
    "label_quarantine": ["file", "annotator", "reason"],
    "annotator_consistency": ["annotator"],
    "annotation_agreement": ["first", "second"],
    "control_item": ["text"],
    "imported_annotation": ["annotator", "file"],
    "imported_span": ["annotator", "text"],
    "human_span_vote": ["annotator"],
    "match_label": ["note", "annotator"],
    "human_error_span": ["annotator", "text"],
    "sentinel": ["abstention"],
    "rater_agreement": ["first", "second"],
    "rater_model": ["rater"],
    "base_set": ["folder"],
    "benchmark": ["parts", "left_out", "recipe", "home"],
    "anchor_output": ["text"],
    "comparison": ["excluded"],
    "memory_vote": ["reply", "abstention"],
    "rubric_vote": ["justification", "abstention"],
    "span_vote": ["abstention"],
    "error_span": ["text"],
    "source_text": ["previous", "following"],
    "glossary": ["term", "translation"],
    "term_adherence": ["term", "translation"],
    "aspect_vote": ["justification", "abstention"],
    "pair_control": ["annotator", "note"],
    "pair_label": ["annotator", "note"],
    "report": ["file"],
    "task": ["description", "root", "home"],
    "task_sample": ["texts"],
    "task_span": ["text"],
    "imported_answer": ["answer", "file"],
    "answer": ["how"],
    "answer_span": ["text"],
}
"""Columns with words that no package has: they may quote any text, or name places of the machine."""


def content(folder: Path) -> dict[str, bytes]:
    """Files of a package by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def holding(folder: Path, words: Iterable[str]) -> set[str]:
    """Which of the words stand in a file, or in the name of one; Parquet is looked at decoded, too."""
    parts = [path.encode() + b"\n" + text for path, text in content(folder).items()]
    parts += [pl.read_parquet(path).write_json().encode() for path in folder.rglob("*.parquet")]
    whole = b"\n".join(parts)
    return {word for word in words if word.encode() in whole}


@pytest.fixture
def stored(finished: Path, warehouse: Warehouse, home: Path, corpus: Path) -> Warehouse:
    """A finished warehouse of three segmented translations and, written row by row, two continuous ones."""
    described = json.loads(corpus.read_text(encoding="utf-8"))
    described["references"] |= {name: {"language": "en", "licence": "CC0-1.0", "layout": "text"} for name in ALIGNED}
    corpus.write_text(json.dumps(described), encoding="utf-8")
    shutil.rmtree(home)
    copy_finished(made_once("stored", lambda folder: fill(finished, folder)), home, corpus)
    return warehouse


def fill(finished: Path, folder: Path) -> None:
    shutil.copytree(finished / "home", folder / "home", symlinks=True)
    warehouse = DuckDBWarehouse(path=str(folder / "home" / "variorum.duckdb"))
    for name in ALIGNED:
        key = {"passage": PASSAGES[2], "translator": name}
        place = {"corpus": "tiny", "document": "doc2", "translator": name}
        add(warehouse, "prose", {**place, "text": f"{name} says it in prose."})
        add(
            warehouse,
            "aside",
            {**place, "segment_id": "", "position": 0, "kind": "note", "place": 4, "text": f"{name} adds."},
        )
        add(warehouse, "continuous_reference",
            {**key, **place, "whole": "hash", "corrections": json.dumps({"doc2:1.1": f"{name} mended"})})  # fmt: skip
        add(warehouse, "alignment",
            {**key, "segments": [f"{name} aligned"], "starts": [0], "ends": [9], "likeness": [0.5],
             "methods": ["embedding"], "confidence": 0.4, "doubt": "why"})  # fmt: skip
        add(warehouse, "verification",
            {**key, "segment_id": "doc2:1.1", "stage": "expanded", "start_at": 0, "end_at": 9, "similarity": 1.0,
             "in_order": True, "evidence": f"{name} wrote so"})  # fmt: skip
        add(warehouse, "reference", {**key, "text": f"{name} aligned", "complete": True})
    add(warehouse, "refusal", {"model": "shy", "passage": PASSAGES[0], "words": "no"})
    add(warehouse, "imported_file",
        {"model": "alpha", "corpus": "tiny", "file": "f", "outputs": 1, "settings": "{}", "usage": "{}"})  # fmt: skip
    add(warehouse, "imported_output", {"model": "alpha", "passage": PASSAGES[0], "text": "t", "file": "f"})
    add(warehouse, "study_call",
        {"study": "s", "model": "alpha", "passage": PASSAGES[0], "task": "", "item": "b", "call": "c"})  # fmt: skip
    output = {"model": "alpha", "passage": PASSAGES[0]}
    judgement = {"label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low", "confidence": "high"}
    words = dict.fromkeys(["cause", "evidence", "problem_phrase", "correction", "abstention"], "w")
    add(warehouse, "judge_vote", {**output, "judge": "j", **judgement, **words})
    label = {"annotator": "who@where", **judgement, "notes": "n"}
    add(warehouse, "human_label", {**output, **label})
    add(warehouse, "imported_label", {"item": "i", **label, "file": "f"})
    add(warehouse, "label_quarantine", {"file": "f", "place": 1, "item": "i", "annotator": "who", "reason": "why"})
    add(warehouse, "rater_agreement",
        {"corpus": "tiny", "scope": "sample", "kind": "people", "first": "who@where", "second": "who@else",
         "outputs": 1, "signature": "s"})  # fmt: skip
    add(warehouse, "rater_model",
        {"corpus": "tiny", "kind": "people", "rater": "who@alone", "outputs": 1, "signature": "s"})  # fmt: skip
    add(warehouse, "model_call",
        {"attempt": 1, "call": "c", "replicate": 0, "run": "r", "model": "alpha", "purpose": "translate", "place": "p",
         "asked": datetime(2026, 1, 1), "detail": "d", "reserved": 0.0})  # fmt: skip


@pytest.fixture
def marked(stored: Warehouse) -> dict[str, set[str]]:
    """A word of its own in each column of QUOTING and NEVER for each text; by text, and those that no package has."""
    words: dict[str, set[str]] = {text: set() for text in [*TEXTS, "never"]}
    for table in sorted({*QUOTING, *NEVER} - {"corpus"}):
        rows = stored.read(table).drop("run_id", "updated_at").to_dicts()
        for row in rows:
            text = row.get("translator", "source")
            for column in QUOTING.get(table, []):
                word = f"zq.{table}.{column}.{text}.qz"
                row[column] = said(row[column], word)
                words[text].add(word)
            for column in NEVER.get(table, []):
                row[column] = said(row[column], word := f"zq.{table}.{column}.qz")
                words["never"].add(word)
        schema = stored.empty(table).schema
        stored.write([Replacement(table, pl.DataFrame(rows, schema=schema), None)], run_id="test")
    words["never"].add(stored.read("corpus")["description"][0].rpartition("/")[0])
    return words


def said(value: Any, word: str) -> Any:
    """A value of a column with a word more."""
    if isinstance(value, list):
        return [*value[:-1], f"{value[-1]} {word}"]
    if value and value.startswith("{"):
        return json.dumps(json.loads(value) | {"more": word})
    return f"{value or ''} {word}"


@settings(examples(5), suppress_health_check=[HealthCheck.function_scoped_fixture])  # each writes two packages
@given(restricted=st.sets(st.sampled_from(TEXTS)))
@example(restricted=set(TEXTS))
@example(restricted=set())
def test_no_word_of_a_restricted_text_is_in_a_public_package(
    marked: dict[str, set[str]], stored: Warehouse, corpus: Path, tmp_path: Path, restricted: set[str]
) -> None:
    restrict(corpus, *restricted)
    for folder in ("public", "private"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
        assert set(export(stored, tmp_path / folder, "tiny", folder == "private")) == restricted
    words = {word for text in TEXTS for word in marked[text]}
    known = words | marked["never"]
    assert holding(tmp_path / "public", known) == {w for text in set(TEXTS) - restricted for w in marked[text]}
    assert holding(tmp_path / "private", known) == words


def test_no_word_of_a_restricted_text_is_in_tables_for_papers_or_a_test_set(
    marked: dict[str, set[str]], stored: Warehouse, corpus: Path, tmp_path: Path
) -> None:
    known = {word for words in marked.values() for word in words}
    restrict(corpus, "source", "cleo", "dora")
    latex.write(stored, tmp_path / "latex", "tiny")
    assert holding(tmp_path / "latex", known) == set()
    shared_task.write(stored, tmp_path / "private", "tiny", private=True)
    assert holding(tmp_path / "private", known) & marked["cleo"]
    restrict(corpus, "cleo", "dora")
    shared_task.write(stored, tmp_path / "public", "tiny")
    found = holding(tmp_path / "public", known)
    assert found & marked["ann"]
    assert found & marked["source"]
    assert not found & (marked["cleo"] | marked["dora"] | marked["never"])


def test_parquet_and_csv_hold_the_same(stored: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    export(stored, folder, "tiny")
    names = {path.stem for path in folder.glob("*.csv")} - {"dictionary"}
    assert names == {path.stem for path in (folder / "parquet").iterdir()}
    for name in names:
        rows = pl.read_parquet(folder / f"parquet/{name}.parquet")
        assert as_csv(rows) == (folder / f"{name}.csv").read_bytes()
        parts = [rows.slice(at, 2) for at in range(0, len(rows), 2)]
        assert as_parquet(pl.concat(parts, rechunk=False) if parts else rows) == as_parquet(rows)


def test_every_column_that_may_hold_words_is_looked_at(warehouse: Warehouse) -> None:
    """A new column is to be named here: as quoting a text, as never exported, or as a name, a kind or a hash."""
    names = {
        "asset", "model", "passage", "version", "fingerprint", "corpus", "passage_id", "document", "language",
        "translator", "other", "segment_ids", "segment_id", "licence", "kept", "reasons", "reason", "kind", "stage",
        "methods", "embedder", "text_hash", "closest_reference", "signature", "system", "source_language",
        "target_language", "filters", "aligners", "call", "purpose", "outcome", "finish", "effort", "served_model",
        "served_provider", "parsing", "measure", "other_kind", "dimension", "slice", "statistic",
        "metric", "rule", "note", "sensitivity", "memory", "audit", "scoring", "tokenizer", "inputs",
        "figure", "gold_set", "unit_kind", "doubt", "view", "stratum",
        "grouping", "ordered_by", "better_than", "equal_to", "worse_than", "open", "band", "item", "judge", "label",
        "error_category",
        "severity", "confidence", "raters", "level", "scope", "region", "ranking", "people", "judged", "why", "rubric",
        "spans", "side", "category",
        "base_set", "name", "settings", "content", "direction", "difficulty", "source_hash", "anchor", "first",
        "second", "winner", "shown", "problem", "contract",
        "task", "split", "sample", "type", "located", "class", "gold", "predicted", "baseline", "partner", "steps",
        "nearest", "missing", "source", "literary", "gender", "after", "before",
        "benchmark", "origin", "aspect", "better", "verdict", "interval_of", "machine_hash", "human_hash", "study",
        "output_hash", "anchor_hash", "prefilled",
        "judge_standing", "standing", "part_of", "part", "trait", "choice", "original", "examination", "addressing",
        "selections", "length_problem", "correction_problem", "system_fingerprint", "protocol", "shard",
        "recipe_hash", "title", "corpora", "tasks", "systems", "url", "commit", "sha256", "taxonomy",
        "prompt", "apart", "basis", "file", "comet", "paper_table", "row", "column", "place", "published", "link",
        "entry", "units", "embedders", "models", "translators", "items",
        "copied_from", "subject", "role",
    }  # fmt: skip
    texts = {
        (table, column)
        for table in catalogue.tables()
        for column, kind in warehouse.empty(table).schema.items()
        if kind in (pl.String, pl.List(pl.String)) and column not in names
    }
    asked = {(table, column) for each in (QUOTING, NEVER) for table, columns in each.items() for column in columns}
    kinds = {(table, "answer") for table in ("human_difference", "system_comparison", "understanding_comparison")}
    assert (
        texts - asked == {("model_output", "text"), ("pair_doubt", "evidence")} | kinds
    )  # the evidence quotes no text


def test_a_restricted_text_is_known_by_its_length_and_hash(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    restrict(corpus, "source", "cleo", "dora")
    export(stored, tmp_path / "package", "tiny")
    source = records(tmp_path / "package" / "source.jsonl")[1]
    text = SOURCES["doc1"]["doc1:2.1"]
    assert source == {
        "passage_id": "doc1:2", "document": "doc1", "position": 1, "segment_ids": ["doc1:2.1"], "language": "la",
        "licence": "all rights reserved", "restricted": True, "characters": len(text),
        "sha256": sha256(text.encode()).hexdigest(),
    }  # fmt: skip
    cleo, ann = (
        next(each for each in records(tmp_path / "package" / "references.jsonl")
             if (each["passage_id"], each["translator"]) == ("doc1:1", name))
        for name in ("cleo", "ann")
    )  # fmt: skip
    text = "Off the mouse goes. Puss stays put."
    assert (cleo["characters"], cleo["sha256"]) == (len(text), sha256(text.encode()).hexdigest())
    assert "segments" not in cleo
    assert ann["segments"] == ["A mouse runs.", "The cat sits."]
    assert ann["licence"] == "CC0-1.0"
    found = pl.read_csv(tmp_path / "package" / "verification.csv")
    assert found.select("translator", "stage", "evidence").rows() == [
        ("dora", "expanded", None), ("eve", "expanded", "eve wrote so"),
    ]  # fmt: skip


def test_a_private_package_is_the_public_one_and_a_folder_more(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    restrict(corpus, "cleo", "dora")
    export(stored, tmp_path / "public", "tiny")
    export(stored, tmp_path / "private", "tiny", private=True)
    public, private = content(tmp_path / "public"), content(tmp_path / "private")
    about = {"README.md", "LICENCES.md", CHECKSUMS, "croissant.json", "datacite.json", "datapackage.json"}
    shared = {path: whole for path, whole in private.items() if not path.startswith(f"{PRIVATE}/")}
    assert {path for path in shared if shared[path] != public.get(path)} == about
    assert set(shared) == set(public)
    assert b"do not pass on" in private["README.md"].splitlines()[0]
    assert b"do not pass on" not in public["README.md"]
    held = records(tmp_path / "private" / PRIVATE / "references.jsonl")
    assert {each["translator"] for each in held} == {"cleo", "dora"}


def test_who_has_no_licence_is_restricted(stored: Warehouse, tmp_path: Path) -> None:
    add(stored, "segmented_reference",
        {"passage": PASSAGES[2], "translator": "nobody", "segments": ["A stranger's words."]})  # fmt: skip
    assert export(stored, tmp_path / "package", "tiny") == ["nobody"]
    assert holding(tmp_path / "package", ["stranger"]) == set()
    assert "| nobody | unknown | yes |" in (tmp_path / "package" / "LICENCES.md").read_text()


def test_an_unknown_licence_is_said_and_never_called_public(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    described = json.loads(corpus.read_text(encoding="utf-8"))
    described["references"]["ann"]["licence"] = described["source"]["licence"] = "unknown"
    corpus.write_text(json.dumps(described), encoding="utf-8")
    export(stored, tmp_path / "package", "tiny")
    readme = (tmp_path / "package" / "README.md").read_text(encoding="utf-8")
    assert "Licence unknown, so find out whether you may pass it on: source, ann." in readme
    assert "public" not in next(line for line in readme.splitlines() if line.startswith("# "))
    assert "| ann | unknown | no | yes |" in (tmp_path / "package" / "LICENCES.md").read_text(encoding="utf-8")


def test_an_output_that_repeats_a_restricted_text_is_withheld(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    text = "Off goes the mouse behind the oven, while the cat on the sill keeps her seat and stays put."
    add(stored, "reference", {"passage": PASSAGES[0], "translator": "mora", "text": text, "complete": True})
    by_heart = text.replace(",", "; «then»")
    add(stored, "model_output", {"model": "parrot", "passage": PASSAGES[0], "text": by_heart},
        {"model": "parrot", "passage": PASSAGES[1], "text": "The sun is up."})  # fmt: skip
    export(stored, tmp_path / "public", "tiny")
    export(stored, tmp_path / "private", "tiny", private=True)
    index = pl.read_csv(tmp_path / "public" / "outputs.csv").filter(pl.col("model").is_in(["parrot", "shy"]))
    assert index.select("model", "passage_id", "status", "characters").rows() == [
        ("parrot", "doc1:1", "withheld", len(by_heart)),
        ("parrot", "doc1:2", "translated", 14),
        ("shy", "doc1:1", "refused", None),
    ]
    assert holding(tmp_path / "public", ["keeps her seat"]) == set()
    assert records(tmp_path / "private" / PRIVATE / "outputs.jsonl") == [
        {"model": "parrot", "passage_id": "doc1:1", "translation": by_heart}
    ]


def test_the_same_warehouse_gives_the_same_bytes(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    restrict(corpus, "dora")
    export(stored, tmp_path / "one", "tiny", private=True)
    for table in catalogue.tables():
        rows = stored.read(table).drop("run_id", "updated_at").reverse()
        stored.write([Replacement(table, rows, None)], run_id="another")
    export(stored, tmp_path / "other", "tiny", private=True)
    assert content(tmp_path / "one") == content(tmp_path / "other")


def test_sha256sum_accepts_the_package_and_notices_a_change(stored: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    export(stored, folder, "tiny")
    check = ["sha256sum", "--check", "--strict", CHECKSUMS]
    done = subprocess.run(check, cwd=folder, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(content(folder)) - 1
    (folder / "scores.csv").write_text("other\n")
    assert subprocess.run(check, cwd=folder, capture_output=True).returncode == 1


def test_what_is_in_the_tables_is_in_the_package(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    add(stored, "near_duplicate", {"passage": PASSAGES[1], "corpus": "tiny", "kept": PASSAGES[0], "similarity": 0.9})
    corpus.write_text(json.dumps(json.loads(corpus.read_text(encoding="utf-8")) | {"filters": {}}), encoding="utf-8")
    register(stored, corpus)
    export(stored, tmp_path / "package", "tiny")
    tables = {path.name: pl.read_csv(path) for path in (tmp_path / "package").glob("*.csv")}
    passages = tables["passages.csv"]
    assert passages["passage_id"].to_list() == ["doc1:1", "doc1:2", "doc2:1"]
    assert passages["segment_ids"].str.json_decode(pl.List(pl.String)).to_list() == [list(SOURCES["doc1"])[:2],
        list(SOURCES["doc1"])[2:], list(SOURCES["doc2"])]  # fmt: skip
    lengths = tables["references.csv"]
    assert lengths.filter(translator="ann")["characters"].to_list() == [len("A mouse runs. The cat sits."), 14, 20]
    assert lengths.filter(translator="eve").rows() == [("doc2:1", "eve", len("eve aligned"))]
    assert passages["selected"].all()
    scores = tables["scores.csv"]
    stored_scores = stored.read("drift_score")
    assert scores.select("model", "passage_id").rows() == [(m, p.partition("/")[2]) for m in MODELS for p in PASSAGES]
    assert scores["drift"].to_list() == stored_scores["drift"].to_list()
    statistics = scores["chrf_statistics"].str.json_decode(pl.List(pl.Int64)).to_list()
    assert statistics == stored.read("lexical_score")["chrf_statistics"].to_list()
    board = tables["leaderboard.csv"]
    assert board["kind"].to_list() == ["model"] * 2 + ["human"] * 3
    assert board["rank"].null_count() == 5  # nothing orders them
    assert tables["near_duplicates.csv"].rows() == [("doc1:2", "doc1:1", 0.9)]
    assert tables["funnel.csv"].row(0) == (0, "all passages", 0, 0, len(PASSAGES))
    assert records(tmp_path / "package" / "prose.jsonl")[0]["asides"] == [
        {"kind": "note", "place": 4, "text": "dora adds."}
    ]


def test_a_model_can_be_had_back_from_its_file(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    names = ["google/gemini", "google:gemini", "google-gemini", ".."]
    texts = {name: f'By {name},\u2028a line\nand "quotes".' for name in names}
    add(stored, "model_output", *({"model": n, "passage": PASSAGES[2], "text": text} for n, text in texts.items()))
    export(stored, tmp_path / "package", "tiny")
    files = {unquote(path.stem): path for path in (tmp_path / "package" / "outputs").iterdir()}
    assert set(files) == {*MODELS, *names}
    other = DuckDBWarehouse(path=str(tmp_path / "other.duckdb"))
    register(other, corpus)
    other.write([Replacement("source_text", stored.read("source_text").drop("run_id", "updated_at"), None)], "test")
    for name in names:
        import_outputs(other, files[name], "tiny", name)
    assert dict(other.read("imported_output", columns=["model", "text"]).iter_rows()) == texts


def test_outputs_of_an_earlier_source_are_counted_and_their_texts_left_out(stored: Warehouse, tmp_path: Path) -> None:
    export(stored, tmp_path / "package", "tiny")
    assert "earlier source" not in (tmp_path / "package" / "README.md").read_text(encoding="utf-8")
    earlier = {"model": "late", "text": "Of an earlier text.", "file": "f", "source_hash": "0" * 64}
    add(stored, "imported_output", *({**earlier, "passage": passage} for passage in PASSAGES[:2]))
    export(stored, tmp_path / "package", "tiny")
    readme = (tmp_path / "package" / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Outputs of an earlier source")[2].partition("## ")[0]
    assert section.split("\n")[-5:-2] == ["| model | corpus | passages |", "| --- | --- | --- |", "| late | tiny | 2 |"]
    assert not holding(tmp_path / "package", [earlier["text"]])


def test_a_former_export_is_replaced_and_nothing_else_is(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "exports" / "package"
    export(stored, folder, "tiny", private=True)
    export(stored, folder, "tiny")
    assert not (folder / PRIVATE).exists()
    before = content(folder)
    with pytest.raises(BadInput, match="contains a public"):
        export(stored, folder, "tiny", private=True)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"notes\.txt: was added or modified after the earlier export"):
        export(stored, folder, "tiny")
    (folder / "notes.txt").unlink()
    with pytest.raises(BadInput, match="no such corpus in this warehouse"):
        export(stored, folder, "absent")
    assert content(folder) == before
    (folder / "scores.csv").write_text("mine")
    with pytest.raises(BadInput, match=r"scores\.csv: was added or modified after the earlier export"):
        export(stored, folder, "tiny")
    assert [each.name for each in folder.parent.iterdir()] == ["package"]


@pytest.mark.parametrize("readme", [None, b"# Mine", b"\xff\xfe"])
def test_a_folder_of_others_is_refused(stored: Warehouse, tmp_path: Path, readme: bytes | None) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / CHECKSUMS).write_text("")
    if readme is not None:
        (folder / "README.md").write_bytes(readme)
    before = content(folder)
    with pytest.raises(BadInput, match="already exists and is not a Variorum export"):
        export(stored, folder, "tiny")
    assert content(folder) == before


def test_a_place_that_cannot_be_written_is_named(stored: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        export(stored, tmp_path / "file" / "package", "tiny")


def test_rights_that_cannot_be_read_are_no_rights(stored: Warehouse, corpus: Path, tmp_path: Path) -> None:
    corpus.unlink()
    with pytest.raises(BadInput, match=r"corpus\.yaml"):
        export(stored, tmp_path / "package", "tiny")
    assert not (tmp_path / "package").exists()


@pytest.mark.proof
@pytest.mark.large
def test_the_command_says_what_it_left_out(stored: Warehouse, corpus: Path, home: Path, tmp_path: Path) -> None:
    restrict(corpus, "source", "cleo")
    public = variorum(home, "export", str(tmp_path / "public"), "tiny")
    assert public.stdout == f"{tmp_path / 'public'}: restricted texts left out: source, cleo\n"
    private = variorum(home, "export", str(tmp_path / "private"), "tiny", "--private")
    assert "DO NOT PASS ON" in private.stdout
    assert (tmp_path / "private" / PRIVATE).is_dir()
    refused = variorum(home, "export", str(tmp_path / "none"), "absent", code=1)
    assert "absent: no such corpus in this warehouse" in refused.stderr
