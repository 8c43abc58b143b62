"""Pairs for people: what they see, what they do not learn, and what is taken in of what comes back."""

import csv
import io
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.literary.pairs import COLUMNS, PairCounts, ShownPair, applicable, export_pairs, import_pairs
from resources.errors import BadInput
from resources.harmless import unguarded
from resources.warehouse import Replacement
from tests.literary.conftest import HUMAN, OURS, OUTPUTS, SOURCES, THEIRS, Salon

PAIR = ShownPair("ours", "novels/botchan:2", "清は泣いた。", "", "", OURS["botchan:2"], HUMAN["botchan:2"])


def written(salon: Salon, annotator: str = "Mori", per_model: int | None = None) -> tuple[Path, list[dict[str, str]]]:
    file = salon.folder / f"{annotator}-{per_model}.csv"
    export_pairs(salon.warehouse, file, "novels", annotator, per_model)
    rows = csv.DictReader(io.StringIO(file.read_text(encoding="utf-8-sig")))
    return file, [{name: unguarded(cell) for name, cell in row.items()} for row in rows]


def answered(file: Path, rows: list[dict[str, str]], mark: str = ",") -> Path:
    """Write the rows as a spreadsheet might, in another order and with a column without a name."""
    text = io.StringIO()
    sheet = csv.DictWriter(text, [*reversed(COLUMNS), ""], delimiter=mark)
    sheet.writeheader()
    sheet.writerows({**row, "": "x"} for row in reversed(rows))
    file.write_text(text.getvalue(), encoding="utf-8")
    return file


def choose(row: dict[str, str], texts: str) -> str:
    """The letter under which a text by a model ('machine') or the human one ('human') stands."""
    human = "A" if row["A"] in HUMAN.values() else "B"
    return human if texts == "human" else "BA"["AB".index(human)]


# What goes out.


def test_a_person_sees_source_context_and_both_texts_and_not_whose_they_are(salon: Salon) -> None:
    file, rows = written(salon)
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(SOURCES) * len(OUTPUTS)
    shown = {(row["source"], *sorted((row["A"], row["B"]))) for row in rows}
    assert shown == {
        (SOURCES[each], *sorted((own[each], HUMAN[each]))) for own in OUTPUTS.values() for each in SOURCES
    }  # fmt: skip
    assert {(row["previous"], row["next"]) for row in rows if row["source"] == SOURCES["botchan:1"]} == {("前", "後")}
    assert all(row["better"] == row["note"] == "" for row in rows)
    words = file.read_text(encoding="utf-8-sig")
    assert not any(word in words for word in (*OUTPUTS, "morri", "novels", "botchan"))
    again = salon.folder / "again.csv"
    export_pairs(salon.warehouse, again, "novels", " Mori ")
    assert again.read_bytes() == file.read_bytes()


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True), st.text(), st.text())
def test_annotators_have_pairs_of_other_names(names: list[str], machine: str, human: str) -> None:
    assert PAIR.key(names[0]) != PAIR.key(names[1])
    changed = PAIR._replace(machine=machine, human=human)
    assert (changed.texts() == PAIR.texts()) == (changed == PAIR)
    assert changed.key(names[0]) == PAIR.key(names[0])


def test_sides_are_even_and_differ_between_annotators() -> None:
    drawn = [PAIR._replace(passage=f"novels/{number}") for number in range(2000)]
    sides = Counter((each.side("ann"), each.side("ben")) for each in drawn)
    assert all(abs(count - 500) < 80 for count in sides.values())


def test_a_sample_is_the_same_for_all_annotators(salon: Salon) -> None:
    texts = []
    for name in ("Mori", "Ito"):
        _, rows = written(salon, name, per_model=2)
        machine = [row[choose(row, "machine")] for row in rows]
        assert [sum(text in own.values() for text in machine) for own in OUTPUTS.values()] == [2, 2]
        texts.append(set(machine))
    assert texts[0] == texts[1]


