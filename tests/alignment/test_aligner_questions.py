"""Batches of segments put to a model that answers badly: every segment ends with its own text, with null, or with the
reason why neither.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.alignment.aligner_questions import (
    LARGEST,
    SMALLEST,
    TRIES,
    AlignmentTask,
    AlignmentWork,
    Extracted,
    ModelAligner,
    SourceSegment,
    align,
    batches,
)
from benchmark_assets.corpus.model import passage_of
from resources import prompts
from resources.errors import BadInput
from resources.home import PROJECT
from resources.provider.client import opened
from resources.provider.ledger import Ledger
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from tests.provider.server import Server
from tests.provider.support import NO_BUDGET, model

PROSE = 'The $sea is wide.\n\nThe crow said: "Caw \\ caw." And it flew off {east} over the sea…'
SEGMENTS = {
    "d1:1.1": SourceSegment("Mare latum est.", "Wide is the sea."),
    "d1:1.2": SourceSegment("Cornix dixit.", None),
    "d1:1.3": SourceSegment("Nihil respondit.", "No answer came."),
    "d1:2.1": SourceSegment("Ad orientem volavit.", ""),
}
FIRST, SECOND, THIRD, LAST = SEGMENTS
ALL = list(SEGMENTS)
RIGHT = {
    FIRST: "The $sea is wide.", SECOND: 'The crow said: "Caw \\ caw."', THIRD: None, LAST: "And it flew off {east}",
}  # fmt: skip


def task(server: Server, **endpoint: str) -> AlignmentTask:
    return AlignmentTask(model(server.url, endpoint, temperature=1), prompts.load("align"), "Latin", "English", PROSE)


def aligned(server: Server, ledger: Ledger, **settings: Any) -> dict[str, Extracted]:
    """What came of the batch, by segment, where the server answers rightly but for its settings."""
    server.configure(answers=RIGHT | settings.pop("answers", {}), **settings)

    async def ask() -> list[Extracted]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            return await align(client.ask, task(server), SEGMENTS)

    found = asyncio.run(ask())
    assert [each.segment for each in found] == ALL
    assert not any(each.error and each.text for each in found)
    return {each.segment: each for each in found}


def texts(found: Mapping[str, Extracted]) -> dict[str, str | None]:
    """The texts, where nothing failed."""
    assert {each.error for each in found.values()} == {None}
    return {key: each.text for key, each in found.items()}


def parsings(found: Mapping[str, Extracted]) -> list[str | None]:
    return [found[key].parsing for key in ALL]


def asked(server: Server) -> list[list[str]]:
    """The keys of each request."""
    return [seen.keys for seen in server.log()]


def test_a_good_reply_is_taken_as_it_stands_and_null_is_an_answer(server: Server, ledger: Ledger) -> None:
    found = aligned(server, ledger)
    assert texts(found) == RIGHT
    assert parsings(found) == ["strict"] * 4
    assert asked(server) == [ALL]
    (key,) = ledger.attempts()["key"]
    assert {each.call for each in found.values()} == {key}
    assert ledger.attempts()["purpose"].to_list() == ["align"]


def test_a_good_reply_is_asked_for_once_in_all_runs(server: Server, ledger: Ledger) -> None:
    assert aligned(server, ledger) == aligned(server, ledger)
    assert asked(server) == [ALL]


def test_a_blank_text_is_null(server: Server, ledger: Ledger) -> None:
    assert texts(aligned(server, ledger, answers={SECOND: " \n"})) == {**RIGHT, SECOND: None}
    assert asked(server) == [ALL]


@pytest.mark.parametrize("fault", ["missing_key", "renamed_key", "wrong_type", "duplicate_key"])
def test_of_a_reply_that_spoils_one_key_only_this_one_is_asked_for_again(
    server: Server, ledger: Ledger, fault: str
) -> None:
    assert texts(aligned(server, ledger, script=[fault])) == RIGHT
    assert asked(server) == [ALL, [LAST]]


def test_an_id_that_nobody_asked_for_is_left_out(server: Server, ledger: Ledger) -> None:
    assert texts(aligned(server, ledger, script=["extra_key"])) == RIGHT
    assert asked(server) == [ALL]


@pytest.mark.parametrize("fault", ["fenced", "trailing_comma"])
def test_a_whole_object_that_is_no_strict_json_is_repaired_and_marked(
    server: Server, ledger: Ledger, fault: str
) -> None:
    found = aligned(server, ledger, script=[fault])
    assert texts(found) == RIGHT
    assert parsings(found) == ["repaired"] * 4


@pytest.mark.parametrize(("cut_at", "whole"), [(0.35, 1), (0.6, 2), (0.75, 3)])
def test_of_a_reply_that_reaches_the_limit_what_was_complete_is_taken_and_the_rest_asked_for(
    server: Server, ledger: Ledger, cut_at: float, whole: int
) -> None:
    found = aligned(server, ledger, script=["length"], cut_at=cut_at)
    assert texts(found) == RIGHT
    assert parsings(found) == ["prefix"] * whole + ["strict"] * (4 - whole)
    assert asked(server) == [ALL, ALL[whole:]]


def test_a_reply_that_reaches_the_limit_with_nothing_complete_is_asked_for_in_halves(
    server: Server, ledger: Ledger
) -> None:
    assert texts(aligned(server, ledger, script=["length"], cut_at=0.1)) == RIGHT
    assert asked(server) == [ALL, [FIRST, SECOND], [THIRD, LAST]]


def test_where_every_reply_reaches_the_limit_the_questions_come_to_an_end(server: Server, ledger: Ledger) -> None:
    found = aligned(server, ledger, rates={"length": 1}, cut_at=0.05)
    assert all("cut off (length)" in str(each.error) for each in found.values())
    assert asked(server) == [ALL, [FIRST, SECOND], [FIRST], [SECOND], [THIRD, LAST], [THIRD], [LAST]]


@pytest.mark.parametrize(
    ("fault", "reason"), [("refusal", "I cannot help with that."), ("content_filter", "stopped by a content filter")]
)
def test_a_refusal_is_the_error_of_every_segment_and_is_kept(
    server: Server, ledger: Ledger, fault: str, reason: str
) -> None:
    found = aligned(server, ledger, by_key={SECOND: fault})
    assert {each.error for each in found.values()} == {f"refused: {reason}"}
    assert aligned(server, ledger) == found
    assert asked(server) == [ALL]


@pytest.mark.parametrize(("fault", "reason"), [("bad_request", "rejected"), ("context_length", "context length is")])
def test_a_call_that_fails_is_the_error_of_every_segment_until_the_next_run(
    server: Server, ledger: Ledger, fault: str, reason: str
) -> None:
    found = aligned(server, ledger, script=[fault])
    assert all(reason in str(each.error) for each in found.values())
    assert asked(server) == [ALL]
    assert texts(aligned(server, ledger)) == RIGHT
    assert asked(server) == [ALL, ALL]


@pytest.mark.parametrize("fault", ["prose", "cut_with_stop"])
def test_a_reply_of_which_nothing_can_be_taken_is_asked_for_a_few_times(
    server: Server, ledger: Ledger, fault: str
) -> None:
    assert texts(aligned(server, ledger, script=[fault] * (TRIES - 1))) == RIGHT
    assert asked(server) == [ALL] * TRIES


def test_replies_of_which_nothing_can_ever_be_taken_are_an_error_with_the_reason(
    server: Server, ledger: Ledger
) -> None:
    found = aligned(server, ledger, rates={"prose": 1})
    assert all("no JSON" in str(each.error) for each in found.values())
    assert asked(server) == [ALL] * TRIES


@pytest.mark.parametrize(("fault", "reason"), [("missing_key", "keys missing: ['d1:2.1']"), ("wrong_type", "neither")])
def test_a_segment_that_is_never_answered_leaves_the_others_their_texts(
    server: Server, ledger: Ledger, fault: str, reason: str
) -> None:
    found = aligned(server, ledger, by_key={LAST: fault})
    assert reason in str(found.pop(LAST).error)
    assert texts(found) == {key: RIGHT[key] for key in (FIRST, SECOND, THIRD)}
    assert asked(server) == [ALL, *[[LAST]] * TRIES]


def test_a_stop_amid_a_batch_keeps_what_was_answered_before(server: Server, ledger: Ledger) -> None:
    found = aligned(server, ledger, script=["missing_key", "no_credit"])
    assert "no credit" in str(found.pop(LAST).error)
    assert texts(found) == {key: RIGHT[key] for key in (FIRST, SECOND, THIRD)}


def test_a_question_holds_sources_and_the_guides_that_there_are(server: Server) -> None:
    system, user = task(server).question(SEGMENTS).messages
    assert json.loads(user["content"]) == {
        FIRST: {"source": "Mare latum est.", "guide": "Wide is the sea."}, SECOND: {"source": "Cornix dixit."},
        THIRD: {"source": "Nihil respondit.", "guide": "No answer came."}, LAST: {"source": "Ad orientem volavit."},
    }  # fmt: skip
    assert f"\n{PROSE}\n" in system["content"]
    assert "from Latin into English" in system["content"]


def test_an_endpoint_that_keeps_to_a_schema_may_answer_text_or_null(server: Server) -> None:
    schema = task(server, structured="schema").question(SEGMENTS).body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ALL
    assert list(schema["properties"]) == ALL
    assert all(value["type"] == ["string", "null"] for value in schema["properties"].values())


def test_the_example_in_the_prompt_is_json_with_a_text_and_a_null() -> None:
    text = yaml.safe_load((PROJECT / "prompts" / "align.yaml").read_text())["system"]
    example = next(line for line in text.splitlines() if "{" in line)
    assert set(json.loads(example[example.index("{") :]).values()) == {"…", None}


def test_an_edited_prompt_needs_a_new_version() -> None:
    # Where this fails, raise `version` in prompts/align.yaml and put the new hash here.
    assert (
        prompts.load("align").digest(source_language="Latin", target_language="English")
        == "9ddd99afdccf50430318368c1e0758dd"
    )


def ids(sizes: Sequence[int]) -> list[str]:
    """Segments of passages of these sizes."""
    return [f"d1:{passage}.{segment}" for passage, size in enumerate(sizes) for segment in range(size)]


def inner(segments: Sequence[str], cut: Sequence[Sequence[str]]) -> int:
    """Cuts within a passage."""
    return sum(passage_of(before[-1]) == passage_of(after[0]) for before, after in pairwise(cut))


@given(st.lists(st.integers(1, 50), max_size=30))
def test_batches_hold_all_segments_in_order_and_are_neither_small_nor_large(sizes: list[int]) -> None:
    segments = ids(sizes)
    cut = batches(segments)
    assert [segment for batch in cut for segment in batch] == segments
    assert all(len(batch) <= LARGEST for batch in cut)
    assert len(cut) <= 1 or all(len(batch) >= SMALLEST for batch in cut)


@given(st.lists(st.integers(1, 9), min_size=4).map(ids).filter(lambda segments: LARGEST < len(segments) <= 75))
def test_no_other_cut_spares_more_passages_or_as_many_with_fewer_batches(segments: list[str]) -> None:
    best = min(
        (inner(segments, parts), number)
        for number in range(2, 6)
        for lengths in product(range(SMALLEST, LARGEST + 1), repeat=number - 1)
        if SMALLEST <= len(segments) - sum(lengths) <= LARGEST
        for parts in [parted(segments, lengths)]
    )
    cut = batches(segments)
    assert (inner(segments, cut), len(cut)) == best


def parted(segments: Sequence[str], lengths: Sequence[int]) -> list[Sequence[str]]:
    """The segments in parts of these lengths, and one of what is left."""
    ends = [sum(lengths[:number]) for number in range(len(lengths) + 1)]
    return [segments[start:end] for start, end in zip(ends, [*ends[1:], len(segments)], strict=True)]


LONG = ids([10, 12, 9, 14, 8, 11, 13])
"""Segments of a document that is asked for in several batches."""


def work(document: str = "d1", asked: Sequence[str] | None = None, blank: str = "") -> AlignmentWork:
    """A long document, all of it asked for unless a part is named; the source of one of its segments may be blank."""
    segments = {key: SourceSegment(" " if key == blank else f"Sententia {key}.", f"Sentence {key}.") for key in LONG}
    prose = f"The prose of {document}. " + " ".join(f"Phrase {key}." for key in LONG)
    return AlignmentWork(document, "ann", "la", "en", prose, segments, LONG if asked is None else asked)


class Deployment:
    """A registry with one aligner at the server, and a ledger."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        server.configure(answers={key: f"Phrase {key}." for key in LONG}, keep_bodies=True)

    def aligner(self, *, budget: dict[str, float] | None = None, key: str = "", **settings: Any) -> ModelAligner:
        entry = {"endpoint": "server", "id": "m", "price": {"input": 1, "output": 2}, **settings}
        content = {
            "endpoints": {"server": {"url": self.server.url, "key": key}}, "aligners": {"ours": entry},
            "embedders": {"minilm": {}}, "embedder": "minilm", "budget": budget or {},
        }  # fmt: skip
        path = self.folder / "models.yaml"
        path.write_text(json.dumps(content), encoding="utf-8")
        provider = Provider(registry_path=str(path), ledger_path=str(self.folder / "ledger.sqlite"))
        return ModelAligner(provider, provider.model("ours"))

    def paid(self) -> float:
        return float(SqliteLedger(self.folder / "ledger.sqlite").attempts()["cost"].sum())


