"""Scores and the examinations of their judges: scores from judges that failed, or about whom nothing is clear, are
withheld, and scores from unexamined judges are flagged.

Here: the combined verdict on several judges, and the flags of scores. Not here: the judges on which a score depends
(the rooms of their studies), verdicts on single judges (reports).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from resources import catalogue
from resources.catalogue import schema
from resources.warehouse import Warehouse

FAILED, UNDECIDED, UNEXAMINED = "failed", "undecided", "not examined"

WITHHELD = (FAILED, UNDECIDED)
"""Verdicts with which a judge's votes count for nothing, unless people's labels correct them."""

_WORST_FIRST = (*WITHHELD, UNEXAMINED, "passed")

STOPS = "judge_stop"

_AT_WORK = ("", "")
"""Aspect and direction in the key of the standing of a stopped judge, which concerns all of them."""

ENDS = ("", "_low", "_high", "_least", "_most")
"""Suffixes of the columns of a score, of its interval and of its bounds."""

Report = tuple[str, str, str]
"""Judge, aspect ('' for whole translations) and direction of a report card."""


class JudgeStanding(NamedTuple):
    """The verdict on the judges of a score. `problem` is the reason why their votes do not count, or ''."""

    verdict: str
    problem: str = ""


def cards(warehouse: Warehouse, purpose: str) -> dict[Report, JudgeStanding]:
    """The verdicts on the judges of one purpose, with those that its study stopped."""
    columns = ["judge", "aspect", "direction", "purpose", "verdict", "problem"]
    rows = warehouse.read("judge_verdict", columns=columns).filter(purpose=purpose).drop("purpose")
    verdicts = {
        (judge, aspect, direction): JudgeStanding(verdict, problem or "")
        for judge, aspect, direction, verdict, problem in rows.iter_rows()
    }
    stopped = stops(warehouse, purpose).select("judge", "reason").iter_rows()
    return verdicts | {(judge, *_AT_WORK): JudgeStanding(FAILED, reason) for judge, reason in stopped}


def stops(warehouse: Warehouse, study: str) -> pl.DataFrame:
    """Rows of `judge_stop`: the judges that a study stopped."""
    return warehouse.read(STOPS, pl.DataFrame({"study": [study]}), schema(STOPS).names())


def worst(verdicts: Iterable[str]) -> str:
    """The worst verdict, in the order failed, undecided, not examined, passed; `not examined` if there is no
    verdict."""
    present = set(verdicts) or {UNEXAMINED}
    return next(name for name in _WORST_FIRST if name in present)


def together(judges: Iterable[Report], of_cards: Mapping[Report, JudgeStanding]) -> JudgeStanding:
    """The worst verdict on the judges, and the reasons why votes of judges with this verdict do not count."""
    standings = {
        report: of_cards.get((report[0], *_AT_WORK)) or of_cards.get(report, JudgeStanding(UNEXAMINED))
        for report in judges
    }
    verdict = worst(standing.verdict for standing in standings.values())
    problems = (
        f"{judge}{f' ({aspect})' if aspect else ''} {_RESULTS[verdict]} {standing.problem}"
        for (judge, aspect, _), standing in sorted(standings.items())
        if standing.verdict == verdict and verdict in WITHHELD
    )
    return JudgeStanding(verdict, "; ".join(dict.fromkeys(problems)))


_RESULTS = {FAILED: "failed its examination: it", UNDECIDED: "has not passed its examination:"}


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
    """Add to each score the verdict on its judges. Set scores from judges whose votes do not count to null.

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
    The rows, with the verdict in the column `judge_standing`. If the verdict is in `WITHHELD`, the columns of `further`
    and all columns with an interval except `kept` are null, and `problem` begins with the reason.
    """
    columns = catalogue.table(table).columns.values()
    scores = [column.name for column in columns if column.interval and column.name not in kept] + [*further]
    nulled = [f"{name}{end}" for name in scores for end in ENDS if f"{name}{end}" in rows.columns]
    verdicts = pl.Series("judge_standing", [each.verdict for each in standings], dtype=pl.String)
    reasons = pl.Series("reason", [each.problem or None for each in standings], dtype=pl.String)
    problem = pl.concat_str("reason", "problem", separator="; ", ignore_nulls=True)
    marked = rows.with_columns(verdicts, reasons)
    withheld = pl.col("judge_standing").is_in(WITHHELD)
    return marked.with_columns(
        *(pl.when(~withheld).then(name).alias(name) for name in nulled),
        problem=pl.when(pl.col("reason").is_not_null()).then(problem).otherwise("problem"),
    ).drop("reason")
