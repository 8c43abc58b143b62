import itertools
import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, Result
from scipy import stats  # type: ignore[import-untyped]

from benchmark_assets.metrics.entries import MEASURES
from benchmark_assets.metrics.intervals import TRIALS, Floats
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.metrics.significance import clusters, differences, holm, holm_by_system, rank_sets
from tests.support import examples

MEASURE = {measure.name: measure for measure in MEASURES}
SIM = MEASURE["sim_best"]


def means(*systems: Sequence[float]) -> Floats:
    """Statistics of means; NaN where a system lacks a passage."""
    values = np.array(systems, dtype=np.float64)
    present = np.isfinite(values)
    return np.stack([present.astype(np.float64), np.where(present, values, 0)], axis=-1)


def pair(first: Sequence[float], second: Sequence[float]) -> dict[str, float]:
    return differences(means(first, second), np.arange(len(first)), SIM.of).row(0, named=True)


SCORES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=9)


@given(SCORES)
def test_of_a_few_passages_every_exchange_is_tried(pairs: list[tuple[int, int]]) -> None:
    gaps = [a - b for a, b in pairs]
    signed = [
        sum(s * g for s, g in zip(signs, gaps, strict=True)) for signs in itertools.product((1, -1), repeat=len(gaps))
    ]
    exact = sum(abs(each) >= abs(sum(gaps)) for each in signed) / len(signed)
    found = pair(*zip(*pairs, strict=True))
    assert found["p"] == pytest.approx(exact)
    assert found["difference"] == pytest.approx(sum(gaps) / len(gaps))
    excludes_zero = not found["difference_low"] - 1e-9 <= 0 <= found["difference_high"] + 1e-9
    assert excludes_zero is (found["p"] <= 0.05)


def test_units_are_exchanged_as_wholes() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, size=8)
    of_units = pair(values.tolist(), [0.0] * 8)
    repeated = means(np.repeat(values, 3).tolist(), [0.0] * 24)
    found = differences(repeated, np.repeat(np.arange(8), 3), SIM.of).row(0, named=True)
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


def test_with_five_units_the_test_is_students_and_with_four_there_is_none() -> None:
    found = pair([1.0, 2.0, 1.5, 2.5, 1.2], [0.0] * 5)
    gaps = np.array([1.0, 2.0, 1.5, 2.5, 1.2])
    t = gaps.mean() / (gaps.std(ddof=1) / math.sqrt(5))
    assert found["p"] == pytest.approx(2 * stats.t.sf(t, 4))
    four = pair([1.0, 2.0, 1.5, 2.5], [0.0] * 4)
    assert {four["p"], four["difference_low"], four["difference_high"]} == {None}
    assert four["difference"] == 1.75


@given(st.lists(st.floats(0, 1), min_size=5, max_size=30))
@examples(30)
def test_equal_systems_cannot_be_told_apart(values: list[float]) -> None:
    found = pair(values, values)
    assert [found["difference"], found["difference_low"], found["difference_high"]] == pytest.approx([0, 0, 0])
    assert found["p"] == 1


def test_no_p_value_is_zero() -> None:
    assert pair([1.0] * 40, [0.0] * 40)["p"] == pytest.approx(1 / TRIALS)


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
    alone = differences(means(a, b), np.arange(6), SIM.of)
    rows = means([*a, 9.0, nan, nan], [*b, nan, 0.0, nan], [nan] * 8 + [1.0])
    among = differences(rows, np.arange(9), SIM.of)
    assert among.rows() == alone.rows()  # the third shares no passage with either
    assert alone["passages"].to_list() == [6]


def test_each_pair_of_many_systems_is_compared_as_if_it_were_alone() -> None:
    values = np.random.default_rng(2).normal(size=(4, 20))
    values[1, :5] = math.nan
    units = np.arange(20) // 2
    found = differences(means(*values.tolist()), units, SIM.of)
    assert found.select("first", "second").rows() == list(itertools.combinations(range(4), 2))
    for row in found.iter_rows(named=True):
        both = means(*values[[row["first"], row["second"]]].tolist())
        alone = differences(both, units, SIM.of).row(0, named=True)
        assert_allclose(
            [row[name] for name in row if name[0] in "dpu"], [alone[name] for name in row if name[0] in "dpu"]
        )


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
    found = differences(statistics, np.arange(60), MEASURE["bleu"].of)
    test = PairedTest(
        [("second", second), ("first", first)], {"BLEU": BLEU()}, [references], test_type="ar", n_samples=1000
    )
    theirs = test()[1]["BLEU"][1]
    assert isinstance(theirs, Result)
    assert theirs.p_value is not None
    assert 0.005 < theirs.p_value < 0.6  # else nothing would be compared
    assert found["p"].item() == pytest.approx(theirs.p_value, abs=0.04)


NAMES = ["a", "b", "c", "d", "e"]
PAIRS = list(itertools.combinations(NAMES, 2))
P_VALUES = st.lists(st.floats(0.001, 1), min_size=len(PAIRS), max_size=len(PAIRS))


@given(P_VALUES)
def test_a_system_that_is_far_from_both_leaves_the_comparison_of_two_as_it_was(p: list[float]) -> None:
    alone = holm_by_system(PAIRS, np.array(p))
    joined = holm_by_system([*PAIRS, *((name, "far") for name in NAMES)], np.array([*p, *[1e-9] * len(NAMES)]))
    assert_allclose(joined[: len(PAIRS)], alone)


@given(P_VALUES)
def test_a_pair_is_corrected_for_at_least_the_pairs_of_each_of_its_systems(p: list[float]) -> None:
    corrected = holm_by_system(PAIRS, np.array(p))
    for name in NAMES:
        rows = [at for at, pair in enumerate(PAIRS) if name in pair]
        assert (corrected[rows] >= holm(np.array(p)[rows]) - 1e-12).all()
    assert (corrected <= holm(np.array(p)) + 1e-12).all()


def test_pairs_without_a_p_value_stay_so_and_do_not_count() -> None:
    corrected = holm_by_system([("a", "b"), ("a", "c"), ("b", "c")], np.array([0.01, math.nan, 0.02]))
    assert_allclose(corrected, [0.02, math.nan, 0.02])


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
