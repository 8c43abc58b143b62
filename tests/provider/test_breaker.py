"""The circuit breaker: how many replies of no use are paid for, in one run and in those after it."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from resources.provider.breaker import MOST, MOST_BATCHES, Breaker, Row, Sent
from resources.provider.client import Waits
from resources.provider.reading import USABLE, USELESS, Outcome

QUICK = Waits(0.01, 0.05, 1)


@given(st.integers(1, 64), st.lists(st.integers(0, 10**6)), st.integers(0, 40))
def test_a_model_that_is_never_of_use_gets_so_many_attempts_at_most(
    in_flight: int, order: Sequence[int], useless: int
) -> None:
    """Whatever the order in which replies come, and whatever earlier runs have met."""
    breaker, under_way, attempts = Breaker(useless), list[Sent](), 0
    for pick in [*order, *[0] * 200]:
        while len(under_way) < in_flight and not breaker.all.ended and (sent := breaker.send(batch=False)):
            under_way.append(sent)
            attempts += 1
        if under_way:
            breaker.came(under_way.pop(pick % len(under_way)), Outcome.EMPTY)
    assert breaker.all.ended
    assert attempts <= (max(1, MOST - useless) if useless else MOST - 1 + in_flight)


@given(st.lists(st.sampled_from([Outcome.ANSWERED, Outcome.EMPTY, Outcome.REFUSED, Outcome.RATE_LIMITED, None])))
def test_a_row_has_what_came_since_the_last_usable_reply(outcomes: list[Outcome | None]) -> None:
    row = Row(10**6)
    for each in outcomes:
        row.came(row.sent(), each)
    since = (
        outcomes[len(outcomes) - outcomes[::-1].index(Outcome.ANSWERED) :] if Outcome.ANSWERED in outcomes else outcomes
    )
    assert row.useless == since.count(Outcome.EMPTY)
    assert row.has_room


def test_what_was_under_way_when_a_row_began_counts_as_one() -> None:
    breaker = Breaker()
    wave = [breaker.send(batch=False) for _ in range(64)]
    for sent in wave:
        assert sent is not None
        breaker.came(sent, Outcome.DROPPED)
    assert breaker.all.useless == 1


def test_outcomes_are_usable_or_useless_or_neither() -> None:
    assert not set(USABLE) & set(USELESS)
    neither = set(Outcome) - set(USABLE) - set(USELESS)
    assert {
        Outcome.REFUSED,
        Outcome.TOO_LONG,
        Outcome.RATE_LIMITED,
        Outcome.SERVER_ERROR,
        Outcome.UNREACHABLE,
    } <= neither


def test_batches_end_before_single_questions_do() -> None:
    breaker = Breaker()
    for batch in [True] * MOST_BATCHES + [False] * (MOST - MOST_BATCHES):
        sent = breaker.send(batch)
        assert sent
        assert not breaker.all.ended
        breaker.came(sent, Outcome.UNUSABLE)
    assert breaker.batches.ended
    assert breaker.all.ended
