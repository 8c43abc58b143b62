"""Hostile replies that mark spans are read as a person reads them, and duplicates count once."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from benchmark_assets.error_spans.judging import annotating, span_rows
from benchmark_assets.studies.study import Item
from benchmark_assets.understanding.answers import placed
from benchmark_assets.understanding.parsing import parse_spans
from resources.provider.names import Unusable
from resources.provider.reading import Outcome, Reading
from tests.provider.hostile_spans import SEEN, TYPES, UNSEEN, Hostile, hostile
from tests.provider.reply_corpus import LANGUAGES, MODEL

TEMPLATE = annotating(MODEL, LANGUAGES)


def judged(text: str, reply: str) -> Any:
    try:
        annotation = TEMPLATE.read(Reading(Outcome.ANSWERED, reply, finish="stop"))[0]
    except Unusable:
        return None
    rows = span_rows(Item(("m", "p"), {}, TEMPLATE, {"source": text, "candidate": text}), annotation)
    return [(r["category"], r["severity"], r["span_start"], r["span_end"]) for r in rows], annotation.score


def answered(text: str, reply: str) -> Any:
    parsed = parse_spans(Reading(Outcome.ANSWERED, reply, finish="stop"), TYPES)
    if parsed.problem:
        return None
    spans = [(each.type, each.first, each.last) for each in placed(text, parsed.spans)]
    return list(dict.fromkeys(spans)), None


def exact(found: Any, hostile: Hostile) -> bool:
    """Whether a reading has the right names, score and places; a place may lack signs at its ends."""
    if found is None or hostile.right is None:
        return found is hostile.right
    (spans, score), (right, right_score) = found, hostile.right
    pairs = list(zip(spans, right, strict=False))
    return len(spans) == len(right) and score == right_score and all(_same(*pair, hostile.text) for pair in pairs)


def _same(span: Sequence[Any], right: Sequence[Any], text: str) -> bool:
    letters = ["".join(filter(str.isalnum, text[slice(*each[-2:])])) for each in (span, right)]
    return span[:-2] == right[:-2] and None not in span and letters[0] == letters[1] and abs(span[-2] - right[-2]) < 5


@pytest.mark.parametrize(("read", "judge"), [(judged, True), (answered, False)], ids=["judge", "task"])
@pytest.mark.parametrize(("forms", "seed"), [(SEEN, 10), (UNSEEN, 20)], ids=["seen", "unseen"])
def test_hostile_replies_are_read_as_a_person_reads_them(read: Any, judge: bool, forms: Any, seed: int) -> None:
    replies = list(hostile(forms, range(seed, seed + 3), judge))
    wrong = [reply for reply in replies if not exact(read(reply.text, reply.reply), reply)]
    assert len(wrong) <= 0.05 * len(replies), wrong


def spans(reply: Any) -> tuple[tuple[str, str], ...]:
    """The spans that are read in an answer to a task with a single type."""
    return parse_spans(Reading(Outcome.ANSWERED, json.dumps(reply), finish="stop"), ["QUOTE"]).spans


def test_a_single_type_is_understood_but_no_other_type_is_taken_for_it() -> None:
    read = (("QUOTE", "so it"), ("QUOTE", "is"))
    assert spans({"prediction": ["so it", "is"]}) == spans({"QUOTE": ["so it", "is"]}) == read
    assert spans({"prediction": {"QUOTE": ["so it"], "TITLE": ["of it"]}}) == ()
    assert spans({"prediction": [["TITLE", "of it"], {"LABEL": "TITLE", "SPAN": "of it"}, "so it"]}) == read[:1]
    assert spans({"prediction": ["so it"], "Prediction": ["is"]}) == ()
