"""The label sets are built from the audit paper's counts (tests.audit.published). That the printed numbers follow from
them is tested with `reproduce` (tests.benchmarks.test_audit_numbers)."""

import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, UNSURE
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.audit.outcomes import categories, outcomes
from benchmark_assets.audit.rated import rated
from benchmark_assets.benchmarks.printed_counts import NO_LABELS, NO_VERDICTS
from tests.audit.published import queue, validation


@pytest.fixture(scope="module")
def panel() -> pl.DataFrame:
    triage, votes = queue()
    return outcomes(triage, rated(triage, verdicts(votes), NO_LABELS))


def per_cent(row: dict[str, float], name: str, digits: int = 1) -> str:
    return f"{100 * row[name]:.{digits}f}"


def interval(row: dict[str, float], name: str, digits: int = 1) -> str:
    return f"{per_cent(row, name + '_low', digits)}-{per_cent(row, name + '_high', digits)}"


def test_people_see_a_sample_so_that_nothing_is_found_of_all_outputs() -> None:
    triage, labels = validation()
    found = outcomes(triage, rated(triage, NO_VERDICTS, labels))
    assert set(found["raters"]) == {"people"}
    every = found.filter(model="", band="").row(0, named=True)
    assert [every[name] for name in ("outputs", "asked", "judged", "any_found")] == [300, 300, 300, None]


def test_three_in_two_hundred_below_the_threshold() -> None:
    triage, labels = validation()
    above = pl.col("band").is_in(["1.5-2.0", ">2.0"])
    merged = triage.with_columns(band=pl.when(above).then(pl.lit("above")).otherwise(pl.lit("below")))
    found = outcomes(merged, rated(merged, NO_VERDICTS, labels)).filter(model="", band="below").row(0, named=True)
    assert (found["major"], found["judged"], per_cent(found, "major_rate")) == (3, 200, "1.5")
    assert interval(found, "major_rate") == "0.5-4.3"


def test_thirty_panels_fall_apart(panel: pl.DataFrame) -> None:
    every = panel.filter(model="", band="").row(0, named=True)
    assert every["uncertain"] == 0
    assert f"{every['splits'] / every['judged']:.1%} {every['splits'] / every['minor']:.1%}" == "2.5% 17.8%"


def test_where_nothing_was_judged_nothing_is_said(panel: pl.DataFrame) -> None:
    below = panel.filter(band="below", model="").row(0, named=True)
    assert (below["outputs"], below["asked"], below["judged"]) == (4 * 1700 - 1203, 0, 0)
    assert {below[name] for name in ("valid_rate", "major_rate_high", "any_found", "any_found_high")} == {None}


def test_categories_have_shares_of_the_errors_of_their_level() -> None:
    triage, votes = queue()
    found = categories(rated(triage, verdicts(votes), NO_LABELS)).filter(model="")
    counts = found.rows_by_key("error_category", named=True, unique=True)
    ellipsis = counts["UNRESOLVED_SOURCE_ELLIPSIS"]
    assert (ellipsis["minor_share"], ellipsis["major_share"]) == (60 / 169, 11 / 169)
    free = counts["OVERLY_FREE_PARAPHRASE"]
    assert free["major_share"] == free["major_share_low"] == 0 < free["major_share_high"]


def test_what_people_cannot_settle_or_left_open_is_counted() -> None:
    triage, labels = validation()
    unsettled = labels.with_columns(
        label=pl.when(pl.col("passage") == "outliers-to-errors/0").then(pl.lit(UNSURE)).otherwise("label")
    ).filter(pl.col("passage") != "outliers-to-errors/1")
    found = outcomes(triage, rated(triage, NO_VERDICTS, unsettled)).filter(model="", band="").row(0, named=True)
    assert [found[name] for name in ("asked", "judged", "uncertain", "valid")] == [300, 299, 1, 225]
    assert found["valid_rate"] == 225 / 299


def test_labels_of_outputs_that_were_not_drawn_and_verdicts_below_the_threshold_do_not_count() -> None:
    triage, labels = validation()
    judged = labels.select("model", "passage", "label", "error_category", split=pl.lit(False))
    drawn = triage.with_columns(sampled=pl.col("band") == ">2.0", queued=pl.col("band").is_in(["1.5-2.0", ">2.0"]))
    rows = rated(drawn, judged, labels)
    assert rows.group_by("raters").len().sort("raters").rows() == [("panel", 100), ("people", 50)]
    assert rows.filter(raters="panel", label=MAJOR).height == 12


def test_corpora_are_apart() -> None:
    triage, labels = validation()
    other = [
        frame.with_columns(pl.col("passage").str.replace("outliers-to-errors", "latin")) for frame in (triage, labels)
    ]
    both = pl.concat([triage, other[0]]), pl.concat([labels, other[1]])
    found = outcomes(both[0], rated(both[0], NO_VERDICTS, both[1]))
    alone = outcomes(triage, rated(triage, NO_VERDICTS, labels))
    assert found.filter(corpus="outliers-to-errors").equals(alone)
    assert found.filter(corpus="latin").drop("corpus").equals(alone.drop("corpus"))
