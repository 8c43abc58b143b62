"""Copies of a text are found however they are disguised, and independent translations are not taken for copies."""

import json
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.folding import letters
from benchmark_assets.corpus.overlap import LEAST, LEAST_PART, LONG, RUN, SHINGLE, Copy, Index, copies
from resources.home import PROJECT
from tests.corpus.disguises import DISGUISES, OTHER, first_words

NOTHING = Index.of([])
TRANSLATORS = ("harrow", "lindqvist", "okafor")


def sample(translator: str) -> list[list[str]]:
    """The passages of the sample by this translator, by document."""
    documents = []
    for path in sorted((PROJECT / f"warehouse/sample/translation/en/{translator}").glob("*.json")):
        passages: dict[str, list[str]] = {}
        for segment, text in json.loads(path.read_text(encoding="utf-8")).items():
            passages.setdefault(segment.rpartition(".")[0], []).append(text.strip())
        documents.append([" ".join(segments) for segments in passages.values()])
    return documents


RESTRICTED = [passage for document in sample("harrow") for passage in document]
INDEX = Index.of(sample("harrow"))


def found(outputs: Sequence[str], index: Index = INDEX, free: Index = NOTHING) -> list[Copy | None]:
    """Copies among outputs that have nothing in common."""
    return copies(outputs, range(len(outputs)), index, lambda: free)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_every_disguise_is_found(disguise: str) -> None:
    chance = random.Random(1)
    part = 3 if "third" in disguise else 2 if "half" in disguise else 1
    texts = [text for text in RESTRICTED if len(letters(first_words(text, part))) >= 1.15 * LEAST_PART]
    assert len(texts) >= 20
    missed = [text for text in texts if not found([DISGUISES[disguise](text, chance)])[0]]
    assert len(missed) <= 0.02 * len(texts), missed


@pytest.mark.parametrize("translator", TRANSLATORS[1:])
def test_other_translations_of_the_same_passages_are_no_copies(translator: str) -> None:
    assert not any(found([text for document in sample(translator) for text in document]))


def test_a_copy_names_its_document_and_the_amount() -> None:
    (copy,) = found([RESTRICTED[-1]])
    assert copy is not None
    assert copy.document == len(sample("harrow")) - 1
    assert copy.amount.startswith("letters in a row: ")


def test_any_passage_of_any_document_is_found() -> None:
    assert all(found([text for text in RESTRICTED if len(letters(text)) >= LEAST + SHINGLE]))


def test_a_text_divided_among_outputs_of_one_model_is_found_in_all_of_them() -> None:
    text = "Then both of the old men went down to the harbor without saying a word about it"
    words = text.split()
    halves = [f"{OTHER} {' '.join(words[:8])}.", f"{' '.join(words[8:])}. {OTHER}"]
    assert len(letters(text)) < 2 * LEAST
    index = Index.of([[text]])
    assert all(copies(halves, ["model", "model"], index, lambda: NOTHING))
    assert not any(copies(halves, ["model", "other"], index, lambda: NOTHING))


LINES = ["the geese went over at dusk", "and nobody in the yard", "looked up from the barrow", "or put down his spade"]


def test_lines_that_are_short_alone_are_found_together() -> None:
    assert max(len(letters(line)) for line in LINES) < LEAST
    assert all(found([" ".join(LINES)], Index.of([LINES])))
    assert all(copies(LINES, [0] * 4, Index.of([LINES]), lambda: NOTHING))
    assert not any(found(LINES, Index.of([LINES])))


def test_short_stretches_are_evidence_if_they_are_most_of_both_texts() -> None:
    index = Index.of([[" quite soon ".join(LINES)]])
    assert found([" by chance ".join(LINES)], index)[0]
    assert not found([f" {OTHER} ".join(LINES)], index)[0]


@given(st.lists(st.text("abcdefghij", min_size=2, max_size=5), min_size=60, max_size=90), st.integers(0, 30))
def test_a_long_run_is_a_copy(words: list[str], start: int) -> None:
    run = "".join(words)[start : start + LONG]
    assert found([f"{OTHER} {run} {OTHER}"], Index.of([[" ".join(words)]]))[0]