@pytest.fixture
def deployment(tmp_path: Path, server: Server) -> Deployment:
    return Deployment(tmp_path, server)


def found(results: Mapping[tuple[str, str], Sequence[Extracted]], document: str = "d1") -> dict[str, str | None]:
    return {each.segment: each.text for each in results[document, "ann"]}


def test_translations_are_aligned_batch_by_batch_and_never_paid_twice(deployment: Deployment, server: Server) -> None:
    works = [work("d1"), work("d2")]
    results = deployment.aligner().align(works, "run")
    assert list(results) == [("d1", "ann"), ("d2", "ann")]
    for document in ("d1", "d2"):
        assert found(results, document) == {key: f"Phrase {key}." for key in LONG}
        assert [each.segment for each in results[document, "ann"]] == LONG
    assert sorted(asked(server)) == sorted(2 * batches(LONG))
    paid = deployment.paid()
    assert deployment.aligner().align(works, "another run") == results
    assert len(server.log()) == 2 * len(batches(LONG))
    assert deployment.paid() == paid > 0


def test_the_batches_of_a_translation_are_alike_but_for_what_comes_last(deployment: Deployment, server: Server) -> None:
    one = work()
    deployment.aligner().align([one], "run")
    bodies = [seen.body or {} for seen in server.log()]
    assert len(bodies) == len(batches(LONG)) > 2
    alike = [{**body, "messages": body["messages"][:-1]} for body in bodies]
    assert all(each == alike[0] for each in alike)
    assert [one.prose in message["content"] for message in bodies[0]["messages"]] == [True, False]


