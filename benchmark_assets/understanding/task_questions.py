"""Questions to a model about the samples of a task: one for each sample, draw and seed.

Here: requests, and the numbers that distinguish draws and seeds. Not here: parsing of replies (parsing), the majority
vote over draws and the choice of models for a task (answers), retries of a call (resources.provider.client).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmark_assets.studies.protocols import PublishedProtocol
from benchmark_assets.translation.systems import language_name
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import LABEL, PREDICTION, SPAN, TYPE, Parsed, parse_label, parse_spans
from benchmark_assets.understanding.published import published, published_schema
from benchmark_assets.understanding.shots import Example
from resources import prompts
from resources.digest import digest
from resources.prompts import Prompt
from resources.provider.asking import Template
from resources.provider.reading import Reading
from resources.provider.registry import MOST_DRAWS, Model
from resources.provider.replies import NOTHING, TEXT, choice_of, object_of

PURPOSE = "understand"

SEEDED = ("llama.cpp", "openai", "openrouter", "vllm")
"""Dialects whose requests can have a `seed`."""


@dataclass(frozen=True)
class TaskQuestions:
    """The questions to a model about a task's samples, for one seed. `shown` are the examples drawn with this seed.
    With a protocol, the model is asked in a paper's words, without examples and without a seed in the request."""

    model: Model
    description: TaskDescription
    shown: tuple[Example, ...]
    seed: int
    protocol: PublishedProtocol | None = None

    def number(self, draw: int) -> int:
        """Replicate number of a draw. It differs between seeds, so that equal requests count as different questions."""
        return self.seed * MOST_DRAWS + draw

    def template(self, draw: int) -> Template[Parsed]:
        """The template of all questions of a draw. Draws have different seeds if the requests can have a seed.

        An answer is unusable if all replies to its question are empty, or if the question exceeds the model's context.
        """
        if protocol := self.protocol:
            asked, answer = protocol.applied(self.model), published_schema(self.description)
            read_reply = partial(published, self.description, protocol)
            return Template(
                asked, protocol.prompt, {}, PURPOSE, answer, read_reply, tries=1, final=tuple(NOTHING),
                fill=protocol.filled,
            )  # fmt: skip
        prompt, values = prompted(self.description)
        filled = values | {"examples": _examples(self.description, self.shown)}

        def read(reading: Reading) -> tuple[Parsed, str | None]:
            answer = parsed(self.description, reading)
            return answer, None if answer.problem else "tolerant" if answer.steps else "strict"

        return Template(
            _seeded(self.model, self.number(draw)), prompt, filled, PURPOSE, answer_schema(self.description), read,
            tries=1, final=tuple(NOTHING),
        )  # fmt: skip


def parsed(description: TaskDescription, reading: Reading) -> Parsed:
    """Parse a reply about a sample of a task."""
    if description.kind == "classes":
        return parse_label(reading, list(description.classes), description.labels)
    return parse_spans(reading, list(description.types))


def determinants(model: Model, description: TaskDescription, protocol: PublishedProtocol | None = None) -> str:
    """Hash of everything that determines a model's answers to a task, except the samples."""
    if protocol:
        drawn = model.settings.answering.model_dump(exclude={"shots"})
        order = list(description.labels.items()), description.marked, description.negative
        return digest(*protocol.determinants, *protocol.applied(model).determinants, *order, drawn)
    prompt, values = prompted(description)
    order = list(description.labels.items()), description.marked, description.negative
    return digest(prompt.digest(**values), *order, *model.determinants, model.settings.answering.model_dump())


def summary_line(model: Model, description: TaskDescription, protocol: PublishedProtocol | None = None) -> str:
    """Settings of a model's questions about a task, as one line: prompt, shots, draws, sampling, id at the endpoint."""
    prompt, values = (protocol.prompt, {}) if protocol else prompted(description)
    settings = (protocol.applied(model) if protocol else model).settings
    sampling = {"temperature": settings.temperature, "top_p": settings.top_p, "effort": settings.effort}
    parts = [
        f"{prompt.name} v{prompt.version} {prompt.digest(**values)[:8]}",
        f"{0 if protocol else settings.answering.shots} shots", f"{settings.answering.draws} draws",
        *(f"{name} {value}" for name, value in sampling.items() if value is not None), f"id {settings.id}",
    ]  # fmt: skip
    return ", ".join(parts)


def prompted(description: TaskDescription) -> tuple[Prompt, dict[str, str]]:
    """The prompt of a task, and the values of its variables, except the sample and the examples."""
    values = {
        "language": language_name(description.language),
        "instructions": description.instructions.strip(),
        "texts": " and ".join(f"`{name}`" for name in description.texts),
    }
    if description.kind == "classes":
        classes = [
            f"{place}. {name}: {meaning}" for place, (name, meaning) in enumerate(description.classes.items(), 1)
        ]
        return prompts.load("classify"), values | {"classes": "\n".join(classes)}
    types = "\n".join(f"- {name}: {meaning}" for name, meaning in description.types.items())
    return prompts.load("mark"), values | {"types": types, "marked": description.marked}


def answer_schema(description: TaskDescription) -> dict[str, Any]:
    """JSON schema of an answer."""
    if description.kind == "classes":
        return object_of({LABEL: choice_of(description.classes)})
    span = object_of({TYPE: choice_of(description.types), SPAN: TEXT})
    return object_of({PREDICTION: {"type": "array", "items": span}})


def _seeded(model: Model, number: int) -> Model:
    """The model with the seed of a replicate: the seed in the model's registry entry (0 if it has none) plus `number`.

    A model without a seed in its entry is returned unchanged if its dialect has no seeds, or if it is pinned to an
    upstream provider: a provider that does not support `seed` would refuse the request.
    """
    settings = model.settings
    if settings.seed is None and (model.endpoint.dialect not in SEEDED or settings.pin):
        return model
    return replace(model, settings=settings.model_copy(update={"seed": (settings.seed or 0) + number}))


def _examples(description: TaskDescription, shown: Sequence[Example]) -> str:
    if not shown:
        return "(none)"
    return "\n\n".join(
        f"{json.dumps(json.loads(example.texts), ensure_ascii=False, indent=1)}\n{_answer(description, example)}"
        for example in shown
    )


def _answer(description: TaskDescription, example: Example) -> str:
    """The correct answer to an example, in the form that the model must use."""
    if description.kind == "classes":
        return json.dumps({LABEL: example.label}, ensure_ascii=False)
    spans = [{TYPE: kind, SPAN: text} for kind, text in example.spans]
    return json.dumps({PREDICTION: spans}, ensure_ascii=False)