def test_what_cannot_be_told_apart_is_left_out(salon: Salon) -> None:
    same = HUMAN["botchan:1"].replace(" ", "\n")
    salon.outputs("ours", OURS | {"botchan:1": same, "botchan:2": " "})
    cut = {"passage": "novels/dream:1", "translator": "morri", "text": "Yü", "complete": False}
    salon.store("reference", [cut], "passage", "translator")
    _, rows = written(salon)
    assert {row[choose(row, "machine")] for row in rows} == {THEIRS["botchan:1"], THEIRS["botchan:2"]}


def test_restricted_texts_need_a_word(salon: Salon) -> None:
    file = salon.folder / "pairs.csv"
    for restricted, names in ((["morri"], ["morri"]), (["source", "morri"], ["source", "morri"])):
        salon.describe(restricted=restricted)
        with pytest.raises(BadInput, match=f"may not be passed on: {', '.join(names)}; add --private"):
            export_pairs(salon.warehouse, file, "novels", "Mori")
        assert not file.exists()
    assert export_pairs(salon.warehouse, file, "novels", "Mori", private=True) == (6, ["source", "morri"], 0)


def test_an_output_that_repeats_a_restricted_text_is_left_out(salon: Salon) -> None:
    text = "Kiyo shed tears, and then she went back into the house to look for her umbrella."
    third = {"passage": "novels/botchan:2", "translator": "sasaki", "text": text, "complete": True}
    salon.store("reference", [third], "passage", "translator")
    salon.outputs("ours", OURS | {"botchan:2": f"So: {text}"})
    _, rows = written(salon)
    assert len(rows) == 5
    assert not any(text in row[side] for row in rows for side in "AB")
    assert export_pairs(salon.warehouse, salon.folder / "all.csv", "novels", "Mori", private=True).pairs == 6


def test_what_cannot_be_written(salon: Salon) -> None:
    file, _ = written(salon)
    other = salon.folder / "other.csv"
    with pytest.raises(BadInput, match="already exists and may contain answers"):
        export_pairs(salon.warehouse, file, "novels", "Mori")
    for name in ("", " ", "Mo\nri"):
        with pytest.raises(BadInput, match="is not a name"):
            export_pairs(salon.warehouse, other, "novels", name)
    salon.outputs("ours", dict.fromkeys(OURS, " "))
    salon.outputs("theirs", HUMAN)
    with pytest.raises(BadInput, match="has no output to compare with a complete human translation"):
        export_pairs(salon.warehouse, other, "novels", "Mori")
    salon.describe(ensemble=[], human="")
    with pytest.raises(BadInput, match=r"literary\.human: is missing"):
        export_pairs(salon.warehouse, other, "novels", "Mori")
    assert not other.exists()


# What comes back.


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_labels_come_back_by_pair_whatever_the_spreadsheet_did(salon: Salon, mark: str) -> None:
    file, rows = written(salon, "O'Mori-Ito, jr.")
    said = dict(zip(SOURCES.values(), ("machine", "human", "unsure"), strict=True))
    for row in rows:
        better = said[row["source"]]
        row["better"] = " UNSURE " if better == "unsure" else choose(row, better).lower()
        row["note"] = "=1+1"
    (rows[0]["better"],) = ("",)
    assert import_pairs(salon.warehouse, answered(file, rows, mark)) == PairCounts(5, 0, 0, 1)
    labels = salon.warehouse.read("pair_label")
    assert set(labels["annotator"]) == {"O'Mori-Ito, jr."}
    assert set(labels["note"]) == {"=1+1"}
    by_passage = {f"novels/{each}": said[source] for each, source in SOURCES.items()}
    assert all(by_passage[passage] == better for passage, better in labels.select("passage", "better").iter_rows())

    assert import_pairs(salon.warehouse, file) == PairCounts(0, 5, 0, 1)
    for row in rows:
        row["better"] = "unsure"
    already = sum(each == "unsure" for each in labels["better"])
    assert import_pairs(salon.warehouse, answered(file, rows)) == PairCounts(1, already, 5 - already, 0)
    assert set(salon.warehouse.read("pair_label")["better"]) == {"unsure"}


