"""What is sent: one message for all samples of a task, and draws and seeds that are questions of their own."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import Parsed
from benchmark_assets.understanding.shots import Example
from benchmark_assets.understanding.task_questions import TaskQuestions, answer_schema, determinants, summary_line
from resources.errors import BadInput
from resources.provider.asking import Verdict, insist
from resources.provider.client import CallFailed, Reply
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading
from resources.provider.registry import load
from tests.provider.support import model
from tests.understanding.conftest import FORMS, SPEECH

URL = "http://127.0.0.1:1/v1"
FORM, WORDS = TaskDescription.model_validate(FORMS), TaskDescription.model_validate(SPEECH)
VERSE = Example('{"text": "luna lucet"}', "VERSE", ())
SAID = Example('{"head": "Canis", "text": "canis: \\"vae\\""}', None, (("WHO", "canis"), ("SAID", '"vae"')))


def form(description: TaskDescription = FORM, *shown: Example, seed: int = 1, **endpoint: Any) -> TaskQuestions:
    return TaskQuestions(model(URL, endpoint), description, shown, seed)


def question(asked: TaskQuestions, texts: str, draw: int) -> Question:
    return asked.template(draw).question(json.loads(texts), asked.number(draw))


@pytest.mark.parametrize(("description", "shown"), [(FORM, VERSE), (WORDS, SAID)])
def test_the_system_message_is_the_same_for_all_samples_and_the_item_stands_in_the_other(
    description: TaskDescription, shown: Example
) -> None:
    texts = [{name: f"{name} {number} $item" for name in description.texts} for number in range(3)]
    asked = [question(form(description, shown), json.dumps(each), 0).messages for each in texts]
    assert [[each["role"] for each in messages] for messages in asked] == [["system", "user"]] * 3
    assert len({messages[0]["content"] for messages in asked}) == 1
    assert [json.loads(messages[1]["content"]) for messages in asked] == texts


def test_the_system_message_says_what_is_asked_and_shows_examples_in_the_form_of_the_answer() -> None:
    system = question(form(FORM, VERSE), '{"text": "x"}', 0).messages[0]["content"]
    for part in ("Latin", FORM.instructions, "1. VERSE: it is metrical\n2. PROSE: it is not", "`text`", "luna lucet"):
        assert part in system
    assert '{"label": "VERSE"}' in system
    system = question(form(WORDS, SAID), '{"head": "", "text": "x"}', 0).messages[0]["content"]
    for part in ("- SAID: words that are said\n- WHO: who says them", "`head` and `text`", "look for spans in `text`"):
        assert part in system
    answer = {"prediction": [{"LABEL": "WHO", "SPAN": "canis"}, {"LABEL": "SAID", "SPAN": '"vae"'}]}
    assert json.dumps(answer) in system
    assert "(none)" in question(form(WORDS), '{"head": "", "text": "x"}', 0).messages[0]["content"]


def test_an_endpoint_gets_the_schema_as_far_as_it_can_promise_one() -> None:
    asked = {mode: question(form(structured=mode), '{"text": "x"}', 0).body for mode in ("schema", "json", "text")}
    schema = asked["schema"]["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"label": {"type": "string", "enum": ["VERSE", "PROSE"]}}
    assert asked["json"]["response_format"] == {"type": "json_object"}
    assert "response_format" not in asked["text"]
    span = answer_schema(WORDS)["properties"]["prediction"]["items"]
    assert span["properties"] == {"LABEL": {"type": "string", "enum": ["SAID", "WHO"]}, "SPAN": {"type": "string"}}
    assert (span["required"], span["additionalProperties"]) == (["LABEL", "SPAN"], False)


@pytest.mark.parametrize("dialect", ["plain", "openai", "openrouter", "vllm", "llama.cpp"])
def test_draws_and_seeds_are_different_questions_with_a_seed_where_the_dialect_has_one(dialect: str) -> None:
    asked = [question(form(seed=seed, dialect=dialect), '{"text": "x"}', draw) for seed in (0, 1, 2) for draw in (0, 1)]
    assert len({each.key for each in asked}) == 6
    seeds = [each.body.get("seed") for each in asked]
    assert seeds == ([None] * 6 if dialect == "plain" else [0, 1, 1000, 1001, 2000, 2001])
    again = question(form(seed=2, dialect=dialect), '{"text": "x"}', 1)
    assert again.key == asked[-1].key


def test_a_seed_is_sent_where_the_registry_gives_one_and_not_to_a_pinned_provider() -> None:
    given = question(TaskQuestions(model(URL, seed=7), FORM, (), 1), '{"text": "x"}', 2)
    assert given.body["seed"] == 7 + 1002
    other = question(TaskQuestions(model(URL, seed=8), FORM, (), 1), '{"text": "x"}', 2)
    assert other.key != given.key  # as what determines answers says
    pinned = question(
        TaskQuestions(model(URL, {"dialect": "openrouter"}, pin=["anthropic"]), FORM, (), 1), '{"text": "x"}', 2
    )
    assert "seed" not in pinned.body


def replied(failure: Exception) -> Verdict[Parsed]:
    """The verdict on a question that fails."""

    async def ask(question: Question) -> Reply:
        raise failure

    return asyncio.run(insist(ask, form().template(0), {"text": "x"}))


@pytest.mark.parametrize("outcome", Outcome)
def test_only_silence_and_a_question_too_long_are_what_came_of_a_call_that_failed(outcome: Outcome) -> None:
    drawn = replied(CallFailed(f"{outcome}: …", Reading(outcome)))
    assert (drawn.value is not None) == (outcome in (Outcome.EMPTY, Outcome.TOO_LONG)) == (drawn.error is None)


def test_how_a_model_is_asked_is_said_in_a_line() -> None:
    asked = model(URL, temperature=0.3, effort="low", answering={"shots": 8, "draws": 5, "seeds": [1, 2]})
    line = summary_line(asked, FORM)
    assert re.fullmatch(r"classify v1 [0-9a-f]{8}, 8 shots, 5 draws, temperature 0\.3, effort low, id m", line)
    assert summary_line(asked, FORM.model_copy(update={"instructions": "Is it verse?"})) != line
    assert summary_line(model(URL, temperature=None), WORDS).startswith("mark v1")
    assert "temperature" not in summary_line(model(URL, temperature=None), WORDS)


def test_what_determines_answers_is_the_task_the_model_and_how_it_is_asked() -> None:
    changes: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {}),
        ({"id": "other"}, {}),
        ({"answering": {"shots": 1}}, {}),
        ({"answering": {"seeds": [1, 2]}}, {}),
        ({"answering": {"draws": 3}}, {}),
        ({}, {"instructions": "Is it verse?"}),
        ({}, {"classes": FORM.classes | {"VERSE": "it scans"}}),
        ({}, {"negative": "VERSE"}),
        ({}, {"labels": {"v": "VERSE", "prosa": "PROSE"}}),
    ]
    changed = {determinants(model(URL, **own), FORM.model_copy(update=update)) for own, update in changes}
    assert len(changed) == 9
    same = model(URL, in_flight=1, budget=5, corpora=["FORM"])
    assert determinants(same, FORM.model_copy(update={"title": "x", "partner": ""})) in changed


ENTRY = {"endpoint": "server", "id": "m"}


@pytest.mark.parametrize(
    ("answering", "key", "problem"),
    [
        ({"draws": 3}, "models.m.answering.draws", "at temperature 0 all draws are the same"),
        ({"draws": 0}, "models.m.answering.draws", "greater than"),
        ({"draws": 1001}, "models.m.answering.draws", "less than"),
        ({"shots": -1}, "models.m.answering.shots", "greater than"),
        ({"seeds": []}, "models.m.answering.seeds", "at least 1"),
        ({"seeds": [2, 2]}, "models.m.answering.seeds", "a duplicate"),
        ({"seed": 2}, "models.m.answering.seed", "not permitted"),
    ],
)
def test_a_fault_of_how_a_model_is_asked_is_told_with_its_key(
    tmp_path: Path, answering: dict[str, Any], key: str, problem: str
) -> None:
    path = tmp_path / "models.yaml"
    content = {"endpoints": {"server": {"url": URL}}, "embedders": {"minilm": {}}, "embedder": "minilm"}
    path.write_text(json.dumps(content | {"models": {"m": ENTRY | {"answering": answering}}}), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load(path)
    assert caught.value.key == key
    assert problem in caught.value.problem


@pytest.mark.parametrize("temperature", [0.3, None])
def test_draws_are_several_where_the_model_is_not_greedy(tmp_path: Path, temperature: float | None) -> None:
    entry = ENTRY | {"temperature": temperature, "answering": {"shots": 2, "draws": 5, "seeds": [1, 2, 3]}}
    content = {"endpoints": {"server": {"url": URL}}, "embedders": {"minilm": {}}, "embedder": "minilm"}
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps(content | {"models": {"m": entry}}), encoding="utf-8")
    assert load(path).models["m"].answering.model_dump() == {"shots": 2, "draws": 5, "seeds": (1, 2, 3)}
