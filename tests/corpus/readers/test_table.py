"""What tables of segments yield, and what they refuse."""

import csv
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.comments import Comment

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Document, Passage, Reference, Segment
from benchmark_assets.corpus.readers.archives import MOST
from benchmark_assets.corpus.readers.table import accounts
from resources.errors import BadInput
from tests.corpus.support import describe, edit, is_text, read_back

Table = Callable[..., tuple[list[Document], list[BadInput]]]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Documents and faults of book.tsv with these lines, beside other.tsv, which is sound; blanks are tabs."""
    (tmp_path / "other.tsv").write_text("segment_id\tsource\tann\tben\nc:1\tSol.\tSun.\t\n")

    def written(*lines: str, header: str = "segment_id source ann ben") -> tuple[list[Document], list[BadInput]]:
        rows = [line.replace(" ", "\t") for line in (header, *lines)]
        (tmp_path / "book.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        return read_back(describe(tmp_path / "c.yaml", "table", tmp_path, ["ann", "ben"]))

    return written


def test_a_table_has_its_documents_with_passages_and_references(table: Table) -> None:
    documents, faults = table(
        "a:1.1 Mus Mouse Mice", "b:1 Sol  Sun", "a:1.2 currit runs ", "a:2.1 Felis  ", "a:2.2   ", "lone.1 Nix Snow "
    )
    assert not faults
    assert [(each.id, each.file.name) for each in documents] == [
        ("a", "book.tsv"), ("b", "book.tsv"), ("book", "book.tsv"), ("c", "other.tsv"),
    ]  # fmt: skip
    assert documents[0].passages == (
        Passage(
            "a:1",
            "la",
            (Segment("a:1.1", "Mus"), Segment("a:1.2", "currit")),
            (Reference("ann", ("Mouse", "runs")), Reference("ben", ("Mice", None))),
        ),
        Passage("a:2", "la", (Segment("a:2.1", "Felis"), Segment("a:2.2", "")), ()),
    )
    assert documents[2].passages[0].id == "lone"


def test_an_unknown_column_is_a_fault_unless_the_description_ignores_it(table: Table, tmp_path: Path) -> None:
    documents, faults = table("x a:1 Mouse Mus y", header="dora segment_id ann source ben")
    assert [document.id for document in documents] == ["c"]
    assert [(fault.key, fault.problem) for fault in faults] == [("line 1 dora", "unknown column")]
    edit(tmp_path / "c.yaml", {"ignore": ["dora"]})
    documents, faults = read_back(tmp_path / "c.yaml")
    assert not faults
    assert documents[0].passages[0].references == (Reference("ann", ("Mouse",)), Reference("ben", ("y",)))


@pytest.mark.parametrize(("name", "delimiter"), [("b.csv", ";"), ("b.csv", "\t"), ("b.tsv", ","), ("b.csv", ",")])
def test_the_delimiter_is_the_one_that_gives_the_columns(tmp_path: Path, name: str, delimiter: str) -> None:
    rows = [["segment_id", "source", "ann"], ["a:1", "Mus; felis, sol\tet nix", "A, b; c\td"]]
    with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    (document,), faults = read_back(describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"]))
    assert not faults
    passage = document.passages[0]
    assert (passage.segments[0].text, passage.references[0].segments) == (rows[1][1], (rows[1][2],))


def test_plain_ids_number_the_passages_of_their_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.tsv").write_text(f"segment_id\tsource\tann\n1\tMus {name}\t\n2\tSol\tSun\n")
    documents, faults = read_back(describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"]))
    assert not faults
    assert [document.id for document in documents] == ["one", "two"]
    assert [(p.id, p.segments) for p in documents[1].passages] == [
        ("two:1", (Segment("two:1.1", "Mus two"),)), ("two:2", (Segment("two:2.1", "Sol"),))
    ]  # fmt: skip


def write_workbook(path: Path, *rows: list[str | float | None]) -> None:
    with xlsxwriter.Workbook(path) as workbook:
        sheet = workbook.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)


def test_a_workbook_is_a_table(tmp_path: Path) -> None:
    header: list[str | float | None] = ["segment_id", "source", "ann"]
    write_workbook(tmp_path / "b.xlsx", header, [1, "Mus", "Mouse"], [None, None, None], [2, "Cafe\u0301", None])
    (tmp_path / "~$b.xlsx").write_bytes(b"owner")
    (document,), faults = read_back(describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"]))
    assert not faults
    assert [(p.id, p.segments[0].text, len(p.references)) for p in document.passages] == [
        ("b:1", "Mus", 1), ("b:2", "Café", 0)
    ]  # fmt: skip


def test_a_faulty_workbook_is_named_by_row(tmp_path: Path) -> None:
    write_workbook(tmp_path / "b.xlsx", ["segment_id", "source", "ann"], [1, "Mus", "\u200b"], [1, None, "Sun"])
    (tmp_path / "c.xlsx").write_bytes(b"not a workbook")
    _, faults = read_back(describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"]))
    assert [(Path(fault.where).name, fault.key) for fault in faults] == [("b.xlsx", "line 2 ann"), ("c.xlsx", "")]
    assert "cannot be read as an archive (File is not a zip file)" in faults[1].problem


def test_a_text_merged_over_several_rows_is_in_none_and_a_formula_needs_its_value(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    for row in [
        ["segment_id", "source", "ann"],
        [1, "Mus", "Mouse and sun"],
        [2, "Sol"],
        [3, "Nix", "Snow"],
        [4, "Via", "Way"],
    ]:
        sheet.append(row)
    sheet.merge_cells("C2:C3")
    workbook.save(tmp_path / "b.xlsx")
    described = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    (document,), faults = read_back(described)
    assert not faults
    assert [(p.id, len(p.references)) for p in document.passages] == [("b:1", 0), ("b:2", 0), ("b:3", 1), ("b:4", 1)]
    _, line = accounts(load(described))
    assert line == "b.xlsx: ann: the cell merged over the rows 2 to 3 is not read; divide it"
    sheet["C6"] = "=COUNTA(C2:C5)"
    workbook.save(tmp_path / "b.xlsx")
    assert not read_back(described)[1]
    sheet["C5"] = '="W"&"ay"'
    workbook.save(tmp_path / "b.xlsx")
    _, (fault,) = read_back(described)
    assert (fault.key, fault.problem) == ("line 5 ann", "has a formula without a value")


@pytest.mark.parametrize("footer", ["Summe: 12", "\nend of the sample"])
def test_a_row_with_one_cell_below_a_table_is_counted_and_is_no_segment(footer: str, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(f"segment_id,source,ann\n1,Mus,Mouse\n2,Sol,Sun\n{footer}\n")
    described = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    (document,), faults = read_back(described)
    assert (len(document.passages), faults) == (2, [])
    assert next(accounts(load(described))) == "b.csv: 3 rows, 2 segments, 2 passages"
    assert any("b.csv: not read, below the segments: line " in line for line in accounts(load(described)))
    (tmp_path / "b.csv").write_text("segment_id,source,ann\n1,Mus,Mouse\n2,Sol,Sun\nand moon\n")
    _, (fault,) = read_back(described)
    assert fault.key == "line 4"


def test_rows_of_single_texts_are_joined_by_chapter_and_verse(tmp_path: Path) -> None:
    rows = ["1\t1\tlat\tMus", "\t1\tann\tMouse", "\t2\tlat\tSol", "2\t1\tlat\tNix", "\t1\tann\tSnow", "\t1\tgpt\tIce"]
    (tmp_path / "b.tsv").write_text("\n".join(["ch\tv\tby\ttext", *rows]))
    described = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    columns = {"segment_id": ["ch", "v"], "source": "lat"}
    edit(described, {"columns": columns, "pivot": ["by", "text"], "ignore": ["gpt"], "passage": "row"})
    (document,), faults = read_back(described)
    assert not faults
    assert [(p.id, p.segments[0].text, [r.segments for r in p.references]) for p in document.passages] == [
        ("b:1.1", "Mus", [("Mouse",)]), ("b:1.2", "Sol", []), ("b:2.1", "Nix", [("Snow",)])
    ]  # fmt: skip
    (tmp_path / "b.tsv").write_text("\n".join(["ch\tv\tby\ttext", *rows, "\t1\tann\tSleet"]))
    _, (fault,) = read_back(described)
    assert (fault.key, fault.problem) == ("line 8 ann", "has two texts with this id")
    edit(described, {"pivot": ["who", "text"]})
    _, faults = read_back(described)
    assert "line 1 who" in [each.key for each in faults]


def test_the_corrections_in_the_folder_of_the_texts_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "book.jsonl").write_text('{"passage_id": "a:1", "lang": "la", "source": "Mus."}\n')
    (tmp_path / "corrections.jsonl").write_text('{"segment": "a:1", "translator": "ann", "text": null}\n')
    path = describe(tmp_path / "c.yaml", "jsonl", tmp_path, ["ann"])
    edit(path, {"corrections": "corrections.jsonl"})
    documents, faults = read_back(path)
    assert (len(documents), faults) == (1, [])


def test_one_file_may_be_the_corpus(tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    path.write_bytes(b'\xef\xbb\xbfsegment_id,source,ann\r\na:1,"Mus, inquit,\r\n""currit""",Mouse\r\n\r\na:2,Sol,\r\n')
    (document,), faults = read_back(describe(tmp_path / "c.yaml", "table", path, ["ann"]))
    assert not faults
    assert [each.text for p in document.passages for each in p.segments] == ['Mus, inquit,\n"currit"', "Sol"]


