import itertools
import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, Result

from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.metrics.measures import MEASURES, RANKED, Floats
from benchmark_assets.metrics.significance import TRIALS, clusters, differences, exchanges, holm
from tests.metrics.scores import OUTPUTS, REFERENCES

MEASURE = {measure.name: measure for measure in MEASURES}
SIM = MEASURE["sim_best"]


def means(*systems: Sequence[float]) -> Floats:
    """Statistics of means; NaN where a system lacks a passage."""
    values = np.array(systems, dtype=np.float64)
    present = np.isfinite(values)
    return np.stack([present.astype(np.float64), np.where(present, values, 0)], axis=-1)


def pair(first: Sequence[float], second: Sequence[float]) -> dict[str, float]:
    return differences(means(first, second), SIM.of).row(0, named=True)


SCORES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7)


@given(SCORES)
def test_of_a_few_passages_every_exchange_is_tried(pairs: list[tuple[int, int]]) -> None:
    gaps = [a - b for a, b in pairs]
    signed = [
        sum(s * g for s, g in zip(signs, gaps, strict=True)) for signs in itertools.product((1, -1), repeat=len(gaps))
    ]
    exact = sum(abs(each) >= abs(sum(gaps)) for each in signed) / len(signed)
    found = pair(*zip(*pairs, strict=True))
    assert found["p_randomization"] == pytest.approx(exact)
    assert found["difference"] == pytest.approx(sum(gaps) / len(gaps))


def test_of_many_passages_as_many_exchanges_are_drawn_as_are_declared() -> None:
    assert exchanges(13).shape == (2**13 - 1, 13)
    assert len(np.unique(exchanges(13), axis=0)) == 2**13 - 1
    assert not exchanges(13).all(axis=1).any()  # what was observed is counted apart
    drawn = exchanges(50)
    assert drawn.shape == (TRIALS, 50)
    # each passage is kept in half of 10,000 trials, standard deviation 50
    assert abs(drawn.sum(axis=0, dtype=np.int64) - TRIALS / 2).max() < 5 * 50


@pytest.mark.parametrize("shift", [0.05, 0.2, 0.3, 0.45])
def test_of_normal_differences_both_tests_say_what_the_normal_test_says(shift: float) -> None:
    gaps = np.random.default_rng(3).normal(0, 1, size=120)
    gaps += shift - gaps.mean()
    z = shift / (gaps.std(ddof=1) / math.sqrt(len(gaps)))
    found = pair(gaps.tolist(), [0.0] * len(gaps))
    for name in ("p_bootstrap", "p_randomization"):
        assert found[name] == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.03)
    assert_allclose(
        [found["difference_low"], found["difference_high"]],
        [shift - 1.96 * shift / z, shift + 1.96 * shift / z], atol=0.03,
    )  # fmt: skip


def test_of_systems_that_do_not_differ_a_twentieth_seems_to() -> None:
    random = np.random.default_rng(17)
    rows = [pair(random.normal(size=30).tolist(), random.normal(size=30).tolist()) for _ in range(200)]
    for name in ("p_bootstrap", "p_randomization"):
        share = sum(row[name] < 0.05 for row in rows) / len(rows)
        assert 0.01 <= share <= 0.1, name


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(max_examples=30)
def test_equal_systems_cannot_be_told_apart(values: list[float]) -> None:
    found = pair(values, values)
    assert (found["difference"], found["difference_low"], found["difference_high"]) == (0, 0, 0)
    assert (found["p_bootstrap"], found["p_randomization"]) == (1, 1)


def test_no_p_value_is_zero() -> None:
    found = pair([1.0] * 40, [0.0] * 40)
    assert found["p_bootstrap"] == pytest.approx(1 / 1001)
    assert found["p_randomization"] == pytest.approx(1 / (TRIALS + 1))


