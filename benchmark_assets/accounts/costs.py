"""What was paid: sums over the ledger's attempts. Not here: the ledger itself (resources.provider.ledger)."""

import polars as pl

from resources.provider.reading import REPLIES


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
    unknown = pl.col("cost").is_null() & pl.col("outcome").is_not_null()
    priceless = (unknown & pl.col("price").is_null()).any()
    return (
        attempts.group_by(pl.col("asked").dt.date().alias("day"), "model", "purpose")
        .agg(
            calls=pl.len(),
            replies=pl.col("outcome").is_in(REPLIES).sum(),
            uncertain=unknown.sum(),
            prompt_tokens=pl.col("prompt_tokens").sum(),
            completion_tokens=pl.col("completion_tokens").sum(),
            reasoning_tokens=pl.col("reasoning_tokens").sum(),
            paid=pl.when(pl.col("cost").is_not_null().any()).then(pl.col("cost").sum()),
            at_most=pl.when(~priceless).then(pl.col("reserved").filter(unknown).sum()),
        )
        .sort("day", "model", "purpose", descending=[True, False, False])
    )
