"""Every reply of the corpus is read rightly: its value, or nothing where nobody could say which value is meant."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.provider.names import Unusable
from resources.provider.reading import Outcome, Reading
from tests.provider.reply_corpus import KINDS, UNREAD, Given, corpus


def read(reply: Given) -> object:
    try:
        return KINDS[reply.study].read(reply.reading)
    except Unusable:
        return UNREAD


@pytest.mark.parametrize("study", KINDS)
def test_every_reply_of_a_study_is_read_rightly(study: str) -> None:
    replies = [reply for reply in corpus() if reply.study == study]
    assert {reply.form: read(reply) for reply in replies} == {reply.form: reply.right for reply in replies}
    assert len({reply.form for reply in replies}) == len(replies)
    counts = Counter(reply.right == UNREAD for reply in replies)
    assert counts[True] > 20 < counts[False]


@given(st.sampled_from(sorted(KINDS)), st.text(), st.sampled_from(Outcome), st.sampled_from(["stop", ""]))
def test_no_text_makes_the_reader_fail(study: str, text: str, outcome: Outcome, finish: str) -> None:
    kind = KINDS[study]
    good = json.dumps(kind.good, ensure_ascii=False)
    for frame in ("{}", "{{{}", '{{"answer": {}}}', "<think>{}", "{}</think>", "```{}```", "“{}"):
        for content in (text, f"{text}{good}", f"{good}{text}"):
            reply = Given(study, "any", frame.format(content), UNREAD, outcome, finish)
            assert read(reply) is not None


@pytest.mark.parametrize("study", KINDS)
@pytest.mark.parametrize(
    "text",
    ["{'a': {'b': 'c'}}", '{"a": ' + "9" * 5000 + ",}", "{'answer': " * 300, "[" * 100_000, '{"label": ' * 30_000,
     '{"a": {' * 900 + "}" * 1800, "<think>" * 10_000, "｛" * 10_000, "“" * 20_000, "A " * 20_000],
    ids=["nested single quotes", "thousands of digits", "Python without end", "lists", "objects", "deep objects",
         "thoughts", "full-width signs", "quotation marks", "letters"],
)  # fmt: skip
def test_hostile_texts_are_unusable_in_words(study: str, text: str) -> None:
    for outcome in (Outcome.ANSWERED, Outcome.LENGTH):
        with pytest.raises(Unusable):
            KINDS[study].read(Reading(outcome, text, finish="stop"))
