"""Scores and the examinations of their judges: scores from failed judges are withheld, and scores from unexamined
judges are flagged.

Here: the combined verdict on several judges, and the flags of scores. Not here: the judges on which a score depends
(the rooms of their studies), verdicts on single judges (reports).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from resources import catalogue
from resources.warehouse import Warehouse

FAILED, UNEXAMINED = "failed", "not examined"

_WORST_FIRST = (FAILED, UNEXAMINED, "undecided", "passed")

ENDS = ("", "_low", "_high", "_least", "_most")
"""Suffixes of the columns of a score, of its interval and of its bounds."""

Report = tuple[str, str, str]
"""Judge, aspect ('' for whole translations) and direction of a report card."""


class JudgeStanding(NamedTuple):
    """The verdict on the judges of a score. `problem` is the reason why judges failed, or '' if none failed."""

    verdict: str
    problem: str = ""


def cards(warehouse: Warehouse, purpose: str) -> dict[Report, JudgeStanding]:
    """The verdicts on the judges of one purpose."""
    columns = ["judge", "aspect", "direction", "purpose", "verdict", "problem"]
    rows = warehouse.read("judge_verdict", columns=columns).filter(purpose=purpose).drop("purpose")
    return {
        (judge, aspect, direction): JudgeStanding(verdict, problem or "")
        for judge, aspect, direction, verdict, problem in rows.iter_rows()
    }


def worst(verdicts: Iterable[str]) -> str:
    """The worst verdict, in the order failed, not examined, undecided, passed; `not examined` if there is no
    verdict."""
    present = set(verdicts) or {UNEXAMINED}
    return next(name for name in _WORST_FIRST if name in present)


def together(judges: Iterable[Report], of_cards: Mapping[Report, JudgeStanding]) -> JudgeStanding:
    """The worst verdict on the judges, and the reasons why judges failed."""
    standings = {report: of_cards.get(report, JudgeStanding(UNEXAMINED)) for report in judges}
    verdict = worst(standing.verdict for standing in standings.values())
    problems = (
        f"{judge}{f' ({aspect})' if aspect else ''} failed its examination: it {standing.problem}"
        for (judge, aspect, _), standing in sorted(standings.items())
        if standing.verdict == verdict == FAILED
    )
    return JudgeStanding(verdict, "; ".join(dict.fromkeys(problems)))


def of_judges(
    warehouse: Warehouse, purpose: str, judges: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], JudgeStanding]:
    """The verdict on single judges for one purpose, by corpus and judge."""
    of_cards, languages = cards(warehouse, purpose), corpus_languages(warehouse)
    return {
        (corpus, judge): together([(judge, "", "-".join(languages.get(corpus, ())))], of_cards)
        for corpus, judge in judges
    }


def flagged(
    rows: pl.DataFrame,
    table: str,
    standings: Sequence[JudgeStanding],
    kept: Collection[str] = (),
    further: Collection[str] = (),
) -> pl.DataFrame:
    """Add to each score the verdict on its judges. Set scores from failed judges to null.

    Parameters
    ----------
    rows
        Rows of `table`, which has the column `problem`.
    standings
        The verdict on each row's judges.
    kept
        Columns that have an interval but are not set to null, because they describe the judge rather than the output.
    further
        Scores without an interval that are also set to null.

    Returns
    -------
    The rows, with the verdict in the column `judge_standing`. If the verdict is `failed`, the columns of `further` and
    all columns with an interval except `kept` are null, and `problem` begins with the reason why judges failed.
    """
    columns = catalogue.table(table).columns.values()
    scores = [column.name for column in columns if column.interval and column.name not in kept] + [*further]
    nulled = [f"{name}{end}" for name in scores for end in ENDS if f"{name}{end}" in rows.columns]
    verdicts = pl.Series("judge_standing", [each.verdict for each in standings], dtype=pl.String)
    reasons = pl.Series("reason", [each.problem or None for each in standings], dtype=pl.String)
    problem = pl.concat_str("reason", "problem", separator="; ", ignore_nulls=True)
    marked = rows.with_columns(verdicts, reasons)
    failed = pl.col("judge_standing") == FAILED
    return marked.with_columns(
        *(pl.when(~failed).then(name).alias(name) for name in nulled),
        problem=pl.when(pl.col("reason").is_not_null()).then(problem).otherwise("problem"),
    ).drop("reason")
