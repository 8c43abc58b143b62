"""Proposed descriptions: of files as people have them, and that the corpus then reads as its files say."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.proposals import propose
from benchmark_assets.corpus.review import first_passage, reminders, review
from benchmark_assets.corpus.roles import UNKNOWN
from benchmark_assets.corpus.scan import Scan, scan
from resources.errors import BadInput
from tests.corpus.readers.test_pages import document, paragraph
from tests.support import write_corpus

ROWS = "1,Arma cano.,Arms I sing.,I sing of arms.\n2,Virum cano.,A man I sing.,\n"


def proposed(path: Path, name: str = "mine") -> tuple[Path, Scan]:
    description = path.parent / f"{name}.yaml"
    description.write_text(next(iter(propose(path, name).values())), encoding="utf-8")
    scanned = scan([load(description)])
    assert scanned.faults == []
    return description, scanned


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "passages"),
    [
        ("No,Latin,Müller,Jones\n", ["book:1", "book:2"]),  # an id with another name, a language, a letter with a dot
        ("segment_id,source,Müller,Jones\n", ["book:1", "book:2"]),
        ("id,original,Müller,Jones\n", ["book:1", "book:2"]),
        ("No.,Latin,Müller,Jones\n", ["book:1", "book:2"]),
        ("Fabula,Latin,Müller,Jones\n", ["book:1", "book:2"]),
    ],
)
def test_a_table_is_read_whatever_its_columns_are_called(header: str, passages: list[str], tmp_path: Path) -> None:
    _, scanned = proposed(write(tmp_path / "book.csv", header + ROWS))
    assert scanned.source["passage_id"].to_list() == passages
    assert scanned.source["text"].to_list() == ["Arma cano.", "Virum cano."]
    texts = scanned.reference.filter(passage="mine/book:1").select("translator", "segments").rows()
    assert dict(texts) == {"muller": ["Arms I sing."], "Jones": ["I sing of arms."]}


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_cells_are_separated_as_spreadsheets_of_the_region_do(delimiter: str, tmp_path: Path) -> None:
    """Excel writes semicolons where a comma is the decimal sign; names in capitals are no columns that we expect."""
    rows = [["No", "Latin", "Müller"], ["1", "Arma, virum.", "Arms, a man."], ["2", "Cano.", "I sing; listen."]]
    cells = [[f'"{cell}"' if ";" in cell else cell for cell in row] for row in rows]
    _, scanned = proposed(write(tmp_path / "book.csv", "\n".join(map(delimiter.join, cells))))
    assert scanned.source["text"].to_list() == ["Arma, virum.", "Cano."]
    assert scanned.reference["segments"].to_list() == [["Arms, a man."], ["I sing; listen."]]


def test_rows_without_an_id_are_numbered_and_a_name_with_accents_becomes_a_key(tmp_path: Path) -> None:
    table = write(tmp_path / "Énéide I.csv", "latin;smith\nArma.;Arms.\nVirum.;A man.\n")
    description, scanned = proposed(table, "Énéide")
    assert load(description).name == "eneide"
    assert load(description).source.language == "la"
    assert scanned.source["passage_id"].to_list() == ["eneide-i:1", "eneide-i:2"]


def test_a_script_tells_the_language_and_latin_letters_do_not(tmp_path: Path) -> None:
    chinese, _ = proposed(write(tmp_path / "a.csv", "id,source,legge\n1,道可道,The way.\n"), "chinese")
    latin, _ = proposed(write(tmp_path / "b.csv", "id,source,legge\n1,Via.,The way.\n"), "latin")
    assert (load(chinese).source.language, load(latin).source.language) == ("lzh", UNKNOWN)
    assert [line.partition(":")[0] for line in reminders(load(latin))] == [
        "source.language", "source.licence", "references.legge.language", "references.legge.licence"
    ]  # fmt: skip


def test_json_lines_and_a_folder_of_suttacentral_s_layout(tmp_path: Path) -> None:
    line = '{"passage_id": "a:1", "lang": "grc", "source": "λόγος", "references": {"smith": "word"}}\n'
    description, scanned = proposed(write(tmp_path / "texts.jsonl", line))
    assert load(description).source.language == "grc"
    assert len(scanned.reference) == 1
    corpus = write_corpus(tmp_path / "corpus")
    description, scanned = proposed(corpus.parent, "again")
    original = load(corpus)
    assert set(load(description).references) == set(original.references)
    assert scanned.source["text"].equals(scan([original]).source["text"])


def test_editions_in_one_folder_are_source_and_translations(tmp_path: Path) -> None:
    for name, language in (
        ("livy.x.perseus-lat2", "lat"),
        ("livy.x.perseus-eng1", "eng"),
        ("livy.x.perseus-eng2", "eng"),
    ):
        (folder := tmp_path / "livy").mkdir(exist_ok=True)
        write(folder / f"{name}.xml", f'<TEI><text xml:lang="{language}"><body/></text></TEI>')
    write(tmp_path / "livy.yaml", propose(folder, "livy")["livy"])
    description = load(tmp_path / "livy.yaml")
    assert (description.layout, description.source.files) == ("tei", "{document}.x.perseus-lat2.xml")
    assert {name: text.files for name, text in description.references.items()} == {
        "perseus-eng1": "{document}.x.perseus-eng1.xml", "perseus-eng2": "{document}.x.perseus-eng2.xml"
    }  # fmt: skip


def test_a_translation_in_the_language_of_the_source_is_none_and_a_header_names_translators(tmp_path: Path) -> None:
    latin, english = "Senex in horto suo canem dormientem invenit. " * 9, "The old man found the dog asleep. " * 9
    (folder := tmp_path / "fox").mkdir()
    for name, words in (("lat1", latin), ("eng1", latin), ("eng2", english), ("eng3", english)):
        person = '<editor role="translator">Anna B. Vale, Ph.D.</editor>' if name == "eng2" else ""
        text = f'<TEI><teiHeader>{person}</teiHeader><text><body><div n="1"><p>{words}</p></div></body></text></TEI>'
        write(
            folder / f"fox.{name}.xml", text.replace("<text>", '<text xml:lang="eng">' if "eng" in name else "<text>")
        )
    write(tmp_path / "fox.yaml", propose(folder, "fox")["fox"])
    description = load(tmp_path / "fox.yaml")
    assert (description.source.language, description.source.files) == ("la", "{document}.lat1.xml")
    assert {name: text.files for name, text in description.references.items()} == {
        "Vale": "{document}.eng2.xml", "eng3": "{document}.eng3.xml"
    }  # fmt: skip
    assert "# {document}.eng1.xml is not read: in la" in (tmp_path / "fox.yaml").read_text()


def test_aligned_lines_are_a_table_and_other_lines_are_prose(tmp_path: Path) -> None:
    (folder := tmp_path / "fox").mkdir()
    latin = ["Vulpes in horto uvas quaerebat.", "Senex eam vidit, et canem vocavit.", "Canis in horto dormiebat."]
    english = ["A fox was looking for grapes.", "The old man saw her, and called.", "The dog was asleep there."]
    write(folder / "latin.txt", "\n".join(latin))
    write(folder / "vale.txt", "\n".join(english))
    description, scanned = proposed(folder, "fox")
    assert load(description).source.language == "la"
    assert scanned.source["text"].to_list() == latin
    assert scanned.reference["segments"].to_list() == [[line] for line in english]
    write(folder / "vale.txt", "A fox was looking for grapes. The old man saw her, and called.")
    description, scanned = proposed(folder, "prose")
    assert (load(description).layout, load(description).references["vale"].layout) == ("paragraphs", "text")
    assert scanned.source["text"].to_list() == latin


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        ("Book.csv", "book.csv", "did you mean Book.csv?"),
        ("book.CSV", "book.CSV", "rename it, so that it ends in '.csv'"),
        ("book.pdf", "book.pdf", "write one segment a row in a table"),
        ("empty", "empty/", "contains no file"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_can(name: str, asked: str, words: str, tmp_path: Path) -> None:
    if asked.endswith("/"):
        (tmp_path / name).mkdir()
    else:
        write(tmp_path / name, "id,source\n1,Arma.\n")
    with pytest.raises(BadInput, match=words):
        propose(tmp_path / asked, "mine")


LATIN = ["Vulpes in horto senis uvas maturas quaerebat.", "Senex eam vidit et canem suum vocavit.", "Canis dormiebat."]
ENGLISH = ["A fox was looking for ripe grapes in the garden.", "The old man saw her and called his dog.", "It slept."]
GERMAN = ["Ein Fuchs suchte im Garten nach reifen Trauben.", "Der Alte sah ihn und rief seinen Hund.", "Der schlief."]


def page(texts: list[str]) -> str:
    return f"<html><body>{''.join(f'<p>{at}. {text}</p>' for at, text in enumerate(texts, start=1))}</body></html>"


def book(texts: list[str]) -> str:
    return "\n".join(["\\id JON", "\\c 1", *(f"\\v {at} {text}" for at, text in enumerate(texts, start=1))])


@pytest.mark.parametrize(("ending", "written"), [(".html", page), (".usfm", book)])
def test_versions_in_one_folder_are_told_apart_by_their_languages(
    ending: str, written: Callable[[list[str]], str], tmp_path: Path
) -> None:
    (folder := tmp_path / "fox").mkdir()
    for name, texts in {"vale": ENGLISH, "stone": ENGLISH[::-1], "zz": LATIN}.items():
        write(folder / f"{name}{ending}", written(texts))
    description, scanned = proposed(folder, "fox")
    assert (load(description).source.language, load(description).source.files) == ("la", f"zz{ending}")
    assert {name: text.files for name, text in load(description).references.items()} == {
        "vale": f"vale{ending}", "stone": f"stone{ending}"
    }  # fmt: skip
    assert scanned.source["text"].to_list() == [" ".join(LATIN)]
    write(folder / f"zz{ending}", written(GERMAN))
    assert f"Is zz{ending} (de) the source?" in propose(folder, "fox")["fox"]


def test_numbered_word_documents_in_one_folder_are_versions_and_those_with_translations_tables(tmp_path: Path) -> None:
    (folder := tmp_path / "fox").mkdir()
    for name, texts in {"vale": ENGLISH, "zz": LATIN}.items():
        numbered = (paragraph(f"{at}. {text}") for at, text in enumerate(texts, start=1))
        document(folder / f"{name}.docx", "".join(numbered))
    description, _ = proposed(folder, "fox")
    assert (load(description).source.files, load(description).references["vale"].files) == ("zz.docx", "vale.docx")
    for name in ("vale", "zz"):
        pairs = zip(*((LATIN, ENGLISH) if name == "vale" else (LATIN[::-1], ENGLISH[::-1])), strict=True)
        both = (paragraph(f"{at}. {a} {name}") + paragraph(f"{b} {name}") for at, (a, b) in enumerate(pairs, start=1))
        document(folder / f"{name}.docx", "".join(both))
    description, scanned = proposed(folder, "fox")
    assert (load(description).layout, len(scanned.reference)) == ("table", 6)


def test_a_page_is_a_source_with_numbers_or_by_its_paragraphs(tmp_path: Path) -> None:
    description, _ = proposed(write(tmp_path / "fox.html", page(LATIN)))
    assert (load(description).layout, load(description).source.language) == ("html", "la")
    description, _ = proposed(write(tmp_path / "prose.html", f"<p>{' '.join(LATIN)}</p>"), "prose")
    assert (load(description).layout, load(description).source.language) == ("paragraphs", "la")


def test_languages_and_translators_of_moses_are_in_names_and_of_conllu_in_comments(tmp_path: Path) -> None:
    (folder := tmp_path / "fox").mkdir()
    for name, texts in {"book.la": LATIN, "book.vale.en": ENGLISH, "book.stone.en": ENGLISH, "book.de": GERMAN}.items():
        write(folder / name, "\n".join(texts) + "\n")
    description, scanned = proposed(folder, "fox")
    assert (load(description).source.language, [*load(description).references]) == ("la", ["stone", "vale"])
    assert (len(scanned.source), len(scanned.reference), [*propose(folder, "fox")]) == (3, 6, ["fox", "fox-de"])
    sentences = [
        f"# sent_id = {at}\n# text = {a}\n# text_en_vale = {b}\n1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n"
        for at, (a, b) in enumerate(zip(LATIN, ENGLISH, strict=True), start=1)
    ]
    description, scanned = proposed(write(tmp_path / "t.conllu", "\n".join(sentences) + "\n"), "sentences")
    assert (load(description).source.language, [*load(description).references]) == ("la", ["vale"])
    assert len(scanned.reference) == 3


@pytest.mark.parametrize(("lines", "target"), [(ENGLISH, UNKNOWN), (LATIN, "en")])
def test_models_do_not_translate_a_source_into_its_own_language(lines: list[str], target: str, tmp_path: Path) -> None:
    (text,) = propose(write(tmp_path / "fox.txt", "\n\n".join(lines * 9)), "fox").values()
    assert yaml.safe_load(text)["target"] == target


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "gone.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(BadInput, match="is a link to a file that does not exist"):
        propose(tmp_path / "gone.csv", "mine")


def test_a_review_counts_what_is_complete_and_shows_the_first_passage(tmp_path: Path) -> None:
    description, scanned = proposed(write(tmp_path / "book.csv", "id,latin,smith,jones\n" + ROWS))
    lines = list(review(load(description), scanned))
    assert lines[0] == "mine: 2 passages, 2 segments, 1 document, la into und"
    assert {
        "  book.csv: 2 rows, 2 segments, 2 passages",
        "  smith: complete in 2 of 2 passages, in parts in 0",
        "  jones: complete in 1 of 2 passages, in parts in 0",
    } <= {*lines}
    assert list(first_passage(scanned)) == [
        "the first passage as it was read: mine/book:1", "  source: Arma cano.", "  smith: Arms I sing.",
        "  jones: I sing of arms.",
    ]  # fmt: skip


def test_a_missing_column_is_named_as_the_file_names_it(tmp_path: Path) -> None:
    path = write(tmp_path / "book.csv", "id,latin,smith\n1,Arma.,Arms.\n")
    description, _ = proposed(path)
    write(path, "id,lat,smith\n1,Arma.,Arms.\n")
    problems = pl.Series([fault.key for fault in scan([load(description)]).faults])
    assert problems.to_list() == ["line 1 latin", "line 1 lat"]
