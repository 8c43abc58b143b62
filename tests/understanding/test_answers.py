"""Answers of models at a real server: what is asked, what is stored, what several draws come to, what is paid once."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation.due import due
from benchmark_assets.partitions import range_tags
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding.answers import (
    Located,
    TaskAnswers,
    agreed,
    covered,
    settled,
)
from benchmark_assets.understanding.assets import answer, task_sample
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import Parsed
from benchmark_assets.understanding.task_questions import TaskQuestions
from benchmark_assets.understanding.tasks import import_tasks, read_samples
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.provider.reading import Outcome, Raw, Reading
from resources.provider.registry import Budget
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Replacement, Warehouse
from tests.provider.server import Server, dumps
from tests.understanding.conftest import FORM_LINES, FORMS, SPEECH, SPEECH_LINES, write_task

FORM, WORDS = TaskDescription.model_validate(FORMS), TaskDescription.model_validate(SPEECH)
SUN, EVENING = (line["words"] for line in FORM_LINES["test"])
MICE, NIGHT = (line["body"] for line in SPEECH_LINES["test"])
LABELS = {"m": [dumps({"label": "VERSE"})]}


def spans(*found: tuple[str, str]) -> str:
    return dumps({"prediction": [{"LABEL": kind, "SPAN": text} for kind, text in found]})


class Room:
    """The two tasks in a warehouse, and a model that answers at `url`."""

    def __init__(self, folder: Path, warehouse: Warehouse, url: str) -> None:
        self.folder, self.warehouse, self.url = folder, warehouse, url
        self.registry = folder / "models.yaml"
        self.model()
        for description, lines in ((FORMS, FORM_LINES), (SPEECH, SPEECH_LINES)):
            import_tasks(warehouse, [write_task(folder / "tasks", description, lines)], folder / "tasks")
        self.store(dict(zip(("task_sample", "task_span"), read_samples(warehouse, ["FORM", "SPEECH"])[0], strict=True)))

    def model(self, dialect: str = "plain", models: Sequence[str] = ("m",), **own: Any) -> None:
        """Write the registry; `own` are settings of the models."""
        entry = {"endpoint": "server", "price": {"input": 1, "output": 1}, "temperature": 0.3} | own
        content = {
            "endpoints": {"server": {"url": self.url, "dialect": dialect}}, "embedders": {"minilm": {}},
            "embedder": "minilm", "models": {name: entry | {"id": name} for name in models},
        }  # fmt: skip
        self.registry.write_text(json.dumps(content), encoding="utf-8")

    @property
    def systems(self) -> Systems:
        ledger = str(self.folder / "ledger.sqlite")
        provider = Provider(registry_path=str(self.registry), ledger_path=ledger)
        return Systems(warehouse=self.warehouse, provider=provider)

    def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Change the test split of the task of classes on disk."""
        write_task(self.folder / "tasks", FORMS, {"test": lines})

    def answered(self) -> pl.DataFrame:
        """Store what the model answers now; return what failed."""
        asked = TaskAnswers(self.warehouse, self.systems).settings(grid())
        computed = TaskAnswers(self.warehouse, self.systems).compute(asked.select("model", "task"), "run")
        self.store({**computed.tables, **computed.notes})
        assert computed.failures is not None
        return computed.failures

    def store(self, tables: Mapping[str, pl.DataFrame]) -> None:
        stamp = pl.lit("test").alias("fingerprint")
        frames = {table: rows.with_columns(stamp) for table, rows in tables.items()}
        self.warehouse.write([Replacement(table, rows, None) for table, rows in frames.items()], run_id="test")

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        return self.warehouse.read(table, columns=columns).rows()


