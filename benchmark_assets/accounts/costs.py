"""Costs of model calls: sums over the ledger's attempts. Not here: the ledger itself (resources.provider.ledger)."""

from datetime import date

import polars as pl

from resources.provider.reading import REPLIES
from resources.provider.registry import Budget, Registry

NEARLY = 0.8
"""Fraction of a spending cap at which the cap counts as nearly reached."""


def recorded(attempts: pl.DataFrame) -> pl.DataFrame:
    """Rows of `model_call`, from the frame returned by `Ledger.attempts`."""
    rows = attempts.rename({"id": "attempt", "key": "call"}).with_columns(priced=pl.col("price").is_not_null())
    return rows.drop("session", "price", "question", "requested_model")


def costs(attempts: pl.DataFrame) -> pl.DataFrame:
    """Calls, tokens and cost by day (UTC), model and purpose, latest day first.

    Parameters
    ----------
    attempts
        The frame returned by `Ledger.attempts`.

    Returns
    -------
    `calls` counts attempts, `replies` counts attempts with a reply, `uncertain` counts finished attempts of unknown
    cost (broken off, in flight when a process ended, or answered without usage), and `corrected` counts attempts whose
    cost was corrected by a person. `paid` is the known cost in US dollars, and `at_most` the maximum that uncertain
    attempts may add. `at_most` is null if a price is missing; `paid` is null if, in addition, no cost is known.
    """
    calls = attempts.with_columns(day=pl.col("asked").dt.date(), priced=pl.col("price").is_not_null())
    return summed(calls, "day", "model", "purpose").sort("day", "model", "purpose", descending=[True, False, False])


def summed(calls: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Sum the rows of `model_call` that agree in the columns `by`. The result has one row per group, unsorted, with the
    columns that `costs` describes."""
    priced = pl.col("priced").fill_null(False)
    free = priced & (pl.col("reserved") == 0)
    unknown = pl.col("cost").is_null() & pl.col("outcome").is_not_null() & ~free
    bounded = ~(unknown & ~priced).any()
    return calls.group_by(by).agg(
        calls=pl.len(),
        replies=pl.col("outcome").is_in(REPLIES).sum(),
        uncertain=unknown.sum(),
        corrected=pl.col("correction").is_not_null().sum(),
        prompt_tokens=pl.col("prompt_tokens").sum(),
        completion_tokens=pl.col("completion_tokens").sum(),
        reasoning_tokens=pl.col("reasoning_tokens").sum(),
        paid=pl.when(pl.col("cost").is_not_null().any() | bounded).then(pl.col("cost").sum()),
        at_most=pl.when(bounded).then(pl.col("reserved").filter(unknown).sum()),
    )


def spent(attempts: pl.DataFrame) -> float:
    """Total cost of attempts in US dollars; an attempt of unknown cost counts at its maximum cost."""
    return float(attempts.select(pl.coalesce("cost", "reserved").sum()).item())


def room(attempts: pl.DataFrame, caps: Budget, today: date) -> str:
    """The spending cap of a run and the rest of today's budget, as a phrase for the log."""
    run = "no cap for the run" if caps.run is None else f"cap for the run {caps.run:g} dollars"
    if caps.day is None:
        return run
    remainder = max(caps.day - spent(attempts.filter(pl.col("asked").dt.date() == today)), 0)
    return f"{run}; {remainder:.4f} of the day's {caps.day:g} dollars left"


def against_caps(attempts: pl.DataFrame, registry: Registry, today: date) -> pl.DataFrame:
    """Spending caps that are nearly reached or exceeded: columns `cap` (name), `dollars` (limit) and `spent`.

    Parameters
    ----------
    attempts
        The frame returned by `Ledger.attempts`.
    registry
        The registry, which sets the daily cap and the cap of each model.
    """
    caps = [("day", registry.budget.day, attempts.filter(pl.col("asked").dt.date() == today))]
    models = {**registry.models, **registry.judges, **registry.aligners}
    caps += [(f"model {name}", settings.budget, attempts.filter(model=name)) for name, settings in models.items()]
    rows = [(name, cap, total) for name, cap, calls in caps if cap and (total := spent(calls)) >= NEARLY * cap]
    return pl.DataFrame(rows, schema={"cap": pl.String, "dollars": pl.Float64, "spent": pl.Float64}, orient="row")
