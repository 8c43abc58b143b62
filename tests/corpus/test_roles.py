"""What proposals make of tables as scholars have them: source, translators, languages, ids, and what is asked."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import yaml

from benchmark_assets.corpus.description import examine
from benchmark_assets.corpus.proposals import propose
from benchmark_assets.corpus.readers.grid import encoding_of
from benchmark_assets.corpus.roles import is_number, translator_name
from benchmark_assets.corpus.scan import scan


def sentences(text: str) -> list[str]:
    return text.split("|")


LATIN = sentences(
    "Vulpes in horto senis uvas maturas quaerebat.|Senex eam vidit et canem vocavit.|Canis dormiebat.|Tum vulpes "
    "risit et uvas dulces edit, quas senex per totum annum curaverat.|Nocte ad silvam rediit.|Mane senex canem "
    "increpuit, quod custos malus fuisset et nihil audivisset.|Canis tacuit.|«Cur», inquit senex, «te panem meum "
    "edere patior?»|Respondit canis: «Quia frigida nox est.»|Senex risit et canem in domum suam duxit, ubi ignis "
    "erat.|Vulpes postero die rediit.|Uvas nullas invenit."
)
VALE = sentences(
    "A fox was looking for ripe grapes in an old man’s garden.|The old man saw her and called the dog.|The dog "
    "was asleep.|Then the fox laughed and ate the sweet grapes that the old man had tended all year.|At night she"
    " went back to the wood.|In the morning the old man scolded the dog for being a bad guard and hearing "
    "nothing.|The dog was silent.|“Why,” said the old man, “do I let you eat my bread?”|The dog answered: "
    "“Because the night is cold.”|The old man laughed and took the dog into his house, where there was a "
    "fire.|The fox came back the next day.|She found no grapes."
)
STONE = sentences(
    "Into the garden of an old fellow came a fox in search of ripe grapes.|He saw her, and shouted for his "
    "dog.|But the dog slept.|So the fox laughed, and ate the sweet grapes on which he had spent a year of "
    "care.|By night she returned to the forest.|Next morning he told off the dog, a bad guard who had heard "
    "nothing.|No word from the dog.|“Then why,” the old fellow asked, “do you eat bread of mine?”||With a laugh "
    "he took the dog into the house, to the fire.|The fox returned on the following day.|Of grapes she found "
    "none."
)
STEIN = sentences(
    "Ein Fuchs suchte im Garten eines alten Mannes nach reifen Trauben.|Der Alte sah ihn und rief den Hund.|Der "
    "Hund schlief.|Da lachte der Fuchs und fraß die süßen Trauben, die der Alte das ganze Jahr gepflegt hatte.|In"
    " der Nacht ging er in den Wald zurück.|Am Morgen schalt der Alte den Hund, weil er schlecht gewacht und "
    "nichts gehört habe.|Der Hund schwieg.|„Warum“, sagte der Alte, „lasse ich dich mein Brot essen?“|Der Hund "
    "antwortete: „Weil die Nacht kalt ist.“|Der Alte lachte und nahm den Hund mit ins Haus, wo ein Feuer "
    "brannte.|Der Fuchs kam am nächsten Tag wieder.|Trauben fand er keine."
)
GREEK = ["ἀλώπηξ ἐν κήπῳ γέροντος βότρυς ἐζήτει πεπείρους", "ὁ δὲ γέρων ἰδὼν τὸν κύνα ἐκάλεσεν"] * 6
IDS = [f"1.{number}" for number in range(1, 11)] + ["2.1", "2.2"]
PAGES = [str(17 + at // 4) for at in range(12)]
NOTES = ["", "", "cf. 1.7, where the dog is awake", "", "", "", "so the manuscripts", "", "", "", "", ""]
COMMENTARY = sentences(
    "Foxes and grapes go together in this genre, as the first sentence says at once and without any "
    "doubt.|Dogs.|The third sentence is short, and many readers have asked why; the answer lies in the manner of "
    "telling.|A year.|Woods are where foxes live, by the rules of the fable, which knows neither towns nor farms "
    "for them.|Scolding.|Silence follows, and it prepares the question, which the fable needs before the answer "
    "can come at all.|Bread.|The answer is the point of the whole, says the grammarian, and nothing more needs to"
    " be added here.|Fire.|A repetition, which frames the fable.|The end is sober and has often been compared "
    "with that of the older version of it."
)
BOTH = [text for pair in zip(VALE, STONE, strict=True) for text in pair]
ENGLISH = {"Vale": "en", "Stone": "en"}


def table(*columns: Iterable[object], heads: Sequence[str] = (), sign: str = ",", above: str = "") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=sign, lineterminator="\n").writerows(
        [*([heads] if heads else []), *zip(*columns, strict=True)]
    )
    return above + text.getvalue()


def read(path: Path, content: str | bytes = "") -> tuple[dict[str, Any], list[str], list[str]]:
    """The description that is proposed for a file, its source and the languages of its translators by name, its
    questions, and the passages that are then read."""
    if content:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    description = path.parent / "mine.yaml"
    description.write_text(propose(path, "mine")["mine"], encoding="utf-8")
    proposal = yaml.safe_load(description.read_text(encoding="utf-8"))
    examined, faults = examine(description)
    assert {fault.key for fault in faults} <= {"questions"}
    assert examined is not None
    scanned = scan([examined])
    assert scanned.faults == []
    return proposal, proposal.get("questions", []), scanned.source["passage_id"].to_list()


def languages(proposal: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    references = proposal.get("references", {})
    return proposal["source"]["language"], {name: text["language"] for name, text in references.items()}


SOUND = {
    "ids": (table(IDS, LATIN, VALE, STONE, heads=["ID", "Latin", "Vale", "Stone"]), ENGLISH),
    "source in the last column": (table(VALE, STONE, LATIN, heads=["Vale", "Stone", "Urtext"]), ENGLISH),
    "pages, notes, models": (
        table(IDS, PAGES, LATIN, VALE, STONE, NOTES, heads=["Locus", "p.", "Text", "Vale (1911)", "GPT-4o", "Remarks"]),
        {"Vale": "en"},
    ),
    "German": (table(IDS, LATIN, STEIN, heads=["Nr.", "Latein", "Übersetzung: K. Stein"]), {"Stein": "de"}),
    "no heads": (table(IDS, LATIN, VALE, STONE), {"translation-1": "en", "translation-2": "en"}),
    "no heads, no ids": (table(LATIN, VALE), {"translation-1": "en"}),
    "two rows of heads": (
        table(IDS, LATIN, VALE, STONE, heads=["", "", "Vale", "Stone"], above="No.,Latin,English,\n"), ENGLISH
    ),
    "group above the heads": (
        table(IDS, LATIN, VALE, STONE, heads=["No.", "Latin", "Vale", "Stone"], above=",,English,\n"), ENGLISH
    ),
    "title and count": (
        table(IDS, LATIN, VALE, STONE, heads=["No.", "Latin", "Vale", "Stone"], above="The fox\n\n") + ",12 rows,,\n",
        ENGLISH,
    ),
    "index of pandas": (table(range(12), LATIN, VALE, heads=["", "text", "Vale"]), {"Vale": "en"}),
    "empty columns": (
        table(IDS, [""] * 12, LATIN, VALE, [""] * 12, [""] * 12, heads=["No", "", "Latin", "Vale", "Stone", ""]),
        {"Vale": "en"},
    ),
    "links, dates, classes, a copy": (
        table(IDS, LATIN, LATIN, VALE, ["2021-03-04"] * 12, ["https://example.org"] * 12, ["ok", "todo"] * 6,
              heads=["id", "Latin", "Latin (copy)", "Vale", "date", "link", "status"]),
        {"Vale": "en"},
    ),
    "initials": (table(IDS, LATIN, VALE, STONE, heads=["§", "LAT", "AV", "BS"]), {"AV": "en", "BS": "en"}),
    "years": (
        table(IDS, LATIN, VALE, STONE, ["1911"] * 12,
              heads=["n", "Latin", "Vale 1911", "Stone, rev. ed. 1987", "year"]),
        ENGLISH,
    ),
    "one head twice": (
        table(IDS, LATIN, VALE, STONE, heads=["n", "Latin", "English", "English"]), {"English": "en", "English-2": "en"}
    ),
    "columns of counts": (
        table(IDS, LATIN, map(len, LATIN), VALE, map(len, VALE), heads=["id", "Latin", "signs", "Vale", "signs"]),
        {"Vale": "en"},
    ),
    "odd ids": (
        table([f"{at}({at + 1})" for at in range(12)], LATIN, VALE, heads=["id", "Latin", "Vale"]), {"Vale": "en"}
    ),
    "a row for each text": (
        table(sorted(IDS * 3), range(36), ["Latin", "Vale", "Stone"] * 12,
              [text for texts in zip(LATIN, VALE, STONE, strict=True) for text in texts],
              heads=["id", "row", "translator", "text"]),
        ENGLISH,
    ),
    "a row for each text, with languages": (
        table(sorted(IDS * 3), ["la", "en", "en"] * 12, ["", "Vale", "Stone"] * 12,
              [text for texts in zip(LATIN, VALE, STONE, strict=True) for text in texts],
              heads=["id", "lang", "translator", "text"]),
        ENGLISH,
    ),
    "a row for each translation": (
        table(sorted(IDS * 2), [text for text in LATIN for _ in "ab"], ["Vale", "Stone"] * 12, BOTH,
              heads=["id", "Latin", "who", "translation"]),
        ENGLISH,
    ),
    "model in a column": (
        table(IDS, LATIN, VALE, STONE, ["gpt-4o"] * 12, heads=["n", "Latin", "Vale", "output", "model"]), {"Vale": "en"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_roles_and_languages_come_from_the_cells(name: str, tmp_path: Path) -> None:
    content, translators = SOUND[name]
    proposal, questions, passages = read(tmp_path / "fox.csv", content)
    assert languages(proposal) == ("la", translators)
    assert questions == []
    assert len(passages) == 12


ASKED = {
    "two modern languages": (table(IDS, STEIN, VALE, heads=["id", "Stein", "Vale"]), "Which column is the source?"),
    "two ancient languages": (table(LATIN, GREEK, VALE, heads=["a", "b", "Vale"]), "Which column is the source?"),
    "two sources": (table(IDS, LATIN, LATIN[::-1], VALE, heads=["id", "A", "B", "Vale"]), "both in la"),
    "a model or a person": (table(IDS, LATIN, VALE, STONE, heads=["id", "Latin", "Vale", "MT"]), "by a model"),
    "a commentary": (table(IDS, LATIN, VALE, COMMENTARY, heads=["id", "Latin", "Vale", "Servius"]), "does not follow"),
    "rows of each translation, without ids": (
        table([text for text in LATIN for _ in "ab"], ["Vale", "Stone"] * 12, BOTH, heads=["Latin", "who", "English"]),
        "repeats its texts",
    ),
    "rows of each text, without ids": (
        table(["Latin", "Vale"] * 12, [text for pair in zip(LATIN, VALE, strict=True) for text in pair],
              heads=["version", "text"]),
        "no column tells which rows belong together",
    ),
    "rows of each text, and nothing that says whose": (
        table(sorted(IDS * 2), [text for pair in zip(LATIN, VALE, strict=True) for text in pair], heads=["id", "text"]),
        "'id' has '1.1' in 2 rows",
    ),
    "an id that occurs twice": (
        table([f"Fab. {at}" for at in [*IDS[:11], IDS[10]]], LATIN, VALE, heads=["Locus", "Latin", "Vale"]),
        "'Locus' has 'Fab. 2.1' in 2 rows: is it the id?",
    ),
    "few cells": (table(IDS, LATIN, VALE, NOTES, heads=["id", "Latin", "Vale", "Stone"]), "has text in 2 of 12 rows"),
    "a source that is none": (
        table(IDS, LATIN, VALE, heads=["id", "Vale", "source"]), "is named as the source, but 'Vale' is in la"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_two_readings_are_a_question_and_the_corpus_is_not_read_before_an_answer(name: str, tmp_path: Path) -> None:
    content, question = ASKED[name]
    _, (asked,), _ = read(tmp_path / "fox.csv", content)
    assert question in asked


def test_a_second_language_of_translations_has_a_corpus_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "fox.csv"
    path.write_text(table(IDS, LATIN, VALE, STEIN, heads=["id", "Latin", "Vale", "Stein"]), encoding="utf-8")
    proposals = propose(path, "fox")
    found = {name: languages(yaml.safe_load(text)) for name, text in proposals.items()}
    assert found == {"fox": ("la", {"Vale": "en"}), "fox-de": ("la", {"Stein": "de"})}
    assert "Stein is not read: a translation into de" in proposals["fox"]


@pytest.mark.parametrize(
    ("encoding", "stated"),
    [("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("cp1252", "cp1252"), ("mac_roman", "mac_roman")],
)
@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_encodings_and_delimiters_are_found(encoding: str, stated: str | None, sign: str, tmp_path: Path) -> None:
    content = table(IDS, LATIN, STEIN, heads=["n", "Latin", "Stein"], sign=sign).replace("\n", f"{sign}\n")
    proposal, _, passages = read(tmp_path / "fox.csv", content.encode(encoding))
    assert (languages(proposal), proposal.get("encoding")) == (("la", {"Stein": "de"}), stated)
    assert len(passages) == 12


def test_works_of_one_column_with_the_same_numbers_are_no_texts_of_one_segment(tmp_path: Path) -> None:
    works = table(["Fox"] * 6 + ["Dog"] * 6, [*range(6)] * 2, LATIN, heads=["work", "n", "text"])
    proposal, questions, passages = read(tmp_path / "fox.csv", works)
    assert (len(passages), "pivot" in proposal, questions) == (12, False, [])


@pytest.mark.parametrize("heads", [[], [["Latin", "Vale", "Stone"]]])
def test_rows_in_lists_are_a_table_and_lines_of_stanzas_are_not(heads: list[list[str]], tmp_path: Path) -> None:
    rows = json.dumps([*heads, *zip(LATIN, VALE, STONE, strict=True)])
    proposal, questions, passages = read(tmp_path / "fox.json", rows)
    assert (len(passages), questions) == (12, [])
    assert languages(proposal) == ("la", ENGLISH if heads else {"translation-1": "en", "translation-2": "en"})
    _, _, passages = read(tmp_path / "stanzas.json", json.dumps([*zip(LATIN[::2], LATIN[1::2], strict=True)]))
    assert passages == [f"stanzas:{at}.{line}" for at in range(1, 7) for line in (1, 2)]


@pytest.mark.parametrize(("name", "ids"), [("id", range(101, 137, 3)), ("ref", [f"Fab. {at}" for at in IDS])])
def test_ids_of_json_records_are_ids(name: str, ids: Iterable[object], tmp_path: Path) -> None:
    records = [{name: str(at), "latin": a, "vale": b} for at, a, b in zip(ids, LATIN, VALE, strict=True)]
    proposal, questions, _ = read(tmp_path / "fox.json", json.dumps(records))
    assert (proposal["columns"]["segment_id"], questions) == (name, [])


@pytest.mark.parametrize(
    "text", ["Er schläft; „gut“.", "Der Müller schlief.", "It’s not his.", "He said – so.", "Größe"]
)
def test_a_few_letters_of_latin_script_are_in_windows_1252(text: str, tmp_path: Path) -> None:
    path = tmp_path / "fox.csv"
    for rows in (1, 12):
        path.write_bytes(table(IDS[:rows], LATIN[:rows], [text, *IDS[1:rows]]).encode("cp1252"))
        assert encoding_of(path) == "cp1252"
    german = table(IDS, LATIN, [f"{each} {text}" for each in STEIN], sign=";").encode("cp1252")
    path.write_bytes(german)
    assert path.read_text(encoding_of(path)) == german.decode("cp1252")


def test_a_table_in_shift_jis(tmp_path: Path) -> None:
    japanese = ["狐は老人の庭で熟した葡萄を探していた。", "老人はそれを見て犬を呼んだ。", "しかし犬は眠っていた。"]
    content = table(range(1, 4), japanese, VALE[:3], heads=["番号", "原文", "Vale"])
    proposal, _, _ = read(tmp_path / "fox.csv", content.encode("cp932"))
    assert (languages(proposal), proposal["encoding"]) == (("ja", {"Vale": "en"}), "cp932")


def test_each_id_is_a_passage_and_chapter_and_verse_are_one_id(tmp_path: Path) -> None:
    proposal, _, passages = read(tmp_path / "a.csv", table(IDS, LATIN, VALE, heads=["id", "Latin", "Vale"]))
    assert passages == [f"a:{identity}" for identity in IDS]
    chapters, verses = zip(*(identity.split(".") for identity in IDS), strict=True)
    merged = ["1", *[""] * 9, "2", ""]
    assert list(chapters) != merged
    proposal, _, passages = read(tmp_path / "b.csv", table(merged, verses, LATIN, VALE, heads=["Ch.", "v.", "L", "V"]))
    assert passages == [f"b:{identity}" for identity in IDS]
    books = ["Fox"] * 6 + ["Dog"] * 6
    numbers = [*range(1, 7), *range(1, 7)]
    proposal, _, passages = read(tmp_path / "c.csv", table(books, numbers, LATIN, VALE, heads=["Book", "n", "L", "V"]))
    assert proposal["columns"]["document"] == "Book"
    assert passages == [f"{book}:{number}" for book, number in zip(books, numbers, strict=True)]


def test_a_workbook_with_titles_merged_cells_a_hidden_column_and_further_sheets(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    sheet.title = "Text"
    for row in [["The fox"], [], ["Ch.", "§", "Latin", "Tr. A. Vale (2011)", "Draft", "Remarks"]]:
        sheet.append(row)
    chapters = [1, *[None] * 9, 2, None]
    for at, cells in enumerate(zip(chapters, map(float, IDS), LATIN, VALE, STONE, NOTES, strict=True), start=4):
        sheet.append(cells)
        sheet.cell(at, 2).number_format = "0.00" if IDS[at - 4] == "1.10" else "0.0"
    sheet.merge_cells("A1:D1")
    sheet.merge_cells("A4:A13")
    sheet.column_dimensions["E"].hidden = sheet.column_dimensions["F"].hidden = True
    sheet.append([])
    sheet.append(["", "", "Number of sentences: 12"])
    workbook.create_sheet("To do").append(["check 1.8"])
    workbook.save(tmp_path / "fox.xlsx")
    proposal, (question,), passages = read(tmp_path / "fox.xlsx")
    assert (languages(proposal), proposal["sheets"]) == (("la", {"Vale": "en"}), ["Text"])
    assert "Is the hidden column 'Draft' a translation?" in question
    assert (proposal["ignore"], "asides" in proposal) == (["Draft", "Remarks", "Ch."], False)
    assert passages == [f"fox:{identity}" for identity in IDS]


def test_tables_of_one_text_each_are_joined_and_prose_beside_a_table_is_aligned(tmp_path: Path) -> None:
    (folder := tmp_path / "fox").mkdir()
    for name, texts in {"latin": LATIN, "vale": VALE, "stone": STONE}.items():
        (folder / f"{name}.csv").write_text(table(IDS, texts, heads=["id", "text"]), encoding="utf-8")
    proposal, _, passages = read(folder)
    assert languages(proposal) == ("la", {"vale": "en", "stone": "en"})
    assert (len(passages), proposal["references"]["vale"]["files"]) == (12, "vale.csv")
    (folder / "vale.csv").unlink()
    (folder / "stone.csv").unlink()
    (folder / "vale.txt").write_text(" ".join(VALE), encoding="utf-8")
    proposal, _, _ = read(folder)
    assert proposal["references"]["vale"] == {
        "language": "en", "layout": "text", "files": "vale.txt", "licence": "unknown"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1", True), ("1.10", True), ("XII", True), ("§ 3a", True), ("Sen. ep. 1.1", True), ("mn1:2.3", True),
     ("第三章", True),
     ("א", True), ("Book", False), ("I sing of arms", False), ("2021-03-04", False), ("", False), ("James", False)],
)  # fmt: skip
def test_numbers_and_citations_are_told_from_words(cell: str, number: bool) -> None:
    assert is_number(cell) == number


@pytest.mark.parametrize(
    ("head", "name"),
    [("Tr. A. Vale (2011)", "Vale"), ("Stone – 2nd éd.", "Stone"), ("English (Stone)", "Stone"), ("en_vale", "vale"),
     ("Übersetzung: Müller", "muller"), ("translations.Vale", "Vale"), ("Mary Vale", "mary-vale"),
     ("English", "English")],
)  # fmt: skip
def test_a_translator_is_what_names_a_person_in_a_head(head: str, name: str) -> None:
    assert translator_name(head, "en") == name
