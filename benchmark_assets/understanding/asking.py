"""Questions to a model about the samples of a task: one for each sample, draw and seed.

Here: the requests, and how draws and seeds differ. Not here: reading of replies (parsing), which models answer which
tasks and the majority of draws (answers), retries of a call (resources.provider.client).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmark_assets.translation.systems import language_name
from benchmark_assets.understanding.description import TaskDescription
from benchmark_assets.understanding.parsing import (
    LABEL,
    PREDICTION,
    SPAN,
    TYPE,
    Parsed,
    parse_label,
    parse_spans,
)
from benchmark_assets.understanding.shots import Example
from resources import prompts
from resources.digest import digest
from resources.prompts import Prompt
from resources.provider.asking import Template
from resources.provider.reading import Reading
from resources.provider.registry import MOST_DRAWS, Model
from resources.provider.replies import NOTHING, schema_of

PURPOSE = "understand"

SEEDED = ("llama.cpp", "openai", "openrouter", "vllm")
"""Dialects whose requests may have a `seed`."""


@dataclass(frozen=True)
class Form:
    """The questions to a model about the samples of a task, for one seed and the examples shown."""

    model: Model
    description: TaskDescription
    shown: tuple[Example, ...]
    seed: int

    def number(self, draw: int) -> int:
        """The replicate of a draw. Draws and seeds are different questions, even if their requests are equal."""
        return self.seed * MOST_DRAWS + draw

    def template(self, draw: int) -> Template[Parsed]:
        """The common part of all questions of a draw, with the draw's own seed if requests can have a seed.

        If a model's replies stay empty, or its context is too short for the question, the question counts as answered,
        with an unusable answer.
        """
        prompt, values = prompted(self.description)
        shown = values | {"examples": _examples(self.description, self.shown)}

        def read(reading: Reading) -> tuple[Parsed, None]:
            return parsed(self.description, reading), None

        return Template(
            _seeded(self.model, self.number(draw)), prompt, shown, PURPOSE, answer_schema(self.description), read,
            tries=1, final=tuple(NOTHING),
        )  # fmt: skip


def parsed(description: TaskDescription, reading: Reading) -> Parsed:
    """Parse a reply about a sample of a task."""
    if description.kind == "classes":
        return parse_label(reading, list(description.classes), description.labels)
    return parse_spans(reading, list(description.types))


def determinants(model: Model, description: TaskDescription) -> str:
    """Hash of what determines the answers of a model to a task, besides its samples."""
    prompt, values = prompted(description)
    order = list(description.labels.items()), description.marked, description.negative
    return digest(prompt.digest(**values), *order, *model.determinants, model.settings.answering.model_dump())


def summary_line(model: Model, description: TaskDescription) -> str:
    """How a model is asked about a task, in a line: prompt, examples, draws, sampling, its name at the endpoint."""
    prompt, values = prompted(description)
    own = model.settings
    sampling = {"temperature": own.temperature, "top_p": own.top_p, "effort": own.effort}
    parts = [
        f"{prompt.name} v{prompt.version} {prompt.digest(**values)[:8]}",
        f"{own.answering.shots} shots", f"{own.answering.draws} draws",
        *(f"{name} {value}" for name, value in sampling.items() if value is not None), f"id {own.id}",
    ]  # fmt: skip
    return ", ".join(parts)


def prompted(description: TaskDescription) -> tuple[Prompt, dict[str, str]]:
    """The prompt of a task, and the values of the variables that all samples and seeds share."""
    values = {
        "language": language_name(description.language),
        "instructions": description.instructions.strip(),
        "texts": " and ".join(f"`{name}`" for name in description.texts),
    }
    if description.kind == "classes":
        named = [f"{number}. {name}: {what}" for number, (name, what) in enumerate(description.classes.items(), 1)]
        return prompts.load("classify"), values | {"classes": "\n".join(named)}
    types = "\n".join(f"- {name}: {what}" for name, what in description.types.items())
    return prompts.load("mark"), values | {"types": types, "marked": description.marked}


def answer_schema(description: TaskDescription) -> dict[str, Any]:
    """JSON schema of an answer."""
    if description.kind == "classes":
        return schema_of([LABEL], {"type": "string", "enum": list(description.classes)})
    span = schema_of([TYPE, SPAN], {"type": "string"})
    span["properties"][TYPE]["enum"] = list(description.types)
    return schema_of([PREDICTION], {"type": "array", "items": span})


def _seeded(model: Model, number: int) -> Model:
    """The model with a seed, if its requests have one: by its dialect, or because its registry entry gives one, which
    is then the first of the numbers."""
    own = model.settings
    # A pinned upstream provider that does not know the field would refuse the request.
    if own.seed is None and (model.endpoint.dialect not in SEEDED or own.pin):
        return model
    return replace(model, settings=own.model_copy(update={"seed": (own.seed or 0) + number}))


def _examples(description: TaskDescription, shown: Sequence[Example]) -> str:
    if not shown:
        return "(none)"
    return "\n\n".join(f"{_indented(example.texts)}\n{_answer(description, example)}" for example in shown)


def _answer(description: TaskDescription, example: Example) -> str:
    """The answer to an example, as the model should give it."""
    if description.kind == "classes":
        return json.dumps({LABEL: example.label}, ensure_ascii=False)
    spans = [{TYPE: kind, SPAN: text} for kind, text in example.spans]
    return json.dumps({PREDICTION: spans}, ensure_ascii=False)


def _indented(texts: str) -> str:
    return json.dumps(json.loads(texts), ensure_ascii=False, indent=1)
