import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, Result

from benchmark_assets.metrics.contrasts import SUMS, compared
from benchmark_assets.metrics.entries import MEASURES
from benchmark_assets.metrics.intervals import Floats, p_values
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.metrics.significance import DRAWS, clusters, differences, family, holm, rank_sets, rate_tests
from tests.support import examples

MEASURE = {measure.name: measure for measure in MEASURES}
SIM = MEASURE["sim_best"]


def means(*systems: Sequence[float]) -> Floats:
    """Statistics of means; NaN where a system lacks a passage."""
    values = np.array(systems, dtype=np.float64)
    present = np.isfinite(values)
    return np.stack([present.astype(np.float64), np.where(present, values, 0)], axis=-1)


def pair(first: Sequence[float], second: Sequence[float]) -> dict[str, Any]:
    return differences(means(first, second), np.arange(len(first)), SIM).row(0, named=True)


def test_repeated_passages_add_nothing() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, size=8)
    of_units = pair(values.tolist(), [0.0] * 8)
    repeated = means(np.repeat(values, 3).tolist(), [0.0] * 24)
    found = differences(repeated, np.repeat(np.arange(8), 3), SIM).row(0, named=True)
    for name in ("p", "difference", "difference_low", "difference_high"):
        assert found[name] == pytest.approx(of_units[name])
    assert (found["passages"], found["units"]) == (24, 8)


@pytest.mark.parametrize("shift", [0.05, 0.2, 0.3, 0.45])
def test_of_normal_differences_the_test_says_what_the_normal_test_says(shift: float) -> None:
    gaps = np.random.default_rng(3).normal(0, 1, size=120)
    gaps += shift - gaps.mean()
    z = shift / (gaps.std(ddof=1) / math.sqrt(len(gaps)))
    found = pair(gaps.tolist(), [0.0] * len(gaps))
    assert found["p"] == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.03)
    assert_allclose(
        [found["difference_low"], found["difference_high"]],
        [shift - 1.96 * shift / z, shift + 1.96 * shift / z], atol=0.03,
    )  # fmt: skip


def test_with_four_units_there_is_no_test_and_no_answer() -> None:
    four = pair([1.0, 2.0, 1.5, 2.5], [0.0] * 4)
    assert {four[name] for name in ("p", "p_family", "difference_low", "difference_high", "detectable")} == {None}
    assert (four["difference"], four["answer"]) == (1.75, "cannot be told")


@given(st.lists(st.floats(0, 1), min_size=5, max_size=30))
@examples(30)
def test_equal_systems_cannot_be_told_apart(values: list[float]) -> None:
    found = pair(values, values)
    assert [found["difference"], found["difference_low"], found["difference_high"]] == pytest.approx([0, 0, 0])
    assert (found["p"], found["answer"]) == (1, "equal")


def test_no_p_value_is_zero() -> None:
    assert 0 < pair([1.0] * 40, [0.0] * 40)["p"] < 1e-9


def test_exchanging_the_systems_turns_the_sign_and_nothing_else() -> None:
    random = np.random.default_rng(5)
    a, b = random.normal(0.1, 1, size=(2, 25)).tolist()
    one, other = pair(a, b), pair(b, a)
    assert one["difference"] == pytest.approx(-other["difference"])
    assert (one["difference_low"], one["difference_high"]) == pytest.approx(
        (-other["difference_high"], -other["difference_low"])
    )
    assert one["p"] == other["p"]


def test_only_passages_that_both_have_count() -> None:
    a, b, nan = [3.0, 5.0, 4.0, 6.0, 2.0, 5.0], [1.0, 2.0, 2.0, 3.0, 2.0, 1.0], math.nan
    alone = differences(means(a, b), np.arange(6), SIM)
    rows = means([*a, 9.0, nan, nan], [*b, nan, 0.0, nan], [nan] * 8 + [1.0])
    among = differences(rows, np.arange(9), SIM)
    assert among.drop("p_family").rows() == alone.drop("p_family").rows()  # the third shares no passage with either
    assert alone["passages"].to_list() == [6]


def test_each_pair_of_many_systems_is_compared_as_if_it_were_alone() -> None:
    values = np.random.default_rng(2).normal(size=(4, 20))
    values[1, :5] = math.nan
    units = np.arange(20) // 2
    found = differences(means(*values.tolist()), units, SIM)
    assert found.select("first", "second").rows() == list(itertools.combinations(range(4), 2))
    for row in found.iter_rows(named=True):
        both = means(*values[[row["first"], row["second"]]].tolist())
        alone = differences(both, units, SIM).row(0, named=True)
        names = [name for name in row if name[0] in "dpu" and name != "p_family"]
        assert_allclose([row[name] for name in names], [alone[name] for name in names])


