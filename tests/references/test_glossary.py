"""Whether a term stands in a text, and the file in which a person writes terms."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.literary.glossary_file import read
from benchmark_assets.references.glossary import GLOSSARY, Term, found, rows
from resources.errors import BadInput

WORDS = st.text(st.characters(categories=["L"], max_codepoint=0x24F), min_size=1)
HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1)


# Whether a term stands in a text.


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("dowager lady Chia", "Dowager lady Chia hastened to him."),
        ("Jung mansion", "entered the Jung Mansion, and"),
        ("Yü-ts'un", "It was Yü-ts'un's."),
        ("Kiyo", "“Kiyo!”"),
        ("雨村", "卻說雨村忙回頭"),
        ("NHK", "彼はNHKの人だ"),
        ("ナイフ", "西洋製のナイフを"),
        ("홍길동", "홍길동은 웃었다"),
        ("Mr.", "Mr. Hotta"),
    ],
)
def test_a_term_stands_there_whatever_its_case_and_whatever_script_is_beside_it(phrase: str, text: str) -> None:
    assert found(phrase, text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("ceremonial gate", "three rows of ceremonial gates"),
        ("Chia", "Chiang"),
        ("Yü", "Yu"),
        ("lady Chia", "lady\nChia"),
        ("雨村", "雨 村"),
    ],
)
def test_parts_of_words_and_other_spellings_are_not_it(phrase: str, text: str) -> None:
    assert not found(phrase, text)


def test_a_curled_apostrophe_is_an_apostrophe() -> None:
    assert found("Yü-ts'un", "Yü-ts’un bowed")
    assert found("Yü-ts’un", "Yü-ts'un bowed")


def test_an_accent_may_be_a_sign_of_its_own() -> None:
    for form in ("NFC", "NFD"):
        for other in ("NFC", "NFD"):
            text = unicodedata.normalize(other, "It was YÜ-TS’UN's. 홍길동은")
            assert found(unicodedata.normalize(form, "Yü-ts'un"), text)
            assert found(unicodedata.normalize(form, "홍길동"), text)
            assert not found("Yu", text)


@given(WORDS, WORDS, HAN)
def test_words_are_found_whole_and_ideographs_anywhere(word: str, other: str, han: str) -> None:
    assert found(word, f"{other} {word}, {other}")
    assert found(word, f"{han}{word}{han}")
    assert found(han, f"{word}{han}{word}")
    glued = found(word, f"x{word}x")  # only where the word is in itself again, as 'x' in 'xxx' is not
    assert glued is None


def test_rows_say_what_stands_where() -> None:
    terms = [Term("清", "Kiyo", "feminine"), Term("兄", "brother", None)]
    assert rows("n/1", terms, "file", "清は笑った。", "KIYO laughed.").rows() == [
        ("n/1", "清", "Kiyo", "feminine", "file", True, True),
        ("n/1", "兄", "brother", None, "file", False, False),
    ]
    assert rows("n/1", terms, "model", "", None)["in_human"].to_list() == [None, None]
    assert rows("n/1", [], "file", "", None).schema == GLOSSARY


# The file.


def write(path: Path, *lines: str, header: str = "passage,term,translation,gender") -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8-sig")
    return path


def test_terms_are_read_by_passage_and_columns_for_people_are_not(tmp_path: Path) -> None:
    path = write(
        tmp_path / "terms.csv",
        'true,n/1,清,Kiyo,feminine,"a maid,\nand old"',
        "",
        ",n/1, 兄 ,brother,,",
        ",,,,,",
        ",n/2,,,,nothing here",
        ",n/3,マイナス,'-,neuter,",
        header="in_source,passage,term,translation,gender,note",
    )
    assert read(path, "n") == {
        "n/1": [Term("清", "Kiyo", "feminine"), Term("兄", "brother", None)],
        "n/2": [],
        "n/3": [Term("マイナス", "-", "neuter")],
    }


@pytest.mark.parametrize(
    ("lines", "where", "problem"),
    [
        (["n/1,清,Kiyo,female"], "line 2 n/1 gender", "'female' is not a gender"),
        (["n/1,清,,feminine"], "line 2 n/1 translation", "is empty"),
        (["n/1,,Kiyo,"], "line 2 n/1 term", "is empty"),
        (["n/1,,,neuter"], "line 2 n/1 term", "is empty"),
        ([",清,Kiyo,"], "line 2 passage", "is empty"),
        (["m/1,清,Kiyo,"], "line 2 passage", "'m/1' is not a passage of the corpus"),
        (["1,清,Kiyo,"], "line 2 passage", "'1' is not a passage of the corpus"),
        (["n/1,清,Kiyo,", "n/2,清,Kiyo,", "n/1,清,O-Kiyo,"], "line 4 n/1", "'清' is already in line 2"),
        (["n/1,清,Kiyo,", "n/1,,,"], "line 3 n/1", "says that it has none"),
        (["n/1,,,", "n/1,清,Kiyo,"], "line 3 n/1", "line 2 says that it has none"),
        (["n/1,,,", "n/1,,,"], "line 3 n/1", "a row without a term is already in line 2"),
        (["n/1,清,Kiyo"], "line 2", "has 3 cells"),
        (['n/1,"清\n",Kiyo,', 'n/1,"清"x,Kiyo,'], "line 4", "is not a valid row"),
    ],
)
def test_faults_name_their_line(tmp_path: Path, lines: list[str], where: str, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(write(tmp_path / "terms.csv", *lines), "n")
    assert caught.value.key == where
    assert problem in caught.value.problem


def test_an_unknown_column_is_refused_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "terms.csv", "n/1,清,Kiyo,,x", header="passage,term,translation,gender,in_sauce")
    with pytest.raises(BadInput) as caught:
        read(path, "n")
    assert str(caught.value).startswith(f"{path}: line 1 in_sauce: unknown column; ")
    with pytest.raises(BadInput, match="line 1 genre: unknown column; write `gender`, or remove it"):
        read(write(tmp_path / "terms.csv", header="passage,term,translation,genre"), "n")


@pytest.mark.parametrize("header", ["", "passage,term,translation", "passage,term,term,translation,gender", "a;b"])
def test_other_tables_are_refused(tmp_path: Path, header: str) -> None:
    with pytest.raises(BadInput, match=r"line 1 \w+: the column (is missing|occurs twice)"):
        read(write(tmp_path / "terms.csv", header=header), "n")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"terms\.csv: cannot be read"):
        read(tmp_path / "terms.csv", "n")
