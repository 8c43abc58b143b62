"""Answers of models to the samples of tasks: which model answers which task, the questions of a run, the majority.

Here: rows of answers, from models of the registry and from imported files. Not here: requests (asking), reading of
replies (parsing), files of answers (answer_imports), scores.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.studies.study import Answered, Group, Item, ItemStudy
from benchmark_assets.translation.systems import Systems
from benchmark_assets.understanding import tasks
from benchmark_assets.understanding.asking import Form, determinants, parsed, summary_line
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import Parsed, words
from benchmark_assets.understanding.shots import Example, examples, showable
from benchmark_assets.understanding.spans import locate
from resources.catalogue import schema
from resources.digest import digest
from resources.errors import BadInput
from resources.provider.asking import Verdict
from resources.provider.client import RETRIES
from resources.provider.ledger import ended
from resources.provider.reading import Outcome, Reading
from resources.provider.registry import Model
from resources.warehouse import Warehouse

IMPORTED_SEED = 1
"""The seed stored with imported answers, whose files name none."""

NOT_IMPORTED = Parsed(problem="no answer was imported")


class Located(NamedTuple):
    """A span of an answer and its place in the text: characters, half-open; None if `located` is 'absent'."""

    type: str
    text: str
    first: int | None
    last: int | None
    located: str


class SampleAnswer(NamedTuple):
    """The answer to a sample, from all draws. `problem` is the reason why it is unusable, None if it is usable;
    `agreement` is the share of draws that gave exactly this answer, None for a single draw."""

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
        """Sample and texts (JSON) of the test split, in order."""
        return self._all.filter(split="test").sort("position").select("sample", "texts").rows()

    @cached_property
    def _showable(self) -> pl.DataFrame:
        return showable(self._all)

    def examples(self, shots: int, seed: int) -> tuple[Example, ...]:
        """Examples of the train split to show to a model; raises BadInput if there are too few."""
        train = self._showable if shots else self._all.clear()
        return tuple(examples(self.description, train, self._spans, shots, seed))


class Facts(NamedTuple):
    """What the rows of an answer need besides the reply: the task, the sample's texts (JSON), and how the answer was
    obtained."""

    description: TaskDescription
    texts: str
    how: str


Answering = tuple[TaskSamples, Model | None]
"""The samples of a task, and the model that is asked; None where its answers were imported."""


class TaskAnswers(ItemStudy[Answering]):
    """Answers of a model to the samples of a task's test split.

    A sample is asked again only if the sample, the task or the model changed. Answers of a model that was removed from
    the registry stay as they are.
    """

    name = "answer"
    tables = ("answer_span",)
    dims = ("model", "task")

    def settings(self, asked: pl.DataFrame) -> pl.DataFrame:
        """One row for each model and each task that it answers. `settings` is null for models that are no longer
        registered, and for tasks whose description cannot be read."""
        kept = ~pl.col("model").is_in(list(self.systems.known(asked["model"].unique())))
        kept |= ~pl.col("task").is_in(list(self._described(asked)))
        current = super().settings(asked.filter(~kept))
        return pl.concat([asked.filter(kept).select(*self.dims, settings=pl.lit(None, pl.String)), current])

    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[Answering]]:
        """Each model with each task that it answers. A model of the registry answers the tasks that its `corpora`
        allow; any other model, the tasks with imported answers. Ordered by task: if the budget runs out, the tasks
        answered so far are complete."""
        models, imported = self.provider.registry().models, _imported(self.warehouse)
        with_answers = {model for model, _ in imported}
        described = self._described(partitions)
        samples = {task: TaskSamples(self.warehouse, description) for task, description in described.items()}
        for model, task in partitions.sort("task", "model").select(self.dims).iter_rows():
            partition = pl.DataFrame({"model": [model], "task": [task]})
            if task not in described:
                continue
            description, entry = described[task], models.get(model)
            if entry and model in with_answers:
                problem = "is in the registry, and answers were imported under its name"
                fault = BadInput(model, "", problem, "rename it in the registry")
                yield Group(partition, fault, str(fault))
            elif entry and (entry.corpora is None or task in entry.corpora):
                called = self.provider.model(model)
                yield Group(partition, (samples[task], called), determinants(called, description))
            elif not entry and (model, task) in imported:
                how = description.classes, description.labels, description.negative, description.types
                fingerprint = digest(imported[model, task], *how, description.marked)
                yield Group(partition, (samples[task], None), fingerprint)

    def items(self, partitions: pl.DataFrame, how: Answering) -> Iterator[Item]:
        """One item for each sample of the test split, seed and draw; items of imported answers are settled."""
        (partition,) = partitions.select(self.dims).rows()
        samples, model = how
        return self._imported_items(partition, samples) if model is None else self._asked(partition, samples, model)

    def rows(self, judged: Sequence[Answered]) -> Mapping[str, pl.DataFrame]:
        """Answers and their spans, one answer from all draws on a sample."""
        rows: list[Mapping[str, object]] = []
        spans: list[Mapping[str, object]] = []
        for key, draws in groupby(
            judged, lambda pair: (*pair[0].partition, pair[0].key["seed"], pair[0].key["sample"])
        ):
            pairs = list(draws)
            description, texts, how = pairs[0][0].facts
            answer = settled(description, texts, [verdict.value for _, verdict in pairs if verdict.value])
            of_sample = dict(zip(("model", "task", "seed", "sample"), key, strict=True))
            label, located, problem, steps, agreement = answer
            rows.append({
                **of_sample, "label": label, "usable": problem is None, "problem": problem, "steps": steps,
                "agreement": agreement, "how": how,
            })  # fmt: skip
            spans += [{**of_sample, "number": number, **span._asdict()} for number, span in enumerate(located)]
        tables = {"answer": rows, "answer_span": spans}
        return {table: pl.DataFrame(content, schema=schema(table)) for table, content in tables.items()}

    def fault(self, item: Item, verdict: Verdict[Parsed]) -> str:
        """The error of a call."""
        return verdict.error or ""

    def failure(self, faults: Sequence[str], items: int) -> str:
        """Number of calls that failed, and their errors."""
        return f"{len(faults)} of {items} questions have no reply: {'; '.join(dict.fromkeys(faults))}"

    def _described(self, partitions: pl.DataFrame) -> Mapping[str, TaskDescription]:
        descriptions = tasks.readable(self.warehouse, partitions["task"].unique().to_list())
        return {task: description for task, description in descriptions.items() if description}

    def _asked(self, partition: tuple[str, ...], samples: TaskSamples, model: Model) -> Iterator[Item]:
        answering, description = model.settings.answering, samples.description
        how = summary_line(model, description)
        items: list[Item] = []
        for seed in answering.seeds:
            form = Form(model, description, samples.examples(answering.shots, seed), seed)
            templates = [form.template(draw) for draw in range(answering.draws)]
            for sample, texts in samples.test:
                content, facts = json.loads(texts), Facts(description, texts, how)
                for draw, template in enumerate(templates):
                    key: dict[str, str | int] = {"seed": seed, "sample": sample, "draw": draw}
                    items.append(Item(partition, key, template, content, None, form.number(draw), facts))
        # A call whose replies were empty RETRIES + 1 times, in any runs, is not asked and paid for again.
        calls = [item.question.key for item in items if item.question]
        silent = ended(self.provider.ledger, calls, Outcome.EMPTY, RETRIES + 1)
        empty = parsed(description, Reading(Outcome.EMPTY))
        for call, item in zip(calls, items, strict=True):
            yield replace(item, settled=Verdict(call, 1, empty)) if call in silent else item

    def _imported_items(self, partition: tuple[str, ...], samples: TaskSamples) -> Iterator[Item]:
        key = pl.DataFrame([partition], schema=dict.fromkeys(self.dims, pl.String), orient="row")
        imported = self.warehouse.read("imported_answer", key)
        answers = dict(imported.select("sample", "answer").iter_rows())
        how = f"imported from {Path(imported['file'][0]).name}"
        for sample, texts in samples.test:
            given = answers.get(sample)
            reading = Reading(Outcome.ANSWERED, given or "", finish="stop")
            answer = NOT_IMPORTED if given is None else parsed(samples.description, reading)
            of_sample: dict[str, str | int] = {"seed": IMPORTED_SEED, "sample": sample, "draw": 0}
            facts = Facts(samples.description, texts, how)
            yield Item(partition, of_sample, None, None, Verdict(value=answer), facts=facts)


def covered(warehouse: Warehouse, systems: Systems, models: Sequence[str], codes: Sequence[str]) -> set[str]:
    """Tasks that at least one of the models answers."""
    grid = pl.DataFrame({"model": models}, schema={"model": pl.String}).join(
        pl.DataFrame({"task": codes}, schema={"task": pl.String}), how="cross"
    )
    return set(TaskAnswers(warehouse, systems).settings(grid).drop_nulls()["task"])


def _imported(warehouse: Warehouse) -> dict[tuple[str, str], str]:
    """Hash of the imported answers, by model and task."""
    rows = warehouse.read("imported_answer", columns=["model", "task", "sample", "fingerprint"]).rows()
    grouped = groupby(rows, lambda row: (str(row[0]), str(row[1])))
    return {key: digest(*((sample, fingerprint) for _, _, sample, fingerprint in answers)) for key, answers in grouped}


# From draws to an answer.


def settled(description: TaskDescription, texts: str, draws: Sequence[Parsed]) -> SampleAnswer:
    """The answer to a sample, by majority of its usable draws.

    For classes: the most frequent class; of several, the one drawn first. For spans: see `agreed`. If no draw is
    usable, the answer is the negative class, if the task has one, or no span.

    Parameters
    ----------
    texts
        The texts of the sample, as JSON.
    """
    usable = [draw for draw in draws if not draw.problem]
    if not usable:
        label = description.negative or None
        shares = 0.0 if len(draws) > 1 else None
        return SampleAnswer(label, (), draws[0].problem, words(draws[0].steps), shares)
    if description.kind == "classes":
        counts = Counter(draw.label for draw in usable)
        label = max(counts, key=counts.__getitem__)  # ties: the class drawn first
        same = [draw for draw in usable if draw.label == label]
        spans: tuple[Located, ...] = ()
    else:
        text = json.loads(texts)[description.marked]
        places = [_placed(text, draw.spans) for draw in usable]
        label, spans = None, agreed(places)
        same = [draw for draw, located in zip(usable, places, strict=True) if set(located) == set(spans)]
    behind = same if description.kind == "classes" else usable
    steps = words(step for draw in behind for step in draw.steps)
    return SampleAnswer(label, spans, None, steps, len(same) / len(draws) if len(draws) > 1 else None)


def agreed(draws: Sequence[Sequence[Located]]) -> tuple[Located, ...]:
    """Spans that more than half of the draws have.

    Two spans count as the same if they have the same type and overlap; spans without a place, if they have the same
    type and words. Of such variants the most frequent is taken; of several, the one drawn first. The spans of a single
    draw are returned unchanged.
    """
    if len(draws) == 1:
        return tuple(draws[0])
    half = len(draws) / 2
    spans = list(dict.fromkeys(span for draw in draws for span in draw))
    exactly = {span: sum(span in draw for draw in draws) for span in spans}
    about = {span: sum(any(_meet(span, other) for other in draw) for draw in draws) for span in spans}
    # A span that most draws have exactly stays, even if it overlaps with another such span.
    chosen = [span for span in spans if exactly[span] > half]
    for span in sorted(spans, key=lambda span: (-exactly[span], -about[span])):
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
