from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.metrics.diagnostics import DIAGNOSES, diagnose, repeated, twins
from benchmark_assets.metrics.fidelity import ComparedPassage, uncovered_end
from benchmark_assets.metrics.texts import (
    MeasuredText,
    content,
    ends_open,
    longest_loop,
    recurrence,
    scripts,
    sentences,
    words,
)
from benchmark_assets.partitions import range_tags
from benchmark_assets.translation.imports import import_outputs
from resources.warehouse import Warehouse
from tests.support import PASSAGES, write_outputs

SOURCE = "Nauta qui multa maria navigavit, domum tandem rediit; uxor autem eum non agnovit, quia senex factus erat."
ENGLISH = [
    "The sailor, who had crossed many seas, came home at last; but his wife did not know him, for he had grown old.",
    "A sailor who sailed over many seas at last returned to his house, but the wife did not recognize him, because he "
    "was an old man now.",
]
GOOD = "The sailor had crossed many seas and at last returned home, but his wife did not recognize him: he was old."
GERMAN = "Der Seemann, der viele Meere befahren hatte, kam endlich heim; doch seine Frau erkannte ihn nicht mehr, denn "
GERMAN += "er war ein alter Mann geworden."
FRENCH = "Le marin qui avait traversé bien des mers rentra enfin chez lui; mais sa femme ne le reconnut pas, car il "
FRENCH += "était devenu vieux."
RUSSIAN = "Моряк, переплывший много морей, наконец вернулся домой, но жена его не узнала, ибо он состарился."
CHINESE = "那水手渡過許多大海，終於回到家中；他的妻子卻認不出他，因為他已經老了。"
JAPANESE = "多くの海を渡った船乗りはついに家に帰ったが、妻は彼だとわからなかった。もう年老いていたからである。"


def diagnosed(
    text: str, references: Sequence[str] = ENGLISH, source: str = SOURCE, twins: Sequence[str] = ()
) -> dict[str, Any]:
    """The diagnosis of one output."""
    outputs = pl.DataFrame(
        [("m", "x/1", text, list(twins))],
        schema={"model": pl.String, "passage": pl.String, "text": pl.String, "twins": pl.List(pl.String)},
        orient="row",
    )
    human = pl.DataFrame(
        [("x/1", each) for each in references], schema=dict.fromkeys(["passage", "text"], pl.String), orient="row"
    )
    sources = pl.DataFrame({"passage": ["x/1"], "text": [source]})
    return diagnose(outputs, human, sources).row(0, named=True)


def found(row: dict[str, Any]) -> set[str]:
    return {name for name in DIAGNOSES if row[name]}


@pytest.mark.parametrize("text", [GOOD, *ENGLISH, GOOD.upper(), f"“{GOOD}”", f"{GOOD} (Navigavit, domum.)"])
def test_a_sound_output_has_nothing_wrong(text: str) -> None:
    assert diagnosed(text) == {
        "model": "m", "passage": "x/1", **dict.fromkeys([*DIAGNOSES, "addresses_judge"], False), "evidence": "",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", " \n\t", "…", "—!?", "« »", "。"])
def test_an_empty_output_is_nothing_else(text: str) -> None:
    row = diagnosed(text)
    assert row["empty"] is True
    assert {row[name] for name in DIAGNOSES[1:]} == {None}
    assert row["evidence"] == "no letters or digits"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        pytest.param(SOURCE, {"copied", "wrong_language"}, id="source, in the same script"),
        pytest.param(SOURCE.upper().replace(" ", "\n"), {"copied", "wrong_language"}, id="source, otherwise set"),
        pytest.param(GOOD[:52] + SOURCE[52:], {"copied"}, id="half translated"),
        pytest.param(GERMAN, {"wrong_language"}, id="German"),
        pytest.param(FRENCH, {"wrong_language"}, id="French"),
        pytest.param(RUSSIAN, {"wrong_script", "wrong_language"}, id="Russian"),
        pytest.param(CHINESE, {"wrong_script", "wrong_language"}, id="Chinese"),
        pytest.param(f"{GOOD} {CHINESE}", {"wrong_script"}, id="English and Chinese"),
        pytest.param(f"{GOOD}{' and he was old,' * 6} and he was old.", {"repeated"}, id="loop at the end"),
        pytest.param("old " * 30 + GOOD, {"repeated"}, id="loop of one word"),
        pytest.param(GOOD[:40], {"truncated"}, id="cut in a word"),
        pytest.param(GOOD[:62].strip(" ,") + ",", {"truncated"}, id="cut after a comma"),
    ],
)
def test_each_fault_is_found_and_no_other(text: str, wrong: set[str]) -> None:
    row = diagnosed(text)
    assert found(row) == wrong
    assert len(row["evidence"].split("; ")) == len(wrong)


