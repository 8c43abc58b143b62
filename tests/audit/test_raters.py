import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import optimize, special  # type: ignore[import-untyped]

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID
from benchmark_assets.audit.raters import alpha, alpha_by_unit, dawid_skene, information, rater_model
from benchmark_assets.metrics.intervals import Floats, Units
from tests.support import examples

KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Labels by four observers of twelve units (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, part C)."""


def one_hot(labels: list[list[int | None]], kinds: int) -> Floats:
    """Votes, shape (outputs, raters, labels), from labels by rater, counted from 1."""
    votes = np.zeros((len(labels[0]), len(labels), kinds))
    for rater, own in enumerate(labels):
        for output, label in enumerate(own):
            if label:
                votes[output, rater, label - 1] = 1
    return votes


def drawn(seed: int, outputs: int, accuracies: list[float], kinds: int = 2) -> tuple[Units, Floats]:
    """True classes, and votes of raters who are right with these probabilities."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(kinds, outputs, p=np.array([0.7, 0.3, 0.0][:kinds]) if kinds == 2 else None)
    votes = np.zeros((outputs, len(accuracies), kinds))
    for rater, accuracy in enumerate(accuracies):
        other = (truth + rng.integers(1, kinds, outputs)) % kinds
        labels = np.where(rng.random(outputs) < accuracy, truth, other)
        votes[np.arange(outputs), rater, labels] = 1
    return truth, votes


def test_alpha_is_the_published_one() -> None:
    sums = alpha_by_unit(one_hot(KRIPPENDORFF, 5), np.arange(12))
    assert alpha(sums.sum(axis=0, keepdims=True))[0] == pytest.approx(0.743, abs=0.0005)


def likelihood(votes: Floats, prior: Floats, errors: Floats) -> float:
    joint = np.log(prior) + np.einsum("orl,rkl->ok", votes, np.log(errors))
    return float(special.logsumexp(joint, axis=1).sum())


def test_em_reaches_the_maximum_that_a_general_optimizer_finds() -> None:
    _, votes = drawn(1, 300, [0.9, 0.8, 0.7])
    fitted = dawid_skene(votes)

    def loss(logits: Floats) -> float:
        prior = special.softmax(np.append(0, logits[0]))
        errors = special.softmax(np.pad(logits[1:].reshape(3, 2, 1), ((0, 0), (0, 0), (1, 0))), axis=2)
        return -likelihood(votes, prior, errors)

    start = np.append(0, np.tile([-1.0, 1.0], 3))
    best = optimize.minimize(loss, start, method="BFGS")
    assert likelihood(votes, fitted.prior, fitted.errors) == pytest.approx(-best.fun, abs=1e-3)
    assert fitted.prior[1] == pytest.approx(special.expit(best.x[0]), abs=0.005)


def test_the_model_finds_who_is_informative_and_corrects_a_majority_of_bad_judges() -> None:
    truth, votes = drawn(2, 2000, [0.95, 0.95, 0.6, 0.6, 0.6], kinds=3)
    fitted = dawid_skene(votes)
    bits = information(fitted.prior, fitted.errors)
    assert min(bits[:2]) > 5 * max(bits[2:])
    right = (fitted.posterior.argmax(axis=1) == truth).mean()
    assert right > (votes.sum(axis=1).argmax(axis=1) == truth).mean() + 0.02
    assert right > 0.94


@examples(30)
@given(st.integers(0, 2**32 - 1), st.lists(st.floats(0.3, 1), min_size=2, max_size=5), st.integers(2, 4))
def test_probabilities_sum_to_one(seed: int, accuracies: list[float], kinds: int) -> None:
    _, votes = drawn(seed, 30, accuracies, kinds)
    fitted = dawid_skene(votes)
    assert_allclose(fitted.prior.sum(), 1, atol=1e-6)
    assert_allclose(fitted.errors.sum(axis=2), 1, atol=1e-6)
    assert_allclose(fitted.posterior.sum(axis=1), 1, atol=1e-6)
    assert (information(fitted.prior, fitted.errors) > -1e-9).all()


def test_rows_name_every_rater_and_show_a_random_judge() -> None:
    rng = np.random.default_rng(4)
    truth = rng.choice([VALID, MINOR, MAJOR], 600)
    outputs = pl.DataFrame({"model": "m", "passage": [f"x/{number}" for number in range(600)]})
    triage = outputs.with_columns(unit="passage", sampled=pl.lit(False))
    labels = {
        "random": rng.choice([VALID, MINOR, MAJOR], 600),
        **{name: np.where(rng.random(600) < accuracy, truth, rng.choice([VALID, MINOR, MAJOR], 600))
           for name, accuracy in (("good", 0.9), ("fair", 0.8), ("third", 0.8), ("fourth", 0.8))},
    }  # fmt: skip
    votes = pl.concat(outputs.with_columns(judge=pl.lit(name), label=pl.Series(own)) for name, own in labels.items())
    people = pl.DataFrame(schema={"model": pl.String, "passage": pl.String, "annotator": pl.String, "label": pl.String})
    found = rater_model(triage, votes, people).rows_by_key("rater", named=True, unique=True)
    assert set(found) == {"", *labels}
    assert found["random"]["information"] < 0.05 < found["fair"]["information"] < found["good"]["information"]
    assert found["random"]["alpha"] > found[""]["alpha"] > found["good"]["alpha"]  # alpha without the rater
    assert found["random"]["alpha_low"] > found["good"]["alpha_high"]
    assert found["good"]["right"] > 0.85
