"""What was paid: sums over the ledger's attempts. Not here: the ledger itself (resources.provider.ledger)."""

from datetime import date

import polars as pl

from resources.provider.reading import REPLIES
from resources.provider.registry import Registry

NEARLY = 0.8
"""Share of a cap above which it counts as nearly reached."""


def costs(attempts: pl.DataFrame) -> pl.DataFrame:
    """Calls, tokens and money by day (UTC), model and purpose, latest day first.

    Parameters
    ----------
    attempts
        As `resources.provider.ledger.attempts` gives them.

    Returns
    -------
    `calls` counts attempts, `replies` those that brought one, `uncertain` those that ended and whose cost nobody knows:
    broken off, in flight when a process ended, or answered without a word of usage. `paid` is in US dollars, as
    reported or by the registry's price, and `at_most` what the uncertain ones may come to besides; both are null where
    no price is known.
    """
    calls = attempts.with_columns(day=pl.col("asked").dt.date(), priced=pl.col("price").is_not_null())
    return summed(calls, "day", "model", "purpose").sort("day", "model", "purpose", descending=[True, False, False])


def summed(calls: pl.DataFrame, *by: str) -> pl.DataFrame:
    """The same by other columns, in any order.

    Parameters
    ----------
    calls
        Rows of `model_call`.
    """
    unknown = pl.col("cost").is_null() & pl.col("outcome").is_not_null()
    return calls.group_by(by).agg(
        calls=pl.len(),
        replies=pl.col("outcome").is_in(REPLIES).sum(),
        uncertain=unknown.sum(),
        prompt_tokens=pl.col("prompt_tokens").sum(),
        completion_tokens=pl.col("completion_tokens").sum(),
        reasoning_tokens=pl.col("reasoning_tokens").sum(),
        paid=pl.when(pl.col("cost").is_not_null().any()).then(pl.col("cost").sum()),
        at_most=pl.when(~(unknown & ~pl.col("priced").fill_null(False)).any()).then(
            pl.col("reserved").filter(unknown).sum()
        ),
    )


def spent(attempts: pl.DataFrame) -> float:
    """US dollars that attempts cost, each of which nobody knows the cost taken at its worst case."""
    return float(attempts.select(pl.coalesce("cost", "reserved").sum()).item())


def room(attempts: pl.DataFrame, registry: Registry, today: date) -> str:
    """What a run and this day may still cost, as a clause."""
    caps = registry.budget
    run = "without a cap" if caps.run is None else f"of which a run may spend {caps.run:g} dollars"
    if caps.day is None:
        return run
    left = max(caps.day - spent(attempts.filter(pl.col("asked").dt.date() == today)), 0)
    return f"{run}; {left:.4f} of the day's {caps.day:g} are left"


def against_caps(attempts: pl.DataFrame, registry: Registry, today: date) -> pl.DataFrame:
    """Caps that are nearly reached: columns `cap`, `dollars` and `spent`.

    Parameters
    ----------
    attempts
        As `resources.provider.ledger.attempts` gives them.
    registry
        What says the caps of the day and of each model.
    """
    caps = [("day", registry.budget.day, attempts.filter(pl.col("asked").dt.date() == today))]
    models = {**registry.models, **registry.judges, **registry.aligners}
    caps += [(f"model {name}", own.budget, attempts.filter(model=name)) for name, own in models.items()]
    rows = [(name, cap, total) for name, cap, own in caps if cap and (total := spent(own)) >= NEARLY * cap]
    return pl.DataFrame(rows, schema={"cap": pl.String, "dollars": pl.Float64, "spent": pl.Float64}, orient="row")