class Location:
    """A room's assets in Dagster."""

    def __init__(self, room: Room, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.definitions = dg.Definitions(
            [task_sample, answer],
            resources={"warehouse": room.warehouse, "systems": room.systems},
            executor=dg.in_process_executor,
        )
        instance.add_dynamic_partitions("task", ["FORM", "SPEECH"])
        instance.add_dynamic_partitions("model", ["m"])

    def samples(self) -> bool:
        return self._run("task_sample", "FORM", "SPEECH")

    def answers(self) -> bool:
        return self._run("answer", "m|FORM", "m|SPEECH")

    def _run(self, asset: str, first: str, last: str) -> bool:
        job = self.definitions.resolve_implicit_global_asset_job_def()
        chosen = job.get_subset(asset_selection={dg.AssetKey(asset)})
        tags = range_tags(first, last)
        return chosen.execute_in_process(instance=self.instance, tags=tags, raise_on_error=False).success


@pytest.fixture
def room(tmp_path: Path, warehouse: Warehouse, server: Server) -> Room:
    return Room(tmp_path, warehouse, server.url)


def asked(server: Server) -> list[str]:
    """The texts that were asked about, in order."""
    return sorted(seen.keys[2] for seen in server.log())


def grid(models: Sequence[str] = ("m",), codes: Sequence[str] = ("FORM", "SPEECH")) -> pl.DataFrame:
    return pl.DataFrame([(model, task) for model in models for task in codes], schema=["model", "task"], orient="row")


# One question a sample.


def test_every_sample_of_the_test_split_is_asked_about_once_and_its_answer_stored(room: Room, server: Server) -> None:
    said = {
        SUN: ['{"label": "p"}'],
        EVENING: ["```\n{'Label': 'verse'}\n```"],
        MICE: [spans(("WHO", "mus"), ("SAID", "veni"), ("SAID", "veni"), ("SAID", "abi"))],
        NIGHT: [spans(("SAID", "est, nemo"))],
    }
    server.configure(answer="sample", judgements=said)
    room.answered()
    assert asked(server) == sorted(said)
    columns = ("task", "seed", "sample", "label", "usable", "problem", "steps", "agreement")
    assert room.rows("answer", *columns) == [
        ("FORM", 1, "1", "PROSE", True, None, "value", None),
        ("FORM", 1, "2", "VERSE", True, None, "fence repaired key case", None),
        ("SPEECH", 1, "a", None, True, None, "", None),
        ("SPEECH", 1, "b", None, True, None, "", None),
    ]
    assert room.rows("answer_span", "sample", "number", "type", "text", "first", "last", "located") == [
        ("a", 0, "WHO", "mus", 0, 3, "exact"),
        ("a", 1, "SAID", "veni", 5, 9, "exact"),
        ("a", 2, "SAID", "veni", 18, 22, "exact"),
        ("a", 3, "SAID", "abi", None, None, "absent"),
        ("b", 0, "SAID", "est, nemo", 4, 14, "normalized"),
    ]
    calls = room.rows("study_call", "item", "call")
    assert {item for item, _ in calls} == {"1|1|0", "1|2|0", "1|a|0", "1|b|0"}
    assert {call for _, call in calls} == set(SqliteLedger(room.folder / "ledger.sqlite").attempts()["key"])
    assert all(", 0 shots, 1 draws, temperature 0.3, id m" in how for (how,) in room.rows("answer", "how"))
    room.answered()
    assert len(server.log()) == 4


def test_what_cannot_be_used_counts_as_the_negative_class_or_as_no_span(room: Room, server: Server) -> None:
    server.configure(
        answer="sample", judgements={"m": ["Who knows?"]}, by_key={SUN: "refusal", MICE: "length", NIGHT: "refusal"}
    )
    room.answered()
    assert room.rows("answer", "sample", "label", "usable", "problem", "steps") == [
        ("1", "PROSE", False, "refused: I cannot help with that.", ""),
        ("2", "PROSE", False, "'Who knows?' names no class", ""),
        ("a", None, False, "cut off before the answer", "cut"),
        ("b", None, False, "refused: I cannot help with that.", ""),
    ]
    assert room.rows("answer_span", "sample") == []


def test_examples_and_instructions_are_part_of_the_question(room: Room, server: Server) -> None:
    server.configure(answer="sample", judgements=LABELS, keep_bodies=True)
    room.model(answering={"shots": 2, "seeds": [1, 2]}, corpora=["FORM"])
    room.answered()
    systems = {seen.body["messages"][0]["content"] for seen in server.log() if seen.body}
    assert all("mus currit" in system and "luna lucet" in system for system in systems)
    assert room.rows("answer", "seed", "sample") == [(1, "1"), (1, "2"), (2, "1"), (2, "2")]
    assert len(server.log()) == 4


def test_more_examples_than_there_are_fail_the_task_alone(room: Room, server: Server) -> None:
    server.configure(answer="sample", judgements=LABELS)
    room.model(answering={"shots": 2})
    failures = room.answered()
    assert failures["task"].to_list() == ["SPEECH"]
    assert "has 0 samples without a near neighbor" in failures["error"][0]
    assert {task for (task,) in room.rows("answer", "task")} == {"FORM"}


def test_a_question_too_long_for_a_model_is_an_unusable_answer_and_the_others_are_stored(
    room: Room, server: Server
) -> None:
    server.configure(answer="sample", judgements=LABELS | {MICE: [spans()], NIGHT: [spans()]},
        by_key={SUN: "context_length"})  # fmt: skip
    assert room.answered().is_empty()
    assert room.rows("answer", "sample", "usable", "problem") == [
        ("1", False, "too long for the model"), ("2", True, None), ("a", True, None), ("b", True, None),
    ]  # fmt: skip


def test_what_was_silent_often_enough_is_an_unusable_answer_and_paid_for_no_more(room: Room, server: Server) -> None:
    """Six empty replies in the ledger, from a run that failed for another reason; a fifth of another question."""
    server.configure(answer="sample", judgements=LABELS)
    room.model(corpora=["FORM"])
    ledger, asked_about = room.folder / "ledger.sqlite", room.systems.provider.model("m")
    form = TaskQuestions(asked_about, FORM, (), 1)
    sun, evening = (form.template(0).question({"text": text}, form.number(0)) for text in (SUN, EVENING))

    async def empty(question: Question, times: int) -> None:
        with SqliteLedger(ledger).session("before", Budget()) as session:
            for _ in range(times):
                attempt = await session.claim(question)
                await session.receive(attempt, Raw(200, {}, b'{"choices": []}'))
                session.settle(attempt, Reading(Outcome.EMPTY))
            await session.drained()

    asyncio.run(empty(sun, 6))
    asyncio.run(empty(evening, 5))
    room.answered()
    assert asked(server) == [EVENING]
    columns = ("sample", "label", "usable", "problem")
    assert room.rows("answer", *columns) == [("1", "PROSE", False, "empty reply"), ("2", "VERSE", True, None)]


# Draws and seeds.


def test_draws_and_seeds_are_asked_apart_and_further_ones_ask_only_for_themselves(room: Room, server: Server) -> None:
    said = {f"m|{SUN}|{seed}": [dumps({"label": label})] for seed, label in
        [(1000, "PROSE"), (1001, "VERSE"), (1002, "VERSE"), (2000, "?"), (2001, "PROSE"), (2002, "?")]}  # fmt: skip
    server.configure(answer="sample", judgements=said | LABELS)
    room.model("vllm", answering={"draws": 2}, corpora=["FORM"])
    room.answered()
    assert room.rows("answer", "sample", "label", "agreement") == [("1", "PROSE", 0.5), ("2", "VERSE", 1.0)]
    assert len(server.log()) == 4
    room.model("vllm", answering={"draws": 3, "seeds": [1, 2]}, corpora=["FORM"])
    room.answered()
    assert len(server.log()) == 12
    assert room.rows("answer", "seed", "sample", "label", "usable", "agreement") == [
        (1, "1", "VERSE", True, 2 / 3),
        (1, "2", "VERSE", True, 1.0),
        (2, "1", "PROSE", True, 1 / 3),
        (2, "2", "VERSE", True, 1.0),
    ]
    assert len({call for (call,) in room.rows("study_call", "call")}) == 12


CHOICES = st.lists(st.sampled_from([Parsed("VERSE"), Parsed("PROSE", steps=("case",)), Parsed(problem="none")]),
    min_size=1, max_size=7)  # fmt: skip


@given(CHOICES)
def test_the_most_frequent_class_wins_and_of_equals_the_first_drawn(draws: list[Parsed]) -> None:
    found = settled(FORM, "{}", draws)
    usable = [each.label for each in draws if not each.problem]
    if not usable:
        assert (found.label, found.problem) == ("PROSE", "none")
        assert found.agreement == (0 if len(draws) > 1 else None)
        return
    most = max(usable.count(label) for label in usable)
    assert found.label == next(label for label in usable if usable.count(label) == most)
    assert found.problem is None
    assert found.agreement == (most / len(draws) if len(draws) > 1 else None)
    assert found.steps == ("case" if found.label == "PROSE" else "")


def located(*found: tuple[str, int, int]) -> list[Located]:
    return [Located(kind, f"{first}-{last}", first, last, "exact") for kind, first, last in found]


def test_spans_that_most_draws_have_are_taken_in_their_most_frequent_wording() -> None:
    draws = [
        located(("SAID", 0, 9), ("WHO", 20, 23)),
        located(("SAID", 0, 8), ("SAID", 30, 40)),
        located(("SAID", 0, 8), ("WHO", 0, 8)),
    ]
    assert agreed(draws) == tuple(located(("SAID", 0, 8)))
    # Draws that agree on a place alone: the wording drawn first.
    assert agreed([located(("SAID", 0, 9)), located(("SAID", 1, 9))]) == tuple(located(("SAID", 0, 9)))
    # One long span does not join two short ones that most draws have.
    assert agreed([located(("SAID", 0, 4), ("SAID", 5, 9))] * 2 + [located(("SAID", 0, 9))]) == tuple(
        located(("SAID", 0, 4), ("SAID", 5, 9))
    )
    # Half is not most.
    assert agreed([located(("SAID", 0, 4)), []]) == ()


def test_spans_that_the_text_has_not_are_the_same_by_their_words() -> None:
    one, other = Located("SAID", "abi", None, None, "absent"), Located("SAID", "abi!", None, None, "absent")
    assert agreed([[one], [one], [other]]) == (one,)
    assert agreed([[one], [other]]) == ()


@given(st.lists(st.tuples(st.sampled_from(["A", "B"]), st.integers(0, 9), st.integers(1, 5)), max_size=6, unique=True),
    st.integers(1, 4))  # fmt: skip
def test_draws_that_are_all_the_same_are_taken_as_they_are(found: list[tuple[str, int, int]], draws: int) -> None:
    own = located(*((kind, first, first + length) for kind, first, length in found))
    assert agreed([own] * draws) == tuple(own)


def test_of_spans_the_unusable_draws_have_no_voice() -> None:
    texts = dumps({"head": "", "text": MICE})
    mus, felis = Parsed(spans=(("WHO", "mus"),)), Parsed(spans=(("WHO", "mus"), ("WHO", "felis")))
    found = settled(WORDS, texts, [Parsed(problem="none"), mus, felis])
    assert [span.text for span in found.spans] == ["mus"]
    assert (found.problem, found.agreement) == (None, 1 / 3)


# Who answers what.


def test_models_answer_the_tasks_that_their_corpora_allow(room: Room, server: Server) -> None:
    room.model(models=["m", "n"], corpora=["SPEECH", "tiny"])
    found = TaskAnswers(room.warehouse, room.systems).settings(grid(["m", "n"]))
    assert found.select("model", "task").rows() == [("m", "SPEECH"), ("n", "SPEECH")]
    assert found["settings"].null_count() == 0
    assert covered(room.warehouse, room.systems, ["m"], ["FORM", "SPEECH"]) == {"SPEECH"}
    said = TaskAnswers(room.warehouse, room.systems).cost(found)
    assert said is not None
    assert (said.calls, said.recorded) == (4, 0)
    room.model(models=["m", "n"], corpora=["tiny"])
    assert TaskAnswers(room.warehouse, room.systems).settings(grid(["m", "n"])).is_empty()


# On the grid.


def test_one_changed_sample_asks_one_question_and_answers_of_a_model_that_left_stay(
    room: Room, server: Server, instance: dg.DagsterInstance
) -> None:
    server.configure(answer="sample", judgements=LABELS)
    location = Location(room, instance)
    assert location.samples()
    assert location.answers()
    assert len(server.log()) == 4
    server.clear()
    room.write([FORM_LINES["test"][0], FORM_LINES["test"][1] | {"words": "sol lucet"}])
    assert location.samples()
    found = due(location.definitions, instance, dg.AssetKey("answer"))
    assert found.rows.select("model", "task").rows() == [("m", "FORM")]
    assert found.estimate is not None
    assert (found.estimate.calls, found.estimate.recorded) == (2, 1)
    assert location.answers()
    assert asked(server) == ["sol lucet"]

    before = room.warehouse.read("answer")
    room.model(models=["n"])
    assert location.answers()
    assert room.warehouse.read("answer").equals(before)
    assert TaskAnswers(room.warehouse, room.systems).settings(grid())["settings"].to_list() == [None, None]


def test_a_call_that_fails_fails_its_task_when_all_others_were_made_and_only_it_is_asked_again(
    room: Room, server: Server, instance: dg.DagsterInstance
) -> None:
    said = LABELS | {MICE: [spans()], NIGHT: [spans()]}
    server.configure(answer="sample", judgements=said, by_key={SUN: "bad_request"})
    location = Location(room, instance)
    assert location.samples()
    assert not location.answers()
    assert asked(server) == sorted([SUN, EVENING, MICE, NIGHT])
    assert {task for (task,) in room.rows("answer", "task")} == {"SPEECH"}
    failures = room.answered()
    assert failures["task"].to_list() == ["FORM"]
    assert failures["error"][0].startswith("1 of 2 questions have no reply: rejected")
    server.clear()
    server.configure(answer="sample", judgements=said)
    assert location.answers()
    assert asked(server) == [SUN]
    assert len(room.rows("answer", "task")) == 4
