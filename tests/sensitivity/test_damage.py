import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.sensitivity.damage import (
    DOSES,
    KINDS,
    SEVERITIES,
    STRETCHES,
    TOLERANCE,
    UNIVERSAL,
    Material,
    clauses,
    damage,
    foreign_terms,
    names,
    terms,
    unlike,
)
from benchmark_assets.sensitivity.languages import ENGLISH, rules

TEXT = (
    "The ferryman rose before dawn, and lit his lamp. Two boats lay at the landing; neither of them was his. "
    "He waited for the miller, who never came, and counted twelve sacks of barley. "
    "At noon Chloe, the miller's daughter, crossed the river, and told the ferryman that her father could not walk. "
    "He can rest, said the ferryman, for the barley is dry."
)
SOURCE = "Nauta ante lucem surrexit, et lucernam accendit. Duae naves ad ripam erant; neutra sua erat."
FOREIGN = (
    "A shepherd on the northern ridge kept seven goats, and each morning he called them by name. The wolves of "
    "Arcadia heard it, and learned the names. By winter the pasture was empty, and the shepherd, who had nothing else, "
    "went down to sell his bell, his staff and the last of his cheese."
)
POOL = terms([FOREIGN, FOREIGN], ENGLISH)
MATERIAL = Material(ENGLISH, SOURCE, FOREIGN, foreign_terms(POOL, [TEXT]), ["Arcadia", "Priscus"])
SPEECHLESS = MATERIAL._replace(rules=None, terms={})


def damaged(text: str, kind: str, severity: int, key: str = "x", material: Material = MATERIAL) -> str | None:
    found = damage(text, kind, severity, key, material)
    return found.text if found else None


@pytest.mark.parametrize(
    ("sound", "contrary"),
    [
        ("The gate is open.", "The gate is not open."),
        ("The gate is not open.", "The gate is open."),
        ("They do not drink.", "They do drink."),
        ("They don't drink.", "They do drink."),
        ("He knoweth not the way.", "He knoweth the way."),
        ("You cannot leave.", "You can leave."),
        ("You can leave.", "You cannot leave."),
        ("Never lend a horse.", "Always lend a horse."),
        ("No one saw the fire.", "Everyone saw the fire."),
        ("Nothing burns there.", "Everything burns there."),
        ("No man built it.", "Some man built it."),
        ("They came without bread.", "They came with bread."),
        ("The will of a king.", None),  # a noun
        ("Not only bread falls.", None),
        ("Rain falls on the hill.", None),
    ],
)
def test_negation(sound: str, contrary: str | None) -> None:
    assert damaged(sound, "negation", 1) == contrary


@pytest.mark.parametrize(
    ("sound", "severity", "swapped"),
    [
        ("Then he fed them.", 3, "Then she fed us."),
        ("I am late.", 1, "You are late."),
        ("Whoever asks, I know.", 1, "Whoever asks, you know."),
        ("Our boats sank.", 1, "Their boats sank."),
        ("The king struck the thief.", 3, "The thief struck the king."),
        ("Then the kings fed the monks.", 3, "Then the monks fed the kings."),
        ("The road to Corinth, said Lydia, is closed.", 3, "The road to Lydia, said Corinth, is closed."),
        ("A king met an enemy.", 1, None),  # neither may follow the other's article
        ("The king slept.", 1, None),
        ("He slept.", 2, None),  # one place, which severity 1 has used up
        ("You sleep.", 1, None),
        ("Rain falls on the hill.", 1, None),
    ],
)
def test_agent(sound: str, severity: int, swapped: str | None) -> None:
    assert damaged(sound, "agent", severity) == swapped


def test_number_gives_way_to_another_of_its_kind() -> None:
    words = set(ENGLISH.numbers[0]) - {"two"}
    found = damaged("Two boats lay there.", "number", 1)
    assert found is not None
    assert found.split()[0].lower() in words
    assert found.split()[0].istitle()
    for text, digits in (("In 1340 it burned.", 4), ("It has 9 gates.", 1), ("It has 10 gates.", 2)):
        number = next(word for word in str(damaged(text, "number", 1)).split() if word.isdigit())
        assert len(number) == digits
        assert number not in text
    assert damaged("One should rest, said no one.", "number", 1) is None
    assert damaged("Third and second to none.", "number", 2) is None  # one place, which severity 1 has used up