OTHER = "Three merchants brought silk and pepper across the desert to the market of a distant town every autumn."


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        pytest.param("I'm sorry, but I cannot translate this text.", {"refused"}, id="refusal"),
        pytest.param(
            "Es tut mir leid, aber ich kann diesen Text leider nicht übersetzen.", {"refused"}, id="German refusal"
        ),
        pytest.param("[Translation not available]", {"refused"}, id="placeholder"),
        pytest.param(f"Here is the translation:\n\n{GOOD}", {"preamble"}, id="announcement"),
        pytest.param(f"English: {GOOD}", {"preamble"}, id="label"),
        pytest.param(f"{GOOD}\n\nNote: the name is not given.", {"preamble"}, id="note"),
        pytest.param(f"Note: {GOOD}", {"preamble"}, id="note before"),
        pytest.param(f"{GOOD}\n\nLet me know if you need anything else!", {"preamble"}, id="closing words"),
        pytest.param(f"<think>A sailor.</think>{GOOD}", {"thinking"}, id="tag of reasoning"),
        pytest.param(f"The user wants a translation of a Latin text.\n\n{GOOD}", {"thinking"}, id="reasoning"),
        pytest.param(f"```\n{GOOD}\n```", {"markup"}, id="code fence"),
        pytest.param(f'{{"translation": "{GOOD}"}}', {"markup"}, id="JSON"),
        pytest.param(f"<p>{GOOD}</p>", {"markup"}, id="HTML"),
        pytest.param(f"**{GOOD}**", {"markup"}, id="Markdown"),
        pytest.param(GOOD.replace("his", "hisâ€™"), {"mojibake"}, id="misread quotation mark"),
        pytest.param(f"{GOOD} “He.”".encode().decode("cp1251"), {"mojibake"}, id="misread in Cyrillic"),
        pytest.param(GOOD.replace("wife", "w\ufffdfe"), {"mojibake"}, id="replacement character"),
        pytest.param(f"{GOOD}\n\n{GOOD}", {"repeated"}, id="written twice"),
        pytest.param(OTHER, {"other_passage"}, id="another text"),
    ],
)
def test_each_fault_around_or_instead_of_a_translation_is_found_and_no_other(text: str, wrong: set[str]) -> None:
    assert found(diagnosed(text)) == wrong


def test_what_references_or_source_have_too_is_no_fault() -> None:
    assert not diagnosed(f"Note: {GOOD}", [f"Note: {ENGLISH[0]}"])["preamble"]
    assert not diagnosed(f"*{GOOD}*", [ENGLISH[0]], f"*{SOURCE}*")["markup"]
    assert not diagnosed(GOOD.replace("his", "hisâ€™"), [ENGLISH[0].replace("his", "hisâ€™")])["mojibake"]
    assert not diagnosed(f"{GOOD} {'é中'.encode().decode('cp1252')}")["mojibake"]  # é alone would be
    assert not diagnosed("I cannot translate this text, said he.", ["I cannot translate this text, he said."])[
        "refused"
    ]
    assert not diagnosed("[A gap.]", [*ENGLISH, "[Three lines are lost.]"])["refused"]