def texts(count: int) -> list[tuple[list[str], list[str], list[str]]]:
    """References and the outputs of two systems, the second with more words exchanged."""
    random = np.random.default_rng(8)
    words = [f"{a}{b}" for a in "bdfgklmn" for b in "aeiou"]
    references = [random.choice(words, size=12).tolist() for _ in range(count)]
    outputs = [
        [[random.choice(words) if random.random() < share else word for word in text] for text in references]
        for share in (0.25, 0.33)
    ]
    return list(zip(references, *outputs, strict=True))


def lexical(outputs: Sequence[str], references: Sequence[str]) -> Floats:
    numbered = [
        pl.DataFrame({"passage": [f"x/{i:03}" for i in range(len(t))], "text": t}) for t in (outputs, references)
    ]
    rows = lexical_scores(numbered[0], numbered[1], on=["passage"], within=["passage"])
    return MEASURE["bleu"].statistics(rows)


def test_p_values_of_independent_passages_are_those_of_sacrebleus_randomization() -> None:
    references, first, second = ([" ".join(text) for text in column] for column in zip(*texts(60), strict=True))
    statistics = np.stack([lexical(first, references), lexical(second, references)])
    found = differences(statistics, np.arange(60), MEASURE["bleu"])
    test = PairedTest(
        [("second", second), ("first", first)], {"BLEU": BLEU()}, [references], test_type="ar", n_samples=1000
    )
    theirs = test()[1]["BLEU"][1]
    assert isinstance(theirs, Result)
    assert theirs.p_value is not None
    assert 0.005 < theirs.p_value < 0.6  # else nothing would be compared
    assert found["p"].item() == pytest.approx(theirs.p_value, abs=0.04)


def test_a_small_difference_is_different_equal_or_open_by_its_units() -> None:
    random = np.random.default_rng(4)
    noise = random.normal(size=400)
    noise -= noise.mean()
    answers = [
        (pair((shift + 0.02 * noise[:count]).tolist(), [0.0] * count))["answer"]
        for shift, count in ((0.001, 400), (0.001, 10), (0.02, 400))
    ]
    assert answers == ["equal", "cannot be told", "different"]


def test_the_detectable_difference_is_found_in_four_of_five_cases() -> None:
    random = np.random.default_rng(6)
    noise = random.normal(size=(2000, 40))
    detectable = np.median([pair(row.tolist(), [0.0] * 40)["detectable"] for row in noise[:100]])
    shares = np.full((40, 2000), 1 / 40)
    values = noise.T + detectable
    means = values.mean(axis=0)
    assert (p_values(means, shares * (values - means), shares) <= 0.05).mean() == pytest.approx(0.8, abs=0.04)


def rates(wins: Sequence[int], losses: Sequence[int], trials: int) -> dict[str, float]:
    """Test of two rates that differ in so many of the trials of each unit."""
    columns = (np.array([each], dtype=np.float64).T for each in (wins, losses, [trials] * len(wins)))
    return {name: values.item() for name, values in rate_tests(*columns).items()}


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (10, 3), (0, 4), (18, 18)])
def test_bounds_of_rates_of_independent_passages_are_where_the_score_test_rejects(wins: int, losses: int) -> None:
    """Tango 1998: the variance under the bound is that of the most likely rates, here found on a grid."""
    first = [1] * wins + [0] * (36 - wins)
    second = [0] * wins + [1] * losses + [0] * (36 - wins - losses)
    found = rates(first, second, 1)
    for name in ("difference_low", "difference_high"):
        bound = found[name]
        second_only = np.linspace(max(0, -bound), (1 - bound) / 2, 200_001)[1:-1]
        likelihood = (
            wins * np.log(second_only + bound) + losses * np.log(second_only)
            + (36 - wins - losses) * np.log(1 - 2 * second_only - bound)
        )  # fmt: skip
        likely = second_only[likelihood.argmax()]
        variance = (2 * likely + bound - bound**2) / 36
        assert abs((wins - losses) / 36 - bound) / variance**0.5 == pytest.approx(1.96, abs=0.01)
    z = abs(wins - losses) / math.sqrt(max(wins + losses, 1))
    assert found["p"] == pytest.approx(math.erfc(z / math.sqrt(2)))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=5, max_size=20))
def test_a_difference_of_rates_has_a_width_and_agrees_with_its_test(counts: list[tuple[int, int]]) -> None:
    wins, losses = zip(*counts, strict=True)
    one, other = rates(wins, losses, 6), rates(losses, wins, 6)
    assert one["difference_low"] < one["difference_high"] - 0.01
    assert [-one["difference_high"], -one["difference_low"]] == pytest.approx(
        [other["difference_low"], other["difference_high"]], abs=1e-6
    )
    if abs(one["p"] - 0.05) > 1e-3:
        assert (one["p"] <= 0.05) is not (one["difference_low"] <= 0 <= one["difference_high"])


def test_all_against_none_of_six_documents_is_different() -> None:
    assert rates([6, 5, 6, 5, 6, 6], [0] * 6, 6)["p"] < 0.01