CELLS = (
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"], include_characters="\n\t"))
    .map(str.strip)
    .filter(is_text)
)


@given(
    st.sampled_from([".csv", ".tsv"]),
    st.lists(st.lists(st.tuples(CELLS.filter(bool), CELLS, CELLS), min_size=1, max_size=3), min_size=1, max_size=3),
)
def test_a_table_reads_back_as_it_was_written(ending: str, passages: list[list[tuple[str, str, str]]]) -> None:
    """Whatever the cells hold: delimiters, line breaks, quotation marks."""
    rows = [(f"a:{p}.{s}", *cells) for p, segments in enumerate(passages) for s, cells in enumerate(segments)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"book{ending}")
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter={".csv": ",", ".tsv": "\t"}[ending]).writerows(
                [("segment_id", "source", "ann", "ben"), *rows]
            )
        (document,), faults = read_back(describe(Path(folder, "c.yaml"), "table", path, ["ann", "ben"]))
    assert not faults
    assert [(s.id, s.text) for passage in document.passages for s in passage.segments] == [row[:2] for row in rows]
    for column, translator in ((2, "ann"), (3, "ben")):
        found = {
            segment.id: text
            for passage in document.passages
            for reference in passage.references
            if reference.translator == translator
            for segment, text in zip(passage.segments, reference.segments, strict=True)
            if text is not None
        }
        assert found == {row[0]: row[column] for row in rows if row[column]}


