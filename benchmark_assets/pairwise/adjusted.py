"""Scores of systems adjusted for their judge: at equal length, and without the judge's errors.

Here: rows of `pairwise_score` and `anchor_score`. Not here: the adjustments (controlled, corrected), other scores
(scores).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.metrics.measures import NONE, Estimate
from benchmark_assets.metrics.misclassification import spread
from benchmark_assets.metrics.missing import before, of_verdicts
from benchmark_assets.pairwise import controlled, corrected
from benchmark_assets.pairwise.controlled import at_equal_length, judge_effects, matches_of
from benchmark_assets.pairwise.corrected import SentinelCounts, agreement, errors_of, strengths
from benchmark_assets.pairwise.scores import (
    ADJUSTED,
    ANCHORS_ADJUSTED,
    OF_JUDGE,
    candidate_scores,
    scaled,
    slices,
)

SIGNATURE = f"{controlled.SIGNATURE}; {corrected.SIGNATURE}"

_VERDICT = ["passage", "first", "second", "winner"]


class Known(NamedTuple):
    """What examinations and hidden sentinels say about the judge of a base set.

    `padding` has length coefficients from padded texts, one for each direction. `sentinels` counts damaged texts of
    examinations, `hidden` hidden sentinels by model.
    """

    padding: Sequence[Estimate] = ()
    sentinels: SentinelCounts = SentinelCounts()
    hidden: Mapping[str, SentinelCounts] = {}

    def about(self, model: str) -> SentinelCounts:
        """All sentinels that count for a model's scores. Those made of other models' outputs do not, so that no
        model's score depends on other models."""
        own = self.hidden.get(model, SentinelCounts())
        return SentinelCounts(*(sum(each) for each in zip(self.sentinels, own, strict=True)))


NOTHING = Known()


def bounded_scores(
    comparisons: pl.DataFrame, judgments: pl.DataFrame, items: pl.DataFrame, contract: str, lengths: pl.DataFrame,
    known: Known,
) -> pl.DataFrame:  # fmt: skip
    """Scores with their adjustments, and with the bounds that comparisons without a winner leave.

    The parameters are those of `candidate_scores` and `with_adjustments`. The result has the columns of
    `pairwise_score` without `judge_standing`.
    """

    def rows_of(given: pl.DataFrame) -> pl.DataFrame:
        raw = candidate_scores(given, judgments, items, contract)
        return with_adjustments(raw, given, judgments, items, lengths, known)

    ends = {"winner": "anchor"}, {"winner": "output"}
    return of_verdicts("pairwise_score", comparisons, *ends, rows_of, kept=OF_JUDGE)


def with_adjustments(
    scores: pl.DataFrame, comparisons: pl.DataFrame, judgments: pl.DataFrame, items: pl.DataFrame,
    lengths: pl.DataFrame, known: Known = NOTHING,
) -> pl.DataFrame:  # fmt: skip
    """Add adjusted scores to scores of models.

    Parameters
    ----------
    scores
        Rows of `candidate_scores`.
    comparisons, judgments, items
        The other arguments of `candidate_scores`.
    lengths
        Columns `system` (anchor or model), `passage` and `length`, in characters; 0 for a blank text.
    known
        What examinations and hidden sentinels say about the judge.

    Returns
    -------
    Columns of `pairwise_score` without `judge_standing` and bounds. `lt_controlled` is null if strengths are not
    finite, or if the length coefficient is unknown; `length_problem` then gives the reason. `lt_fixed_controlled` is
    the LT of the same strength, relative to the anchors' mean strength. It is comparable with the LT of the anchors.
    `lt_corrected` and `win_rate_corrected` are those of a judge without errors; if nothing can be said about them,
    `correction_problem` gives the reason.
    """
    anchors = sorted({*judgments["first"], *judgments["second"], *comparisons["anchor"]})
    effects, problem = judge_effects(matches_of(judgments, anchors, lengths, items), anchors, known.padding)
    passages_of = slices(items)
    size, blank = len(anchors) + 1, lengths.filter(length=0).select("passage", first="system")
    about_anchors = agreement(_seen(judgments.select(_VERDICT), blank), items)
    rows: list[dict[str, object]] = []
    for (model,), group in scores.group_by(["model"], maintain_order=True):
        own = _verdicts(comparisons.filter(model=model))
        matches = matches_of(pl.concat([judgments.select(_VERDICT), own]), [*anchors, str(model)], lengths, items)
        about_model, sentinels = agreement(_seen(own, blank), items), known.about(str(model))
        errors, reason = errors_of([about_model, about_anchors], sentinels)
        of_anchors, unknown = errors_of([about_anchors, about_model], sentinels)
        errors, reason = (errors, reason) if of_anchors else (None, unknown)
        for part, rate, *ends, strength in group.select("slice", *NONE.columns("win_rate"), "strength").iter_rows():
            of_part = matches.where(np.isin(matches.passages, passages_of[part]))
            equal = NONE if problem else at_equal_length(of_part, size, effects)[-1]
            beside = Estimate(*(each and each * size / len(anchors) for each in equal))
            of_model = of_part.where(of_part.other == size - 1)
            middle = float(np.where(of_model.blank, 1 - of_model.won, 0.5).mean()) if len(of_model.won) else 0.5
            won = spread(Estimate(rate, *ends), errors.reliability, middle) if errors else NONE
            judge = errors if strength is not None else None
            found = strengths(of_part, size, effects.length, judge, of_anchors)[-1] if judge else NONE
            rows.append({
                "model": model, "slice": part, "length_problem": problem, **scaled(equal).columns("lt_controlled"),
                **scaled(beside).columns("lt_fixed_controlled"), **effects.length.columns("length_coefficient"),
                **effects.position.columns("position_coefficient"), **effects.ties.columns("tie_parameter"),
                **scaled(found).columns("lt_corrected"), **won.columns("win_rate_corrected"),
                **(errors.reliability if errors else NONE).columns("reliability"), "correction_problem": reason,
            })  # fmt: skip
    return _joined(scores, rows, "pairwise_score", "model", ADJUSTED)


