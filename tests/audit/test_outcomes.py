"""The label sets are built from the audit paper's counts (tests.audit.published)."""

import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, UNSURE
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.audit.outcomes import categories, outcomes
from benchmark_assets.audit.rated import rated
from tests.audit.published import NO_LABELS, NO_VERDICTS, SPLITS, TABLE_12, TABLE_E6, queue, validation


@pytest.fixture(scope="module")
def panel() -> pl.DataFrame:
    triage, votes = queue()
    return outcomes(triage, rated(triage, verdicts(votes), NO_LABELS))


def per_cent(row: dict[str, float], name: str, digits: int = 1) -> str:
    return f"{100 * row[name]:.{digits}f}"


def interval(row: dict[str, float], name: str, digits: int = 1) -> str:
    return f"{per_cent(row, name + '_low', digits)}-{per_cent(row, name + '_high', digits)}"


def printed(rows: pl.DataFrame) -> list[str]:
    """Rows as the paper prints them: n, valid, minor and major in per cent, the interval of major, any."""
    return [
        f"{row['judged']} {per_cent(row, 'valid_rate')} {per_cent(row, 'minor_rate')} {per_cent(row, 'major_rate')} "
        f"{interval(row, 'major_rate')} {per_cent(row, 'any_rate')}"
        for row in rows.iter_rows(named=True)
    ]


def test_table_7_of_the_author_by_band() -> None:
    triage, labels = validation()
    found = outcomes(triage, rated(triage, NO_VERDICTS, labels))
    assert set(found["raters"]) == {"people"}
    assert printed(found.filter(pl.col("model") == "", pl.col("band") != "")) == [
        "100 85.0 14.0 1.0 0.2-5.4 15.0",
        "100 77.0 21.0 2.0 0.6-7.0 23.0",
        "50 74.0 24.0 2.0 0.4-10.5 26.0",
        "50 56.0 22.0 22.0 12.8-35.2 44.0",
    ]
    every = found.filter(model="", band="").row(0, named=True)  # table E3
    assert [every[name] for name in ("outputs", "asked", "judged", "valid", "minor", "major")] == [300] * 3 + [
        227, 58, 15,
    ]  # fmt: skip
    assert every["any_found"] is None  # people saw a sample: of all outputs that says nothing


def test_three_in_two_hundred_below_the_threshold() -> None:
    triage, labels = validation()
    merged = triage.with_columns(band=pl.when("queued").then(pl.lit("above")).otherwise(pl.lit("below")))
    found = outcomes(merged, rated(merged, NO_VERDICTS, labels)).filter(model="", band="below").row(0, named=True)
    assert (found["major"], found["judged"], per_cent(found, "major_rate")) == (3, 200, "1.5")
    assert interval(found, "major_rate") == "0.5-4.3"


def test_table_9_by_band(panel: pl.DataFrame) -> None:
    assert printed(panel.filter(pl.col("model") == "", pl.col("band") != "", pl.col("judged") > 0)) == [
        "726 79.9 12.3 7.9 6.1-10.0 20.1",
        "353 68.6 17.8 13.6 10.4-17.6 31.4",
        "124 34.7 13.7 51.6 42.9-60.2 65.3",
    ]


def test_table_10_by_model(panel: pl.DataFrame) -> None:
    rows = panel.filter(pl.col("model") != "", pl.col("band") == "")
    assert dict(zip(rows["model"], printed(rows), strict=True)) == {
        "gpt": "224 87.9 8.0 4.0 2.1-7.5 12.1",
        "claude": "302 77.5 13.9 8.6 5.9-12.3 22.5",
        "gemini": "257 79.0 14.0 7.0 4.5-10.8 21.0",
        "grok": "420 55.0 17.4 27.6 23.6-32.1 45.0",
    }


def test_table_11_by_model_and_band(panel: pl.DataFrame) -> None:
    rows = panel.filter(pl.col("model") != "", pl.col("band") != "", pl.col("judged") > 0)
    found = [
        (row["model"], row["judged"], *(per_cent(row, name) for name in ("valid_rate", "minor_rate", "major_rate")))
        for row in rows.iter_rows(named=True)
    ]
    assert found == [
        ("claude", 190, "83.2", "9.5", "7.4"), ("claude", 94, "66.0", "23.4", "10.6"),
        ("claude", 18, "77.8", "11.1", "11.1"),
        ("gemini", 177, "80.2", "13.0", "6.8"), ("gemini", 76, "77.6", "15.8", "6.6"),
        ("gemini", 4, "50.0", "25.0", "25.0"),
        ("gpt", 140, "92.9", "5.0", "2.1"), ("gpt", 64, "84.4", "6.2", "9.4"), ("gpt", 20, "65.0", "35.0", "0.0"),
        ("grok", 219, "68.5", "18.7", "12.8"), ("grok", 119, "56.3", "21.0", "22.7"),
        ("grok", 82, "17.1", "8.5", "74.4"),
    ]  # fmt: skip


