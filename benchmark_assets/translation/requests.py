"""Requests for translations: a batch of passages, a chunk with its contexts, or a chunk line by line.

Here: the three forms behind one interface, and the item of a chunk (LiTERatE, System Input Format). Not here: repeated
questions about a text (translation.asking), the choice of the form for a passage (translation.systems).
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
"""The key of a chunk's translation in a reply."""

PARSINGS = ("strict", "repaired", "prefix")
"""Ways of parsing a reply, the most reliable first."""


class Request(Protocol):
    """Passages that are requested together, and the form of the request."""

    def questions(self) -> Sequence[Question]:
        """The first questions, for estimates."""

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask as often as necessary; return one output for each passage, by its key."""


@dataclass(frozen=True)
class BatchRequest:
    """Independent passages: source texts by the ids in the prompt, and keys of all passages by their id."""

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
    """A chunk with its contexts and its glossary, as `chunk_item` gives them."""

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
    """A chunk that is translated line by line; a line's id in the prompt is the chunk's id and the line's number.

    `text` has at least one line that is not empty.
    """

    template: Passages
    passage: str
    id: str
    text: str

    def questions(self) -> list[Question]:
        """One for each line that is not empty."""
        return [self.template(line).question(line) for line in self._lines().values()]

    async def outputs(self, ask: Ask) -> list[Output]:
        """Ask line by line. The output joins the translated lines; at a line without a translation it is that line's.

        Empty lines stay. `call` is the last line's, `parsing` the least reliable of all lines.
        """
        lines = [""] * len(self.text.split("\n"))
        asked: list[Output] = []
        for number, line in self._lines().items():
            (output,) = await translate(ask, self.template, line)
            if output.text is None:
                return [output._replace(passage=self.passage, batch=self.passage)]
            # A translated line stays one line, so that the lines of the chunk can be told apart.
            lines[number] = " ".join(output.text.split())
            asked.append(output)
        parsing = max((str(output.parsing) for output in asked), key=PARSINGS.index)
        return [Output(self.passage, "\n".join(lines), batch=self.passage, call=asked[-1].call, parsing=parsing)]

    def _lines(self) -> dict[int, dict[str, str]]:
        """The passages to send for each line that is not empty, by its number from 0."""
        lines = enumerate(self.text.split("\n"))
        return {number: {f"{self.id}.{number + 1}": line.strip()} for number, line in lines if line.strip()}


def chunk_template(model: Model, prompt: Prompt, languages: Mapping[str, str]) -> Template[str]:
    """The template of questions about chunks; the languages are names, as in the prompt."""
    read = fields([ANSWER], partial(text_under, ANSWER))
    return Template(model, prompt, languages, PURPOSE, schema_of([ANSWER], TEXT), read, tries=TRIES)


def chunk_item(text: str, previous: str | None, following: str | None, glossary: Sequence[Mapping[str, str]]) -> Any:
    """The item of a chunk in a prompt. A context is '' at the document's beginning or end, or if it is unknown."""
    return {"previous": previous or "", "text": text, "next": following or "", "glossary": list(glossary)}
