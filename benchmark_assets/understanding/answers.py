"""What models answer to the samples of tasks: who answers what, the questions of a run, what comes of several draws.

Here: models of the registry and imported answers behind the same rows, and the majority. Not here: what is sent
(asking), what a reply says (parsing), files of answers (answer_imports), scores.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding import tasks
from benchmark_assets.understanding.asking import Drawn, Form, determinants, draw, said
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import Parsed, parse_label, parse_spans, words
from benchmark_assets.understanding.shots import examples, showable
from benchmark_assets.understanding.spans import locate
from resources.digest import digest
from resources.errors import BadInput
from resources.provider.asking import at_once
from resources.provider.client import RETRIES, complete
from resources.provider.estimate import Estimate, estimate, total
from resources.provider.ledger import ended
from resources.provider.question import Question
from resources.provider.reading import Outcome, Reading
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.understanding")

_PARTITION = dict.fromkeys(["model", "task"], pl.String)
_OF_SAMPLE = {**_PARTITION, "seed": pl.Int32, "sample": pl.String}
ANSWER = {
    **_OF_SAMPLE, "label": pl.String, "usable": pl.Boolean, "problem": pl.String, "steps": pl.String,
    "agreement": pl.Float64, "how": pl.String,
}  # fmt: skip
ANSWER_SPAN = {
    **_OF_SAMPLE, "number": pl.Int32, "type": pl.String, "text": pl.String, "first": pl.Int32, "last": pl.Int32,
    "located": pl.String,
}  # fmt: skip
ANSWER_CALL = {**_OF_SAMPLE, "draw": pl.Int32, "call": pl.String}

IMPORTED_SEED = 1
"""The seed under which imported answers stand, of which nobody says one."""

NOT_IMPORTED = Parsed(problem="no answer was imported")


class Located(NamedTuple):
    """A span of an answer, and where the text has it: characters, half-open; None where it is 'absent'."""

    type: str
    text: str
    first: int | None
    last: int | None
    located: str


class Answer(NamedTuple):
    """What comes of all draws on a sample. `problem` is why it is unusable, None where it is not; `agreement` the share
    of the draws that gave this very answer, None where there was one."""

    label: str | None
    spans: tuple[Located, ...]
    problem: str | None
    steps: str
    agreement: float | None


class Called(NamedTuple):
    """A model of the registry on a task: a form for each seed."""

    forms: tuple[Form, ...]

    def questions(self, texts: Sequence[str]) -> Iterator[Question]:
        """All questions about samples, by their texts."""
        for form, draws in self.asked():
            yield from (form.question(each, number) for each in texts for number in draws)

    def asked(self) -> Iterator[tuple[Form, range]]:
        """The draws of each seed."""
        for form in self.forms:
            yield form, range(form.model.settings.answering.draws)


class Stored(NamedTuple):
    """Imported answers of a model to a task: by sample, and the name of the file that they came in."""

    answers: Mapping[str, str]
    file: str


class Work(NamedTuple):
    """A model and a task, with the samples of the test split (`sample`, `texts`) in order; and how it is asked, or its
    imported answers."""

    model: str
    description: TaskDescription
    samples: Sequence[tuple[str, str]]
    source: Called | Stored

    @property
    def how(self) -> str:
        """How the answers are had, in a line."""
        if isinstance(self.source, Stored):
            return f"imported from {self.source.file}"
        return said(self.source.forms[0].model, self.description)


# Who answers what.


def settings(warehouse: Warehouse, systems: Systems, asked: pl.DataFrame) -> pl.DataFrame:
    """What determines the answers of each model to each task besides the samples: columns `model`, `task`, `settings`.

    Models of the registry answer the tasks that their `corpora` allow, others those for which answers were imported.
    Of models that are known no more, and of tasks whose description cannot be read, `settings` is null.
    """
    registry, imported = systems.provider.registry(), _imported(warehouse)
    with_answers = {model for model, _ in imported}
    known = systems.known(asked["model"].unique())
    described = tasks.readable(warehouse, asked["task"].unique().to_list())
    rows: list[tuple[str, str, str | None]] = []
    for model, task in asked.select("model", "task").iter_rows():
        description = described.get(task)
        own = registry.models.get(model)
        if model not in known or description is None:
            rows.append((model, task, None))
        elif own and model in with_answers:
            rows.append((model, task, str(_both(model))))
        elif own and (own.corpora is None or task in own.corpora):
            rows.append((model, task, determinants(systems.provider.model(model), description)))
        elif (model, task) in imported:
            how = description.classes, description.labels, description.negative, description.types, description.marked
            rows.append((model, task, digest(imported[model, task], *how)))
    return pl.DataFrame(rows, schema={**_PARTITION, "settings": pl.String}, orient="row")


def covered(warehouse: Warehouse, systems: Systems, models: Sequence[str], codes: Sequence[str]) -> set[str]:
    """Tasks that one of the models answers."""
    grid = pl.DataFrame({"model": models}, schema={"model": pl.String}).join(
        pl.DataFrame({"task": codes}, schema={"task": pl.String}), how="cross"
    )
    return set(settings(warehouse, systems, grid).drop_nulls()["task"])


def cost_of(warehouse: Warehouse, systems: Systems, due: pl.DataFrame) -> Estimate | None:
    """What answers would ask of models; None where these are asked nothing."""
    work, _ = _work(warehouse, systems, due)
    return _estimate(systems, work) if any(isinstance(each.source, Called) for each in work) else None


def answer_samples(warehouse: Warehouse, systems: Systems, due: pl.DataFrame, run: str) -> Computed:
    """Have the test split of tasks answered, or take what was imported. The run pays.

    A task has failed for a model where a call did, after all others were made; what was answered is in the ledger. An
    empty reply, as often as one is asked for, and a sample too long for the model are unusable answers, no failures.
    """
    work, failures = _work(warehouse, systems, due)
    drawn = _drawn(systems, work, run)
    rows: list[tuple[object, ...]] = []
    spans: list[tuple[object, ...]] = []
    calls: list[tuple[object, ...]] = []
    for each, of_seeds in zip(work, drawn, strict=True):
        if errors := [one.error for own in of_seeds.values() for one in own if one.error]:
            total_asked = sum(map(len, of_seeds.values()))
            few = f"{len(errors)} of {total_asked} questions have no reply: {'; '.join(dict.fromkeys(errors))}"
            failures[each.model, each.description.task] = few
            continue
        key, how = (each.model, each.description.task), each.how
        for seed, sample, answer in _answers(each, of_seeds):
            usable = answer.problem is None
            rows.append((*key, seed, sample, answer.label, usable, answer.problem, answer.steps, answer.agreement, how))
            spans += [(*key, seed, sample, number, *span) for number, span in enumerate(answer.spans)]
        for seed, own in of_seeds.items():
            draws = len(own) // len(each.samples)
            calls += [
                (*key, seed, each.samples[place // draws][0], place % draws, one.call) for place, one in enumerate(own)
            ]
    failed = [(*key, error) for key, error in failures.items()]
    return Computed(
        {
            "answer": pl.DataFrame(rows, schema=ANSWER, orient="row"),
            "answer_span": pl.DataFrame(spans, schema=ANSWER_SPAN, orient="row"),
        },
        pl.DataFrame(failed, schema={**_PARTITION, "error": pl.String}, orient="row"),
        {"answer_call": pl.DataFrame(calls, schema=ANSWER_CALL, orient="row")},
    )


def _work(warehouse: Warehouse, systems: Systems, due: pl.DataFrame) -> tuple[list[Work], dict[tuple[str, str], str]]:
    """What there is to answer, by task, so that a budget that ends leaves whole tasks; and what has a fault."""
    registry = systems.provider.registry()
    with_answers = {model for model, _ in _imported(warehouse)}
    work: list[Work] = []
    failures: dict[tuple[str, str], str] = {}
    for task, own in groupby(due.sort("task", "model").select("task", "model").iter_rows(), lambda row: row[0]):
        key = pl.DataFrame({"task": [task]})
        samples, spans = warehouse.read("task_sample", key), warehouse.read("task_span", key)
        test = samples.filter(split="test").sort("position").select("sample", "texts").rows()
        models = [model for _, model in own]
        shots = any(registry.models[model].answering.shots for model in models if model in registry.models)
        train = showable(samples) if shots else samples.clear()
        for model in models:
            try:
                description = tasks.tasks(warehouse, [task])[task]
                if model not in registry.models:
                    work.append(Work(model, description, test, _stored(warehouse, model, task)))
                    continue
                if model in with_answers:
                    raise _both(model)
                called = systems.provider.model(model)
                how = called.settings.answering
                forms = [
                    Form(called, description, tuple(examples(description, train, spans, how.shots, seed)), seed)
                    for seed in how.seeds
                ]
                work.append(Work(model, description, test, Called(tuple(forms))))
            except BadInput as fault:
                failures[model, task] = str(fault)
    return work, failures


def _both(model: str) -> BadInput:
    return BadInput(
        model, "", "is in the registry, and answers were imported under its name", "rename it in the registry"
    )


def _imported(warehouse: Warehouse) -> dict[tuple[str, str], str]:
    """Hash of the answers that were imported, by model and task."""
    rows = warehouse.read("imported_answer", columns=["model", "task", "sample", "fingerprint"]).rows()
    grouped = groupby(rows, lambda row: (str(row[0]), str(row[1])))
    return {key: digest(*((sample, own) for _, _, sample, own in answers)) for key, answers in grouped}


def _stored(warehouse: Warehouse, model: str, task: str) -> Stored:
    rows = warehouse.read("imported_answer", pl.DataFrame({"model": [model], "task": [task]}))
    return Stored(dict(rows.select("sample", "answer").iter_rows()), Path(rows["file"][0]).name)


# Asking.


def _estimate(systems: Systems, work: Sequence[Work]) -> Estimate:
    by_model: dict[str, list[Question]] = {}
    for each in work:
        if isinstance(each.source, Called):
            own = by_model.setdefault(each.model, [])
            own += each.source.questions([texts for _, texts in each.samples])
    return total(estimate(questions, systems.provider.ledger) for questions in by_model.values())


def _drawn(systems: Systems, work: Sequence[Work], run: str) -> list[dict[int, list[Drawn]]]:
    """For each piece of work what came of its questions, by seed: sample by sample, draw by draw."""
    asked = [
        (place, form, texts, number)
        for place, each in enumerate(work) if isinstance(each.source, Called)
        for form, draws in each.source.asked() for _, texts in each.samples for number in draws
    ]  # fmt: skip
    found: list[dict[int, list[Drawn]]] = [{} for _ in work]
    if not asked:
        return found
    logger.info("tasks: %s", _estimate(systems, work))
    questions = [form.question(texts, number) for _, form, texts, number in asked]
    # An empty reply as often as one is asked again, in whatever runs: these are paid for no more.
    silent = ended(systems.provider.ledger, [each.key for each in questions], Outcome.EMPTY, RETRIES + 1)

    async def ask_all() -> list[Drawn]:
        async with systems.provider.opened(run) as client:

            async def one(question: Question) -> Drawn:
                if question.key in silent:
                    return Drawn(question.key, Reading(Outcome.EMPTY))
                return await draw(client.ask, question)

            return await at_once(client, one, questions, (form.model for _, form, _, _ in asked), "tasks")

    for (place, form, _, _), drawn in zip(asked, complete(ask_all()), strict=True):
        found[place].setdefault(form.seed, []).append(drawn)
    return found


# From replies to answers.


def _answers(work: Work, drawn: Mapping[int, Sequence[Drawn]]) -> Iterator[tuple[int, str, Answer]]:
    """The answer to each sample, by seed."""
    if not isinstance(work.source, Called):
        for sample, texts in work.samples:
            stored = work.source.answers.get(sample)
            reading = Reading(Outcome.ANSWERED, stored or "", finish="stop")
            parsed = NOT_IMPORTED if stored is None else _parsed(work.description, reading)
            yield IMPORTED_SEED, sample, settled(work.description, texts, [parsed])
        return
    for seed, own in drawn.items():
        draws = len(own) // len(work.samples)
        for place, (sample, texts) in enumerate(work.samples):
            readings = [one.reading for one in own[place * draws : (place + 1) * draws]]
            parsed_draws = [_parsed(work.description, reading) for reading in readings if reading]
            yield seed, sample, settled(work.description, texts, parsed_draws)


def _parsed(description: TaskDescription, reading: Reading) -> Parsed:
    if description.kind == "classes":
        return parse_label(reading, list(description.classes), description.labels)
    return parse_spans(reading, list(description.types))


def settled(description: TaskDescription, texts: str, draws: Sequence[Parsed]) -> Answer:
    """The answer that comes of the draws on a sample, of which unusable ones have no voice.

    Of classes the most frequent, the one drawn first where several are. Where no draw is usable the answer is none: the
    negative class, if the task has one, or no span.

    Parameters
    ----------
    texts
        The texts of the sample, as JSON.
    """
    usable = [each for each in draws if not each.problem]
    if not usable:
        label = description.negative or None
        shares = 0.0 if len(draws) > 1 else None
        return Answer(label, (), draws[0].problem, words(draws[0].steps), shares)
    if description.kind == "classes":
        counts = Counter(each.label for each in usable)
        label = max(counts, key=counts.__getitem__)  # the first of equals, as they were drawn
        same = [each for each in usable if each.label == label]
        spans: tuple[Located, ...] = ()
    else:
        text = json.loads(texts)[description.marked]
        places = [_placed(text, each.spans) for each in usable]
        label, spans = None, agreed(places)
        same = [each for each, own in zip(usable, places, strict=True) if set(own) == set(spans)]
    behind = same if description.kind == "classes" else usable
    steps = words(step for each in behind for step in each.steps)
    return Answer(label, spans, None, steps, len(same) / len(draws) if len(draws) > 1 else None)


def agreed(draws: Sequence[Sequence[Located]]) -> tuple[Located, ...]:
    """Spans that more than half of the draws have.

    Two spans are the same where they have one type and overlap, or, where the text has neither, the same words. Of such
    ones the most frequent is taken, the one drawn first where several are. One draw is taken as it is.
    """
    if len(draws) == 1:
        return tuple(draws[0])
    half = len(draws) / 2
    spans = list(dict.fromkeys(span for own in draws for span in own))
    exactly = {span: sum(span in own for own in draws) for span in spans}
    about = {span: sum(any(_meet(span, other) for other in own) for own in draws) for span in spans}
    # What most draws have to the letter stays, even where it overlaps with another such span.
    chosen = [span for span in spans if exactly[span] > half]
    for span in sorted(spans, key=lambda each: (-exactly[each], -about[each])):
        if about[span] > half and not any(_meet(span, other) for other in chosen):
            chosen.append(span)
    return tuple(span for span in spans if span in chosen)


def _meet(one: Located, other: Located) -> bool:
    if one.type != other.type:
        return False
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return one.text == other.text
    return one.first < other.last and other.first < one.last


def _placed(text: str, spans: Sequence[tuple[str, str]]) -> tuple[Located, ...]:
    places = locate(text, [words for _, words in spans])
    return tuple(
        Located(kind, span, place.first, place.last, place.located)
        for (kind, span), place in zip(spans, places, strict=True)
    )
