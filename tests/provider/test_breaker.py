"""The circuit breaker: how many replies of no use are paid for, in one run and in those after it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.provider.breaker import MOST, MOST_BATCHES, Breaker, Sent, advice
from resources.provider.breaker import Row as Count
from resources.provider.client import Reply, Waits, opened
from resources.provider.ledger import Ledger
from resources.provider.reading import REASONED, USABLE, Outcome, Reading
from resources.provider.reading import USELESS as OUTCOMES
from tests.provider.faults import error
from tests.provider.faulty import Faulty, completion, misbehaving, response
from tests.provider.support import NO_BUDGET, Result, model, outcome, question
from tests.provider.useless import CELLS, FORMS, IN_FLIGHT, PASSAGES, USELESS, Row, rows

UNCERTAIN = [*USELESS][[*USELESS].index("200 with a page of HTML") :]
"""Replies that do not say what they cost."""


@pytest.fixture
def ledger(either_ledger: Ledger) -> Ledger:
    return either_ledger


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
    row = Count(10**6)
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
    assert not set(USABLE) & set(OUTCOMES)
    neither = set(Outcome) - set(USABLE) - set(OUTCOMES)
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
        assert not (breaker.batches.ended and breaker.send(batch=True))
    assert breaker.batches.ended
    assert breaker.all.ended


def test_who_thinks_without_an_answer_is_to_think_less() -> None:
    asked, words = question(model("http://localhost"), 1), "raise `max_tokens`"
    assert words in advice(asked, Reading(Outcome.EMPTY, detail=REASONED), Breaker())
    assert words in advice(asked, Reading(Outcome.UNUSABLE, finish="length"), Breaker())
    assert words not in advice(asked, Reading(Outcome.EMPTY), Breaker())


LIMITED = ("reasoning up to the token limit", "plain words in place of JSON")
"""Replies that a study asks for a few times only, in all runs: items that got them so often have no answer."""

SOME = [(reply, list(FORMS)[number % len(FORMS)]) for number, reply in enumerate(USELESS)]


def check_row(row: Row) -> None:
    """Whatever is of no use, for whatever it was asked."""
    assert MOST <= row.first <= MOST + IN_FLIGHT, row
    assert row.next in (0, 1), row
    assert row.released == 1, row
    assert row.dollars <= 0.04, row
    assert row.answers == len(PASSAGES) or (row.reply in LIMITED and row.answers > 0), row


@pytest.mark.proof
def test_for_twenty_passages_few_replies_of_no_use_are_paid_and_one_in_a_later_run(tmp_path: Path, full: bool) -> None:
    for row in rows(tmp_path, CELLS if full else SOME):
        check_row(row)
        assert row.next == (row.reply not in UNCERTAIN), "nothing is asked while money is uncertain"


def test_a_later_session_of_the_same_run_asks_nothing(ledger: Ledger) -> None:
    """Assets of one run open the client one after the other."""
    with misbehaving({"m": lambda _: iter([error(400)])}) as faulty:
        results = [ask(ledger, faulty, run) for run in ("first", "first", "next", "next")]
        assert faulty.requests["m"] == MOST + 1
    assert all("stopped: " in str(result) for result in results)


def ask(ledger: Ledger, faulty: Faulty, run: str) -> Result:
    """The result of the last of twenty questions, asked one after the other in a session."""

    async def main() -> Result:
        async with opened(ledger.session(run, NO_BUDGET), Waits(0.01, 0.05, 1)) as client:
            return [await outcome(client, question(model(faulty.url), number)) for number in range(20)][-1]

    return asyncio.run(main())


def test_a_model_that_earlier_runs_left_in_a_row_is_asked_as_before_once_it_answers(ledger: Ledger) -> None:
    mended = False
    right = response(200, completion("Sing."))
    with misbehaving({"m": lambda _: iter([right if mended else error(400)])}) as faulty:
        ask(ledger, faulty, "first")
        mended = True
        assert isinstance(ask(ledger, faulty, "next"), Reply)
        assert faulty.requests["m"] == MOST + 20