def test_the_first_batch_of_a_translation_is_answered_before_the_others_are_asked_for(
    deployment: Deployment, server: Server
) -> None:
    latency = 0.5
    server.configure(latency=latency, keep_bodies=True)
    deployment.aligner().align([work("d1"), work("d2")], "run")
    assert [seen.keys for seen in server.log()[:2]] == [batches(LONG)[0]] * 2, "translations wait for one another"
    for document in ("d1", "d2"):
        first, *others = [seen for seen in server.log() if f"prose of {document}." in str(seen.body)]
        assert len(others) == len(batches(LONG)) - 1
        assert all(seen.arrived > first.arrived + latency for seen in others)


def test_only_the_batches_that_hold_what_is_asked_for_are_sent(deployment: Deployment, server: Server) -> None:
    last = batches(LONG)[-1]
    results = deployment.aligner().align([work(asked=[last[3], last[0]])], "run")
    assert found(results) == {last[3]: f"Phrase {last[3]}.", last[0]: f"Phrase {last[0]}."}
    assert [each.segment for each in results["d1", "ann"]] == [last[3], last[0]]
    assert asked(server) == [last]


def test_nothing_asked_for_is_nothing_asked(deployment: Deployment, server: Server) -> None:
    assert deployment.aligner().align([work(asked=[])], "run") == {("d1", "ann"): []}
    assert deployment.aligner().align([], "run") == {}
    assert asked(server) == []


