"""One judge, one aspect, two translations, at a real server: what is asked, and what counts as an answer."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.description import ASPECTS
from benchmark_assets.literary.ensemble import Preference, read_preference, shown, versus
from benchmark_assets.translation.systems import language_names
from resources import prompts
from resources.provider.asking import Verdict, insist
from resources.provider.client import opened
from resources.provider.ledger import Ledger
from tests.provider.server import Server
from tests.provider.support import NO_BUDGET, model

TERM = {"term": "清", "translation": "Kiyo", "gender": "feminine"}
CONTEXT = {"previous": "前", "source": "清は泣いた。", "next": "後", "glossary": [TERM]}


def preferred(server: Server, ledger: Ledger, *aspects: str) -> list[Verdict[Preference]]:
    async def ask() -> list[Verdict[Preference]]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            template = versus(model(server.url, temperature=1), language_names("ja", "en"))
            items = [shown(CONTEXT, "Kiyo cried.", "Kiyo wept.", aspect) for aspect in aspects]
            return [await insist(client.ask, template, item) for item in items]

    return asyncio.run(ask())


def test_the_judge_sees_source_context_glossary_texts_and_aspect_and_nothing_else(
    server: Server, ledger: Ledger
) -> None:
    server.configure(answer="judge", keep_bodies=True)
    preferred(server, ledger, *ASPECTS)
    bodies = [seen.body["messages"] for seen in server.log() if seen.body]
    items = [json.loads(messages[-1]["content"]) for messages in bodies]
    assert items[0] == {
        "previous": "前", "source": "清は泣いた。", "next": "後", "glossary": [TERM],
        "translation_a": "Kiyo cried.", "translation_b": "Kiyo wept.", "aspect": "meaning",
    }  # fmt: skip
    assert [item["aspect"] for item in items] == list(ASPECTS)
    assert len({messages[0]["content"] for messages in bodies}) == 1  # which a provider keeps between requests
    assert "from Japanese into English" in bodies[0][0]["content"]
    shared = [messages[-1]["content"].partition('"aspect"')[0] for messages in bodies]
    assert len(set(shared)) == 1  # the item up to the aspect, too


def test_the_prompt_says_what_each_aspect_is() -> None:
    system = prompts.load("versus").system
    assert all(f"\n- {aspect}: " in system for aspect in ASPECTS)


@given(st.sampled_from(["A", "B", "unsure"]), st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_preferences_are_read_as_they_stand(better: str, justification: str) -> None:
    assert read_preference({"better": better, "justification": justification}) == (better, justification.strip())
    assert read_preference({"better": better, "justification": None}) == (better, "")


@pytest.mark.parametrize("better", ["a", "Unsure", "AB", "", None, True, ["A"]])
def test_other_words_are_no_preference(better: Any) -> None:
    with pytest.raises(ValueError, match="is not A, B or unsure"):
        read_preference({"better": better})
