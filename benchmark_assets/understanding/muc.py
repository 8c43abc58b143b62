"""Scores of answers that are spans, in two ways that disagree: the paper's, and MUC-5 pooled over all samples.

The paper's score (`type_f1`) is the mean over samples of eval4ner's F1 in mode 'type'. eval4ner sees strings, no
offsets: a span lies where its string first occurs in the text. So all spans with the same string share one place, even
if they were marked in different places. A string that does not occur overlaps nothing, but is right if it equals a gold
span. Missed gold spans are counted separately from matches: if the only prediction that overlaps a gold span was
matched with another one, the order of spans decides whether the gold span counts as missed. The denominator of recall
may therefore differ from the number of gold spans. All this is reproduced here, to stay comparable with published
scores.

The other score (`pooled`) is nervaluate's, over spans by their place, all samples together. Samples without spans count
only if a system predicts spans in them; samples with many spans weigh more.

Here: scores of spans. Not here: where a span lies (spans), means and intervals (scores).
"""

from collections.abc import Sequence
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
"""Columns of `task_score`, and nervaluate's names for them."""


def type_f1(predicted: Sequence[tuple[str, str]], gold: Sequence[tuple[str, str]], text: str) -> float:
    """F1 of a sample's predicted spans in mode 'type': right if they overlap a gold span of the same type.

    Parameters
    ----------
    predicted, gold
        Type and string of each span. The order matters: of equally good gold spans, a prediction takes the first.
    text
        Text of the sample.

    Returns
    -------
    F1, from 0 to 1; 1 if there are neither predictions nor gold spans. It equals eval4ner's F1 to the last bit.

    Notes
    -----
    Each prediction is matched with the best gold span not matched yet, in this order: an equal span (right), an
    overlapping span of the same type (right), a span of another type with the same string (wrong), an overlapping span
    of another type (wrong). A prediction without a match is spurious. A gold span is missed if no prediction overlaps
    it; each prediction covers one gold span only. Precision is right / predictions, recall is right / (right + wrong +
    missed). Source: DharmaBench, section 4.2, by way of eval4ner (SemEval-2013 task 9).
    """
    if not predicted and not gold:
        return 1.0
    if not predicted or not gold:
        return 0.0
    place = {words: _first(words, text) for _, words in (*predicted, *gold)}
    left = list(gold)
    right = wrong = 0
    for span in predicted:
        match, rank = None, 4
        for other in left:
            overlapping = _overlap(place[other[1]], place[span[1]])
            if other == span:
                match, rank = other, 0
                break
            if overlapping and other[0] == span[0]:
                other_rank = 1
            elif other[0] != span[0] and other[1] == span[1]:
                other_rank = 2
            else:
                other_rank = 3 if overlapping else 4
            if other_rank < rank:
                match, rank = other, other_rank
        if match is not None:
            left.remove(match)
            right, wrong = right + (rank < 2), wrong + (rank >= 2)
    missed, unused = 0, list(predicted)
    for _, words in gold:
        cover = next((span for span in unused if _overlap(place[words], place[span[1]])), None)
        if cover is None:
            missed += 1
        else:
            unused.remove(cover)
    if not right:
        return 0.0
    precision, recall = right / len(predicted), right / (right + wrong + missed)
    return 2 * precision * recall / (precision + recall)


class ScoredSpan(NamedTuple):
    """A span by its place: `first` and `last` are characters, half-open; None if the text does not contain it."""

    type: str
    first: int | None
    last: int | None


class Pooled(NamedTuple):
    """F1 in each mode of `MODES`, 0 to 1, and counts in mode 'type' for each type.

    `types` has the numbers of gold spans, predicted spans and right predictions of each type.
    """

    f1: dict[str, float]
    types: dict[str, tuple[int, int, int]]


def pooled(predicted: Sequence[Sequence[ScoredSpan]], gold: Sequence[Sequence[ScoredSpan]]) -> Pooled:
    """MUC-5 pooled over all samples, in four modes.

    Parameters
    ----------
    predicted, gold
        Spans of each sample, samples in the same order. A span that its text does not contain gets a place of its own
        beyond all texts: such a prediction is spurious, such a gold span is missed.

    Notes
    -----
    Type: overlapping and of the same type. Partial: overlapping, of any type, half a point unless exact. Exact: the
    same place, of any type. Strict: the same place and type. Source: Chinchor and Sundheim 1993.
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


def _first(words: str, text: str) -> tuple[int, int]:
    at = text.find(words)
    return (at, at + len(words)) if at >= 0 else (0, 0)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def _placed(spans: Sequence[ScoredSpan], beyond: int) -> list[dict[str, str | int]]:
    """Spans in nervaluate's form, the last character included. Spans without a place do not overlap each other."""
    rows: list[dict[str, str | int]] = []
    for number, (kind, first, last) in enumerate(spans):
        if first is None or last is None or first >= last:
            first, last = beyond + 2 * number, beyond + 2 * number + 1
        rows.append({"label": kind, "start": first, "end": last - 1})
    return rows