def test_the_minimum_is_evidence() -> None:
    text = "".join(LINES).replace(" ", "")[:LEAST]
    assert found([text], Index.of([[text]]))[0]


@given(st.text("abcdefghij", max_size=LEAST - 1))
def test_less_than_the_minimum_is_no_evidence(text: str) -> None:
    assert found([text, f"{OTHER} {text}"], Index.of([[text], [text, "."]])) == [None, None]


@given(st.lists(st.text("abc ", max_size=60), max_size=5), st.lists(st.text("abc ", max_size=60), max_size=5))
def test_runs_are_those_of_a_plain_search(outputs: list[str], passages: list[str]) -> None:
    """Every pair of places with `RUN` equal letters is in a run, and every run consists of equal letters."""
    index = Index.of([passages])
    texts = [letters(output) for output in outputs]
    runs = index.shared(texts)
    for output, start, end, place in zip(*runs, strict=True):
        assert (texts[output][start:end] == index.letters[place : place + end - start]).all()
    covered = {(output, at) for output, start, end, _ in zip(*runs, strict=True) for at in range(start, end)}
    indexed = "".join(map(chr, index.letters // 4))
    for number, text in enumerate(texts):
        plain = "".join(map(chr, text // 4))
        for at in range(len(plain) - RUN + 1):
            if plain[at : at + RUN] in indexed:
                assert {(number, place) for place in range(at, at + RUN)} <= covered


def test_a_phrase_of_several_texts_is_half_the_evidence() -> None:
    phrase = "a guest at the gate of the town by night shall give the name of his house"
    assert LEAST < len(letters(phrase)) < LONG
    assert found([phrase], Index.of([[RESTRICTED[0], phrase]]))[0]
    assert not found([phrase], Index.of([[RESTRICTED[0], phrase], [RESTRICTED[-1], phrase]]))[0]


def test_what_stands_in_an_open_text_is_no_evidence() -> None:
    free = Index.of([[f"He also wrote: {RESTRICTED[0]}"]])
    assert found([RESTRICTED[0], RESTRICTED[1]], free=free)[0] is None
    assert found([RESTRICTED[0], RESTRICTED[1]], free=free)[1]


def test_names_are_no_evidence() -> None:
    names = "Publius Sempronius, Quintus Fabius Maximus, Marcus Valerius Corvus, Lucius Papirius Cursor"
    text = (
        f"They chose {names} and went home again in the evening, because it had begun to rain on the hills. On the day "
        "after, nobody could say who had brought the ladder, who had left it standing there against the wall of the "
        "barn, and why all the hens were sitting on it in a row, from the lowest step to the highest, and were silent."
    )
    assert not found([f"Elected were {names}, as the annals say."], Index.of([[text]]))[0]
    assert found(
        [f"{OTHER} and went home again in the evening, because it had begun to rain on the hills."], Index.of([[text]])
    )[0]


def test_a_formula_of_several_documents_counts_half() -> None:
    formula = "and when the lamp had been lit and all of them had sat down by the fire again, the old man said"
    assert LEAST_PART <= len(letters(formula)) < LONG
    stories = [f"{formula} {text}" for text in RESTRICTED[:3]]
    output = [f"It was late {formula} a few words about the weather, which had been bad since the middle of the week."]
    assert found(output, Index.of([[stories[0]]]))[0]
    assert not found(output, Index.of([[story] for story in stories]))[0]


def test_a_text_that_is_stored_twice_does_not_recur() -> None:
    once, twice = Index.of(sample("harrow")), Index.of([*sample("harrow"), *sample("harrow")])
    assert (twice.weights == [*once.weights, *once.weights]).all()


def test_scripts_without_spaces_are_compared_by_character() -> None:
    index = Index.of([["天地不仁以萬物為芻狗聖人不仁以百姓為芻狗天地之間其猶橐籥乎"]])
    assert found(["天地不仁以萬物為芻狗聖人不仁以百姓"], index)[0]
    assert not found(["道可道非常道名可名非常名無名天地之始"], index)[0]


def test_texts_without_letters_copy_nothing() -> None:
    assert found(["", "12 34", "…"], Index.of([[""], ["12 34", "…"], []])) == [None] * 3
