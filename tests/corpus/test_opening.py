"""What scholars drop is opened with the roles, languages, translators and rows that it has, or refused with reason."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from benchmark_assets.corpus.opening import ALL, MOST, Opening, opened, works
from resources.errors import BadInput
from tests.corpus import forms
from tests.corpus.forms import (
    DE,
    FORMS,
    LA,
    NO,
    PERSEUS,
    STONE,
    VALE,
    Form,
    columns,
    joined,
    placed,
    separated,
    text,
    word,
)


def drop(form: Form, folder: Path, answers: Mapping[str, str] | None = None) -> Opening:
    """Open a form in a folder."""
    form.write(folder / form.name)
    return opened(folder / form.name, answers or {})


def found(opening: Opening) -> tuple[str, dict[str, str], int]:
    """Language of the source, languages by translator, number of segments."""
    source, *others = opening.taken
    return source.language, {each.role.casefold(): each.language for each in others if each.role}, opening.segments


@pytest.mark.parametrize("form", [form for form in FORMS if form.source], ids=lambda form: form.name)
def test_a_form_is_taken_for_what_it_is(form: Form, tmp_path: Path) -> None:
    opening = drop(form, tmp_path)
    assert found(opening) == (form.source, dict(form.translators), form.segments)
    assert len(opening.asked) <= MOST
    assert all(each.texts and len(each.texts) <= 5 for each in opening.taken if each.role)
    assert all(each.default in (each.choices or (each.default,)) for each in opening.asked)


@pytest.mark.parametrize("form", [form for form in FORMS if form.refused], ids=lambda form: form.name)
def test_what_cannot_be_evaluated_is_refused_with_the_reason(form: Form, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refusal:
        drop(form, tmp_path)
    assert form.refused in str(refusal.value)
    assert len(refusal.value.remedy) > 10


@pytest.mark.parametrize("form", [form for form in FORMS if form.works], ids=lambda form: form.name)
def test_a_collection_opens_as_a_list_of_works(form: Form, tmp_path: Path) -> None:
    opening = drop(form, tmp_path)
    assert (list(opening.works), opening.asked[0].key) == (list(form.works), "work")
    second = opened(tmp_path / form.name, {"work": form.works[1]})
    assert second.name == f"{form.name}-{form.works[1]}"
    everything = opened(tmp_path / form.name, {"work": ALL})
    assert list(everything.descriptions) == [f"{form.name}-{work}" for work in form.works]


def test_answers_change_what_is_read_and_the_description_says_so(tmp_path: Path) -> None:
    rows = columns(["No", "Latin", "Latin B", "English", "AI", "Kern"], NO, LA, [f"{line} Sic." for line in LA], VALE,
                   STONE, DE)  # fmt: skip
    form = Form("pons.csv", separated(rows))
    opening = drop(form, tmp_path)
    assert [(each.key, each.default) for each in opening.asked] == [
        ("source", "Latin"), ("into", "en"), ("role AI", "none")
    ]  # fmt: skip
    assert [each.reason for each in opening.taken if each.name == "AI"] == ["perhaps outputs of a model"]
    assert "not asked: Who translated English?" in opening.remarks
    answers = {"source": "Latin B", "role AI": "translation", "translator English": "Anna Vale"}
    description = yaml.safe_load(opened(tmp_path / "pons.csv", answers).description)
    assert description["columns"] == {
        "segment_id": "No", "source": "Latin B", "anna-vale": "English"
    }  # fmt: skip
    assert set(description["references"]) == {"anna-vale", "AI"}
    german = opened(tmp_path / "pons.csv", {"into": "de"})
    assert found(german) == ("la", {"kern": "de"}, 12)


def test_files_of_prose_change_their_roles_by_answers(tmp_path: Path) -> None:
    (tmp_path / "pons").mkdir()
    files = {"latin.txt": LA, "latin_b.txt": LA, "english.txt": VALE, "system 2.txt": STONE}
    placed({name: text(*joined(lines, len(name) - 7, 9)) for name, lines in files.items()})(tmp_path / "pons")
    opening = opened(tmp_path / "pons", {})
    assert [each.key for each in opening.asked] == ["source", "role system 2.txt", "translator translation"]
    answers = {"source": "latin_b.txt", "role system 2.txt": "translation", "translator translation": "vale"}
    again = opened(tmp_path / "pons", answers)
    assert [(each.name, each.role) for each in again.taken] == [
        ("latin_b.txt", "source"), ("english.txt", "vale"), ("system 2.txt", "system"), ("latin.txt", "")
    ]  # fmt: skip
    assert yaml.safe_load(again.description)["corrections"] == "pons.corrections.jsonl"


def test_a_description_that_exists_is_kept_and_nothing_is_asked(tmp_path: Path) -> None:
    form = next(each for each in FORMS if each.name == "languages.xlsx")
    (tmp_path / "languages.yaml").write_text("name: languages\n")
    opening = drop(form, tmp_path)
    assert opening.asked == []
    assert "exists, and is used as it is" in opening.remarks[-1]


def test_works_below_a_clone_are_described_beside_it(tmp_path: Path) -> None:
    placed(PERSEUS)(tmp_path / "clone")
    opening = opened(tmp_path / "clone", {"work": "phi002"})
    assert yaml.safe_load(opening.description)["root"] == "clone/data/phi9001/phi002"
    with pytest.raises(BadInput, match="choose one of phi001, phi002, or all"):
        opened(tmp_path / "clone", {"work": "phi003"})


def test_a_work_may_have_another_in_a_subfolder(tmp_path: Path) -> None:
    table = separated(columns(["No", "Latin", "Vale"], NO, LA, VALE))
    placed({"x/pons.csv": table, "x/y/via.csv": table})(tmp_path / "all")
    assert list(works(tmp_path / "all")) == ["x", "x/y"]


def test_tables_of_several_forms_are_works_and_a_warning_is_shown_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = columns(["No", "Latin", "Vale"], NO, LA, VALE)
    other = columns(["v", "Text", "Stone", "Kern"], NO, LA, STONE, DE)
    files = {"pons.csv": separated(rows), "via.docx": word("A word before the table.", rows=other)}
    placed(files)(tmp_path / "mine")
    assert list(opened(tmp_path / "mine", {"work": "via"}).works) == ["pons", "via"]
    assert sum("outside the rows of its tables" in message for message in caplog.messages) == 1


@pytest.mark.parametrize("name", ["kanripo", "osis", "tei"])
def test_numbers_that_a_translation_shares_with_its_source_divide_it(name: str, tmp_path: Path) -> None:
    """Also if it leaves some out."""
    lines = [f"{number} {line}" for number, line in zip(forms.VERSES, VALE, strict=True)]
    kept = [*lines[:3], *lines[4:8], lines[9]]
    sources = {"kanripo": forms.KANRIPO, "osis": forms.osis("la", LA), "tei": forms.tei("lat", LA)}
    files = {"pons.txt" if name == "kanripo" else "pons.xml": sources[name], "vale.txt": text(*kept)}
    placed(files)(tmp_path / "mine")
    opening = opened(tmp_path / "mine", {})
    translation = next(each for each in opening.taken if each.role == "vale")
    assert yaml.safe_load(opening.description)["references"]["vale"]["layout"] == "numbered-text"
    assert (translation.texts[3], opening.segments) == (VALE[4], 12)


@pytest.mark.parametrize("name", ["latin.txt", "latin.xml"])
def test_the_only_translation_may_be_of_a_part_and_a_further_one_is_asked_for(name: str, tmp_path: Path) -> None:
    source = text(*joined(LA, 4, 8)) if name == "latin.txt" else forms.tei("lat", LA)
    placed({name: source, "vale.txt": text(*joined(VALE[:5], 2))})(tmp_path / "mine")
    (question,) = (each for each in opened(tmp_path / "mine", {}).asked if each.key == "role vale.txt")
    assert ("much shorter than the source" in question.text, question.default) == (True, "translation")
    placed({"stone.txt": text(*joined(STONE, 5))})(tmp_path / "mine")
    opening = opened(tmp_path / "mine", {})
    (question,) = (each for each in opening.asked if each.key == "role vale.txt")
    assert (question.default, [each.role for each in opening.taken if each.role]) == ("none", ["source", "stone"])
