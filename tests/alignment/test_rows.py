import random

import polars as pl
import pytest

from benchmark_assets.alignment.aligner_questions import Extracted
from benchmark_assets.alignment.monotone import Aligned
from benchmark_assets.alignment.rows import (
    CONFIDENT,
    FOUND,
    UNSURE,
    SegmentPlace,
    aligned_rows,
    by_embeddings,
    corrected,
    guides,
    places,
    unassigned_rows,
    unassigned_totals,
    unsure,
    verified_rows,
)
from tests.alignment.words import embed, sentence

RNG = random.Random(1)
TEXTS = [sentence(RNG, 7) for _ in range(5)]
PROSE = " ".join(TEXTS)
OTHER_PROSE = " ".join(sentence(RNG, 7) for _ in range(5))
IDS = ["d:1.1", "d:1.2", "d:1.3", "d:2.1", "d:2.2"]
SEGMENTS = [
    SegmentPlace(f"c/{each.partition('.')[0]}", each, f"Fons {each}.", (text,))
    for each, text in zip(IDS, TEXTS, strict=True)
]
FIRST, SECOND = "c/d:1", "c/d:2"
ALIGNED = by_embeddings(PROSE, SEGMENTS, embed)


def rows(
    segments: list[SegmentPlace] = SEGMENTS,
    aligned: Aligned | None = ALIGNED,
    extracted: list[Extracted] | None = None,
    corrections: dict[str, str | None] | None = None,
    prose: str = PROSE,
) -> tuple[dict[str, dict[str, object]], dict[str, str]]:
    """Rows by passage, and errors by passage."""
    own, failed = aligned_rows("ann", prose, segments, aligned, extracted or [], corrections or {})
    assert set(own["translator"]) == {"ann"}
    for row in own.iter_rows(named=True):
        for text, start, end in zip(row["segments"], row["starts"], row["ends"], strict=True):
            assert start is None or prose[start:end] == text
    return {row["passage"]: row for row in own.iter_rows(named=True)}, dict(failed.iter_rows())


def test_an_offline_alignment_gives_texts_places_and_no_doubt() -> None:
    found, failed = rows()
    assert [text for row in found.values() for text in row["segments"]] == TEXTS  # type: ignore[attr-defined]
    assert [row["methods"] for row in found.values()] == [["embedding"] * 3, ["embedding"] * 2]
    assert {row["doubt"] for row in found.values()} == {None}
    assert {row["confidence"] for row in found.values()} == {ALIGNED.confidence}
    assert failed == {}


def test_a_correction_goes_before_a_model_and_a_model_before_the_offline_alignment() -> None:
    extracted = [Extracted("d:1.1", "By a model."), Extracted("d:1.2", "By a model.")]
    found, _ = rows(extracted=extracted, corrections={"d:1.2": "By hand."})
    assert found[FIRST]["segments"] == ["By a model.", "By hand.", TEXTS[2]]
    assert found[FIRST]["methods"] == ["model", "hand", "embedding"]
    assert [each is None for each in found[FIRST]["likeness"]] == [True, True, False]  # type: ignore[attr-defined]
    assert found[SECOND] == rows()[0][SECOND]


def test_none_said_by_hand_or_by_a_model_is_kept() -> None:
    found, failed = rows(extracted=[Extracted("d:1.2"), Extracted("d:1.3", "A text.")], corrections={"d:1.3": None})
    assert found[FIRST]["segments"] == [TEXTS[0], None, None]
    assert found[FIRST]["methods"] == ["embedding", None, None]
    assert (found[FIRST]["doubt"], failed) == (None, {})


def test_where_the_source_is_empty_there_is_nothing_to_translate() -> None:
    segments = [each._replace(source=" ") if each.id == "d:1.2" else each for each in SEGMENTS]
    assert rows(segments)[0][FIRST]["segments"] == [TEXTS[0], "", TEXTS[2]]
    assert rows(segments, aligned=None)[0][FIRST]["segments"] == [None, "", None]
    assert rows(segments, corrections={"d:1.2": "By hand."})[0][FIRST]["segments"] == [TEXTS[0], "By hand.", TEXTS[2]]
    assert "d:1.2" not in unsure(segments, Aligned([None] * 5, [0.0] * 5, CONFIDENT))


