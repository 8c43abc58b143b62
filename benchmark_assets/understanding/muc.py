"""Two scores of answers that are spans: the score of DharmaBench's paper, and MUC-5 pooled over all samples.

The paper's score (`type_f1`) is the mean over samples of eval4ner's F1 in mode 'type'. eval4ner takes strings without
offsets, and places each span at the first occurrence of its string in the text. Spans with equal strings therefore
share one place, even if they were marked in different places. A string that does not occur in the text overlaps no
other span, but is correct if it equals a gold span. Missed gold spans are counted separately from matches: if the only
prediction that overlaps a gold span was matched with another gold span, the order of the spans decides whether the gold
span counts as missed. The denominator of recall may therefore differ from the number of gold spans. This module
reproduces this behavior, so that its scores are comparable with the published scores.

The pooled score (`pooled`) is computed by nervaluate, once over the spans of all samples. Spans are compared by their
places. Samples without gold spans count only if a system predicts spans in them; samples with many spans weigh more.

Here: scores of spans. Not here: locating spans (spans), means and intervals (task_scores).
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

from nervaluate.entities import EvaluationResult  # type: ignore[import-untyped]
from nervaluate.evaluator import Evaluator  # type: ignore[import-untyped]

SIGNATURE_TYPE = (
    "mean over samples of MUC F1, mode type, places by first occurrence as eval4ner 0.1.0 has them, 1 where both are "
    "empty"
)
SIGNATURE_POOLED = (
    f"pooled: MUC-5 over all samples by place, nervaluate {version('nervaluate')}, overlap from 1 % of the gold span"
)

MODES = {"pooled_type": "ent_type", "pooled_partial": "partial", "pooled_strict": "strict", "pooled_exact": "exact"}
"""Columns of `task_score`, with the names of their modes in nervaluate."""


_NO_MATCH = 4


def type_f1(predicted: Sequence[tuple[str, str]], gold: Sequence[tuple[str, str]], text: str) -> float:
    """F1 of a sample's predicted spans in mode 'type': a span is correct if it overlaps a gold span of the same type.

    Parameters
    ----------
    predicted, gold
        Type and string of each span. The order matters: a prediction is matched with the first of equally good gold
        spans.
    text
        Text of the sample.

    Returns
    -------
    F1, from 0 to 1; 1 if there are neither predictions nor gold spans. It equals eval4ner's F1 to the last bit.

    Notes
    -----
    Each prediction is matched with the best gold span that has no match yet: an equal span (correct), else an
    overlapping span of the same type (correct), else a span of another type with the same string (wrong), else an
    overlapping span of another type (wrong). A prediction without a match is spurious. A gold span is missed if no
    prediction overlaps it; each prediction can cover only one gold span. Precision is correct / predictions, and recall
    is correct / (correct + wrong + missed). Source: DharmaBench, section 4.2, as computed by eval4ner (SemEval-2013
    task 9).
    """
    if not predicted and not gold:
        return 1.0
    if not predicted or not gold:
        return 0.0
    place = {string: _first(string, text) for _, string in (*predicted, *gold)}
    unmatched = list(gold)
    correct = wrong = 0
    for span in predicted:
        ranks = [(_rank(candidate, span, place), at) for at, candidate in enumerate(unmatched)]
        rank, at = min(ranks, default=(_NO_MATCH, 0))
        if rank < _NO_MATCH:
            del unmatched[at]
            correct, wrong = correct + (rank < 2), wrong + (rank >= 2)
    missed, unused = 0, list(predicted)
    for _, string in gold:
        cover = next((span for span in unused if _overlap(place[string], place[span[1]])), None)
        if cover is None:
            missed += 1
        else:
            unused.remove(cover)
    if not correct:
        return 0.0
    precision, recall = correct / len(predicted), correct / (correct + wrong + missed)
    return 2 * precision * recall / (precision + recall)


def _rank(gold: tuple[str, str], span: tuple[str, str], place: Mapping[str, tuple[int, int]]) -> int:
    """How well a gold span matches a prediction, from 0 (equal) to `_NO_MATCH`."""
    overlapping = _overlap(place[gold[1]], place[span[1]])
    ranked = gold == span, overlapping and gold[0] == span[0], gold[0] != span[0] and gold[1] == span[1], overlapping
    return next((rank for rank, fits in enumerate(ranked) if fits), _NO_MATCH)


class ScoredSpan(NamedTuple):
    """Type of a span, and its half-open character offsets, which are None if the text does not contain the span."""

    type: str
    first: int | None
    last: int | None


class Pooled(NamedTuple):
    """Pooled scores of one system.

    `f1` has the F1 in each mode of `MODES`, 0 to 1. `types` has, for each type, the numbers of gold spans, predicted
    spans and correct predictions in mode 'type'.
    """

    f1: dict[str, float]
    types: dict[str, tuple[int, int, int]]


def pooled(predicted: Sequence[Sequence[ScoredSpan]], gold: Sequence[Sequence[ScoredSpan]]) -> Pooled:
    """MUC-5 scores pooled over all samples, in four modes.

    Parameters
    ----------
    predicted, gold
        Spans of each sample, with the samples in the same order. A span that is absent from its text never matches:
        such a prediction is spurious, and such a gold span is missed.

    Notes
    -----
    A prediction is correct in mode 'type' if it overlaps a gold span of the same type; in mode 'exact' if its place
    equals the place of a gold span of any type; and in mode 'strict' if place and type are equal. In mode 'partial', it
    gets one point if its place equals the place of a gold span of any type, and half a point if it only overlaps a gold
    span. Source: Chinchor and Sundheim 1993.
    """
    types = sorted({span.type for spans in (*predicted, *gold) for span in spans})
    beyond = 1 + max((span.last or 0 for spans in (*predicted, *gold) for span in spans), default=0)
    longest = max((len(spans) for spans in predicted), default=0)
    evaluation = Evaluator(
        [_placed(spans, beyond + 2 * longest) for spans in gold],
        [_placed(spans, beyond) for spans in predicted],
        types,
        loader="dict",
    ).evaluate()
    overall: dict[str, EvaluationResult] = evaluation["overall"]
    counts = {kind: evaluation["entities"][kind]["ent_type"] for kind in types}
    return Pooled(
        {name: float(overall[mode].f1) for name, mode in MODES.items()},
        {kind: (count.possible, count.actual, count.correct) for kind, count in counts.items()},
    )


def _first(string: str, text: str) -> tuple[int, int]:
    """Place of the first occurrence of a string in a text; an empty place if the text does not contain the string."""
    start = text.find(string)
    return (start, start + len(string)) if start >= 0 else (0, 0)


def _overlap(place: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(place[0], other[0]) < min(place[1], other[1])


def _placed(spans: Sequence[ScoredSpan], beyond: int) -> list[dict[str, str | int]]:
    """Spans in the form that nervaluate expects: `end` is the position of the last character.

    Spans without a place get distinct places, starting at position `beyond`, so that they do not overlap each other.
    """
    rows: list[dict[str, str | int]] = []
    for number, (kind, first, last) in enumerate(spans):
        if first is None or last is None or first >= last:
            first, last = beyond + 2 * number, beyond + 2 * number + 1
        rows.append({"label": kind, "start": first, "end": last - 1})
    return rows
