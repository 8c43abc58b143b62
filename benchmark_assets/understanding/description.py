"""The description of a task of understanding: a YAML file with the question, the texts and the files that hold them.

Here: the form of the file and its consistency. Not here: which tasks a warehouse holds (tasks), the samples (samples).
"""

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from resources import yaml_files
from resources.errors import BadInput
from resources.keys import check_key

NEEDED = {"classes": ("label", "labels", "classes"), "spans": ("marked", "spans", "types")}
"""Keys that a task of one kind must have, and a task of the other kind must not."""

OF_CLASSES_ONLY = ("negative", "scansion")

COLUMNS = ("kind", "system", "mean")
"""Columns of the table of systems besides its columns of tasks (readings.boards); no task may have such a code."""


class SpanFields(BaseModel):
    """Fields of the gold spans in a task's files.

    `field` holds `[type, text]` for each span, `offsets` its `[first, last]` in the marked text, half-open, in the same
    order; without `offsets` the spans are searched for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    field: str
    offsets: str = ""


class TaskDescription(BaseModel):
    """A task of understanding: to name the class of a sample, or to find spans in one of its texts.

    `task` is the code of the task, the key of its partition. `benchmark` is the name of its benchmark, '' for none;
    means are over the tasks of one benchmark. `partner` is the code of the same task in another language, imported or
    not. `restricted` keeps the texts out of exports and messages. `origin` says where to obtain them. `files` names the
    file of each split, relative to the folder given at import; one JSON object per line. `sample` is the field with the
    sample's name; if names repeat in a file, `numbered` makes the second one `name#2`. `texts` are the texts to show,
    in order: the name under which models see each text, and its field. `source` is the field with the work that a
    sample is from; a dot leads into an object. If the field holds more than the work, such as the number of a chunk,
    `work` is a regular expression that matches the whole value and has one group, the work.

    Tasks of classes: `label` is the field of the gold class, `labels` maps its values to classes, `classes` maps each
    class to its meaning. `negative` is the class that an unusable answer counts as; without it the answer counts as
    wrong. `scansion` names a rule (baselines). Tasks of spans: `marked` names the text with the spans, `types` maps the
    types to find and evaluate to their meanings. Files may have further types.

    `instructions` are the instructions in the prompt. `pair` names two texts whose overlap is a baseline (baselines).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    title: str
    benchmark: str = ""
    language: str
    kind: Literal["classes", "spans"]
    licence: str
    restricted: bool = False
    origin: str = ""
    partner: str = ""
    files: dict[Literal["train", "test"], Path]
    sample: str
    numbered: bool = False
    texts: dict[str, str] = Field(min_length=1)
    source: str = ""
    work: str = ""
    label: str = ""
    labels: dict[str, str] = {}
    negative: str = ""
    classes: dict[str, str] = {}
    marked: str = ""
    spans: SpanFields | None = None
    types: dict[str, str] = {}
    instructions: str = Field(min_length=1)
    scansion: str = ""
    pair: tuple[str, str] | tuple[()] = ()

    @model_validator(mode="after")
    def _agrees(self) -> "TaskDescription":
        foreign = NEEDED["spans"] if self.kind == "classes" else (*NEEDED["classes"], *OF_CLASSES_ONLY)
        for key in NEEDED[self.kind]:
            if not getattr(self, key):
                raise ValueError(f"`{key}` is missing: a task of {self.kind} needs it")
        for key in foreign:
            if getattr(self, key):
                raise ValueError(f"`{key}` has no meaning for a task of {self.kind}")
        if "test" not in self.files:
            raise ValueError("`files` has no `test`: answers are scored on the test split")
        if strange := set(self.labels.values()) ^ set(self.classes):
            raise ValueError(f"`labels` and `classes` differ in {', '.join(sorted(strange))}")
        if self.kind == "classes" and len(self.classes) < 2:
            raise ValueError("`classes` must have two classes or more")
        if self.negative and self.negative not in self.classes:
            raise ValueError(f"`negative` is {self.negative}, which is not one of `classes`")
        if unknown := sorted({self.marked, *self.pair} - {"", *self.texts}):
            raise ValueError(f"`texts` has no {', '.join(unknown)}, which `marked` or `pair` names")
        if len(set(self.pair)) < len(self.pair):
            raise ValueError("`pair` names the same text twice")
        if self.work and not self.source:
            raise ValueError("`work` needs a `source`")
        if self.work and _groups(self.work) != 1:
            raise ValueError("`work` is not a regular expression with one group")
        return self


def _groups(pattern: str) -> int | None:
    """Number of groups of a regular expression, None if the pattern is invalid."""
    try:
        return re.compile(pattern).groups
    except re.error:
        return None


def load(path: Path) -> TaskDescription:
    """Read a description.

    Raises
    ------
    BadInput
        If the file is missing or not YAML, has a wrong or unknown key, lacks a key of its kind, has a key of the other
        kind, names a class or text that it does not have, or has a code that cannot be a partition's key or is one of
        `COLUMNS`.
    """
    description = yaml_files.read(path, TaskDescription, "compare it with those in warehouse/tasks/dharmabench")
    if "/" in description.task:
        raise BadInput(path, "task", f"{description.task!r} has a slash", "rename it")
    if description.task in COLUMNS:
        raise BadInput(path, "task", f"{description.task!r} is the name of another column in the tables", "rename it")
    check_key(description.task, "task", path)
    return description
