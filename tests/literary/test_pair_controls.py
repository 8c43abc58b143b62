"""Control items among pairs: what people see, what never becomes a preference, and what answers say about people."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.definitions import build_definitions
from benchmark_assets.examination import assets as examination
from benchmark_assets.literary.pairs import COLUMNS, SentPair, applicable, export_pairs, import_pairs
from benchmark_assets.people import assets as people
from benchmark_assets.people.controls import CHECKED, REPEATED
from resources.digest import digest
from resources.harmless import unguarded
from tests.literary.conftest import Salon
from tests.support import CORE

NUMBER = 120
"""Number of pairs."""

HUMAN = {f"novels/part:{n}": f"Person wrote line {n} thus{n}" for n in range(NUMBER)}
OURS = {f"novels/part:{n}": f"machine{n} sentence{n} output{n}" for n in range(NUMBER)}
CHECKS = NUMBER // CHECKED

Row = dict[str, str]


@pytest.fixture
def library(salon: Salon) -> Salon:
    """A corpus in which one model translated every passage."""
    sources = [
        {"passage": passage, "corpus": "novels", "passage_id": passage.removeprefix("novels/"), "document": "part",
         "position": n, "language": "ja", "segment_ids": [passage], "segments": [f"文{n}"], "text": f"文{n}"}
        for n, passage in enumerate(HUMAN)
    ]  # fmt: skip
    salon.store("source_text", sources, "corpus")
    humans = [
        {"passage": passage, "translator": "morri", "text": text, "complete": True} for passage, text in HUMAN.items()
    ]
    salon.store("reference", humans, "translator")
    salon.outputs("theirs", {})
    outputs = [{"model": "ours", "passage": passage, "text": text} for passage, text in OURS.items()]
    salon.store("model_output", outputs, "model")
    return salon


def sheet(file: Path) -> list[Row]:
    rows = csv.DictReader(io.StringIO(file.read_text(encoding="utf-8-sig")))
    return [{name: unguarded(cell) for name, cell in row.items()} for row in rows]


def export(library: Salon, annotator: str) -> tuple[Path, SentPair]:
    file = library.folder / f"{annotator}.csv"
    return file, export_pairs(library.warehouse, file, "novels", annotator)


def answered(file: Path, answer: Callable[[Row], str]) -> Path:
    """Fill in every row of a file, as a person who gives this answer."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(row | {"better": answer(row)} for row in sheet(file))
    file.write_text(text.getvalue(), encoding="utf-8")
    return file


def passage_of(row: Row) -> str:
    return f"novels/part:{row['source'].removeprefix('文')}"


def checks_attention(row: Row) -> bool:
    return OURS[passage_of(row)] not in (row["A"], row["B"])


def attentive(row: Row) -> str:
    """Prefer the text of the passage if only one is, else the output of every third passage."""
    human = "A" if row["A"] == HUMAN[passage_of(row)] else "B"
    machine = "BA"["AB".index(human)]
    return machine if int(row["source"].removeprefix("文")) % 3 == 0 and not checks_attention(row) else human


def consistency(library: Salon) -> pl.DataFrame:
    definitions = build_definitions(
        rooms=[*CORE, examination, adjudication, people], resource_overrides={"warehouse": library.warehouse}
    )
    job = definitions.resolve_implicit_global_asset_job_def()
    chosen = job.get_subset(asset_selection={dg.AssetKey("annotator_consistency")})
    with dg.DagsterInstance.ephemeral() as instance:
        chosen.execute_in_process(instance=instance)
    return library.warehouse.read("annotator_consistency")


def test_repeated_pairs_have_their_sides_swapped_and_checks_the_output_of_another_passage(library: Salon) -> None:
    file, sent = export(library, "Mori")
    rows = sheet(file)
    assert sent.pairs == NUMBER
    assert len(rows) == NUMBER + sent.controls
    checks = [row for row in rows if checks_attention(row)]
    assert len(checks) == CHECKS
    for row in checks:
        assert HUMAN[passage_of(row)] in (row["A"], row["B"])
        assert {row["A"], row["B"]} & set(OURS.values())
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        if row not in checks:
            places.setdefault(row["source"], []).append(place)
    again = [found for found in places.values() if len(found) == 2]
    assert len(again) == sent.controls - CHECKS > NUMBER // REPEATED - CHECKS
    for first, second in again:
        assert second - first > NUMBER // 2
        assert [rows[first][side] for side in "AB"] == [rows[second][side] for side in "BA"]


