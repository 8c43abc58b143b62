import pytest

from benchmark_assets.metrics.measures import Estimate
from benchmark_assets.metrics.misclassification import ErrorShares, without_errors

RATE = Estimate(0.34, 0.30, 0.40)
ERRORS = ErrorShares(found=Estimate(0.9, 0.85, 0.94), false=Estimate(0.1, 0.06, 0.15))


def test_a_share_is_that_of_rogan_and_gladen() -> None:
    assert without_errors(RATE, ERRORS).value == pytest.approx(0.3)


def test_the_share_of_sound_texts_is_the_rest() -> None:
    sound = without_errors(Estimate(0.66, 0.60, 0.70), ERRORS.of_sound())
    assert [1 - float(end or 0) for end in (sound.value, sound.high, sound.low)] == pytest.approx(
        [*without_errors(RATE, ERRORS)]
    )


def test_fewer_errors_than_false_alarms_are_none_and_at_most_those_that_were_found() -> None:
    assert without_errors(Estimate(0.02, 0.01, 0.03), ERRORS) == (0, 0, 0.03)
