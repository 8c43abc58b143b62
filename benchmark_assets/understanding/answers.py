"""Answers of models to the samples of tasks: the tasks of each model, its questions, the majority vote over its draws.

Here: rows of `answer` and `answer_span`, from registered models and from imported files. Not here: requests
(task_questions), parsing of replies (parsing), import of files (answer_imports), scores (task_scores).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.studies.protocols import protocols
from benchmark_assets.studies.study import Answered, Group, Item, ItemStudy
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding import tasks
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import Parsed, words
from benchmark_assets.understanding.shots import Example, examples, showable
from benchmark_assets.understanding.spans import locate
from benchmark_assets.understanding.task_questions import TaskQuestions, determinants, parsed, summary_line
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput
from resources.provider.asking import Verdict
from resources.provider.client import RETRIES
from resources.provider.reading import Outcome, Reading
from resources.provider.registry import Model
from resources.quotations import places
from resources.warehouse import Warehouse

IMPORTED_SEED = 1
"""Seed stored with imported answers, whose files have no seeds."""

NOT_IMPORTED = Parsed(problem="no answer was imported")


class Located(NamedTuple):
    """A span of an answer and its location in the text.

    `first` and `last` are character offsets, half-open; None if `located` is 'absent'.
    """

    type: str
    text: str
    first: int | None
    last: int | None
    located: str


class SampleAnswer(NamedTuple):
    """The answer to a sample, from all draws.

    `problem` is the reason why the answer is unusable; None if it is usable. `steps` are the parsing steps as stored.
    `agreement` is the share of draws that gave exactly this answer, 0 to 1; None for a single draw.
    """

    label: str | None
    spans: tuple[Located, ...]
    problem: str | None
    steps: str
    agreement: float | None


class TaskSamples:
    """The samples of a task, read on first use and shared by all models that answer the task."""

    def __init__(self, warehouse: Warehouse, description: TaskDescription) -> None:
        self.description, self._warehouse = description, warehouse
        self._key = pl.DataFrame({"task": [description.task]})

    @cached_property
    def _all(self) -> pl.DataFrame:
        return self._warehouse.read("task_sample", self._key)

    @cached_property
    def _spans(self) -> pl.DataFrame:
        return self._warehouse.read("task_span", self._key)

    @cached_property
    def test(self) -> list[tuple[str, str]]:
        """Name and texts (JSON) of each sample of the test split, in the order of the file."""
        return self._all.filter(split="test").sort("position").select("sample", "texts").rows()

    @cached_property
    def _showable(self) -> pl.DataFrame:
        return showable(self._all)

    def examples(self, shots: int, seed: int) -> tuple[Example, ...]:
        """Examples from the train split to show to a model. Raises BadInput if the split has too few."""
        train = self._showable if shots else self._all.clear()
        return tuple(examples(self.description, train, self._spans, shots, seed))


class Facts(NamedTuple):
    """Inputs for an answer's rows. `texts` are the sample's texts as JSON, `how` tells how the answer was obtained."""

    description: TaskDescription
    texts: str
    how: str


Answering = tuple[TaskSamples, Model | None]
"""The samples of a task, and the model to ask; None instead of a model if the answers were imported."""


class TaskAnswers(ItemStudy[Answering]):
    """Answers of a model to the samples of a task's test split.

    A model is asked about a sample again only if the sample, the task or the model changes. Answers of models that were
    removed from the registry are kept.
    """

    name = "answer"
    tables = ("answer_span",)
    dims = ("model", "task")

    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """One row for each model and each task that it answers: `model`, `task`, `settings`.

        `settings` is null for models that are no longer registered, and for tasks whose description cannot be read.
        """
        registered = pl.col("model").is_in(list(self.systems.known(partitions["model"].unique())))
        current = registered & pl.col("task").is_in(list(self._described(partitions)))
        retained = partitions.filter(~current).select(*self.dims, settings=pl.lit(None, pl.String))
        return pl.concat([retained, super().settings(partitions.filter(current))])

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Answering]]:
        """One group for each model and each task that it answers.

        A registered model answers the tasks that its `corpora` allow: all samples, or those that a limited evaluation
        chose. Any other model has the tasks for which answers were imported. Groups are sorted by task, so that earlier
        tasks are complete if the budget runs out.
        """
        models, imported = self.provider.registry().models, _imported(self.warehouse)
        with_answers = {model for model, _ in imported}
        described = self._described(partitions)
        samples = {task: TaskSamples(self.warehouse, description) for task, description in described.items()}
        published = cache(partial(protocols, self.warehouse, "answer"))
        for model, task in partitions.sort("task", "model").select(self.dims).iter_rows():
            partition = pl.DataFrame({"model": [model], "task": [task]})
            if task not in described:
                continue
            description, entry = described[task], models.get(model)
            if entry and model in with_answers:
                problem = "is in the registry, and answers were imported under its name"
                fault = BadInput(model, "", problem, "rename the model in the registry")
                yield Group(partition, fault, str(fault))
            elif entry and (entry.corpora is None or task in entry.corpora):
                called, chosen = self.provider.model(model), self._chosen(model, task)
                fingerprint = determinants(called, description, published(model).get(task))
                fingerprint = digest(fingerprint, sorted(chosen)) if chosen else fingerprint
                yield Group(partition, (samples[task], called), fingerprint)
            elif not entry and (model, task) in imported:
                how = description.classes, description.labels, description.negative, description.types
                fingerprint = digest(imported[model, task], *how, description.marked)
                yield Group(partition, (samples[task], None), fingerprint)

    def older(self, calls: pl.DataFrame) -> pl.DataFrame:
        """Calls of tasks with an unusable answer: earlier versions recorded no way of parsing for any answer."""
        unusable = self.warehouse.read("answer", pl.DataFrame({"usable": [False]}), self.dims)
        return calls.join(unusable, on=self.dims, how="semi")

    def items(self, partitions: pl.DataFrame, how: Answering) -> Iterator[Item]:
        """One item for each test sample, seed and draw. Items of imported answers have their verdict already."""
        samples, model = how
        return self._questions(partitions, samples, model) if model else self._imported_items(partitions, samples)

    def rows(self, judged: Sequence[Answered]) -> Mapping[str, pl.DataFrame]:
        """Rows of `answer` and `answer_span`: one answer for each sample and seed, from all its draws."""
        rows: list[Mapping[str, object]] = []
        spans: list[Mapping[str, object]] = []
        for key, pairs in groupby(
            judged, lambda pair: (*pair[0].partition, pair[0].key["seed"], pair[0].key["sample"])
        ):
            items, verdicts = zip(*pairs, strict=True)
            description, texts, how = items[0].facts
            answer = settled(description, texts, [verdict.value for verdict in verdicts if verdict.value])
            of_sample = dict(zip(("model", "task", "seed", "sample"), key, strict=True))
            rows.append({**of_sample, **answer._asdict(), "usable": answer.problem is None, "how": how})
            spans += [{**of_sample, "number": number, **span._asdict()} for number, span in enumerate(answer.spans)]
        tables = {"answer": rows, "answer_span": spans}
        return {table: pl.DataFrame(content, schema=schema(table)) for table, content in tables.items()}

    def fault(self, item: Item, verdict: Verdict[Parsed]) -> str:
        """The error of the item's call; '' if the call did not fail."""
        return verdict.error or ""

    def failure(self, faults: Sequence[str], items: int) -> str:
        """Number of questions without a reply, and the distinct errors."""
        return f"{len(faults)} of {items} questions have no reply: {'; '.join(dict.fromkeys(faults))}"

    def _described(self, partitions: pl.DataFrame) -> Mapping[str, TaskDescription]:
        descriptions = tasks.readable(self.warehouse, partitions["task"].unique().to_list())
        return {task: description for task, description in descriptions.items() if description}

    def _chosen(self, model: str, task: str) -> set[str]:
        """The samples of a limited evaluation; none if the evaluation is not limited."""
        key = pl.DataFrame({"model": [model], "task": [task]})
        return set(self.warehouse.read("limited_item", key, ["sample"])["sample"])

    def _questions(self, partitions: pl.DataFrame, samples: TaskSamples, model: Model) -> Iterator[Item]:
        (partition,) = partitions.select(self.dims).rows()
        answering, description = model.settings.answering, samples.description
        chosen = self._chosen(model.name, description.task)
        protocol = protocols(self.warehouse, "answer", model.name).get(description.task)
        how = summary_line(model, description, protocol)
        # In papers, an answer without a class is simply wrong.
        counted = description.model_copy(update={"negative": ""}) if protocol else description
        items: list[Item] = []
        for seed in answering.seeds:
            shown = () if protocol else samples.examples(answering.shots, seed)
            form = TaskQuestions(model, description, shown, seed, protocol)
            templates = [form.template(draw) for draw in range(answering.draws)]
            for sample, texts in samples.test:
                if chosen and sample not in chosen:
                    continue
                content, facts = json.loads(texts), Facts(counted, texts, how)
                for draw, template in enumerate(templates):
                    key: dict[str, str | int] = {"seed": seed, "sample": sample, "draw": draw}
                    items.append(Item(partition, key, template, content, None, form.number(draw), facts))
        # A call that got RETRIES + 1 empty replies, over all runs, is not repeated: repeating it would cost again. If
        # the model draws no lots, two replies that it ended by itself suffice.
        calls = [item.question.key for item in items if item.question]
        empty_calls = self.provider.ledger.ended(calls, Outcome.EMPTY, RETRIES + 1)
        if model.settings.temperature == 0:
            empty_calls |= self.provider.ledger.ended(calls, Outcome.EMPTY, 2, by_itself=True)
        empty = parsed(description, Reading(Outcome.EMPTY))
        for call, item in zip(calls, items, strict=True):
            yield replace(item, settled=Verdict(call, 1, empty)) if call in empty_calls else item

    def _imported_items(self, partitions: pl.DataFrame, samples: TaskSamples) -> Iterator[Item]:
        (partition,) = partitions.select(self.dims).rows()
        imported = self.warehouse.read("imported_answer", partitions.select(self.dims))
        answers = dict(imported.select("sample", "answer").iter_rows())
        how = f"imported from {Path(imported['file'][0]).name}"
        for sample, texts in samples.test:
            text = answers.get(sample)
            reading = Reading(Outcome.ANSWERED, text or "", finish="stop")
            answer = NOT_IMPORTED if text is None else parsed(samples.description, reading)
            of_sample: dict[str, str | int] = {"seed": IMPORTED_SEED, "sample": sample, "draw": 0}
            facts = Facts(samples.description, texts, how)
            yield Item(partition, of_sample, None, None, Verdict(value=answer), facts=facts)