def test_a_name_gives_way_to_a_name_of_another_passage() -> None:
    found = damaged("The road to Corinth, said Lydia, is closed.", "name", 1)
    assert found is not None
    assert sum(name in found for name in ("Corinth", "Lydia")) == 1
    assert sum(name in found for name in MATERIAL.names) == 1
    assert damaged("Lydia slept.", "name", 1) is None  # every sentence begins with a capital
    assert damaged("The road to Corinth.", "name", 1, material=MATERIAL._replace(names=())) is None
    assert [name[0] for name in names("The King met Lydia. Lydia slept; the rose and the Rose.", ENGLISH)] == ["Lydia"]


def test_one_clause_is_left_out_and_no_short_one() -> None:
    for key in map(str, range(20)):
        found = damaged(TEXT, "clause", 1, key)
        assert found is not None
        gone = [TEXT[start:end] for start, end in clauses(TEXT) if TEXT[start:end].strip() not in found]
        assert len(gone) == 1
        lengths = sorted(end - start for start, end in clauses(TEXT))
        assert len(gone[0]) >= lengths[len(lengths) // 2]
    assert damaged(TEXT, "clause", 2) is None


def test_terms_come_from_elsewhere_and_stay_the_same_through_the_text() -> None:
    found = damaged(TEXT, "term", 3)
    assert found is not None
    before, after = (Counter(word.strip(".,;").lower() for word in text.split()) for text in (TEXT, found))
    new = set(after) - set(before)
    assert new
    assert new <= {term for each in MATERIAL.terms.values() for term in each}
    assert not any(word[:4] in TEXT.lower() for word in new)
    assert ("barley" in after) == (after["barley"] == before["barley"])  # both of them or neither
    assert damaged(TEXT, "term", 3, material=MATERIAL._replace(terms={})) is None


def test_terms_of_a_corpus_are_neither_common_words_nor_agents_nor_numbers() -> None:
    found = terms(
        ["The miller sold twelve sacks, and the miller wept.", "Twelve sacks, said the king; sacks!"], ENGLISH
    )
    assert set(found) == {"miller", "sacks"}
    assert foreign_terms(found, ["A sack of barley."]) == {found["miller"]: ["miller"]}


def test_omission_leaves_out_whole_clauses() -> None:
    clauses = [f"c{place}," for place in range(40)]
    for severity in SEVERITIES:
        found = damaged(" ".join(clauses), "omission", severity)
        assert found is not None
        left = found.split()
        gone = [place for place, clause in enumerate(clauses) if clause not in left]
        assert gone == list(range(gone[0], gone[-1] + 1))
        assert left == clauses[: gone[0]] + clauses[gone[-1] + 1 :]


def test_truncation_ends_between_words() -> None:
    for severity in SEVERITIES:
        found = damaged(TEXT, "truncation", severity)
        assert found is not None
        assert TEXT.startswith(found)
        assert TEXT[len(found)].isspace()


@pytest.mark.parametrize(
    ("source", "mark"),
    [(SOURCE, "…"), ("Nauta … surrexit.", "…"), ("Nauta …pe… surrexit.", "…pe…"), ("A ... b", "...")],
)
def test_ellipsis_is_written_as_in_the_source(source: str, mark: str) -> None:
    found = damaged(TEXT, "ellipsis", 2, material=MATERIAL._replace(source=source))
    assert found is not None
    assert f" {mark}" in f" {found}"


def test_untranslated_text_is_that_of_the_source_at_the_same_place() -> None:
    source = " ".join(f"v{place}" for place in range(100))
    found = damaged(TEXT, "untranslated", 3, material=MATERIAL._replace(source=source))
    assert found is not None
    places = [int(word[1:]) for word in found.split() if word[1:].isdigit()]
    assert places == list(range(places[0], places[-1] + 1))
    assert abs(len(places) - 50) < 20
    assert damaged(TEXT, "untranslated", 3, material=MATERIAL._replace(source="")) is None


def test_addition_puts_clauses_of_another_passage_between_two_clauses() -> None:
    found = damaged(TEXT, "addition", 1)
    assert found is not None
    words = set(FOREIGN.split()) - set(TEXT.split())
    assert words & set(found.split())
    assert set(TEXT.split()) <= set(found.split())
    assert damaged(TEXT, "addition", 1, material=MATERIAL._replace(foreign="")) is None


@pytest.mark.parametrize("kind", STRETCHES)
@pytest.mark.parametrize("text", ["One clause without an end", "Yes.", "…", "", "   \n"])
def test_what_has_no_parts_is_left_alone(kind: str, text: str) -> None:
    assert kind == "truncation" or damaged(text, kind, 1) is None
    assert text.strip() or damaged(text, kind, 1) is None


def test_without_rules_of_its_language_only_stretches_and_digits_are_damaged() -> None:
    applied = {kind for kind in KINDS if any(damaged(TEXT, kind, each, material=SPEECHLESS) for each in SEVERITIES)}
    assert applied == set(UNIVERSAL)
    assert damaged("Im Jahre 1340.", "number", 1, material=SPEECHLESS) not in (None, "Im Jahre 1340.")


def test_text_without_spaces_is_cut_between_clauses_and_characters() -> None:
    text = "山中有老人，日出而作，日入而息，不知年歲。客問其姓，笑而不答，客乃去，老人復作。"
    for kind in ("omission", "truncation", "ellipsis"):
        found = damage(text, kind, 2, "x", SPEECHLESS)
        assert found is not None
        assert abs(found.extent - 0.25) <= 0.25 * TOLERANCE


def test_languages_are_known_by_the_first_part_of_their_code() -> None:
    assert rules("en-GB") is rules("EN") is ENGLISH
    assert rules("pli") is None


PLAIN = "the king a monk saw and never two seven river is not can his he they I Corinth Lydia barley went 12 nobody"
ODD = ["boats,", "rose.", "lamp;", "wept!", "why?", "—", "…", '"so,"', "dawn\n", "ß", "नदी", "山"]
WORDS = st.sampled_from([*PLAIN.split(), *ODD])
TEXTS = st.lists(WORDS, max_size=60).map(" ".join)
CASES = st.tuples(TEXTS, st.sampled_from(list(KINDS)), st.text(max_size=3))


@given(CASES)
def test_damage_changes_a_text_leaves_some_of_it_and_grows_with_severity(case: tuple[str, str, str]) -> None:
    text, kind, key = case
    found = [each for severity in SEVERITIES if (each := damage(text, kind, severity, key, MATERIAL))]
    for each in found:
        assert each.text != text.strip()
        assert each.text.strip()
        assert each.extent > 0
    if kind in ("omission", "truncation"):  # what takes the place of a stretch may be longer than a longer stretch
        extents = [each.extent for each in found]
        assert extents == sorted(set(extents))
        assert all(len(each.text) < len(text) for each in found)
    if kind in ("negation", "agent", "number", "term", "name"):
        assert len({each.text for each in found}) == len(found)


@given(TEXTS, st.sampled_from(["omission", "truncation"]), st.sampled_from(SEVERITIES))
def test_a_stretch_keeps_to_its_dose(text: str, kind: str, severity: int) -> None:
    if found := damage(text, kind, severity, "x", MATERIAL):
        assert abs(found.extent - DOSES[severity]) <= TOLERANCE * DOSES[severity] + 1 / len(text)


def test_damage_is_the_same_in_every_process() -> None:
    script = f"""
from benchmark_assets.sensitivity.damage import KINDS, SEVERITIES, Material, damage, foreign_terms, terms
from benchmark_assets.sensitivity.languages import ENGLISH
material = Material(
    ENGLISH, {SOURCE!r}, {FOREIGN!r}, foreign_terms(terms([{FOREIGN!r}, {FOREIGN!r}], ENGLISH), [{TEXT!r}]),
    ["Arcadia", "Priscus"],
)
print([damage({TEXT!r}, kind, severity, "x", material) for kind in KINDS for severity in SEVERITIES])
"""
    here = str([damage(TEXT, kind, severity, "x", MATERIAL) for kind in KINDS for severity in SEVERITIES])
    command = [sys.executable, "-c", script]
    there = subprocess.run(command, env={"PYTHONHASHSEED": "1"}, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here


def test_another_key_is_other_damage() -> None:
    for kind in KINDS:
        if kind != "truncation":  # which leaves no choice
            assert len({damaged(TEXT, kind, 1, str(key)) for key in range(20)}) > 1, kind


def test_texts_that_repeat_each_other_take_no_place_of_each_other() -> None:
    assert not unlike("the king did not hear the merchants", "the king did not hear the soldiers")
    assert not unlike("天地玄黃宇宙洪荒", "天地玄黃宇宙洪荒也")
    assert unlike("天地玄黃", "日月盈昃")