def with_anchor_adjustments(
    scores: pl.DataFrame, judgments: pl.DataFrame, items: pl.DataFrame, lengths: pl.DataFrame, known: Known = NOTHING
) -> pl.DataFrame:
    """Add adjusted scores to scores of anchors.

    Parameters
    ----------
    scores
        Rows of `anchor_scores`.
    judgments, items
        Arguments of `anchor_scores`.
    lengths, known
        As for `with_adjustments`.

    Returns
    -------
    Columns of `anchor_score`. The columns are as in `with_adjustments`.
    """
    anchors = scores["anchor"].unique().sort().to_list()
    matches = matches_of(judgments, anchors, lengths, items)
    effects, problem = judge_effects(matches, anchors, known.padding)
    blank = lengths.filter(length=0).select("passage", first="system")
    errors, reason = errors_of([agreement(_seen(judgments.select(_VERDICT), blank), items)], known.sentinels)
    rows: list[dict[str, object]] = []
    for part, passages in slices(items).items():
        of_part, none = matches.where(np.isin(matches.passages, passages)), [NONE] * len(anchors)
        equal = none if problem else at_equal_length(of_part, len(anchors), effects)
        finite = scores.filter(slice=part)["strength"].null_count() == 0
        found = strengths(of_part, len(anchors), effects.length, errors) if errors and finite else none
        for anchor, strength, corrected_strength in zip(anchors, equal, found, strict=True):
            rows.append({
                "anchor": anchor, "slice": part, "length_problem": problem, "correction_problem": reason,
                **scaled(strength).columns("lt_controlled"), **scaled(corrected_strength).columns("lt_corrected"),
            })  # fmt: skip
    return _joined(scores, rows, "anchor_score", "anchor", ANCHORS_ADJUSTED)


def _joined(
    scores: pl.DataFrame, rows: Sequence[Mapping[str, object]], table: str, system: str, columns: Sequence[str]
) -> pl.DataFrame:
    """Add the missing `columns` of `table` to the scores. `rows` has their values for each system and slice."""
    kinds = before(table, "judge_standing")
    adjusted = pl.DataFrame(rows, schema={name: kinds[name] for name in (system, "slice", *columns)})
    joined = scores.join(adjusted, on=[system, "slice"], how="left", maintain_order="left")
    return joined.with_columns(signature=pl.format("{}; {}", "signature", pl.lit(SIGNATURE))).select(kinds.names())


def _seen(verdicts: pl.DataFrame, blank: pl.DataFrame) -> pl.DataFrame:
    """Verdicts on pairs that a judge has seen; `blank` names blank texts by `passage` and `first`."""
    kept = verdicts.join(blank, on=["passage", "first"], how="anti")
    return kept.join(blank.rename({"first": "second"}), on=["passage", "second"], how="anti")


def _verdicts(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Rows of `comparison` in the form of `anchor_judgment`."""
    first = pl.col("shown") == "A"
    return comparisons.select(
        "passage", first=pl.when(first).then("model").otherwise("anchor"),
        second=pl.when(first).then("anchor").otherwise("model"),
        winner=pl.when(pl.col("winner") == "output").then("model").when(pl.col("winner") == "anchor").then("anchor"),
    )  # fmt: skip
