"""The description of an understanding task: a YAML file with the question, the texts, and the files of samples.

Here: keys of the YAML file and their consistency. Not here: the tasks of a warehouse (tasks), samples (samples).
"""

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from resources import yaml_files
from resources.errors import BadInput
from resources.frozen import Frozen
from resources.keys import check_key

NEEDED = {"classes": ("label", "labels", "classes"), "spans": ("marked", "spans", "types")}
"""Keys that are required for one kind of tasks and not allowed for the other kind."""

FORMER = {"pair", "scansion"}
"""Keys of former versions, which copies of recipes in homes still have; they are ignored."""

COLUMNS = ("kind", "system", "mean")
"""Columns of the displayed tables (exhibits.boards) that do not belong to a task. A task cannot have one of these
names as its code."""


class SpanFields(Frozen):
    """Names of the fields with the gold spans in a task's files.

    `field` contains a pair `[type, text]` for each span. `offsets` contains a pair `[first, last]` for each span, in
    the same order: character offsets in the marked text, half-open. Without `offsets`, spans are located by search.
    """

    field: str
    offsets: str = ""


class TaskDescription(Frozen):
    """An understanding task: classification of samples, or detection of spans in one of a sample's texts.

    Keys of every task: `task` is the code of the task and the key of its partition. `benchmark` is the name of its
    benchmark, or ''; means cover the tasks of one benchmark. `partner` is the code of the same task in another
    language, whether imported or not. `restricted` keeps the texts out of exports and messages. `origin` tells where to
    obtain the files. `files` names the file of each split, relative to the folder given at import, with one JSON object
    per line. `sample` is the field with the sample's name. With `numbered`, the second sample with the same name in a
    file is named `name#2`. `texts` maps the name of each text, as models see it, to its field; the order matters.
    `source` is the field with the work that a sample is from; `a.b` is field `b` of the object `a`. If the value
    contains more than the work, such as a chunk number, `work` is a regular expression that matches the whole value,
    and its only group is the work. `instructions` are the instructions in the prompt.

    Keys of classification tasks: `label` is the field with the gold class, `labels` maps its values to classes,
    `classes` maps each class to its meaning. An unusable answer counts as the class `negative`, or as wrong if the key
    is missing.

    Keys of span tasks: `marked` names the text with the spans, and `spans` the fields with the gold spans. `types` maps
    each type of spans that is evaluated to its meaning. Files may have spans of further types.
    """

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
    labels: dict[str, str] = Field(default={})
    negative: str = ""
    classes: dict[str, str] = Field(default={})
    marked: str = ""
    spans: SpanFields | None = None
    types: dict[str, str] = Field(default={})
    instructions: str = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _of_former_version(cls, content: Any) -> Any:
        return {key: content[key] for key in content if key not in FORMER} if isinstance(content, dict) else content

    @model_validator(mode="after")
    def _agrees(self) -> "TaskDescription":
        foreign = NEEDED["spans"] if self.kind == "classes" else (*NEEDED["classes"], "negative")
        noun = "classification task" if self.kind == "classes" else "span task"
        unmatched = ", ".join(sorted(set(self.labels.values()) ^ set(self.classes)))
        faults = {
            **{f"`{key}` is missing: a {noun} needs it": not getattr(self, key) for key in NEEDED[self.kind]},
            **{f"`{key}` does not apply to a {noun}": getattr(self, key) for key in foreign},
            "`files` has no `test`: answers are scored on the test split": "test" not in self.files,
            f"`labels` and `classes` differ in {unmatched}": unmatched,
            "`classes` must have at least two classes": self.kind == "classes" and len(self.classes) < 2,
            f"`negative` is {self.negative}, which is not one of `classes`": {self.negative} - {"", *self.classes},
            f"`marked` names {self.marked}, which is missing from `texts`": {self.marked} - {"", *self.texts},
            "`work` needs a `source`": self.work and not self.source,
            "`work` must be a regular expression with exactly one group": self.work and _groups(self.work) != 1,
        }
        if fault := next((problem for problem, applies in faults.items() if applies), None):
            raise ValueError(fault)
        return self


def _groups(pattern: str) -> int | None:
    """Number of groups of a regular expression; None if the pattern is invalid."""
    try:
        return re.compile(pattern).groups
    except re.error:
        return None


def load(path: Path) -> TaskDescription:
    """Read a description.

    Raises BadInput if the file is missing or not YAML, lacks a required key, has an unknown key or an invalid value,
    names a class or text that it does not define, or has a code that cannot be a partition key or is one of `COLUMNS`.
    """
    description = yaml_files.read(
        path, TaskDescription, "compare it with the files in warehouse/benchmarks/dharmabench/tasks"
    )
    if "/" in description.task:
        raise BadInput(path, "task", f"{description.task!r} contains a slash", "rename the task")
    if description.task in COLUMNS:
        raise BadInput(path, "task", f"{description.task!r} is the name of a column in tables", "rename the task")
    check_key(description.task, "task", path)
    return description