def test_a_text_that_stops_before_the_last_sentence_is_truncated() -> None:
    source = "Nauta qui multa maria navigavit domum rediit. Uxor eum non agnovit. Canis autem laetus ad eum cucurrit."
    first, dog = (
        "The sailor who had crossed many seas came home. His wife did not know him.",
        "But the dog ran to him, happy.",
    )
    assert not found(diagnosed(f"{first} {dog}", [f"{first} The happy dog ran up to him."], source))
    row = diagnosed(first, [f"{first} The happy dog, however, came running."], source)
    assert found(row) == {"truncated"}
    assert row["evidence"].startswith("has 1 sentences fewer than the source")


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=30), st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=30)
)
def test_the_uncovered_end_is_what_no_common_subsequence_reaches(text: list[str], reference: list[str]) -> None:
    end = uncovered_end(text, reference)
    assert 0 <= end <= 1
    assert uncovered_end([*text, reference[-1]], reference) <= end or len(text) > 0
    assert uncovered_end(reference[: len(reference) // 2], reference) >= 1 - (len(reference) // 2) / len(reference)
    assert (uncovered_end(reference, reference), uncovered_end([], reference)) == (0, 1)


@given(
    st.text(alphabet="abcdefghijklmnop", min_size=20, max_size=60).filter(lambda t: len(set(t)) > 6), st.integers(2, 5)
)
def test_a_text_that_recurs_is_counted(unit: str, times: int) -> None:
    assert recurrence("\n1. ".join([unit] * times)) >= times
    assert recurrence("") == recurrence(GOOD) == 1


def test_content_words_are_long_words_or_pairs_of_letters() -> None:
    assert content(words("The sailors crossed it.")) == ["sailo", "cross"]
    assert content(words("道可道。")) == ["道可", "可道"]


def test_sentences_are_counted_by_their_marks() -> None:
    assert sentences("Is it?! Yes. 是。हाँ। “No…”") == 4


def test_evidence_says_what_was_measured_and_shows_no_reference() -> None:
    assert diagnosed(CHINESE)["evidence"] == (
        "100% of its letters are CJK, but the references are in LATIN; "
        f"0% of its {len(words(CHINESE))} words occur in the references: another language or another text"
    )
    assert diagnosed("old " * 30)["evidence"].startswith("repeats a stretch 30 times within 119 characters")
    assert diagnosed(GOOD[:55])["evidence"] == "ends mid-sentence at 50% of the shortest reference's length"
    for text in (CHINESE, SOURCE, GOOD[:40], "old " * 30):
        assert not any(piece in diagnosed(text)["evidence"] for each in ENGLISH for piece in each.split(", "))


def test_the_language_and_script_are_those_of_the_references_whatever_they_are() -> None:
    for references, text in (([JAPANESE], JAPANESE[:30] + "。"), ([CHINESE], CHINESE), ([RUSSIAN], RUSSIAN)):
        assert found(diagnosed(text, references)) <= {"truncated"}
        assert found(diagnosed(GOOD, references)) == {"wrong_script", "wrong_language"}
    assert not diagnosed(CHINESE, [JAPANESE])["wrong_script"]  # Japanese is written with the same characters
    assert diagnosed(JAPANESE, [CHINESE])["wrong_script"]


def test_a_word_in_another_script_is_no_other_script() -> None:
    assert not diagnosed(f"{GOOD} The sailor is 水手.")["wrong_script"]
    assert diagnosed(CHINESE, [*ENGLISH, f"{ENGLISH[0]} (水手)"])["wrong_script"]


def test_a_copy_that_the_references_contain_too_is_none() -> None:
    refrain = "Eia popeia heia susurra susurra"
    both = f"He sings: {refrain}."
    assert diagnosed(both, [ENGLISH[0]], refrain)["copied"]
    assert not diagnosed(both, [f"He sang: {refrain}!"], refrain)["copied"]


def test_a_loop_that_the_references_have_too_is_none() -> None:
    row = "row, row, row, row, row, row, row, row, row the boat."
    assert diagnosed(row, ENGLISH)["repeated"]
    assert not diagnosed(row, [ENGLISH[0], "Row, " + row])["repeated"]


def test_without_references_only_the_source_and_the_text_itself_speak() -> None:
    row = diagnosed(SOURCE, [])
    undecided = {"wrong_script", "wrong_language"}
    assert {name for name in DIAGNOSES if row[name] is None} == undecided
    assert found(row) == {"copied"}


@pytest.mark.parametrize("text", ["Ja.", "Nein, nie.", "Er kam heim."])
def test_a_short_text_does_not_tell_its_language(text: str) -> None:
    assert diagnosed(text)["wrong_language"] is None


def test_where_references_end_without_punctuation_a_cut_cannot_be_told() -> None:
    assert diagnosed(GOOD[:90], [ENGLISH[0].rstrip(".")])["truncated"] is None
    assert diagnosed(GOOD[:90], [*ENGLISH, f"{GOOD[:-1]},"])["truncated"] is None


def test_a_short_output_that_says_everything_is_not_cut_and_a_long_one_without_an_end_neither() -> None:
    assert (
        diagnosed("A sailor of many seas came home at last; his wife did not know him, so old he was.")["truncated"]
        is False
    )
    assert diagnosed(f"{GOOD} And so {GOOD[:50]}")["truncated"] is False
    assert diagnosed("He came.", ["He came home."])["truncated"] is False  # too few words to miss one


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("He came.", False), ("He came.”)", False), ("他來了。」", False), ("Came he?» ", False), ("།", False),
        ("He came…", False), ("He came:", False), ("He came`.", False), ("He came.'", False),
        ("He came", True), ("He came,", True), ("He came—", True), ("他來，", True), ("“He came”", True), ("", True),
        ("“", True), ("He came (", True),
    ],
)  # fmt: skip
def test_what_ends_a_text(text: str, is_open: bool) -> None:
    assert ends_open(text) is is_open


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_copied_share_is_a_share(text: str, source: str) -> None:
    share, longest = ComparedPassage(source, []).copied(text)
    assert 0 <= share <= 1
    assert 0 <= longest <= len(text) * 18  # a character may have 18 in compatibility form


