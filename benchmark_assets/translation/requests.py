"""What a model is asked for at a time: a batch of passages, a chunk with what surrounds it, or a chunk line by line.

Here: the three forms behind one interface, and the item that a chunk is (LiTERatE, System Input Format). Not here: how
long a text is asked for (translation.asking), which passages are asked for in which form (translation.systems).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from benchmark_assets.translation.asking import (
    PURPOSE,
    TEXT,
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
from resources.provider.replies import schema_of

ANSWER = "translation"
"""The key under which a model answers about a chunk."""

PARSINGS = ("strict", "repaired", "prefix")
"""How a text was got out of a reply, from the surest on."""


class Request(Protocol):
    """Passages that belong together, and how they are asked for."""

    def questions(self) -> Sequence[Question]:
        """The first questions, for estimates."""

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask, as often as it takes; one output for each passage, by its key."""


@dataclass(frozen=True)
class BatchRequest:
    """Independent passages: source texts by the ids that the model sees, and all keys of passages by their id."""

    template: Passages
    texts: Mapping[str, str]
    passages: Mapping[str, str]

    def questions(self) -> list[Question]:
        """One, for all passages."""
        return [self.template(self.texts).question(self.texts)]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask for the batch."""
        return [
            output._replace(passage=self.passages[output.passage], batch=self.passages[str(output.batch)])
            for output in await translate(ask, self.template, self.texts)
        ]


@dataclass(frozen=True)
class ChunkRequest:
    """A chunk with its contexts and its glossary, as `chunk_item` has them."""

    template: Template[str]
    passage: str
    item: Mapping[str, Any]

    def questions(self) -> list[Question]:
        """One."""
        return [self.template.question(self.item)]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask for the chunk."""
        return [output_of(self.passage, self.passage, await insist(ask, self.template, self.item))]


@dataclass(frozen=True)
class LinesRequest:
    """A chunk of which every line is asked for on its own, by the id that the model sees and the line's number.

    `text` has a line at least that is not empty.
    """

    template: Passages
    passage: str
    id: str
    text: str

    def questions(self) -> list[Question]:
        """One for each line that is not empty."""
        return [self.template(line).question(line) for line in self._lines().values()]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask line by line, until one has no translation: the chunk has what came of that line, else all of them.

        Empty lines stay. `call` is that of the last line, `parsing` the least sure one.
        """
        lines = [""] * len(self.text.split("\n"))
        asked: list[Output] = []
        for number, line in self._lines().items():
            (output,) = await translate(ask, self.template, line)
            if output.text is None:
                return [output._replace(passage=self.passage, batch=self.passage)]
            # A line stays one, or those of the chunk could not be told apart.
            lines[number] = " ".join(output.text.split())
            asked.append(output)
        parsing = max((str(output.parsing) for output in asked), key=PARSINGS.index)
        return [Output(self.passage, "\n".join(lines), batch=self.passage, call=asked[-1].call, parsing=parsing)]

    def _lines(self) -> dict[int, dict[str, str]]:
        """What is sent for each line that is not empty, by its number from 0."""
        lines = enumerate(self.text.split("\n"))
        return {number: {f"{self.id}.{number + 1}": line.strip()} for number, line in lines if line.strip()}


def chunk_template(model: Model, prompt: Prompt, languages: Mapping[str, str]) -> Template[str]:
    """How chunks are asked for; the languages are names, as the prompt has them."""
    read = fields([ANSWER], partial(text_under, ANSWER))
    return Template(model, prompt, languages, PURPOSE, schema_of([ANSWER], TEXT), read, tries=TRIES)


def chunk_item(text: str, previous: str | None, following: str | None, glossary: Sequence[Mapping[str, str]]) -> Any:
    """What a model sees of a chunk. A context is '' where the document begins or ends, and where none is known."""
    return {"previous": previous or "", "text": text, "next": following or "", "glossary": list(glossary)}
