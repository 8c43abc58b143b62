"""Scores and the examinations of their judges: scores of failed judges are withheld, scores of unexamined judges are
flagged.

Here: the verdict on several judges together, and the marking of scores. Not here: which judges a score depends on
(the modules `examining` of other rooms), verdicts on single judges (reports).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.registry import corpus_languages
from resources import catalogue
from resources.warehouse import Warehouse

FAILED, UNEXAMINED = "failed", "not examined"

_WORST_FIRST = (FAILED, UNEXAMINED, "undecided", "passed")

Report = tuple[str, str, str]
"""Judge, aspect ('' for whole translations) and direction of a report card."""


class Standing(NamedTuple):
    """The verdict on the judges of scores, and why some of them failed; `problem` is '' if none did."""

    verdict: str
    problem: str = ""


def cards(warehouse: Warehouse, purpose: str) -> dict[Report, Standing]:
    """Verdicts of the report cards of one purpose."""
    columns = ["judge", "aspect", "direction", "purpose", "verdict", "problem"]
    rows = warehouse.read("judge_report", columns=columns).filter(purpose=purpose).drop("purpose")
    return {(judge, aspect, direction): Standing(verdict, problem or "") for judge, aspect, direction, verdict, problem
            in rows.iter_rows()}  # fmt: skip


def worst(verdicts: Iterable[str]) -> str:
    """The worst verdict: failed, not examined, undecided or passed; `not examined` if there is none."""
    present = set(verdicts) or {UNEXAMINED}
    return next(name for name in _WORST_FIRST if name in present)


def together(judges: Iterable[Report], of_cards: Mapping[Report, Standing]) -> Standing:
    """The worst verdict on judges, and why they failed."""
    standings = {report: of_cards.get(report, Standing(UNEXAMINED)) for report in judges}
    verdict = worst(standing.verdict for standing in standings.values())
    problems = (
        f"{judge}{f' ({aspect})' if aspect else ''} failed its examination: it {standing.problem}"
        for (judge, aspect, _), standing in sorted(standings.items())
        if standing.verdict == verdict == FAILED
    )
    return Standing(verdict, "; ".join(dict.fromkeys(problems)))


def of_judges(warehouse: Warehouse, purpose: str, judges: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Standing]:
    """The verdict on single judges for one purpose, by corpus and judge."""
    of_cards, languages = cards(warehouse, purpose), corpus_languages(warehouse)
    return {
        (corpus, judge): together([(judge, "", "-".join(languages.get(corpus, ())))], of_cards)
        for corpus, judge in judges
    }


def flagged(
    rows: pl.DataFrame,
    table: str,
    standings: Sequence[Standing],
    kept: Collection[str] = (),
    further: Collection[str] = (),
) -> pl.DataFrame:
    """Scores with the verdict on their judges in the column `judge_standing`.

    Parameters
    ----------
    rows
        Rows of `table` with the column `problem`.
    standings
        The verdict on the judges of each row.
    kept
        Columns with an interval that describe the judge rather than the output.
    further
        Scores without an interval.

    Returns
    -------
    The rows; if the verdict is `failed`, all columns with an interval are null, except `kept`, and so are `further`.
    `problem` begins with the reason why judges failed.
    """
    columns = catalogue.table(table).columns.values()
    scores = [column.name for column in columns if column.interval and column.name not in kept] + [*further]
    nulled = [f"{name}{end}" for name in scores for end in ("", "_low", "_high") if f"{name}{end}" in rows.columns]
    verdicts = pl.Series("judge_standing", [each.verdict for each in standings], dtype=pl.String)
    reasons = pl.Series("reason", [each.problem or None for each in standings], dtype=pl.String)
    problem = pl.concat_str("reason", "problem", separator="; ", ignore_nulls=True)
    marked = rows.with_columns(verdicts, reasons)
    failed = pl.col("judge_standing") == FAILED
    return marked.with_columns(
        *(pl.when(~failed).then(name).alias(name) for name in nulled),
        problem=pl.when(pl.col("reason").is_not_null()).then(problem).otherwise("problem"),
    ).drop("reason")