def test_a_file_with_a_fault_is_not_taken_in_at_all(salon: Salon) -> None:
    file, rows = written(salon)
    for row in rows:
        row["better"] = "A"
    pair = rows[-1]["pair"]
    faults = [
        ({"better": "C"}, "row 2: better 'C' is not one of A, B, unsure"),
        ({"pair": ""}, "row 2: '' does not name a pair"),
        ({"pair": f"{'0' * 16}{pair[16:]}"}, "row 2: has a pair that is not in this warehouse"),
        ({"pair": pair.replace("Mori", "Ito")}, "row 2: has a pair that is not in this warehouse"),
        (
            {"pair": f"{pair[:17]}{'0' * 16}{pair[33:]}"},
            r"row 2: has a pair whose texts have changed \(model (ours|theirs), passage novels/",
        ),
        ({"pair": rows[0]["pair"]}, "row 7: repeats the pair of an earlier row"),
    ]
    for change, words in faults:
        with pytest.raises(BadInput, match=words):
            import_pairs(salon.warehouse, answered(file, [*rows[:-1], rows[-1] | change]))
    for text, words in (
        ("", "row 1: lacks the columns pair, better"),
        ("pair,A\n", "row 1: lacks the columns better; give a sheet from `variorum annotate --as pairs`"),
        ('pair,better\n"x', "not valid CSV"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match=words):
            import_pairs(salon.warehouse, file)
    assert salon.warehouse.read("pair_label").is_empty()


def test_an_unknown_column_is_refused_by_name_unless_it_is_ignored(salon: Salon) -> None:
    file, rows = written(salon)
    answered(file, [row | {"better": "A"} for row in rows])
    file.write_text(file.read_text(encoding="utf-8").replace("note,", "notes,", 1), encoding="utf-8")
    with pytest.raises(BadInput, match="row 1 notes: unknown column; write `note`, or name it with `--ignore`"):
        import_pairs(salon.warehouse, file)
    assert salon.warehouse.read("pair_label").is_empty()
    assert import_pairs(salon.warehouse, file, ["notes"]).taken == len(rows)


def test_rows_without_an_answer_are_not_looked_at(salon: Salon) -> None:
    """So that a sheet outlives a model that was removed."""
    file, rows = written(salon)
    gone = {row["pair"] for row in rows if row["A"] in THEIRS.values() or row["B"] in THEIRS.values()}
    keys = pl.DataFrame({"model": ["theirs"]})
    salon.warehouse.write([Replacement("model_output", salon.warehouse.empty("model_output"), keys)], run_id="test")
    for row in rows:
        row["better"] = "" if row["pair"] in gone else "A"
    assert import_pairs(salon.warehouse, answered(file, rows)) == PairCounts(3, 0, 0, 3)
    for row in rows:
        row["better"] = "A"
    with pytest.raises(BadInput, match="delete the row, or add the model or corpus again"):
        import_pairs(salon.warehouse, answered(file, rows))


def test_spellings_of_a_name_are_one_annotator(salon: Salon) -> None:
    file, rows = written(salon)
    other, others = written(salon, "MORI")
    for row in (*rows, *others):
        row["better"] = "A"
    with pytest.raises(BadInput, match="repeats the pair of an earlier row"):
        import_pairs(salon.warehouse, answered(salon.folder / "both.csv", [*rows, *others]))
    assert import_pairs(salon.warehouse, answered(file, rows)).taken == len(rows)
    again = import_pairs(salon.warehouse, answered(other, others))
    assert (again.taken, again.unchanged + again.replaced) == (0, len(rows))
    assert set(salon.warehouse.read("pair_label")["annotator"]) == {"Mori"}
    assert all(row["pair"].endswith("-Mori") for row in written(salon, "mORI")[1])


def test_labels_of_former_texts_are_refused_and_those_that_are_here_do_not_apply(salon: Salon) -> None:
    file, rows = written(salon)
    import_pairs(salon.warehouse, answered(file, [row | {"better": "A"} for row in rows]))
    assert len(applicable(salon.warehouse)) == 6
    salon.outputs("ours", OURS | {"dream:1": "Yucun turned."})
    found = applicable(salon.warehouse)
    assert found.filter(pl.col("model") == "ours")["passage"].to_list() == ["novels/botchan:1", "novels/botchan:2"]
    with pytest.raises(BadInput, match="texts have changed"):
        import_pairs(salon.warehouse, file)
    salon.outputs("ours", OURS)
    assert len(applicable(salon.warehouse)) == 6
