"""Published totals of the anchors of a base set, and the scores that follow from them without any judgment.

Here: the file of totals, its import, scores. Not here: scores from judgments (scores), which replace those from totals
once the base set itself is imported.

If every two anchors met equally often, the likelihood of the strengths depends on the wins only through their totals.
A table of wins is therefore as good as any other with the same totals.
"""

from pathlib import Path

import numpy as np
import polars as pl

from benchmark_assets.corpus.readers.table import records
from benchmark_assets.corpus.readers.unknown_keys import FIXED
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.pairwise.bradley_terry import fit, log_shares, on_scale
from benchmark_assets.pairwise.scores import AGGREGATION, SIGNATURE, UNRECORDED
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

COLUMNS = ["slice", "anchor", "matches", "wins"]

ANCHOR_SCORE = schema("anchor_score")

NO_LENGTHS = "the base set has published totals only, without the texts of the anchors"


def read_totals(path: Path) -> pl.DataFrame:
    """Read a file of totals: a .csv with the columns `COLUMNS`, a row for each slice and anchor.

    Raises
    ------
    BadInput
        If the file has other columns, or a value that is not a number; if a slice lacks an anchor of another slice; if
        the anchors of a slice did not meet equally often, their wins are not half of their matches, or one of them won
        or lost everything.
    """
    try:
        values = [
            (row["slice"], row["anchor"], int(row["matches"]), int(row["wins"]))
            for _, row in records(path, COLUMNS, FIXED)
        ]
    except ValueError as error:
        raise BadInput(path, "", f"is not a table of totals ({error})", "write whole numbers") from error
    frame = pl.DataFrame(values, schema("anchor_total", "base_set"), orient="row")
    anchors = frame["anchor"].n_unique()
    for (name,), group in frame.group_by(["slice"], maintain_order=True):
        problem = _problem(group, anchors)
        if problem:
            raise BadInput(path, str(name), problem, "compare the file with the published report")
    return frame


def _problem(group: pl.DataFrame, anchors: int) -> str:
    """Why the totals of a slice give no strengths; '' if they do."""
    if group["anchor"].n_unique() < anchors or len(group) > anchors:
        return "lacks an anchor, or has one twice"
    matches = group["matches"].unique()
    if len(matches) > 1 or matches[0] % (anchors - 1):
        return "has anchors that did not meet equally often"
    if 2 * group["wins"].sum() != group["matches"].sum():
        return "has wins that are not half of the matches"
    if group["wins"].min() == 0 or (group["wins"] == group["matches"]).any():
        return "has an anchor that won or lost everything, so that no finite strengths exist"
    return ""


def import_totals(warehouse: Warehouse, path: Path, base_set: str) -> None:
    """Store the published totals of a base set (`name@version`).

    Raises
    ------
    BadInput
        As `read_totals`.
    """
    rows = read_totals(path)
    stamp = digest(base_set, rows.write_csv())
    key = pl.DataFrame({"base_set": [base_set]})
    rows = rows.with_columns(base_set=pl.lit(base_set), fingerprint=pl.lit(stamp))
    warehouse.write([Replacement("anchor_total", rows, key)], run_id="import")


def contracts(warehouse: Warehouse) -> dict[str, str]:
    """The conditions under which scores from totals are comparable, by base set; base sets with judgments are left
    out."""
    rows = warehouse.read("anchor_total", columns=["base_set", "fingerprint"]).unique()
    judged = set(warehouse.read("base_set", columns=["base_set"])["base_set"])
    return {
        base_set: f"base set {base_set} (published totals {stamp}); judge {UNRECORDED}; aggregation {AGGREGATION}"
        for base_set, stamp in sorted(rows.iter_rows()) if base_set not in judged
    }  # fmt: skip


def scores_of_totals(totals: pl.DataFrame, contract: str) -> pl.DataFrame:
    """Rows of `anchor_score`, without intervals, from rows of `anchor_total` of one base set."""
    frames = []
    for (_,), group in totals.group_by(["slice"], maintain_order=True):
        wins, opponents = group["wins"].to_numpy().astype(np.float64), len(group) - 1
        strengths = fit(table(wins, group["matches"][0] / opponents))
        frames.append(
            group.select(
                "base_set", "slice", "anchor", "matches", pl.col("wins").cast(pl.Float64),
                items=pl.col("matches") // opponents, ties=pl.lit(0), excluded=pl.lit(0),
                win_rate=pl.col("wins") / pl.col("matches"), strength=pl.Series(strengths),
                lt=pl.Series(on_scale(strengths)), en=pl.Series(on_scale(log_shares(strengths)[0])),
                length_problem=pl.lit(NO_LENGTHS), contract=pl.lit(contract), signature=pl.lit(SIGNATURE),
            )
        )  # fmt: skip
    rows = pl.concat(frames)
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in ANCHOR_SCORE.items()
    )


def table(totals: Floats, matches: float) -> Floats:
    """A table of wins, shape (n, n), whose rows have these totals, shape (n,), with `matches` between every two.

    An entry may be negative: the table is one of many that give the same strengths, not what happened.
    """
    surplus = (totals[:, None] - totals[None, :]) / len(totals)
    wins: Floats = (matches / 2 + surplus) * (1 - np.eye(len(totals)))
    return wins