def test_the_text_of_another_document_gives_no_text_but_a_doubt() -> None:
    found, failed = rows(aligned=by_embeddings(OTHER_PROSE, SEGMENTS, embed), prose=OTHER_PROSE)
    for row in found.values():
        assert set(row["segments"]) == {None}  # type: ignore[call-overload]
        assert "may not be a translation of this document" in str(row["doubt"])
    assert failed == {}


def test_what_is_known_otherwise_of_a_doubted_document_is_kept() -> None:
    doubted = by_embeddings(OTHER_PROSE, SEGMENTS, embed)
    found, _ = rows(aligned=doubted, prose=OTHER_PROSE, corrections={"d:1.2": "By hand."})
    assert (found[FIRST]["segments"], found[FIRST]["doubt"]) == ([None, "By hand.", None], None)
    assert found[SECOND]["doubt"]


def test_a_passage_that_nothing_is_like_has_no_text_but_a_doubt_and_the_others_theirs() -> None:
    spans, likeness = ALIGNED.spans, [FOUND - 0.01] * 3 + [FOUND] * 2
    found, _ = rows(aligned=Aligned(spans, likeness, CONFIDENT))
    assert found[FIRST]["segments"] == [None] * 3
    assert "nothing in the translation resembles it" in str(found[FIRST]["doubt"])
    assert (found[SECOND]["segments"], found[SECOND]["doubt"]) == (TEXTS[3:], None)


def left_out(index: int, lengths: list[int]) -> list[str | None]:
    """What the first passage is given where its guides have these lengths and one segment has no stretch."""
    texts = ["x" * length for length in lengths]
    segments = [each._replace(guides=(text,)) for each, text in zip(SEGMENTS, texts, strict=True)]
    prose = "".join(text for at, text in enumerate(texts) if at != index)
    spans: list[tuple[int, int] | None] = []
    end = 0
    for at, text in enumerate(texts):
        spans.append(None if at == index else (end, end + len(text)))
        end = end if at == index else end + len(text)
    found, _ = rows(segments, Aligned(spans, [0.9] * 5, CONFIDENT), prose=prose)
    assert found[FIRST]["methods"][index] in ("merged", None)  # type: ignore[index]
    return found[FIRST]["segments"]  # type: ignore[return-value]


def test_a_short_segment_without_a_stretch_is_merged_where_its_passage_is_whole_without_it() -> None:
    assert left_out(1, [60, 9, 40, 50, 50]) == ["x" * 60, "", "x" * 40]
    assert left_out(1, [60, 60, 40, 50, 50]) == ["x" * 60, None, "x" * 40]
    assert left_out(0, [100, 150, 150, 50, 50])[0] == ""  # exactly three quarters of the passage
    assert left_out(0, [101, 150, 150, 50, 50])[0] is None


def test_where_a_model_says_that_nothing_is_there_nothing_is_merged() -> None:
    spans = [None, *ALIGNED.spans[1:]]
    segments = [SEGMENTS[0]._replace(guides=("Yes.",)), *SEGMENTS[1:]]
    merged, _ = rows(segments, Aligned(spans, ALIGNED.likeness, CONFIDENT))
    assert (merged[FIRST]["segments"], merged[FIRST]["methods"]) == (["", *TEXTS[1:3]], ["merged"] + ["embedding"] * 2)
    said, _ = rows(segments, Aligned(spans, ALIGNED.likeness, CONFIDENT), [Extracted("d:1.1")])
    assert (said[FIRST]["segments"], said[FIRST]["methods"]) == ([None, *TEXTS[1:3]], [None] + ["embedding"] * 2)


