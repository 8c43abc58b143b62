"""What goes out to people: everything that they need, and nothing of models, scores or judges."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmark_assets.adjudication.labels import (
    CATEGORIES,
    CONFIDENCES,
    ERRORS,
    LABELS,
    SEVERITIES,
    TAXONOMIES,
    read_judgement,
)
from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.corpus.description import MQM
from benchmark_assets.corpus.registry import register
from benchmark_assets.people.controls import in_order
from benchmark_assets.people.forms import LABEL_FORM
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.sample import export_items, items_sheet, labeling_config, tasks
from resources.errors import BadInput
from resources.folders import PRIVATE
from resources.harmless import guarded, unguarded
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.support import PASSAGES

MODELS = ["zq.model.alpha.qz", "zq.model.beta.qz"]
TEXTS = {
    (model, passage): f"{words} (of {passage.rpartition('/')[2]})"
    for model, words in zip(MODELS, ["A mouse <b>runs</b>,\na cat sits.", "=SUM(A1) 𒀭 says the mouse"], strict=True)
    for passage in PASSAGES
}
ODD = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40) | st.from_regex(
    r"'*[=+@\-\"';,\t\r\n\d. 𒀭שׁ<b>&e]*", fullmatch=True
)


def put_outputs(warehouse: Warehouse, texts: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Store outputs, and draw all of them but the last model's last; return their keys."""
    items = {key: item_key(*key, text) for key, text in texts.items()}
    put(warehouse, "model_output", *({"model": m, "passage": p, "text": text} for (m, p), text in texts.items()))
    last = max(texts)
    put(
        warehouse,
        "triage",
        *(
            {"model": m, "passage": p, "drift": 1.8374651, "band": "zq.band.qz", "queued": True,
             "sampled": (m, p) != last, "item": item}
            for (m, p), item in items.items()
        ),
    )  # fmt: skip
    return items


@pytest.fixture
def drawn(warehouse: Warehouse, corpus: Path) -> Warehouse:
    """Outputs of two models, judged by a panel; five are drawn."""
    register(warehouse, corpus)
    passages = [passage.partition("/") for passage in PASSAGES]
    put(warehouse, "source_text",
        *({"passage": f"{name}/{own}", "corpus": name, "passage_id": own, "document": own, "position": 0,
           "language": "la", "segment_ids": [own], "segments": [f"Fons {own}"], "text": f"Fons {own}"}
          for name, _, own in passages))  # fmt: skip
    put(warehouse, "reference",
        *({"passage": passage, "translator": name, "text": f"{name}'s {passage}", "complete": name != "ben"}
          for passage in PASSAGES for name in ("ann", "ben", "cleo")
          if (passage, name) != (PASSAGES[0], "cleo")))  # fmt: skip
    put_outputs(warehouse, TEXTS)
    words = {"label": "MAJOR_ERROR", "error_category": "OTHER", "severity": "high", "confidence": "high",
             "cause": "zq.cause.qz", "evidence": "zq.evidence.qz", "problem_phrase": "zq.phrase.qz",
             "correction": "zq.correction.qz"}  # fmt: skip
    put(warehouse, "judge_vote", *({"model": m, "passage": p, "judge": "zq.judge.qz"} | words for m, p in TEXTS))
    put(warehouse, "drift_score",
        *({"model": m, "passage": p, "embedder": "zq.embedder.qz", "drift": 1.8374651, "sim_best": 0.7263547}
          for m, p in TEXTS))  # fmt: skip
    return warehouse


def restrict(description: Path, translator: str) -> None:
    content = json.loads(description.read_text(encoding="utf-8"))
    content["references"][translator] |= {"licence": "all rights reserved", "restricted": True}
    description.write_text(json.dumps(content), encoding="utf-8")


