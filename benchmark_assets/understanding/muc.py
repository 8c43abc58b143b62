"""Scores of answers that are spans, in two ways that disagree: the paper's, and MUC-5 over all samples together.

The paper's (`type_f1`) is the mean over samples of eval4ner's F1 in mode 'type'. eval4ner sees strings, no offsets: a
span lies where its string first occurs in the text. So all spans of the same string lie in the same place, even where
they were marked in different ones; a string that does not occur overlaps nothing, but is right if it equals a gold one.
What was missed it counts apart from what was matched: a gold span of which the only overlapping prediction was matched
with another one may be missed or not, by the order of spans, and so the denominator of recall need not be the number of
gold spans. All this is kept here, since a score that differs cannot be compared with published ones.

The other (`pooled`) is nervaluate's, over spans by their place. It counts all samples together: samples without spans
weigh nothing unless something is found in them, and samples with many weigh much.

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
    """F1 of the spans of one sample in mode 'type', where overlapping spans of the same type are right.

    Parameters
    ----------
    predicted, gold
        Type and string of each span. Their order matters: each prediction takes the first gold span that suits it best.
    text
        In which they lie.

    Returns
    -------
    0 to 1; 1 where there are neither predictions nor gold spans. Equal to eval4ner's to the last bit.

    Notes
    -----
    A prediction is matched with what is left of the gold spans: an equal one, else one of its type that overlaps (both
    right), else one of the same string or, last, one that overlaps (both wrong), else it is spurious. A gold span is
    missed if no prediction overlaps it, each prediction standing for one gold span. Precision is right / predictions,
    recall right / (right + wrong + missed). Source: DharmaBench, section 4.2, by way of eval4ner (SemEval-2013 task 9).
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
                own = 1
            elif other[0] != span[0] and other[1] == span[1]:
                own = 2
            else:
                own = 3 if overlapping else 4
            if own < rank:
                match, rank = other, own
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
    """A span by its place: `first` and `last` are characters, half-open; None where it does not occur in the text."""

    type: str
    first: int | None
    last: int | None


class Pooled(NamedTuple):
    """F1 in each mode, 0 to 1 by the names of `MODES`, and for each type what was counted in mode 'type'.

    `types` has the numbers of gold spans, of predicted ones, and of predicted ones that are right.
    """

    f1: dict[str, float]
    types: dict[str, tuple[int, int, int]]


def pooled(predicted: Sequence[Sequence[ScoredSpan]], gold: Sequence[Sequence[ScoredSpan]]) -> Pooled:
    """MUC-5 over all samples together, in four modes.

    Parameters
    ----------
    predicted, gold
        Spans of each sample, in the same order. A span that does not occur in its text has a place of its own behind
        all texts: predicted, it is spurious, and as gold it is missed.

    Notes
    -----
    Type: overlapping, of the same type. Partial: overlapping, half a point unless it is exact, of any type. Exact: the
    same place, of any type. Strict: the same place and type. Source: Chinchor and Sundheim 1993.
    """
    types = sorted({span.type for spans in (*predicted, *gold) for span in spans})
    beyond = 1 + max((span.last or 0 for spans in (*predicted, *gold) for span in spans), default=0)
    longest = max((len(spans) for spans in predicted), default=0)
    found = Evaluator(
        [_placed(spans, beyond + 2 * longest) for spans in gold],
        [_placed(spans, beyond) for spans in predicted],
        types,
        loader="dict",
    ).evaluate()
    overall: dict[str, EvaluationResult] = found["overall"]
    counts = {each: found["entities"][each]["ent_type"] for each in types}
    return Pooled(
        {name: float(overall[mode].f1) for name, mode in MODES.items()},
        {each: (own.possible, own.actual, own.correct) for each, own in counts.items()},
    )


def _first(words: str, text: str) -> tuple[int, int]:
    at = text.find(words)
    return (at, at + len(words)) if at >= 0 else (0, 0)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def _placed(spans: Sequence[ScoredSpan], beyond: int) -> list[dict[str, str | int]]:
    """As nervaluate wants them, the last character included; those without a place apart from each other."""
    rows: list[dict[str, str | int]] = []
    for number, (kind, first, last) in enumerate(spans):
        if first is None or last is None or first >= last:
            first, last = beyond + 2 * number, beyond + 2 * number + 1
        rows.append({"label": kind, "start": first, "end": last - 1})
    return rows