def test_a_passage_that_is_left_out_raises_no_doubt() -> None:
    prose = " ".join(TEXTS[:3])
    found, _ = rows(aligned=by_embeddings(prose, SEGMENTS, embed), prose=prose)
    assert found[FIRST]["segments"] == TEXTS[:3]
    assert (found[SECOND]["segments"], found[SECOND]["doubt"]) == ([None, None], None)


def test_a_models_error_is_the_failure_of_its_passage() -> None:
    _, failed = rows(
        aligned=None, extracted=[Extracted(each, f"{each}!") for each in IDS[:4]] + [Extracted(IDS[4], error="refused")]
    )
    assert failed == {SECOND: "ann, d:2.2: refused"}


def test_a_models_error_is_none_where_a_hand_gave_the_text() -> None:
    extracted = [Extracted(each, error="refused") if each == "d:1.1" else Extracted(each) for each in IDS]
    found, failed = rows(aligned=None, extracted=extracted, corrections={"d:1.1": "By hand."})
    assert failed == {}
    assert found[FIRST]["segments"] == ["By hand.", None, None]


def test_unsure_is_what_has_no_text_or_one_that_is_little_like_it() -> None:
    likeness = [UNSURE, UNSURE - 0.01, 0.9, 0.9, 0.9]
    assert unsure(SEGMENTS, Aligned([*ALIGNED.spans[:4], None], likeness, CONFIDENT)) == ["d:1.2", "d:2.2"]


def test_where_texts_would_be_withheld_every_segment_is_unsure() -> None:
    assert unsure(SEGMENTS, Aligned(ALIGNED.spans, [0.9] * 5, CONFIDENT - 0.01)) == IDS
    assert unsure(SEGMENTS, Aligned(ALIGNED.spans, [0.4, 0.0, 0.0, 0.9, 0.9], CONFIDENT)) == IDS[:3]


def test_places_are_segments_in_the_documents_order_with_their_text_by_each_translator() -> None:
    sources = pl.DataFrame({
        "passage": [SECOND, FIRST], "position": [1, 0], "segment_ids": [IDS[3:], IDS[:3]],
        "segments": [["d", "e"], ["a", "b", ""]],
    })  # fmt: skip
    references = pl.DataFrame({
        "passage": [FIRST, SECOND, FIRST], "translator": ["zoe", "ben", "ben"],
        "segments": [["1", "2", ""], ["4", None], ["One", None, ""]],
    })  # fmt: skip
    assert [tuple(each) for each in places(sources, references)] == [
        (FIRST, "d:1.1", "a", ("One", "1")), (FIRST, "d:1.2", "b", (None, "2")), (FIRST, "d:1.3", "", ("", "")),
        (SECOND, "d:2.1", "d", ("4", None)), (SECOND, "d:2.2", "e", (None, None)),
    ]  # fmt: skip


def verified(prose: str, texts: list[list[str | None] | None], methods: str = "model", **others: str) -> pl.DataFrame:
    """Rows of `verification` for the texts of both passages."""
    rows = pl.DataFrame(
        {"passage": [FIRST, SECOND][: len(texts)], "segments": texts,
         "methods": [[methods if text else None for text in own] if own else None for own in texts]},
        schema={"passage": pl.String, "segments": pl.List(pl.String), "methods": pl.List(pl.String)},
    )  # fmt: skip
    return verified_rows("ann", prose, SEGMENTS, rows, others)


def test_passages_verified_are_those_that_were_aligned() -> None:
    found = verified(PROSE, [[TEXTS[0], None, "Nobody said this."], None])
    assert found.select("passage", "translator", "segment_id", "stage").rows() == [
        (FIRST, "ann", "d:1.1", "verbatim"), (FIRST, "ann", "d:1.3", "suspicious"),
    ]  # fmt: skip
    assert found.row(0, named=True) | {"start_at": 0, "end_at": len(TEXTS[0]), "in_order": True} == found.row(
        0, named=True
    )
    assert verified(PROSE, []).schema == found.schema


