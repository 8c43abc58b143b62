"""The description of a task of understanding: a YAML file that says what is asked, of which texts, and where they lie.

Here: the form of the file and what must agree in it. Not here: which tasks a warehouse holds (tasks), the samples
(samples).
"""

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from resources import yaml_files
from resources.errors import BadInput
from resources.keys import check_key

NEEDED = {"classes": ("label", "labels", "classes"), "spans": ("marked", "spans", "types")}
"""Keys that a task of a kind needs, and one of another kind must not have."""

OF_CLASSES_ONLY = ("negative", "scansion")

COLUMNS = ("kind", "system", "mean")
"""Names of columns in the table of all systems, in which each task has one, too (readings.boards)."""


class SpanFields(BaseModel):
    """Where a task's files have the gold spans of a sample.

    `field` holds `[type, text]` for each span, `offsets` its `[first, last]` in the marked text, half-open, in the same
    order; without `offsets` the spans are searched for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    field: str
    offsets: str = ""


class TaskDescription(BaseModel):
    """A task of understanding: to name the class of a sample, or to find spans in one of its texts.

    `task` is its code, the key of its partition. `benchmark` names the benchmark that it is a task of, '' for none:
    means are over tasks of one. `partner` is the code of the same task in another language, whether or not it was
    imported. `restricted` keeps its texts out of exports and messages, `origin` says where they are had. `files` names
    the file of each split, relative to the folder given at import, one JSON object a line. `sample` is the field of the
    sample's name; where a file has names twice, `numbered` tells the second from the first as `name#2`. `texts` are the
    texts shown, in order: the name under which models see them, and their field. `source` is the field of the work that
    a sample is from; a dot leads into an object. Where the field says more than the work, such as the number of a
    chunk, `work` is a regular expression that matches all of its value and whose one group is the work.

    Of classes: `label` is the field of the gold class, `labels` leads from its values to classes, `classes` says what
    each of them is. `negative` is the one that an unusable answer counts as; where none is named it counts as wrong.
    `scansion` names a rule that applies (baselines). Of spans: they lie in the text that `marked` names; `types` says
    what those are that are asked for and evaluated. Files may have other types, too.

    `instructions` is what a model is told. `pair` names two texts of which the overlap tells (baselines).
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
                raise ValueError(f"`{key}` is missing, which a task of {self.kind} needs")
        for key in foreign:
            if getattr(self, key):
                raise ValueError(f"`{key}` has no meaning for a task of {self.kind}")
        if "test" not in self.files:
            raise ValueError("`files` has no `test`, on which answers are scored")
        if strange := set(self.labels.values()) ^ set(self.classes):
            raise ValueError(f"`labels` and `classes` differ in {', '.join(sorted(strange))}")
        if self.kind == "classes" and len(self.classes) < 2:
            raise ValueError("`classes` must be two at least")
        if self.negative and self.negative not in self.classes:
            raise ValueError(f"`negative` is {self.negative}, none of the classes")
        if unknown := sorted({self.marked, *self.pair} - {"", *self.texts}):
            raise ValueError(f"`texts` has no {', '.join(unknown)}, of which `marked` or `pair` speaks")
        if len(set(self.pair)) < len(self.pair):
            raise ValueError("`pair` is twice the same text")
        if self.work and not self.source:
            raise ValueError("`work` needs a `source`")
        if self.work and _groups(self.work) != 1:
            raise ValueError("`work` is no regular expression with one group")
        return self


def _groups(pattern: str) -> int | None:
    """Number of groups of a regular expression, None where the pattern is not one."""
    try:
        return re.compile(pattern).groups
    except re.error:
        return None


def load(path: Path) -> TaskDescription:
    """Read a description.

    Raises
    ------
    BadInput
        Where the file is missing or no YAML, has a wrong or unknown key, lacks one that its kind needs, has one of the
        other kind, names a class or text that it has not, or has a code that cannot be a partition's key, or is one of
        `COLUMNS`.
    """
    description = yaml_files.read(path, TaskDescription, "compare it with those in warehouse/tasks/dharmabench")
    if "/" in description.task:
        raise BadInput(path, "task", f"{description.task!r} has a slash", "rename it")
    if description.task in COLUMNS:
        raise BadInput(path, "task", f"{description.task!r} is a column beside the tasks in tables", "rename it")
    check_key(description.task, "task", path)
    return description