@given(st.text(alphabet="abcdefgh", min_size=12, max_size=40), st.text(alphabet="XYZ", max_size=40))
def test_of_a_text_with_the_source_in_it_the_source_is_copied(source: str, rest: str) -> None:
    passage = ComparedPassage(source, [])
    assert passage.copied(f"{rest} {source}") == (len(source) / (len(source) + len(rest)), len(source))
    assert passage.copied(f"{source}, {source}")[0] == 1
    assert passage.copied(rest) == (0, 0)


def test_similarity_is_the_harmonic_mean_of_the_shared_content_words() -> None:
    passage = ComparedPassage("", ["sailors repair anchors", "harbors"])
    for text, expected in (("sailors repair anchors", 1), ("sailors repair", 0.8), ("meadows", 0)):
        assert passage.similarity(MeasuredText(text)) == pytest.approx(expected)


@given(
    st.text(
        alphabet="abcdefghij",
        min_size=20,
        max_size=40,
    ).filter(lambda t: len(set(t)) > 4),
    st.integers(3, 9),
)
def test_a_loop_is_found_with_its_length(unit: str, times: int) -> None:
    start, end = "It began well, ", "; then it went on."
    found = longest_loop(start + unit * times + end)
    assert found.times >= times
    assert len(unit) * times <= found.characters <= len(start + unit * times + end)


def test_a_wrong_script_has_at_least_a_fifth_of_the_letters() -> None:
    assert diagnosed("abcdefgh ijklmnop жукы")["wrong_script"]
    assert not diagnosed("abcdefgh ijklmnopq жукы")["wrong_script"]
    assert not diagnosed("жукы" * 9, ["abcdefghijklmnopqrs ж"])["wrong_script"]  # a twentieth of them
    assert diagnosed("жукы" * 9, ["abcdefghijklmnopqrst ж"])["wrong_script"]


def test_a_loop_has_at_least_40_characters() -> None:
    assert diagnosed("0123456789" * 4)["repeated"]
    assert not diagnosed("012345678" * 4)["repeated"]


def test_what_recurs_with_something_between_is_no_loop() -> None:
    verses = " ".join(f"And the evening and the morning were the {day} day." for day in ("first", "second", "third"))
    assert longest_loop(verses).times < 2.5
    assert longest_loop(GOOD) == (1, 0)


