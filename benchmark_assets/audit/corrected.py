"""Error rates that a panel without errors would find: rates corrected for the panel's errors about sentinels.

Here: errors of a panel, by the majority of its judges on sentinels that all of them have seen, and the correction. Not
here: examinations of single judges (examination), rates corrected by people's labels (anchored).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmark_assets.adjudication.panel import JudgeVotes, voting_judges
from benchmark_assets.adjudication.triage import audits
from benchmark_assets.audit.rated import PANEL
from benchmark_assets.corpus.registry import corpus_languages
from benchmark_assets.examination.sentinels import DAMAGING
from benchmark_assets.metrics.intervals import Floats, rate_interval
from benchmark_assets.metrics.measures import NONE, Estimate, numbered_units
from resources.warehouse import Warehouse

LEAST = 0.2
"""Least difference between the shares of damaged and of sound texts in which the panel finds an error, at the ends of
their intervals. With a smaller one, nothing is corrected."""

SIGNATURE = "any_corrected: Rogan and Gladen's estimator, errors of the panel's majority on sentinels, MOVER"


class PanelErrors(NamedTuple):
    """Shares of texts in which the majority of a panel finds an error: of damaged texts, and of sound ones."""

    found: Estimate
    false: Estimate


def panel_errors(warehouse: Warehouse) -> dict[str, PanelErrors]:
    """The errors of the panel of each corpus, if all judges whose votes count were examined."""
    columns = ["judge", "direction", "trait", "kind", "passage", "shown", "worth"]
    rows = warehouse.read("sentinel", pl.DataFrame({"purpose": [JudgeVotes.name]}), columns)
    rows = rows.filter(pl.col("trait").is_in(DAMAGING)).drop_nulls("worth")
    languages, seats = corpus_languages(warehouse), audits(warehouse)
    found = {}
    for corpus, judges in voting_judges(warehouse).items():
        of_corpus = rows.filter(direction="-".join(languages[corpus]))
        if judges and (errors := majority_errors(of_corpus, judges, len(seats[corpus].judges))):
            found[corpus] = errors
    return found


def majority_errors(rows: pl.DataFrame, judges: Sequence[str], seats: int) -> PanelErrors | None:
    """The errors of a panel with this number of seats, from rows of `sentinel` of the judges whose votes count; None if
    these have no sentinel in common.

    Errors that judges share count as they are: a majority errs where most judges err about the same text. A sound text
    counts once, whatever the number of damaged ones beside it.
    """
    votes = rows.filter(pl.col("judge").is_in(judges)).with_columns(
        kind=pl.when(pl.col("shown") == "sound").then(pl.lit("")).otherwise("kind")
    ).unique(["judge", "passage", "kind", "shown"])  # fmt: skip
    texts = votes.group_by("passage", "kind", "shown").agg(seen=pl.len(), errors=(pl.col("worth") == 0).sum())
    texts = texts.filter(seen=len(judges)).with_columns(error=2 * pl.col("errors") > seats).sort("passage", "kind")
    found, false = (_share(texts.filter(shown=shown)) for shown in ("trial", "sound"))
    return None if found.low is None or false.low is None else PanelErrors(found, false)


def _share(texts: pl.DataFrame) -> Estimate:
    if texts.is_empty():
        return NONE
    errors = texts["error"].to_numpy()
    return Estimate(float(errors.mean()), *rate_interval(errors, numbered_units(texts["passage"])))


def corrected(rate: Estimate, errors: PanelErrors) -> Estimate:
    """The share of outputs with an error, from the share in which the panel found one.

    Notes
    -----
    (rate - false) / (found - false), Rogan and Gladen (1978), within [0, 1]. The interval combines those of the three
    shares (MOVER; Zou and Donner 2008). It takes damaged texts for as easy as real errors. A rate beyond what the
    panel's errors allow becomes 0 or 1; the interval then reaches to the end of the given one.
    """
    values = rate, errors.found, errors.false
    if any(each.low is None for each in values) or float(errors.found.low or 0) - float(errors.false.high or 0) < LEAST:
        return NONE
    seen, found, false = (np.array(each, dtype=np.float64) for each in values)
    value = _rogan_gladen(seen[0], found[0], false[0])
    moved = np.array([
        _rogan_gladen(seen[1:], found[0], false[0]), _rogan_gladen(seen[0], found[1:], false[0]),
        _rogan_gladen(seen[0], found[0], false[1:]),
    ]) - value  # fmt: skip
    below, above = (
        float(np.linalg.norm(ends)) for ends in (moved.min(axis=1, initial=0), moved.max(axis=1, initial=0))
    )
    share, low, high = (min(max(float(each), 0.0), 1.0) for each in (value, value - below, value + above))
    return Estimate(share, *((low, high) if low < high else (min(low, float(seen[1])), max(high, float(seen[2])))))


def _rogan_gladen(rate: Floats, found: Floats, false: Floats) -> Floats:
    share: Floats = (rate - false) / (found - false)
    return share


def with_correction(outcomes: pl.DataFrame, errors: Mapping[str, PanelErrors]) -> pl.DataFrame:
    """Add `any_corrected` to rows of `audit_outcome`; null for people's labels."""
    names = ["corpus", "raters", *NONE.columns("any_rate")]
    found: Iterable[Estimate] = (
        corrected(Estimate(*rate), errors[corpus]) if raters == PANEL and corpus in errors else NONE
        for corpus, raters, *rate in outcomes.select(names).iter_rows()
    )
    columns = list(NONE.columns("any_corrected"))
    added = pl.DataFrame(list(found), schema=dict.fromkeys(columns, pl.Float64), orient="row")
    return outcomes.hstack(added).with_columns(signature=pl.format("{}; {}", "signature", pl.lit(SIGNATURE)))
