"""What replies say: good ones as they stand, spoilt ones as far as they leave no doubt, never one that was guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.understanding.parsing import STEPS, Parsed, parse_label, parse_spans, words
from resources.provider.reading import Outcome, Reading

CLASSES = ["VERSE", "PROSE", "NOT_TEXT"]
VALUES = {"Vers": "VERSE", "3": "VERSE", "true": "PROSE"}
METRES = ["anuṣṭubh_pathyā", "anuṣṭubh_vipulā", "āryā"]
TYPES = ["MET", "SIM"]

TEXTS = st.text(st.characters(codec="utf-8"))
SPANS = st.lists(st.tuples(st.sampled_from(TYPES), TEXTS.filter(str.strip)), max_size=4)
PIECES = st.sampled_from(
    ['{"label": ', '"VERSE"', "'PROSE'", "}", "{", "[", "]", ",", "```", "```json\n", '"prediction": ', '"LABEL": ',
     "<think>", "</think>", '"MET"', '"SPAN": ', '"x"', "('MET', 'x')", "not ", "verse", " ", "\\", "\n", "1", "null",
     "\ud800", "\0"]
)  # fmt: skip
OUTCOMES = st.sampled_from(
    [Outcome.ANSWERED, Outcome.LENGTH, Outcome.CUT, Outcome.REFUSED, Outcome.EMPTY, Outcome.TOO_LONG]
)


def reply(text: str, outcome: Outcome = Outcome.ANSWERED, finish: str = "stop") -> Reading:
    return Reading(outcome, text, finish=finish)


def labelled(text: str, outcome: Outcome = Outcome.ANSWERED, finish: str = "stop") -> Parsed:
    return parse_label(reply(text, outcome, finish), CLASSES, VALUES)


def marked(text: str, outcome: Outcome = Outcome.ANSWERED, finish: str = "stop") -> Parsed:
    return parse_spans(reply(text, outcome, finish), TYPES)


def prediction(*spans: tuple[str, str]) -> str:
    return json.dumps({"prediction": [{"LABEL": kind, "SPAN": text} for kind, text in spans]}, ensure_ascii=False)


# Whatever comes.


@given(st.one_of(TEXTS, st.lists(PIECES, max_size=30).map("".join)), OUTCOMES, st.sampled_from(["stop", "length", ""]))
def test_every_text_is_an_answer_or_has_a_problem_in_words(text: str, outcome: Outcome, finish: str) -> None:
    label, spans = labelled(text, outcome, finish), marked(text, outcome, finish)
    assert (label.label in CLASSES) == (label.problem == "")
    assert not (spans.spans and spans.problem)
    assert all(kind in TYPES and words.strip() for kind, words in spans.spans)
    assert {*label.steps, *spans.steps} <= set(STEPS)


@given(st.sampled_from(CLASSES), st.sampled_from([None, 1, 4]))
def test_a_strict_class_is_taken_as_it_is(label: str, indent: int | None) -> None:
    assert labelled(json.dumps({"label": label}, indent=indent), finish="") == Parsed(label)


@given(SPANS, st.booleans())
def test_strict_spans_are_taken_as_they_are(spans: list[tuple[str, str]], escaped: bool) -> None:
    said = {"prediction": [{"LABEL": kind, "SPAN": text} for kind, text in spans]}
    assert marked(json.dumps(said, ensure_ascii=escaped), finish="") == Parsed(spans=tuple(spans))


# Classes.


@pytest.mark.parametrize(
    ("text", "label", "steps"),
    [
        ('```json\n{"label": "VERSE"}\n```', "VERSE", "fence"),
        ('Here it is:\n```\n{"label": "VERSE"}\n```\nGladly.', "VERSE", "fence around"),
        ('The answer is {"label": "PROSE"}, I think [sic].', "PROSE", "around"),
        ('{"label": "PROSE"}\n{"label": "PROSE"}', "PROSE", "around"),
        ("{'label': 'VERSE',}", "VERSE", "repaired"),
        ('{"label": "VERSE", "why": "two\nlines"}', "VERSE", "repaired extra"),
        ('{"Label": "VERSE"}', "VERSE", "key"),
        ('{"labels": ["VERSE"]}', "VERSE", "list key"),
        ('{"label": "VERSE", "why": "it scans"}', "VERSE", "extra"),
        ('{"label": "Prose"}', "PROSE", "case"),
        ('{"label": "not text"}', "NOT_TEXT", "spelling"),
        ('{"label": 2}', "PROSE", "number"),
        ('{"label": "1"}', "VERSE", "number"),
        ('{"label": true}', "PROSE", "value"),
        ('{"label": "vers"}', "VERSE", "value"),
        ('["VERSE"]', "VERSE", "list"),
        ('[{"label": "VERSE"}]', "VERSE", "list"),
        ('"VERSE"', "VERSE", "bare"),
        ("VERSE", "VERSE", "bare"),
        ("**Verse.**", "VERSE", "bare spelling"),
        ('{"label": "This is verse, clearly."}', "VERSE", "sentence"),
        ("The text is prose.", "PROSE", "sentence"),
        ("This is not text.", "NOT_TEXT", "sentence"),
    ],
)  # fmt: skip
def test_a_class_that_leaves_no_doubt_is_taken_and_the_steps_recorded(text: str, label: str, steps: str) -> None:
    parsed = labelled(text)
    assert (parsed.label, words(parsed.steps), parsed.problem) == (label, steps, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "names no class"),
        ("I cannot say.", "names no class"),
        ("It is verse or prose.", "several classes: PROSE, VERSE"),
        ("It isn't verse.", "has a negation, and names VERSE"),
        ("A universe.", "names no class"),
        ("There are 3 of them, true.", "names no class"),
        ('{"label": "VERSE"} or rather {"label": "PROSE"}', "several answers that differ"),
        ('{"label": "VERSE", "label": "PROSE"}', "occurs twice"),
        ('{"label": "VERSE", "Label": "PROSE"}', "which differ"),
        ("{'label': 'VERSE', 'label': 'PROSE'}", "occurs twice"),
        ('{"label": ["VERSE", "PROSE"]}', "several classes"),
        ('{"label": "3"}', "several classes: NOT_TEXT, VERSE"),  # the third class, or the value of another
        ('{"label": 0}', "names no class"),
        ('{"label": 4}', "names no class"),
        ('{"label": 1.0}', "is not a class"),
        ('{"label": null}', "is not a class"),
        ('{"label": []}', "an empty list"),
        ('{"class": "VERSE"}', "has no `label`"),
        ("{'label': 'VERSE', 'x': {\"label\": \"PROSE\"}", "cannot be mended"),
    ],
)  # fmt: skip
def test_what_leaves_a_doubt_is_unusable_in_words(text: str, problem: str) -> None:
    parsed = labelled(text)
    assert parsed.label is None
    assert problem in parsed.problem


def test_nothing_is_mended_where_the_model_did_not_end_itself() -> None:
    assert labelled("{'label': 1,}").label == "VERSE"
    assert labelled("{'label': 1,}", finish="").problem
    assert labelled("{'label': 1,}", Outcome.LENGTH, "length").problem


@pytest.mark.parametrize("written", ["anustubh pathya", "Anuṣṭubh-Pathyā", "anus\u0323t\u0323ubh_pathya\u0304"])
def test_diacritics_and_separators_do_not_matter_where_one_class_is_left(written: str) -> None:
    parsed = parse_label(reply(json.dumps({"label": written})), METRES, {})
    assert (parsed.label, parsed.steps) == (METRES[0], ("spelling",))
    assert parse_label(reply('{"label": "anuṣṭubh"}'), METRES, {}).problem
    assert parse_label(reply(f"The metre is {written}."), METRES, {}).label == METRES[0]


def test_marks_of_other_scripts_are_letters() -> None:
    # Two Tibetan words that differ by a vowel sign alone.
    assert parse_label(reply('{"label": "བོད"}'), ["བད", "བུད"], {}).problem
    assert parse_label(reply("བུད་ ཡིན།"), ["བད", "བུད"], {}).label == "བུད"


@given(st.sampled_from(CLASSES), st.integers(0, 40))
def test_a_class_of_a_reply_that_was_cut_off_is_the_whole_one_or_none(label: str, at: int) -> None:
    whole = json.dumps({"why": "it [scans]", "label": label})
    parsed = labelled(whole[:at], Outcome.LENGTH, "length")
    assert parsed.label in (label, None)
    assert parsed.steps[:1] == ("cut",)
    assert labelled(whole, Outcome.CUT).label == label


@pytest.mark.parametrize("text", ['{"label": 1', '{"label": ["VERSE"', "It is verse", '{"label": "VERSE', "VERSE"])
def test_what_might_have_gone_on_is_no_class(text: str) -> None:
    assert "cut off" in labelled(text, Outcome.LENGTH).problem


def test_a_refusal_is_unusable_in_its_own_words() -> None:
    refused = Reading(Outcome.REFUSED, detail="I would rather not.")
    assert parse_label(refused, CLASSES, VALUES) == Parsed(problem="refused: I would rather not.")
    assert parse_spans(refused, TYPES) == Parsed(problem="refused: I would rather not.")


# Spans.


@pytest.mark.parametrize(
    ("text", "spans", "steps"),
    [
        ('{"predictions": [{"label": "met", "Span": "a"}]}', [("MET", "a")], "key case"),
        ('[{"LABEL": "MET", "SPAN": "a"}]', [("MET", "a")], "list"),
        ('{"prediction": [["MET", "a"], ["SIM", "b"]]}', [("MET", "a"), ("SIM", "b")], "tuple"),
        ("{'prediction': [('MET', 'say \"a\"')]}", [("MET", 'say "a"')], "repaired tuple"),
        ('{"prediction": [{"LABEL": "MET", "SPAN": "a\nb"},]}', [], None),
        ('{"prediction": [{"LABEL": "MET", "SPAN": "a\nb"}]}', [("MET", "a\nb")], "repaired"),
        ('{"prediction": [{"LABEL": "MET", "SPAN": "a"},]}', [("MET", "a")], "repaired"),
        ('{"prediction": [{"LABEL": "MET", "SPAN": " "}]}', [], "blank"),
        ('{"prediction": [{"LABEL": "MET", "SPAN": "a", "n": 1}, 7]}', [("MET", "a")], "extra dropped"),
        ('{"prediction": [{"LABEL": "FOO", "SPAN": "b"}, {"LABEL": "MET", "SPAN": "a"}]}', [("MET", "a")], "dropped"),
        ('None are there: {"prediction": []}', [], "around"),
    ],
)  # fmt: skip
def test_spans_that_leave_no_doubt_are_taken_and_the_steps_recorded(
    text: str, spans: list[tuple[str, str]], steps: str | None
) -> None:
    parsed = marked(text)
    assert (list(parsed.spans), parsed.problem == "") == (spans, steps is not None)
    if steps is not None:
        assert words(parsed.steps) == steps


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("There are none.", "no JSON"),
        ('{"spans": []}', "has no `prediction`"),
        ('{"prediction": "a"}', "is not a list"),
        ('{"prediction": null}', "is not a list"),
        ('{"prediction": [{"LABEL": "FOO", "SPAN": "a"}]}', "no span of a requested type"),
        ('{"prediction": ["a"]}', "no span of a requested type"),
        ('{"prediction": []} {"prediction": [["MET", "a"]]}', "several answers that differ"),
    ],
)
def test_a_reply_without_spans_of_the_form_is_unusable_in_words(text: str, problem: str) -> None:
    parsed = marked(text)
    assert parsed.spans == ()
    assert problem in parsed.problem


@given(SPANS, st.floats(0, 1), st.booleans())
def test_of_a_list_that_was_cut_off_complete_spans_are_taken_and_no_other(
    spans: list[tuple[str, str]], share: float, fenced: bool
) -> None:
    whole = prediction(*spans)
    text = ("```json\n" if fenced else "") + whole[: int(share * len(whole))]
    parsed = marked(text, Outcome.LENGTH, "length")
    assert parsed.spans == tuple(spans[: len(parsed.spans)])
    assert parsed.steps[0] == "cut"
    complete = sum(len(prediction(*spans[: number + 1])) - 2 <= int(share * len(whole)) for number in range(len(spans)))
    assert len(parsed.spans) >= complete


def test_a_span_of_no_requested_type_does_not_end_a_list_that_was_cut_off() -> None:
    spans = prediction(("FOO", "a"), ("MET", "b"), ("MET", "c"))
    assert marked(spans[: spans.index('"c"')], Outcome.LENGTH).spans == (("MET", "b"),)


def test_a_list_that_was_cut_off_before_its_first_span_is_unusable() -> None:
    assert "before the end of the first span" in marked('{"prediction": [{"LABEL": "MET", "SP', Outcome.LENGTH).problem
    assert marked('{"prediction": []} For', Outcome.LENGTH) == Parsed(steps=("cut", "around"))


# Thoughts, and nothing.


@pytest.mark.parametrize(
    "draft", ['{"label": "PROSE"}', "prose", '```json\n{"label": 2}\n```', "It may be { PROSE", ""]
)
def test_a_draft_within_thoughts_is_no_answer(draft: str) -> None:
    thoughts = f"\n<think>It could be {draft}. But wait"
    for outcome in (Outcome.ANSWERED, Outcome.LENGTH, Outcome.CUT):
        assert labelled(thoughts, outcome).problem == "cut off while thinking"
        assert marked(thoughts, outcome).problem == "cut off while thinking"
    assert labelled(f'{thoughts}. No.</think>\n{{"label": "VERSE"}}') == Parsed("VERSE", steps=("thinking",))
    spans = Parsed(spans=(("MET", "a"),), steps=("thinking",))
    assert marked(f"{thoughts}. No.</think>{prediction(('MET', 'a'))}") == spans
    assert labelled(f"{thoughts}</think>", Outcome.LENGTH).problem == "cut off before the answer"
    assert "names no class" in labelled(f"{thoughts}</think>").problem


def test_a_question_without_a_reply_is_unusable_by_its_name() -> None:
    for outcome, problem in ((Outcome.EMPTY, "empty reply"), (Outcome.TOO_LONG, "too long for the model")):
        assert labelled("", outcome) == marked("", outcome) == Parsed(problem=problem)