@pytest.mark.parametrize(
    ("lines", "keys", "problem"),
    [
        (["b:1.1 Sol  "], ["line 4 b:1.1"], "the segment is also in line 3"),
        (["b:2.1   ", "b:2.2   "], ["line 4 b:2"], "the source of the passage is empty"),
        (["b:2.1  Sun "], ["line 4 b:2"], "the source of the passage is empty"),
        (["b:2.1 Nix  ", "b:1.2 Ver  "], ["line 5 b:1.2"], "is separated from the other segments of b:1"),
        (["b:2.1 Nix  ", "b:1.2 Ver  ", "b:1.2   "], ["line 6 b:1.2", "line 5 b:1.2"], ""),
    ],
)
def test_a_faulty_segment_leaves_only_its_own_document_out(
    table: Table, tmp_path: Path, lines: list[str], keys: list[str], problem: str
) -> None:
    documents, faults = table("a:1 Mus  ", "b:1.1 Sol  ", *lines)
    assert [each.id for each in documents] == ["a", "c"]
    assert [(fault.where, fault.key) for fault in faults] == [(str(tmp_path / "book.tsv"), key) for key in keys]
    assert all(problem in fault.problem and fault.remedy for fault in faults)


@pytest.mark.parametrize(
    ("lines", "keys", "problem"),
    [
        (["b:1 Sol"], ["line 3"], "has 2 cells, but the table has 4 columns"),
        (["b:1 Sol   x"], ["line 3"], "has 5 cells"),
        ([" Sol  ", "b:1 Nix  "], ["line 3 segment_id"], "is empty"),
        (["", '"b:1" "So\nl" "Sun" ""', "b:2 Nix", "b:3 Nix"], ["line 6", "line 7"], "has 2 cells"),
        (['b:1 Sol "Sun" '], [], ""),
        (['b:1 "Sol,"inquit  '], ["line 3"], "is not a valid row"),
        (['b:1 "Sol  ', "b:2 Nix  "], ["line 3"], "is not a valid row"),
        ([".1 Sol  "], ["line 3 .1"], "the id does not name a passage"),
    ],
)
def test_a_row_that_cannot_be_read_is_told_by_its_line(
    table: Table, lines: list[str], keys: list[str], problem: str
) -> None:
    documents, faults = table("a:1 Mus  ", *lines)
    assert "c" in [each.id for each in documents]
    assert [fault.key for fault in faults] == keys
    assert all(problem in fault.problem and fault.remedy for fault in faults)
    assert ("a" in [each.id for each in documents]) == (problem in ("", "the id does not name a passage"))