def test_exchanging_the_systems_turns_the_sign_and_nothing_else() -> None:
    random = np.random.default_rng(5)
    a, b = random.normal(0.1, 1, size=(2, 25)).tolist()
    one, other = pair(a, b), pair(b, a)
    assert one["difference"] == pytest.approx(-other["difference"])
    assert (one["difference_low"], one["difference_high"]) == pytest.approx(
        (-other["difference_high"], -other["difference_low"])
    )
    assert (one["p_bootstrap"], one["p_randomization"]) == (other["p_bootstrap"], other["p_randomization"])


def test_only_passages_that_both_have_count() -> None:
    a, b, nan = [3.0, 5.0, 4.0, 6.0], [1.0, 2.0, 2.0, 3.0], math.nan
    alone = differences(means(a, b), SIM.of)
    among = differences(means([*a, 9.0, nan, nan], [*b, nan, 0.0, nan], [nan] * 6 + [1.0]), SIM.of)
    assert among.rows() == alone.rows()  # the third shares no passage with either
    assert alone["passages"].to_list() == [4]


def test_each_pair_of_many_systems_is_compared_as_if_it_were_alone() -> None:
    values = np.random.default_rng(2).normal(size=(4, 20))
    values[1, :5] = math.nan
    found = differences(means(*values.tolist()), SIM.of)
    assert found.select("first", "second").rows() == list(itertools.combinations(range(4), 2))
    for row in found.iter_rows(named=True):
        alone = differences(means(*values[[row["first"], row["second"]]].tolist()), SIM.of).row(0, named=True)
        assert_allclose(
            [row[name] for name in row if name[0] in "dp"], [alone[name] for name in row if name[0] in "dp"]
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


def test_a_corpus_score_is_compared_on_the_texts_exchanged() -> None:
    other = ["A mouse runs off.", "Up comes the sun at last.", "The cat is still.", "He says nothing that is new."]
    bleu = BLEU()

    def gap(keep: Sequence[int]) -> float:
        both = [(a, b) if kept else (b, a) for a, b, kept in zip(OUTPUTS, other, keep, strict=True)]
        first, second = zip(*both, strict=True)
        scores = [float(bleu.corpus_score(each, [REFERENCES]).score) for each in (first, second)]
        return scores[0] - scores[1]

    observed = gap([1] * 4)
    hits = sum(abs(gap(keep)) >= abs(observed) - 1e-9 for keep in itertools.product((0, 1), repeat=4))
    found = differences(np.stack([lexical(OUTPUTS, REFERENCES), lexical(other, REFERENCES)]), MEASURE["bleu"].of)
    assert found["difference"].item() == pytest.approx(observed)
    assert found["p_randomization"].item() == pytest.approx(hits / 16)


def test_p_values_are_those_of_sacrebleu_but_for_the_draw() -> None:
    references, first, second = ([" ".join(text) for text in column] for column in zip(*texts(60), strict=True))
    found = differences(np.stack([lexical(first, references), lexical(second, references)]), MEASURE["bleu"].of)
    for kind, name in (("bs", "p_bootstrap"), ("ar", "p_randomization")):
        test = PairedTest(
            [("second", second), ("first", first)], {"BLEU": BLEU()}, [references], test_type=kind, n_samples=1000
        )
        theirs = test()[1]["BLEU"][1]
        assert isinstance(theirs, Result)
        assert theirs.p_value is not None
        assert 0.005 < theirs.p_value < 0.6  # else nothing would be compared
        assert found[name].item() == pytest.approx(theirs.p_value, abs=0.04)


def test_every_ranked_measure_can_be_compared() -> None:
    random = np.random.default_rng(1)
    for measure in RANKED:
        width = {"bleu": 11, "chrf": 25}.get(measure.name, 2)
        statistics = random.integers(1, 9, size=(3, 6, width)).astype(np.float64)
        statistics[..., 0] = 1
        found = differences(statistics, measure.of)
        assert len(found) == 3
        assert found["p_randomization"].is_between(0, 1).all()


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
