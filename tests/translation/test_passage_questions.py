"""Batches of passages put to a model that answers badly: every passage ends with its own text, or with the reason why
not.
"""

import asyncio
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from benchmark_assets.translation.passage_questions import TRIES, Output, translate, translating
from benchmark_assets.translation.systems import language_names
from resources import prompts
from resources.provider.asking import TRIES_OF_LENGTH
from resources.provider.breaker import MOST_BATCHES
from resources.provider.client import opened
from resources.provider.ledger import Ledger
from tests.provider.server import Server
from tests.provider.support import NO_BUDGET, model

PASSAGES = {
    "mn1:1": 'Evaṁ me sutaṁ: "ekaṁ samayaṁ".',
    "mn1:2": "Arma {virumque} cano,\nTroiae.",
    "mn1:3": "學而時習之,不亦說乎?",
    "mn1:4": "Mus currit \\ felis sedet.",
}
FIRST, SECOND, THIRD, LAST = PASSAGES
ALL = list(PASSAGES)
RIGHT = {key: f"EN: {text}" for key, text in PASSAGES.items()}
MANY = {f"{key} {i}": text for i in range(4) for key, text in PASSAGES.items()}


def translated(server: Server, ledger: Ledger, passages: Mapping[str, str] = PASSAGES) -> dict[str, Output]:
    """Outputs of one batch, by passage; there is exactly one for each."""
    template = translating(model(server.url, temperature=1), prompts.load("translate"), language_names("la", "en"))

    async def ask() -> list[Output]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            return await translate(client.ask, template, passages)

    outputs = asyncio.run(ask())
    assert sorted(output.passage for output in outputs) == sorted(passages)
    assert {output.batch for output in outputs} == {next(iter(passages))}
    return {output.passage: output for output in outputs}


def texts(outputs: Mapping[str, Output]) -> dict[str, str | None]:
    return {key: output.text for key, output in outputs.items()}


def parsings(outputs: Mapping[str, Output]) -> list[str | None]:
    return [outputs[key].parsing for key in ALL]


def asked(server: Server) -> list[list[str]]:
    """The keys of each request."""
    return [seen.keys for seen in server.log()]


def test_a_good_reply_is_taken_as_it_stands(server: Server, ledger: Ledger) -> None:
    outputs = translated(server, ledger)
    assert texts(outputs) == RIGHT
    assert parsings(outputs) == ["strict"] * 4
    assert asked(server) == [ALL]
    (key,) = ledger.attempts()["key"]
    assert {output.call for output in outputs.values()} == {key}


def test_translations_under_each_others_keys_are_asked_for_alone(server: Server, ledger: Ledger) -> None:
    server.configure(script=["swapped_keys"])
    outputs = translated(server, ledger)
    assert texts(outputs) == RIGHT
    assert asked(server) == [ALL, [FIRST], [LAST]]
    assert len({output.call for output in outputs.values()}) == 3
    assert translated(server, ledger) == outputs
    assert len(server.log()) == 3  # the next run finds all three replies


def test_a_suspicion_loses_no_output(server: Server, ledger: Ledger) -> None:
    server.configure(script=["swapped_keys", "refusal", "bad_request"])
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, FIRST: RIGHT[LAST], LAST: RIGHT[FIRST]}
    assert {output.error for output in outputs.values()} == {None}


def test_a_good_reply_is_asked_for_once_in_all_runs(server: Server, ledger: Ledger) -> None:
    assert translated(server, ledger) == translated(server, ledger)
    assert asked(server) == [ALL]


@pytest.mark.parametrize("fault", ["missing_key", "renamed_key", "wrong_type", "null_value", "duplicate_key"])
def test_of_a_reply_that_spoils_one_key_only_this_one_is_asked_for_again(
    server: Server, ledger: Ledger, fault: str
) -> None:
    server.configure(script=[fault])
    outputs = translated(server, ledger)
    assert texts(outputs) == RIGHT
    assert parsings(outputs) == ["strict"] * 4
    assert asked(server) == [ALL, [LAST]]


def test_a_key_that_nobody_asked_for_is_left_out(server: Server, ledger: Ledger) -> None:
    server.configure(script=["extra_key"])
    outputs = translated(server, ledger)
    assert texts(outputs) == RIGHT
    assert parsings(outputs) == ["strict"] * 4
    assert asked(server) == [ALL]