@pytest.mark.parametrize(
    ("header", "keys", "problem"),
    [
        ("segment_id source ann", ["line 1 ben"], "the column is missing"),
        ("id source ann text", ["line 1 segment_id", "line 1 ben", "line 1 id", "line 1 text"], ""),
        ("segment_id source ann ben ann", ["line 1 ann"], "the column occurs twice"),
        ('"segment_id source ann ben', ["line 1"], "is not a valid row"),
        ("", ["line 1 segment_id", "line 1 source", "line 1 ann", "line 1 ben"], "the column is missing"),
    ],
)
def test_a_column_that_is_missing_is_named(table: Table, header: str, keys: list[str], problem: str) -> None:
    documents, faults = table("a:1 Mus  ", header=header)
    assert [each.id for each in documents] == ["c"]
    assert [fault.key for fault in faults] == keys
    assert all(problem in fault.problem and fault.remedy for fault in faults)


def test_a_table_without_rows_is_a_fault(table: Table) -> None:
    _, (fault,) = table()
    assert (Path(fault.where).name, fault.problem) == ("book.tsv", "contains no segments")


def test_a_document_may_not_be_spread_over_two_tables(table: Table, tmp_path: Path) -> None:
    documents, (fault,) = table("c:9 Luna  ")
    assert [each.id for each in documents] == ["c"]
    assert (fault.where, fault.key) == (str(tmp_path / "other.tsv"), "c")


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("empty", r"empty: contains no \.tsv or \.csv or \.xlsx or \.ods or \.docx file"),
        ("c.yaml", r"c\.yaml: has an unknown file name extension"),
    ],
)
def test_a_root_without_a_table_is_refused(tmp_path: Path, root: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=message):
        read_back(describe(tmp_path / "c.yaml", "table", tmp_path / root, ["ann"]))


