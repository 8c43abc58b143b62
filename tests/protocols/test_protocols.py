"""Questions by published protocols, and their readers, beside what the papers' programs ask and read.

digests.tsv was written by theirs.py, once, at the commits of the recipes. A row is a request or the reading of a reply.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.benchmarks import protocols
from benchmark_assets.benchmarks.recipe import RecipeProtocol, read, shipped
from benchmark_assets.pairwise.comparing import SIDES, Contenders, arranged, comparing, drawn_sides
from benchmark_assets.studies.protocols import PublishedProtocol
from benchmark_assets.translation.published import SHORTEST, published_requests, read_object, read_tagged
from benchmark_assets.understanding import samples
from benchmark_assets.understanding.description import load
from benchmark_assets.understanding.published import published, reply_fields, spans
from benchmark_assets.understanding.task_questions import TaskQuestions
from resources.provider.asking import Template
from resources.provider.client import Reply
from resources.provider.names import Unusable
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading
from resources.provider.registry import Endpoint, Model, Settings
from tests.protocols import composed
from tests.protocols.composed import digest, of_request

MODEL = Model(
    "m", Settings.model_validate({"endpoint": "e", "id": "a/b", "max_tokens": 4096}),
    Endpoint.model_validate({"url": "http://localhost"}),
)  # fmt: skip


@cache
def theirs(paper: str, what: str) -> Counter[str]:
    rows = (line.split("\t") for line in Path(__file__).with_name("digests.tsv").read_text("utf-8").splitlines())
    return Counter(row[2] for row in rows if row[:2] == [paper, what])


def in_order(paper: str, what: str) -> list[str]:
    rows = (line.split("\t") for line in Path(__file__).with_name("digests.tsv").read_text("utf-8").splitlines())
    return [row[2] for row in rows if row[:2] == [paper, what]]


def declared(benchmark: str, role: str, subject: str) -> RecipeProtocol:
    every = read(shipped()[benchmark]).recipe.protocols
    return next(each for each in every if each.role == role and subject in each.subjects)


def protocol(benchmark: str, role: str, subject: str, realdata: Path) -> PublishedProtocol:
    return protocols.protocol_of(declared(benchmark, role, subject), subject, realdata / benchmark)


def stated(questions: Iterable[Question], *without: str) -> Counter[str]:
    bodies = (
        {name: value for name, value in of_request(each.body).items() if name not in without} for each in questions
    )
    return Counter(map(digest, bodies))


@pytest.mark.realdata
def test_palibench_is_asked_in_its_batches_until_all_passages_are_there(realdata: Path) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        found = composed.answered(list(json.loads(question.messages[-1]["content"])))
        return Reply(question.key, Reading(Outcome.ANSWERED, json.dumps(found), finish="stop"), False)

    texts = composed.passages()
    requests = published_requests(
        MODEL, protocol("palibench", "translate", "palibench", realdata), texts, {k: k for k in texts}
    )
    outputs = [each for request in requests for each in asyncio.run(request.outputs(ask))]
    assert stated(asked) == theirs("palibench", "request")
    assert digest({each.passage: each.text for each in outputs}) in theirs("palibench", "outputs")
    assert len(asked) > len(requests) > 5


def test_replies_to_palibench_are_repaired_as_published() -> None:
    found: list[str] = []
    for reply in composed.object_replies():
        try:
            found.append(digest(dict(read_object(reply))))
        except Unusable:
            found.append(digest(None))
    assert found == in_order("palibench", "reply")
    assert SHORTEST == 20
    assert 20 < found.count(digest(None)) < 60


@pytest.mark.realdata
def test_a_reply_that_is_nested_too_deeply_is_unusable_and_ends_no_run() -> None:
    deep = "[" * 200_000
    with pytest.raises(Unusable, match="no JSON object"):
        read_object(deep)
    assert reply_fields(deep) == {}


def test_jp_tl_bench_is_asked_for_translations_and_comparisons(realdata: Path) -> None:
    questions = [
        each
        for english, corpus in ((True, "jp-tl-bench-en-ja"), (False, "jp-tl-bench-ja-en"))
        for item in composed.items()
        if item["english"] == english
        for request in published_requests(
            MODEL,
            protocol("jp-tl-bench", "translate", corpus, realdata),
            {item["name"]: item["text"]},
            {item["name"]: "p"},
        )
        for each in request.questions()
    ]
    assert stated(questions) == theirs("jp-tl-bench", "translation request")
    asks = comparing(MODEL, ("ja", "en"), protocol("jp-tl-bench", "compare", "jp-tl-bench@1.0.0", realdata))
    sources = {item["name"]: item["text"] for item in composed.items()}
    shown = [
        {"name": name, "first": side, **Contenders(sources[name], *arranged(own, other, side))._asdict()}
        for (anchor, name), side in drawn_sides(composed.ANCHORS, sources).items()
        for own, other in [(composed.translation(composed.MODEL, name), composed.translation(anchor, name))]
    ]
    assert {each["first"] for each in shown} == set(SIDES)
    assert stated(map(asks.question, shown), "max_tokens") == theirs("jp-tl-bench", "comparison request")


def test_replies_to_jp_tl_bench_are_read_as_published() -> None:
    assert [digest(read_tagged(each)) for each in composed.tagged_replies()] == in_order("jp-tl-bench", "translation")
    asks = comparing(MODEL, ("ja", "en"), PublishedProtocol(name="p", user="u", variables=(), reader="letter"))
    found = [digest(_read(asks, reply)) for reply in composed.letter_replies()]
    assert found == in_order("jp-tl-bench", "letter")


@pytest.mark.realdata
@pytest.mark.parametrize("task", composed.TASKS)
def test_dharmabench_is_asked_zero_shot(task: str, realdata: Path) -> None:
    description = load(shipped()["dharmabench"] / "tasks" / f"{task}.yaml")
    of_task = json.loads((realdata / "dharmabench/prompts.json").read_text("utf-8"))[task]
    about = declared("dharmabench", "answer", task)
    user = about.user.model_copy(update={"file": "", "literal": "", "text": of_task["template"]})
    template, variables = protocols.template(user, realdata)
    asked_by = PublishedProtocol(
        name="p", system=of_task["system"].replace("$", "$$"), user=template, variables=tuple(variables),
        reader=about.reader, sampling=about.sampling, fields=about.fields,
    )  # fmt: skip
    rows = samples.read(description, realdata / "dharmabench").samples.filter(split="test").sort("position")
    questions = TaskQuestions(MODEL, description, (), 1, asked_by).template(0)
    texts = map(json.loads, rows["texts"].head(composed.SAMPLES))
    found = stated(map(questions.question, texts), "max_tokens", "response_format")
    assert found == theirs("dharmabench", f"request {task}")


@pytest.mark.realdata
def test_labels_of_dharmabench_count_by_the_numbers_of_its_program(realdata: Path) -> None:
    """Its program and its data number the themes otherwise from 6 on, so that right answers count as wrong."""
    description = load(shipped()["dharmabench"] / "tasks/THCT.yaml")
    about = declared("dharmabench", "answer", "THCT")
    numbers = json.loads((realdata / "dharmabench/prompts.json").read_text("utf-8"))["THCT"]["labels"]
    labels = {name: about.numbers[number] for name, number in numbers.items() if number in about.numbers}
    by_paper = PublishedProtocol(name="p", user="u", variables=(), reader="label", labels=labels)
    counted = {name: published(description, by_paper, _said(json.dumps({"label": name})))[0].label for name in numbers}
    assert counted["Tantra"] == "Tantra"
    assert counted["Treatises on Sūtras"] == "Treatises on Madhyamaka"
    assert counted["Treatises on arts and crafts"] is counted["EMPTY"] is None
    assert sum(counted.get(name) == name for name in description.classes) == 6


def test_replies_to_dharmabench_are_read_as_published() -> None:
    numbers = set(json.loads(NAMES))
    found = []
    for reply in composed.label_replies():
        label = reply_fields(reply).get("label")
        found.append(digest(label if isinstance(label, str) and label in numbers else "EMPTY"))
    assert found == in_order("dharmabench", "label")
    read_spans = [
        digest([(kind, span.lower().replace("-", "")) for kind, span in spans(reply_fields(reply)) or ()])
        for reply in composed.span_replies()
    ]
    assert read_spans == in_order("dharmabench", "spans")


NAMES = json.dumps([
    "EMPTY", "Vinaya", "Sūtra", "Tantra", "Dhāraṇī", "Non-tantric eulogies", "Treatises on Tantric Topics",
    "Treatises on Sūtras", "Treatises on Madhyamaka", "Treatises on Cittamātra", "Treatises on Abhidharma",
    "Treatises on Vinaya", "Jātaka tales", "Epistles", "Treatises on Pramāṇā", "Treatises on Sanskrit",
    "Treatises on medicine", "Treatises on arts and crafts",
])  # fmt: skip


def _said(text: str) -> Reading:
    return Reading(Outcome.ANSWERED, text, finish="stop")


def _read(template: Template[Any], text: str) -> Any:
    try:
        return template.read(_said(text))[0]
    except Unusable:
        return None
