"""Sums over the states of an asset's partitions, by model: many versions, read as one row.

A sum adds a hash of each partition's keys and version, modulo 2^128. So it does not depend on an order, and a write
changes it by what it removes and adds, in its own transaction. Here: the arithmetic. Not here: reading and writing
(warehouse), what depends on versions (benchmark_assets.lineage.standing).
"""

import polars as pl

from resources.digest import digest
from resources.keys import KEYS

SUMS = "state_sum"
"""The table with the sums: a row for each asset and model with states."""

SUMMED = ["asset", *KEYS, "version"]
"""The columns of a state that enter a sum."""

SCHEMA = pl.Schema({
    "asset": pl.String(), "model": pl.String(), "states": pl.Int32(), "version": pl.String(), "origin": pl.String(),
})  # fmt: skip
"""Columns of the table: the number of states, the sum and the value from which it began."""

_ZERO = f"{0:032x}"


def changed(sums: pl.DataFrame, removed: pl.DataFrame, added: pl.DataFrame) -> pl.DataFrame:
    """The sums after states were removed and added: columns of `SCHEMA`, without assets and models that have no states.

    Parameters
    ----------
    sums
        The sums before, of all assets and models of these states.
    removed, added
        States: columns `SUMMED`.
    """
    origins = {(asset, model): origin for asset, model, _, _, origin in sums.select(SCHEMA.names()).iter_rows()}
    totals = {(asset, model): (states, int(version, 16)) for asset, model, states, version, _ in
              sums.select(SCHEMA.names()).iter_rows()}  # fmt: skip
    for sign, states in ((-1, removed), (1, added)):
        for state in states.select(SUMMED).iter_rows():
            count, total = totals.get(state[:2], (0, 0))
            totals[state[:2]] = count + sign, total + sign * int(digest(*state), 16)
    rows = [
        (*key, count, f"{total % (1 << 128):032x}", origins.get(key, _ZERO))
        for key, (count, total) in sorted(totals.items()) if count
    ]  # fmt: skip
    return pl.DataFrame(rows, SCHEMA, orient="row")


def anew(sums: pl.DataFrame, states: pl.DataFrame) -> pl.DataFrame:
    """The sums of all states of some assets (columns `SUMMED`), from the origins that former sums have."""
    return changed(sums.with_columns(states=0, version="origin"), states.clear(), states)


def continued(states: pl.DataFrame) -> pl.DataFrame:
    """Sums that begin with the versions by which many states were compared before there were sums: a digest of all
    versions of an asset and model. Fingerprints that contain them stay the same."""
    joined = pl.col("version").sort_by(KEYS).str.join(" ")
    former = states.group_by("asset", "model").agg(former=joined).sort("asset", "model")
    digests = pl.Series("version", [digest(versions) for versions in former["former"]], dtype=pl.String)
    sums = anew(former.select("asset", "model", states=0, version=pl.lit(_ZERO), origin=pl.lit(_ZERO)), states)
    origins = [f"{(int(first, 16) - int(total, 16)) % (1 << 128):032x}"
               for first, total in zip(digests, sums["version"], strict=True)]  # fmt: skip
    return sums.with_columns(digests, pl.Series("origin", origins, dtype=pl.String))