@pytest.mark.parametrize("fault", ["fenced", "trailing_comma"])
def test_a_whole_object_that_is_no_strict_json_is_repaired_and_marked(
    server: Server, ledger: Ledger, fault: str
) -> None:
    server.configure(script=[fault])
    outputs = translated(server, ledger)
    assert texts(outputs) == RIGHT
    assert parsings(outputs) == ["repaired"] * 4
    assert asked(server) == [ALL]


def test_bare_quotes_are_part_of_the_text(server: Server, ledger: Ledger) -> None:
    server.configure(script=["bare_quotes"])
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, LAST: f'{RIGHT[LAST]} and he said "so be it" and left'}
    assert parsings(outputs) == ["repaired"] * 4
    assert asked(server) == [ALL]


@pytest.mark.parametrize("fault", ["prose", "cut_with_stop"])
def test_a_reply_of_which_nothing_can_be_taken_is_asked_for_in_halves(
    server: Server, ledger: Ledger, fault: str
) -> None:
    server.configure(script=[fault])
    outputs = translated(server, ledger)
    assert texts(outputs) == RIGHT
    assert parsings(outputs) == ["strict"] * 4
    assert asked(server) == [ALL, [FIRST, SECOND], [THIRD, LAST]]


@pytest.mark.parametrize("number", [1, 2])
def test_a_reply_that_ends_early_behind_a_brace_is_not_taken_for_whole(
    server: Server, ledger: Ledger, number: int
) -> None:
    passages = {f"mn1:{each}": "Arma virumque {sic} cano, Troiae qui primus ab oris." for each in range(number)}
    right = {key: f"EN: {text}" for key, text in passages.items()}
    whole = json.dumps(right)
    server.configure(script=["cut_with_stop"], cut_at=(whole.rindex("sic}") + 4.5) / len(whole))
    assert texts(translated(server, ledger, passages)) == right


def test_a_key_that_occurs_twice_counts_as_missing_in_a_fenced_reply_too(ledger: Ledger, tmp_path: Path) -> None:
    recording = tmp_path / "recording.jsonl"
    template = translating(model("", {"recording": recording}), prompts.load("translate"), language_names("la", "en"))
    passages = {"mn1:1": "Arma"}
    lines = []
    for replicate, content in enumerate(
        ['```json\n{"mn1:1": "Arms", "mn1:1": "Weapons"}\n```', '{"mn1:1": "Of arms"}']
    ):
        choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        key = template(passages).question(passages, replicate).recording_key
        lines.append(json.dumps({"key": key, "status": 200, "body": json.dumps({"choices": [choice]})}))
    recording.write_text("\n".join(lines), encoding="utf-8")

    async def ask() -> list[Output]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            return await translate(client.ask, template, passages)

    assert [output.text for output in asyncio.run(ask())] == ["Of arms"]


@pytest.mark.parametrize("cut_at", [0.35, 0.5, 0.65, 0.8, 0.95])
@pytest.mark.parametrize("fault", ["length", "cut", "cut_chunked"])
def test_of_a_reply_that_breaks_off_what_was_complete_is_taken_and_the_rest_asked_for(
    server: Server, ledger: Ledger, fault: str, cut_at: float
) -> None:
    server.configure(script=[fault], cut_at=cut_at)
    outputs = translated(server, ledger)
    assert texts(outputs) == RIGHT
    whole = parsings(outputs).count("prefix")
    assert parsings(outputs) == ["prefix"] * whole + ["strict"] * (4 - whole)
    if whole:
        assert asked(server) == [ALL, ALL[whole:]] if whole < 4 else [ALL]


def test_where_several_replies_break_off_nothing_is_asked_for_twice(server: Server, ledger: Ledger) -> None:
    passages = {f"mn1:{number}": f"Sententia {number}." for number in range(16)}
    server.configure(script=["length", "cut", "length"], cut_at=0.55)
    outputs = translated(server, ledger, passages)
    assert texts(outputs) == {key: f"EN: {text}" for key, text in passages.items()}
    parts = asked(server)
    assert len(parts) == 4
    for before, after in pairwise(parts):
        assert after == before[-len(after) :]
        assert len(after) < len(before)


@pytest.mark.parametrize("fault", ["refusal", "content_filter"])
def test_a_passage_that_is_refused_alone_is_a_refusal_and_the_others_have_their_texts(
    server: Server, ledger: Ledger, fault: str
) -> None:
    server.configure(by_key={THIRD: fault})
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, THIRD: None}
    words = "I cannot help with that." if fault == "refusal" else "stopped by a content filter"
    assert (outputs[THIRD].refusal, outputs[THIRD].error) == (words, None)
    assert asked(server) == [ALL, [FIRST, SECOND], [THIRD, LAST], [THIRD], [LAST]]


