"""Error rates that a panel without errors would find: rates corrected for the panel's errors about sentinels.

Here: the errors of the majority of a panel, and rows with the correction. Not here: errors of single judges and the
correction (examination.errors), rates corrected by people's labels (anchored).
"""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.adjudication.panel import JudgeVotes, voting_judges
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.audit.rated import PANEL
from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.errors import damaging, of_majority, with_corrected
from benchmark_assets.metrics.misclassification import ErrorShares
from resources.warehouse import Warehouse


def panel_errors(warehouse: Warehouse) -> dict[str, ErrorShares]:
    """The errors of the panel of each corpus, if all judges whose votes count were examined."""
    rows, languages, seats = damaging(warehouse, JudgeVotes.name), corpus_languages(warehouse), audits(warehouse)
    found = {}
    for corpus, judges in voting_judges(warehouse).items():
        of_corpus = rows.filter(direction="-".join(languages[corpus]))
        if judges and (errors := of_majority(of_corpus, judges, len(seats[corpus].judges), 1.0)):
            found[corpus] = errors
    return found


def with_correction(outcomes: pl.DataFrame, errors: Mapping[str, ErrorShares]) -> pl.DataFrame:
    """Add `any_corrected` to rows of `audit_outcome`; null for people's labels."""
    of_rows = [
        errors.get(corpus) if raters == PANEL else None
        for corpus, raters in outcomes.select("corpus", "raters").iter_rows()
    ]
    return with_corrected(outcomes, "any_rate", "any_corrected", of_rows)
