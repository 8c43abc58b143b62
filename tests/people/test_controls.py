"""Control items: where they stand, what they show, and that no answer to them becomes a label."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.corpus.registry import register
from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.applicable import applicable
from benchmark_assets.people.controls import CHECKED, REPEATED, attention_checks, in_order, with_repeats
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.sample import export_items
from benchmark_assets.people.sheets import sheet
from resources.harmless import unguarded
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.people.test_sample import files, put_outputs, rows

PASSAGES = [f"tiny/doc1:{n}" for n in range(1, 31)]
TEXTS = {(model, passage): f"{passage} {n} {model} own words" for model in ("alpha", "beta")
         for n, passage in enumerate(PASSAGES)}  # fmt: skip


def sample(size: int) -> list[SheetItem]:
    return [SheetItem(item_key("m", str(n), ""), str(n), f"fons {n}", {}, f"only{n} here{n}") for n in range(size)]


@given(st.integers(0, 60), st.integers(0, 9), st.sampled_from(["mori", "santos"]))
def test_each_repeated_item_comes_again_half_a_list_later(size: int, seed: int, annotator: str) -> None:
    groups = in_order([[item] for item in sample(size)], annotator, seed)
    ordered = [item for group in groups for item in group]
    lists, repeats = with_repeats(groups, seed, annotator)
    shown = [item for group in lists for item in group]
    assert len(repeats) == size // REPEATED
    keys = [item.item for item in shown]
    assert len(set(keys)) == len(keys) == size + len(repeats)
    assert [item for item in shown if item in ordered] == ordered
    for _, original, repeat in repeats:
        first, again = keys.index(original), keys.index(repeat.item)
        assert again - first > size // 2
        assert shown[again]._replace(item="") == shown[first]._replace(item="")


@given(st.integers(0, 70), st.integers(0, 9))
def test_an_attention_check_shows_the_output_of_another_passage(size: int, seed: int) -> None:
    items = sample(size)
    checks = attention_checks(items, seed)
    assert len(checks) == size // CHECKED
    by_key = {item.item: item for item in items}
    for _, original, shown in checks:
        assert shown.item not in by_key
        assert shown._replace(item=original, candidate="") == by_key[original]._replace(candidate="")
        assert shown.candidate in {item.candidate for item in items} - {by_key[original].candidate}


def test_outputs_that_are_alike_check_no_attention() -> None:
    """An output of a parallel passage may be right for this one, too."""
    assert attention_checks([item._replace(candidate="Thus have I heard") for item in sample(40)], 1) == []


@pytest.fixture
def drawn(warehouse: Warehouse, corpus: Path) -> Warehouse:
    """Sixty outputs; all but one are drawn."""
    register(warehouse, corpus)
    put(warehouse, "source_text",
        *({"passage": passage, "corpus": "tiny", "passage_id": passage.removeprefix("tiny/"), "document": "doc1",
           "position": n, "language": "la", "segment_ids": [passage], "segments": [passage], "text": f"Fons {n}"}
          for n, passage in enumerate(PASSAGES)))  # fmt: skip
    put_outputs(warehouse, TEXTS)
    return warehouse


def table_of(folder: Path, name: str) -> list[dict[str, str]]:
    sent = rows(files(folder)[f"items.{name}.csv"])
    return [{column: unguarded(cell) for column, cell in row.items()} for row in sent]


def test_controls_are_recognized_and_never_become_labels(drawn: Warehouse, tmp_path: Path) -> None:
    sent = export_items(drawn, tmp_path / "out", "tiny", ["mori", "santos"])
    table = table_of(tmp_path / "out", "mori")
    assert (sent.items, len(table)) == (59, 59 + sent.controls)
    assert sent.controls == (59 + 59 // CHECKED) // REPEATED + 59 // CHECKED
    kinds = dict(drawn.read("control_item", columns=["item", "kind"]).iter_rows())
    assert sum(row["item"] in kinds for row in table) == sent.controls

    def answer(row: Mapping[str, str]) -> dict[str, str]:
        failed = kinds.get(row["item"]) == "attention"
        label = {"label": "MAJOR_ERROR", "error_category": "OTHER", "severity": "high"}
        return {**row, **(label if failed else {"label": "VALID_VARIATION", "severity": "none"})}

    columns = list(table[0])
    (tmp_path / "back.csv").write_bytes(sheet(columns, ([answer(row)[name] for name in columns] for row in table)))
    counts = import_labels(drawn, [tmp_path / "back.csv"])
    assert [(each.taken, each.quarantined) for each in counts] == [(len(table), 0)]
    items = drawn.read("triage", columns=["item"])
    applicable = drawn.read("imported_label").join(items, on="item", how="semi")
    assert len(applicable) == 59
    assert set(applicable["label"]) == {"VALID_VARIATION"}


def test_labels_of_who_calls_everything_an_error_do_not_count(drawn: Warehouse, tmp_path: Path) -> None:
    """Ito finds errors in everything, Mori in what is wrong; Santos deletes the texts that nobody reads."""
    references = {(passage, name): f"{passage} first. {name} second {n}." for n, passage in enumerate(PASSAGES)
                  for name in ("ann", "ben")}  # fmt: skip
    put(drawn, "reference",
        *({"passage": passage, "translator": name, "text": text, "complete": True}
          for (passage, name), text in references.items()))  # fmt: skip
    export_items(drawn, tmp_path / "out", "tiny", ["mori", "ito", "santos"])
    kinds = dict(drawn.read("control_item", columns=["item", "kind"]).iter_rows())
    right, wrong = {"label": "VALID_VARIATION", "severity": "none"}, {"label": "MAJOR_ERROR", "severity": "high"}
    for name in ("mori", "ito", "santos"):
        table = table_of(tmp_path / "out", name)
        for row in table:
            faulty = name == "ito" or kinds.get(row["item"]) in ("gross", "subtle", "attention")
            row |= wrong | {"error_category": "OTHER"} if faulty else right
        columns = [column for column in table[0] if name != "santos" or column != "candidate"]
        path = tmp_path / f"{name}.csv"
        path.write_bytes(sheet(columns, ([row[column] for column in columns] for row in table)))
        assert import_labels(drawn, [path])[0].quarantined == (len(table) if name == "santos" else 0)
    outputs = drawn.read("triage", columns=["model", "passage"])
    assert set(applicable(drawn, "imported_label", outputs)["annotator"]) == {"mori"}
    assert set(drawn.read("imported_label")["annotator"]) == {"mori", "ito"}


def test_files_and_control_items_are_the_same_again(drawn: Warehouse, tmp_path: Path) -> None:
    export_items(drawn, tmp_path / "one", "tiny", ["mori"])
    before = drawn.read("control_item").drop("run_id", "updated_at")
    export_items(drawn, tmp_path / "two", "tiny", ["mori"])
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert drawn.read("control_item").drop("run_id", "updated_at").equals(before)
