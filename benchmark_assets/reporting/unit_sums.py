"""Sums over the passages of a unit, kept for the next update.

Many aggregates are functions of sums by unit. An aggregate reads the kept sums of all documents, and scores only of
documents about which a row has changed since. Their sums are recomputed from all scores of the document, so that
rounding errors do not add up. Here: keeping sums, and finding what changed. Not here: what is summed (people,
outliers).
"""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from benchmark_assets.corpus.units import divisions, units_of
from resources.digest import digest
from resources.warehouse import Replacement, Warehouse

TABLE = "unit_sum"
KEYS = ["corpus", "document", "unit", "embedder", "model", "translator", "item"]
"""Columns by which sums are grouped; '' where a statistic does not distinguish them."""

_LISTS = {name: f"{name}s" for name in KEYS[2:]}
"""Columns with a list for each document, by the column of `KEYS`."""

_CONTENT = [*_LISTS.values(), "numbers"]


def _contents(rows: pl.DataFrame) -> pl.Series:
    """A digest of the sums of each row."""
    return pl.Series(map(digest, rows.select(_CONTENT).iter_rows()), dtype=pl.String)


def mend(warehouse: Warehouse) -> bool:
    """Compare all kept sums with the digests in their fingerprints; return whether some differ, which are removed.

    None differ unless another program changed them.
    """
    rows = warehouse.read(TABLE, columns=["statistic", "corpus", "document", *_CONTENT, "fingerprint"])
    wrong = rows.filter(rows["fingerprint"].str.split(" ").list.last() != _contents(rows))
    if len(wrong):
        removed = Replacement(TABLE, warehouse.empty(TABLE), wrong.select("statistic", "corpus", "document"))
        warehouse.write([removed], "sums")
    return len(wrong) > 0


class UnitSums:
    """Sums by unit of one state of some tables.

    Parameters
    ----------
    tables
        The tables from which sums are made, besides `source_text`.
    run_id
        The run that keeps sums.
    anew
        Whether kept sums are not used.

    Attributes
    ----------
    kinds
        What the units of each corpus are: columns `corpus` and `unit_kind`.
    """

    def __init__(self, warehouse: Warehouse, tables: Sequence[str], run_id: str, *, anew: bool = False) -> None:
        self._warehouse, self._run_id, self._anew = warehouse, run_id, anew
        # Before any row is read: sums of rows that change meanwhile have an outdated fingerprint.
        self._documents = warehouse.documents(tables)
        self._divisions = divisions(warehouse, self._documents)
        names = {corpus: by.kind for corpus, by in self._divisions.items()}
        self.kinds = pl.DataFrame({"corpus": list(names), "unit_kind": list(names.values())}, dict.fromkeys(
            ["corpus", "unit_kind"], pl.String
        ))  # fmt: skip

    def passages(self) -> pl.DataFrame:
        """All passages: columns `corpus`, `document` and `corpus.units.UNITS`."""
        return units_of(self._warehouse, self._documents, self._divisions)

    def of(
        self, statistic: str, numbers: Sequence[str], made: Callable[[pl.DataFrame], pl.DataFrame],
        settings: Mapping[str, object], code: str,
    ) -> pl.DataFrame:  # fmt: skip
        """All sums of a statistic: columns of `KEYS` and `numbers`.

        Parameters
        ----------
        made
            Function from passages (columns `corpus`, `document` and `corpus.units.UNITS`) to their sums.
        settings
            What determines the sums of a corpus besides the rows of its passages.
        code
            The version of `made`.
        """
        fingerprints = [
            digest(code, stamp, *self._divisions[corpus], settings.get(corpus))
            for corpus, stamp in self._documents.select("corpus", "stamp").iter_rows()
        ]
        documents = self._documents.select("corpus", "document", fingerprint=pl.Series(fingerprints, dtype=pl.String))
        of = pl.DataFrame({"statistic": [statistic]})
        stored = self._warehouse.read(TABLE, of, ["corpus", "document", *_CONTENT, "fingerprint"])
        stored = stored.with_columns(pl.col("fingerprint").str.split(" ").list.first())
        kept = stored.join(documents.clear() if self._anew else documents, on=documents.columns, how="semi")
        changed = documents.join(kept, on=["corpus", "document"], how="anti")
        outdated = stored.join(documents, on=["corpus", "document"], how="anti")
        if len(changed) or len(outdated):
            rows = made(units_of(self._warehouse, changed, self._divisions)).sort(KEYS)
            lists = {plural: pl.col(name) for name, plural in _LISTS.items()}
            lists["numbers"] = pl.concat_list(pl.col(numbers).cast(pl.Float64)).explode()
            fresh = rows.group_by("corpus", "document").agg(**lists)
            fresh = changed.join(fresh, on=["corpus", "document"], how="left").select(
                pl.col(name).fill_null([]) if kind.is_nested() else name for name, kind in stored.schema.items()
            )
            replaced = pl.concat([changed, outdated.select(changed.columns)]).select("corpus", "document").unique()
            named = pl.lit(statistic).alias("statistic")
            kept_as = fresh.with_columns(named, pl.col("fingerprint") + " " + _contents(fresh))
            new = Replacement(TABLE, kept_as, replaced.with_columns(named))
            self._warehouse.write([new], self._run_id)
            kept = pl.concat([kept, fresh])
        kept = kept.filter(pl.col("units").list.len() > 0)
        table = kept["numbers"].explode().to_numpy().reshape(-1, len(numbers))
        names = kept.select("corpus", "document", **_LISTS)
        sums = [pl.Series(name, table[:, at]) for at, name in enumerate(numbers)]
        return names.explode(*_LISTS).with_columns(sums).sort(KEYS)
