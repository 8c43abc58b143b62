"""Stored replies that earlier versions could not read: used ones stay in use, lost ones are read, at no cost."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.alignment.aligner_questions import TRIES as ALIGN_TRIES
from benchmark_assets.alignment.aligner_questions import AlignmentTask, Extracted, SourceSegment, align
from benchmark_assets.pairwise.comparing import Side, comparing
from benchmark_assets.translation.passage_questions import Output, translate, translating
from benchmark_assets.translation.systems import language_names
from resources import prompts
from resources.provider.asking import TRIES, Template, Verdict, insist
from resources.provider.client import CallFailed, NotStored, Reply
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading
from tests.provider.support import model

MODEL = model("http://127.0.0.1:1/v1", temperature=1)
COLD = model("http://127.0.0.1:1/v1", temperature=0)

STRICT = {side: json.dumps({"analysis": "", "summary": "", "answer": side}) for side in "AB"}
TOLERANT = {side: f"<think>A or B?</think>{text} Done." for side, text in STRICT.items()}
NEITHER = "I cannot say."
PAIR = {"source": "Mus.", "translation_a": "A mouse.", "translation_b": "Mice."}

REPLIES = st.lists(st.sampled_from([*STRICT.values(), *TOLERANT.values(), NEITHER]), min_size=1, max_size=TRIES)


class Stored:
    """A ledger with replies, and a model behind it that gives further ones; `paid` are the questions that it was asked.

    Replies are texts, by the key of the question.
    """

    def __init__(self, replies: Mapping[str, str], further: Sequence[str] = ()) -> None:
        self.replies, self._further = dict(replies), list(further)
        self.paid: list[Question] = []

    async def ask(self, question: Question) -> Reply:
        recorded = question.key in self.replies
        if not recorded:
            if question.free:
                raise NotStored
            self.paid.append(question)
            if not self._further:
                raise CallFailed("stopped")
            self.replies[question.key] = self._further.pop(0)
        return Reply(question.key, Reading(Outcome.ANSWERED, self.replies[question.key], finish="stop"), recorded)


def chain(template: Template[Side], texts: Sequence[str]) -> dict[str, str]:
    """Replies to the questions about the pair, in order."""
    return {template.question(PAIR, number).key: text for number, text in enumerate(texts)}


def verdict(stored: Stored, judge: Any = MODEL) -> Verdict[Side]:
    return asyncio.run(insist(stored.ask, comparing(judge, ("la", "en")), PAIR))


def test_a_lost_answer_gets_the_earliest_reply_that_can_be_read_at_no_cost() -> None:
    template = comparing(MODEL, ("la", "en"))
    lost = [NEITHER, TOLERANT["A"], TOLERANT["B"], NEITHER, NEITHER, NEITHER]
    stored = Stored(chain(template, lost))
    found = verdict(stored)
    assert (found.value, found.call, found.parsing) == ("A", template.question(PAIR, 1).key, "tolerant")
    assert stored.paid == []


def test_a_used_answer_stays_whatever_the_replies_before_it_say() -> None:
    template = comparing(MODEL, ("la", "en"))
    stored = Stored(chain(template, [TOLERANT["A"], TOLERANT["A"], STRICT["B"]]))
    found = verdict(stored)
    assert (found.value, found.call, found.asked, found.parsing) == ("B", template.question(PAIR, 2).key, 3, "strict")
    assert stored.paid == []


def test_a_reply_of_today_is_used_at_once_and_again_in_the_next_run() -> None:
    stored = Stored({}, [NEITHER, TOLERANT["A"], STRICT["B"]])
    found = verdict(stored)
    assert (found.value, found.asked) == ("A", 2)
    assert verdict(stored) == found
    assert len(stored.paid) == 2


def test_an_abstention_whose_replies_nobody_can_read_stays_one_and_costs_nothing() -> None:
    stored = Stored(chain(comparing(MODEL, ("la", "en")), [NEITHER] * TRIES))
    assert verdict(stored).abstention
    assert stored.paid == []


@given(REPLIES)
def test_stored_replies_always_end_the_same_way_and_never_lose_a_used_one(texts: list[str]) -> None:
    # What an earlier version stored: it ended at the first reply that the strict reading can read.
    used = next((number for number, text in enumerate(texts) if text in STRICT.values()), None)
    texts = texts if used is None else texts[: used + 1]
    stored = Stored(chain(comparing(MODEL, ("la", "en")), texts), [STRICT["A"]])
    found = verdict(stored)
    readable = [text for text in texts if text in TOLERANT.values()]
    if used is not None:
        assert json.loads(texts[used])["answer"] == found.value
    elif readable:
        assert found.value == next(side for side in "AB" if TOLERANT[side] == readable[0])
    assert len(stored.paid) == (used is None and not readable and len(texts) < TRIES)
    assert verdict(stored) == found


def test_at_temperature_0_an_equal_reply_ends_the_asking() -> None:
    stored = Stored({}, [NEITHER] * TRIES)
    found = verdict(stored, COLD)
    assert (found.asked, len(stored.paid)) == (2, 2)
    assert found.abstention
    assert verdict(stored, COLD) == found
    assert len(stored.paid) == 2
    differing = Stored({}, [NEITHER, "Neither.", NEITHER, STRICT["A"]])
    assert (verdict(differing, COLD).value, len(differing.paid)) == ("A", 4)


def test_at_temperature_0_a_used_reply_after_equal_ones_stays() -> None:
    stored = Stored(chain(comparing(COLD, ("la", "en")), [NEITHER, NEITHER, STRICT["A"]]))
    assert verdict(stored, COLD).value == "A"
    assert stored.paid == []


# Batches of translation.

PASSAGES = {"d:1": "Arma.", "d:2": "Gallia.", "d:3": "Aurea.", "d:4": "Quo."}
LANGUAGES = language_names("la", "en")
BATCH = translating(MODEL, prompts.load("translate"), LANGUAGES)


def asked(keys: Sequence[str], replicate: int = 0) -> str:
    part = {key: PASSAGES[key] for key in keys}
    return BATCH(part).question(part, replicate).key


def said(*keys: str, words: str = "new", remark: str = "") -> str:
    return json.dumps({key: f"{words} {key}" for key in keys}) + remark


def translated(stored: Stored) -> dict[str, Output]:
    outputs = asyncio.run(translate(stored.ask, BATCH, PASSAGES))
    assert len(outputs) == len(PASSAGES)
    return {output.passage: output for output in outputs}


def test_a_batch_that_can_now_be_read_gives_only_what_its_parts_did_not() -> None:
    replies = {
        asked(list(PASSAGES)): said(*PASSAGES, remark=" Done."),
        asked(["d:1", "d:2"]): said("d:1", "d:2", words="used"),
        asked(["d:3", "d:4"]): NEITHER, asked(["d:3"]): said("d:3", words="used"),
        **{asked(["d:4"], number): NEITHER for number in range(3)},
    }  # fmt: skip
    stored = Stored(replies)
    found = translated(stored)
    words = {key: output.text for key, output in found.items()}
    assert words == {"d:1": "used d:1", "d:2": "used d:2", "d:3": "used d:3", "d:4": "new d:4"}
    assert found["d:4"].parsing == "tolerant"
    assert {output.batch for output in found.values()} == {"d:1"}
    assert stored.paid == []


def test_a_batch_of_today_is_used_at_once_and_again_in_the_next_run() -> None:
    stored = Stored({}, [said(*PASSAGES, remark=" Done.")])
    found = translated(stored)
    assert all(output.text for output in found.values())
    assert translated(stored) == found
    assert len(stored.paid) == 1


def test_the_passages_that_a_newly_read_batch_lacks_are_requested() -> None:
    stored = Stored({asked(list(PASSAGES)): said("d:1", "d:2", remark=" Done.")}, [said("d:3", "d:4", words="asked")])
    assert {output.text for output in translated(stored).values()} == {"new d:1", "new d:2", "asked d:3", "asked d:4"}
    assert len(stored.paid) == 1


# Alignment.

SEGMENTS = {"d:1": SourceSegment("Mare.", None), "d:2": SourceSegment("Cornix.", None)}


def task(judge: Any) -> AlignmentTask:
    return AlignmentTask(judge, prompts.load("align"), "Latin", "English", "Sea. Crow.")


def aligned(stored: Stored, judge: Any = MODEL) -> list[Extracted]:
    return asyncio.run(align(stored.ask, task(judge), SEGMENTS))


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([said(*SEGMENTS, remark=" Done."), said(*SEGMENTS, words="used")], "used"),
        ([NEITHER, said(*SEGMENTS, words="late", remark=" Done."), NEITHER], "late"),
    ],
)
def test_segments_keep_the_texts_of_the_reply_that_was_used(texts: list[str], words: str) -> None:
    stored = Stored({task(MODEL).question(SEGMENTS, number).key: text for number, text in enumerate(texts)})
    assert [each.text for each in aligned(stored)] == [f"{words} {key}" for key in SEGMENTS]
    assert stored.paid == []


def test_at_temperature_0_an_aligner_is_asked_twice_for_the_same_reply() -> None:
    stored, warm = Stored({}, [NEITHER] * 3), Stored({}, [NEITHER] * 3)
    assert all(each.error for each in aligned(stored, COLD))
    assert all(each.error for each in aligned(warm))
    assert (len(stored.paid), len(warm.paid)) == (2, ALIGN_TRIES)
    paid = len(stored.paid)
    aligned(stored, COLD)
    assert len(stored.paid) == paid
