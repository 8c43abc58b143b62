"""Requests for translations: a batch of passages, a chunk with its contexts, or a chunk line by line.

Here: one interface for these three forms, and the JSON object that describes a chunk in its prompt (LiTERatE, System
Input Format). Not here: repeated questions about a passage (translation.passage_questions), the choice of the form
(translation.systems).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from benchmark_assets.translation.passage_questions import (
    PURPOSE,
    TRIES,
    Output,
    Passages,
    output_of,
    text_under,
    translate,
)
from resources.prompts import Prompt
from resources.provider.asking import Ask, Template, fields, insist
from resources.provider.question import Question
from resources.provider.registry import Model
from resources.provider.replies import TEXT, schema_of

ANSWER = "translation"
"""Key of a chunk's translation in a reply."""

PARSINGS = ("strict", "repaired", "tolerant", "prefix")
"""Ways of parsing a reply, the most reliable first."""


class Request(Protocol):
    """Passages that a model is asked to translate together."""

    def questions(self) -> Sequence[Question]:
        """The questions that the request asks before it repeats any; used to estimate the cost."""

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask until each passage has an output; return the outputs, which name passages by their keys."""


@dataclass(frozen=True)
class BatchRequest:
    """Independent passages: `texts` maps passage ids to source texts, `passages` maps passage ids to partition keys."""

    template: Passages
    texts: Mapping[str, str]
    passages: Mapping[str, str]

    def questions(self) -> list[Question]:
        """A single question about all passages."""
        return [self.template(self.texts).question(self.texts)]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Translate the batch."""
        return [
            output._replace(passage=self.passages[output.passage], batch=self.passages[str(output.batch)])
            for output in await translate(ask, self.template, self.texts)
        ]


@dataclass(frozen=True)
class ChunkRequest:
    """A chunk with its contexts and glossary; `item` is the result of `chunk_item`."""

    template: Template[str]
    passage: str
    item: Mapping[str, Any]

    def questions(self) -> list[Question]:
        """A single question about the chunk."""
        return [self.template.question(self.item)]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Translate the chunk."""
        return [output_of(self.passage, self.passage, await insist(ask, self.template, self.item))]


@dataclass(frozen=True)
class LinesRequest:
    """A chunk that is translated line by line.

    In the prompt, a line has the id `ID.NUMBER`, where ID is `id` and lines are numbered from 1. At least one line of
    `text` is not empty.
    """

    template: Passages
    passage: str
    id: str
    text: str

    def questions(self) -> list[Question]:
        """One question for each line that is not empty."""
        return [self.template(line).question(line) for line in self._lines().values()]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Translate line by line, and return a single output that consists of translated lines and empty lines.

        If a line gets no translation, its refusal or error becomes the output of the chunk. `call` is the call of the
        last line, and `parsing` is the least reliable parsing of any line.
        """
        lines = [""] * len(self.text.split("\n"))
        outputs: list[Output] = []
        for number, line in self._lines().items():
            (output,) = await translate(ask, self.template, line)
            if output.text is None:
                return [output._replace(passage=self.passage, batch=self.passage)]
            # A translated line must stay a single line, so that lines of chunk and output correspond.
            lines[number] = " ".join(output.text.split())
            outputs.append(output)
        parsing = max((str(output.parsing) for output in outputs), key=PARSINGS.index)
        return [Output(self.passage, "\n".join(lines), batch=self.passage, call=outputs[-1].call, parsing=parsing)]

    def _lines(self) -> dict[int, dict[str, str]]:
        """Map the index (from 0) of each line that is not empty to the object that is sent for it: {line id: text}."""
        lines = enumerate(self.text.split("\n"))
        return {number: {f"{self.id}.{number + 1}": line.strip()} for number, line in lines if line.strip()}


def chunk_template(model: Model, prompt: Prompt, languages: Mapping[str, str]) -> Template[str]:
    """The template of questions about chunks. `languages` maps variables of the prompt to names of languages."""
    schema = schema_of([ANSWER], TEXT)
    return Template(model, prompt, languages, PURPOSE, schema, fields(schema, partial(text_under, ANSWER)), tries=TRIES)


def chunk_item(text: str, previous: str | None, following: str | None, glossary: Sequence[Mapping[str, str]]) -> Any:
    """The item of a chunk in a prompt. A context of None, as at the ends of a document, becomes ''."""
    return {"previous": previous or "", "text": text, "next": following or "", "glossary": list(glossary)}