def test_a_refusal_is_kept_as_the_reply_that_it_is(server: Server, ledger: Ledger) -> None:
    server.configure(by_key={THIRD: "refusal"})
    first = translated(server, ledger)
    server.configure()
    assert translated(server, ledger) == first
    assert len(asked(server)) == 5


def test_a_batch_that_is_too_long_for_the_model_is_asked_for_in_halves(server: Server, ledger: Ledger) -> None:
    server.configure(script=["context_length"])
    assert texts(translated(server, ledger)) == RIGHT
    assert asked(server) == [ALL, [FIRST, SECOND], [THIRD, LAST]]


def test_a_passage_that_is_too_long_for_the_model_is_an_error_that_says_so(server: Server, ledger: Ledger) -> None:
    server.configure(by_key={THIRD: "context_length"})
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, THIRD: None}
    assert outputs[THIRD].refusal is None
    assert "maximum context length" in str(outputs[THIRD].error)
    assert asked(server).count([THIRD]) == 1


def test_a_passage_whose_translation_exceeds_the_limit_is_an_error_that_says_so(server: Server, ledger: Ledger) -> None:
    server.configure(by_key={FIRST: "length"}, cut_at=0.2)
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, FIRST: None}
    assert outputs[FIRST].refusal is None
    assert "cut off (length)" in str(outputs[FIRST].error)
    assert asked(server).count([FIRST]) == TRIES_OF_LENGTH


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("prose", "no JSON"),
        ("cut_with_stop", "no JSON"),
        ("renamed_key", "keys missing: ['mn1:4'], keys not asked for: ['mn1:4_en']"),
        ("duplicate_key", "the key 'mn1:4' occurs twice"),
        ("wrong_type", "not a string"),
        ("null_value", "not a string"),
    ],
)
def test_a_passage_that_is_never_translated_is_asked_for_a_few_times_and_is_an_error_with_the_reason(
    server: Server, ledger: Ledger, fault: str, reason: str
) -> None:
    server.configure(by_key={LAST: fault})
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, LAST: None}
    assert outputs[LAST].refusal is None
    assert reason in str(outputs[LAST].error)
    assert asked(server).count([LAST]) == TRIES


def test_an_empty_translation_is_none(server: Server, ledger: Ledger) -> None:
    server.configure(answers={SECOND: " \n"})
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, SECOND: None}
    assert "empty" in str(outputs[SECOND].error)
    assert asked(server) == [ALL, *[[SECOND]] * TRIES]


def test_a_passage_that_is_translated_at_the_last_try_has_its_text(server: Server, ledger: Ledger) -> None:
    server.configure(by_key={LAST: "null_value"}, by_key_times=TRIES)
    assert texts(translated(server, ledger)) == RIGHT


def test_a_passage_for_which_calls_fail_fails_alone(server: Server, ledger: Ledger) -> None:
    server.configure(by_key={FIRST: "bad_request"})
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, FIRST: None}
    assert "rejected" in str(outputs[FIRST].error)


@pytest.mark.parametrize("fault", ["bad_request", "prose"])
def test_of_useless_replies_some_to_batches_and_some_to_single_passages_are_paid(
    server: Server, ledger: Ledger, fault: str
) -> None:
    server.configure(rates={fault: 1})
    outputs = translated(server, ledger, MANY)
    sizes = [len(keys) for keys in asked(server)]
    assert sizes == [16, 8, 8, 4, 4, 4, 4, 2, 2, 2, *[1] * 4]
    assert set(outputs) == set(MANY)
    assert all("14 calls in a row" in str(output.error) for output in list(outputs.values())[-10:])


def test_a_model_that_answers_single_passages_only_gets_few_batches(server: Server, ledger: Ledger) -> None:
    server.configure(script=["prose"] * MOST_BATCHES)
    outputs = translated(server, ledger, MANY)
    assert texts(outputs) == {key: f"EN: {text}" for key, text in MANY.items()}
    assert [len(keys) for keys in asked(server)][MOST_BATCHES:] == [1] * len(MANY)


def test_a_stop_amid_a_batch_keeps_what_was_translated_before(server: Server, ledger: Ledger) -> None:
    server.configure(script=["missing_key", "no_credit"])
    outputs = translated(server, ledger)
    assert texts(outputs) == {**RIGHT, LAST: None}
    assert "no credit" in str(outputs[LAST].error)
    assert asked(server) == [ALL, [LAST]]
    server.configure()
    assert texts(translated(server, ledger)) == RIGHT
    assert asked(server) == [ALL, [LAST], [LAST]]
