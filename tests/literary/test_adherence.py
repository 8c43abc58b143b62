"""What outputs have of a glossary: terms, shares with their intervals; and the assets of it."""

from pathlib import Path

import dagster as dg
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.corpus.units import FEWEST
from benchmark_assets.definitions import build_definitions
from benchmark_assets.literary.adherence import ADHERENCE, SUMMARY, adherence, of_outputs, summarize
from benchmark_assets.references.glossary import Term, rows
from benchmark_assets.translation.imports import import_outputs
from resources.warehouse import Warehouse
from tests.literary.conftest import Salon
from tests.literary.glossaries import CHUNKS, FIRST, SECOND, THIRD, write_chunks
from tests.support import CONSTRUCTION, CORE, LetterEmbedder, materialized, write_outputs

# Terms.


def test_only_terms_of_the_source_are_looked_for() -> None:
    terms = [Term("清", "Kiyo", "feminine"), Term("兄", "brother", None), Term("犬", "dog", None)]
    glossary = rows("n/1", terms, "model", "清と兄", "Kiyo came.")
    outputs = pl.DataFrame({"model": ["a", "b"], "passage": "n/1", "text": ["KIYO's brothers and her dog.", ""]})
    found = adherence(outputs, glossary)
    assert found.schema == ADHERENCE
    assert found.rows() == [
        ("a", "n/1", "清", "Kiyo", "feminine", True, True),
        ("a", "n/1", "兄", "brother", None, False, False),
        ("b", "n/1", "清", "Kiyo", "feminine", True, False),
        ("b", "n/1", "兄", "brother", None, False, False),
    ]
    assert adherence(outputs.with_columns(passage=pl.lit("n/2")), glossary).is_empty()


def test_a_chunk_that_a_model_declined_has_no_term(salon: Salon) -> None:
    passage = "novels/botchan:2"
    salon.store("refusal", [{"model": "silent", "passage": passage, "words": "I will not."}], "model", "passage")
    outputs = pl.DataFrame({"model": ["ours", "silent", "absent"], "passage": passage})
    found = of_outputs(salon.warehouse, outputs)
    assert found.select("model", "term", "present").sort("model").rows() == [
        ("ours", "清", True), ("silent", "清", False),
    ]  # fmt: skip


# Shares.


def counted(*chunks: tuple[str, str, int, int, int]) -> pl.DataFrame:
    """Rows of adherence: model, passage, number of terms, how many the output has, how many the human translation."""
    found = [
        (model, passage, f"t{i}", "x", None, i < human, i < present)
        for model, passage, terms, present, human in chunks
        for i in range(terms)
    ]
    rows = pl.DataFrame(found, schema=ADHERENCE, orient="row")
    return rows.with_columns(work=pl.lit("n"), unit="passage", unit_kind=pl.lit("passages"))


def test_shares_are_of_terms_and_intervals_of_chunks() -> None:
    found = summarize(
        counted(("a", "n/1", 9, 9, 8), ("a", "n/2", 1, 0, 1), ("a", "m/1", 4, 2, 4), ("b", "n/1", 9, 0, 0))
    )
    assert found.schema == SUMMARY
    first, second, third = found.iter_rows(named=True)
    assert (first["model"], first["corpus"], first["terms"], first["adherence"]) == ("a", "m", 4, 0.5)
    assert (first["adherence_low"], first["adherence_high"]) == (None, None)  # one chunk says nothing of others
    assert (second["terms"], second["present"], second["human_present"]) == (10, 9, 9)
    assert (second["adherence"], second["human_adherence"]) == (0.9, 0.9)
    assert (third["adherence"], third["human_adherence"]) == (0, 0)


def test_terms_without_a_human_translation_are_in_no_share() -> None:
    known = counted(("a", "n/1", 4, 2, 3))
    unknown = counted(("a", "n/2", 5, 5, 0)).with_columns(in_human=pl.lit(None, pl.Boolean))
    assert summarize(pl.concat([known, unknown])).equals(summarize(known))
    assert summarize(unknown).is_empty()


@given(st.lists(st.tuples(st.integers(1, 5), st.floats(0, 1)), min_size=1, max_size=12))
def test_a_share_lies_in_its_interval(chunks: list[tuple[int, float]]) -> None:
    found = summarize(
        counted(*(("a", f"n/{i}", terms, round(terms * share), 0) for i, (terms, share) in enumerate(chunks)))
    ).row(0, named=True)
    assert (found["adherence_low"] is None) is (len(chunks) < FEWEST)
    if len(chunks) >= FEWEST:
        assert 0 <= found["adherence_low"] <= found["adherence"] + 1e-9
        assert found["adherence"] - 1e-9 <= found["adherence_high"] <= 1


# The assets.


def test_from_a_file_and_outputs_to_shares(warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path) -> None:
    terms = tmp_path / "terms.csv"
    lines = [f"{FIRST},雨村,Yü-ts'un,masculine", f"{FIRST},如海,Ju-hai,masculine", f"{SECOND},清,Kiyo,feminine"]
    terms.write_text("\n".join(["passage,term,translation,gender", *lines]), encoding="utf-8")
    literary = {"human": "morri", "glossary": str(terms)}
    register(warehouse, write_chunks(tmp_path / "novel", "novel", "ja", "morri", CHUNKS, literary))
    definitions = build_definitions(
        rooms=CORE, resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder()}
    )
    runs.look(definitions, instance)
    texts = {"ch1:1": "Yü-ts'un met her.", "ch1:2": "Kiyo laughed.", "ch1:3": "Pao-yü stayed away."}
    import_outputs(warehouse, write_outputs(tmp_path / "ours.jsonl", texts), "novel", None)
    instance.add_dynamic_partitions("model", ["ours"])
    materialized(definitions, [*CONSTRUCTION, "glossary"], FIRST, THIRD)
    materialized(definitions, ["model_output", "term_adherence"], f"ours|{FIRST}", f"ours|{THIRD}")
    materialized(definitions, ["adherence_summary"], "ours", "ours")
    given = warehouse.read("term_adherence").drop("model", "translation", "fingerprint", "run_id", "updated_at")
    assert given.rows() == [
        (FIRST, "如海", "masculine", True, False),
        (FIRST, "雨村", "masculine", True, True),
        (SECOND, "清", "feminine", True, True),
    ]
    (total,) = warehouse.read("adherence_summary").iter_rows(named=True)
    assert (total["terms"], total["present"], total["human_present"]) == (3, 2, 3)