def test_a_segment_without_a_source_text_is_null_and_not_sent(deployment: Deployment, server: Server) -> None:
    results = deployment.aligner().align([work(blank=LONG[1])], "run")
    assert results["d1", "ann"][1] == Extracted(LONG[1])
    assert [key for batch in sorted(asked(server)) for key in batch] == [key for key in LONG if key != LONG[1]]


def test_a_batch_that_fails_is_an_error_and_the_only_one_asked_for_again(
    deployment: Deployment, server: Server
) -> None:
    last = batches(LONG)[-1]
    server.configure(by_key={last[2]: "bad_request"})
    results = deployment.aligner().align([work()], "run")["d1", "ann"]
    failed = [each.segment for each in results if each.error]
    assert failed == last
    server.configure()
    server.clear()
    again = deployment.aligner().align([work(asked=failed)], "another run")["d1", "ann"]
    assert [each.segment for each in again if each.text] == last
    assert asked(server) == [last]


def test_a_spent_budget_is_the_error_of_the_segments_that_it_leaves_unasked(
    deployment: Deployment, server: Server
) -> None:
    first = deployment.aligner(max_tokens=2000).estimate([work(asked=LONG[:1])]).most
    assert first is not None
    aligner = deployment.aligner(max_tokens=2000, in_flight=1, budget={"run": 1.01 * first})
    results = aligner.align([work()], "run")["d1", "ann"]
    stopped = [each.segment for each in results if each.error]
    assert all("the budget of run" in str(each.error) for each in results if each.error)
    assert asked(server) == batches(LONG)[:1]
    assert stopped == [key for batch in batches(LONG)[1:] for key in batch]


