"""What is measured on a passage, and to which filters it falls."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchmark_assets.corpus.filters import OVERLAP, REASONS, REPEATED, Filters, filtered, repeating_segments
from benchmark_assets.corpus.model import joined
from benchmark_assets.corpus.trigrams import jaccard, normalized, trigrams
from resources.warehouse import Replacement, Warehouse

OFF: dict[str, Any] = {
    "min_characters": None, "max_similarity": None, "max_length_ratio": None, "max_duplicate": None,
    "complete": False, "verified": False, "null_characters": False, "internal_duplication": False,
}  # fmt: skip
Renderings = Mapping[str, Sequence[str | None]]
LATIN = ["Mus magnus per agrum currit.", "Felis in tecto sedet et dormit.", "Sol oritur."]
ANN = [
    "A big mouse, the biggest there is, runs across the whole length of the field.",
    "The cat, for her part, sits on the roof of the house and sleeps there.",
    "Now the sun comes up.",
]
BEN = [
    "Over the acre scurries a sizeable rodent, larger than any you ever saw before.",
    "Meanwhile puss has found a place high upon the tiles, where she dozes.",
    "It is dawn.",
]
SOUND = {"x": (LATIN, {"ann": ANN, "ben": BEN})}


def measure(
    passages: Mapping[str, tuple[Sequence[str], Renderings]],
    filters: Filters | None = None,
    expected: int = 2,
    suspicious: Mapping[tuple[str, str], int] | None = None,
) -> list[dict[str, Any]]:
    """Rows of passages, given as their source segments and the segments of each translator."""
    texts = pl.List(pl.String)
    sources = pl.DataFrame(
        [(passage, joined(list(own)), list(own)) for passage, (own, _) in passages.items()],
        schema={"passage": pl.String, "text": pl.String, "segments": texts},
        orient="row",
    )
    references = pl.DataFrame(
        [
            (passage, translator, list(own), joined(list(own)), (suspicious or {}).get((passage, translator), 0))
            for passage, (_, renderings) in passages.items()
            for translator, own in renderings.items()
        ],
        schema={"passage": pl.String, "translator": pl.String, "segments": texts, "text": pl.String,
                "suspicious": pl.Int64},
        orient="row",
    )  # fmt: skip
    return filtered(sources, references, expected, filters or Filters()).to_dicts()


def only(**thresholds: Any) -> Filters:
    """These filters and no other."""
    return Filters(**OFF | thresholds)


def test_a_sound_passage_falls_to_no_filter_and_is_measured() -> None:
    [row] = measure(SOUND)
    texts = [" ".join(ANN), " ".join(BEN)]
    assert row == {
        "passage": "x", "complete_references": 2, "missing_segments": 0, "suspicious_segments": 0,
        "shortest": len(texts[1]), "longest": len(texts[0]), "length_ratio": len(texts[0]) / len(texts[1]),
        "similarity": jaccard(*map(trigrams, texts)), "null_characters": 0, "duplicated_segments": 0, "reasons": [],
    }  # fmt: skip


def test_passages_come_back_in_the_order_of_the_sources_whatever_references_there_are() -> None:
    bare = {"y": (LATIN, {}), "a": (LATIN, {"ann": ANN}), "x": SOUND["x"]}
    rows = measure(bare)
    assert [(row["passage"], row["reasons"]) for row in rows] == [
        ("y", ["incomplete"]),
        ("a", ["incomplete"]),
        ("x", []),
    ]
    assert [row["length_ratio"] for row in rows[:2]] == [None, 1.0]
    assert [row["similarity"] for row in rows[:2]] == [None, None]
    assert [row["shortest"] for row in rows[:2]] == [None, len(" ".join(ANN))]


# Completeness


@pytest.mark.parametrize(
    ("renderings", "complete", "missing"),
    [
        ({"ann": ANN, "ben": [BEN[0], None, BEN[2]]}, 1, 1),
        ({"ann": ANN, "ben": [None, None, None]}, 1, 3),
        ({"ann": ANN}, 1, 3),
        ({"ann": ANN, "ben": [*BEN[:2], ""]}, 2, 0),
        ({"ann": ["", "", ""], "ben": BEN}, 1, 0),
        ({}, 0, 6),
        ({"ann": ANN, "ben": BEN, "cleo": ANN}, 3, 0),
    ],
    ids=["segment missing", "all missing", "no row", "nothing to translate", "no text", "no reference", "one too many"],
)
def test_a_reference_is_complete_that_has_text_and_lacks_no_segment(
    renderings: Renderings, complete: int, missing: int
) -> None:
    [row] = measure({"x": (LATIN, renderings)}, only(complete=True))
    assert (row["complete_references"], row["missing_segments"]) == (complete, missing)
    assert row["reasons"] == ([] if complete >= 2 else ["incomplete"])


def test_a_reference_without_a_row_lacks_only_what_the_source_says() -> None:
    [row] = measure({"x": (["", " ", "Sol oritur."], {"ann": ["", "", "The sun comes up."]})})
    assert row["missing_segments"] == 1


@pytest.mark.parametrize(("needed", "falls"), [(1, False), (2, True), (None, True)])
def test_as_many_references_are_needed_as_are_asked_for(needed: int | None, falls: bool) -> None:
    [row] = measure({"x": (LATIN, {"ann": ANN})}, only(complete=True, references=needed))
    assert ("incomplete" in row["reasons"]) == falls


def test_more_references_than_the_corpus_describes_are_refused() -> None:
    with pytest.raises(ValueError, match="filters require 3 complete references, but the corpus describes 2"):
        measure(SOUND, Filters(references=3))


def test_a_reference_with_other_segments_than_its_source_is_refused() -> None:
    with pytest.raises(ValueError, match="x: ben has a different number of segments than the source"):
        measure({"x": (LATIN, {"ann": ANN, "ben": BEN[:2]})})


# Verification


def test_one_segment_that_failed_verification_is_enough() -> None:
    [row] = measure(SOUND, suspicious={("x", "ann"): 1, ("x", "ben"): 2})
    assert (row["suspicious_segments"], row["reasons"]) == (3, ["suspicious"])


# Lengths


@pytest.mark.parametrize(("length", "falls"), [(99, True), (100, False)])
def test_each_reference_needs_100_characters(length: int, falls: bool) -> None:
    [row] = measure({"x": (["Verba."], {"ann": ["ā" * length], "ben": ["e" * 120]})}, only(min_characters=100))
    assert (row["shortest"], row["longest"], row["reasons"]) == (length, 120, ["short"] if falls else [])


@pytest.mark.parametrize(("length", "falls"), [(200, False), (201, True)])
def test_the_longest_reference_is_at_most_twice_as_long_as_the_shortest(length: int, falls: bool) -> None:
    [row] = measure({"x": (["Verba."], {"ann": ["a" * 100], "ben": ["e" * length]})}, only(max_length_ratio=2.0))
    assert (row["length_ratio"], row["reasons"]) == (length / 100, ["length_ratio"] if falls else [])


def test_a_partial_reference_is_measured_and_one_without_text_is_not() -> None:
    [row] = measure({"x": (LATIN, {"ann": [ANN[0], None, None], "ben": [None, None, None]})})
    assert (row["shortest"], row["longest"], row["similarity"]) == (len(ANN[0]), len(ANN[0]), None)
    assert row["reasons"] == ["incomplete", "short"]


# Similarity


def test_two_references_that_are_as_alike_as_the_threshold_fall() -> None:
    """Ten trigrams, nine of them shared."""
    passages = {"x": (["Verba."], {"ann": ["abcdefghijkl"], "ben": ["abcdefghijk"], "cleo": ["zyx"]})}
    [row] = measure(passages, only(max_similarity=0.9), expected=3)
    assert (row["similarity"], row["reasons"]) == (0.9, ["similar"])
    [row] = measure(passages, only(max_similarity=0.91), expected=3)
    assert row["reasons"] == []


@given(st.lists(st.text("abc —", max_size=12), max_size=4))
def test_similarity_is_that_of_the_two_references_most_alike(texts: list[str]) -> None:
    [row] = measure({"x": (["Verba."], {f"t{i}": [text] for i, text in enumerate(texts)})}, expected=4)
    alike = [jaccard(trigrams(a), trigrams(b)) for a, b in combinations([each for each in texts if each.strip()], 2)]
    assert row["similarity"] == max(alike, default=None)


# Lost characters


def test_null_characters_and_marks_of_undecodable_bytes_are_counted_in_source_and_references() -> None:
    source = [LATIN[0] + "\0", *LATIN[1:]]
    renderings = {"ann": [ANN[0].replace("mouse", "m\0us\0"), *ANN[1:]], "ben": [*BEN[:2], "It is\ufffd dawn."]}
    [row] = measure({"x": (source, renderings)})
    assert (row["null_characters"], row["reasons"]) == (4, ["null_characters"])


def test_null_characters_come_back_from_the_warehouse(warehouse: Warehouse) -> None:
    columns = {"passage": ["t/x"], "translator": ["ann"], "segments": [["\0", "a\0b\ufffd"]], "flag": [None]}
    rows = pl.DataFrame(columns, schema_overrides={"flag": pl.String}).with_columns(fingerprint=pl.lit("made"))
    warehouse.write([Replacement("segmented_reference", rows, None)], "run")
    assert warehouse.read("segmented_reference", columns=["segments"])["segments"].to_list() == [["\0", "a\0b\ufffd"]]


# Internal duplication

LONG = "and the ferryman asked him twice whether he had ever seen the sea"


@pytest.mark.parametrize(
    ("source", "reference", "repeating"),
    [
        (LATIN[:2], [ANN[0], ANN[0]], 1),
        (LATIN, [ANN[0], ANN[0], ANN[0].upper()], 2),
        (LATIN[:2], [ANN[0], f"{ANN[0]} {ANN[1]}"], 1),
        (LATIN[:2], [f"{ANN[1]} {ANN[0]}", ANN[0]], 1),
        (LATIN[:2], [f"At dusk {LONG[:30]} again.", LONG[:30]], 1),
        (LATIN, [ANN[0], f"{ANN[0]} Then, at dusk, {LONG} again.", LONG], 2),
        (LATIN, [f"At dusk {LONG} again.", LONG, f"But then {LONG} once more."], 1),
        (LATIN[:2], [f"At dusk {LONG},", f"{LONG}, and how deep it was."], 1),
        (LATIN[:2], [f"{LONG}, and how deep it was.", f"At dusk {LONG},"], 1),
        (LATIN[:2], [f"At dusk {LONG} again,", f"{LONG}, and how deep it was."], 0),
        (LATIN[:2], [f"At dusk {LONG[-30:]},", f"{LONG[-30:]}, and how deep it was."], 0),
        (LATIN[:2], ["Yes, sir.", "Yes, sir."], 0),
        (LATIN[:2], ANN[:2], 0),
        (LATIN[:2], [None, ANN[0]], 0),
        (LATIN[:2], ["", ""], 0),
        ([LATIN[0], LATIN[0]], [ANN[0], ANN[0]], 0),
        ([LATIN[0], f"Tunc {LATIN[0]}"], [ANN[0], f"{ANN[0]} So it does."], 0),
        ([LATIN[0], "…pe…"], [ANN[0], ANN[0]], 0),
        ([LATIN[0], ""], [ANN[0], ANN[0]], 0),
    ],
    ids=["copied", "copied twice", "neighbour put before", "neighbour put after", "put in the middle",
         "two put in one", "one put in two", "end of one begins the next",
         "beginning of one ends the next", "shared in the middle", "link too short", "too short", "different",
         "untranslated", "empty", "source repeats", "source contains", "source elides", "source is empty"],
)  # fmt: skip
def test_a_segment_repeats_where_the_source_does_not(
    source: list[str], reference: list[str | None], repeating: int
) -> None:
    assert repeating_segments(reference, source) == repeating


@pytest.mark.parametrize(("letters", "repeating"), [(REPEATED - 1, 0), (REPEATED, 1)])
def test_a_segment_repeats_from_20_letters_on(letters: int, repeating: int) -> None:
    text = normalized(LONG)[:letters]
    assert repeating_segments([text, text], LATIN[:2]) == repeating


@pytest.mark.parametrize(("letters", "repeating"), [(OVERLAP - 1, 0), (OVERLAP, 1)])
def test_segments_link_up_from_40_letters_on(letters: int, repeating: int) -> None:
    text = normalized(LONG)[:letters]
    assert repeating_segments([f"Q {text}", f"{text} V"], LATIN[:2]) == repeating


SEGMENT = st.lists(st.sampled_from([*LATIN, *ANN, LONG, "Yes."]), max_size=2).map(" ".join)


@given(st.lists(st.tuples(SEGMENT, SEGMENT), max_size=6), st.randoms())
def test_the_order_of_segments_does_not_matter(segments: list[tuple[str, str]], chance: Any) -> None:
    shuffled = list(segments)
    chance.shuffle(shuffled)
    counts = {repeating_segments([b for _, b in each], [a for a, _ in each]) > 0 for each in (segments, shuffled)}
    assert len(counts) == 1


@given(st.lists(SEGMENT, max_size=6))
def test_what_repeats_in_source_and_reference_alike_is_no_error(segments: list[str]) -> None:
    assert repeating_segments(segments, segments) == 0


def test_a_reference_that_repeats_makes_its_passage_fall() -> None:
    [row] = measure({"x": (LATIN, {"ann": [ANN[0], ANN[0], ANN[2]], "ben": BEN})})
    assert (row["duplicated_segments"], row["reasons"]) == (1, ["internal_duplication"])


# All of them


def broken() -> tuple[dict[str, tuple[list[str], Renderings]], dict[tuple[str, str], int]]:
    """A passage that falls to every filter."""
    renderings: Renderings = {
        "ann": ["a\0" + LONG, LONG, None],
        "ben": ["a\0" + LONG, LONG, None],
        "cleo": ["Of mice.", "", ""],
    }
    return {"x": (LATIN, renderings)}, {("x", "ann"): 1}


def test_a_passage_may_fall_to_all_filters() -> None:
    passages, suspicious = broken()
    [row] = measure(passages, expected=3, suspicious=suspicious)
    assert row["reasons"] == REASONS


SWITCHES = {
    "incomplete": "complete", "suspicious": "verified", "short": "min_characters", "similar": "max_similarity",
    "length_ratio": "max_length_ratio", "null_characters": "null_characters",
    "internal_duplication": "internal_duplication",
}  # fmt: skip


@given(st.sets(st.sampled_from(REASONS)))
def test_a_filter_that_is_off_drops_nothing(off: set[str]) -> None:
    passages, suspicious = broken()
    filters = Filters(**{SWITCHES[reason]: OFF[SWITCHES[reason]] for reason in off})
    [row] = measure(passages, filters, expected=3, suspicious=suspicious)
    assert row["reasons"] == [reason for reason in REASONS if reason not in off]


def test_without_passages_there_is_nothing_to_filter() -> None:
    assert measure({}) == []


@pytest.mark.parametrize(
    "thresholds",
    [
        {"references": 0}, {"min_characters": 0}, {"max_similarity": 0.0}, {"max_similarity": 1.01},
        {"max_length_ratio": 0.99}, {"max_length_ratio": float("inf")}, {"max_length_ratio": float("nan")},
        {"max_duplicate": 0.0}, {"max_duplicate": 1.5}, {"max_duplicate": float("nan")},
        {"max_similarity": float("nan")}, {"complete": None}, {"shortest": 5},
    ],
)  # fmt: skip
def test_a_threshold_out_of_its_range_is_refused(thresholds: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Filters(**thresholds)