@given(st.text(max_size=50))
def test_scripts_count_letters_only(text: str) -> None:
    assert scripts("").total() == 0
    assert scripts(text).total() <= 4 * len(text) + 20 * text.count("ﷺ")
    assert scripts("ａｂ c1 é Ω 道 カ ა").items() == {
        "LATIN": 4, "GREEK": 1, "CJK": 1, "KATAKANA": 1, "GEORGIAN": 1,
    }.items()  # fmt: skip


def test_words_are_what_each_script_sets_apart() -> None:
    assert words("Don't — STOP, 3 times!") == ["don", "t", "stop", "times"]
    assert words("道可道。ab") == ["道", "可", "道", "ab"]
    assert words("धर्मः सत्यम्") == ["धर्मः", "सत्यम्"]
    assert words("བཀྲ་ཤིས།") == ["བཀྲ", "ཤིས"]


def outputs(*rows: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(["model", "passage", "text"], pl.String), orient="row")


SOURCES = pl.DataFrame(
    {
        "passage": ["x/1", "x/2", "x/3", "x/4"],
        "text": ["Mus currit per domum.", "Sol oritur hodie.", "Mus currit per domum!", "Nihil novi dicit."],
    }
)


def test_twins_are_a_models_equal_outputs_for_unlike_sources() -> None:
    rows = outputs(
        ("m", "x/1", "A mouse runs."), ("m", "x/2", " A mouse runs.\n"), ("m", "x/3", "A mouse runs."),
        ("m", "x/4", "He says nothing new."), ("k", "x/4", "A mouse runs."), ("m", "x/9", "A mouse runs."),
    )  # fmt: skip
    assert twins(repeated(rows), SOURCES).rows() == [
        ("m", "x/1", ["x/2"]), ("m", "x/2", ["x/1", "x/3"]), ("m", "x/3", ["x/2"]),
    ]  # fmt: skip
    assert twins(repeated(rows.clear()), SOURCES).is_empty()


def test_an_output_with_twins_is_repeated() -> None:
    row = diagnosed(GOOD, twins=["x/2", "x/3", "x/4", "x/5"])
    assert found(row) == {"repeated"}
    assert row["evidence"] == "same text as for x/2, x/3, x/4 and other passages"


def test_a_row_keeps_its_order_and_every_output_its_own_references() -> None:
    rows = outputs(("m", "x/2", "The sun is rising today."), ("k", "x/1", "Mus currit per domum."))
    human = pl.DataFrame({"passage": ["x/1", "x/2"], "text": ["A mouse runs through the house.", "The sun rises."]})
    found = diagnose(rows.with_columns(twins=pl.lit(None, pl.List(pl.String))), human, SOURCES)
    assert found.select("model", "passage", "copied").rows() == [("m", "x/2", False), ("k", "x/1", True)]


def test_an_output_is_diagnosed_again_when_another_passage_gets_the_same_text(
    built: dg.Definitions,
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    tmp_path: Path,
) -> None:
    keys = [passage.removeprefix("tiny/") for passage in PASSAGES]
    chosen = {dg.AssetKey("model_output"), dg.AssetKey("output_diagnostic")}
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection=chosen)
    instance.add_dynamic_partitions("model", ["kim"])

    def repeated(second: str) -> list[bool]:
        texts = ["A mouse is running, and a cat sits.", second, "Nothing that he says is new."]
        path = write_outputs(tmp_path / "kim.jsonl", dict(zip(keys, texts, strict=True)))
        import_outputs(warehouse, path, "tiny", "kim")
        job.execute_in_process(instance=instance, tags=range_tags(f"kim|{PASSAGES[0]}", f"kim|{PASSAGES[-1]}"))
        return warehouse.read("output_diagnostic", pl.DataFrame({"model": ["kim"]}))["repeated"].to_list()

    assert repeated("Up comes the sun.") == [False, False, False]
    assert repeated("A mouse is running, and a cat sits.") == [True, True, False]
    assert repeated("Up comes the sun.") == [False, False, False]