def test_a_table_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "book.tsv").write_bytes("segment_id\tsource\nMûs".encode("latin-1"))
    _, (fault,) = read_back(describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"]))
    assert (fault.key, fault.problem) == ("byte 19", "is not UTF-8")


def test_rows_are_passages_if_the_description_says_so(tmp_path: Path) -> None:
    """By default, ids that agree up to their last dot name one passage."""
    (tmp_path / "b.csv").write_text("segment_id,source,ann\n1.1,Mus.,Mouse.\n1.2,Sol.,Sun.\n1.3,,\n1.4,,Moon.\n")
    path = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    (document,), faults = read_back(path)
    assert ([passage.id for passage in document.passages], faults) == (["1"], [])
    assert list(accounts(load(path))) == [
        "b.csv: 4 rows, 4 segments, 1 passages; ids that agree up to their last dot name one passage"
    ]
    edit(path, {"passage": "row"})
    (document,), faults = read_back(path)
    assert [passage.id for passage in document.passages] == ["b:1.1", "b:1.2"]
    assert list(accounts(load(path))) == [
        "b.csv: 4 rows, 2 segments, 2 passages", "b.csv: not read, without text: line 4",
        "b.csv: not read, without a source: line 5",
    ]  # fmt: skip


def test_titles_counts_and_columns_beside_the_text_are_no_text(tmp_path: Path) -> None:
    lines = ["On mice,,,,", ",,,,", "No,Latin,Ann,Locus,", "1,Mus.,Mouse.,ep. 1,", "2,Sol.,Sun.,ep. 2,", ",2 rows,,,"]
    (tmp_path / "b.csv").write_text("\n".join(lines))
    path = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    columns = {"segment_id": "No", "source": "Latin", "ann": "Ann"}
    edit(path, {"columns": columns, "asides": {"Locus": "reference"}})
    (document,), faults = read_back(path)
    assert ([passage.id for passage in document.passages], faults) == (["b:1", "b:2"], [])
    assert [(aside.segment, aside.kind, aside.text) for aside in document.asides] == [
        ("b:1.1", "reference", "ep. 1"), ("b:2.1", "reference", "ep. 2")
    ]  # fmt: skip


def test_ids_are_joined_and_repeated_and_columns_need_no_heads(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("Mus,1,1,Mus.,Mouse.\n,,2,Sol.,Sun.\n,2,1,Nix.,Snow.\nFelis,1,1,Felis.,Cat.\n")
    path = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    columns = {"document": "column 1", "segment_id": ["column 2", "column 3"], "source": "column 4", "ann": "column 5"}
    edit(path, {"columns": columns, "heads": [], "passage": "row"})
    documents, faults = read_back(path)
    assert not faults
    assert {document.id: [passage.id for passage in document.passages] for document in documents} == {
        "Mus": ["Mus:1.1", "Mus:1.2", "Mus:2.1"], "Felis": ["Felis:1.1"]
    }  # fmt: skip


def test_heads_of_two_rows_are_joined(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(",,English,\nNo,Latin,Ann,Ben\n1,Mus.,Mouse.,Mice.\n")
    path = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann", "ben"])
    columns = {"segment_id": "No", "source": "Latin", "ann": "English Ann", "ben": "Ben"}
    edit(path, {"columns": columns, "heads": [1, 2]})
    (document,), faults = read_back(path)
    assert not faults
    assert document.passages[0].references == (Reference("ann", ("Mouse.",)), Reference("ben", ("Mice.",)))


def test_tables_of_translators_join_the_source_by_id(tmp_path: Path) -> None:
    for name, rows in {"latin": "1,Mus.\n2,Sol.\n", "ann": "2,Sun.\n3,Snow.\n"}.items():
        (tmp_path / f"{name}.csv").write_text(f"n,text\n{rows}")
    path = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    edit(path, {"columns": {"segment_id": "n", "source": "text", "ann": "text"}, "passage": "row"})
    files = {"source": "latin.csv", "references": "ann.csv"}
    texts = {key: {"licence": "CC0-1.0", "files": file} for key, file in files.items()}
    edit(path, {"source": {**texts["source"], "language": "la"}})
    edit(path, {"references": {"ann": {**texts["references"], "language": "en"}}})
    (document,), faults = read_back(path)
    assert not faults
    assert [(p.id, p.references) for p in document.passages] == [
        ("latin:1", ()), ("latin:2", (Reference("ann", ("Sun.",)),))
    ]  # fmt: skip
    assert list(accounts(load(path)))[1:] == ["latin.csv: ann: 1 rows have no source (latin:3.1)"]


def test_a_number_is_read_as_it_is_shown_with_the_comments_and_sheets_of_the_workbook(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].append(["This workbook has mice."])
    for name, text in (("One", "Mus."), ("Two", "Sol.")):
        sheet = workbook.create_sheet(name)
        for row in (["segment_id", "source", "ann"], [1.1, text, "Mouse."]):
            sheet.append(row)
        sheet["A2"].number_format = "0.00"
        sheet["B2"].comment = Comment("sic", "editor")
    workbook.save(tmp_path / "b.xlsx")
    path = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    edit(path, {"sheets": ["One", "Two"], "passage": "row", "asides": {"column 4": "note"}})
    documents, faults = read_back(path)
    assert not faults
    assert [(document.id, document.passages[0].id, document.asides[0].text) for document in documents] == [
        ("b-One", "b-One:1.10", "sic"), ("b-Two", "b-Two:1.10", "sic")
    ]  # fmt: skip


def test_a_workbook_that_unpacks_to_any_size_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as archive:
        archive.writestr("a", bytes(123_457))
    content = (tmp_path / "b.xlsx").read_bytes()
    stated = struct.pack("<I", 123_457)
    (tmp_path / "b.xlsx").write_bytes(content.replace(stated, struct.pack("<I", MOST + 1)))
    _, (fault,) = read_back(describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"]))
    assert fault.problem == "unpacks to more than 200 MB"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.json", '{"mice": [{"n": "1", "text": "Mus.", "by": {"ann": "Mouse."}}]}'),
        ("b.json", '{"1": {"text": "Mus.", "by": {"ann": "Mouse."}}}'),
        ("b.json", '[{"n": 1, "text": "Mus.", "by": [{"translator": "ann", "text": "Mouse."}]}]'),
        ("b.jsonl", '{"n": 1, "text": "Mus.", "by": {"ann": "Mouse."}}\n'),
    ],
)
def test_records_are_rows(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    path = describe(tmp_path / "c.yaml", "table", tmp_path / name, ["ann"])
    edit(path, {"columns": {"segment_id": "key" if '"1":' in content else "n", "source": "text", "ann": "by.ann"}})
    (document,), faults = read_back(path)
    assert not faults
    assert document.passages[0].references == (Reference("ann", ("Mouse.",)),)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_stated_encoding_and_utf16_are_read(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes("segment_id;source;ann;\r\n1;Mûs;Mouse;\r\n".encode(encoding))
    path = describe(tmp_path / "c.yaml", "table", tmp_path, ["ann"])
    edit(path, {"encoding": "cp1252"})
    (document,), faults = read_back(path)
    assert (document.passages[0].segments[0].text, faults) == ("Mûs", [])