def files(folder: Path) -> dict[str, str]:
    """Texts of all files by their paths in a folder."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8-sig") for path in paths}


def rows(text: str) -> list[dict[str, str]]:
    """Rows of a sheet as a program reads them that knows CSV and nothing else."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_nothing_of_models_scores_and_judges_goes_out(drawn: Warehouse, tmp_path: Path) -> None:
    export_items(drawn, tmp_path / "out", "tiny", ["mori", "santos"])
    found = files(tmp_path / "out")
    assert set(found) == {
        "README.md", "labeling-config.xml", "tasks.mori.json", "tasks.santos.json", "items.mori.csv", "items.santos.csv"
    }  # fmt: skip
    for text in found.values():
        assert not [word for word in ("zq.", ".qz", "1.837", "0.726", 'MAJOR_ERROR",', "prediction") if word in text]
    tasks = json.loads(found["tasks.mori.json"])
    assert {frozenset(task) for task in tasks} == {frozenset({"data"})}
    shown = {"item", "made_for", "place", "source_text", "reference_1", "reference_2", "candidate"}
    assert {frozenset(task["data"]) for task in tasks} == {frozenset(shown)}


def test_both_forms_show_what_was_drawn_with_its_texts(drawn: Warehouse, tmp_path: Path) -> None:
    assert export_items(drawn, tmp_path / "out", "tiny", ["mori"]) == (5, [], 0)
    found = files(tmp_path / "out")
    table, tasks = rows(found["items.mori.csv"]), json.loads(found["tasks.mori.json"])
    wanted = {item_key(*key, text): (key[1], text) for key, text in TEXTS.items() if key != max(TEXTS)}
    assert {row["item"]: (f"tiny/{row['place']}", unguarded(row["candidate"])) for row in table} == wanted
    for row, task in zip(table, (task["data"] for task in tasks), strict=True):
        place = row["place"]
        assert (task["item"], task["place"]) == (row["item"], place)
        assert task["source_text"] == row["source"] == f"Fons {place}"
        assert task["candidate"] == unguarded(row["candidate"])
        assert task["reference_1"] == row["reference ann"] == f"ann's tiny/{place}"
        # Only complete references: ben's are none, cleo has none of the first passage.
        missing = f"tiny/{place}" == PASSAGES[0]
        assert (row["reference cleo"], task["reference_2"]) == (("", "—") if missing else (f"cleo's tiny/{place}",) * 2)
        assert row["annotator"] == task["made_for"] == "mori"
        assert [row[name] for name in LABEL_FORM.columns] == [""] * 6