def test_an_estimate_bounds_what_is_paid_and_is_nothing_once_it_is(deployment: Deployment) -> None:
    works = [work("d1"), work("d2", asked=LONG[:1])]
    before = deployment.aligner().estimate(works)
    assert (before.calls, before.recorded) == (len(batches(LONG)) + 1, 0)
    assert before.about is not None
    assert before.most is not None
    deployment.aligner().align(works, "run")
    assert 0 < deployment.paid() < before.most
    assert 0 < before.about < before.most
    after = deployment.aligner().estimate(works)
    assert after[:4] == (before.calls, before.calls, 0, 0)


def test_a_fingerprint_is_of_what_determines_the_answers(deployment: Deployment) -> None:
    first = deployment.aligner().fingerprint("la", "en")
    assert deployment.aligner(price={"input": 5, "output": 5}, in_flight=2).fingerprint("la", "en") == first
    others = {
        deployment.aligner().fingerprint("pi", "en"), deployment.aligner().fingerprint("la", "de"),
        deployment.aligner(temperature=0.3).fingerprint("la", "en"), deployment.aligner(id="n").fingerprint("la", "en"),
    }  # fmt: skip
    assert len(others | {first}) == 5


def test_an_aligner_without_its_key_cannot_be_asked(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(BadInput, match="NO_SUCH_KEY"):
        deployment.aligner(key="NO_SUCH_KEY").align([work()], "run")
