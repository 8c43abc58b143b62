import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import rate_interval
from benchmark_assets.reporting.closest import closest


def chosen(*rows: tuple[str, str, str, int, str | None]) -> pl.DataFrame:
    names = ["kind", "system", "passage", "references", "closest_reference"]
    return pl.DataFrame(list(rows), schema=names, orient="row").with_columns(corpus=pl.lit("x"), unit="passage")


def references(**passages: str) -> pl.DataFrame:
    rows = [(f"x/{passage}", name) for passage, names in passages.items() for name in names.split()]
    return pl.DataFrame(rows, schema={"passage": pl.String, "translator": pl.String}, orient="row")


def test_shares_are_of_the_passages_in_which_there_is_a_choice() -> None:
    scores = chosen(
        ("model", "m", "x/a", 3, "ann"), ("model", "m", "x/b", 2, "ben"), ("model", "m", "x/c", 1, "ann"),
        ("model", "m", "x/d", 0, None),
    )  # fmt: skip
    found = closest(scores, references(a="ann ben cleo", b="ann ben", c="ann"))
    assert found.select("translator", "passages", "closest", "share").rows() == [
        ("ann", 2, 1, 0.5), ("ben", 2, 1, 0.5), ("cleo", 1, 0, 0.0),
    ]  # fmt: skip
    assert found["mean_references"].to_list() == [2.5, 2.5, 3.0]
    assert found.select("share_low", "share_high").row(0) == (None, None)  # too few passages


def test_the_interval_of_a_share_is_that_of_the_units() -> None:
    rows = [("model", "m", f"x/{at}", 2, "ann" if at % 3 else "ben") for at in range(12)]
    scores = chosen(*rows).with_columns(unit=pl.Series([str(at // 2) for at in range(12)]))
    found = closest(scores, references(**{str(at): "ann ben" for at in range(12)}))
    hits = np.array([bool(at % 3) for at in range(12)])
    assert found.select("share_low", "share_high").row(0) == rate_interval(hits, np.arange(12) // 2)


def test_a_translator_is_never_closest_to_itself() -> None:
    scores = chosen(("human", "ann", "x/a", 2, "cleo"), ("model", "ann", "x/a", 3, "ann"))
    found = closest(scores, references(a="ann ben cleo"))
    assert found.filter(kind="human").select("translator", "share").rows() == [("ben", 0), ("cleo", 1)]
    assert found.filter(kind="model").select("translator", "share").rows() == [("ann", 1), ("ben", 0), ("cleo", 0)]


def test_without_scores_there_are_no_rows() -> None:
    assert closest(chosen(("model", "m", "x/a", 0, None)), references(a="")).is_empty()
