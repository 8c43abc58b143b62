"""Published protocols of added benchmarks: prompt, settings and reader of a paper, in place of the project's own.

Here: the content of a protocol, and which one applies to a model's questions. Not here: recipes that declare protocols
(benchmarks.recipe), fetching prompts (benchmarks.protocols), the readers themselves (the rooms of the studies).
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import polars as pl
from pydantic import Field

from resources.frozen import Frozen
from resources.prompts import Prompt
from resources.provider.dialects import DIALECTS
from resources.provider.registry import Model
from resources.warehouse import Warehouse

TABLE, CHOICE = "protocol", "own_wording"

Role = Literal["translate", "compare", "answer", "align", "judge"]
"""What a model is asked for: translations of a corpus, comparisons with a base set, answers to a task, the segments of
continuous translations (of any corpus whose description names the subject), judgements of a corpus's audit."""

Reader = Literal["object", "tagged", "letter", "label", "spans", "segments", "judgement"]
"""How a reply is read: translations in an object by passage (PaliBench), a translation in a tag, a letter in a tag
(JP-TL-Bench), a class or spans in JSON (DharmaBench), text or null in an object by segment (PaliBench), a judgement in
JSON (From Outliers to Errors)."""


class Sampling(Frozen):
    """Settings of a request that a protocol states. None: the request does not have the field, or the protocol does
    not state it."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    effort: str | None = None


class Asking(Frozen):
    """How requests are made and replies read, whatever the words of the messages.

    `tries` is the largest number of requests about an item, or about a batch. `batch_tokens` is the largest number of
    source tokens in a batch, counted by cl100k_base. `batch_segments` are the number of segments at which a batch of an
    alignment is closed, and the largest number of them. `fields` maps a variable to the text of a sample or of a
    judge's item, if they have different names; in an alignment, it maps the names of a segment's texts to `source` and
    `guide`.
    """

    reader: Reader
    tries: int = Field(default=1, ge=1)
    batch_tokens: int = Field(default=0, ge=0)
    batch_segments: tuple[int, int] = (1, 1)
    sampling: Sampling = Sampling()
    fields: dict[str, str] = Field(default={})


class PublishedProtocol(Asking):
    """How a paper asks a model.

    `system` and `user` are templates as in `resources.prompts.Prompt`. `labels` maps the names in replies to the labels
    of a task's files.
    """

    name: str
    system: str = ""
    user: str
    variables: tuple[str, ...]
    labels: dict[str, str] = Field(default={})

    @property
    def prompt(self) -> Prompt:
        """The messages as a prompt. Its version is 1: the paper's text does not change, its hash tells it apart."""
        return Prompt(name=self.name, version=1, variables=self.variables, system=self.system, user=self.user)

    @property
    def determinants(self) -> tuple[object, ...]:
        """What determines answers besides the model: messages, reader and labels."""
        return self.prompt.digest(), self.reader, sorted(self.labels.items())

    @property
    def shown(self) -> Mapping[str, str]:
        """The name of the text that each variable shows."""
        return {variable: self.fields.get(variable, variable) for variable in self.variables}

    def filled(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """The values of the variables for a sample with these texts."""
        return {variable: texts[name] for variable, name in self.shown.items()}

    def applied(self, model: Model) -> Model:
        """The model with the protocol's settings. A model whose registry entry has `temperature: null` accepts none,
        and is asked without; so is one at an endpoint that has no such effort."""
        stated = self.sampling.model_dump(exclude_none=True)
        if model.settings.temperature is None:
            stated.pop("temperature", None)
        if stated.get("effort") not in DIALECTS[model.endpoint.dialect].efforts:
            stated.pop("effort", None)
        return replace(model, settings=model.settings.model_copy(update=stated))


def protocols(warehouse: Warehouse, role: Role, model: str = "") -> Mapping[str, PublishedProtocol]:
    """The protocols of a role by subject (corpus, base set or task), without those that `model` does not follow."""
    rows = warehouse.read(TABLE, pl.DataFrame({"role": [role]}), ["subject", "content"])
    own = set(warehouse.read(CHOICE, pl.DataFrame({"model": [model]}), ["subject"])["subject"]) if model else set()
    return {
        subject: PublishedProtocol.model_validate_json(content)
        for subject, content in rows.iter_rows() if subject not in own
    }  # fmt: skip


def json_of(text: str) -> Any:
    """The value of a JSON text, to readers of papers' replies; None if it is no JSON, or is nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
