"""What scholars drop is opened with the roles, languages, translators and rows that it has, or refused with a reason."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from benchmark_assets.corpus.opening import ALL, MOST, Opening, opened
from resources.errors import BadInput
from tests.corpus.forms import FORMS, LA, PROSE, VALE, Form, columns, joined, placed, separated, tei, text


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