def test_a_segment_may_stand_in_another_text_to_which_the_prose_directs() -> None:
    found = verified(f"{TEXTS[0]} [as in AB 3]", [[TEXTS[0], TEXTS[1], None]], ab3=PROSE)
    assert found["stage"].to_list() == ["verbatim", "cross-reference"]


def test_a_correction_that_is_not_in_the_prose_is_by_hand() -> None:
    texts: list[list[str | None] | None] = [[TEXTS[0], "Nobody said this.", TEXTS[2]], [TEXTS[3], TEXTS[4]]]
    found = verified(PROSE, texts, "hand")
    assert found["stage"].to_list() == ["verbatim", "by hand", "verbatim", "verbatim", "verbatim"]
    assert found.filter(stage="by hand").select("in_order", "evidence").rows() == [
        (True, "corrected by hand; missing in the prose: nobody said this")
    ]
    assert verified(PROSE, texts)["stage"].to_list()[1] == "suspicious"


def test_a_correction_keeps_text_that_another_segment_has_too() -> None:
    rows = pl.DataFrame({
        "passage": [FIRST], "segments": [[f"{TEXTS[0]} {TEXTS[1]}", TEXTS[1], TEXTS[2]]],
        "methods": [["hand", "model", "model"]],
    })  # fmt: skip
    found = verified_rows("ann", PROSE, SEGMENTS, rows, {})
    assert found["stage"].to_list() == ["verbatim", "suspicious", "verbatim"]


def test_without_another_translation_lengths_are_those_of_the_source() -> None:
    alone = [segment._replace(guides=()) for segment in SEGMENTS]
    assert guides(alone) == [[segment.source for segment in SEGMENTS]]
    assert guides(SEGMENTS) == [TEXTS]


@pytest.mark.parametrize("corrections", [[], ["{}"], ['{"a:1": "x"}', "{}", '{"a:2": null}']])
def test_corrections_are_those_of_all_passages(corrections: list[str]) -> None:
    expected = {"a:1": "x", "a:2": None} if len(corrections) == 3 else {}
    assert corrected(pl.DataFrame({"corrections": corrections}, schema={"corrections": pl.String})) == expected


def test_text_that_no_segment_was_given_is_kept_with_its_place() -> None:
    preface, end = sentence(RNG, 30), sentence(RNG, 30)
    prose = f"{preface}\n\n{PROSE}\n\n{end}"
    aligned = by_embeddings(prose, SEGMENTS, embed)
    alignment, _ = aligned_rows("ann", prose, SEGMENTS, aligned, [Extracted("d:1.2", TEXTS[1])], {"d:1.3": None})
    found = unassigned_rows("ann", prose, SEGMENTS, alignment)
    assert found.select("passage", "text", "after", "before").rows() == [
        (FIRST, preface, None, "d:1.1"), (FIRST, TEXTS[2], "d:1.2", "d:2.1"), (SECOND, end, "d:2.2", None),
    ]  # fmt: skip
    assert [prose[start:end] for start, end in found.select("start_at", "end_at").rows()] == found["text"].to_list()
    assert unassigned_totals(found).rows() == [("c", "ann", 3, len(preface + TEXTS[2] + end))]


def test_passages_between_anchors_are_not_doubted_and_rivals_and_displaced_ones_are() -> None:
    spans, likeness = ALIGNED.spans, ALIGNED.likeness
    rival, _ = rows(aligned=Aligned(spans, likeness, CONFIDENT, rivals={0: 1}))
    assert rival[FIRST]["segments"] == [None] * 3
    assert rival[FIRST]["doubt"] == f"the text at its place resembles {SECOND} more"
    displaced, _ = rows(aligned=Aligned([None, None, None, *spans[3:]], likeness, CONFIDENT, displaced={0: (5, 9)}))
    assert "may be out of order" in str(displaced[FIRST]["doubt"])
    anchored, _ = rows(aligned=Aligned(spans, [0.0] * 5, 0.0, anchored=frozenset({0})))
    assert (anchored[FIRST]["segments"], anchored[FIRST]["doubt"]) == (TEXTS[:3], None)
    assert anchored[SECOND]["doubt"]