def test_table_e5_what_is_found_of_all_1700_outputs(panel: pl.DataFrame) -> None:
    rows = panel.filter(pl.col("model") != "", pl.col("band") == "")
    found = {
        row["model"]: (row["outputs"], row["asked"], per_cent(row, "minor_found", 2), per_cent(row, "major_found", 2),
                       interval(row, "major_found", 2), per_cent(row, "any_found", 2))
        for row in rows.iter_rows(named=True)
    }  # fmt: skip
    assert found == {
        "gpt": (1700, 224, "1.06", "0.53", "0.28-1.00", "1.59"),
        "claude": (1700, 302, "2.47", "1.53", "1.05-2.23", "4.00"),
        "gemini": (1700, 257, "2.12", "1.06", "0.67-1.67", "3.18"),
        "grok": (1700, 420, "4.29", "6.82", "5.72-8.12", "11.12"),
    }


def test_thirty_panels_fall_apart(panel: pl.DataFrame) -> None:
    every = panel.filter(model="", band="").row(0, named=True)
    assert [every[name] for name in ("valid", "minor", "major", "uncertain")] == [865, 169, 169, 0]
    assert every["splits"] == SPLITS
    assert f"{every['splits'] / every['judged']:.1%} {every['splits'] / every['minor']:.1%}" == "2.5% 17.8%"


def test_where_nothing_was_judged_nothing_is_said(panel: pl.DataFrame) -> None:
    below = panel.filter(band="0.0-1.0", model="").row(0, named=True)
    assert (below["outputs"], below["asked"], below["judged"]) == (4 * 1700 - 1203, 0, 0)
    assert {below[name] for name in ("valid_rate", "major_rate_high", "any_found", "any_found_high")} == {None}


def test_tables_12_and_e6_and_the_rates_without_ellipsis() -> None:
    triage, votes = queue()
    found = categories(rated(triage, verdicts(votes), NO_LABELS)).filter(model="")
    counts = found.rows_by_key("error_category", named=True, unique=True)
    assert {name: row["major"] for name, row in counts.items() if row["major"]} == TABLE_12
    assert {name: row["minor"] for name, row in counts.items()} == TABLE_E6
    ellipsis = counts["UNRESOLVED_SOURCE_ELLIPSIS"]
    assert [per_cent(ellipsis, f"{name}_rate_without") for name in ("minor", "major", "any")] == ["9.1", "13.1", "22.2"]
    assert (ellipsis["minor_share"], ellipsis["major_share"]) == (60 / 169, 11 / 169)
    free = counts["OVERLY_FREE_PARAPHRASE"]
    assert free["major_share"] == free["major_share_low"] == 0 < free["major_share_high"]


def test_what_people_cannot_settle_or_left_open_is_counted() -> None:
    triage, labels = validation()
    unsettled = labels.with_columns(
        label=pl.when(pl.col("passage") == "pali/0").then(pl.lit(UNSURE)).otherwise("label")
    ).filter(pl.col("passage") != "pali/1")
    found = outcomes(triage, rated(triage, NO_VERDICTS, unsettled)).filter(model="", band="").row(0, named=True)
    assert [found[name] for name in ("asked", "judged", "uncertain", "valid")] == [300, 299, 1, 225]
    assert found["valid_rate"] == 225 / 299


def test_labels_of_outputs_that_were_not_drawn_and_verdicts_below_the_threshold_do_not_count() -> None:
    triage, labels = validation()
    judged = labels.select("model", "passage", "label", "error_category", split=pl.lit(False))
    drawn = triage.with_columns(sampled=pl.col("band") == ">2.0")
    rows = rated(drawn, judged, labels)
    assert rows.group_by("raters").len().sort("raters").rows() == [("panel", 100), ("people", 50)]
    assert rows.filter(raters="panel", label=MAJOR).height == 12


def test_corpora_are_apart() -> None:
    triage, labels = validation()
    other = [frame.with_columns(pl.col("passage").str.replace("pali", "latin")) for frame in (triage, labels)]
    both = pl.concat([triage, other[0]]), pl.concat([labels, other[1]])
    found = outcomes(both[0], rated(both[0], NO_VERDICTS, both[1]))
    alone = outcomes(triage, rated(triage, NO_VERDICTS, labels))
    assert found.filter(corpus="pali").equals(alone)
    assert found.filter(corpus="latin").drop("corpus").equals(alone.drop("corpus"))