def field(systems: int, units: int = 20, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(size=(systems, units)) + np.linspace(0, 1, systems)[:, None]


@given(st.integers(2, 6), st.integers(0, 30))
@examples(20)
def test_a_family_is_at_least_as_cautious_as_its_tests_and_keeps_their_order(systems: int, seed: int) -> None:
    rows = differences(means(*field(systems, seed=seed).tolist()), np.arange(20), SIM).sort("p")
    assert (rows["p_family"] >= rows["p"]).all()
    assert rows["p_family"].is_sorted()
    assert rows["p_family"][-1] <= 1


@given(st.integers(0, 3), st.integers(0, 30))
@examples(20)
def test_ten_copies_of_a_system_change_no_statement_about_others(copied: int, seed: int) -> None:
    values = field(4, seed=seed)
    alone = differences(means(*values.tolist()), np.arange(20), SIM)
    crowd = differences(means(*values.tolist(), *[values[copied].tolist()] * 10), np.arange(20), SIM)
    among = crowd.filter(pl.col("second") < 4)
    for name in ("difference", "difference_low", "difference_high", "p", "detectable"):
        assert_allclose(among[name], alone[name], rtol=1e-9)
    assert among["answer"].equals(alone["answer"])
    assert_allclose(among["p_family"], alone["p_family"], atol=2e-4)


def test_a_family_of_equal_tests_is_one_test_and_of_independent_ones_nearly_bonferronis() -> None:
    random = np.random.default_rng(2)
    p, same, others = np.full(10, 0.01), np.repeat(random.normal(size=(300, 1)), 10, axis=1), np.eye(300)[:, :10]
    assert_allclose(family(p, same), 0.01, atol=0.003)
    assert_allclose(family(p, others), 1 - 0.99**10, atol=0.01)
    assert family(np.array([1e-12, 0.5]), np.eye(30)[:, :2])[0] == 1 / (1 + DRAWS)  # no draw reaches it


def test_contrasts_that_differ_in_one_column_are_a_family() -> None:
    values = np.random.default_rng(4).normal(0.4, 1, size=(2, 30))
    rows = [("x", "drift", "ab"[at], f"{unit:02}", 1.0, value, 0.0) for (at, unit), value in np.ndenumerate(values)]
    sums = pl.DataFrame(rows, ["corpus", "measure", "translator", "unit", *SUMS], orient="row")
    found = compared(sums, ["measure", "translator"], "translator")
    influences = (values - values.mean(axis=1, keepdims=True)).T / 30
    assert_allclose(found["p_family"], family(found["p"].to_numpy(), influences))


def test_pairs_without_a_p_value_do_not_count() -> None:
    p, influences = np.array([0.01, math.nan, 0.02]), np.random.default_rng(1).normal(size=(30, 3))
    corrected = family(p, influences)
    assert np.isnan(corrected[1])
    assert_allclose(corrected[[0, 2]], family(p[[0, 2]], influences[:, [0, 2]]))


@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n,
                                                   max_size=n)))  # fmt: skip
def test_ranks_of_a_cluster_are_better_than_those_of_the_next(rows: list[list[bool]]) -> None:
    ahead = np.triu(np.array(rows), k=1)
    groups, sets = clusters(ahead), rank_sets(ahead)
    for at, (low, high) in enumerate(sets):
        assert low <= at + 1 <= high
    for (one, (_, high)), (other, (low, _)) in itertools.product(zip(groups, sets, strict=True), repeat=2):
        if one < other:
            assert high < low


def test_holms_correction_by_hand() -> None:
    assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    assert_allclose(holm(np.array([0.6, 0.4])), [0.8, 0.8])
    assert holm(np.array([])).shape == (0,)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.001, 0.2))
def test_holm_rejects_step_by_step(p: list[float], level: float) -> None:
    rejected, remaining = set(), sorted(range(len(p)), key=lambda at: p[at])
    while remaining and p[remaining[0]] * len(remaining) <= level:
        rejected.add(remaining.pop(0))
    assert {at for at, each in enumerate(holm(np.array(p))) if each <= level} == rejected


@pytest.mark.parametrize(
    ("ahead", "expected"),
    [
        (["..", ".."], [1, 1]),
        ([".x", ".."], [1, 2]),
        ([".xx", "..x", "..."], [1, 2, 3]),
        ([".xx", "...", "..."], [1, 2, 2]),
        (["..x", "...", "..."], [1, 1, 1]),  # the second may belong to either side
        (["..xx", "..xx", "...x", "...."], [1, 1, 2, 3]),
        (["."], [1]),
        ([], []),
    ],
)
def test_a_cluster_begins_where_all_above_are_better_than_all_from_there_on(
    ahead: list[str], expected: list[int]
) -> None:
    assert clusters(np.array([[cell == "x" for cell in row] for row in ahead], dtype=bool)) == expected