def test_no_key_shows_which_rows_are_control_items(library: Salon) -> None:
    file, _ = export(library, "Mori")
    keys = [row["pair"].split("-") for row in sheet(file)]
    assert {tuple(map(len, key)) for key in keys} == {(16, 16, 4)}
    assert len({part for key in keys for part in key[:2]}) == 2 * len(keys)
    assert [key[0] for key in keys] != sorted(key[0] for key in keys)  # a repeated pair would be out of order
    again = library.folder / "again.csv"
    export_pairs(library.warehouse, again, "novels", "Mori")
    assert again.read_bytes() == file.read_bytes()


def test_an_inattentive_person_is_told_from_an_attentive_one(library: Salon) -> None:
    mori, sent = export(library, "Mori")
    ito, sent_to_ito = export(library, "Ito")
    passed = [row["A"] in HUMAN.values() for row in sheet(ito) if checks_attention(row)]
    counts = import_pairs(library.warehouse, answered(mori, attentive))
    assert counts == (NUMBER + sent.controls, 0, 0, 0)
    import_pairs(library.warehouse, answered(ito, lambda _: "A"))
    assert import_pairs(library.warehouse, mori) == (0, NUMBER + sent.controls, 0, 0)

    preferences = applicable(library.warehouse)
    assert preferences["annotator"].to_list() == ["Mori"] * NUMBER  # Ito's standing is `failed`
    by_passage = preferences.select("passage", "better").iter_rows()
    expected = {passage: "human" if n % 3 else "machine" for n, passage in enumerate(HUMAN)}
    assert dict(by_passage) == expected

    columns = ["annotator", "protocol", "labels", "repeats", "agreement", "checks", "passed", "standing"]
    inattentive, careful = consistency(library).select(columns).rows()
    assert careful == ("Mori", "pairs", NUMBER, sent.controls - CHECKS, 1, CHECKS, 1, "undecided")
    repeats = sent_to_ito.controls - CHECKS
    assert inattentive == ("Ito", "pairs", NUMBER, repeats, 0, CHECKS, pytest.approx(sum(passed) / CHECKS), "failed")
    assert sum(passed) < CHECKS


def test_labels_and_preferences_of_a_person_are_counted_apart(library: Salon) -> None:
    file, _ = export(library, "Mori")
    import_pairs(library.warehouse, answered(file, attentive))
    label = {"item": "x", "annotator": "Mori", "label": "MAJOR_ERROR", "error_category": "OTHER", "severity": "high",
             "file": "x.csv", "notes": "", "passage": "novels/part:1", "place": 2}  # fmt: skip
    library.store("imported_label", [label], "item")
    rows = consistency(library).select("annotator", "protocol", "labels", "checks").rows()
    assert rows == [("Mori", "labels", 1, 0), ("Mori", "pairs", NUMBER, CHECKS)]


def test_an_answer_to_former_texts_is_not_compared_with_one_to_others(library: Salon) -> None:
    file, sent = export(library, "Mori")
    import_pairs(library.warehouse, answered(file, attentive))
    changed = [{"model": "ours", "passage": passage, "text": f"{text} anew"} for passage, text in OURS.items()]
    library.store("model_output", changed, "model")
    later = library.folder / "later.csv"
    export_pairs(library.warehouse, later, "novels", "Mori")
    ordinary = {_key(passage) for passage in OURS}
    import_pairs(library.warehouse, answered(later, lambda row: "A" if row["pair"][:16] in ordinary else ""))
    (row,) = consistency(library).iter_rows(named=True)
    assert (row["labels"], row["repeats"], row["checks"]) == (NUMBER, 0, CHECKS)
    assert sent.controls > CHECKS


def test_a_file_of_before_has_no_control_items_and_is_imported(library: Salon) -> None:
    """The formulas of its keys and hashes are repeated here, because they must never change."""
    file = library.folder / "former.csv"
    rows = [f"{_key(passage)}-{digest(OURS[passage], HUMAN[passage])[:16]}-Mori,unsure" for passage in OURS]
    file.write_text("\n".join(["pair,better", *rows]), encoding="utf-8")
    assert import_pairs(library.warehouse, file) == (NUMBER, 0, 0, 0)
    assert len(applicable(library.warehouse)) == NUMBER
    assert library.warehouse.read("pair_control").is_empty()


def _key(passage: str) -> str:
    return digest("pair", "Mori", "ours", passage)[:16]
