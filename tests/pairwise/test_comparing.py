"""One judge and two translations: every pair ends with a winner, a reason why it has none, or an error."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.pairwise.comparing import Contenders, Side, comparing, read_answer, settled
from benchmark_assets.pairwise.matches import match
from resources import prompts
from resources.provider.asking import TRIES, Verdict
from resources.provider.client import opened
from resources.provider.ledger import Ledger
from tests.provider.server import Server
from tests.provider.support import NO_BUDGET, model, says

PAIR = Contenders("Mus currit.", "A mouse runs.", "The mouse is running.")
SAID = {"analysis": "B has the aspect.", "summary": "B is closer.", "answer": "B"}
BLANKS = st.text(st.sampled_from(" \t\n\u3000\u00a0"))


def compared(server: Server, ledger: Ledger, pair: Contenders = PAIR) -> Verdict[Side]:
    async def ask() -> Verdict[Side]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            template = comparing(model(server.url, temperature=1), ("la", "en"))
            return await match(("m", "p"), "set", "anchor", "A", template, pair).verdict(client.ask)

    outcome = asyncio.run(ask())
    assert sum(each is not None for each in (outcome.value, outcome.abstention, outcome.error)) == 1
    return outcome


def test_the_letter_is_the_winner_and_the_call_is_in_the_ledger(server: Server, ledger: Ledger) -> None:
    says(server, SAID)
    outcome = compared(server, ledger)
    assert (outcome.value, outcome.asked) == ("B", 1)
    assert ledger.attempts()["key"].to_list() == [outcome.call]
    assert compared(server, ledger) == outcome
    assert len(server.log()) == 1


def test_the_judge_sees_source_and_texts_in_their_order_and_languages_by_name(server: Server, ledger: Ledger) -> None:
    server.configure(answer="judge", keep_bodies=True)
    compared(server, ledger)
    compared(server, ledger, Contenders(PAIR.source, PAIR.translation_b, PAIR.translation_a))
    items = [json.loads(seen.body["messages"][-1]["content"]) for seen in server.log() if seen.body]
    there = {"source": PAIR.source, "translation_a": PAIR.translation_a, "translation_b": PAIR.translation_b}
    assert items == [there, there | {"translation_a": PAIR.translation_b, "translation_b": PAIR.translation_a}]
    body = server.log()[0].body
    assert body is not None
    assert "from Latin into English" in body["messages"][0]["content"]


@pytest.mark.parametrize("answer", ["A or B", "C", "neither", "", None])
def test_anything_but_the_letter_is_asked_for_again(server: Server, ledger: Ledger, answer: Any) -> None:
    says(server, SAID | {"answer": answer}, SAID)
    outcome = compared(server, ledger)
    assert (outcome.value, outcome.asked) == ("B", 2)


def test_an_answer_that_never_comes_excludes_the_pair_in_words(server: Server, ledger: Ledger) -> None:
    says(server, SAID | {"answer": "both"})
    outcome = compared(server, ledger)
    assert (outcome.abstention, outcome.asked) == ("answer 'both' is neither A nor B", TRIES)


@given(BLANKS, BLANKS, st.text().filter(str.strip))
def test_an_empty_text_loses_on_either_side_and_two_are_no_match(blank: str, other: str, text: str) -> None:
    assert settled(Contenders("s", blank, text)) == Verdict(value="B")
    assert settled(Contenders("s", text, blank)) == Verdict(value="A")
    assert settled(Contenders("s", blank, other)) == Verdict(abstention="both texts are empty")
    assert settled(Contenders("s", text, text)) is None


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text())))
def test_only_the_letters_are_read(answer: Any) -> None:
    if answer in ("A", "B"):
        assert read_answer({"answer": answer}) == answer
    else:
        with pytest.raises(ValueError, match="is neither A nor B"):
            read_answer({"answer": answer})


def test_the_prompt_is_the_same_for_all_pairs_of_two_languages() -> None:
    first, second = (prompts.load("compare").render(source_language="X", target_language="Y", item=i) for i in "12")
    assert first[0] == second[0]
    assert [message["content"] for message in (first[1], second[1])] == ["1", "2"]