def covered(warehouse: Warehouse, systems: Systems, models: Sequence[str], codes: Sequence[str]) -> set[str]:
    """Codes of the tasks that are answered by at least one of the models."""
    grid = pl.DataFrame({"model": models}, schema={"model": pl.String}).join(
        pl.DataFrame({"task": codes}, schema={"task": pl.String}), how="cross"
    )
    return set(TaskAnswers(warehouse, systems).settings(grid).drop_nulls()["task"])


def _imported(warehouse: Warehouse) -> dict[tuple[str, str], str]:
    """Hash of the imported answers of each model to each task, by model and task."""
    rows = warehouse.read("imported_answer", columns=["model", "task", "sample", "fingerprint"])
    return {key: digest(*answers) for key, answers in rows.rows_by_key(["model", "task"]).items()}


# From draws to an answer.


def settled(description: TaskDescription, texts: str, draws: Sequence[Parsed]) -> SampleAnswer:
    """The answer to a sample, by majority of its usable draws.

    In a classification task, the answer is the most frequent class; if several are equally frequent, the class drawn
    first. If no draw is usable, the answer is the negative class, or null if the task has no negative class. In a span
    task, the answer consists of the spans that `agreed` returns; if no draw is usable, the answer has no spans. `texts`
    are the sample's texts as JSON.
    """
    usable = [draw for draw in draws if not draw.problem]
    if not usable:
        label = description.negative or None
        agreement = 0.0 if len(draws) > 1 else None
        return SampleAnswer(label, (), draws[0].problem, words(draws[0].steps), agreement)
    if description.kind == "classes":
        counts = Counter(draw.label for draw in usable)
        label = max(counts, key=counts.__getitem__)  # ties: the class drawn first
        agreeing = [draw for draw in usable if draw.label == label]
        spans: tuple[Located, ...] = ()
    else:
        text = json.loads(texts)[description.marked]
        places = [placed(text, draw.spans) for draw in usable]
        label, spans = None, agreed(places)
        agreeing = [draw for draw, located in zip(usable, places, strict=True) if set(located) == set(spans)]
    contributing = agreeing if description.kind == "classes" else usable
    steps = words(step for draw in contributing for step in draw.steps)
    return SampleAnswer(label, spans, None, steps, len(agreeing) / len(draws) if len(draws) > 1 else None)