def test_each_annotator_has_an_order_of_their_own_and_the_same_again(drawn: Warehouse, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        export_items(drawn, tmp_path / folder, "tiny", ["mori", "santos", "O'Brien / Ω"])
    assert files(tmp_path / "one") == files(tmp_path / "two")
    found = files(tmp_path / "one")
    orders = [[row["item"] for row in rows(found[file])] for file in sorted(found) if file.startswith("items")]
    assert len(orders) == 3
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(orders[2])
    assert len({tuple(order) for order in orders}) == 3
    assert "items.O%27Brien%20%2F%20%CE%A9.csv" in found


def test_the_order_says_nothing_of_the_models() -> None:
    """Of two models, each has half of the items in each half of the sheet."""
    items = [[SheetItem(item_key(str(i % 2), str(i), ""), "", str(i % 2), {}, "")] for i in range(1000)]
    ordered = in_order(items, "mori", 1)
    assert abs(sum(item.source == "0" for (item,) in ordered[:500]) - 250) < 40
    assert ordered != in_order(items, "mori", 2)


@given(ODD)
@example("'=1")
def test_a_guarded_cell_is_no_formula_and_comes_back(cell: str) -> None:
    assert unguarded(guarded(cell)) == cell
    assert guarded(cell)[:1] not in ("=", "+", "-", "@", "\t", "\r", "\n")


@given(st.text("0123456789e", min_size=16, max_size=16) | st.text("0123456789abcdef", min_size=16, max_size=16))
@example("1234567890123456")
@example("12345678e9012345")
def test_no_key_is_a_number_to_a_spreadsheet_which_would_round_it(key: str) -> None:
    with pytest.raises(ValueError, match="could not convert"):
        float(guarded(key))
    assert unguarded(guarded(key)) == key


@given(
    st.lists(
        st.builds(SheetItem, ODD, ODD, ODD, st.dictionaries(st.sampled_from(["ann", "=ben"]), ODD), ODD), max_size=3
    )
)
def test_texts_come_back_from_a_sheet_as_they_went_into_it(items: list[SheetItem]) -> None:
    content = items_sheet(items, ["ann", "=ben"], "mori", LABEL_FORM)
    assert content.startswith(b"\xef\xbb\xbf")
    table = [
        {unguarded(name): unguarded(cell) for name, cell in row.items()} for row in rows(content.decode("utf-8-sig"))
    ]
    assert [row["item"] for row in table] == [each.item for each in items]
    assert [row["candidate"] for row in table] == [each.candidate for each in items]
    assert [row["reference =ben"] for row in table] == [each.references.get("=ben", "") for each in items]
    loaded = json.loads(tasks(items, ["ann"], "mori"))
    assert [task["data"]["candidate"] for task in loaded] == [each.candidate for each in items]


def words(config: ElementTree.Element, name: str) -> Sequence[str]:
    return [choice.attrib["value"] for choice in config.findall(f".//Choices[@name='{name}']/Choice")]


def test_label_studio_offers_the_vocabulary_and_shows_what_the_tasks_have() -> None:
    config = ElementTree.fromstring(labeling_config(["ann", 'b"<e>&n'], LABEL_FORM))
    offered = {name: words(config, name) for name in LABEL_FORM.columns[:4]}
    for name, allowed in zip(LABEL_FORM.columns, (LABELS, CATEGORIES, SEVERITIES, CONFIDENCES), strict=False):
        assert len(offered[name]) == len(allowed)
    for label in offered["label"]:
        for category in offered["error_category"] if "error" in label else ["", "None"]:
            fields = {"label": label, "error_category": category, "severity": "Low", "confidence": "High"}
            assert read_judgement(fields).label == label.upper().replace(" ", "_")
    (asked,) = config.findall(".//Choices[@name='error_category']")
    assert asked.attrib["visibleWhen"] == "choice-selected"
    assert asked.attrib["whenTagName"] == "label"
    shown_for = asked.attrib["whenChoiceValue"].split(",")
    assert [LABEL_FORM.checked({"label": each, "error_category": "other", "severity": "low"}, "", True).row["label"]
            for each in shown_for] == list(ERRORS)  # fmt: skip
    item = SheetItem("i", "p", "s", {"ann": "a"}, "c")
    (task,) = json.loads(tasks([item], ["ann", 'b"<e>&n'], "mori"))
    texts = config.findall(".//Text")
    assert {text.attrib["value"].removeprefix("$") for text in texts} <= set(task["data"])
    assert all(task["data"].values())
    targets = {each.attrib["toName"] for each in config.iter() if "toName" in each.attrib}
    assert targets == {"candidate"} <= {text.attrib["name"] for text in texts}
    # Controls and what a task shows share one name space in JSON-MIN.
    controls = {each.attrib["name"] for each in config.iter() if "toName" in each.attrib}
    assert controls == set(LABEL_FORM.columns)
    assert not controls & set(task["data"])


def test_the_guide_names_every_word_that_an_annotator_may_give(drawn: Warehouse, tmp_path: Path) -> None:
    export_items(drawn, tmp_path / "out", "tiny", ["mori"])
    guide = files(tmp_path / "out")["README.md"]
    for word in (*LABELS, *TAXONOMIES[MQM].problems, *SEVERITIES, *CONFIDENCES, *LABEL_FORM.columns):
        assert f"`{word}`" in guide
    assert "5 items" in guide
    assert PRIVATE not in guide


def test_a_sheet_has_the_categories_of_its_corpus_and_others_are_still_read(
    drawn: Warehouse, corpus: Path, tmp_path: Path
) -> None:
    """Latin prose gets no category of the audit's suttas, unless its description asks for them."""
    guides = {}
    for taxonomy in ("", "audit"):
        content = json.loads(corpus.read_text(encoding="utf-8"))
        corpus.write_text(json.dumps(content | {"taxonomy": taxonomy}), encoding="utf-8")
        found = set(
            export_items(drawn, tmp_path / f"out {taxonomy}", "tiny", ["mori"]) and files(tmp_path / f"out {taxonomy}")
        )
        assert "labeling-config.xml" in found
        guides[taxonomy] = "".join(
            files(tmp_path / f"out {taxonomy}")[name] for name in ("README.md", "labeling-config.xml")
        )
    assert "octrinal" not in guides[""]
    assert "llipsis" not in guides[""]
    assert all(f"{word}: " in guides[""] for word in ("accuracy", "terminology", "style", "locale conventions"))
    assert "`DOCTRINAL_TERM_ERROR` | a doctrinal term is given another meaning" in guides["audit"]
    assert "terminology" not in guides["audit"]
    answer = {"label": "MINOR_ERROR", "error_category": "doctrinal term error", "severity": "low"}
    assert LABEL_FORM.checked(answer, "", True).row["error_category"] == "DOCTRINAL_TERM_ERROR"


def test_restricted_texts_are_shown_and_the_folder_says_so(drawn: Warehouse, corpus: Path, tmp_path: Path) -> None:
    restrict(corpus, "ben")  # no text of his is shown
    assert export_items(drawn, tmp_path / "open", "tiny", ["mori"]).restricted == []
    restrict(corpus, "cleo")
    assert export_items(drawn, tmp_path / "private", "tiny", ["mori"]).restricted == ["cleo"]
    found = files(tmp_path / "private")
    assert [file for file in found if not file.startswith(f"{PRIVATE}/")] == ["README.md"]
    assert found["README.md"].startswith("# Items to label, private, do not pass on: tiny\n")
    assert "cleo's" in found[f"{PRIVATE}/items.mori.csv"]
    assert "cleo's" in found[f"{PRIVATE}/tasks.mori.json"]


def test_a_folder_with_files_is_left_alone(drawn: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    export_items(drawn, folder, "tiny", ["mori"])
    (folder / "items.mori.csv").write_text("labels", encoding="utf-8")
    before = files(folder)
    with pytest.raises(BadInput, match="may contain labels"):
        export_items(drawn, folder, "tiny", ["mori"])
    assert files(folder) == before


def test_what_cannot_be_written_whole_is_not_written(drawn: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        export_items(drawn, tmp_path / "file" / "out", "tiny", ["mori"])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BadInput, match="cannot be written"):
        export_items(drawn, tmp_path / "out", "tiny", ["x" * 300])  # no file has such a name
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("annotators", "problem"),
    [(["mori", " "], "is not a name"), (["mo\nri"], "is not a name"), (["mori", "Mori "], "is given twice")],
)
def test_names_of_annotators_differ(drawn: Warehouse, tmp_path: Path, annotators: list[str], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        export_items(drawn, tmp_path / "out", "tiny", annotators)
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_not_the_one_that_was_drawn_does_not_go_out(drawn: Warehouse, tmp_path: Path) -> None:
    put(drawn, "model_output", *({"model": m, "passage": p, "text": "another"} for m, p in TEXTS))
    with pytest.raises(BadInput, match="changed after it was drawn"):
        export_items(drawn, tmp_path / "out", "tiny", ["mori"])
    put(drawn, "triage")
    with pytest.raises(BadInput, match="has no output in the sample"):
        export_items(drawn, tmp_path / "out", "tiny", ["mori"])
    with pytest.raises(BadInput, match="no such corpus"):
        export_items(drawn, tmp_path / "out", "nowhere", ["mori"])
    assert not (tmp_path / "out").exists()
