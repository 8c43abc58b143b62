"""Where a test names table E4, its labels are built from that table's counts (tests.audit.published)."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support  # type: ignore[import-untyped]

from benchmark_assets.adjudication.labels import ERRORS, LABELS, MAJOR, MINOR, REFERENCE, SUBSTANTIVE, UNSURE, VALID
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.audit.calibration import (
    ABSTAINED,
    agreement,
    calibration,
    confusion,
    cross_tables,
    kappa,
    reliability,
)
from benchmark_assets.audit.rated import rated
from benchmark_assets.benchmarks.numbers import read
from benchmark_assets.benchmarks.printed_counts import JUDGES, NO_VERDICTS
from benchmark_assets.benchmarks.reproduction import shipped
from benchmark_assets.metrics.intervals import sample_and_resamples
from tests.audit.published import confusion_matrix
from tests.support import examples


@pytest.fixture(scope="module")
def e4() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rated outputs and votes."""
    triage, votes, labels = confusion_matrix()
    return rated(triage, NO_VERDICTS, labels), votes


def test_the_panels_shares_and_kappas_lie_in_their_intervals(e4: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    row = calibration(*e4).filter(judge="panel").row(0, named=True)
    names = ["exact", *(f"{level}_{share}" for level in ("major", "any") for share in ("precision", "recall", "f1"))]
    for name in (*names, "kappa", "kappa_any", "kappa_major"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    # the large-sample standard error of kappa (Fleiss, Cohen and Everitt 1969) of the same table is 0.0573
    assert_allclose((row["kappa_high"] - row["kappa_low"]) / (2 * 1.96), 0.0573, rtol=0.08)


def test_table_e4_comes_back(e4: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    found = confusion(*e4).filter(judge="panel")
    printed = read(shipped()["outliers-to-errors"]).table("E4").rows
    assert found["outputs"].to_list() == [int(cell) for cells in printed.values() for cell in cells]
    pairs = found.select("people", "judged").rows()
    assert pairs == list(itertools.product(SUBSTANTIVE, SUBSTANTIVE))


RATINGS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=2, max_size=15)


@given(RATINGS)
def test_kappa_is_that_of_scikit_learn_in_the_sample_and_in_resamples(ratings: list[tuple[str, str]]) -> None:
    first, second = (list(each) for each in zip(*ratings, strict=True))
    numbers = np.arange(len(ratings)) // 2  # two outputs of each unit
    units = pl.Series([f"x/{number:03}" for number in numbers])
    weights = sample_and_resamples(int(numbers[-1]) + 1)
    tables = cross_tables(units, pl.Series(first), pl.Series(second), LABELS)
    found = kappa(np.tensordot(weights, tables, axes=1))
    for at in (0, 1, 2):
        times = weights[at, numbers].astype(int)
        one, other = np.repeat(first, times), np.repeat(second, times)
        if len({*one, *other}) == 1:
            assert np.isnan(found[at])
        else:
            assert_allclose(found[at], cohen_kappa_score(one, other), atol=1e-12)


def outputs(*people: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Triage of outputs that are queued and drawn, and one person's labels of them."""
    keys = pl.DataFrame({"model": "m", "passage": [f"x/{number:03}" for number in range(len(people))]})
    triage = keys.with_columns(
        drift=pl.lit(2.0), band=pl.lit("b"), queued=pl.lit(True), sampled=pl.lit(True), unit="passage"
    )
    return triage, keys.with_columns(annotator=pl.lit("a"), label=pl.Series(people), error_category=pl.lit("OTHER"))


def ballots(judges: Mapping[str, Sequence[str | None]], confidence: str = "high") -> pl.DataFrame:
    """Votes of judges on the first outputs; None is an abstention."""
    rows = [
        ("m", f"x/{number:03}", judge, label, label and "OTHER", label and confidence)
        for judge, labels in judges.items()
        for number, label in enumerate(labels)
    ]
    names = ["model", "passage", "judge", "label", "error_category", "confidence"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


@given(
    st.lists(
        st.tuples(st.sampled_from(SUBSTANTIVE), st.one_of(st.none(), st.sampled_from(LABELS))), min_size=1, max_size=12
    )
)
def test_precision_and_recall_are_those_of_scikit_learn(pairs: list[tuple[str, str | None]]) -> None:
    triage, labels = outputs(*(people for people, _ in pairs))
    votes = ballots({"j": [label for _, label in pairs]})
    row = calibration(rated(triage, NO_VERDICTS, labels), votes).filter(judge="j").row(0, named=True)
    assert row["exact"] == sum(people == judged for people, judged in pairs) / len(pairs)
    for level, errors in {"major": {MAJOR}, "any": set(ERRORS)}.items():
        truth, said = ([each in errors for each in side] for side in zip(*pairs, strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = precision_recall_fscore_support(truth, said, average="binary", zero_division=np.nan)
        for name, value in zip(("precision", "recall", "f1"), expected[:3], strict=True):
            found = row[f"{level}_{name}"]
            assert (found is None) == np.isnan(value)
            assert found is None or found == pytest.approx(value)


def test_what_is_no_substantive_label_agrees_with_nothing_and_is_no_error() -> None:
    triage, labels = outputs(VALID, VALID, MINOR, MAJOR)
    votes = ballots({"j": [UNSURE, REFERENCE, None, MAJOR]})
    rows = rated(triage, NO_VERDICTS, labels)
    judge = calibration(rows, votes).filter(judge="j").row(0, named=True)
    assert (judge["exact"], judge["any_recall"], judge["any_precision"]) == (0.25, 0.5, 1)
    cells = confusion(rows, votes).filter(pl.col("judge") == "j", pl.col("outputs") > 0)
    assert cells.select("people", "judged", "outputs").rows() == [
        (VALID, REFERENCE, 1), (VALID, UNSURE, 1), (MINOR, ABSTAINED, 1), (MAJOR, MAJOR, 1),
    ]  # fmt: skip


def test_outputs_that_people_cannot_settle_or_left_open_are_left_out() -> None:
    triage, labels = outputs(VALID, UNSURE, MAJOR, MINOR)
    rows = rated(triage, NO_VERDICTS, labels.head(3))
    found = calibration(rows, ballots({"j": [VALID, VALID, MAJOR, VALID]})).filter(judge="j")
    assert found.select("outputs", "exact").row(0) == (2, 1)


def test_the_panel_without_a_judge() -> None:
    triage, labels = outputs(MAJOR, MINOR, VALID, VALID)
    votes = ballots({"a": [MAJOR, MINOR, VALID, MAJOR], "b": [MAJOR, MINOR, VALID, VALID], "c": [VALID] * 4})
    panel = verdicts(votes)
    rows = rated(triage, panel, labels)
    row = calibration(rows, votes).rows_by_key("judge", named=True, unique=True)
    assert (row["panel"]["exact"], row["panel without a"]["exact"]) == (1, 0.5)
    alone = calibration(rows, votes.filter(judge="a"))
    assert alone["judge"].to_list() == ["a", "panel"]  # without its only judge there is no panel


def test_reliability_by_confidence() -> None:
    triage, labels = outputs(VALID, MINOR, MAJOR, VALID)
    sure = ballots({"j": [VALID, MINOR]}, "high")
    unsure = ballots({"j": [VALID, VALID, VALID, VALID, None]}, "low").filter(pl.col("passage") > "x/001")
    found = reliability(rated(triage, NO_VERDICTS, labels), pl.concat([sure, unsure]))
    assert found.select("judge", "confidence", "outputs", "agreement").rows() == [
        ("j", "high", 2, 1),
        ("j", "low", 2, 0.5),
    ]
    assert (found["agreement_low"] < found["agreement_high"]).all()


def test_raters_are_compared_where_both_gave_a_label() -> None:
    triage, labels = outputs(VALID, MINOR, MAJOR, VALID)
    triage = triage.with_columns(sampled=pl.col("passage") < "x/002", queued=pl.col("passage") > "x/000")
    votes = ballots(
        {"a": [VALID, MINOR, MAJOR, UNSURE], "b": [VALID, MINOR, VALID, UNSURE], "c": [None, None, None, VALID]}
    )
    second = labels.head(2).with_columns(annotator=pl.lit("b"), label=pl.Series([MINOR, MINOR]))
    found = agreement(triage, votes, pl.concat([labels, second]))
    assert found.select("scope", "kind", "first", "second", "outputs", "exact").rows() == [
        ("queue", "judges", "a", "b", 3, 2 / 3), ("queue", "judges", "a", "c", 1, 0),
        ("queue", "judges", "b", "c", 1, 0),
        ("sample", "judges", "a", "b", 2, 1), ("sample", "people", "a", "b", 2, 0.5),
    ]  # fmt: skip


@given(st.permutations(JUDGES), st.randoms(use_true_random=False))
@examples(10)
def test_names_and_order_of_judges_change_nothing_of_the_panel(names: list[str], chance: Random) -> None:
    triage, labels = outputs(*itertools.islice(itertools.cycle(SUBSTANTIVE), 12))
    spoken = {judge: [chance.choice([*LABELS, None]) for _ in range(12)] for judge in JUDGES}
    votes = ballots(spoken)
    renamed = votes.with_columns(pl.col("judge").replace(dict(zip(JUDGES, names, strict=True)))).sample(
        fraction=1, shuffle=True, seed=chance.randrange(1000)
    )
    rows = rated(triage, NO_VERDICTS, labels)
    assert calibration(rows, votes).filter(judge="panel").equals(calibration(rows, renamed).filter(judge="panel"))


def test_without_labels_or_votes_there_is_nothing_to_say() -> None:
    triage, labels = outputs(VALID)
    rows = rated(triage, NO_VERDICTS, labels.clear())
    votes = ballots({"j": [VALID]})
    for of in (calibration, confusion, reliability):
        assert of(rows, votes).is_empty()
        assert of(rated(triage, NO_VERDICTS, labels), votes.clear()).is_empty()
    assert agreement(triage, votes.clear(), labels.clear()).is_empty()