def agreed(draws: Sequence[Sequence[Located]]) -> tuple[Located, ...]:
    """Spans that occur in more than half of the draws.

    Spans of the same type count as variants of one span if they overlap or, if not located, have equal texts. Every
    variant that occurs identically in more than half of the draws is returned. If there is no such variant, the most
    frequent variant is returned. If several variants are equally frequent, the one that matches spans in the most draws
    is returned, or the first drawn if these numbers are equal, too. The spans of a single draw are returned unchanged.
    """
    if len(draws) == 1:
        return tuple(draws[0])
    half = len(draws) / 2
    spans = list(dict.fromkeys(span for draw in draws for span in draw))
    exactly = {span: sum(span in draw for draw in draws) for span in spans}
    about = {span: sum(any(_meet(span, other) for other in draw) for draw in draws) for span in spans}
    # All spans that occur with the same ends in more than half of the draws are kept, even if they overlap each other.
    majority = [span for span in spans if exactly[span] > half]
    for span in sorted(spans, key=lambda span: (-exactly[span], -about[span])):
        if about[span] > half and not any(_meet(span, other) for other in majority):
            majority.append(span)
    return tuple(span for span in spans if span in majority)


def _meet(span: Located, other: Located) -> bool:
    if span.type != other.type:
        return False
    if span.first is None or span.last is None or other.first is None or other.last is None:
        return span.text == other.text
    return span.first < other.last and other.first < span.last


def placed(text: str, spans: Sequence[tuple[str, str]]) -> tuple[Located, ...]:
    """The spans with their places. Words that the text lacks are searched as a person would: the first free place of
    words that differ in case, punctuation or quotation marks."""
    located: list[Located] = []
    for span, place in zip(spans, locate(text, [quoted for _, quoted in spans]), strict=True):
        first, last, how = place.first, place.last, place.located
        if how == "absent" and (found := places(span[1], text)):
            taken = {(each.first, each.last) for each in located}
            first, last = next((each for each in found if each not in taken), found[-1])
            how = "normalized"
        located.append(Located(*span, first, last, how))
    return tuple(located)
